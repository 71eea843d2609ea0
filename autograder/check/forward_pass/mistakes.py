"""GPT2: the mistakes that are known by name."""

from __future__ import annotations

from functools import partial

from autograder.check.mistake import Mistake, altered
from autograder.check.forward_pass.inputs import whole
from autograder.oracle import forward_pass as oracle
from autograder.oracle.self_attention import softmax

EMBED = "Once, before the first block: x = embed(ids, self.E, self.P)."
GO_ON = "Each block reads what the one before returned: for block in self.blocks: x = block(x)."
LOSS = "cross_entropy(self(ids), targets)"
NO_SOFTMAX = "End with the product, x @ self.E.T or x @ self.W_U."
LAST = "After the loop over the blocks, once: x = self.ln_f(x)."
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


def _with_targets(change):
    """Before the model is called: new targets, where there are any."""
    return lambda i: {"targets": change(i)} if i.get("targets") is not None else {}


def _log_softmax(logits):
    return logits - oracle.log_sum_exp(logits)[..., None]


def _as_it_is(x, p):
    return x


MISTAKES = (
    Mistake(
        "tied_by_copy",
        altered(whole, shapes=_tied_by_copy),
        "A tied model has a second matrix W_U: it is a copy of E, and drifts away in training.",
        "Tied means one tensor: x @ self.E.T in forward, and no W_U at all.",
        "GPT-2 small would have 38,597,376 parameters too many. Both start equal, but each gets a "
        "gradient of its own, and after one step they differ.",
    ),
    Mistake(
        "python_list",
        altered(whole, shapes=_no_blocks),
        "The blocks are kept where no one finds their parameters: in a Python list, perhaps.",
        LIST,
        "model.parameters() would list 39,385,344 of GPT-2 small's 124,439,808: the optimiser "
        "leaves the blocks as they are, and .to(device) leaves them behind.",
    ),
    Mistake(
        "same_block",
        altered(whole, shapes=_one_block),
        "All blocks are one and the same: [block] * L repeats the block, it makes no new ones.",
        LIST,
        "GPT-2 small would have 46,473,216 parameters instead of 124,439,808. The loss curve hardly "
        "shows it; published weights cannot be loaded.",
    ),
    Mistake(
        "W_U_transposed",
        altered(whole, shapes=_turned),
        "W_U has shape (V, d); linear maps are x @ W, so it should be (d, V).",
        "nn.Parameter(torch.empty(config.d_model, config.vocab_size)), and x @ self.W_U.",
        "Weights that are saved by one model could not be loaded by another.",
    ),
    Mistake(
        "never_untied",
        altered(whole, shapes=partial(oracle.shapes, tied=True)),
        "There is no W_U, though tie_weights is False.",
        "An untied model has W_U of shape (d, V), and does not use E for the logits.",
        "What a token means when it is read and what it takes to predict it could not be learnt "
        "apart, although the config asks for it.",
    ),
    Mistake(
        "W_U_unused",
        altered(whole, unembed=_only_tied),
        "W_U is there but not used: the logits come from E, though tie_weights is False.",
        "x @ self.E.T if self.config.tie_weights else x @ self.W_U",
        "W_U never gets a gradient: at GPT-2 small's size, 38,597,376 parameters that do nothing.",
    ),
    Mistake(
        "no_final_norm",
        altered(whole, norm=_as_it_is),
        "The last LayerNorm is missing.",
        LAST,
        "The stream grows with every write, and the logits with it. A small model trained a little "
        "worse so, 2.50 and not 2.37; GPT-2's weights give nonsense.",
    ),
    Mistake(
        "norm_first",
        altered(
            whole, embed=lambda ids, p: oracle.last_norm(oracle.embed(ids, p), p), norm=_as_it_is
        ),
        "ln_f comes before the blocks; it belongs after the last one.",
        LAST,
        "The blocks norm what they read by themselves. What they add up to would reach the "
        "unembedding at whatever size it has grown to.",
    ),
    Mistake(
        "norm_in_every_block",
        altered(
            whole, step=lambda x, write, start, p: oracle.last_norm(x + write, p), norm=_as_it_is
        ),
        "ln_f is applied after every block; it belongs after the last one only.",
        f"Take it out of the loop. {LAST}",
        "A stream that is normed at each block is no longer a sum of what was written: the direct "
        "way back for gradients, past all blocks, is gone.",
    ),
    Mistake(
        "norm_too_often",
        altered(whole, step=lambda x, write, start, p: oracle.last_norm(x + write, p)),
        "ln_f is applied after every block, and once more at the end; only the last is right.",
        f"Take it out of the loop. {LAST}",
        "A stream that is normed at each block is no longer a sum of what was written: the direct "
        "way back for gradients, past all blocks, is gone.",
    ),
    Mistake(
        "no_positions",
        altered(whole, embed=lambda ids, p: p["E"][ids]),
        "P is not added: the model does not know where a token stands.",
        EMBED,
        "Attention takes a weighted sum, in which order has no part. The loss curve hardly shows "
        "it: 2.41 instead of 2.37 in a trial.",
    ),
    Mistake(
        "positions_off_by_one",
        altered(whole, embed=partial(oracle.embed, first=1)),
        "Position 0 gets row 1 of P: the positions are off by one.",
        f"Positions count from 0: self.P[:T]. {EMBED}",
        "A model of your own learns it so. GPT-2's weights were trained with row 0 first, and a "
        "text of n_positions tokens runs out of rows.",
    ),
    Mistake(
        "positions_from_the_end",
        altered(whole, embed=_from_the_end),
        "The positions are the last T rows of P, not the first.",
        f"Positions count from 0: self.P[:T]. {EMBED}",
        "With each token that is added, all the earlier ones would get another position: what the "
        "model has computed of them changes, and no cache can keep it.",
    ),
    Mistake(
        "positions_by_id",
        altered(whole, embed=_positions_by_id),
        "P is looked up with the token's id instead of its position.",
        EMBED,
        "A token would get the same vector wherever it stands. In GPT-2 ids reach 50,256 and P has "
        "1,024 rows, so most of them are an IndexError.",
    ),
    Mistake(
        "tokens_unused",
        altered(whole, embed=lambda ids, p: 0 * p["E"][ids] + p["P"][: ids.shape[-1]]),
        "E is not looked up: all that enters is the position.",
        EMBED,
        "All texts of one length would get the same logits.",
    ),
    Mistake(
        "E_scaled",
        altered(
            whole,
            embed=lambda ids, p: oracle.embed(ids, p, scale=p["E"].shape[1] ** 0.5),
        ),
        "E is multiplied by sqrt(d). The first transformer did that; GPT-2 does not.",
        EMBED,
        "At d = 768 the tokens would enter 27.7 times as large, and the positions would drown "
        "beside them.",
    ),
    Mistake(
        "positions_in_every_block",
        altered(whole, step=lambda x, write, start, p: x + write + start),
        "The embedded tokens are added again after every block.",
        EMBED,
        "The stream carries them along already. After 12 blocks they would be in it 13 times, and "
        "what the blocks write would count less beside them.",
    ),
    Mistake(
        "residual_twice",
        altered(whole, step=lambda x, write, start, p: x + (x + write)),
        "x = x + block(x) adds the stream twice: the block does that already.",
        "Write x = block(x).",
        "The stream doubles with every block. After the 12 of GPT-2 small the embedded tokens are "
        "in it 4,096 times.",
    ),
    Mistake(
        "writes_only",
        altered(whole, step=lambda x, write, start, p: write),
        "The stream itself is lost: after each block only what it added is kept.",
        "Write x = block(x): a block returns the stream with its writes added.",
        "What one block has found out is gone after the next, and gradients have no way around the "
        "blocks.",
    ),
    Mistake(
        "first_block_only",
        altered(whole, order=lambda L: [0]),
        "Only the first block is used.",
        f"Is the return inside the loop? {GO_ON}",
        "All other blocks would be there, be counted and saved, and never get a gradient.",
    ),
    Mistake(
        "last_block_only",
        altered(whole, order=lambda L: [L - 1]),
        "Only the last block counts: each starts from the embedding again, perhaps.",
        f"One name for the stream: {GO_ON}",
        "The result of every earlier block would be thrown away, and none of them gets a gradient.",
    ),
    Mistake(
        "first_block_repeated",
        altered(whole, order=lambda L: [0] * L),
        "The first block is used L times.",
        GO_ON,
        "All other blocks would be there, be counted and saved, and never get a gradient.",
    ),
    Mistake(
        "one_block_short",
        altered(whole, order=lambda L: range(L - 1)),
        "The last block is left out.",
        GO_ON,
        "It would be there, be counted and saved, and never get a gradient. GPT-2's last block has "
        "the final say on its logits.",
    ),
    Mistake(
        "first_block_skipped",
        altered(whole, order=lambda L: range(1, L)),
        "The first block is left out.",
        f"Blocks count from 0. {GO_ON}",
        "It would be there, be counted and saved, and never get a gradient.",
    ),
    Mistake(
        "blocks_reversed",
        altered(whole, order=lambda L: range(L)[::-1]),
        "The blocks are used in the opposite order.",
        GO_ON,
        "A model of your own does not mind. With GPT-2's weights each block would read what it was "
        "never trained on.",
    ),
    Mistake(
        "no_blocks",
        altered(whole, order=lambda L: []),
        "The blocks are not used at all.",
        GO_ON,
        "No position would learn anything of the others: the best that is left is which token "
        "tends to follow which.",
    ),
    Mistake(
        "probabilities",
        altered(whole, read=softmax),
        "It returns probabilities; logits are asked for, without a softmax.",
        f"{NO_SOFTMAX} cross_entropy and next_token_distribution take the softmax themselves.",
        "The loss would take a second softmax, of numbers between 0 and 1. With V = 50,257 it cannot "
        "get below 9.82 then, whatever the model learns.",
    ),
    Mistake(
        "log_probabilities",
        altered(whole, read=_log_softmax),
        "It returns log-probabilities; logits are asked for, without a softmax.",
        f"{NO_SOFTMAX} cross_entropy and next_token_distribution take the softmax themselves.",
        "The loss does not show it, since a softmax of them gives the same probabilities. But each "
        "row is off by a constant from what GPT-2 gives.",
    ),
    Mistake(
        "logits_transposed",
        altered(whole, read=lambda logits: logits.mT),
        "The logits are transposed: (B, V, T) instead of (B, T, V).",
        f"Rows are positions. {NO_SOFTMAX}",
        "torch's cross_entropy wants the vocabulary on axis 1, and there alone such a transpose has "
        "its place. What reads logits[..., -1, :] would get one token at all positions.",
    ),
    Mistake(
        "last_position_only",
        altered(whole, read=lambda logits: logits[:, -1]),
        "It returns the last position only; in training every position is scored.",
        "The logits have shape (B, T, V): leave the choice to next_token_distribution.",
        "One pass over 1,024 tokens answers 1,024 questions. All but one would be thrown away.",
    ),
    Mistake(
        "loss_shifts_again",
        altered(
            whole,
            loss=lambda z, targets: oracle.cross_entropy(z[:, :-1], targets[:, 1:]),
        ),
        "The loss shifts the targets once more; they come already shifted.",
        LOSS,
        "The model would learn to predict the token after the next. In a trial its loss on the "
        "next one was 3.5, where it should have been 2.3.",
    ),
    Mistake(
        "loss_of_ids",
        altered(whole, before=_with_targets(lambda i: i["ids"])),
        "The loss scores the tokens that were read, ids; the targets are not used.",
        LOSS,
        "The model would learn to repeat the last token, which it is given. In a trial the loss "
        "fell to 0.000, and on the next token it was 14.6.",
    ),
    Mistake(
        "loss_summed",
        altered(whole, loss=lambda z, targets: oracle.surprise(z, targets).sum()),
        "The loss is the sum over all positions, not their mean.",
        LOSS,
        "The loss and its gradient would grow with the batch: 8 sequences of 1,024 tokens make "
        "both 8,192 times as large.",
    ),
    Mistake(
        "loss_of_softmax",
        altered(whole, loss=lambda z, targets: oracle.cross_entropy(softmax(z), targets)),
        "The loss takes the softmax twice: hand the logits to cross_entropy as they are.",
        LOSS,
        "A softmax of numbers between 0 and 1 is nearly flat. With V = 50,257 the loss cannot get "
        "below 9.82, whatever the model learns.",
    ),
    Mistake(
        "loss_of_last_position",
        altered(whole, loss=lambda z, targets: oracle.cross_entropy(z[:, -1], targets[:, -1])),
        "The loss scores the last position only; every position is scored.",
        LOSS,
        "One pass over 1,024 tokens answers 1,024 questions. All but one would be thrown away. In "
        "a trial the loss came to 3.2 so, and to 2.3 with all of them.",
    ),
)
