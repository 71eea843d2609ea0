"""The course as a table: its assignments, what each one grades, and where the book explains it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Assignment:
    """One exercise notebook: `solutions/<name>/<notebook>.ipynb`."""

    name: str
    notebook: str
    chapter: str  # as the book numbers and names it
    page: str  # its file below book/, without the ending
    components: tuple[str, ...]

    @property
    def path(self) -> str:
        return f"{self.name}/{self.notebook}.ipynb"


ASSIGNMENTS = (
    Assignment(
        "01_architecture",
        "architecture",
        "1 The Architecture at a Glance",
        "01-architecture",
        ("embed", "Embedding", "GPT2Config", "count_parameters"),
    ),
    Assignment(
        "02_residual_stream",
        "residual_stream",
        "2 The Residual Stream",
        "02-residual-stream",
        ("residual_add", "run_stream", "gradient_norms", "max_cosine"),
    ),
    Assignment(
        "03_self_attention",
        "self_attention",
        "3 Self-Attention",
        "03-self-attention",
        ("softmax", "causal_mask", "attention", "AttentionHead", "score_variance"),
    ),
    Assignment(
        "04_multi_head_attention",
        "multi_head_attention",
        "4 Multi-Head Attention",
        "04-multi-head-attention",
        ("split_heads", "merge_heads", "MultiHeadAttention", "head_writes", "ablate_head"),
    ),
    Assignment(
        "05_feedforward_layernorm",
        "feedforward_layernorm",
        "5 Feedforward Layers and Layer Normalization",
        "05-feedforward-layernorm",
        (
            "gelu",
            "gelu_tanh",
            "FeedForward",
            "matched_d_ff",
            "SwiGLU",
            "LayerNorm",
            "RMSNorm",
            "PreNormBlock",
            "PostNormBlock",
        ),
    ),
    Assignment(
        "06_forward_pass",
        "forward_pass",
        "6 The Full Forward Pass",
        "06-forward-pass",
        ("init_weights", "cross_entropy", "GPT2", "next_token_distribution"),
    ),
    Assignment(
        "07_training",
        "training",
        "7 Training",
        "07-training",
        (
            "get_batch",
            "lr_schedule",
            "decay_groups",
            "clip_grad_norm",
            "adamw_step",
            "train_step",
            "estimate_loss",
        ),
    ),
    Assignment(
        "08_generation", "generation", "8 Generation", "08-generation", ("sample_next", "generate")
    ),
)

COMPONENTS = {component: a for a in ASSIGNMENTS for component in a.components}


def section(component: str) -> str:
    """Where the book explains a component, as page#anchor below the book's root."""
    return f"{COMPONENTS[component].page}.html#sec-{component.lower().replace('_', '-')}"


def where(component: str) -> str:
    """The same in words, in one line: the chapter's number, its source, and its built page."""
    a = COMPONENTS[component]
    number = a.chapter.split()[0]
    return f"chapter {number}, {component} (book/{a.page}.md; built: {section(component)})"
