"""Chapter 2: what is checked of the stream, its gradients and its near-orthogonal directions."""

from autograder.check.residual_stream.directions import MAX_COSINE
from autograder.check.residual_stream.gradients import GRADIENT_NORMS
from autograder.check.residual_stream.ledger import RUN_STREAM
from autograder.check.residual_stream.update import RESIDUAL_ADD

COMPONENTS = (RESIDUAL_ADD, RUN_STREAM, GRADIENT_NORMS, MAX_COSINE)
