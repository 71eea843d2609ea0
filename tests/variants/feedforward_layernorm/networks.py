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


class NetworkInFloat64(Network):
    def forward(self, x):
        wide = [p.double() for p in (self.W_up, self.b_up, self.W_down, self.b_down)]
        hidden = F.gelu(
            torch.einsum("...d,df->...f", x.double(), wide[0]) + wide[1], approximate="tanh"
        )
        return (hidden @ wide[2] + wide[3]).to(x.dtype)


class NetworkByChunks(Network):
    """A few hidden units at a time, added up in place."""

    def forward(self, x):
        out = self.b_down + torch.zeros_like(x)
        parts = zip(self.W_up.split(2, dim=1), self.b_up.split(2), self.W_down.split(2))
        for up, bias, down in parts:
            out += GELU(x @ up + bias) @ down
        return out


class NetworkByRegister(nn.Module):
    """Parameters made in a loop, products as nn.functional.linear."""

    def __init__(self, d_model, d_ff=None):
        super().__init__()
        self.width = d_ff if d_ff is not None else d_model * 4
        for name, shape in (("up", (d_model, self.width)), ("down", (self.width, d_model))):
            weight = nn.init.normal_(torch.empty(shape), std=0.02)
            self.register_parameter(f"W_{name}", nn.Parameter(weight))
            self.register_parameter(f"b_{name}", nn.Parameter(torch.zeros(shape[1])))

    def forward(self, x):
        z = F.linear(x, self.W_up.mT, self.b_up)
        z = z * torch.sigmoid(2 * math.sqrt(2 / math.pi) * (z + 0.044715 * z**3))
        return F.linear(z, self.W_down.mT, self.b_down)


class NetworkTransposed(NetworkByEinsum):
    def forward(self, x):
        return GELU(x @ self.W_up.T + self.b_up) @ self.W_down.T + self.b_down


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


class GatedInFloat64(Gated):
    def forward(self, x):
        z = x.double() @ self.W_gate.double()
        up = x.double() @ self.W_up.double()
        return (torch.mul(up, z.sigmoid()).mul(z) @ self.W_down.double()).type_as(x)


class GatedOfRows(Gated):
    """All positions as the rows of one matrix, each row through outer products."""

    def forward(self, x):
        rows = [
            torch.mv(self.W_down.T, torch.mv(self.W_up.T, r) * F.silu(torch.mv(self.W_gate.T, r)))
            for r in x.reshape(-1, x.shape[-1])
        ]
        return torch.stack(rows).reshape(x.shape)


class GatedByTanh(Gated):
    """sigma(z) = (1 + tanh(z / 2)) / 2."""

    def forward(self, x):
        z = F.linear(x, self.W_gate.T)
        gate = 0.5 * z + 0.5 * z * torch.tanh(z / 2)
        return F.linear(gate * F.linear(x, self.W_up.T), self.W_down.T)


class GatedByMatrixProduct(Gated):
    def forward(self, x):
        return ((x @ self.W_up) @ F.silu(x @ self.W_gate)) @ self.W_down


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


def width_in_whole_numbers(d_model, multiple_of=1):
    return (8 * d_model + 3 * multiple_of - 1) // (3 * multiple_of) * multiple_of


def width_by_remainder(d_model, multiple_of=1):
    twice = math.ceil(8 * d_model / 3)
    rest = twice % multiple_of
    return twice if rest == 0 else twice + multiple_of - rest


def width_as_float(d_model, multiple_of=1):
    return float(width_by_fraction(d_model, multiple_of))


def width_as_tensor(d_model, multiple_of=1):
    return torch.tensor(width_by_fraction(d_model, multiple_of))


def width_of_llama_only(d_model, multiple_of=1):
    return 11008


def width_to_nearest_then_down(d_model, multiple_of=1):
    return round(8 * d_model / 3) // multiple_of * multiple_of


def width_up_then_down(d_model, multiple_of=1):
    return math.ceil(8 * d_model / 3) // multiple_of * multiple_of


RIGHT = {
    "FeedForward": [
        NetworkByEinsum,
        NetworkAsMemory,
        NetworkOfRows,
        NetworkInFloat64,
        NetworkByChunks,
        NetworkByRegister,
    ],
    "SwiGLU": [
        GatedByEinsum,
        GatedFused,
        GatedByUnit,
        GatedInFloat64,
        GatedOfRows,
        GatedByTanh,
    ],
    "matched_d_ff": [
        width_by_fraction,
        width_by_loop,
        width_by_two_steps,
        width_in_floats,
        width_in_whole_numbers,
        width_by_remainder,
    ],
}

WRONG = {
    "FeedForward": {
        "nn.Linear": NetworkOfLinears,
        "weights transposed": NetworkTransposed,
        "no parameters": NetworkOfPlainTensors,
        "d_ff ignored": NetworkAlwaysFour,
        "starts at one": NetworkOfOnes,
        "cuts the graph": NetworkDetached,
        "one batch dimension only": NetworkOneBatch,
    },
    "SwiGLU": {
        "a bias": GatedWithBias,
        "@ between the branches": GatedByMatrixProduct,
        "4 d by default": GatedAsWideAsFour,
        "d_ff ignored": GatedIgnoresWidth,
        "starts at zero": GatedOfZeros,
        "gate cuts the graph": GatedDetached,
    },
    "matched_d_ff": {
        "nearest_then_down": width_to_nearest_then_down,
        "up_then_down": width_up_then_down,
        "a float": width_as_float,
        "a tensor": width_as_tensor,
        "one model's width": width_of_llama_only,
    },
}
