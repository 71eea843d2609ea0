"""LayerNorm and RMSNorm."""

import torch
import torch.nn.functional as F
from torch import nn


class Norm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.gamma = nn.Parameter(torch.ones(d_model))
        self.beta = nn.Parameter(torch.zeros(d_model))


class NormByVar(Norm):
    def forward(self, x):
        var, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
        return (x - mean) / torch.sqrt(var + self.eps) * self.gamma + self.beta


class NormInOnePass(Norm):
    """The variance as the mean of the squares less the square of the mean."""

    def forward(self, x):
        mean, square = x.mean(-1, keepdim=True), (x * x).mean(-1, keepdim=True)
        return torch.addcmul(
            self.beta, self.gamma, (x - mean) * (square - mean**2 + self.eps).rsqrt()
        )


class NormByMatrix(Norm):
    """Centring is a projection; what is left has the length sqrt(d) sigma."""

    def forward(self, x):
        d = x.shape[-1]
        x = x @ (torch.eye(d, dtype=x.dtype, device=x.device) - 1 / d)
        length = torch.einsum("...d,...d->...", x, x)
        return x / (length / d + self.eps).pow(0.5)[..., None] * self.gamma + self.beta


class NormByRows(Norm):
    def forward(self, x):
        rows = [(r - r.mean()) for r in x.reshape(-1, x.shape[-1])]
        rows = [r / (r.dot(r) / len(r) + self.eps) ** 0.5 for r in rows]
        return self.gamma * torch.stack(rows).reshape(x.shape) + self.beta


class NormInFloat64(Norm):
    def forward(self, x):
        z = x.double()
        std = z.std(-1, correction=0, keepdim=True)
        z = (z - z.mean(-1, keepdim=True)) / (std**2 + self.eps) ** 0.5
        return (self.gamma * z + self.beta).to(x.dtype)


class NormByLibrary(Norm):
    def forward(self, x):
        return F.layer_norm(x, (x.size(-1),), eps=self.eps) * self.gamma + self.beta


class NormInPlaceOnACopy(Norm):
    def forward(self, x):
        z = x.clone()
        z -= z.sum(-1, keepdim=True) / z.shape[-1]
        var = torch.mean(torch.square(z), dim=-1, keepdim=True)
        return torch.addcdiv(self.beta, self.gamma * z, (var + self.eps).sqrt())


class NormInFloat32(NormByVar):
    """Always computes in float32, and stays there."""

    def forward(self, x):
        return F.layer_norm(x.float(), self.gamma.shape, self.gamma.float(), self.beta.float())


class NormByView(NormByVar):
    def forward(self, x):
        return super().forward(x.view(-1, x.shape[-1])).view(x.shape)


class NormSqueezed(NormByVar):
    def forward(self, x):
        return super().forward(x).squeeze()


class NormWithPlainEps(NormByVar):
    """eps as a plain tensor of d entries: it stays where the module was made."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__(d_model, eps)
        self.eps = torch.full((1,), eps)


class NormOfPlainTensors(NormByVar):
    def __init__(self, d_model, eps=1e-5):
        nn.Module.__init__(self)
        self.eps, self.gamma, self.beta = eps, torch.ones(d_model), torch.zeros(d_model)


class NormWithTheirNames(nn.LayerNorm):
    pass


class NormDetachedStatistics(Norm):
    def forward(self, x):
        with torch.no_grad():
            mean, std = x.mean(-1, keepdim=True), (x.var(-1, False, keepdim=True) + self.eps) ** 0.5
        return self.gamma * (x - mean) / std + self.beta


class NormInPlace(Norm):
    def forward(self, x):
        x -= x.mean(-1, keepdim=True)
        return self.gamma * x / ((x * x).mean(-1, keepdim=True) + self.eps).sqrt() + self.beta


class NormAlongAxis2(Norm):
    def forward(self, x):
        x = x - x.mean(2, keepdim=True)
        return self.gamma * x / ((x * x).mean(2, keepdim=True) + self.eps).sqrt() + self.beta


class NormStartsAtZero(NormByVar):
    def __init__(self, d_model, eps=1e-5):
        super().__init__(d_model, eps)
        self.gamma = nn.Parameter(torch.zeros(d_model))


class NormOfGammaOnly(NormByVar):
    def __init__(self, d_model, eps=1e-5):
        super().__init__(d_model, eps)
        del self.beta
        self.beta = 0.0


class NormOfTheBatch(Norm):
    def forward(self, x):
        mean, var = x.mean(0, keepdim=True), x.var(0, correction=0, keepdim=True)
        return self.gamma * (x - mean) / (var + self.eps).sqrt() + self.beta


class Root(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(d_model))
        self.eps = eps


class RootByLength(Root):
    def forward(self, x):
        length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        return x / (length**2 / x.shape[-1] + self.eps).sqrt() * self.gamma


class RootByEinsum(Root):
    def forward(self, x):
        mean_square = torch.einsum("...d,...d->...", x, x) / x.shape[-1]
        return torch.einsum("...d,...,d->...d", x, (mean_square + self.eps).rsqrt(), self.gamma)


class RootInFloat64(Root):
    def forward(self, x):
        z = x.double()
        return (z * (z.pow(2).mean(-1, True) + self.eps).rsqrt() * self.gamma).type_as(x)


class RootByLibrary(Root):
    def forward(self, x):
        return F.rms_norm(x, x.shape[-1:], self.gamma, self.eps)


class RootInPlaceOnACopy(Root):
    def forward(self, x):
        z = torch.empty_like(x).copy_(x)
        z /= torch.sqrt(x.square().sum(-1, keepdim=True) / x.size(-1) + self.eps)
        z *= self.gamma
        return z


class RootByRows(Root):
    def forward(self, x):
        rows = [r * torch.rsqrt(r @ r / r.numel() + self.eps) for r in x.reshape(-1, x.shape[-1])]
        return torch.stack(rows).view(x.shape) * self.gamma


class RootByMatrix(Root):
    """gamma as a diagonal matrix; the mean of the squares as a product with 1 / d."""

    def forward(self, x):
        d = x.shape[-1]
        size = (x * x) @ torch.full((d, 1), 1 / d, dtype=x.dtype, device=x.device) + self.eps
        return (x / size**0.5) @ torch.diag(self.gamma)


class NormWithoutKeepdim(Norm):
    def forward(self, x):
        return self.gamma * (x - x.mean(-1)) / (x.var(-1, correction=0) + self.eps).sqrt()


class RootWithoutKeepdim(Root):
    def forward(self, x):
        return self.gamma * x / (x.pow(2).mean(-1) + self.eps).sqrt()


class RootWithBeta(Norm):
    def forward(self, x):
        return RootByLength.forward(self, x) + self.beta


class RootOfPlainTensors(RootByLength):
    def __init__(self, d_model, eps=1e-5):
        nn.Module.__init__(self)
        self.gamma, self.eps = torch.ones(d_model), eps


class RootDetachedStatistics(Root):
    def forward(self, x):
        size = (x.detach().pow(2).mean(-1, True) + self.eps).sqrt()
        return self.gamma * x / size


class RootInPlace(Root):
    def forward(self, x):
        x /= (x.pow(2).mean(-1, True) + self.eps).sqrt()
        return self.gamma * x


class RootAlongAxis2(Root):
    def forward(self, x):
        return self.gamma * x / (x.pow(2).mean(2, True) + self.eps).sqrt()


class RootStartsAtZero(RootByLength):
    def __init__(self, d_model, eps=1e-5):
        super().__init__(d_model, eps)
        nn.init.zeros_(self.gamma)


def standardised(by):
    """A LayerNorm that divides by another size: by(x, x - mean, eps)."""

    class Standardised(Norm):
        def forward(self, x):
            z = x - x.mean(-1, keepdim=True)
            return self.gamma * z / by(x, z, self.eps) + self.beta

    return Standardised


class NormOfOneMean(Norm):
    def forward(self, x):
        z = x - x.mean()
        return self.gamma * z / ((z * z).mean(-1, True) + self.eps).sqrt() + self.beta


def rooted(by):
    """An RMSNorm that divides by another size."""

    class Rooted(Root):
        def forward(self, x):
            return self.gamma * x / by(x, self.eps)

    return Rooted


RIGHT = {
    "LayerNorm": [
        NormByVar,
        NormInOnePass,
        NormByMatrix,
        NormByRows,
        NormInFloat64,
        NormByLibrary,
        NormInPlaceOnACopy,
    ],
    "RMSNorm": [
        RootByLength,
        RootByEinsum,
        RootInFloat64,
        RootByLibrary,
        RootInPlaceOnACopy,
        RootByRows,
        RootByMatrix,
    ],
}

WRONG = {
    "LayerNorm": {
        "variance_of_all": standardised(lambda x, z, eps: (x.var(correction=0) + eps).sqrt()),
        "squares_of_all": standardised(lambda x, z, eps: ((z**2).mean() + eps).sqrt()),
        "root_of_root": standardised(
            lambda x, z, eps: ((z**2).mean(-1, keepdim=True) + eps).sqrt().sqrt()
        ),
        "norm_plus_eps": standardised(lambda x, z, eps: z.norm(dim=-1, keepdim=True) + eps),
        "norm_without_eps": standardised(lambda x, z, eps: z.norm(dim=-1, keepdim=True) + 1e-12),
        "eps_too_weak": standardised(
            lambda x, z, eps: x.std(-1, correction=0, keepdim=True).clamp(min=eps)
        ),
        "mean_of_all_throughout": NormOfOneMean,
        "no keepdim": NormWithoutKeepdim,
        "float32": NormInFloat32,
        "view": NormByView,
        "squeeze": NormSqueezed,
        "eps is a plain tensor": NormWithPlainEps,
        "no parameters": NormOfPlainTensors,
        "weight and bias": NormWithTheirNames,
        "statistics cut the graph": NormDetachedStatistics,
        "changes its input": NormInPlace,
        "one batch dimension only": NormAlongAxis2,
        "gamma starts at zero": NormStartsAtZero,
        "beta is no parameter": NormOfGammaOnly,
        "over the batch": NormOfTheBatch,
    },
    "RMSNorm": {
        "unbiased_variance": rooted(lambda x, eps: (x.var(-1, keepdim=True) + eps).sqrt()),
        "deviation_plus_eps": rooted(lambda x, eps: x.std(-1, keepdim=True) + eps),
        "norm_plus_eps": rooted(lambda x, eps: x.norm(dim=-1, keepdim=True) + eps),
        "root_of_root": rooted(lambda x, eps: ((x * x).mean(-1, True) + eps).sqrt().sqrt()),
        "no keepdim": RootWithoutKeepdim,
        "a beta": RootWithBeta,
        "no parameters": RootOfPlainTensors,
        "statistics cut the graph": RootDetachedStatistics,
        "changes its input": RootInPlace,
        "one batch dimension only": RootAlongAxis2,
        "gamma starts at zero": RootStartsAtZero,
    },
}
