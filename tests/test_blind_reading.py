"""The trial of the messages: what a reader gets, and how answers are compared."""

import json

from blind_reading import ask, compare

ANSWERS = """
import torch
from variants import wrong
ANSWERS = {
    name: wrong(component)[mistake]
    for name, (component, mistake) in KEY.items()
    if mistake != LEFT_OUT
}
ANSWERS[WRONGLY] = torch.softmax
"""


def test_answers_are_compared_with_the_key(tmp_path):
    ask(tmp_path, ["softmax"])
    key = json.loads((tmp_path / "key.json").read_text())
    messages = (tmp_path / "messages.md").read_text()
    assert messages.count("\n## ") == len(key) > 10
    assert all(f"softmax.{mistake}" not in messages for _, mistake in key.values())
    left_out, wrongly, *others = key
    head = f"KEY = {key!r}\nLEFT_OUT = {key[left_out][1]!r}\nWRONGLY = {wrongly!r}\n"
    (tmp_path / "answers.py").write_text(head + ANSWERS)
    found = compare(tmp_path)
    assert found == {"same": others, "differ": [wrongly], "not answered": [left_out]}


def test_single_mistakes_can_be_asked_for(tmp_path):
    names = ["softmax.base_2", "attention.multiplied", "softmax.other_axis"]
    ask(tmp_path, names)
    key = json.loads((tmp_path / "key.json").read_text())
    assert sorted(map(".".join, key.values())) == sorted(names)
