"""The directive `mistakes`: the known mistakes of a component, from the table of its check."""

from docutils import nodes
from docutils.parsers.rst import Directive


def anchor(component, name):
    return f"mistake-{component}-{name}".lower().replace("_", "-").replace(".", "-")


class Mistakes(Directive):
    """`{mistakes} softmax`: a definition list, with an anchor for every entry.

    Where to look stays with the check and `autograder explain`: it may be a line of the solution.
    """

    required_arguments = 1

    def run(self):
        from autograder.check import find  # here: the rest of the book needs no torch

        (name,) = self.arguments
        entries = nodes.definition_list(classes=["mistakes"])
        entries += [self.entry(name, mistake) for mistake in find(name).mistakes]
        return [entries]

    def entry(self, component, mistake):
        label = anchor(component, mistake.name)
        term = nodes.term("", "", nodes.literal(text=mistake.name), ids=[label])
        said = [nodes.paragraph(text=text) for text in (mistake.says, mistake.why)]
        return nodes.definition_list_item("", term, nodes.definition("", *said))
