"""One set of files, whichever folder Sphinx takes for its source.

`jupyter-book build book/` makes book/ the source folder, `jupyter-book build .` the repository.
Paths in _config.yml are relative to it, so they are made absolute here.
"""

from pathlib import Path

BOOK = Path(__file__).resolve().parents[2]
STYLES = ["course.css"]
SCRIPTS = ["accessibility.js"]


def use_book_folder(app, config):
    inside = BOOK.relative_to(Path(app.srcdir).resolve())
    config.include_patterns = [(inside / "**").as_posix()]  # no other Markdown of the repository
    config.bibtex_bibfiles = [str(BOOK / name) for name in config.bibtex_bibfiles]
    config.html_static_path = [*config.html_static_path, str(BOOK / "assets")]
    config.html_css_files = [*config.html_css_files, *STYLES]
    config.html_js_files = [
        *config.html_js_files,
        *((script, {"defer": "defer"}) for script in SCRIPTS),
    ]
