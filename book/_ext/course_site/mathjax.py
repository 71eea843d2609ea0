"""MathJax from the installed package, so that formulas are typeset without a network."""

import importlib.util
import shutil
from pathlib import Path

from sphinx.errors import ExtensionError

PACKAGE = "sphinx-mathjax-offline"  # the hyphens keep an import statement from naming it


def copy_to_output(app, exception):
    """Copy the one script and the fonts that it loads (1.7 of the package's 24 MB)."""
    if exception or app.builder.format != "html":
        return
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None:
        raise ExtensionError(f"{PACKAGE} is not installed: pip install -r requirements.txt")
    source = Path(spec.origin).parent / "static" / "mathjax"
    target = Path(app.outdir) / "_static" / "mathjax"
    fonts = Path("output", "chtml", "fonts")
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source / "tex-chtml.js", target)
    shutil.copytree(source / fonts, target / fonts, dirs_exist_ok=True)
