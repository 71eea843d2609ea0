"""gelu and gelu_tanh."""

import math
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal


def gelu_by_distribution(x):
    return x * Normal(0.0, 1.0).cdf(x)


def gelu_by_erfc(x):
    return x * torch.erfc(-x / math.sqrt(2)) / 2


def gelu_in_float64(x):
    return (x.double() * torch.special.ndtr(x.double())).to(x.dtype)


def gelu_in_halves(x):
    half = x / 2
    return half + half * torch.special.erf(x * 0.5**0.5)


class BendByPieces(nn.Module):
    """An instance in place of a function; each sign by a formula of its own."""

    def forward(self, x):
        upper = 0.5 * torch.erfc(x.abs() / math.sqrt(2))
        return torch.where(x < 0, x * upper, x - x * upper)


def gelu_in_place_on_a_copy(x):
    phi = x.clone()
    phi.div_(math.sqrt(2)).erf_().add_(1.0).mul_(0.5)
    return phi * x


def gelu_detached(x):
    return gelu_by_erfc(x.detach())


def gelu_in_place(x):
    x *= 0.5 * (1 + torch.erf(x / 2**0.5))
    return x


def gelu_through_numbers(x):
    values = [v * (1 + math.erf(v / math.sqrt(2))) / 2 for v in x.flatten().tolist()]
    return torch.tensor(values).reshape(x.shape)


def gelu_in_half_precision(x):
    return F.gelu(x.bfloat16()).to(x.dtype)


def gelu_of_clipped(x):
    return F.gelu(x.clamp(-5, 5))


def gelu_on_the_cpu(x):
    return F.gelu(x) + torch.zeros(x.shape, device="cpu")


def tanh_by_sigmoid(x):
    return x * torch.sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))


def tanh_by_horner(x):
    u = x * (0.7978845608 + 0.0356774081 * x * x)
    return 0.5 * x + 0.5 * x * torch.tanh(u)


def tanh_in_float64(x):
    z = x.double()
    return (z / (1 + torch.exp(-math.sqrt(8 / math.pi) * (z + 0.044715 * z.pow(3))))).to(x.dtype)


def tanh_by_library(x):
    return nn.GELU(approximate="tanh")(x)


def tanh_in_steps(x):
    out = x.pow(3)
    out = torch.add(x, out, alpha=0.044715)
    out *= (2 / torch.pi) ** 0.5
    return torch.addcmul(x / 2, x / 2, out.tanh())


def tanh_by_rows(x):
    rows = [0.5 * r * (1 + (0.79788456 * (r + 0.044715 * r * r * r)).tanh()) for r in x.flatten()]
    return torch.stack(rows).view_as(x)


def tanh_overflows(x):
    e = torch.exp(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    return 0.5 * x * (1 + (e - 1) / (e + 1))


def tanh_in_place(x):
    x.copy_(F.gelu(x, approximate="tanh"))
    return x


def tanh_detached(x):
    return tanh_by_sigmoid(x.data)


def tanh_in_half_precision(x):
    return F.gelu(x.half(), approximate="tanh").float()


def tanh_of_a_rounded_factor(x):
    return 0.5 * x * (1 + torch.tanh(0.8 * (x + 0.044715 * x**3)))


def tanh_of_a_rounded_coefficient(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.045 * x**3)))


def tanh_with_xor(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ^ 3)))


def gelu_by_math(x):
    return 0.5 * x * (1 + math.erf(x / math.sqrt(2)))


def gelu_with_root_of_a_number(x):
    return 0.5 * x * (1 + torch.erf(x / torch.sqrt(2)))


def tanh_with_short_pi(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / 3.1) * (x + 0.044715 * x**3)))


def gelu_by_a_power_without_parentheses(x):
    return 0.5 * x * (1 + torch.erf(x / 2 ** 1 / 2))  # fmt: skip


def tanh_with_the_cube_outside(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3) ** 3))


def tanh_with_one_root_of_2_pi(x):
    return 0.5 * x * (1 + torch.tanh((x + 0.044715 * x**3) / math.sqrt(2 * math.pi)))


RIGHT = {
    "gelu": [
        gelu_by_distribution,
        gelu_by_erfc,
        gelu_in_float64,
        gelu_in_halves,
        gelu_in_place_on_a_copy,
        nn.GELU(),
        BendByPieces(),
    ],
    "gelu_tanh": [
        tanh_by_sigmoid,
        tanh_by_horner,
        tanh_in_float64,
        tanh_by_library,
        tanh_in_steps,
        tanh_by_rows,
        partial(F.gelu, approximate="tanh"),
    ],
}

WRONG = {
    "gelu": {
        "cuts the graph": gelu_detached,
        "changes its input": gelu_in_place,
        "divided_by_4": gelu_by_a_power_without_parentheses,
        "math.erf": gelu_by_math,
        "torch.sqrt of a number": gelu_with_root_of_a_number,
        "through Python numbers": gelu_through_numbers,
        "half precision": gelu_in_half_precision,
        "clipped": gelu_of_clipped,
        "stuck on the CPU": gelu_on_the_cpu,
    },
    "gelu_tanh": {
        "sum_cubed": tanh_with_the_cube_outside,
        "half_the_argument": tanh_with_one_root_of_2_pi,
        "overflows": tanh_overflows,
        "changes its input": tanh_in_place,
        "cuts the graph": tanh_detached,
        "half precision": tanh_in_half_precision,
        "0.8 for the factor": tanh_of_a_rounded_factor,
        "0.045 for the coefficient": tanh_of_a_rounded_coefficient,
        "x ^ 3": tanh_with_xor,
        "pi = 3.1": tanh_with_short_pi,
    },
}
