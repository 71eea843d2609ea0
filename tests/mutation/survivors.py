"""Mutants that pass their check and may: no input that the exercise allows tells them apart.

Each entry is an argument and the ids that it holds for. What can be told apart is no entry here,
but a blind spot of the check.
"""

ARGUED: list[tuple[str, tuple[str, ...]]] = [
    (
        "Adding b_K adds q . b_K to every score of a row, which the softmax takes out again: "
        "keys may have any bias, or none.",
        (
            "AttentionHead:18: x @ self.W_K + self.b_K -> x @ self.W_K - self.b_K",
            "MultiHeadAttention:17: x @ self.W_K + self.b_K -> x @ self.W_K - self.b_K",
            "head_writes:6: x @ attn.W_K + attn.b_K -> x @ attn.W_K - attn.b_K",
            "head_writes:6: x @ attn.W_K + attn.b_K -> x @ attn.W_K",
            "head_writes:6: attn.b_K -> attn.b_Q",
            "head_writes:6: attn.b_K -> attn.b_V",
        ),
    ),
    (
        "A normal distribution around 0 is its own mirror image.",
        (
            "Embedding:7: 0.02 -> -0.02",
            "Embedding:8: 0.02 -> -0.02",
            "AttentionHead:7: 0.02 -> -0.02",
            "AttentionHead:8: 0.02 -> -0.02",
            "AttentionHead:9: 0.02 -> -0.02",
            "MultiHeadAttention:10: 0.02 -> -0.02",
            "FeedForward:8: 0.02 -> -0.02",
            "FeedForward:10: 0.02 -> -0.02",
            "SwiGLU:8: 0.02 -> -0.02",
            "SwiGLU:9: 0.02 -> -0.02",
            "SwiGLU:10: 0.02 -> -0.02",
        ),
    ),
    (
        "The tensor is new, and nobody else holds it or needs it as it was: changing it in "
        "place is seen by nobody.",
        (
            "max_cosine:6: cosines.fill_diagonal_(0).abs -> cosines.fill_diagonal_(0).abs_",
            "softmax:5: x.exp -> x.exp_",
            "causal_mask:4: torch.full((T, T), -math.inf, device=device).triu -> torch.full((T, T), -math.inf, device=device).triu_",
            "attention:13: S = S + mask -> S += mask",
            "score_variance:7: scores = scores / math.sqrt(d_k) -> scores /= math.sqrt(d_k)",
            "clip_grad_norm:7: (max_norm / (norm + 1e-06)).clamp -> (max_norm / (norm + 1e-06)).clamp_",
            "adamw_step:22: v_hat.sqrt -> v_hat.sqrt_",
            "sample_next:18: logits.masked_fill -> logits.masked_fill_",
            "sample_next:23: logits.masked_fill -> logits.masked_fill_",
        ),
    ),
    (
        "The tensor has two axes by the signature, so the last is the second.",
        (
            "max_cosine:4: -1 -> 1",
            "score_variance:5: -1 -> 1",
            "GPT2:39: -1 -> 1",
            "sample_next:14: -1 -> 1",
            "sample_next:17: -1 -> 1",
            "sample_next:22: -1 -> 1",
            "sample_next:23: -1 -> 1",
            "sample_next:23: -1 -> 1 (2)",
            "sample_next:24: -1 -> 1",
            "generate:22: 1 -> -1",
        ),
    ),
    (
        "The axes are neighbours: swapping them, in whichever order they are named, is moving "
        "one past the other.",
        (
            "attention:11: K.transpose(-2, -1) -> K.transpose(-1, -2)",
            "attention:11: K.transpose -> K.movedim",
            "split_heads:5: x.reshape(*batch, T, n_head, d // n_head).transpose(-3, -2) -> x.reshape(*batch, T, n_head, d // n_head).transpose(-2, -3)",
            "split_heads:5: x.reshape(*batch, T, n_head, d // n_head).transpose -> x.reshape(*batch, T, n_head, d // n_head).movedim",
            "merge_heads:5: x.transpose(-3, -2) -> x.transpose(-2, -3)",
            "merge_heads:5: x.transpose -> x.movedim",
        ),
    ),
    (
        "The view splits one axis in two, which it can do whatever the strides are.",
        (
            "split_heads:5: x.reshape -> x.view",
            "head_writes:9: attn.W_O.reshape -> attn.W_O.view",
        ),
    ),
    (
        "The order of the loop plays no part: each round does its own parameter, or adds its "
        "own term to a sum.",
        (
            "MultiHeadAttention:9: ('Q', 'K', 'V', 'O') -> list(('Q', 'K', 'V', 'O'))[::-1]",
            "init_weights:6: model.named_parameters() -> list(model.named_parameters())[::-1]",
            "GPT2:13: range(config.n_layer) -> list(range(config.n_layer))[::-1]",
            "decay_groups:4: model.parameters() -> list(model.parameters())[::-1]",
            "decay_groups:5: model.parameters() -> list(model.parameters())[::-1]",
            "clip_grad_norm:5: parameters -> list(parameters)[::-1]",
            "clip_grad_norm:6: grads -> list(grads)[::-1]",
            "clip_grad_norm:8: grads -> list(grads)[::-1]",
            "train_step:17: groups -> list(groups)[::-1]",
            "train_step:17: group['params'] -> list(group['params'])[::-1]",
            "train_step:18: params -> list(params)[::-1]",
            "train_step:23: groups -> list(groups)[::-1]",
            "train_step:24: group['params'] -> list(group['params'])[::-1]",
            "estimate_loss:8: batches -> list(batches)[::-1]",
            "generate:19: range(max_new_tokens) -> list(range(max_new_tokens))[::-1]",
        ),
    ),
    (
        "The order in which the parameters are made is not part of the exercise; their names "
        "are.",
        (
            "MultiHeadAttention:9: ('Q', 'K', 'V', 'O') -> ('K', 'Q', 'V', 'O')",
            "MultiHeadAttention:9: ('Q', 'K', 'V', 'O') -> ('Q', 'V', 'K', 'O')",
            "MultiHeadAttention:9: ('Q', 'K', 'V', 'O') -> ('Q', 'K', 'O', 'V')",
        ),
    ),
    (
        "The order of the arguments of min, max and endswith plays no part.",
        (
            "init_weights:7: ('W_O', 'W_down') -> ('W_down', 'W_O')",
            "lr_schedule:8: min(1.0, (step - warmup_steps) / max(1, max_steps - warmup_steps)) -> min((step - warmup_steps) / max(1, max_steps - warmup_steps), 1.0)",
            "lr_schedule:8: max(1, max_steps - warmup_steps) -> max(max_steps - warmup_steps, 1)",
            "sample_next:17: min(top_k, logits.shape[-1]) -> min(logits.shape[-1], top_k)",
        ),
    ),
    (
        "init_weights fills these tables afterwards, whatever they hold.",
        (
            "GPT2:9: torch.empty -> torch.zeros",
            "GPT2:10: torch.empty -> torch.zeros",
            "GPT2:17: torch.empty -> torch.zeros",
        ),
    ),
    (
        "The exercise says that warmup_steps is less than max_steps, so that the difference is "
        "at least 1.",
        (
            "lr_schedule:8: max(1, max_steps - warmup_steps) -> max_steps - warmup_steps",
            "lr_schedule:8: 1 -> -1",
            "lr_schedule:8: 1 -> 0",
        ),
    ),
    (
        "The exercise calls the 1e-6 usual and harmless: without it, or a little larger, the "
        "gradients are as right. A norm of 0 gives inf, which is cut to 1.",
        (
            "clip_grad_norm:7: norm + 1e-06 -> norm",
            "clip_grad_norm:7: 1e-06 -> 0.0",
            "clip_grad_norm:7: 1e-06 -> 1.1e-06",
        ),
    ),
    (
        "Gradients made by loss.backward() need none of their own, so nothing would be "
        "recorded.",
        ("clip_grad_norm:2: @torch.no_grad() -> nothing",),
    ),
    (
        "A dropout of 0 drops nothing, in training mode too.",
        (
            "attention:15: dropout > 0 -> dropout >= 0",
            "attention:15: dropout -> d_k (2)",
            "attention:15: 0 -> -1",
        ),
    ),
    (
        "The softmax of scores less their logsumexp is the same, and as safe: none of them is "
        "above 0.",
        ("softmax:4: x.amax -> x.logsumexp",),
    ),
    (
        "Two zeros, one an int and one a float, are as good in either place.",
        (
            "estimate_loss:7: (total, count) -> (count, total)",
            "estimate_loss:7: (0.0, 0) -> (0, 0.0)",
        ),
    ),
    (
        "q and k are drawn alike, one is as good as the other.",
        ("score_variance:4: (q, k) -> (k, q)",),
    ),
    (
        "The exercise does not say whether the variance is divided by n or n - 1.",
        ("score_variance:8: scores.var() -> scores.var(correction=0)",),
    ),
    (
        "use_cache may change the speed and never the tokens; here it changes nothing.",
        (
            "generate:9: True -> False",
            "generate:9: True -> None",
        ),
    ),
    (
        "An index may lie on the CPU, wherever the tensor lies that it picks from.",
        (
            "get_batch:16: pick.to(starts.device) -> pick.to()",
            "get_batch:16: pick.to(starts.device) -> pick",
        ),
    ),
    (
        "The values left out are the defaults of the class.",
        (
            "GPT2Config:22: cls(n_layer=12, n_head=12, d_model=768) -> cls(n_head=12, d_model=768)",
            "GPT2Config:22: cls(n_layer=12, n_head=12, d_model=768) -> cls(n_layer=12, d_model=768)",
            "GPT2Config:22: cls(n_layer=12, n_head=12, d_model=768) -> cls(n_layer=12, n_head=12)",
        ),
    ),
    (
        "Q has as many columns as K, and as many rows as x, on the same device.",
        (
            "attention:10: Q -> K",
            "AttentionHead:20: x -> Q",
            "AttentionHead:20: x -> Q (2)",
            "MultiHeadAttention:19: x -> Q",
            "MultiHeadAttention:19: x -> Q (2)",
        ),
    ),
    (
        "The gradient has the shape, the type and the device of its parameter.",
        (
            "adamw_step:14: param -> grad",
            "adamw_step:14: param -> grad (2)",
        ),
    ),
    (
        "By the signature of model.loss, y has the shape of x, so that both count as many "
        "tokens.",
        (
            "estimate_loss:9: y -> x (2)",
            "estimate_loss:10: y -> x",
        ),
    ),
    (
        "It can differ only where the probabilities of some tokens sum to top_p exactly. In floats "
        "that takes ties, and of equal logits the exercise does not say which are kept.",
        ("sample_next:22: p.cumsum(-1) - p >= top_p -> p.cumsum(-1) - p > top_p",),
    ),
    (
        "check_ids is handed out with the exercise, not written in it, and ids without numbers "
        "never reach it there.",
        (
            "GPT2:42: ids.device.type != 'meta' and (not (0 <= ids.min() and ids.max() < V)) -> "
            "not (0 <= ids.min() and ids.max() < V)",
            "GPT2:42: 'meta' -> ''",
        ),
    ),
    (
        "x is a tensor of the block's own by then. Whether autograd still needs its old value is a "
        "matter of the LayerNorm: that of the notebook does not, and the check takes the better of "
        "two looks, with the notebook's own parts and with the library's.",
        (
            "PreNormBlock:17: x = x + self.drop(self.ffn(self.ln_2(x))) -> "
            "x += self.drop(self.ffn(self.ln_2(x)))",
        ),
    ),
    (
        "-1 is the default of argsort, which sorts along the last axis.",
        ("sample_next:23: order.argsort(-1) -> order.argsort()",),
    ),
]
