"""Import a gpt2.py by its path, or say clearly why that cannot be done."""

import importlib.util
import itertools
import sys
from pathlib import Path
from types import ModuleType

from autograder.conform.row import describe
from autograder.errors import CourseError

REQUIRED = (
    "GPT2Config",
    "GPT2",
    "generate",
    "get_batch",
    "lr_schedule",
    "decay_groups",
    "clip_grad_norm",
    "adamw_step",
    "train_step",
    "estimate_loss",
)
count = itertools.count()


def load_module(path: str | Path) -> ModuleType:
    """The module in this file, under a name of its own, so that two files never meet.

    It is run as it stands: this is for a file on one's own machine.
    """
    path = Path(path)
    if not path.is_file():
        raise CourseError(f"{path}: no such file. Make one with `autograder assemble`.")
    name = f"gpt2_under_test_{next(count)}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise CourseError(f"{path} is not a Python file (its name should end in .py).")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up while it is being imported
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise CourseError(f"{path}, line {error.lineno}: {error.msg}.") from None
    except (Exception, SystemExit) as error:
        why = describe(error, spec.origin)
        raise CourseError(f"{path} cannot be imported: {why}") from None
    return module


def require_names(module: ModuleType) -> None:
    missing = [name for name in REQUIRED if not callable(getattr(module, name, None))]
    if missing:
        file = getattr(module, "__file__", module.__name__)
        raise CourseError(f"{file} does not define {', '.join(missing)}.")
