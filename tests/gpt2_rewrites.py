"""Right gpt2.py files, written otherwise than the reference."""

from gpt2_mutants import layer_norm

HARMLESS = {
    "einsum attention, F.layer_norm, F.gelu, F.cross_entropy": (
        (
            "attention",
            "",
            "def attention(Q, K, V, mask=None, dropout=0.0):\n"
            "    S = torch.einsum('...td,...sd->...ts', Q, K) * K.shape[-1] ** -0.5\n"
            "    S = S if mask is None else S.masked_fill(mask < 0, torch.finfo(S.dtype).min)\n"
            "    A = torch.softmax(S, -1)\n"
            "    return torch.einsum('...ts,...sv->...tv', torch.dropout(A, dropout, True), V), A",
        ),
        layer_norm("return nn.functional.layer_norm(x, x.shape[-1:], self.gamma, self.beta, 1e-5)"),
        (
            "gelu_tanh",
            "",
            "def gelu_tanh(x):\n    return nn.functional.gelu(x, approximate='tanh')",
        ),
        (
            "cross_entropy",
            "",
            "def cross_entropy(logits, targets):\n"
            "    return nn.functional.cross_entropy(logits.flatten(0, -2), targets.flatten())",
        ),
    ),
    "SDPA, torch.optim": (
        (
            "MultiHeadAttention.forward",
            "",
            "def forward(self, x):\n"
            "    split = lambda n: split_heads(\n"
            "        x @ getattr(self, 'W_' + n) + getattr(self, 'b_' + n), self.n_head)\n"
            "    heads = nn.functional.scaled_dot_product_attention(\n"
            "        *map(split, 'QKV'), is_causal=True,\n"
            "        dropout_p=self.dropout if self.training else 0.0)\n"
            "    return merge_heads(heads) @ self.W_O + self.b_O",
        ),
        (
            "train_step",
            "",
            "def train_step(\n"
            "    model, x, y, groups, state, lr, betas=(0.9, 0.95), eps=1e-8, max_norm=1.0\n"
            "):\n"
            "    if not state:\n"
            "        state['adamw'] = torch.optim.AdamW(groups, lr, betas, eps, foreach=True)\n"
            "    for group in state['adamw'].param_groups:\n"
            "        group['lr'] = lr\n"
            "    state['adamw'].zero_grad()\n"
            "    loss = model.loss(x, y)\n"
            "    loss.backward()\n"
            "    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n"
            "    state['adamw'].step()\n"
            "    return loss.item(), norm",
        ),
    ),
    "attention a head at a time": (
        (
            "MultiHeadAttention.forward",
            "",
            "def forward(self, x):\n"
            "    Q, K, V = (\n"
            "        (x @ W + b).chunk(self.n_head, -1)\n"
            "        for W, b in ((self.W_Q, self.b_Q), (self.W_K, self.b_K), (self.W_V, self.b_V))\n"
            "    )\n"
            "    mask = causal_mask(x.shape[-2], x.device)\n"
            "    p = self.dropout if self.training else 0.0\n"
            "    heads = [attention(q, k, v, mask, p)[0] for q, k, v in zip(Q, K, V)]\n"
            "    return torch.cat(heads, -1) @ self.W_O + self.b_O",
        ),
    ),
    "masked after the softmax and renormalised, mask of -1e9": (
        ("causal_mask", "-math.inf", "-1e9"),
        (
            "attention",
            "",
            "def attention(Q, K, V, mask=None, dropout=0.0):\n"
            "    A = softmax(Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1]))\n"
            "    A = A if mask is None else A * (mask == 0)\n"
            "    A = A / A.sum(-1, keepdim=True)\n"
            "    return torch.dropout(A, dropout, dropout > 0) @ V, A",
        ),
    ),
}
