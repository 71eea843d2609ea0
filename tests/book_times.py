"""How long the book takes: a cold build by each command, and the first paint of every page.

Run by `make book-times`. Times depend on the machine, so no test asserts them.
"""

import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from book_site import NO_NETWORK, build, can_cut_the_network
from browser import chromium, opened, reason_to_skip

LONGEST_BUILD, LATEST_PAINT, REPEATS = 60.0, 1000.0, 3  # seconds, milliseconds
FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def timed_build(source: str, out: Path) -> float:
    start = time.perf_counter()
    build(source, out, NO_NETWORK if can_cut_the_network() else ())
    return time.perf_counter() - start


def first_paints(site: Path) -> dict[str, float]:
    """Milliseconds until there is something to see, the median of some visits with an empty cache."""
    found = {}
    with chromium() as browser:
        for path in sorted(site.glob("*.html")):
            times = []
            for _ in range(REPEATS):
                with opened(browser, path) as page:
                    page.wait_for_function(FIRST_PAINT)
                    times.append(page.evaluate(FIRST_PAINT))
            found[path.stem] = statistics.median(times)
    return found


def main() -> int:
    late = []
    with tempfile.TemporaryDirectory() as folder:
        for source in ("book/", "."):
            out = Path(folder, "out")
            shutil.rmtree(out, ignore_errors=True)
            seconds = timed_build(source, out)
            print(f"jupyter-book build {source:5}  {seconds:5.1f} s, cold, with -W -n", flush=True)
            late += [source] if seconds > LONGEST_BUILD else []
        if reason := reason_to_skip():
            print(f"first paints skipped: {reason}")
        else:
            for name, ms in first_paints(out / "_build" / "html" / "book").items():
                print(f"{name:26} first paint after {ms:4.0f} ms")
                late += [name] if ms > LATEST_PAINT else []
    print("too slow: " + ", ".join(late) if late else "all in time")
    return bool(late)


if __name__ == "__main__":
    sys.exit(main())
