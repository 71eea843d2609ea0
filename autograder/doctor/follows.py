"""Which findings only follow from another one: a mistake shows in several places."""

from __future__ import annotations

from autograder.doctor.finding import Finding

LEAKS = (
    "mask_one_ahead",
    "mask_reversed",
    "mask_is_zero",
    "mask_is_finite",
    "mask_has_holes",
    "mask_not_used",
    "mask_after_softmax",
    "softmax_over_queries",
    "heads_mix_positions",
    "norm_mixes_positions",
    "leak",
)
SILENT = (
    "attn_not_added",
    "ffn_not_added",
    "stream_replaced",
    "context_unused",
    "positions_unused",
)
OPTIMISER = ("gradients_not_cleared", "moves_at_rest", "parameter_does_not_move", "nothing_moves")
# A finding on the left needs no explanation of its own beside one on the right.
RESTS_ON = {
    "prefix_gap": LEAKS,
    "leak_after_training": LEAKS,
    "below_the_floor": (*LEAKS, "prefix_gap"),
    "context_unused": ("attn_not_added", "stream_replaced", "rows_mix", *LEAKS),
    "positions_unused": ("stream_replaced", "rows_mix"),
    "last_window_never_drawn": ("targets_shifted_twice",),
    "gradient_wrong": ("gradient_missing", "random_in_forward", "rows_mix"),
    "dropout_in_evaluation": ("blocks_in_a_list", "not_registered"),
    "gradient_missing": ("stream_replaced", "blocks_in_a_list"),
    "parameter_unused": (*SILENT, "tied_by_a_copy", "loss_of_last_position"),
    "gradients_uneven": ("stream_replaced", "weights_too_wide", "first_loss_off"),
    "updates_not_adamw": (*OPTIMISER, "parameter_in_no_group", "parameter_in_two_groups"),
    "parameter_does_not_move": ("parameter_in_no_group", "nothing_moves"),
    "moves_at_rest": ("decay_without_lr",),
    "not_deterministic": ("generator_ignored",),
    "estimate_is_another": ("rows_mix", "loss_summed", "loss_of_last_position"),
    "group_holds_others": ("blocks_in_a_list", "not_registered"),
}
# These are what any other fault may lead to.
SYMPTOMS = ("never_below_unigram", "nothing_learnt", "diverged", "not_finite")


def parents(findings: list[Finding]) -> dict[str, str]:
    """Cause -> the cause that it follows from."""
    causes = [f.cause for f in findings if not f.remark]
    found = {}
    for cause in causes:
        roots = RESTS_ON.get(cause, ())
        if cause in SYMPTOMS:
            roots = [other for other in causes if other not in SYMPTOMS]
        elif cause == "overfitting":
            roots = LEAKS
        parent = next((root for root in roots if root in causes and root != cause), None)
        if parent:
            found[cause] = parent
    return found
