"""How long the checks take: `make check-times`. One thread, torch already imported.

For each component the stand-in, and the slowest of its wrong solutions (the search through the
table of mistakes included), each the best of three.
"""

import sys
import time

import torch
from rich.console import Console
from rich.table import Table
from variants import right, wrong

from autograder import check
from autograder.course import COMPONENTS

ONE, ALL = 1.5, 30.0  # seconds that a check of one, and those of all, may take


def seconds(name, target, best_of=3):
    taken = []
    for _ in range(best_of):
        start = time.perf_counter()
        check.run(name, target)
        taken.append(time.perf_counter() - start)
    return min(taken)


def main() -> int:
    torch.set_num_threads(1)
    table = Table("component", "right", "slowest wrong", "which", box=None)
    total, slow = 0.0, []
    for name in COMPONENTS:
        good = seconds(name, right(name)["stand-in"])
        bad, which = max((seconds(name, t, 1), v) for v, t in wrong(name).items())
        bad = min(bad, seconds(name, wrong(name)[which]))
        table.add_row(name, f"{good:.2f} s", f"{bad:.2f} s", which)
        total += good
        slow += [name] if max(good, bad) > ONE else []
    console = Console()
    console.print(table)
    console.print(f"All right solutions together: {total:.1f} s (at most {ALL:g}).")
    console.print(f"Over {ONE:g} s: {', '.join(slow) or 'none'}.")
    return int(bool(slow) or total > ALL)


if __name__ == "__main__":
    sys.exit(main())
