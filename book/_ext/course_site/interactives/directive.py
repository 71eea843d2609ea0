"""The directive `interactive`, and the scripts and the style of the pages that use it."""

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from course_site import interactives
from course_site.interactives import parts

SHARED = ("math", "element")


class Interactive(SphinxDirective):
    """`{interactive} softmax`, with a caption as its body: a figure that holds <tf-softmax>."""

    required_arguments = 1
    option_spec = {"name": directives.unchanged}
    has_content = True

    def run(self):
        (name,) = self.arguments
        if name not in interactives.NAMES:
            raise self.error(f"no interactive {name!r}; there are: {', '.join(interactives.NAMES)}")
        module = interactives.find(name)
        self.env.note_dependency(module.__file__)
        prefix = f"tf-{name}-{self.env.new_serialno('interactive')}"
        html = parts.frame(name, module.TITLE, prefix, module.draw(prefix))
        figure = nodes.figure("", nodes.raw("", html, format="html", interactive=name))
        figure["classes"].append("tf-figure")
        if self.content:
            text, messages = self.state.inline_text(" ".join(self.content), self.lineno)
            figure += [nodes.caption("", "", *text), *messages]
        self.set_source_info(figure)
        self.add_name(figure)
        return [figure]


def load_on_page(app, pagename, templatename, context, doctree):
    """Only a page that has interactives loads their files, and only those that it has."""
    raws = doctree.findall(nodes.raw) if doctree else ()
    used = {node["interactive"] for node in raws if "interactive" in node}
    if used:
        modules = [interactives.find(name) for name in sorted(used)]
        needed = {need for module in modules for need in getattr(module, "NEEDS", ())}
        styles = {style for module in modules for style in getattr(module, "STYLES", ())}
        for style in ("interactives", *sorted(styles)):
            app.add_css_file(f"interactives/{style}.css")
        for script in (*SHARED, *sorted(needed), *sorted(used)):
            app.add_js_file(f"interactives/{script}.js", defer="defer")
