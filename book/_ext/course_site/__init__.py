"""Sphinx extension of the book: works offline, from either build command, in light and dark."""

import os

from docutils import nodes
from nbclient import NotebookClient

from course_site import icons, inline_svg, live_kernel, mathjax, mistakes, places, streams
from course_site.interactives import directive as interactive


def setup(app):
    # Kernels inherit this. On examples so tiny a second thread only costs time.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    # Half a second a page goes by while a kernel is asked to end; it has nothing to save.
    NotebookClient.shutdown_kernel.default_value = "immediate"
    app.connect("config-inited", places.use_book_folder, priority=1)
    app.connect("config-inited", streams.join_bursts)
    app.connect("html-page-context", live_kernel.drop_scripts, priority=900)
    app.connect("html-page-context", interactive.load_on_page)
    app.connect("build-finished", mathjax.copy_to_output)
    app.connect("build-finished", icons.drop_script)
    app.add_directive("mistakes", mistakes.Mistakes)
    app.add_directive("interactive", interactive.Interactive)
    app.add_node(nodes.image, override=True, html=(inline_svg.visit_image, inline_svg.depart_image))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
