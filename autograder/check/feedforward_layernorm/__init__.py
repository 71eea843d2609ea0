"""Chapter 5: what is checked of the activations, the networks, the norms and the blocks."""

from autograder.check.feedforward_layernorm.feedforward import FEED_FORWARD
from autograder.check.feedforward_layernorm.gelu import GELU
from autograder.check.feedforward_layernorm.gelu_tanh import GELU_TANH
from autograder.check.feedforward_layernorm.layer_norm import LAYER_NORM
from autograder.check.feedforward_layernorm.matched import MATCHED_D_FF
from autograder.check.feedforward_layernorm.post_norm import POST_NORM_BLOCK
from autograder.check.feedforward_layernorm.pre_norm import PRE_NORM_BLOCK
from autograder.check.feedforward_layernorm.rms_norm import RMS_NORM
from autograder.check.feedforward_layernorm.swiglu import SWIGLU

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
