"""PreNormBlock and PostNormBlock."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.standins import FeedForward, LayerNorm, MultiHeadAttention


class Parts(nn.Module):
    """The four parts under their names, and a rate."""

    def __init__(self, d_model, n_head, dropout=0.0):
        super().__init__()
        self.ln_1, self.ln_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.attn, self.ffn = MultiHeadAttention(d_model, n_head, dropout), FeedForward(d_model)
        self.rate = dropout

    def drop(self, write):
        return F.dropout(write, self.rate, self.training)


def by_hand(module, x):
    """All that a block computes, without calling its parts: attention and network."""
    p = dict(module.named_parameters())
    d, H = x.shape[-1], module.n_head

    def attention(x):
        Q, K, V = (
            (x @ p[f"attn.W_{n}"] + p[f"attn.b_{n}"]).unflatten(-1, (H, d // H)).movedim(-2, -3)
            for n in "QKV"
        )
        heads = F.scaled_dot_product_attention(Q, K, V, is_causal=True).movedim(-3, -2).flatten(-2)
        return heads @ p["attn.W_O"] + p["attn.b_O"]

    def network(x):
        hidden = F.gelu(x @ p["ffn.W_up"] + p["ffn.b_up"], approximate="tanh")
        return hidden @ p["ffn.W_down"] + p["ffn.b_down"]

    def norm(x, name):
        x = x - x.mean(-1, keepdim=True)
        x = x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt()
        return x * p[f"{name}.gamma"] + p[f"{name}.beta"]

    return attention, network, norm


class PreByLedger(Parts):
    """The stream as a sum of everything that was written to it."""

    def forward(self, x):
        ledger = [x]
        for norm, sublayer in ((self.ln_1, self.attn), (self.ln_2, self.ffn)):
            ledger.append(self.drop(sublayer(norm(sum(ledger)))))
        return torch.stack(ledger).sum(0)


class PreWithTwoDropouts(Parts):
    def __init__(self, d_model, n_head, dropout=0.0):
        super().__init__(d_model, n_head, dropout)
        self.drop_attn, self.drop_ffn = nn.Dropout(dropout), nn.Dropout(dropout)

    def residual(self, x, *steps):
        return torch.add(x, nn.Sequential(*steps)(x))

    def forward(self, x):
        x = self.residual(x, self.ln_1, self.attn, self.drop_attn)
        return self.residual(x, self.ln_2, self.ffn, self.drop_ffn)


class PreByHand(Parts):
    def __init__(self, d_model, n_head, dropout=0.0):
        super().__init__(d_model, n_head, dropout)
        self.n_head = n_head

    def forward(self, x):
        attention, network, norm = by_hand(self, x)
        x = x + self.drop(attention(norm(x, "ln_1")))
        return x + self.drop(network(norm(x, "ln_2")))


class PreInPlaceOnACopy(Parts):
    def forward(self, x):
        x = x.clone()
        x += self.drop(self.attn(self.ln_1(x.clone())))
        x = x + self.drop(self.ffn(self.ln_2(x)))
        return x


class PreByFunction(Parts):
    """The residual is a function of a function."""

    def forward(self, x):
        def add(x, *functions):
            write = x
            for f in functions:
                write = f(write)
            return x + write

        return add(add(x, self.ln_1, self.attn, self.drop), self.ln_2, self.ffn, self.drop)


class PreInFloat64(Parts):
    """The stream is summed in float64; the parts read it in their own type."""

    def forward(self, x):
        stream = x.double()
        stream = stream + self.drop(self.attn(self.ln_1(stream.to(x.dtype))))
        stream = stream + self.drop(self.ffn(self.ln_2(stream.to(x.dtype))))
        return stream.to(x.dtype)


class PostByLoop(Parts):
    def forward(self, x):
        for i, sublayer in enumerate((self.attn, self.ffn), 1):
            x = getattr(self, f"ln_{i}")(x + self.drop(sublayer(x)))
        return x


class PostByPieces(Parts):
    """Positions are independent in the second half: a slice at a time."""

    def forward(self, x):
        x = self.ln_1(self.drop(self.attn(x)) + x)
        rows = [self.ln_2(row + self.drop(self.ffn(row))) for row in x.unbind(-2)]
        return torch.stack(rows, -2)


class PostWithTwoDropouts(Parts):
    def __init__(self, d_model, n_head, dropout=0.0):
        super().__init__(d_model, n_head, dropout)
        self.resid_drop_1, self.resid_drop_2 = nn.Dropout(dropout), nn.Dropout(dropout)

    def forward(self, hidden_states):
        attended = self.resid_drop_1(self.attn(hidden_states))
        middle = self.ln_1(hidden_states + attended)
        return self.ln_2(torch.add(self.resid_drop_2(self.ffn(middle)), middle))


class PostInPlaceOnACopy(Parts):
    def forward(self, x):
        total = self.drop(self.attn(x)).clone()
        total += x
        x = self.ln_1(total)
        total = x.clone()
        total += self.drop(self.ffn(x))
        return self.ln_2(total)


class PostByHand(PreByHand):
    def forward(self, x):
        attention, network, norm = by_hand(self, x)
        x = norm(x + self.drop(attention(x)), "ln_1")
        return norm(x + self.drop(network(x)), "ln_2")


def wrong_blocks(right, changes_input):
    """The same slips for both kinds. `right` is the right forward; the other works in place."""

    class InAList(Parts):
        def __init__(self, d_model, n_head, dropout=0.0):
            super().__init__(d_model, n_head, dropout)
            parts = [self.ln_1, self.attn, self.ln_2, self.ffn]
            del self.ln_1, self.attn, self.ln_2, self.ffn
            self.parts = parts

        def forward(self, x):
            for name, part in zip(("ln_1", "attn", "ln_2", "ffn"), self.parts):
                object.__setattr__(self, name, part)
            return right(self, x)

    class OneNorm(Parts):
        def __init__(self, d_model, n_head, dropout=0.0):
            super().__init__(d_model, n_head, dropout)
            self.ln_2 = self.ln_1

        forward = right

    class OtherNames(nn.Module):
        def __init__(self, d_model, n_head, dropout=0.0):
            super().__init__()
            self.block = Parts(d_model, n_head, dropout)

        def forward(self, x):
            return right(self.block, x)

    class Detached(Parts):
        def forward(self, x):
            return right(self, x.detach())

    class InPlace(Parts):
        forward = changes_input

    class DropsAlways(Parts):
        def drop(self, write):
            return F.dropout(write, self.rate)

        forward = right

    class NeverDrops(Parts):
        def drop(self, write):
            return write

        forward = right

    class NotHandedOn(Parts):
        """Attention is made without the rate."""

        def __init__(self, d_model, n_head, dropout=0.0):
            super().__init__(d_model, n_head, dropout)
            self.attn = MultiHeadAttention(d_model, n_head)

        forward = right

    class DropsWithoutRescaling(Parts):
        """By hand, and what is kept stays as it was."""

        def drop(self, write):
            return write * (torch.rand_like(write) >= self.rate) if self.training else write

        forward = right

    class Squeezed(Parts):
        def forward(self, x):
            return right(self, x).squeeze()

    class DropsTheStream(Parts):
        def forward(self, x):
            return F.dropout(right(self, x), self.rate, self.training)

    class Pair(Parts):
        def forward(self, x):
            return right(self, x), x

    class SeesTheFuture(PreByHand):
        def forward(self, x):
            return right(self, x.flip(-2)).flip(-2)

    class WithoutTheHeads(Parts):
        def __init__(self, d_model, n_head, dropout=0.0):
            super().__init__(d_model, 1, dropout)

        forward = right

    return {
        "parts in a list": InAList,
        "the same norm twice": OneNorm,
        "other names": OtherNames,
        "cuts the graph": Detached,
        "changes its input": InPlace,
        "drops outside of training": DropsAlways,
        "never drops": NeverDrops,
        "attention without the rate": NotHandedOn,
        "drops the stream": DropsTheStream,
        "kept writes as they were": DropsWithoutRescaling,
        "squeeze": Squeezed,
        "two results": Pair,
        "sees the future": SeesTheFuture,
        "n_head ignored": WithoutTheHeads,
    }


def pre_norm(self, x):
    x = x + self.drop(self.attn(self.ln_1(x)))
    return x + self.drop(self.ffn(self.ln_2(x)))


def pre_norm_in_place(self, x):
    x += self.drop(self.attn(self.ln_1(x)))
    x += self.drop(self.ffn(self.ln_2(x)))
    return x


def post_norm(self, x):
    x = self.ln_1(x + self.drop(self.attn(x)))
    return self.ln_2(x + self.drop(self.ffn(x)))


def post_norm_in_place(self, x):
    x += self.drop(self.attn(x))
    x = self.ln_1(x)
    return self.ln_2(x + self.drop(self.ffn(x)))


class PreTwiceTheFirstLine(Parts):
    def forward(self, x):
        x = x + self.drop(self.attn(self.ln_1(x)))
        return x + self.drop(self.attn(self.ln_1(x)))


class PostTwiceTheFirstLine(Parts):
    def forward(self, x):
        x = self.ln_1(x + self.drop(self.attn(x)))
        return self.ln_1(x + self.drop(self.attn(x)))


RIGHT = {
    "PreNormBlock": [
        PreByLedger,
        PreWithTwoDropouts,
        PreByHand,
        PreInPlaceOnACopy,
        PreByFunction,
        PreInFloat64,
    ],
    "PostNormBlock": [
        PostByLoop,
        PostByPieces,
        PostByHand,
        PostWithTwoDropouts,
        PostInPlaceOnACopy,
    ],
}

WRONG = {
    "PreNormBlock": wrong_blocks(pre_norm, pre_norm_in_place)
    | {"first_line_twice": PreTwiceTheFirstLine},
    "PostNormBlock": wrong_blocks(post_norm, post_norm_in_place)
    | {"first_line_twice": PostTwiceTheFirstLine},
}
