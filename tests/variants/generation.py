"""Chapter 8."""

import math
from contextlib import contextmanager

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
    at_0=lambda logits: logits.argmax(-1),
    k_off=0,
    k_cut=lambda z, k: z < z.topk(k).values[:, -1:],
    k_ranks=False,
    fill_k=-math.inf,
    fill_p=-math.inf,
    use_k=True,
    use_p=lambda top_k: True,
    p_of=lambda top_p: top_p,
    beyond=lambda p, top_p: p.cumsum(-1) - p >= top_p,
    of_logits=False,
    descending=True,
    put_back=True,
    p_ranks=False,
    p_first=False,
    raw_p=False,
    flat=False,
    twice=False,
    greedy=False,
    dim=-1,
    draw_dim=None,
    ranks=False,
    draw=lambda p, g: torch.multinomial(p, 1, generator=g)[:, 0],
):
    """sample_next with one thing changed."""

    def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
        if greedy or (at_0 and temperature == 0):
            return logits.argmax(-1) if greedy else at_0(logits)
        z = heat(logits, temperature)

        def cut_k(z):
            if top_k is None or not use_k:
                return z
            return z.masked_fill(k_cut(z, min(top_k + k_off, z.shape[-1])), fill_k)

        def cut_p(z):
            if top_p is None or not use_p(top_k):
                return z
            ranked, order = (z * temperature if raw_p else z).sort(-1, descending=descending)
            far = beyond(ranked if of_logits else ranked.softmax(dim), p_of(top_p))
            if put_back == "values":
                return ranked.masked_fill(far, fill_p).gather(-1, order)
            back = {True: order.argsort(-1), "forwards": order}
            return z.masked_fill(far.gather(-1, back[put_back]) if put_back else far, fill_p)

        z = cut_k(cut_p(z)) if p_first else cut_p(cut_k(z))
        if ranks or (k_ranks and top_k is not None) or (p_ranks and top_p is not None):
            z = z.sort(-1, descending=True).values  # and where they stood is forgotten
        p = z.isfinite().float() if flat else z.softmax(draw_dim if draw_dim is not None else dim)
        return draw(p.softmax(-1) if twice else p, generator)

    return sample_next


def drawn_undivided(logits):
    return torch.multinomial(logits.softmax(-1), 1)[:, 0]


def crossing_dropped_but_first(p, top_p):
    far = p.cumsum(-1) > top_p
    far[:, 0] = False
    return far


def all_but_k(z, k):
    return z < z.sort(-1).values[:, k, None]


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


def sample_ascending(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    """From the unlikely end: cut while what is cut sums to 1 - p; scattered back."""
    if temperature == 0:
        return torch.max(logits, dim=1)[1]
    scores = logits / temperature
    V = scores.size(1)
    ascending, order = torch.sort(scores, dim=1)
    if top_k is not None and top_k < V:
        ascending[:, : V - top_k] = float("-inf")
    if top_p is not None:
        tail = ascending.double().softmax(1).cumsum(1)
        cut = tail <= 1 - top_p
        cut[:, -1] = False
        ascending = torch.where(cut, torch.full_like(ascending, float("-inf")), ascending)
    scores = torch.empty_like(scores).scatter_(1, order, ascending)
    p = torch.exp(scores - scores.logsumexp(1, keepdim=True))
    return torch.multinomial(p, num_samples=1, generator=generator).flatten()


def sample_among_candidates(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    """Probabilities of the candidates only, in their order; the id is looked up last."""
    V = logits.shape[-1]
    if not temperature:
        return logits.topk(1).indices[..., 0]
    weights, ids = logits.softmax(-1).topk(V if top_k is None else min(V, top_k))
    weights = weights ** (1 / temperature)
    weights = weights / weights.sum(-1, keepdim=True)
    if top_p is not None:
        likelier = torch.ones(weights.shape[-1], weights.shape[-1], device=logits.device).triu(1)
        weights = weights * (weights @ likelier < top_p)
    place = torch.multinomial(weights, 1, generator=generator)
    return torch.take_along_dim(ids, place, dim=-1).squeeze(-1)


class Sampler(torch.nn.Module):
    """As a chain of small steps, each a method."""

    def forward(self, logits, temperature=1.0, top_k=None, top_p=None, generator=None):
        if temperature == 0:
            return torch.argmax(logits, dim=-1)
        z = self.nucleus(self.largest(torch.div(logits, temperature), top_k), top_p)
        chances = z.exp() / z.exp().sum(dim=-1, keepdim=True)
        return torch.multinomial(chances, 1, generator=generator).view(len(logits))

    def largest(self, z, k):
        if k is None:
            return z
        rank = z.argsort(dim=-1, descending=True).argsort(dim=-1)
        return z.where(rank < k, torch.tensor(-torch.inf, device=z.device))

    def nucleus(self, z, p):
        if p is None:
            return z
        chances = z.softmax(-1)
        order = chances.argsort(-1, descending=True)
        ranked = chances.gather(-1, order)
        stays = torch.zeros_like(chances, dtype=torch.bool)
        stays.scatter_(-1, order, ranked.cumsum(-1) - ranked < p)
        return z.masked_fill(~stays, -torch.inf)


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


def softmax_first(logits, *how, **named):
    return standins.sample_next(logits.softmax(-1), *how, **named)


def not_sorted(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature == 0:
        return logits.argmax(-1)
    z = logits / temperature
    if top_k is not None:
        z = z.masked_fill(z < z.topk(min(top_k, z.shape[-1])).values[:, -1:], -math.inf)
    if top_p is not None:
        p = z.softmax(-1)
        z = z.masked_fill(p.cumsum(-1) - p >= top_p, -math.inf)
    return torch.multinomial(z.softmax(-1), 1, generator=generator)[:, 0]


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


def generate_by_columns(
    model,
    ids,
    max_new_tokens,
    temperature=1.0,
    top_k=None,
    top_p=None,
    use_cache=True,
    generator=None,
):
    """A list of columns; what the model sees is stacked from the last of them."""
    columns = list(ids.unbind(1))
    how = dict(temperature=temperature, top_k=top_k, top_p=top_p, generator=generator)
    with torch.no_grad(), evaluating(model):
        while len(columns) < ids.shape[1] + max_new_tokens:
            seen = torch.stack(columns[-model.config.n_positions :], dim=1)
            *_, last = model(seen).unbind(1)
            columns.append(sample_next(last, **how))
    return torch.stack(columns, dim=1)


@contextmanager
def evaluating(model):
    """Every part in evaluation mode, and afterwards in its own again."""
    parts = {part: part.training for part in model.modules()}
    model.eval()
    try:
        yield
    finally:
        for part, mode in parts.items():
            part.training = mode


class Writer:
    """An object that is called; the window moves by one token in place, in a copy."""

    @torch.no_grad()
    def __call__(
        self,
        model,
        ids,
        max_new_tokens,
        temperature=1.0,
        top_k=None,
        top_p=None,
        use_cache=True,
        generator=None,
    ):
        mode, n = model.training, model.config.n_positions
        model.train(mode=False)
        window, written = ids[:, -n:].clone(), [ids]
        for _ in range(max_new_tokens):
            logits = model(window)[:, window.shape[1] - 1]
            new = sample_next(logits, temperature, top_k, top_p, generator).unsqueeze(1)
            written.append(new)
            if window.shape[1] < n:
                window = torch.cat((window, new), -1)
            else:
                window = window.roll(-1, dims=1)
                window[:, -1:] = new
        if mode:
            model.train()
        return torch.cat(written, dim=1)


def generation(
    position=lambda prompt: -1,
    see=lambda ids, n, prompt, step: ids[:, -n:],
    keep="all",
    rounds=lambda T, n, new: new,
    once=False,
    before=lambda model: model.eval(),
    after=lambda model, was: model.train(was),
    how=lambda temperature, top_k, top_p: (temperature, top_k, top_p),
    hand=lambda logits: logits,
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
            for step in range(rounds(T, model.config.n_positions, max_new_tokens)):
                seen = see(ids, model.config.n_positions, T, step)
                if logits is None or not once:
                    logits = model(seen)[:, position(T)] + cache(use_cache) * torch.arange(
                        model.config.vocab_size, device=ids.device
                    )
                new = sample_next(hand(logits), *how(temperature, top_k, top_p), generator)
                ids = append(seen if keep == "seen" else ids, new)
        after(model, was)
        return ids[:, T:] if keep == "new" else ids

    return generate


def newest_only_after_the_first(ids, n, prompt, step):
    return ids[:, -1:] if step else ids[:, -n:]


def append_in_place(ids, new):
    ids[:, 0] += 0 * new
    longer = torch.cat([ids, new[:, None]], 1)
    ids[:, -1] = new
    return longer


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
        sample_ascending,
        sample_among_candidates,
        Sampler(),
    ],
    "generate": [
        generate_into_a_buffer,
        generate_recursively,
        generation(),
        generate_by_lists,
        generate_by_columns,
        Writer(),
    ],
}

WRONG = {
    "sample_next": {
        "squeeze": sample_squeezed,
        "draws with a clone": sample_with_a_clone,
        "draws with its seed": sample_with_its_seed,
        "divides_by_0": sample(at_0=None),
        "zero_draws": sample(at_0=drawn_undivided),
        "always_greedy": sample(greedy=True),
        "temperature_multiplied": sample(heat=lambda z, t: z * t),
        "temperature_ignored": sample(heat=lambda z, t: z),
        "temperature_twice": sample(heat=lambda z, t: z / t / t),
        "top_k_ignored": sample(use_k=False),
        "top_p_ignored": sample(use_p=lambda top_k: False),
        "top_p_skipped_after_top_k": sample(use_p=lambda top_k: top_k is None),
        "p_is_cut": sample(p_of=lambda top_p: 1 - top_p),
        "one_more_than_k": sample(k_off=1),
        "one_less_than_k": sample(k_off=-1),
        "k_least_likely": sample(k_cut=lambda z, k: z > z.sort(-1).values[:, k - 1, None]),
        "k_are_cut": sample(k_cut=all_but_k),
        "one_threshold_for_all_rows": sample(k_cut=lambda z, k: z < z.topk(k).values.min()),
        "bound_of_one_row": sample(k_cut=lambda z, k: z < z.topk(k).values[0, -1]),
        "rank_for_id_with_top_k": sample(k_ranks=True),
        "rank_for_id_with_top_p": sample(p_ranks=True),
        "rank_for_id": sample(ranks=True),
        "top_k_filled_with_0": sample(fill_k=0.0),
        "top_p_filled_with_0": sample(fill_p=0.0),
        "filled_with_0": sample(fill_k=0.0, fill_p=0.0),
        "crossing_dropped": sample(beyond=lambda p, top_p: p.cumsum(-1) > top_p),
        "crossing_dropped_but_first": sample(beyond=crossing_dropped_but_first),
        "logits_summed": sample(of_logits=True),
        "one_more_than_p": sample(beyond=one_too_many),
        "tail_kept": sample(descending=False),
        "not_put_back": sample(put_back=False),
        "put_back_forwards": sample(put_back="forwards"),
        "values_back_forwards": sample(put_back="values"),
        "p_before_k": sample(p_first=True),
        "p_before_temperature": sample(raw_p=True),
        "all_alike": sample(flat=True),
        "softmax_twice": sample(twice=True),
        "softmax_over_rows": sample(dim=0),
        "last_softmax_over_rows": sample(draw_dim=0),
        "softmax_first": softmax_first,
        "not_sorted": not_sorted,
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
        "first_position": generation(position=lambda prompt: 0),
        "position_of_the_prompt": generation(position=lambda prompt: prompt - 1),
        "not_cropped": generation(see=lambda ids, *_: ids),
        "first_tokens_seen": generation(see=lambda ids, n, *_: ids[:, :n]),
        "cropped_too_short": generation(see=lambda ids, n, *_: ids[:, 1 - n :]),
        "newest_not_seen": generation(see=lambda ids, n, *_: ids[:, :-1][:, -n:]),
        "newest_cut_off": generation(see=lambda ids, n, *_: ids[:, -n:][:, :-1]),
        "newest_only": generation(see=lambda ids, *_: ids[:, -1:]),
        "newest_only_after_the_first": generation(see=newest_only_after_the_first),
        "window_of_the_prompt": generation(see=lambda ids, n, prompt, step: ids[:, -prompt:]),
        "prompt_lost": generation(keep="seen"),
        "new_only": generation(keep="new"),
        "one_short": generation(rounds=lambda T, n, new: new - 1),
        "one_too_many": generation(rounds=lambda T, n, new: new + 1),
        "one_token_only": generation(rounds=lambda T, n, new: min(1, new)),
        "prompt_counted": generation(rounds=lambda T, n, new: new - T),
        "stops_when_full": generation(rounds=lambda T, n, new: min(new, n - T)),
        "one_pass_only": generation(once=True),
        "dropout_on": generation(before=lambda model: None),
        "stays_in_eval": generation(after=lambda model, was: model.eval()),
        "always_train_after": generation(after=lambda model, was: model.train()),
        "always_greedy": generation(how=lambda t, k, p: (0, k, p)),
        "nothing_passed": generation(how=lambda t, k, p: (1.0, None, None)),
        "temperature_not_passed": generation(how=lambda t, k, p: (1.0, k, p)),
        "probabilities_handed_over": generation(hand=lambda logits: logits.softmax(-1)),
        "top_k_not_passed": generation(how=lambda t, k, p: (t, None, p)),
        "top_p_not_passed": generation(how=lambda t, k, p: (t, k, None)),
        "gradients recorded": generation(grad=True),
        "generator not passed": generation(draw_with=lambda generator: None),
        "cache changes the tokens": generation(cache=lambda use: 0 if use else 0.5),
        "changes the prompt": generation(append=append_in_place),
    },
}
