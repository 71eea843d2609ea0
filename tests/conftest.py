"""Shared by all tests."""

import os
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[1]

torch.set_num_threads(1)  # more threads only get in each other's way on models this small


@pytest.fixture(scope="session")
def reference_source() -> str:
    """Text of the reference gpt2.py: what `assemble` makes of solutions/.

    GPT2_REFERENCE=path/to/gpt2.py runs the same tests on another file.
    """
    if path := os.environ.get("GPT2_REFERENCE"):
        return Path(path).read_text(encoding="utf-8")
    from autograder.assemble import assemble

    assembly = assemble(ROOT / "solutions")
    if assembly.text is None:
        pytest.fail(f"solutions/ cannot be assembled: {assembly.problems}")
    return assembly.text


@pytest.fixture(scope="session")
def reference_path(reference_source, tmp_path_factory) -> Path:
    """The reference as a file."""
    path = tmp_path_factory.mktemp("reference") / "gpt2.py"
    path.write_text(reference_source, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def browser():
    """Chromium, once for all tests: playwright cannot be started twice in a process."""
    from browser import chromium

    with chromium() as running:
        yield running


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """The book, by `jupyter-book build book/` from an empty cache, without a network where that can be
    done. What uses it has the mark xdist_group("book"), so that it is built once."""
    from book_site import NO_NETWORK, build, can_cut_the_network

    out = tmp_path_factory.mktemp("book")
    return build("book/", out, NO_NETWORK if can_cut_the_network() else ())
