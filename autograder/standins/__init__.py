"""Library-built versions of the components: what a later assignment uses in place of an earlier one.

They have the signatures and parameter names of the course and give the same numbers, through
torch.nn.functional, so they show the behaviour and not the way to write it.
"""

from autograder.standins.architecture import Embedding, GPT2Config, count_parameters, embed
from autograder.standins.feedforward_layernorm import (
    FeedForward,
    LayerNorm,
    PostNormBlock,
    PreNormBlock,
    RMSNorm,
    SwiGLU,
    gelu,
    gelu_tanh,
    matched_d_ff,
)
from autograder.standins.forward_pass import (
    GPT2,
    cross_entropy,
    init_weights,
    next_token_distribution,
)
from autograder.standins.generation import (
    generate,
    sample_next,
)
from autograder.standins.multi_head_attention import (
    MultiHeadAttention,
    ablate_head,
    head_writes,
    merge_heads,
    split_heads,
)
from autograder.standins.residual_stream import (
    gradient_norms,
    max_cosine,
    residual_add,
    run_stream,
)
from autograder.standins.self_attention import (
    AttentionHead,
    attention,
    causal_mask,
    score_variance,
    softmax,
)
from autograder.standins.training import (
    adamw_step,
    clip_grad_norm,
    decay_groups,
    estimate_loss,
    get_batch,
    lr_schedule,
    train_step,
)

__all__ = [
    "AttentionHead",
    "Embedding",
    "FeedForward",
    "GPT2",
    "GPT2Config",
    "LayerNorm",
    "MultiHeadAttention",
    "PostNormBlock",
    "PreNormBlock",
    "RMSNorm",
    "SwiGLU",
    "ablate_head",
    "adamw_step",
    "attention",
    "causal_mask",
    "clip_grad_norm",
    "count_parameters",
    "cross_entropy",
    "decay_groups",
    "embed",
    "estimate_loss",
    "gelu",
    "gelu_tanh",
    "generate",
    "get_batch",
    "gradient_norms",
    "head_writes",
    "init_weights",
    "lr_schedule",
    "matched_d_ff",
    "max_cosine",
    "merge_heads",
    "next_token_distribution",
    "residual_add",
    "run_stream",
    "sample_next",
    "score_variance",
    "softmax",
    "split_heads",
    "train_step",
]
