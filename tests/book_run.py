"""What the page "Your GPT-2" shows of a run: book/figures/run.json.

After `make train`: PYTHONPATH=tests .venv/bin/python tests/book_run.py build/gpt2.py build/training
"""

import io
import json
import sys
import tempfile
from pathlib import Path

import torch
from book_source import BOOK
from doctor_patients import BY_NAME
from gpt2_edits import edit
from rich.console import Console

from autograder import conform
from autograder.doctor.process import looks_at
from autograder.doctor.show import show
from autograder.training.defaults import TALES
from autograder.training.load import open_run
from autograder.training.loop import losses
from autograder.training.sample import write
from autograder.training.tale_text import tale_text

RECORD = BOOK / "figures" / "run.json"
COLUMNS = 66  # what fits beside both sidebars of the page


def record(gpt2: Path, folder: Path) -> dict:
    run, text = open_run(gpt2, folder), tale_text(TALES)
    above = text.floor.above(losses(run.model, text.held_out, TALES.batch_size))
    return {
        "parameters": sum(p.numel() for p in run.model.parameters()),
        "steps": run.record["step"],
        "levels": run.record["levels"],
        "history": [{k: h[k] for k in ("step", "train", "val")} for h in run.record["history"]],
        "above": above,
        "conform": [
            {k: getattr(row, k) for k in ("group", "name", "error", "tolerance", "status")}
            for row in conform.rows(gpt2)
        ],
        "tales": write(run.module, run.model, run.vocabulary, count=3),
        "heads": heads(run),
        "doctor": doctor(gpt2),
    }


def snippet() -> str:
    """The code with which the page looks into a trained model."""
    page = (BOOK / "your-gpt2.md").read_text()
    return page.split("```python\n")[1].split("```")[0]


def heads(run) -> list[str]:
    """What the page's code prints for this run."""
    source = snippet().replace('open_run("gpt2.py", "runs/tales")', "trained")
    out = io.StringIO()
    names = {"trained": run, "print": lambda *said: print(*said, file=out)}
    kept = run.module.attention
    exec(compile(source, "your-gpt2.md", "exec"), names)
    run.module.attention = kept
    return out.getvalue().splitlines()


def doctor(gpt2: Path, seconds: float = 60.0) -> list[str]:
    """Its report on the same file without a mask."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gpt2.py"
        path.write_text(edit(gpt2.read_text(), *BY_NAME["no mask"]))
        looks = looks_at(str(path), None, "cpu", 0, seconds, 1, 600.0, heard=lambda event: None)
    out = io.StringIO()
    show(looks, Console(file=out, width=COLUMNS, highlight=False))
    return [line.rstrip() for line in out.getvalue().strip().splitlines()]


if __name__ == "__main__":
    torch.set_num_threads(1)
    made = record(Path(sys.argv[1]), Path(sys.argv[2]))
    RECORD.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")
    print(f"{RECORD} is written")
