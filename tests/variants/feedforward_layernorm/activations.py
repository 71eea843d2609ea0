"""gelu and gelu_tanh."""

import math

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


def tanh_with_short_pi(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / 3.1) * (x + 0.044715 * x**3)))


RIGHT = {
    "gelu": [gelu_by_distribution, gelu_by_erfc, gelu_in_float64, gelu_in_halves],
    "gelu_tanh": [tanh_by_sigmoid, tanh_by_horner, tanh_in_float64, tanh_by_library],
}

WRONG = {
    "gelu": {
        "cuts the graph": gelu_detached,
        "changes its input": gelu_in_place,
        "through Python numbers": gelu_through_numbers,
        "half precision": gelu_in_half_precision,
        "clipped": gelu_of_clipped,
        "stuck on the CPU": gelu_on_the_cpu,
    },
    "gelu_tanh": {
        "overflows": tanh_overflows,
        "changes its input": tanh_in_place,
        "cuts the graph": tanh_detached,
        "half precision": tanh_in_half_precision,
        "pi = 3.1": tanh_with_short_pi,
    },
}
