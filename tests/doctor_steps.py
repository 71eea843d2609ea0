"""Wrong gpt2.py files for `autograder doctor` whose gradients, groups, updates or runs are ill."""

from doctor_patients import ill, known

STEP = [
    known("first block L times", "block_unused", "gradients"),
    known("head detached", "gradient_wrong", "gradients"),
    known("gamma and beta unused", "parameter_unused", "gradients"),
    ill(
        "weights of attention detached",
        "gradient_missing",
        "gradients",
        ("attention", "A = softmax(S)", "A = softmax(S).detach()"),
    ),
    ill(
        "later blocks scaled up",
        "gradients_uneven",
        "gradients",
        ("GPT2.forward", "x = block(x)", "x = 300 * block(x)"),
    ),
    known("E forgotten", "parameter_in_no_group", "groups", "steps"),
    known("E twice", "parameter_in_two_groups", "groups"),
    known("everything decays", "vector_decays", "groups"),
    known("nothing decays", "matrix_does_not_decay", "groups"),
    ill(
        "groups of copies",
        "group_holds_others",
        "groups",
        ("decay_groups", "'params': decay", "'params': [*decay, model.E.detach().clone()]"),
    ),
    known("no zero_grad", "gradients_not_cleared", "rest", "steps"),
    known("decay without lr", "decay_without_lr", "rest", "steps"),
    ill(
        "a rate that is never 0",
        "moves_at_rest",
        "rest",
        ("adamw_step", "state['step'] += 1", "state['step'] += 1; lr += 1e-5"),
    ),
    known("no clipping", "not_clipped", "steps"),
    known("clipped one by one", "clipped_one_by_one", "steps"),
    known("short gradients scaled up", "clip_scales_up", "steps"),
    known("norm after clipping", "norm_after_clipping", "steps"),
    known("no bias correction", "no_bias_correction_of_v", "steps"),
    known("betas swapped", "betas_swapped", "steps"),
    known("eps inside the root", "eps_inside_the_root", "steps"),
    known("decay as L2", "decay_in_the_gradient", "steps"),
    known("state forgotten", "state_forgotten", "steps"),
    ill(
        "no bias correction at all",
        "no_bias_correction",
        "steps",
        ("adamw_step", "(1 - beta1 ** t)", "1"),
        ("adamw_step", "(1 - beta2 ** t)", "1"),
    ),
    ill(
        "no bias correction of m",
        "no_bias_correction_of_m",
        "steps",
        ("adamw_step", "(1 - beta1 ** t)", "1"),
    ),
    ill(
        "no decay",
        "decay_not_applied",
        "steps",
        ("train_step", "group['weight_decay']", "0.0"),
    ),
    ill(
        "uphill",
        "gradient_ascent",
        "steps",
        ("adamw_step", "param.sub_(lr", "param.add_(lr"),
    ),
    ill(
        "gradient descent",
        "plain_gradient_descent",
        "steps",
        ("adamw_step", "m_hat / (v_hat.sqrt() + eps)", "grad"),
    ),
    ill(
        "the first step's rate",
        "lr_of_the_first_step",
        "steps",
        ("adamw_step", "state['step'] += 1", "state['step'] += 1; lr = state.setdefault('lr', lr)"),
    ),
    ill(
        "twice as far",
        "updates_not_adamw",
        "steps",
        ("adamw_step", "param.sub_(lr", "param.sub_(2 * lr"),
    ),
    ill(
        "no update",
        "nothing_moves",
        "steps",
        ("train_step", "for group in groups:", "for group in []:"),
    ),
    ill(
        "only the first group",
        "parameter_does_not_move",
        "steps",
        ("train_step", "for group in groups:", "for group in groups[:1]:"),
    ),
    ill(
        "trains in evaluation mode",
        "step_in_evaluation",
        "steps",
        ("train_step", "loss = model.loss(x, y)", "model.eval(); loss = model.loss(x, y)"),
    ),
    ill(
        "loss of another batch",
        "returns_another_loss",
        "steps",
        ("train_step", "return (loss.item(), norm)", "return (2 * loss.item(), norm)"),
    ),
    ill(
        "breaks off",
        "raises",
        "steps",
        ("train_step", "loss.backward()", "loss.backwards()"),
    ),
]

TRAINING = [
    ill(
        "positions counted from the end",
        "prefix_gap",
        "training",
        ("embed", "P[:T]", "P[-T:]"),
    ),
    ill(
        "another loss each time",
        "not_deterministic",
        "training",
        (
            "train_step",
            "model.loss(x, y)",
            "model.loss(x, y) * (1 + 0.01 * (calls := 1 + getattr(train_step, 'calls', 0))); "
            "train_step.calls = calls",
        ),
    ),
    ill(
        "NaN in the twelfth step",
        "not_finite",
        "training",
        (
            "adamw_step",
            "state['step'] += 1",
            "state['step'] += 1; grad = grad / (state['step'] != 12)",
        ),
    ),
]

STEPS = [*STEP, *TRAINING]
