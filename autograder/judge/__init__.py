"""From plain data to a verdict: what is right, what is wrong, and where."""

from autograder.judge.compare import difference
from autograder.judge.finding import Finding, Trouble
from autograder.judge.report import Report

__all__ = ["Finding", "Report", "Trouble", "difference"]
