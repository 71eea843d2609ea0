"""The directive `mistakes`: the known mistakes of a component, from the table of its check."""

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx_design.shared import create_component


def anchor(component, name):
    return f"mistake-{component}-{name}".lower().replace("_", "-").replace(".", "-")


def written(text):
    """Its nodes: what stands between backticks is code."""
    kinds = (nodes.Text, lambda code: nodes.literal(text=code))
    return [kinds[i % 2](part) for i, part in enumerate(text.split("`")) if part]


class Mistakes(Directive):
    """`{mistakes} softmax`: a folded definition list, with an anchor for every entry.

    Where to look stays with the check and `autograder explain`: it may be a line of the solution.
    """

    required_arguments = 1

    def run(self):
        from autograder.check import find  # here: the rest of the book needs no torch

        (name,) = self.arguments
        known = find(name).mistakes
        entries = nodes.definition_list(classes=["mistakes"])
        entries += [self.entry(name, mistake) for mistake in known]
        title = f"{len(known)} known mistake{'s' * (len(known) != 1)}"
        return [self.folded(title, entries)]

    def folded(self, title, content):
        """As sphinx-design's own `dropdown`."""
        box = create_component(
            "dropdown",
            type="dropdown",
            opened=False,
            has_title=True,
            icon=None,
            chevron=None,
            container_classes=["sd-mb-3"],
            title_classes=[],
            body_classes=[],
        )
        box += nodes.rubric(title, "", nodes.Text(title))
        box += content
        return box

    def entry(self, component, mistake):
        label = anchor(component, mistake.name)
        term = nodes.term("", "", nodes.literal(text=mistake.name), ids=[label])
        said = [nodes.paragraph("", "", *written(t)) for t in (mistake.says, mistake.why)]
        return nodes.definition_list_item("", term, nodes.definition("", *said))
