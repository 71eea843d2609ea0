"""Chapter 8."""

import math

import torch
import torch.nn.functional as F

from autograder import standins

# ---------------------------------------------------------------- sample_next


def sample_by_gumbel(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    """Adds Gumbel noise and takes the largest: the same distribution without a softmax."""
    if temperature == 0:
        return logits.max(-1).indices
    z = logits / temperature
    if top_k:
        kth = z.sort(-1, descending=True).values[:, :top_k][:, -1:]
        z = torch.where(z >= kth, z, torch.full_like(z, -math.inf))
    if top_p:
        p = F.softmax(z, -1)
        likelier = (p[:, None, :] > p[:, :, None]) * p[:, None, :]  # mass ahead of each token
        z = z.masked_fill(likelier.sum(-1) >= top_p, -math.inf)
    u = torch.rand(z.shape, generator=generator, device=z.device).clamp_min(1e-12)
    return (z - torch.log(-torch.log(u))).argmax(-1)


def sample_by_inverse_cdf(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    """Works in the sorted order throughout, and draws through the cumulative sum."""
    order = logits.argsort(-1, descending=True)
    if temperature == 0:
        return order[:, 0]
    p = (logits.double() / temperature).softmax(-1).gather(-1, order)
    if top_k is not None:
        p = p * (torch.arange(p.shape[-1], device=p.device) < top_k)
        p = p / p.sum(-1, keepdim=True)
    if top_p is not None:
        before = F.pad(p.cumsum(-1), (1, -1))
        p = torch.where(before < top_p, p, 0.0)
    reached = p.cumsum(-1)
    u = torch.rand(len(p), 1, generator=generator, dtype=p.dtype, device=p.device)
    pick = (reached <= u * reached[:, -1:]).sum(-1, keepdim=True)
    return order.gather(-1, pick)[:, 0]


def sample_by_rows(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    """Row after row for the cuts; one multinomial for all that share a row of logits."""
    if temperature == 0:
        return logits.argmax(1)
    rows, which = logits.unique(dim=0, return_inverse=True)
    kept = []
    for row in rows:
        p = (row / temperature).softmax(0)
        ranked = p.argsort(descending=True).tolist()[: top_k or len(p)]
        if top_p is not None:
            mass, n, total = 0.0, 0, float(p[ranked].sum())
            while n < len(ranked) and mass < top_p * total:
                mass += float(p[ranked[n]])
                n += 1
            ranked = ranked[:n]
        keep = torch.zeros_like(p)
        keep[ranked] = 1
        kept.append(p * keep)
    return torch.multinomial(torch.stack(kept)[which], 1, generator=generator)[:, 0]


def sample(
    heat=lambda z, t: z / t,
    k_off=0,
    fill=-math.inf,
    use_k=True,
    use_p=True,
    beyond=lambda p, top_p: p.cumsum(-1) - p >= top_p,
    descending=True,
    put_back=True,
    p_first=False,
    raw_p=False,
    flat=False,
    twice=False,
    greedy=False,
    zero=True,
    draw=lambda p, g: torch.multinomial(p, 1, generator=g)[:, 0],
):
    """sample_next with one thing changed."""

    def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
        if greedy or (zero and temperature == 0):
            return logits.argmax(-1)
        raw, z = logits, heat(logits, temperature)

        def cut_k(z):
            if top_k is None or not use_k:
                return z
            k = min(top_k + k_off, z.shape[-1])
            return z.masked_fill(z < z.topk(k).values[:, -1:], fill)

        def cut_p(z):
            if top_p is None or not use_p:
                return z
            p, order = (raw if raw_p else z).softmax(-1).sort(-1, descending=descending)
            far = beyond(p, top_p)
            back = {True: order.argsort(-1), "forwards": order}
            return z.masked_fill(far.gather(-1, back[put_back]) if put_back else far, fill)

        z = cut_k(cut_p(z)) if p_first else cut_p(cut_k(z))
        p = z.isfinite().float() if flat else z.softmax(-1)
        return draw(p.softmax(-1) if twice else p, generator)

    return sample_next


def one_too_many(p, top_p):
    return F.pad((p.cumsum(-1) - p >= top_p), (1, -1))


def sample_by_race(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    """Each token gets an exponential time, divided by its probability; the first one wins."""
    if temperature == 0:
        return logits.argmax(-1)
    z = logits / temperature
    if top_k is not None:
        z = z.masked_fill(z < z.topk(min(top_k, z.shape[-1])).values[:, -1:], -math.inf)
    if top_p is not None:
        p, order = z.softmax(-1).sort(-1, descending=True)
        beyond = p.cumsum(-1) - p >= top_p
        z = z.masked_fill(beyond.gather(-1, order.argsort(-1)), -math.inf)
    p = z.softmax(-1)
    times = torch.empty_like(p).exponential_(1.0, generator=generator)
    return (p / times).argmax(-1)


def sample_by_boolean_index(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    """Row by row; what is cut is found by a comparison and filled in place, in a copy."""
    if temperature == 0:
        return logits.argmax(-1)
    ids = torch.zeros(len(logits), dtype=torch.long, device=logits.device)
    z = logits / temperature
    if top_k is not None and top_k < z.shape[-1]:
        z[z < z.topk(top_k).values[:, -1:]] = -math.inf
    if top_p is not None:
        p, order = z.softmax(-1).sort(-1, descending=True)
        beyond = (p.cumsum(-1) - p >= top_p).gather(-1, order.argsort(-1))
        z[beyond.nonzero(as_tuple=True)] = -math.inf
    ids[:] = torch.multinomial(z.softmax(-1), 1, generator=generator)[:, 0]
    return ids


def sample_squeezed(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    """squeeze() without an axis: of one row, a number without axes is left."""
    return standins.sample_next(logits, temperature, top_k, top_p, generator).squeeze()


def sample_with_a_clone(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    """Draws with a copy: the generator that was handed in stays where it was."""
    if generator is not None:
        generator = torch.Generator().set_state(generator.get_state())
    return standins.sample_next(logits, temperature, top_k, top_p, generator)


def sample_with_its_seed(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if generator is not None:
        generator = torch.Generator().manual_seed(generator.initial_seed())
    return standins.sample_next(logits, temperature, top_k, top_p, generator)


def sample_in_place(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature:
        logits /= temperature
        temperature = 1.0
    return standins.sample_next(logits, temperature, top_k, top_p, generator)


def sample_small_k_only(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if top_k is not None:
        logits.topk(top_k)  # fails past the vocabulary
    return standins.sample_next(logits, temperature, top_k, top_p, generator)


def sample_one_threshold(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if top_k is not None:
        lowest = logits.topk(min(top_k, logits.shape[-1])).values[..., -1].max()
        logits = logits.masked_fill(logits < lowest, -math.inf)
    return standins.sample_next(logits, temperature, None, top_p, generator)


def sample_on_the_cpu(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    mask = torch.zeros(logits.shape, device="cpu")
    return standins.sample_next(logits + mask, temperature, top_k, top_p, generator)


# ---------------------------------------------------------------- generate


def generate_into_a_buffer(
    model,
    ids,
    max_new_tokens,
    temperature=1.0,
    top_k=None,
    top_p=None,
    use_cache=True,
    generator=None,
):
    was, (B, T) = model.training, ids.shape
    out = ids.new_zeros(B, T + max_new_tokens)
    out[:, :T] = ids
    model.eval()
    with torch.no_grad():
        for t in range(T, T + max_new_tokens):
            first = t - model.config.n_positions if t > model.config.n_positions else 0
            last = model(out[:, first:t])[:, -1, :]
            out[:, t] = sample_next(last, temperature, top_k, top_p, generator)
    model.train(was)
    return out


@torch.inference_mode()
def generate_recursively(
    model,
    ids,
    max_new_tokens,
    temperature=1.0,
    top_k=None,
    top_p=None,
    use_cache=True,
    generator=None,
):
    if max_new_tokens <= 0:
        return ids
    was = model.training
    model.train(False)
    seen = ids[:, max(0, ids.size(1) - model.config.n_positions) :]
    new = sample_next(
        model(seen)[..., -1, :],
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        generator=generator,
    )
    model.train(was)
    ids = torch.hstack([ids, new[:, None]])
    return generate_recursively(
        model, ids, max_new_tokens - 1, temperature, top_k, top_p, use_cache, generator
    )


def generation(
    position=-1,
    see=lambda ids, n: ids[:, -n:],
    keep="all",
    extra=0,
    once=False,
    before=lambda model: model.eval(),
    after=lambda model, was: model.train(was),
    how=lambda temperature, top_k, top_p: (temperature, top_k, top_p),
    grad=False,
    draw_with=lambda generator: generator,
    append=lambda ids, new: torch.cat([ids, new[:, None]], 1),
    cache=lambda use_cache: 0,
):
    """generate with one thing changed."""

    def generate(
        model,
        ids,
        max_new_tokens,
        temperature=1.0,
        top_k=None,
        top_p=None,
        use_cache=True,
        generator=None,
    ):
        was, T, logits = model.training, ids.shape[1], None
        before(model)
        generator = draw_with(generator) if generator else None
        with torch.set_grad_enabled(grad):
            for _ in range(max_new_tokens + extra):
                seen = see(ids, model.config.n_positions)
                if logits is None or not once:
                    logits = model(seen)[:, position] + cache(use_cache) * torch.arange(
                        model.config.vocab_size, device=ids.device
                    )
                new = sample_next(logits, *how(temperature, top_k, top_p), generator)
                ids = append(seen if keep == "seen" else ids, new)
        after(model, was)
        return ids[:, T:] if keep == "new" else ids

    return generate


def append_in_place(ids, new):
    ids[:, 0] += 0 * new
    longer = torch.cat([ids, new[:, None]], 1)
    ids[:, -1] = new
    return longer


def stops_when_full(
    model,
    ids,
    max_new_tokens,
    temperature=1.0,
    top_k=None,
    top_p=None,
    use_cache=True,
    generator=None,
):
    room = max(0, model.config.n_positions - ids.shape[1])
    return standins.generate(
        model, ids, min(room, max_new_tokens), temperature, top_k, top_p, use_cache, generator
    )


sample_next = standins.sample_next  # as a student's notebook has it


def generate_unfilled(model, ids, max_new_tokens, **how):
    return torch.cat([ids, torch.full((len(ids), max_new_tokens), -1)], 1)


def clone(generator):
    return torch.Generator().set_state(generator.get_state())


def set_attribute(model, mode=False):
    model.training = mode


def append_on_the_cpu(ids, new):
    return torch.cat([ids, new[:, None].cpu()], 1)


def generate_into_a_cpu_buffer(model, ids, max_new_tokens, *how, **named):
    longer = torch.zeros(len(ids), ids.shape[1] + max_new_tokens, dtype=torch.long)
    longer[:] = standins.generate(model, ids, max_new_tokens, *how, **named)
    return longer


def generate_by_lists(model, ids, max_new_tokens, *how, **named):
    """The text as Python lists, made a tensor again for each pass."""
    use = dict(zip(("temperature", "top_k", "top_p", "use_cache", "generator"), how)) | named
    text, was = ids.tolist(), model.training
    model.eval()
    with torch.no_grad():
        for _ in range(max_new_tokens):
            seen = [row[-model.config.n_positions :] for row in text]
            logits = model(torch.tensor(seen, device=ids.device))[:, -1]
            new = sample_next(
                logits,
                use.get("temperature", 1.0),
                use.get("top_k"),
                use.get("top_p"),
                use.get("generator"),
            )
            for row, i in zip(text, new):
                row.append(i.item())
    model.train(was)
    return torch.tensor(text, dtype=ids.dtype, device=ids.device)


def append_squeezed(ids, new):
    """Of one row the column is lost, of more it is kept."""
    return torch.cat([ids, new[:, None] if len(new) > 1 else new[:, None].squeeze()], 1)


RIGHT = {
    "sample_next": [
        sample_by_gumbel,
        sample_by_inverse_cdf,
        sample_by_rows,
        sample(),
        sample_by_race,
        sample_by_boolean_index,
    ],
    "generate": [
        generate_into_a_buffer,
        generate_recursively,
        generation(),
        generate_by_lists,
    ],
}

WRONG = {
    "sample_next": {
        "squeeze": sample_squeezed,
        "draws with a clone": sample_with_a_clone,
        "draws with its seed": sample_with_its_seed,
        "divides_by_0": sample(zero=False),
        "always_greedy": sample(greedy=True),
        "temperature_multiplied": sample(heat=lambda z, t: z * t),
        "temperature_ignored": sample(heat=lambda z, t: z),
        "top_k_ignored": sample(use_k=False),
        "top_p_ignored": sample(use_p=False),
        "one_more_than_k": sample(k_off=1),
        "one_less_than_k": sample(k_off=-1),
        "filled_with_0": sample(fill=0.0),
        "crossing_dropped": sample(beyond=lambda p, top_p: p.cumsum(-1) > top_p),
        "one_more_than_p": sample(beyond=one_too_many),
        "tail_kept": sample(descending=False),
        "not_put_back": sample(put_back=False),
        "put_back_forwards": sample(put_back="forwards"),
        "p_before_k": sample(p_first=True),
        "p_before_temperature": sample(raw_p=True),
        "all_alike": sample(flat=True),
        "softmax_twice": sample(twice=True),
        "shape (B, 1)": sample(draw=lambda p, g: torch.multinomial(p, 1, generator=g)),
        "probabilities": sample(draw=lambda p, g: p.max(-1).values),
        "generator not used": sample(draw=lambda p, g: torch.multinomial(p, 1)[:, 0]),
        "one draw for all rows": sample(
            draw=lambda p, g: torch.multinomial(p[0], 1, generator=g).expand(len(p))
        ),
        "changes the logits": sample_in_place,
        "top_k past the vocabulary": sample_small_k_only,
        "one threshold for all rows": sample_one_threshold,
        "stuck on the CPU": sample_on_the_cpu,
    },
    "generate": {
        "the attribute alone is put back": generation(after=set_attribute),
        "the attribute alone is set": generation(before=set_attribute, after=set_attribute),
        "draws with a clone": generation(draw_with=clone),
        "squeeze": generation(append=append_squeezed),
        "new tokens on the CPU": generation(append=append_on_the_cpu),
        "a buffer on the CPU": generate_into_a_cpu_buffer,
        "new tokens are never filled in": generate_unfilled,
        "first_position": generation(position=0),
        "not_cropped": generation(see=lambda ids, n: ids),
        "first_tokens_seen": generation(see=lambda ids, n: ids[:, :n]),
        "cropped_too_short": generation(see=lambda ids, n: ids[:, 1 - n :]),
        "newest_only": generation(see=lambda ids, n: ids[:, -1:]),
        "prompt_lost": generation(keep="seen"),
        "new_only": generation(keep="new"),
        "one_short": generation(extra=-1),
        "one_too_many": generation(extra=1),
        "one_pass_only": generation(once=True),
        "dropout_on": generation(before=lambda model: None),
        "stays_in_eval": generation(after=lambda model, was: model.eval()),
        "always_train_after": generation(after=lambda model, was: model.train()),
        "always_greedy": generation(how=lambda t, k, p: (0, k, p)),
        "temperature not passed": generation(how=lambda t, k, p: (1.0, k, p)),
        "top_k_not_passed": generation(how=lambda t, k, p: (t, None, p)),
        "top_p_not_passed": generation(how=lambda t, k, p: (t, k, None)),
        "gradients recorded": generation(grad=True),
        "generator not passed": generation(draw_with=lambda generator: None),
        "cache changes the tokens": generation(cache=lambda use: 0 if use else 0.5),
        "changes the prompt": generation(append=append_in_place),
        "stops when full": stops_when_full,
    },
}
