"""What goes wrong in train_step."""

from __future__ import annotations

from autograder.check.mistake import entries
from autograder.oracle import training as oracle


def trained(
    values,
    xs,
    ys,
    keep,
    training,
    old,
    weight_decay,
    lrs,
    betas,
    eps,
    max_norm,
    mode=None,
    restored=False,
    **switches,
):
    """`mode` is the one that a wrong step trains in, and leaves the model in if not `restored`."""
    mode = training if mode is None else mode
    rest = (weight_decay, lrs, betas, eps, max_norm, old)
    losses, norms, params = oracle.train(
        values, xs, ys, keep, *rest, eval_mode=not mode, **switches
    )
    return losses, norms, named(params), training if restored else mode


def named(params):
    return {f"the parameter {name} at the end": p for name, p in params.items()}


mistake = entries(trained)


MODE = "Leave the mode as it is, without model.train() and model.eval(): the caller sets it."

# Of the gradients and their clipping.
GRADIENTS = (
    mistake(
        "not_cleared",
        "The gradients are never cleared, so that each step adds its own to all earlier "
        "ones; they should be cleared first.",
        "Before loss.backward(), for every p in groups: p.grad = None.",
        "Each step goes on repeating all earlier ones. Clipping hides how long the sum gets, and the "
        "loss falls more slowly than it could.",
        clear="never",
    ),
    mistake(
        "cleared_after",
        "The gradients are cleared only after the update; they should be cleared before the loss: "
        "what is left in p.grad from before is added to the first ones.",
        "Move p.grad = None (or zero_grad) from the end to before loss.backward().",
        "Whoever has called backward() before, to look at a gradient, say, takes a first step that "
        "is made of two batches.",
        clear="after",
    ),
    mistake(
        "cleared_too_late",
        "No parameter has a gradient when it is clipped: loss.backward() is missing, or "
        "p.grad = None stands after it; it should stand before.",
        "In this order: p.grad = None for all, loss.backward(), then clip_grad_norm.",
        "No parameter moves. The loss stays at ln V, and wanders only as the batches do.",
        clear="too late",
    ),
    mistake(
        "group_by_group",
        "Each group is clipped by its own norm, and the norm of the last group is returned; "
        "all should be clipped together, in one call.",
        "clip_grad_norm(group['params'], max_norm) in the loop -> one call before the loop, "
        "for a list of the parameters of all groups.",
        "The direction of the step changes, and all gradients together can be 1.4 times longer than "
        "max_norm.",
        clip="by group",
        report_norm="last group",
    ),
    mistake(
        "only_decaying_clipped",
        "Only the first group, which decays, is clipped, and its norm returned; all "
        "parameters should be, together.",
        "groups[0]['params'] -> [p for group in groups for p in group['params']], in the "
        "call of clip_grad_norm.",
        "Biases and norms still take the full length of an odd batch, and the norm that is watched "
        "does not count them.",
        clip="first group",
        report_norm="first group",
    ),
    mistake(
        "only_last_clipped",
        "Only the last group (the one that does not decay) is clipped, and its norm returned; the"
        " parameters of all groups should be, together.",
        "groups[-1]['params'], or group['params'] after a loop -> [p for group in groups for "
        "p in group['params']], in the call of clip_grad_norm.",
        "In GPT-2 this group holds 121,344 of 124 million numbers: an odd batch goes through at "
        "nearly full length, and the norm that is watched does not show it.",
        clip="last group",
        report_norm="last group",
    ),
    mistake(
        "no_norm",
        "The gradients are not clipped, and the norm returned is 0; both should come from "
        "clip_grad_norm, called after loss.backward().",
        "norm = clip_grad_norm(...), with all parameters and max_norm, after loss.backward() and "
        "before the updates.",
        "Before loss.backward() there is no gradient to clip. The norm is the number that shows odd "
        "batches, and it shows none.",
        clip="never",
        report_norm="zero",
    ),
    mistake(
        "not_clipped",
        "The norm returned is right, but the updates use gradients that are not clipped; "
        "they should be clipped before.",
        "Call clip_grad_norm before the loop of updates, not after it, and hand adamw_step p.grad"
        " as it is after that call.",
        "One odd batch goes into AdamW's averages at full length, and with beta2 = 0.95 it shortens "
        "the steps of the next 20 or more.",
        clip="never",
    ),
    mistake(
        "norm_after",
        "It returns the norm after clipping; it should return the norm before clipping.",
        "In the return: what clip_grad_norm gave back, not min(norm, max_norm) and not a "
        "norm taken later.",
        "In the curve of a run every odd batch shows the same number, max_norm.",
        report_norm="after",
    ),
    mistake(
        "max_norm_not_passed",
        "The gradients are clipped at 1; they should be clipped at max_norm.",
        "In the call of clip_grad_norm, as the second argument: 1.0 -> max_norm.",
        "Many runs clip at 1, and there nobody notices. Any other bound has no effect.",
        before=lambda i: {"max_norm": 1.0},
    ),
)

# Of the loss, the mode, and what is returned.
REPORTED = (
    mistake(
        "x_y_swapped",
        "model.loss gets y and x, in this order; it should get x and y: the tokens, then "
        "their targets.",
        "model.loss(y, x) -> model.loss(x, y).",
        "The model learns to foretell the token before, which it has just read: the loss falls to "
        "almost 0, and nothing is learnt about what comes next.",
        before=lambda i: {"xs": i["ys"], "ys": i["xs"]},
    ),
    mistake(
        "loss_after",
        "It returns the loss after the update; it should return the loss that gave the "
        "gradients, before the update.",
        "In the return: the result of the first model.loss(x, y), without a second call "
        "after the updates.",
        "A batch that has just been learnt from looks easier than it was, and the second pass costs "
        "about a third more time.",
        report_loss="after",
    ),
    mistake(
        "swapped",
        "The two results are swapped: the norm comes first; the loss should come first.",
        "return norm, loss.item() -> return loss.item(), norm.",
        "Both are numbers, so nothing fails: the curve of the loss is that of the norm.",
        after=lambda result: (result[1], result[0], *result[2:]),
    ),
    mistake(
        "eval_mode",
        "It calls model.eval() and leaves it so, and dropout is off; the mode should stay as "
        "the caller set it.",
        "Leave out model.eval(), and set no mode at all.",
        "The caller asked for dropout and gets none: the model learns the training text by heart "
        "sooner.",
        mode=False,
    ),
    mistake(
        "eval_mode_restored",
        "It puts the model into evaluation mode while it trains, with dropout off, and back "
        "afterwards; the mode should stay as the caller set it.",
        "Leave out model.eval(), and the line that puts the mode back.",
        "The caller asked for dropout and gets none: the model learns the training text by heart "
        "sooner.",
        mode=False,
        restored=True,
    ),
    mistake(
        "train_mode",
        "It calls model.train() and leaves it so, and dropout is on; the mode should stay as "
        "the caller set it.",
        "Leave out model.train(), and set no mode at all.",
        "Whoever trains without dropout, to compare two runs number by number, gets noise.",
        mode=True,
    ),
    mistake(
        "train_mode_restored",
        "It puts the model into training mode, with dropout on, and back afterwards; the "
        "mode should stay as the caller set it.",
        "Leave out model.train(), and the line that puts the mode back.",
        "Whoever trains without dropout, to compare two runs number by number, gets noise.",
        mode=True,
        restored=True,
    ),
)

# Of the updates.
UPDATED = (
    mistake(
        "all_decay",
        "Every parameter decays, as the first group does; each should decay by the "
        "weight_decay of its own group, the last one by 0.",
        "In the call of adamw_step: groups[0]['weight_decay'], or one number for all -> "
        "group['weight_decay'].",
        "decay_groups has told them apart for nothing: biases and gammas are pulled towards 0.",
        decays="all",
    ),
    mistake(
        "none_decays",
        "Nothing decays; each parameter should, by the weight_decay of its own group.",
        "In the call of adamw_step: group['weight_decay'] as the last argument. Without it "
        "the default counts, which is 0.",
        "Whoever sets a weight decay gets none, and nothing tells him.",
        decays="none",
    ),
    mistake(
        "last_group_only",
        "Only the last group (the one that does not decay) is updated; the parameters of every "
        "group should be.",
        "The loop over p -> into the loop over groups (indent it by four). Or, if you index: "
        "groups[-1] -> all groups.",
        "Of GPT-2's 124 million numbers only the 121,344 of biases and norms would learn.",
        updated="last group",
    ),
    mistake(
        "first_group_only",
        "Only the first group, which decays, is updated; the parameters of every group "
        "should be.",
        "groups[0] -> all groups, in a loop. If there is a loop: no return or break inside " "it.",
        "The model still learns, since nearly all of its numbers are in the first group: the loss "
        "hardly shows it.",
        updated="first group",
    ),
    mistake(
        "forgets",
        "Every step begins with an empty AdamW state for each parameter; it should go on "
        "with the one of the step before.",
        "As the third argument of adamw_step: {} -> state.setdefault(p, {}), in the caller's "
        "dict `state` itself.",
        "m_hat is then g and sqrt(v_hat) is |g|: every number moves by lr in each step, in the "
        "direction of the last batch alone.",
        forget=True,
    ),
    mistake(
        "betas_not_passed",
        "adamw_step works with its default betas, 0.9 and 0.95; it should get the betas of "
        "train_step.",
        "In the call of adamw_step, behind lr: betas, as it was handed in.",
        "With the usual betas nobody notices. Whoever tries others trains the same model each time.",
        before=lambda i: {"betas": (0.9, 0.95)},
    ),
    mistake(
        "eps_not_passed",
        "adamw_step works with its default eps, 1e-8; it should get the eps of train_step.",
        "In the call of adamw_step, behind betas: eps, as it was handed in.",
        "With the usual eps nobody notices. Whoever tries another trains the same model each time.",
        before=lambda i: {"eps": 1e-8},
    ),
)

MISTAKES = GRADIENTS + REPORTED + UPDATED
