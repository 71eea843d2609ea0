"""Chapter 8: what is checked of sampling and of generation."""

from autograder.check.generation.continuing import GENERATE
from autograder.check.generation.sampling import SAMPLE_NEXT

COMPONENTS = (SAMPLE_NEXT, GENERATE)
