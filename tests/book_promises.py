"""What the course promises to cover, and where in the built book each promise is kept."""

from autograder.course import COMPONENTS, section


def graded(*names: str) -> tuple[str, ...]:
    return tuple(section(name).partition("#")[2] for name in names)


def _of(page: str, *rows: tuple[str, tuple[str, ...]]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(page, promise, anchors) for promise, anchors in rows]


def graded_on(page: str) -> tuple[str, ...]:
    return graded(*(name for name in COMPONENTS if section(name).startswith(page)))


# (page, promise, anchors); a test looks every anchor up.
PROMISES = [
    *_of(
        "primer",
        ("what is assumed from before", ("primer", "primer-tokens", "primer-embeddings")),
        ("softmax and loss", ("primer-softmax-and-loss",)),
    ),
    *_of(
        "01-architecture",
        ("from ids to the stream", ("arch-from-ids", "eq-embedding")),
        ("refined by addition; two operations a block; depth", ("arch-addition", "arch-depth")),
        ("figure 1", ("fig-architecture",)),
        ("a block in two equations; the width never changes", ("eq-block", "arch-width")),
        ("key intuition: draft and revisions", ("arch-intuition",)),
        ("parameter budget", ("arch-budget", "eq-budget")),
        ("exact counts, tied and untied", ("arch-exact-counts", "int-budget")),
        ("neuroscience: the sensory hierarchy", ("arch-neuroscience",)),
        ("graded", graded_on("01")),
    ),
    *_of(
        "02-residual-stream",
        ("figure 2", ("fig-residual-stream", "eq-stream")),
        ("gradient highway", ("stream-highway",)),
        ("a zero sub-layer is the identity", ("stream-identity",)),
        ("common misconception: a memory that is overwritten", ("stream-misconception",)),
        ("superposition", ("stream-superposition",)),
        ("neuroscience: population code", ("stream-population-code",)),
        ("neuroscience: Euler step", ("stream-euler",)),
        ("graded", graded_on("02")),
    ),
    *_of(
        "03-self-attention",
        ("query, key, value, and their names", ("attn-question", "attn-names")),
        ("figure 3", ("fig-qkv",)),
        ("the equations", ("eq-qkv", "eq-scores", "eq-attention")),
        ("why the root of d_k", ("attn-scaling",)),
        ("causal masking; the leak", ("attn-causal", "attn-leak", "int-leak")),
        ("interactive: softmax", ("int-softmax",)),
        ("neuroscience: effective connectivity", ("attn-neuroscience",)),
        ("graded", graded_on("03")),
    ),
    *_of(
        "04-multi-head-attention",
        ("why several heads; projections, not slices", ("heads-why", "heads-projection")),
        ("figure 4", ("fig-multi-head",)),
        ("both forms", ("eq-concat", "eq-sum-of-writes", "heads-two-forms")),
        ("the symbol table", ("heads-symbols",)),
        ("what heads specialise in", ("heads-specialise",)),
        ("induction heads", ("heads-induction",)),
        ("interactive: head patterns", ("int-heads",)),
        ("neuroscience: parallel streams", ("heads-neuroscience",)),
        ("graded", graded_on("04")),
    ),
    *_of(
        "05-feedforward-layernorm",
        ("the feedforward network", ("ffn-question", "eq-ffn")),
        ("figure 5; division of labour", ("fig-feedforward", "ffn-division")),
        ("GELU, both forms", ("ffn-gelu", "eq-gelu", "eq-gelu-tanh", "int-activations")),
        ("gated networks", ("ffn-gated", "eq-swiglu")),
        ("key-value memory", ("ffn-memory",)),
        ("LayerNorm", ("norm-layernorm", "eq-layernorm", "int-layernorm")),
        ("RMSNorm", ("norm-rmsnorm", "eq-rmsnorm")),
        ("figure 6", ("fig-layernorm",)),
        ("pre-norm and post-norm", ("norm-pre-post", "eq-post-norm")),
        ("neuroscience: column and sparse code", ("ffn-neuroscience",)),
        ("graded", graded_on("05")),
    ),
    *_of(
        "06-forward-pass",
        ("the six stages", ("pass-stages", "int-forward-pass")),
        ("the cost of attention, measured", ("pass-cost",)),
        ("weight tying; who unties", ("pass-tying", "eq-logits")),
        ("the next token; every position in training", ("pass-next-token", "pass-every-position")),
        ("differentiable from end to end", ("pass-differentiable", "eq-loss")),
        ("graded", graded_on("06")),
    ),
    *_of("07-training", ("train it", graded_on("07"))),
    *_of("08-generation", ("generate", graded_on("08"))),
    *_of("your-gpt2", ("assemble, conform, train, sample", ("your-gpt2",))),
    *_of("notation", ("symbols", ("notation",))),
    *_of("running-example", ("the model that goes through all chapters", ("the-running-example",))),
    *_of("gpt2-differences", ("where GPT-2 differs", ("where-gpt-2-differs-from-the-formulas",))),
    *_of("glossary", ("glossary", ("term-residual-stream", "term-head"))),
    *_of(
        "common-mistakes",
        ("common mistakes", tuple(f"mistakes-{a[4:]}" for a in graded("embed", "generate"))),
    ),
    *_of("further-reading", ("what belongs to later lessons", ("further-reading",))),
    *_of("bibliography", ("bibliography", ("bibliography",))),
    *_of("instructors", ("for instructors", ("for-instructors",))),
    *_of("installation", ("installation", ("installation",))),
]

# Papers that the lesson names.
PAPERS = (
    "vaswani2017 radford2019 brown2020 devlin2019 he2016 chen2018 clark2019 olsson2022 shazeer2020 geva2021 "
    "xiong2020 touvron2023 chowdhery2023 jiang2023 biderman2023 olshausen1996"
).split()
