"""Hints for exceptions: each is reached by an error that torch or Python really raises."""

import warnings

import pytest
import torch
from torch import nn

from autograder import check
from autograder.check.raised import HINTS, hint
from autograder.probes.call import Failure, describe

nothing = None
x = torch.randn(2, 5, 6)


class NoSuper(nn.Module):
    def __init__(self):
        self.linear = nn.Linear(2, 2)


def unbound(flag):
    if flag:
        value = 1
    return value


def twice():
    loss = (torch.ones(2, requires_grad=True) ** 2).sum()
    loss.backward()
    loss.backward()


def in_place():
    p = nn.Parameter(torch.zeros(2))
    p += 1


def in_place_too_late():
    p = nn.Parameter(torch.zeros(2))
    x = p.exp()
    y = x.tanh().sum() + x.exp().sum()
    x += 1
    y.backward()


def forever():
    return forever()


# What a student might write, and a part of the hint for it.
ERRORS = {
    "a name": (lambda: undefined_name, "Run the cell that defines or imports undefined_name."),
    "a local": (lambda: unbound(False), "value gets its value only on a path"),
    "a keyword": (lambda: (lambda a: a)(1, dropout=0.1), "hands over dropout by that name"),
    "too many arguments": (lambda: (lambda a: a)(1, 2), "Keep the signature"),
    "too few arguments": (lambda: (lambda a: a)(), "Keep the signature"),
    "None called": (lambda: None + 1, "Something is None here"),
    "None subscripted": (lambda: nothing[0], "Something is None here"),
    "None's attribute": (lambda: None.shape, "Something is None here"),
    "no super": (NoSuper, "super().__init__()"),
    "no attribute": (lambda: nn.Linear(2, 2).W_Q, "Is self.W_Q set in the constructor"),
    "view": (lambda: x.transpose(0, 2).view(-1), "use reshape"),
    "linear": (lambda: x[0] @ torch.randn(5, 6), "The inner sizes of 5x6 and 5x6 differ"),
    "batched product": (lambda: x @ x, "The inner sizes of a product differ"),
    "broadcast": (lambda: x + torch.randn(5, 5), "On axis 2 one has 6 entries and the other 5"),
    "reshape": (lambda: x.reshape(4, 4), "[4, 4] does not multiply to 60"),
    "dtypes": (lambda: x @ x.double().mT, "dtype=x.dtype"),
    "leaf": (in_place, "under torch.no_grad()"),
    "leaf that is no parameter": (in_place, "x = x + y rather than x += y"),
    "kept for backward": (in_place_too_late, "x = x + y rather than x += y"),
    "no graph": (lambda: x.sum().backward(), "The graph is cut before the loss"),
    "second backward": (twice, "must be detached"),
    "integers": (lambda: torch.tensor([1], requires_grad=True), "convert it with .float()"),
    "axis": (lambda: x.sum(3), "count axes from the end"),
    "table": (lambda: x[7], "An index lies outside"),
    "embedding": (lambda: nn.Embedding(3, 2)(torch.tensor([5])), "An index lies outside"),
    "unpack": (lambda: (lambda a, b: a)(*_unpacked()), "The number of axes"),
    "if": (lambda: 1 if x > 0 else 2, "`if` needs one value"),
    "recursion": (forever, "calls itself"),
    "division": (lambda: 1 / 0, "A divisor is 0"),
}


def _unpacked():
    B, T = x.shape
    return B, T


def raised(what) -> Failure:
    try:
        what()
    except Exception as error:  # of every kind
        return describe(error)
    pytest.fail("it raises nothing")


@pytest.mark.parametrize("name", ERRORS)
def test_a_real_error_gets_its_hint(name):
    what, part = ERRORS[name]
    failure = raised(what)
    assert part in hint(failure), f"{failure.type}: {failure.message}\n{hint(failure)}"


def test_every_hint_is_reached():
    reached = {hint(raised(what)) for what, _ in ERRORS.values()}
    assert len(reached) >= len({said for *_, said in HINTS})


def test_an_error_of_ones_own_gets_none():
    assert hint(Failure("ValueError", "d_model must be a multiple of n_head")) == ""
    assert hint(Failure("Whatever", "name 'x' is not defined")) == ""


def test_the_hint_is_the_third_line_of_the_report():
    report = check.softmax(lambda x: x.softmax(-1))
    assert "Keep the signature" in report.first().trouble.look


def added_in_place(x, sublayer):
    x += sublayer(x)
    return x


def stream_in_place(x, sublayers):
    ledger = []
    for sublayer in sublayers:
        write = sublayer(x)
        x += write
        ledger.append(write)
    return x, ledger


def norms(update, measure):
    """gradient_norms with an update of its own, and a way to get at the gradients."""

    def gradient_norms(x, sublayers, residual=True):
        streams = [x.detach().requires_grad_()]
        for sublayer in sublayers:
            streams.append(update(streams[-1], sublayer(streams[-1]), residual))
        return [gradient.norm().item() for gradient in measure(streams)]

    return gradient_norms


def new(x, write, residual):
    return x + write if residual else write


def changed(x, write, residual):
    return x.add_(write) if residual else write


def changed_clone(x, write, residual):
    return (x.clone() if x.is_leaf else x).add_(write) if residual else write


def backward(streams):
    streams[-1].sum().backward()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's, that only leaves have a .grad
        return [x.grad for x in streams]


def grad(streams):
    return torch.autograd.grad(streams[-1].sum(), streams)


# Of chapter 2: what PyTorch says of these is nothing that a beginner could act on.
LOOKS = {
    "no retain_grad": ("gradient_norms", norms(new, backward), "retain_grad() on every stream"),
    "a leaf in place": ("gradient_norms", norms(changed, grad), "x = x + write"),
    "a stream in place": ("gradient_norms", norms(changed_clone, grad), "x = x + write"),
    "the input in place": ("residual_add", added_in_place, "x = x + y rather than x += y"),
    "the input in a loop": ("run_stream", stream_in_place, "x = x + y rather than x += y"),
}


@pytest.mark.parametrize("name", LOOKS)
def test_what_to_do_about_gradients_that_are_not_kept_or_overwritten(name):
    component, student, part = LOOKS[name]
    trouble = getattr(check, component)(student).first().trouble
    assert "It raises" in trouble.what
    assert part in trouble.look, f"{trouble.what}\n{trouble.look}"
