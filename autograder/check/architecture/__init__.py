"""Chapter 1: what is checked of the embedding, the configuration and the parameter count."""

from autograder.check.architecture.config import GPT2_CONFIG
from autograder.check.architecture.counts import COUNT_PARAMETERS
from autograder.check.architecture.embedding import EMBED, EMBEDDING

COMPONENTS = (EMBED, EMBEDDING, GPT2_CONFIG, COUNT_PARAMETERS)
