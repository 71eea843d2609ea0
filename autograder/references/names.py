"""From the names of a published GPT-2 file to those of gpt2.py's state_dict.

Both keep a linear map as (d_in, d_out), so nothing is transposed but an untied output matrix. The
published file packs Q, K and V side by side in `c_attn`.
"""

import re

import numpy as np

OUTER = {
    "wte.weight": "E",
    "wpe.weight": "P",
    "ln_f.weight": "ln_f.gamma",
    "ln_f.bias": "ln_f.beta",
}
INNER = {
    "ln_1.weight": "ln_1.gamma",
    "ln_1.bias": "ln_1.beta",
    "attn.c_proj.weight": "attn.W_O",
    "attn.c_proj.bias": "attn.b_O",
    "ln_2.weight": "ln_2.gamma",
    "ln_2.bias": "ln_2.beta",
    "mlp.c_fc.weight": "ffn.W_up",
    "mlp.c_fc.bias": "ffn.b_up",
    "mlp.c_proj.weight": "ffn.W_down",
    "mlp.c_proj.bias": "ffn.b_down",
}
PACKED = {"attn.c_attn.weight": "attn.W_", "attn.c_attn.bias": "attn.b_"}

# Old files keep the causal mask beside the weights. Matching the whole name matters: a test for
# the ending "attn.bias" alone would drop c_attn.bias too.
MASK_BUFFER = re.compile(r"h\.\d+\.attn\.(bias|masked_bias)")
IN_BLOCK = re.compile(r"h\.(\d+)\.(.+)")


def from_published(state: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Rename and split; ValueError names what is missing or unknown.

    Takes names with or without `transformer.`, and files with mask buffers. An `lm_head.weight`
    equal to `wte.weight` is the tied head and is left out; any other becomes W_U (d, V).
    """
    state = {name.removeprefix("transformer."): array for name, array in state.items()}
    head = state.pop("lm_head.weight", None)
    named, unknown = {}, []
    for name, array in state.items():
        block = IN_BLOCK.fullmatch(name)
        if MASK_BUFFER.fullmatch(name):
            continue
        if name in OUTER:
            named[OUTER[name]] = array
        elif block and block[2] in INNER:
            named[f"blocks.{block[1]}.{INNER[block[2]]}"] = array
        elif block and block[2] in PACKED:
            stem = f"blocks.{block[1]}.{PACKED[block[2]]}"
            named |= {stem + letter: part for letter, part in zip("QKV", np.split(array, 3, -1))}
        else:
            unknown.append(name)
    missing = expected_names(named) - set(named)
    if unknown or missing:
        raise ValueError(
            "not a GPT-2 file: "
            + "; ".join(
                f"{what} {', '.join(sorted(names)[:4])}{' …' if len(names) > 4 else ''}"
                for what, names in (("unknown", unknown), ("missing", missing))
                if names
            )
        )
    if head is not None and not np.array_equal(head, named["E"]):
        named["W_U"] = head.T
    return named


def expected_names(named) -> set[str]:
    """Names of a whole tied model with as many blocks as `named` mentions (at least one)."""
    found = [int(name.split(".")[1]) for name in named if name.startswith("blocks.")]
    per_block = [*INNER.values(), *(stem + letter for stem in PACKED.values() for letter in "QKV")]
    blocks = {f"blocks.{i}.{name}" for i in range(max(found, default=0) + 1) for name in per_block}
    return set(OUTER.values()) | blocks
