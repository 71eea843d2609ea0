"""Chapter 5: what is checked of the activations, the networks, the norms and the blocks."""

from autograder.check.feedforward_layernorm.activations import GELU, GELU_TANH
from autograder.check.feedforward_layernorm.feedforward import FEED_FORWARD
from autograder.check.feedforward_layernorm.gated import MATCHED_D_FF, SWIGLU
from autograder.check.feedforward_layernorm.norms import LAYER_NORM, RMS_NORM
from autograder.check.feedforward_layernorm.post_norm import POST_NORM_BLOCK
from autograder.check.feedforward_layernorm.pre_norm import PRE_NORM_BLOCK

COMPONENTS = (
    GELU,
    GELU_TANH,
    FEED_FORWARD,
    MATCHED_D_FF,
    SWIGLU,
    LAYER_NORM,
    RMS_NORM,
    PRE_NORM_BLOCK,
    POST_NORM_BLOCK,
)
