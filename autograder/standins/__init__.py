"""Library-built versions of the components: what a later assignment uses in place of an earlier one.

They have the signatures and parameter names of the course and give the same numbers, through
torch.nn.functional, so they show the behaviour and not the way to write it.
"""

from autograder.standins.self_attention import (
    AttentionHead,
    attention,
    causal_mask,
    score_variance,
    softmax,
)

__all__ = ["AttentionHead", "attention", "causal_mask", "score_variance", "softmax"]
