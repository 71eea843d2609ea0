"""Execute a notebook's definitions and check its components; runs in a process of its own."""

from __future__ import annotations

import __future__
import ast
import sys
from pathlib import Path
from types import ModuleType

from autograder.survey.child import work


def main(todo: dict, tell) -> None:
    from autograder import check  # torch is loaded before a student's code can be at fault

    tell("ready", name="")
    namespace = define(todo, tell)
    for component in todo["components"]:
        tell("check", name=component)
        tell("checked", name=component, **verdict(check.run, component, namespace))


def define(todo: dict, tell) -> dict:
    """The namespace in which all the definitions have been executed, as a module with a file."""
    texts = [d["source"] for d in todo["definitions"]]
    path = Path(
        todo["folder"], f"{todo['module']}.py"
    )  # on disk, so that `inspect` can show the source
    path.write_text("\n\n\n".join(texts) + "\n", encoding="utf-8")
    module = sys.modules[todo["module"]] = ModuleType(todo["module"])
    module.__file__ = str(path)
    flags = __future__.annotations.compiler_flag if todo["future"] else 0
    line = 0
    for definition, text in zip(todo["definitions"], texts):
        tell("define", name=definition["name"])
        tree = ast.increment_lineno(ast.parse(text), line)
        line += text.count("\n") + 3
        try:
            exec(compile(tree, str(path), "exec", flags, dont_inherit=True), module.__dict__)
        except BaseException as error:
            why = f"{type(error).__name__}: {error}"
            tell("failed", name=definition["name"], why=why)
    return module.__dict__


def verdict(run, component: str, namespace: dict) -> dict:
    """What to write about one component."""
    if component not in namespace:
        return {"passed": False, "started": True, "why": "it could not be defined"}
    try:
        report = run(component, namespace[component])
    except SystemExit:
        return {"passed": False, "started": True, "why": "It calls exit()."}
    except Exception as error:  # a probe hands the student's on; this one is the check's own
        why = f"the check itself failed, {type(error).__name__}: {error}"
        return {"passed": False, "started": True, "why": why}
    return {
        "passed": report.passed,
        "started": report.started,
        "why": report.summary,
        "mistakes": list(report.mistakes),
        "remarks": list(report.remarks),
    }


if __name__ == "__main__":
    work(main)
