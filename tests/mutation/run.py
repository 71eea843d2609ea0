"""How many small changes to the reference each check sees; exit 1 where that is too few.

PYTHONPATH=tests python -m mutation.run [--component NAME ...] [--json FILE]
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from autograder.course import COMPONENTS
from mutation.mutants import Mutant, mutants
from mutation.reference import references
from mutation.survivors import ARGUED
from mutation.trial import CRASHED, LIMIT, SURVIVED, outcomes

ENOUGH = 0.97  # of the mutants that are not argued for
ROW = "{:24}{:>8}{:>8}{:>8}{:>8}{:>9}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the mutants, print a table and what survives; the exit status."""
    options = _options(argv)
    start = time.monotonic()
    made = {c: mutants(c, references()[c].source) for c in options.component or COMPONENTS}
    tried = [m for found in made.values() for m in found[: options.limit_per_component]]
    whole = [Mutant(c, 0, "the reference", "itself", references()[c].source, "") for c in made]
    fared = {}
    for mutant, outcome in outcomes([*whole, *tried], options.processes, options.limit):
        fared[mutant.id] = outcome
        if sys.stderr.isatty():
            print(f"\r{len(fared)} of {len(whole + tried)}", end="\r", file=sys.stderr)
    wrong = [m for m in whole if fared[m.id] != SURVIVED]
    stale = _wrong({m.id for found in made.values() for m in found}, fared, set(made))

    score = _table(tried, fared)
    print(f"{time.monotonic() - start:.0f} s on {options.processes} processes")
    _explain([m for m in tried if fared[m.id] == SURVIVED and m.id not in _argued()])
    for i, why in {**{m.id: fared[m.id] for m in wrong}, **stale}.items():
        print(f"\nwrong: {i}\n    {why}")
    if options.json:
        _write(options.json, tried, fared)
    return int(score < ENOUGH or bool(wrong or stale))


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="mutation.run", description=__doc__.split("\n")[0])
    parser.add_argument("--component", nargs="+", choices=list(COMPONENTS), metavar="NAME")
    parser.add_argument("--limit-per-component", type=int, metavar="N", help="only the first N")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for one mutant")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every outcome there")
    return parser.parse_args(argv)


def _argued() -> set[str]:
    return {i for _, ids in ARGUED for i in ids}


def _wrong(made: set[str], fared: dict[str, str], components: set[str]) -> dict[str, str]:
    """What is wrong with the outcomes: arguments that no longer apply, checks that failed."""
    found = {i: outcome for i, outcome in fared.items() if outcome.startswith(CRASHED)}
    for i in sorted(_argued()):
        if i.partition(":")[0] in components and i not in made:
            found[i] = "argued for, but there is no such mutant"
        elif fared.get(i, SURVIVED) != SURVIVED:
            found[i] = f"argued for, but killed ({fared[i]})"
    return found


def _table(tried: list[Mutant], fared: dict[str, str]) -> float:
    """Print the counts; the score over all: killed, out of those that are not argued for."""
    print(ROW.format("component", "mutants", "killed", "argued", "blind", "score"))
    by_component: dict[str, list[str]] = {}
    for m in tried:
        by_component.setdefault(m.component, []).append(m.id)
    score = 1.0
    for name, ids in {**by_component, "all": [m.id for m in tried]}.items():
        alive = {i for i in ids if fared[i] == SURVIVED or fared[i].startswith(CRASHED)}
        argued, killed = len(alive & _argued()), len(ids) - len(alive)
        counted = len(ids) - argued
        score = killed / counted if counted else 1.0
        print(ROW.format(name, len(ids), killed, argued, len(alive) - argued, f"{score:.1%}"))
    return score


def _explain(blind: list[Mutant]) -> None:
    """Print what survives and is not argued for, with the lines that it changes."""
    for mutant in blind:
        print(f"\nsurvives: {mutant.id}")
        old = ast.unparse(ast.parse(references()[mutant.component].source)).splitlines()
        for line in difflib.unified_diff(old, mutant.source.splitlines(), lineterm="", n=0):
            if not line.startswith(("---", "+++", "@@")):
                print(f"    {line}")


def _write(path: Path, tried: list[Mutant], fared: dict[str, str]) -> None:
    reasons = {i: why for why, ids in ARGUED for i in ids}
    rows = [
        {
            "id": m.id,
            "component": m.component,
            "operator": m.operator,
            "outcome": fared[m.id],
            "argument": reasons.get(m.id, ""),
        }
        for m in tried
    ]
    path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
