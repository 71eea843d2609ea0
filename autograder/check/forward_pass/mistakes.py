"""GPT2: the mistakes that are known by name."""

from __future__ import annotations

from functools import partial

from array_api_compat import array_namespace

from autograder.check.mistake import Mistake, altered
from autograder.check.forward_pass.inputs import whole
from autograder.oracle import forward_pass as oracle
from autograder.oracle.self_attention import softmax

GO_ON = "Each block reads what the one before returned: for block in self.blocks: x = block(x)."


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


def _rolled(i):
    return array_namespace(i["targets"]).roll(i["targets"], -1, axis=-1)


def _log_softmax(logits):
    return logits - oracle.log_sum_exp(logits)[..., None]


def _as_it_is(x, p):
    return x


MISTAKES = (
    Mistake(
        "tied_by_copy",
        altered(whole, shapes=_tied_by_copy),
        "A tied model has a second matrix, W_U, besides E; it should have no W_U, and multiply "
        "by E.T.",
        "In __init__: make W_U only if not config.tie_weights. In forward, where it is tied: x "
        "@ self.W_U -> x @ self.E.T.",
        "GPT-2 small would have 38,597,376 parameters too many. Both start equal, but each gets a "
        "gradient of its own, and after one step they differ.",
    ),
    Mistake(
        "python_list",
        altered(whole, shapes=_no_blocks),
        "The model does not find the parameters of its blocks, as when they are in a plain "
        "list; they should be in an nn.ModuleList.",
        "In __init__: self.blocks = [...] -> self.blocks = nn.ModuleList([...])",
        "model.parameters() would list 39,385,344 of GPT-2 small's 124,439,808: the optimiser "
        "leaves the blocks as they are, and .to(device) leaves them behind.",
    ),
    Mistake(
        "same_block",
        altered(whole, shapes=_one_block),
        "All L blocks are one and the same, as in [block] * L; they should be L blocks, each "
        "made by itself.",
        "In __init__: [block] * L -> [PreNormBlock(...) for _ in range(L)], inside "
        "nn.ModuleList.",
        "GPT-2 small would have 46,473,216 parameters instead of 124,439,808. The loss curve hardly "
        "shows it; published weights cannot be loaded.",
    ),
    Mistake(
        "W_U_transposed",
        altered(whole, shapes=_turned),
        "W_U has shape (V, d); it should have shape (d, V), as for x @ self.W_U.",
        "In __init__, for W_U: torch.empty(V, d) -> torch.empty(d, V). In forward: self.W_U.T -> "
        "self.W_U.",
        "Weights that are saved by one model could not be loaded by another.",
    ),
    Mistake(
        "never_untied",
        altered(whole, shapes=partial(oracle.shapes, tied=True)),
        "A model with tie_weights = False has no W_U; it should have one, of shape (d, V), and "
        "compute the logits with it.",
        "In __init__: make self.W_U, an nn.Parameter, if not config.tie_weights. In forward: "
        "self.E.T only if it is tied.",
        "What a token means when it is read and what it takes to predict it could not be learnt "
        "apart, although the config asks for it.",
    ),
    Mistake(
        "W_U_unused",
        altered(whole, unembed=_only_tied),
        "An untied model computes its logits as x @ E.T; it should be x @ W_U.",
        "In the return of forward: self.E.T -> self.E.T if self.config.tie_weights else "
        "self.W_U",
        "W_U never gets a gradient: at GPT-2 small's size, 38,597,376 parameters that do nothing.",
    ),
    Mistake(
        "no_final_norm",
        altered(whole, norm=_as_it_is),
        "ln_f is not used; it should be applied after the last block.",
        "In forward, between the loop and the product with E.T or W_U: add x = self.ln_f(x).",
        "The stream grows with every write, and the logits with it. A small model trained a little "
        "worse so, 2.50 and not 2.37; GPT-2's weights give nonsense.",
    ),
    Mistake(
        "norm_first",
        altered(
            whole, embed=lambda ids, p: oracle.last_norm(oracle.embed(ids, p), p), norm=_as_it_is
        ),
        "ln_f is applied before the first block; it should be applied after the last one.",
        "x = self.ln_f(x): move it from before the loop to after it.",
        "The blocks norm what they read by themselves. What they add up to would reach the "
        "unembedding at whatever size it has grown to.",
    ),
    Mistake(
        "norm_in_every_block",
        altered(
            whole, step=lambda x, write, start, p: oracle.last_norm(x + write, p), norm=_as_it_is
        ),
        "ln_f is applied in the loop, after every block; it should be applied once, after the "
        "loop.",
        "In the loop: x = self.ln_f(block(x)) -> x = block(x). After the loop: x = "
        "self.ln_f(x).",
        "A stream that is normed at each block is no longer a sum of what was written: the direct "
        "way back for gradients, past all blocks, is gone.",
    ),
    Mistake(
        "norm_too_often",
        altered(whole, step=lambda x, write, start, p: oracle.last_norm(x + write, p)),
        "ln_f is applied in the loop, after every block, and again after the loop; it should "
        "be applied after the loop only.",
        "In the loop: x = self.ln_f(block(x)) -> x = block(x)",
        "A stream that is normed at each block is no longer a sum of what was written: the direct "
        "way back for gradients, past all blocks, is gone.",
    ),
    Mistake(
        "no_positions",
        altered(whole, embed=lambda ids, p: p["E"][ids]),
        "P is not added: the blocks read E[ids]; they should read E[ids] + P[:T].",
        "self.E[ids] -> self.E[ids] + self.P[:T], where T is ids.shape[-1].",
        "Attention takes a weighted sum, in which order has no part. The loss curve hardly shows "
        "it: 2.41 instead of 2.37 in a trial.",
    ),
    Mistake(
        "positions_off_by_one",
        altered(whole, embed=partial(oracle.embed, first=1)),
        "Position t gets row t + 1 of P; it should get row t, so that position 0 gets row 0.",
        "self.P[1 : T + 1] -> self.P[:T], where T is ids.shape[-1].",
        "A model of your own learns it so. GPT-2's weights were trained with row 0 first, and a "
        "text of n_positions tokens runs out of rows.",
    ),
    Mistake(
        "positions_from_the_end",
        altered(whole, embed=_from_the_end),
        "The positions get the last T rows of P; they should get the first T.",
        "self.P[-T:] -> self.P[:T], where T is ids.shape[-1].",
        "With each token that is added, all the earlier ones would get another position: what the "
        "model has computed of them changes, and no cache can keep it.",
    ),
    Mistake(
        "positions_by_id",
        altered(whole, embed=_positions_by_id),
        "P is looked up with the token's id, P[ids]; it should be looked up with the position, "
        "P[:T].",
        "self.P[ids] -> self.P[:T], where T is ids.shape[-1].",
        "A token would get the same vector wherever it stands. In GPT-2 ids reach 50,256 and P has "
        "1,024 rows, so most of them are an IndexError.",
    ),
    Mistake(
        "tokens_unused",
        altered(whole, embed=lambda ids, p: 0 * p["E"][ids] + p["P"][: ids.shape[-1]]),
        "E is not looked up: every sequence is P[:T]; it should be E[ids] + P[:T].",
        "In forward: self.P[:T], for each sequence, -> self.E[ids] + self.P[:T].",
        "All texts of one length would get the same logits.",
    ),
    Mistake(
        "tokens_unused_no_batch",
        altered(whole, embed=lambda ids, p: p["P"][: ids.shape[-1]]),
        "E is not looked up: the blocks read P[:T], which has no batch; they should read "
        "E[ids] + P[:T].",
        "In forward: self.P[:T] -> self.E[ids] + self.P[:T].",
        "All texts of one length would get the same logits, once instead of for each.",
    ),
    Mistake(
        "E_scaled",
        altered(
            whole,
            embed=lambda ids, p: oracle.embed(ids, p, scale=p["E"].shape[1] ** 0.5),
        ),
        "E[ids] is multiplied by sqrt(d), as in the first transformer; it should be E[ids] "
        "alone, as in GPT-2.",
        "Where the tokens are embedded: self.E[ids] * math.sqrt(d) -> self.E[ids]",
        "At d = 768 the tokens would enter 27.7 times as large, and the positions would drown "
        "beside them.",
    ),
    Mistake(
        "positions_in_every_block",
        altered(whole, step=lambda x, write, start, p: x + write + start),
        "E[ids] + P[:T] is added again after every block; it should enter once, before the "
        "first block.",
        "In the loop: take out what is added to block(x), so that it is x = block(x).",
        "The stream carries them along already. After 12 blocks they would be in it 13 times, and "
        "what the blocks write would count less beside them.",
    ),
    Mistake(
        "residual_twice",
        altered(whole, step=lambda x, write, start, p: x + (x + write)),
        "It is x = x + block(x); it should be x = block(x), since a block adds its writes to "
        "the stream itself.",
        "In the loop: x = x + block(x) -> x = block(x)",
        "The stream doubles with every block. After the 12 of GPT-2 small the embedded tokens are "
        "in it 4,096 times.",
    ),
    Mistake(
        "writes_only",
        altered(whole, step=lambda x, write, start, p: write),
        "After each block only its writes are kept, x = block(x) - x; it should be x = "
        "block(x), the stream with these writes added.",
        "In the loop: x = block(x) - x -> x = block(x)",
        "What one block has found out is gone after the next, and gradients have no way around the "
        "blocks.",
    ),
    Mistake(
        "first_block_only",
        altered(whole, order=lambda L: [0]),
        "Only the first block is used; all L should be, one after another.",
        "Either ln_f and the return stand inside the loop: move them behind it. Or "
        "self.blocks[0](x) or self.blocks[:1] -> a loop over self.blocks.",
        "All other blocks would be there, be counted and saved, and never get a gradient.",
    ),
    Mistake(
        "last_block_only",
        altered(whole, order=lambda L: [L - 1]),
        "Every block reads the embedded tokens, so only the last one counts; each should read "
        "what the block before it returned.",
        "In the loop, one name on both sides: x = block(x). Or self.blocks[-1] -> a loop over "
        "self.blocks.",
        "The result of every earlier block would be thrown away, and none of them gets a gradient.",
    ),
    Mistake(
        "first_block_repeated",
        altered(whole, order=lambda L: [0] * L),
        "The first block is used L times; each of the L blocks should be used once.",
        "In the loop: self.blocks[0](x) -> block(x), with for block in self.blocks.",
        "All other blocks would be there, be counted and saved, and never get a gradient.",
    ),
    Mistake(
        "one_block_short",
        altered(whole, order=lambda L: range(L - 1)),
        "The last block is not used; all L should be.",
        "self.blocks[:-1] or range(L - 1) -> self.blocks or range(L), in the loop.",
        "It would be there, be counted and saved, and never get a gradient. GPT-2's last block has "
        "the final say on its logits.",
    ),
    Mistake(
        "first_block_skipped",
        altered(whole, order=lambda L: range(1, L)),
        "The first block is not used; all L should be, from number 0.",
        "self.blocks[1:] or range(1, L) -> self.blocks or range(L), in the loop.",
        "It would be there, be counted and saved, and never get a gradient.",
    ),
    Mistake(
        "blocks_reversed",
        altered(whole, order=lambda L: range(L)[::-1]),
        "The blocks are used from the last to the first; they should be used from the first to "
        "the last.",
        "In the loop: reversed(self.blocks) or self.blocks[::-1] -> self.blocks",
        "A model of your own does not mind. With GPT-2's weights each block would read what it was "
        "never trained on.",
    ),
    Mistake(
        "no_blocks",
        altered(whole, order=lambda L: []),
        "No block has an effect: ln_f reads the embedded tokens; it should read what the last "
        "block returned.",
        "In the loop: block(x) -> x = block(x). If there is no loop, add: for block in "
        "self.blocks: x = block(x).",
        "No position would learn anything of the others: the best that is left is which token "
        "tends to follow which.",
    ),
    Mistake(
        "probabilities",
        altered(whole, read=softmax),
        "forward() returns softmax(logits); it should return the logits.",
        "In the return of forward: take out the softmax. cross_entropy and "
        "next_token_distribution take it themselves.",
        "The loss would take a second softmax, of numbers between 0 and 1. With V = 50,257 it cannot "
        "get below 9.82 then, whatever the model learns.",
    ),
    Mistake(
        "log_probabilities",
        altered(whole, read=_log_softmax),
        "forward() returns log_softmax(logits); it should return the logits.",
        "In the return of forward: take out the log_softmax. cross_entropy and "
        "next_token_distribution do it themselves.",
        "The loss does not show it, since a softmax of them gives the same probabilities. But each "
        "row is off by a constant from what GPT-2 gives.",
    ),
    Mistake(
        "logits_transposed",
        altered(whole, read=lambda logits: logits.mT),
        "forward() returns the logits as (B, V, T); it should return them as (B, T, V).",
        "In the return of forward: take out .transpose(1, 2); or self.E @ x.transpose(1, 2) -> x "
        "@ self.E.T.",
        "torch's cross_entropy wants the vocabulary on axis 1, and there alone such a transpose has "
        "its place. What reads logits[..., -1, :] would get one token at all positions.",
    ),
    Mistake(
        "last_position_only",
        altered(whole, read=lambda logits: logits[:, -1]),
        "forward() returns the logits of the last position only, (B, V); it should return those "
        "of all positions, (B, T, V).",
        "In the return of forward: logits[:, -1] -> logits. next_token_distribution picks the "
        "last position itself.",
        "One pass over 1,024 tokens answers 1,024 questions. All but one would be thrown away.",
    ),
    Mistake(
        "last_position_kept",
        altered(whole, read=lambda logits: logits[:, -1:]),
        "forward() returns the logits of the last position only, (B, 1, V); it should return those of "
        "all positions, (B, T, V).",
        "In the return of forward: logits[:, -1:] -> logits. next_token_distribution picks the last "
        "position itself.",
        "One pass over 1,024 tokens answers 1,024 questions. All but one would be thrown away.",
    ),
    Mistake(
        "loss_shifts_again",
        altered(
            whole,
            loss=lambda z, targets: oracle.cross_entropy(z[:, :-1], targets[:, 1:]),
        ),
        "loss() scores logits[:, :-1] with targets[:, 1:], shifted by one more; it should score "
        "logits with targets: they come already shifted.",
        "In loss: logits[:, :-1] -> logits and targets[:, 1:] -> targets",
        "The model would learn to predict the token after the next. In a trial its loss on the "
        "next one was 3.5, where it should have been 2.3.",
    ),
    Mistake(
        "loss_rolls_again",
        altered(whole, before=_with_targets(_rolled)),
        "loss() scores the logits with targets.roll(-1, -1), shifted by one more; it should score "
        "them with targets: they come already shifted.",
        "In loss: targets.roll(-1, -1) -> targets",
        "The model would learn to predict the token after the next, and after the last one the "
        "first of the text.",
    ),
    Mistake(
        "loss_of_ids",
        altered(whole, before=_with_targets(lambda i: i["ids"])),
        "loss() scores ids, the tokens that were read; it should score targets.",
        "In loss: cross_entropy(self(ids), ids) -> cross_entropy(self(ids), targets)",
        "The model would learn to repeat the last token, which it is given. In a trial the loss "
        "fell to 0.000, and on the next token it was 14.6.",
    ),
    Mistake(
        "loss_summed",
        altered(whole, loss=lambda z, targets: oracle.surprise(z, targets).sum()),
        "loss() is the sum over all positions; it should be the mean over all positions.",
        "In loss, return cross_entropy(...) as it is, which is the mean: no factor B * T, no "
        ".sum().",
        "The loss and its gradient would grow with the batch: 8 sequences of 1,024 tokens make "
        "both 8,192 times as large.",
    ),
    Mistake(
        "loss_of_softmax",
        altered(whole, loss=lambda z, targets: oracle.cross_entropy(softmax(z), targets)),
        "loss() takes the softmax of the logits, and cross_entropy takes it again; it should be "
        "taken once.",
        "In loss: cross_entropy(softmax(self(ids)), targets) -> cross_entropy(self(ids), "
        "targets)",
        "A softmax of numbers between 0 and 1 is nearly flat. With V = 50,257 the loss cannot get "
        "below 9.82, whatever the model learns.",
    ),
    Mistake(
        "loss_of_last_position",
        altered(whole, loss=lambda z, targets: oracle.cross_entropy(z[:, -1], targets[:, -1])),
        "loss() scores the last position only; it should score all positions.",
        "In loss: self(ids)[:, -1] -> self(ids) and targets[:, -1] -> targets",
        "One pass over 1,024 tokens answers 1,024 questions. All but one would be thrown away. In "
        "a trial the loss came to 3.2 so, and to 2.3 with all of them.",
    ),
)
