"""FeedForward, SwiGLU and matched_d_ff."""

import math
from fractions import Fraction

import torch
import torch.nn.functional as F
from torch import nn

GELU = nn.GELU(approximate="tanh")


class Network(nn.Module):
    def __init__(self, d_model, d_ff=None):
        super().__init__()
        d_ff = 4 * d_model if d_ff is None else d_ff
        self.W_up = nn.Parameter(torch.randn(d_model, d_ff) * 0.02)
        self.b_up = nn.Parameter(torch.zeros(d_ff))
        self.W_down = nn.Parameter(torch.randn(d_ff, d_model) * 0.02)
        self.b_down = nn.Parameter(torch.zeros(d_model))


class NetworkByEinsum(Network):
    def forward(self, x):
        hidden = torch.einsum("...d,df->...f", x, self.W_up) + self.b_up
        return torch.einsum("...f,fd->...d", GELU(hidden), self.W_down) + self.b_down


class NetworkAsMemory(Network):
    """One key and one value after the other."""

    def forward(self, x):
        out = self.b_down.expand(x.shape)
        for key, bias, value in zip(self.W_up.T, self.b_up, self.W_down):
            out = out + GELU((x * key).sum(-1, keepdim=True) + bias) * value
        return out


class NetworkOfRows(Network):
    """All positions as the rows of one matrix."""

    def forward(self, x):
        rows = x.reshape(-1, x.shape[-1])
        hidden = F.gelu(torch.addmm(self.b_up, rows, self.W_up), approximate="tanh")
        return torch.addmm(self.b_down, hidden, self.W_down).reshape(x.shape)


class NetworkOfLinears(nn.Module):
    def __init__(self, d_model, d_ff=None):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff or 4 * d_model)
        self.down = nn.Linear(d_ff or 4 * d_model, d_model)

    def forward(self, x):
        return self.down(F.gelu(self.up(x), approximate="tanh"))


class NetworkOfPlainTensors(NetworkByEinsum):
    def __init__(self, d_model, d_ff=None):
        nn.Module.__init__(self)
        d_ff = d_ff or 4 * d_model
        self.W_up, self.b_up = 0.02 * torch.randn(d_model, d_ff), torch.zeros(d_ff)
        self.W_down, self.b_down = 0.02 * torch.randn(d_ff, d_model), torch.zeros(d_model)


class NetworkAlwaysFour(NetworkByEinsum):
    def __init__(self, d_model, d_ff=None):
        super().__init__(d_model)


class NetworkOfOnes(NetworkByEinsum):
    def __init__(self, d_model, d_ff=None):
        super().__init__(d_model, d_ff)
        nn.init.ones_(self.W_up)
        nn.init.ones_(self.W_down)


class NetworkDetached(Network):
    def forward(self, x):
        hidden = torch.tensor((x @ self.W_up + self.b_up).tolist())
        return F.gelu(hidden, approximate="tanh") @ self.W_down + self.b_down


class NetworkOneBatch(Network):
    def forward(self, x):
        hidden = torch.bmm(x, self.W_up.expand(len(x), -1, -1)) + self.b_up
        hidden = F.gelu(hidden, approximate="tanh")
        return torch.bmm(hidden, self.W_down.expand(len(x), -1, -1)) + self.b_down


class Gated(nn.Module):
    def __init__(self, d_model, d_ff=None):
        super().__init__()
        d_ff = width_by_fraction(d_model) if d_ff is None else d_ff
        for name, shape in (
            ("W_up", (d_model, d_ff)),
            ("W_gate", (d_model, d_ff)),
            ("W_down", (d_ff, d_model)),
        ):
            setattr(self, name, nn.Parameter(torch.randn(shape) * 0.02))


class GatedByEinsum(Gated):
    def forward(self, x):
        up, gate = (torch.einsum("...d,df->...f", x, W) for W in (self.W_up, self.W_gate))
        return torch.einsum("...f,...f,fd->...d", up, gate / (1 + torch.exp(-gate)), self.W_down)


class GatedFused(Gated):
    def forward(self, x):
        up, gate = (x @ torch.cat([self.W_up, self.W_gate], dim=1)).chunk(2, dim=-1)
        return (nn.SiLU()(gate) * up) @ self.W_down


class GatedByUnit(Gated):
    def forward(self, x):
        out = torch.zeros_like(x)
        for i in range(self.W_down.shape[0]):
            z = x @ self.W_gate[:, i]
            out = out + ((x @ self.W_up[:, i]) * z * z.sigmoid())[..., None] * self.W_down[i]
        return out


class GatedWithBias(GatedFused):
    def __init__(self, d_model, d_ff=None):
        super().__init__(d_model, d_ff)
        self.b_down = nn.Parameter(torch.zeros(d_model))


class GatedAsWideAsFour(GatedFused):
    def __init__(self, d_model, d_ff=None):
        super().__init__(d_model, d_ff or 4 * d_model)


class GatedIgnoresWidth(GatedFused):
    def __init__(self, d_model, d_ff=None):
        super().__init__(d_model)


class GatedOfZeros(GatedFused):
    def __init__(self, d_model, d_ff=None):
        super().__init__(d_model, d_ff)
        for p in self.parameters():
            nn.init.zeros_(p)


class GatedDetached(Gated):
    def forward(self, x):
        return ((x @ self.W_up) * F.silu(x @ self.W_gate).detach()) @ self.W_down


def width_by_fraction(d_model, multiple_of=1):
    return math.ceil(Fraction(8 * d_model, 3 * multiple_of)) * multiple_of


def width_by_loop(d_model, multiple_of=1):
    d_ff = multiple_of
    while 3 * d_ff < 8 * d_model:
        d_ff += multiple_of
    return d_ff


def width_by_two_steps(d_model, multiple_of=1):
    whole = (8 * d_model + 2) // 3
    return whole + (-whole) % multiple_of


def width_in_floats(d_model, multiple_of=1):
    return int(math.ceil(8 / 3 * d_model / multiple_of)) * multiple_of


def width_as_float(d_model, multiple_of=1):
    return float(width_by_fraction(d_model, multiple_of))


def width_as_tensor(d_model, multiple_of=1):
    return torch.tensor(width_by_fraction(d_model, multiple_of))


def width_of_llama_only(d_model, multiple_of=1):
    return 11008


RIGHT = {
    "FeedForward": [NetworkByEinsum, NetworkAsMemory, NetworkOfRows],
    "SwiGLU": [GatedByEinsum, GatedFused, GatedByUnit],
    "matched_d_ff": [width_by_fraction, width_by_loop, width_by_two_steps, width_in_floats],
}

WRONG = {
    "FeedForward": {
        "nn.Linear": NetworkOfLinears,
        "no parameters": NetworkOfPlainTensors,
        "d_ff ignored": NetworkAlwaysFour,
        "starts at one": NetworkOfOnes,
        "cuts the graph": NetworkDetached,
        "one batch dimension only": NetworkOneBatch,
    },
    "SwiGLU": {
        "a bias": GatedWithBias,
        "4 d by default": GatedAsWideAsFour,
        "d_ff ignored": GatedIgnoresWidth,
        "starts at zero": GatedOfZeros,
        "gate cuts the graph": GatedDetached,
    },
    "matched_d_ff": {
        "a float": width_as_float,
        "a tensor": width_as_tensor,
        "one model's width": width_of_llama_only,
    },
}
