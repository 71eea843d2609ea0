"""Run the checks on notebooks as they stand, from their definitions, without a kernel."""

from autograder.survey.run import LIMIT, Verdict, survey, verdicts

__all__ = ["LIMIT", "Verdict", "survey", "verdicts"]
