"""The device that stands for a GPU: what goes there, and what does not."""

import pytest
import torch
from torch import nn

from autograder.probes import elsewhere
from autograder.probes.elsewhere import ELSEWHERE


@pytest.fixture
def x():
    with elsewhere.on(ELSEWHERE):
        yield torch.arange(12.0).reshape(3, 4).to(ELSEWHERE)


VALUES = {
    "item": lambda x: x[0, 1].item() == 1,
    "tolist": lambda x: x[0].tolist() == [0, 1, 2, 3],
    "a boolean index": lambda x: len(x[x > 5]) == 6,
    "nonzero": lambda x: (x > 5).nonzero().shape == (6, 2),
    "unique": lambda x: len((x > 5).unique()) == 2,
    "a loop over rows": lambda x: [float(row.sum()) for row in x] == [6, 22, 38],
    "a branch": lambda x: bool((x >= 0).all()),
    "to NumPy by way of the CPU": lambda x: x.cpu().numpy().sum() == 66,
}

TOGETHER = {
    "a new tensor there": lambda x: x + torch.ones(4, device=x.device),
    "from a list": lambda x: x + torch.tensor([1.0, 2, 3, 4], device=x.device),
    "like another": lambda x: x + torch.zeros_like(x),
    "of another's device": lambda x: x + x.new_tensor([1.0, 2, 3, 4]),
    "moved there": lambda x: x + torch.ones(4).to(x),
    "without axes": lambda x: x * torch.tensor(2.0),
    "an index of the CPU": lambda x: x[torch.tensor([0, 2])],
    "written to from the CPU": lambda x: x.clone().copy_(torch.ones(3, 4)),
    "random numbers": lambda x: torch.empty_like(x).exponential_(
        generator=torch.Generator().manual_seed(1)
    ),
    "a draw": lambda x: torch.multinomial(x + 1, 1, generator=torch.Generator().manual_seed(1)),
    "in place": lambda x: x.clone().mul_(2),
    "inference": torch.inference_mode()(lambda x: x.select(0, 1) + 1),
    "a moved module": lambda x: nn.Linear(4, 2).to(ELSEWHERE)(x),
    "a gradient": lambda x: torch.func.grad(lambda x: (x.tanh() @ x.mT).sum())(x),
}

APART = {
    "a sum": lambda x: x + torch.ones(4),
    "a product": lambda x: x @ torch.ones(4, 2),
    "a mask": lambda x: x.masked_fill(torch.ones(3, 4, dtype=torch.bool), 0.0),
    "a choice": lambda x: torch.where(torch.ones(3, 4, dtype=torch.bool), x, 0.0),
    "one after the other": lambda x: torch.cat([x, torch.ones(1, 4)]),
    "a gather": lambda x: x.gather(1, torch.zeros(3, 1, dtype=torch.long)),
    "an index from elsewhere": lambda x: torch.ones(3)[torch.zeros(2, dtype=int, device=x.device)],
    "NumPy": lambda x: x.numpy(),
    "a module left behind": lambda x: nn.Linear(4, 2)(x),
}


@pytest.mark.parametrize("does", VALUES.values(), ids=VALUES)
def test_numbers_can_be_looked_at(x, does):
    assert does(x)


@pytest.mark.parametrize("does", TOGETHER.values(), ids=TOGETHER)
def test_what_lies_there_works_together(x, does):
    assert does(x).device.type == ELSEWHERE


@pytest.mark.parametrize("does", APART.values(), ids=APART)
def test_a_tensor_of_the_cpu_does_not_go_with_it(x, does):
    with pytest.raises((RuntimeError, TypeError), match="CPU"):
        does(x)


def test_backward_reaches_the_parameters_of_a_module(x):
    module = nn.Linear(4, 2).to(ELSEWHERE)
    module(x).sum().backward()
    assert module.weight.grad.device.type == ELSEWHERE
    assert module.bias.grad.tolist() == [3, 3]


def test_nothing_is_left_behind():
    with pytest.raises(RuntimeError), elsewhere.on(ELSEWHERE):
        torch.ones(2).to(ELSEWHERE) + torch.ones(2)
    assert not torch._C._only_lift_cpu_tensors()
    with elsewhere.on("cpu"):
        assert (torch.ones(2) + 1).device.type == "cpu"
