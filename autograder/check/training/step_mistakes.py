"""What goes wrong in train_step."""

from __future__ import annotations

from autograder.check.mistake import Mistake, altered
from autograder.oracle import training as oracle


def trained(
    values, xs, ys, keep, training, weight_decay, lrs, betas, eps, max_norm, mode=None, **switches
):
    """`mode` is the one that a wrong step trains in, and leaves the model in."""
    mode = training if mode is None else mode
    rest = (weight_decay, lrs, betas, eps, max_norm)
    return *oracle.train(values, xs, ys, keep, *rest, eval_mode=not mode, **switches), mode


def mistake(name, says, look, why, **switches):
    return Mistake(name, altered(trained, **switches), says, look, why)


MODE = "Leave the mode as it is, without model.train() and model.eval(): the caller sets it."
ALL = "params = [p for group in groups for p in group['params']], and one call for this list."
PASS_ON = "adamw_step(p, p.grad, moments, lr, betas, eps, group['weight_decay'])"

# Of the gradients and their clipping.
GRADIENTS = (
    mistake(
        "not_cleared",
        "The gradients of earlier steps are still there when the next are added.",
        "Set every p.grad to None before loss.backward().",
        "Each step goes on repeating all earlier ones. Clipping hides how long the sum gets, and the "
        "loss falls more slowly than it could.",
        clear=False,
    ),
    mistake(
        "cleared_too_late",
        "There is no gradient to step with: loss.backward() is missing, or clearing comes after it.",
        "First clear, then loss.backward(), then clip and update.",
        "No parameter moves. The loss stays at ln V, and wanders only as the batches do.",
        clear="too late",
    ),
    mistake(
        "group_by_group",
        "Each group is clipped by its own norm, and the norm of the last group is returned.",
        ALL,
        "The direction of the step changes, and all gradients together can be 1.4 times longer than "
        "max_norm.",
        clip="by group",
        report_norm="last group",
    ),
    mistake(
        "only_decaying_clipped",
        "Only the first group, the parameters that decay, is clipped.",
        ALL,
        "Biases and norms still take the full length of an odd batch, and the norm that is watched "
        "does not count them.",
        clip="first group",
        report_norm="first group",
    ),
    mistake(
        "only_last_clipped",
        "Only the last group, the parameters that do not decay, is clipped.",
        ALL,
        "In GPT-2 this group holds 121,344 of 124 million numbers: an odd batch goes through at "
        "nearly full length, and the norm that is watched does not show it.",
        clip="last group",
        report_norm="last group",
    ),
    mistake(
        "no_norm",
        "The gradients are not clipped, and the norm that it returns is 0.",
        "Call clip_grad_norm after loss.backward() and before the updates, and return its result.",
        "Before loss.backward() there is no gradient to clip. The norm is the number that shows odd "
        "batches, and it shows none.",
        clip="never",
        report_norm="zero",
    ),
    mistake(
        "not_clipped",
        "The gradients are not clipped before the update.",
        "Call clip_grad_norm after loss.backward() and before the updates, which take p.grad after it.",
        "One odd batch goes into AdamW's averages at full length, and with beta2 = 0.95 it shortens "
        "the steps of the next 20 or more.",
        clip="never",
    ),
    mistake(
        "norm_after",
        "It returns the norm after clipping.",
        "Return what clip_grad_norm returns: the norm before.",
        "In the curve of a run every odd batch shows the same number, max_norm.",
        report_norm="after",
    ),
    mistake(
        "max_norm_not_passed",
        "The bound max_norm is not used: it clips at 1.",
        "clip_grad_norm(params, max_norm)",
        "Many runs clip at 1, and there nobody notices. Any other bound has no effect.",
        before=lambda i: {"max_norm": 1.0},
    ),
)

# Of the loss, the mode, and what is returned.
REPORTED = (
    mistake(
        "x_y_swapped",
        "The loss is computed with x and y in each other's place.",
        "model.loss(x, y): the tokens first, then their targets.",
        "The model learns to foretell the token before, which it has just read: the loss falls to "
        "almost 0, and nothing is learnt about what comes next.",
        before=lambda i: {"xs": i["ys"], "ys": i["xs"]},
    ),
    mistake(
        "loss_after",
        "It returns the loss after the update.",
        "Return the loss that gave the gradients, as it was before the update.",
        "A batch that has just been learnt from looks easier than it was, and the second pass costs "
        "about a third more time.",
        report_loss="after",
    ),
    mistake(
        "swapped",
        "The two results have changed places.",
        "The loss comes first: return loss.item(), norm",
        "Both are numbers, so nothing fails: the curve of the loss is that of the norm.",
        after=lambda result: (result[1], result[0], *result[2:]),
    ),
    mistake(
        "eval_mode",
        "It trains in evaluation mode: dropout is off.",
        MODE,
        "The caller asked for dropout and gets none: the model learns the training text by heart "
        "sooner.",
        mode=False,
    ),
    mistake(
        "train_mode",
        "It puts the model into training mode, also where the caller has turned dropout off.",
        MODE,
        "Whoever trains without dropout, to compare two runs number by number, gets noise.",
        mode=True,
    ),
)

# Of the updates.
UPDATED = (
    mistake(
        "all_decay",
        "Every parameter decays, the biases too.",
        'Each group has its own: group["weight_decay"].',
        "decay_groups has told them apart for nothing: biases and gammas are pulled towards 0.",
        decays="all",
    ),
    mistake(
        "none_decays",
        "Nothing decays.",
        'Hand the decay of the group on, group["weight_decay"]; the default of adamw_step is 0.',
        "Whoever sets a weight decay gets none, and nothing tells him.",
        decays="none",
    ),
    mistake(
        "last_group_only",
        "Only the last group is updated: the parameters that decay stay as they are.",
        "Both loops belong together: for group in groups, and inside it for p in group['params'].",
        "Of GPT-2's 124 million numbers only the 121,344 of biases and norms would learn.",
        updated="last group",
    ),
    mistake(
        "first_group_only",
        "Only the first group is updated: biases and norms stay as they are.",
        "Both loops belong together: for group in groups, and inside it for p in group['params'].",
        "The model still learns, since nearly all of its numbers are in the first group: the loss "
        "hardly shows it.",
        updated="first group",
    ),
    mistake(
        "forgets",
        "Every step starts with empty AdamW states.",
        "Keep one dict for each parameter in `state`: state.setdefault(p, {}).",
        "m_hat is then g and sqrt(v_hat) is |g|: every number moves by lr in each step, in the "
        "direction of the last batch alone.",
        forget=True,
    ),
    mistake(
        "betas_not_passed",
        "The betas are not handed to adamw_step, which takes its defaults.",
        PASS_ON,
        "With the usual betas nobody notices. Whoever tries others trains the same model each time.",
        before=lambda i: {"betas": (0.9, 0.95)},
    ),
    mistake(
        "eps_not_passed",
        "The eps is not handed to adamw_step, which takes its default.",
        PASS_ON,
        "With the usual eps nobody notices. Whoever tries another trains the same model each time.",
        before=lambda i: {"eps": 1e-8},
    ),
)

MISTAKES = GRADIENTS + REPORTED + UPDATED
