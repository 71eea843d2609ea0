"""The forward pass of the running example in six stages, for any sentence of its words."""

import torch

from autograder import example
from course_site.interactives import model_parts as parts
from course_site.interactives.model_parts import best, quoted
from course_site.interactives.parts import Drawing, button, choice, escape, fixed, measure, out

TITLE = "The forward pass of a GPT-2 of one block, number by number"
NEEDS = ("attention", "gpt2")
STYLES = ("model",)

WORDS = example.sentence
T, T_MAX = len(WORDS), example.config["n_positions"]
D, V, H = example.config["d_model"], len(example.words), example.config["n_head"]
CHOSEN, HEAD = T - 1, 0
X1 = "X<sup>(1)</sup>"

STAGES = (  # name, colour, columns of what comes out, what happens
    (
        "Embed",
        "stream",
        D,
        "Each word becomes the sum of two rows of numbers: that of its id in the token table E, and "
        "that of its position in the position table P. This is the stream that the block will add to.",
    ),
    (
        "LN",
        "norm",
        D,
        "LayerNorm: a copy of the stream is normalised, each position by itself, before attention "
        "reads it. The stream itself stays as it was.",
    ),
    (
        "Attention",
        "attention",
        D,
        "Here, and nowhere else, positions exchange something. Each of the two heads compares the "
        "query of a position with the keys of all up to it, and mixes their values by the weights.",
    ),
    (
        "Residual",
        "stream",
        D,
        "What attention wrote is added to the stream that went round it.",
    ),
    (
        "FFN",
        "ffn",
        D,
        "The sum is normalised again (a copy, as before), widened to 24 hidden units, sent through "
        "GELU, narrowed to 6 numbers, and added. Each position is treated alone.",
    ),
    (
        "Unembed",
        "ink",
        V,
        "The last LayerNorm, then a dot product with the row of every word in E (the table of stage "
        "1 again), then softmax: for each position, the probability of every word to come next.",
    ),
)
W_UP, B_UP = (parts.WEIGHTS[f"blocks.0.ffn.{name}"] for name in ("W_up", "b_up"))
ALIVE = (W_UP.any(0) | (B_UP != 0)).nonzero().flatten().tolist()  # the other units are always 0


def length(x):
    return fixed(x.norm().item(), 2)


def said(s, words, t, head):
    """What is to be seen at position t, a sentence for each stage; said() of forward-pass.js."""
    word, x, attn = quoted(words[t]), s["X0"][t], s["attn_0"][t]
    yield (
        f"{word} has the id {example.words.index(words[t])} and stands at position {t}: two rows are "
        "added, and no position knows of another yet."
    )
    yield (
        f"The {D} numbers of {word} have the mean {fixed(x.mean().item(), 2)} and the deviation "
        f"{fixed(x.std(correction=0).item(), 2)}. They are brought to 0 and 1, then γ and β, which "
        "were learnt, scale and shift each entry."
    )
    yield f"Head {head}: {parts.told(words, s['A_0'][head, t].tolist(), t)}"
    i = best(attn.abs().tolist())[0]
    yield (
        f"Attention adds a vector of length {length(attn)} to one of length {length(x)}. Entry {i} "
        f"changes most, by {fixed(attn[i].item(), 2)}; nothing is overwritten."
    )
    j = best(s["act_0"][t].tolist())[0]
    yield (
        f"{len(ALIVE)} of the {4 * D} hidden units are at work, the others are 0 for every word. For "
        f"{word} the largest is unit {j}, {fixed(s['act_0'][t, j].item(), 2)}. The FFN adds a vector "
        f"of length {length(s['ffn_0'][t])}."
    )
    first, second = (
        (example.words[i], s["probs"][t, i].item()) for i in best(s["probs"][t].tolist())[:2]
    )
    yield (
        f"After {quoted(' '.join(words[: t + 1]))} the likeliest next word is {quoted(first[0])}, with "
        f"probability {fixed(first[1], 3)}, and then {quoted(second[0])} with {fixed(second[1], 3)}."
    )


def words_row(prefix):
    """The sentence as menus, as many as there are positions; those beyond its end are hidden."""
    menus = ""
    for t in range(T_MAX):
        word = WORDS[t] if t < T else example.words[0]
        options = "".join(
            f'<option value="{i}"{" selected" if each == word else ""}>{escape(each)}</option>'
            for i, each in enumerate(example.words)
        )
        menus += (
            f'<span class="tf-word" data-place="{t}"{"" if t < T else " hidden"}>'
            f'<span id="{prefix}-at-{t}">{t}</span><span class="tf-entry"><select data-name="w-{t}" '
            f'aria-labelledby="{prefix}-words {prefix}-at-{t}" autocomplete="off">{options}</select>'
            f'{out(f"w-{t}", word, classes="tf-text")}</span></span>'
        )
    return (
        f'<div class="tf-sentence"><span class="tf-label" id="{prefix}-words">The sentence</span>'
        f'{menus}</div><div class="tf-foot">{button("append", "Append the likeliest next word")}'
        f'{button("remove", "Remove the last word")}</div>'
    )


def strip():
    """The stages at a glance, with the shape of what each hands on."""
    items = ""
    for i, (name, hue, columns, _) in enumerate(STAGES):
        inside = f'<strong>{i + 1} {name}</strong> {out(f"shape-{i}", f"({T}, {columns})")}'
        items += (
            f'<li class="tf-entry tf-hue-{hue}"><button type="button" class="tf-stage" '
            f'data-action="stage-{i}"{" aria-current=step" if i == 0 else ""}>{inside}</button>'
            f'<span class="tf-text">{inside}</span></li>'
        )
    return (
        f'<ol class="tf-strip" aria-label="Stages">{items}</ol><div class="tf-foot">'
        f'{button("previous", "Previous")}{button("next", "Next")}</div>'
    )


def embed(s, t):
    rows = {
        f"E[{out('id', example.words.index(WORDS[t]))}]": s["tokens"][t],
        f"P[{out('t', t)}]": s["places"][t],
        "sum": s["X0"][t],
    }
    return parts.by_name(
        "embed", rows, f"{out('name', quoted(WORDS[t]))}, from two tables", "stream"
    )


def norm_steps(s, t):
    x = s["X0"][t]
    normalised = torch.nn.functional.layer_norm(x, x.shape)
    rows = {"x": x, "x − μ": x - x.mean(), "÷ √(σ² + ε)": normalised, "· γ + β": s["ln_1_0"][t]}
    return parts.by_name("norm", rows, f"{out('name', quoted(WORDS[t]))}, step by step", "norm")


def triple(key, values):
    """A short vector in one cell, which may break between its numbers."""
    return f"({', '.join(out(f'{key}-{i}', fixed(x, 2)) for i, x in enumerate(values))})"


def look(s, t, head):
    """One head at one position: keys, scores, weights and values of all positions."""
    empty = [0.0] * (D // H)
    lines = ""
    for i in range(T_MAX):
        here = i < T
        k, v = (s[name][head, i].tolist() if here else empty for name in ("K_0", "V_0"))
        seen = here and i <= t
        score, weight = (s[n][head, t, i].item() if seen else 0 for n in ("S_0", "A_0"))
        cells = (
            f'<td>{triple(f"k-{i}", k)}</td>{out(f"score-{i}", fixed(score, 2) if seen else "masked", "td")}'
            f'{parts.tinted(f"weight-{i}", fixed(weight, 2) if seen else "masked", weight)}'
            f'<td>{triple(f"v-{i}", v)}</td>'
        )
        lines += (
            f'<tr data-row="{i}" data-look="{i}"{"" if here else " hidden"}>'
            f'<th scope="row">{i} {out(f"word-{i}", WORDS[i] if here else "")}</th>{cells}</tr>'
        )
    columns = ("key k<sub>s</sub>", "score", "weight", "value v<sub>s</sub>")
    caption = (
        f"Head {out('head-name', head)} at {out('name', quoted(WORDS[t]))}: its query q = "
        f"{triple('q', s['Q_0'][head, t].tolist())}; score = q · k<sub>s</sub> / √3"
    )
    mixed = triple("mixed", s["heads_0"][head, t].tolist())
    last = f'<tr><th scope="row">sum</th><td colspan="3">weight · value</td><td>{mixed}</td></tr>'
    table = parts.open_table(caption, columns, "position", "tf-hue-attention tf-look")
    return f"{table}{lines}{last}</tbody></table>"


def write(s, t):
    rows = {f"head {h}": s["writes_0"][h, t] for h in range(H)}
    rows |= {"b<sub>O</sub>": parts.WEIGHTS["blocks.0.attn.b_O"], "sum": s["attn_0"][t]}
    caption = f"What both heads write for {out('name', quoted(WORDS[t]))}, after W<sub>O</sub>"
    return parts.by_name("write", rows, caption, "attention")


def residual(s, t):
    rows = {"stream": s["X0"][t], "+ attention": s["attn_0"][t], "sum": s["mid_0"][t]}
    return parts.by_name(
        "residual", rows, f"{out('name', quoted(WORDS[t]))}: an addition", "stream"
    )


def ffn(s, t):
    units = {"before GELU": s["up_0"][t, ALIVE], "after GELU": s["act_0"][t, ALIVE]}
    rows = {
        "stream": s["mid_0"][t],
        "its LN": s["ln_2_0"][t],
        "+ FFN": s["ffn_0"][t],
        "sum": s["X1"][t],
    }
    name = out("name", quoted(WORDS[t]))
    return parts.by_name(
        "units",
        units,
        f"{name}: the hidden units that are at work",
        "ffn",
        [f"unit {j}" for j in ALIVE],
    ) + parts.by_name("ffn", rows, f"{name}: normalised, and added to", "stream")


def unembed(s, t):
    rows = "".join(
        f'<tr><th scope="row">{escape(word)}</th>{out(f"logit-{i}", fixed(s["logits"][t, i].item(), 2), "td")}'
        f'<td>{measure(f"p-{i}", fixed(s["probs"][t, i].item(), 3), s["probs"][t, i].item(), "tf-stream")}'
        "</td></tr>"
        for i, word in enumerate(example.words)
    )
    caption = f"What comes after {out('name', quoted(WORDS[t]))}"
    final = parts.by_name(
        "final", {"LN": s["ln_f"][t]}, f"{out('name', quoted(WORDS[t]))}, the last time", "norm"
    )
    table = parts.open_table(caption, ("logit", "probability"), "next word")
    return f"{final}{table}{rows}</tbody></table>"


DETAILS = (embed, norm_steps, lambda s, t: look(s, t, HEAD) + write(s, t), residual, ffn, unembed)
TABLES = (  # key, stage of the trace, colour, caption
    ("X0", "X0", "stream", "X<sup>(0)</sup>, the stream that enters the block"),
    ("ln", "ln_1_0", "norm", "LN(X<sup>(0)</sup>), what attention reads"),
    ("attn", "attn_0", "attention", "What attention writes"),
    ("mid", "mid_0", "stream", "The stream after attention"),
    ("X1", "X1", "stream", f"{X1}, the stream that leaves the block"),
    ("probs", "probs", "ink", "Probabilities of the next word, for every position"),
)


def panel(prefix, i, s, sentence):
    name, _, _, note = STAGES[i]
    key, stage, hue, caption = TABLES[i]
    columns = range(D)
    if key == "probs":
        columns = [f"<span>{escape(word)}</span>" for word in example.words]
        hue += " tf-words"
    shape = out(f"shape-{i}", f"({T}, {s[stage].shape[1]})")
    table = parts.by_position(
        prefix, key, s[stage], WORDS, CHOSEN, f"{caption}, {shape}", columns, hue
    )
    heads = {h: f"head {h}" for h in range(H)}
    chooser = choice(prefix, "head", "look into", heads, HEAD) if i == 2 else ""
    return (
        f'<section class="tf-panel" data-stage="{i}" aria-labelledby="{prefix}-stage-{i}"'
        f'{" hidden" if i else ""}><p class="tf-panel-title" id="{prefix}-stage-{i}">'
        f"{i + 1} of {len(STAGES)}: {name}</p><p>{note}</p>{table}{chooser}{DETAILS[i](s, CHOSEN)}"
        f'{out(f"said-{i}", sentence, "p", "tf-paper")}</section>'
    )


def draw(prefix):
    s = parts.stages(WORDS)
    sentences = list(said(s, WORDS, CHOSEN, HEAD))
    hidden = "".join(
        f'<input type="hidden" data-name="{name}" value="{value}" autocomplete="off">'
        for name, value in (("stage", 0), ("T", T))
    )
    panels = "".join(panel(prefix, i, s, sentences[i]) for i in range(len(STAGES)))
    data = {**parts.model(), "alive": ALIVE}
    sizes = (
        f'<p class="tf-note">T = {out("T", T)} positions (at most {T_MAX}), d = {D} numbers each, H = {H} '
        f"heads of d<sub>k</sub> = {D // H}, d<sub>ff</sub> = {4 * D} hidden units, V = {V} words.</p>"
    )
    return Drawing(f"{sizes}{words_row(prefix)}{strip()}{hidden}{panels}", sentences[0], data)
