"""What an interactive shows, read off its page."""

import pytest
from course_site.interactives import parts


def same(element, key, expected, digits):
    """The number shown is the expected one, to the last digit shown."""
    assert element.value(key) == pytest.approx(float(expected), abs=0.5001 * 10**-digits), key


def shown(element):
    """What an interactive shows, by place; the same wherever a place is shown twice."""
    found = element.find("[data-out]").evaluate_all(
        "all => all.map(place => [place.dataset.out, place.textContent])"
    )
    texts = dict(found)
    assert all(texts[key] == text for key, text in found)
    return texts


def all_texts(element):
    """Everything that is not folded away beyond the end of the sentence."""
    return element.find("td, th, [data-out], .tf-finding").evaluate_all(
        """all => all.filter(place => !place.closest("tr[hidden], [data-place][hidden]"))
          .map(place => place.textContent)"""
    )


def spaced(text):
    return text.replace("\N{NO-BREAK SPACE}", " ")


def two(key, x):
    """The texts of a tensor of numbers with two decimals, by place."""
    if x.dim() == 0:
        return {key: parts.fixed(x.item(), 2)}
    return {k: v for i, row in enumerate(x) for k, v in two(f"{key}-{i}", row).items()}


def centre(element):
    box = element.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
