"""Execute a notebook's definitions and check its components; runs in a process of its own.

Called with two files: what to do, as JSON, and where to write what happened, a JSON line for each
event, at once. The process that started it reads from these lines how far it came.
"""

from __future__ import annotations

import __future__
import ast
import json
import sys
from pathlib import Path
from types import ModuleType


def main(todo_path: str, events_path: str) -> None:
    todo = json.loads(Path(todo_path).read_text(encoding="utf-8"))
    with open(events_path, "a", encoding="utf-8") as file:

        def tell(event: str, name: str, **more) -> None:
            file.write(json.dumps({"event": event, "name": name, **more}) + "\n")
            file.flush()

        from autograder import check  # torch is loaded before a student's code can be at fault

        tell("ready", "")
        namespace = define(todo, Path(todo_path).parent, tell)
        for component in todo["components"]:
            tell("check", component)
            tell("checked", component, **verdict(check.run, component, namespace))
        tell("end", "")


def define(todo: dict, folder: Path, tell) -> dict:
    """The namespace in which all the definitions have been executed, as a module with a file."""
    texts = [d["source"] for d in todo["definitions"]]
    path = folder / f"{todo['module']}.py"  # on disk, so that `inspect` can show the source
    path.write_text("\n\n\n".join(texts) + "\n", encoding="utf-8")
    module = sys.modules[todo["module"]] = ModuleType(todo["module"])
    module.__file__ = str(path)
    flags = __future__.annotations.compiler_flag if todo["future"] else 0
    line = 0
    for definition, text in zip(todo["definitions"], texts):
        tell("define", definition["name"])
        tree = ast.increment_lineno(ast.parse(text), line)
        line += text.count("\n") + 3
        try:
            exec(compile(tree, str(path), "exec", flags, dont_inherit=True), module.__dict__)
        except BaseException as error:
            tell("failed", definition["name"], why=f"{type(error).__name__}: {error}")
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
        "remarks": list(report.remarks),
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
