"""No scripts for a live kernel: Jupyter Book loads Thebe, which the book has no use for."""


def _is_thebe(asset) -> bool:
    name = str(getattr(asset, "filename", asset) or "")
    inline = (getattr(asset, "attributes", None) or {}).get("body") or ""
    return "thebe" in name.lower() or "thebe" in inline.lower()


def drop_scripts(app, pagename, templatename, context, doctree):
    for kind in ("script_files", "css_files"):
        context[kind] = [asset for asset in context.get(kind, []) if not _is_thebe(asset)]
