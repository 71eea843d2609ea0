"""Icons come from the font that the theme's style sheet loads. The theme also has a script of
1.5 MB on every page that draws the same icons again, as SVG; it goes."""

import re
from pathlib import Path

_SCRIPT = re.compile(r'<script\b[^>]*\bsrc="[^"]*/scripts/fontawesome\.js[^"]*"[^>]*></script>\s*')


def drop_script(app, exception):
    if exception or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf8")
        if _SCRIPT.search(text):
            page.write_text(_SCRIPT.sub("", text), encoding="utf8")
    for script in Path(app.outdir).glob("_static/scripts/fontawesome.js*"):
        script.unlink()
