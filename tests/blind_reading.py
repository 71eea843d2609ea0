"""Are the messages enough? Someone reads them blind and rebuilds the faulty code from them.

    PYTHONPATH=tests python tests/blind_reading.py ask FOLDER softmax attention.no_scaling
    PYTHONPATH=tests python tests/blind_reading.py compare FOLDER

`ask` writes FOLDER/messages.md, which the reader gets, with the exercise and nothing else, and
FOLDER/key.json, which the reader must not see. The reader writes FOLDER/answers.py: ANSWERS, a dict
from the id of a message to a function or class that makes just this mistake. `compare` checks
them, and says for which ids the check has named the same mistake. messages_read.md is the record.
"""

import argparse
import importlib.util
import json
import random
from pathlib import Path

from variants import wrong

from autograder import check
from autograder.check import find

TELLS_THE_NAME = ("autograder explain", "In the book")  # these lines are left out


def ask(folder: Path, names: list[str]) -> None:
    """Of all mistakes of a component, or of single ones."""
    key, text = {}, []
    for component in dict.fromkeys(name.split(".")[0] for name in names):
        text.append(f"# {component}")
        mistakes = list(find(component).mistakes)
        random.Random(component).shuffle(mistakes)
        if component not in names:
            mistakes = [m for m in mistakes if f"{component}.{m.name}" in names]
        for mistake in mistakes:
            name = f"{len(key) + 1:03}"
            report = check.run(component, wrong(component)[mistake.name], 0)
            lines = str(report).splitlines()
            shown = [line for line in lines if not any(part in line for part in TELLS_THE_NAME)]
            text.append(f"## {name}\n```\n" + "\n".join(shown) + "\n```")
            key[name] = [component, mistake.name]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "messages.md").write_text("\n\n".join(text) + "\n", encoding="utf-8")
    (folder / "key.json").write_text(json.dumps(key), encoding="utf-8")


def compare(folder: Path) -> dict[str, list[str]]:
    """Ids of the messages: "same", "differ", and those "not answered"."""
    key = json.loads((folder / "key.json").read_text(encoding="utf-8"))
    spec = importlib.util.spec_from_file_location("answers", folder / "answers.py")
    answers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(answers)
    found = {"same": [], "differ": [], "not answered": sorted(key.keys() - answers.ANSWERS.keys())}
    for name, answer in answers.ANSWERS.items():
        component, mistake = key[name]
        report = check.run(component, answer, 0)
        named = {f.trouble.mistake for f in report.findings if f.trouble and f.trouble.mistake}
        found["same" if named == {mistake} else "differ"].append(name)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", choices=("ask", "compare"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="for ask: names as in autograder explain")
    given = parser.parse_args()
    if given.step == "ask":
        ask(given.folder, given.names)
    else:
        for kind, names in compare(given.folder).items():
            print(f"{kind}: {len(names)}", *names)
