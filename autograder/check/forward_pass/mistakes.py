"""GPT2: the mistakes that are known by name."""

from __future__ import annotations

from functools import partial

from autograder.check.mistake import Mistake, altered
from autograder.check.forward_pass.inputs import whole
from autograder.oracle import forward_pass as oracle
from autograder.oracle.self_attention import softmax

EMBED = "Once, before the first block: x = embed(ids, self.E, self.P)."
LIST = "nn.ModuleList(PreNormBlock(…) for _ in range(n_layer)) makes L of them and finds them all."


def _tied_by_copy(config):
    return oracle.shapes(config, tied=False)


def _no_blocks(config):
    return {k: s for k, s in oracle.shapes(config).items() if not k.startswith("blocks.")}


def _one_block(config):
    shapes = oracle.shapes(config)
    for name in shapes:
        block, _, part = name.removeprefix("blocks.").partition(".")
        if name.startswith("blocks.") and block != "0":
            shapes[name] = f"the same as blocks.0.{part}"
    return shapes


def _turned(config):
    return {k: s[::-1] if k == "W_U" else s for k, s in oracle.shapes(config).items()}


def _only_tied(x, p):
    return x @ p["E"].T


def _positions_by_id(ids, p):
    return p["E"][ids] + p["P"][ids]


def _from_the_end(ids, p):
    return p["E"][ids] + p["P"][-ids.shape[-1] :]


def _as_it_is(x, p):
    return x


MISTAKES = (
    Mistake(
        "tied_by_copy",
        altered(whole, shapes=_tied_by_copy),
        "A tied model has a second matrix W_U: it is a copy of E, and drifts away in training.",
        "Tied means one tensor: x @ self.E.T in forward, and no W_U at all.",
    ),
    Mistake(
        "python_list",
        altered(whole, shapes=_no_blocks),
        "The blocks are kept where no one finds their parameters: in a Python list, perhaps.",
        LIST,
    ),
    Mistake(
        "same_block",
        altered(whole, shapes=_one_block),
        "All blocks are one and the same: [block] * L repeats the block, it makes no new ones.",
        LIST,
    ),
    Mistake(
        "W_U_transposed",
        altered(whole, shapes=_turned),
        "W_U has shape (V, d); linear maps are x @ W, so it should be (d, V).",
    ),
    Mistake(
        "never_untied",
        altered(whole, shapes=partial(oracle.shapes, tied=True)),
        "There is no W_U, though tie_weights is False.",
        "An untied model has W_U of shape (d, V), and does not use E for the logits.",
    ),
    Mistake(
        "W_U_unused",
        altered(whole, unembed=_only_tied),
        "W_U is there but not used: the logits come from E, though tie_weights is False.",
    ),
    Mistake(
        "no_final_norm",
        altered(whole, norm=_as_it_is),
        "The last LayerNorm is missing.",
        "After the last block: x = self.ln_f(x).",
    ),
    Mistake(
        "norm_first",
        altered(
            whole, embed=lambda ids, p: oracle.last_norm(oracle.embed(ids, p), p), norm=_as_it_is
        ),
        "ln_f comes before the blocks; it belongs after the last one.",
        "After the last block: x = self.ln_f(x).",
    ),
    Mistake(
        "norm_in_every_block",
        altered(
            whole, step=lambda x, write, start, p: oracle.last_norm(x + write, p), norm=_as_it_is
        ),
        "ln_f is applied after every block; it belongs after the last one only.",
        "Take it out of the loop.",
    ),
    Mistake(
        "no_positions",
        altered(whole, embed=lambda ids, p: p["E"][ids]),
        "P is not added: the model does not know where a token stands.",
        EMBED,
    ),
    Mistake(
        "positions_off_by_one",
        altered(whole, embed=partial(oracle.embed, first=1)),
        "Position 0 gets row 1 of P: the positions are off by one.",
        "Positions count from 0.",
    ),
    Mistake(
        "positions_from_the_end",
        altered(whole, embed=_from_the_end),
        "The positions are the last T rows of P, not the first.",
        "Positions count from 0.",
    ),
    Mistake(
        "positions_by_id",
        altered(whole, embed=_positions_by_id),
        "P is looked up with the token's id instead of its position.",
        EMBED,
    ),
    Mistake(
        "tokens_unused",
        altered(whole, embed=lambda ids, p: 0 * p["E"][ids] + p["P"][: ids.shape[-1]]),
        "E is not looked up: all that enters is the position.",
        EMBED,
    ),
    Mistake(
        "E_scaled",
        altered(
            whole,
            embed=lambda ids, p: oracle.embed(ids, p, scale=p["E"].shape[1] ** 0.5),
        ),
        "E is multiplied by sqrt(d). The first transformer did that; GPT-2 does not.",
        EMBED,
    ),
    Mistake(
        "positions_in_every_block",
        altered(whole, step=lambda x, write, start, p: x + write + start),
        "The embedded tokens are added again after every block.",
        EMBED,
    ),
    Mistake(
        "residual_twice",
        altered(whole, step=lambda x, write, start, p: x + (x + write)),
        "x = x + block(x) adds the stream twice: the block does that already.",
        "Write x = block(x).",
    ),
    Mistake(
        "writes_only",
        altered(whole, step=lambda x, write, start, p: write),
        "The stream itself is lost: after each block only what it added is kept.",
        "Write x = block(x).",
    ),
    Mistake(
        "first_block_only",
        altered(whole, order=lambda L: [0]),
        "Only the first block is used.",
        "Go through them all: for block in self.blocks: x = block(x).",
    ),
    Mistake(
        "last_block_only",
        altered(whole, order=lambda L: [L - 1]),
        "Only the last block counts: each starts from the embedding again, perhaps.",
        "Each block reads what the one before it returned.",
    ),
    Mistake(
        "first_block_repeated",
        altered(whole, order=lambda L: [0] * L),
        "The first block is used L times.",
        "Go through them all: for block in self.blocks: x = block(x).",
    ),
    Mistake(
        "one_block_short",
        altered(whole, order=lambda L: range(L - 1)),
        "The last block is left out.",
        "Go through them all: for block in self.blocks: x = block(x).",
    ),
    Mistake(
        "blocks_reversed",
        altered(whole, order=lambda L: range(L)[::-1]),
        "The blocks are used in the opposite order.",
    ),
    Mistake(
        "no_blocks",
        altered(whole, order=lambda L: []),
        "The blocks are not used at all.",
        "Go through them all: for block in self.blocks: x = block(x).",
    ),
    Mistake(
        "probabilities",
        altered(whole, read=softmax),
        "It returns probabilities; logits are asked for, without a softmax.",
        "cross_entropy and next_token_distribution take the softmax themselves.",
    ),
    Mistake(
        "last_position_only",
        altered(whole, read=lambda logits: logits[:, -1]),
        "It returns the last position only; in training every position is scored.",
        "The logits have shape (B, T, V).",
    ),
    Mistake(
        "loss_shifts_again",
        altered(
            whole,
            loss=lambda z, targets: oracle.cross_entropy(z[:, :-1], targets[:, 1:]),
        ),
        "The loss shifts the targets once more; they come already shifted.",
        "cross_entropy(self(ids), targets)",
    ),
    Mistake(
        "loss_summed",
        altered(whole, loss=lambda z, targets: oracle.surprise(z, targets).sum()),
        "The loss is the sum over all positions, not their mean.",
        "cross_entropy(self(ids), targets)",
    ),
    Mistake(
        "loss_of_softmax",
        altered(whole, loss=lambda z, targets: oracle.cross_entropy(softmax(z), targets)),
        "The loss takes the softmax twice: hand the logits to cross_entropy as they are.",
        "cross_entropy(self(ids), targets)",
    ),
    Mistake(
        "loss_of_last_position",
        altered(whole, loss=lambda z, targets: oracle.cross_entropy(z[:, -1], targets[:, -1])),
        "The loss scores the last position only; every position is scored.",
        "cross_entropy(self(ids), targets)",
    ),
)
