"""The half of a check that runs where the student's code is: it calls, and returns plain data."""

from autograder.probes.call import Answer, Call, Failure, ask

__all__ = ["Answer", "Call", "Failure", "ask"]
