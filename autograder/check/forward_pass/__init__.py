"""Chapter 6: what is checked of initial weights, loss, the whole model, and its distribution."""

from autograder.check.forward_pass.distribution import NEXT_TOKEN_DISTRIBUTION
from autograder.check.forward_pass.loss import CROSS_ENTROPY
from autograder.check.forward_pass.model import GPT2
from autograder.check.forward_pass.weights import INIT_WEIGHTS

COMPONENTS = (INIT_WEIGHTS, CROSS_ENTROPY, GPT2, NEXT_TOKEN_DISTRIBUTION)
