"""Wrong gpt2.py files: what is changed in the reference, and the rows that have to catch it.

Most are mistakes that people were seen to make in courses and re-implementations of GPT-2.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    name: str
    rows: tuple[str, ...]  # rows that have to fail
    edits: tuple[tuple[str, str, str], ...]


def m(name: str, rows: str, *edits: tuple[str, str, str]) -> Mutant:
    return Mutant(name, tuple(rows.split("; ")), edits)


NUMBERS = "logits; hidden states; loss; gradients"
NUMBERS += "; logits, float64; hidden states, float64; loss, float64; gradients, float64"
STEPS = "losses of ten steps; ten steps, float64"

ARCHITECTURE = [
    m("position off by one", NUMBERS, ("embed", "P[:T]", "P.roll(-1, 0)[:T]")),
    m("position by token id", NUMBERS, ("embed", "P[:T]", "P[ids % len(P)]")),
    m("no positions", NUMBERS, ("embed", " + P[:T]", "")),
    m("E times sqrt(d)", NUMBERS, ("embed", "E[ids]", "E[ids] * E.shape[-1] ** 0.5")),
    m("tables swapped", "logits", ("embed", "E[ids] + P[:T]", "P[ids % len(P)] + E[:T]")),
    m("medium with 8 heads", "GPT2Config", ("GPT2Config.medium", "n_head=16", "n_head=8")),
    m(
        "LayerNorms not counted",
        "count_parameters",
        ("count_parameters", "L * 4 * d + 2 * d", "0"),
    ),
    m("config not frozen", "GPT2Config", ("GPT2Config", "frozen=True", "frozen=False")),
]

ATTENTION = [
    m(
        "no scaling",
        "attention maps; attention maps, float64; " + NUMBERS,
        ("attention", " / math.sqrt(d_k)", ""),
    ),
    m("scaled by d_k", "attention maps; logits", ("attention", "math.sqrt(d_k)", "d_k")),
    m("times sqrt(d_k)", "attention maps", ("attention", "/ math.sqrt(d_k)", "* math.sqrt(d_k)")),
    m(
        "scaled by sqrt(d_model)",
        "attention maps; logits",
        ("MultiHeadAttention.forward", "attention(Q,", "attention(Q / self.n_head ** 0.5,"),
    ),
    m(
        "Q and K swapped",
        "attention maps; logits",
        ("attention", "Q @ K.transpose(-2, -1)", "K @ Q.transpose(-2, -1)"),
    ),
    m(
        "softmax over queries",
        "leak test; attention maps",
        ("attention", "softmax(S)", "softmax(S, -2)"),
    ),
    m(
        "mask after softmax",
        "leak test; attention maps; prefix passes",
        (
            "attention",
            "",
            "def attention(Q, K, V, mask=None, dropout=0.0):\n"
            "    A = softmax(Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1]))\n"
            "    A = A if mask is None else A * (mask == 0)\n"
            "    return A @ V, A",
        ),
    ),
    m("looks one ahead", "leak test; prefix passes; logits", ("causal_mask", "triu(1)", "triu(2)")),
    m("row 0 sees nothing", "logits; gradients", ("causal_mask", "triu(1)", "triu(0)")),
    m("looks ahead only", "leak test; logits", ("causal_mask", "triu(1)", "tril(-1)")),
    m(
        "no mask",
        "leak test; prefix passes",
        ("MultiHeadAttention.forward", "V, mask,", "V, None,"),
    ),
    m("mask of 0", "leak test", ("causal_mask", "-math.inf", "0.0")),
    m("mask of -10", "leak test", ("causal_mask", "-math.inf", "-10.0")),
    m("mask of -1e4", "leak test, large scores", ("causal_mask", "-math.inf", "-1e4")),
    m(
        "scores filled with -1e4",
        "leak test, large scores",
        ("attention", "S + mask", "S.masked_fill(mask < 0, -1e4)"),
    ),
    m("mask on the CPU", "runs on meta", ("causal_mask", "device=device", "device='cpu'")),
]

HEADS = [
    m(
        "split without transpose",
        "leak test; prefix passes; logits",
        (
            "split_heads",
            "",
            "def split_heads(x, n_head):\n"
            "    return x.reshape(*x.shape[:-2], n_head, x.shape[-2], x.shape[-1] // n_head)",
        ),
    ),
    m(
        "merge without transpose",
        "leak test; prefix passes; logits",
        (
            "merge_heads",
            "",
            "def merge_heads(x):\n"
            "    return x.reshape(*x.shape[:-3], x.shape[-2], x.shape[-3] * x.shape[-1])",
        ),
    ),
    m(
        "b_O once a head",
        NUMBERS,
        ("MultiHeadAttention.forward", "+ self.b_O", "+ self.n_head * self.b_O"),
    ),
    m("b_O dropped", NUMBERS, ("MultiHeadAttention.forward", " + self.b_O", "")),
    m("b_K dropped", "gradients", ("MultiHeadAttention.forward", " + self.b_K", "")),
    m("W_O transposed", NUMBERS, ("MultiHeadAttention.forward", "self.W_O", "self.W_O.T")),
    m("W_O forgotten", NUMBERS, ("MultiHeadAttention.forward", " @ self.W_O", "")),
    m(
        "heads averaged",
        NUMBERS,
        ("MultiHeadAttention.forward", "merge_heads(heads)", "(merge_heads(heads) / self.n_head)"),
    ),
    m("V from W_K", NUMBERS, ("MultiHeadAttention.forward", "self.W_V", "self.W_K")),
    m("one head", "logits; attention maps", ("GPT2", "config.n_head", "1")),
]

FEEDFORWARD = [
    m("ReLU", NUMBERS, ("FeedForward.forward", "gelu_tanh(", "torch.relu(")),
    m("erf GELU", NUMBERS, ("FeedForward.forward", "gelu_tanh(", "nn.functional.gelu(")),
    m(
        "sigmoid GELU",
        NUMBERS,
        ("gelu_tanh", "", "def gelu_tanh(x):\n    return x * torch.sigmoid(1.702 * x)"),
    ),
    m("no nonlinearity", NUMBERS, ("FeedForward.forward", "gelu_tanh(", "(")),
    m("GELU without the cube", NUMBERS, ("gelu_tanh", "x * x * x", "x")),
    m("GELU with sqrt(2 pi)", NUMBERS, ("gelu_tanh", "2 / math.pi", "2 * math.pi")),
    m("b_down dropped", "gradients; logits", ("FeedForward.forward", " + self.b_down", "")),
]


def layer_norm(body: str) -> tuple[str, str, str]:
    return ("LayerNorm.forward", "", f"def forward(self, x):\n    {body}")


NORM = [
    m(
        "unbiased variance",
        NUMBERS + "; quiet stream; quiet stream, float64",
        layer_norm(
            "return self.gamma * (x - x.mean(-1, keepdim=True)) "
            "/ torch.sqrt(x.var(-1, keepdim=True) + 1e-5) + self.beta"
        ),
    ),
    m(
        "eps outside the root",
        "quiet stream; logits",
        layer_norm(
            "return self.gamma * (x - x.mean(-1, keepdim=True)) "
            "/ (x.std(-1, keepdim=True, correction=0) + 1e-5) + self.beta"
        ),
    ),
    m("no eps", "quiet stream", ("LayerNorm.forward", "var + self.eps", "var")),
    m("eps of 1e-6", "quiet stream", ("LayerNorm", "1e-05", "1e-06")),
    m(
        "divided by the variance",
        NUMBERS,
        ("LayerNorm.forward", "torch.rsqrt(var + self.eps)", "1 / (var + 1e-5)"),
    ),
    m(
        "mean not removed",
        NUMBERS,
        ("LayerNorm.forward", "x = x - x.mean(-1, keepdim=True)", "pass"),
    ),
    m(
        "gamma and beta unused",
        "gradients; logits",
        layer_norm("return nn.functional.layer_norm(x, x.shape[-1:])"),
    ),
    m("norm over time", "leak test; logits", ("LayerNorm.forward", "mean(-1,", "mean(-2,")),
    m(
        "norm over time and width",
        "leak test; prefix passes",
        ("LayerNorm.forward", "mean(-1,", "mean((-2, -1),"),
    ),
    m("norm over the batch", "batch independence", ("LayerNorm.forward", "mean(-1,", "mean(0,")),
]


def block(body: str) -> tuple[str, str, str]:
    return ("PreNormBlock.forward", "", f"def forward(self, x):\n    {body}\n    return x")


BLOCK = [
    m("one LayerNorm for both", NUMBERS, ("PreNormBlock.forward", "self.ln_2", "self.ln_1")),
    m(
        "post-norm",
        NUMBERS,
        block("x = self.ln_1(x + self.attn(x)); x = self.ln_2(x + self.ffn(x))"),
    ),
    m(
        "residual from the normed copy",
        NUMBERS,
        block("x = self.ln_1(x); x = x + self.attn(x); x = self.ln_2(x); x = x + self.ffn(x)"),
    ),
    m(
        "feed-forward reads x",
        NUMBERS,
        block("x = x + self.attn(self.ln_1(x)); x = x + self.ffn(x)"),
    ),
    m("parallel block", NUMBERS, block("x = x + self.attn(self.ln_1(x)) + self.ffn(self.ln_2(x))")),
    m("no residual", NUMBERS, block("x = self.attn(self.ln_1(x)); x = self.ffn(self.ln_2(x))")),
    m(
        "feed-forward first",
        NUMBERS,
        block("x = x + self.ffn(self.ln_2(x)); x = x + self.attn(self.ln_1(x))"),
    ),
]

MODEL = [
    m(
        "no final LayerNorm",
        "logits; logits, float64; gradients",
        ("GPT2.forward", "x = self.ln_f(x)", "pass"),
    ),
    m("first block L times", NUMBERS, ("GPT2.forward", "block(x)", "self.blocks[0](x)")),
    m(
        "one block object",
        "parameter counts",
        (
            "GPT2.__init__",
            "(PreNormBlock(d, config.n_head, config.dropout) for _ in range(config.n_layer))",
            "[PreNormBlock(d, config.n_head, config.dropout)] * config.n_layer",
        ),
    ),
    m(
        "blocks in a list",
        "parameter names and shapes; parameter counts",
        ("GPT2.__init__", "nn.ModuleList(", "list("),
    ),
    m("head detached", "gradients", ("GPT2.forward", "self.E.T", "self.E.detach().T")),
    m(
        "tied by a copy",
        "tying: one tensor; tying: it lasts",
        (
            "GPT2.__init__",
            "init_weights(self)",
            "init_weights(self); self.tied = self.E.detach().clone()",
        ),
        ("GPT2.forward", "self.E.T", "self.tied.to(x).T"),
    ),
    m(
        "tied by a second parameter",
        "parameter names and shapes; parameter counts",
        (
            "GPT2.__init__",
            "init_weights(self)",
            "init_weights(self); self.W_U = nn.Parameter(self.E.T.clone())",
        ),
        ("GPT2.forward", "self.E.T", "self.W_U"),
    ),
    m(
        "tied by a hidden copy",
        "tying: it lasts",
        (
            "GPT2.__init__",
            "init_weights(self)",
            "init_weights(self); self.tied = [self.E.detach().clone()]",
        ),
        ("GPT2.forward", "self.E.T", "self.tied[0].to(x).T"),
    ),
    m("always tied", "logits; gradients", ("GPT2.forward", "x @ self.W_U", "x @ self.E.T")),
    m("no ValueError", "ValueError", ("GPT2.forward", "self.check_ids(ids)", "pass")),
    m(
        "dropout in evaluation",
        "dropout",
        ("MultiHeadAttention.forward", "self.dropout if self.training else 0.0", "self.dropout"),
    ),
    m(
        "noise",
        "determinism",
        ("GPT2.forward", "x = self.ln_f(x)", "x = self.ln_f(x) + 1e-6 * torch.randn_like(x)"),
    ),
    m(
        "E of deviation 1",
        "initial loss; fresh weights",
        ("GPT2.__init__", "init_weights(self)", "init_weights(self); self.E.data.normal_()"),
    ),
    m(
        "W_O and W_down not scaled",
        "fresh weights",
        ("init_weights", "math.sqrt(2 * model.config.n_layer)", "1"),
    ),
    m(
        "scaled by sqrt(L)",
        "fresh weights",
        ("init_weights", "2 * model.config.n_layer", "model.config.n_layer"),
    ),
]

LOSS = [
    m(
        "targets shifted again",
        "loss; losses of ten steps",
        ("GPT2.loss", "self(ids), targets", "self(ids)[:, :-1], targets[:, 1:]"),
    ),
    m("own input predicted", "loss", ("GPT2.loss", "targets)", "ids)")),
    m("sum for mean", "loss; gradients", ("cross_entropy", ".mean()", ".sum()")),
    m(
        "softmax before the loss",
        "loss; gradients",
        ("GPT2.loss", "self(ids)", "softmax(self(ids))"),
    ),
    m(
        "last token only",
        "loss; gradients",
        ("GPT2.loss", "self(ids), targets", "self(ids)[:, -1:], targets[:, -1:]"),
    ),
    m(
        "viewed as (B, V, T)",
        "loss; gradients",
        ("GPT2.loss", "self(ids)", "self(ids).reshape(len(ids), -1, ids.shape[1]).mT"),
    ),
]

TRAINING = [
    m("no zero_grad", STEPS, ("train_step", "p.grad = None", "pass")),
    m(
        "rate of the first step",
        "train_step: learning rate",
        (
            "adamw_step",
            "state['step'] += 1",
            "state['step'] += 1; lr = state.setdefault('lr', lr)",
        ),
    ),
    m("no clipping", STEPS, ("clip_grad_norm", "clamp(max=1.0)", "clamp(min=1.0, max=1.0)")),
    m(
        "clipped one by one",
        "clip_grad_norm; " + STEPS,
        ("clip_grad_norm", "g.mul_(scale)", "g.mul_((max_norm / g.norm()).clamp(max=1.0))"),
    ),
    m("short gradients scaled up", "clip_grad_norm", ("clip_grad_norm", ".clamp(max=1.0)", "")),
    m(
        "norm after clipping",
        "clip_grad_norm; gradient norms of ten steps",
        ("clip_grad_norm", "return norm.item()", "return (norm * scale).item()"),
    ),
    m(
        "everything decays",
        "decay groups; " + STEPS,
        ("decay_groups", "'weight_decay': 0.0", "'weight_decay': weight_decay"),
    ),
    m(
        "nothing decays",
        "decay groups; " + STEPS,
        ("decay_groups", "'weight_decay': weight_decay", "'weight_decay': 0.0"),
    ),
    m(
        "E forgotten",
        "decay groups; " + STEPS,
        ("decay_groups", "if p.dim() >= 2", "if p.dim() >= 2 and p is not model.E"),
    ),
    m(
        "E twice",
        "decay groups; " + STEPS,
        ("decay_groups", "'params': decay", "'params': [*decay, model.E]"),
    ),
    m(
        "decay as L2",
        "adamw_step; " + STEPS,
        (
            "adamw_step",
            "state['step'] += 1",
            "state['step'] += 1; grad = grad + weight_decay * param; weight_decay = 0",
        ),
    ),
    m(
        "decay without lr",
        "adamw_step; " + STEPS,
        ("adamw_step", "1 - lr * weight_decay", "1 - weight_decay"),
    ),
    m("no bias correction", "adamw_step; " + STEPS, ("adamw_step", "1 - beta2 ** t", "1")),
    m(
        "betas swapped",
        "adamw_step; " + STEPS,
        ("adamw_step", "(beta1, beta2), t", "(beta2, beta1), t"),
    ),
    m(
        "eps inside the root",
        "adamw_step; " + STEPS,
        ("adamw_step", "v_hat.sqrt() + eps", "(v_hat + eps).sqrt()"),
    ),
    m("state forgotten", "adamw_step; " + STEPS, ("adamw_step", "if not state:", "if True:")),
    m("targets not shifted", "get_batch", ("get_batch", "window[:, 1:]", "window[:, :-1]")),
    m(
        "targets shifted by -1",
        "get_batch",
        (
            "get_batch",
            "return (window[:, :-1], window[:, 1:])",
            "return (window[:, 1:], window[:, :-1])",
        ),
    ),
    m("last window never drawn", "get_batch", ("get_batch", "len(data) - T", "len(data) - T - 1")),
    m("no warm-up", "lr_schedule", ("lr_schedule", "max_lr * (step + 1) / warmup_steps", "max_lr")),
    m("ends at 0", "lr_schedule", ("lr_schedule", "return min_lr +", "return")),
    m("dropout in estimate_loss", "estimate_loss", ("estimate_loss", "model.eval()", "pass")),
    m("left in evaluation", "estimate_loss", ("estimate_loss", "model.train(training)", "pass")),
    m("mean of means", "estimate_loss", ("estimate_loss", "y.numel()", "1")),
]

GENERATION = [
    m("first position's logits", "greedy ids", ("generate", "logits[:, -1]", "logits[:, 0]")),
    m("no crop", "past n_positions", ("generate", "ids[:, -model.config.n_positions:]", "ids")),
    m(
        "only one token seen",
        "greedy ids",
        ("generate", "ids[:, -model.config.n_positions:]", "ids[:, -1:]"),
    ),
    m(
        "temperature multiplies",
        "sampling",
        ("sample_next", "logits / temperature", "logits * temperature"),
    ),
    m("top_k keeps one more", "sampling", ("sample_next", "top_k, logits", "top_k + 1, logits")),
    m(
        "top_p leaves out the last",
        "sampling",
        ("sample_next", "p.cumsum(-1) - p >= top_p", "p.cumsum(-1) >= top_p"),
    ),
    m("generate in training mode", "generate: mode", ("generate", "model.eval()", "pass")),
    m("generate leaves eval mode", "generate: mode", ("generate", "model.train(training)", "pass")),
    m(
        "a cache without an offset",
        "use_cache",
        (
            "generate",
            "",
            "@torch.no_grad()\n"
            "def generate(model, ids, max_new_tokens, temperature=1.0, use_cache=True, **_):\n"
            "    for _ in range(max_new_tokens):\n"
            "        seen = ids[:, -1:] if use_cache else ids[:, -model.config.n_positions:]\n"
            "        ids = torch.cat([ids, model(seen)[:, -1:].argmax(-1)], dim=1)\n"
            "    return ids",
        ),
    ),
    m(
        "one token short",
        "greedy ids",
        ("generate", "range(max_new_tokens)", "range(max_new_tokens - 1)"),
    ),
]

MUTANTS = [*ARCHITECTURE, *ATTENTION, *HEADS, *FEEDFORWARD, *NORM, *BLOCK, *MODEL, *LOSS, *TRAINING]
MUTANTS += GENERATION
