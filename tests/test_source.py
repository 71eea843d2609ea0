"""What is said of library calls that do the exercise's work."""

import torch

from autograder import check


def step_with_a_new_optimiser(
    model, x, y, groups, state, lr, betas=(0.9, 0.95), eps=1e-8, max_norm=1.0
):
    model.zero_grad()
    loss = model.loss(x, y)
    loss.backward()
    params = [p for group in groups for p in group["params"]]
    norm = torch.nn.utils.clip_grad_norm_(params, max_norm)
    torch.optim.AdamW(groups, lr, betas, eps).step()
    return loss.item(), norm.item()


def softmax_of_the_library(x, dim=-1):
    return x.softmax(dim)


def test_a_shortcut_is_called_right_only_where_the_component_passes():
    right = check.run("softmax", softmax_of_the_library)
    assert right.passed and "It gives the right numbers" in str(right)
    wrong = check.run("train_step", step_with_a_new_optimiser)
    assert not wrong.passed and "`AdamW` of the library" in str(wrong)
    assert "right numbers" not in str(wrong) and "Write the steps out instead." in str(wrong)
