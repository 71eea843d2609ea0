"""Wrong gpt2.py files for `autograder doctor`: the edits, the cause to be named, the parts it takes.

Most are those of gpt2_mutants.py, taken by their names.
"""

from dataclasses import dataclass

from gpt2_mutants import MUTANTS, block

BY_NAME = {mutant.name: mutant.edits for mutant in MUTANTS}


@dataclass(frozen=True)
class Ill:
    name: str
    cause: str
    parts: tuple[str, ...]
    edits: tuple[tuple[str, str, str], ...]


def known(name: str, cause: str, *parts: str) -> Ill:
    """One of gpt2_mutants.py."""
    return Ill(name, cause, parts, BY_NAME[name])


def ill(name: str, cause: str, part: str, *edits: tuple[str, str, str]) -> Ill:
    return Ill(name, cause, (part,), edits)


PICK = "torch.randint(len(starts), (batch_size,), generator=generator)"
RETURN = "return min_lr + 0.5 * (max_lr - min_lr) * (1 + math.cos(math.pi * progress))"

DATA = [
    known("targets not shifted", "targets_are_inputs", "batches"),
    known("targets shifted by -1", "targets_are_previous", "batches"),
    known("last window never drawn", "last_window_never_drawn", "batches"),
    ill(
        "targets shifted by 2",
        "targets_shifted_twice",
        "batches",
        ("get_batch", "len(data) - T", "len(data) - T - 1"),
        ("get_batch", "arange(T + 1", "arange(T + 2"),
        ("get_batch", "window[:, :-1], window[:, 1:]", "window[:, :-2], window[:, 2:]"),
    ),
    ill(
        "targets in another order",
        "targets_unrelated",
        "batches",
        ("get_batch", "window[:, 1:]", "window[:, 1:].flip(1)"),
    ),
    ill(
        "always the first window",
        "windows_not_random",
        "batches",
        ("get_batch", PICK, "torch.zeros(batch_size, dtype=torch.int64)"),
    ),
    ill(
        "a generator of its own",
        "same_batch_every_step",
        "batches",
        ("get_batch", "generator=generator", "generator=torch.Generator().manual_seed(0)"),
    ),
    ill(
        "the global generator",
        "generator_ignored",
        "batches",
        ("get_batch", ", generator=generator", ""),
    ),
    ill(
        "half of the windows",
        "windows_missing",
        "batches",
        ("get_batch", "len(starts), (batch_size,)", "len(starts) // 2, (batch_size,)"),
    ),
    ill(
        "starts ignored",
        "starts_ignored",
        "batches",
        ("get_batch", "if starts is None:", "if True:"),
    ),
    known("no warm-up", "warmup_missing", "schedule"),
    known("ends at 0", "schedule_misses_end", "schedule"),
    ill(
        "constant rate",
        "schedule_constant",
        "schedule",
        ("lr_schedule", "", "def lr_schedule(step, max_lr, *rest):\n    return max_lr"),
    ),
    ill(
        "rises at the end",
        "schedule_rises",
        "schedule",
        ("lr_schedule", "math.pi * progress", "2 * math.pi * progress"),
    ),
    ill(
        "falls below 0",
        "schedule_not_a_rate",
        "schedule",
        ("lr_schedule", RETURN, "return max_lr * (1 - 1.2 * progress)"),
    ),
    ill(
        "drops at once",
        "schedule_jumps",
        "schedule",
        ("lr_schedule", RETURN, "return min_lr if progress else max_lr"),
    ),
    ill(
        "rate of 0",
        "schedule_zero",
        "schedule",
        ("lr_schedule", "", "def lr_schedule(*args):\n    return 0.0"),
    ),
]

MODEL = [
    known("E of deviation 1", "weights_too_wide", "start"),
    known("row 0 sees nothing", "mask_hides_all", "start"),
    ill(
        "softmax in the forward pass",
        "softmax_in_forward",
        "start",
        ("GPT2.forward", "x @ self.E.T", "softmax(x @ self.E.T)"),
    ),
    ill(
        "logits times 30",
        "first_loss_off",
        "start",
        ("GPT2.forward", "x @ self.E.T", "30 * x @ self.E.T"),
    ),
    known("blocks in a list", "blocks_in_a_list", "parts", "modes"),
    known("one block object", "one_block_shared", "parts"),
    known("tied by a copy", "tied_by_a_copy", "parts"),
    known("tied by a second parameter", "tied_by_a_copy", "parts"),
    known("tied by a hidden copy", "tied_by_a_copy", "parts"),
    known("sum for mean", "loss_summed", "loss"),
    known("softmax before the loss", "softmax_before_loss", "loss"),
    known("last token only", "loss_of_last_position", "loss"),
    known("own input predicted", "loss_of_inputs", "loss"),
    known("targets shifted again", "loss_shifts_again", "loss"),
    known("viewed as (B, V, T)", "loss_viewed_as_BVT", "loss"),
    ill(
        "loss in bits", "loss_in_bits", "loss", ("GPT2.loss", "targets)", "targets) / math.log(2)")
    ),
    ill(
        "loss without a sign",
        "loss_negative",
        "loss",
        ("cross_entropy", ".mean()", ".neg().mean()"),
    ),
    known("dropout in evaluation", "dropout_in_evaluation", "modes"),
    known("noise", "random_in_forward", "modes", "gradients"),
    known("dropout in estimate_loss", "estimate_with_dropout", "modes"),
    known("left in evaluation", "left_in_evaluation", "modes"),
    known("mean of means", "mean_of_means", "modes"),
    ill(
        "training mode after estimate_loss",
        "left_in_training",
        "modes",
        ("estimate_loss", "model.train(training)", "model.train()"),
    ),
    ill(
        "no dropout",
        "dropout_never",
        "modes",
        ("GPT2.__init__", "config.dropout", "0.0"),
    ),
]

CONTEXT = [
    known("looks one ahead", "mask_one_ahead", "leak", "context", "training"),
    known("looks ahead only", "mask_reversed", "leak", "context"),
    known("no mask", "mask_not_used", "leak"),
    known("mask of 0", "mask_is_zero", "leak"),
    known("mask of -10", "mask_is_finite", "leak"),
    known("mask of -1e4", "mask_is_finite", "leak"),
    known("softmax over queries", "softmax_over_queries", "leak"),
    known("mask after softmax", "mask_after_softmax", "leak"),
    known("split without transpose", "heads_mix_positions", "leak"),
    known("merge without transpose", "heads_mix_positions", "leak"),
    known("norm over time", "norm_mixes_positions", "leak"),
    known("norm over the batch", "rows_mix", "leak", "context"),
    known("no residual", "stream_replaced", "context", "gradients"),
    known("no positions", "positions_unused", "context", "gradients"),
    known("position by token id", "positions_unused", "context"),
    ill(
        "attention not added",
        "attn_not_added",
        "context",
        block("a = self.attn(self.ln_1(x)); x = x + self.ffn(self.ln_2(x))"),
    ),
    ill(
        "feed-forward not added",
        "ffn_not_added",
        "context",
        block("x = x + self.attn(self.ln_1(x)); f = self.ffn(self.ln_2(x))"),
    ),
    ill(
        "each token looks at itself alone",
        "context_unused",
        "context",
        ("causal_mask", "triu(1)", "fill_diagonal_(0)"),
    ),
]

MODELS = [*DATA, *MODEL, *CONTEXT]
