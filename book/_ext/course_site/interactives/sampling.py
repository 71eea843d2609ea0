"""One token from a row of logits: temperature, top-k, top-p, and a number that falls on a line."""

import math

import torch

from autograder import example
from course_site.interactives import model_parts as parts
from course_site.interactives.model_parts import NBSP, best, percent, quoted
from course_site.interactives.parts import (
    Drawing,
    button,
    choice,
    count,
    field_row,
    fixed,
    measure,
    out,
    plain,
)

TITLE = "From a row of logits to a word"
STYLES = ("model",)

CONTEXTS = ("the", "the owl", "the owl saw the")
CONTEXT, TAU, K, P, N = 2, 1, len(example.words), 0.9, 100
SEED, MOST = 8, 10_000
VISIBLE = 0.16  # the narrowest piece that has room for its word

NOTE = (
    "“Before” is the sum of the likelier words, of those that k leaves and scaled to sum to 1: p "
    "keeps a word while this is less than p."
)
LINE = (
    "The line is made of the words that are kept. “Draw” takes the next u from a generator. The table "
    "counts what the first n numbers of that generator give, always with the settings above."
)


def logits_after(text):
    """(V,) with nine decimals, so that words that are used alike tie exactly."""
    return [round(z, 9) for z in parts.stages(text)["logits"][-1].tolist()]


def uniform(i):
    """The i-th number of the generator; uniform() of math.js."""
    bits = 0xFFFFFFFF
    a = (SEED + i * 0x6D2B79F5) & bits
    t = (a ^ a >> 15) * (a | 1) & bits
    t = (t + (t ^ t >> 7) * (t | 61) & bits) ^ t
    return math.floor((t ^ t >> 14) / 2**32 * 1e6) / 1e6


def cuts(tempered):
    """What stays of shares in descending order, for K and P: the sums before them, and the new ones."""
    left = tempered[:K] / tempered[:K].sum()
    before = left.cumsum(0) - left
    left = left * (before < P)
    return before, left / left.sum()


def standard_error(p):
    """Of the share of a word with probability p in N draws."""
    return (p * (1 - p) / N) ** 0.5


def row(rank, word, model, tempered, before, after):
    kept = after > 0
    return (
        f'<tr data-row="{rank}" class="{"" if kept else "tf-unseen-row"}">'
        f'<th scope="row">{out(f"word-{rank}", word)}</th>'
        f'{out(f"model-{rank}", fixed(model, 3), "td")}'
        f'<td>{measure(f"tempered-{rank}", fixed(tempered, 3), tempered, "tf-ink")}</td>'
        f'{out(f"before-{rank}", fixed(before, 3), "td")}'
        f'{out(f"verdict-{rank}", "kept" if kept else f"cut by{NBSP}p", "td")}'
        f'<td>{measure(f"after-{rank}", fixed(after, 3), after, "tf-stream")}</td></tr>'
    )


def piece(rank, word, share, fallen):
    return (
        f'<span class="tf-part tf-{"stream" if fallen else "muted"}" data-bar="piece-{rank}" '
        f'style="--tf-share:{share:.6g}">{out(f"piece-{rank}", word if share >= VISIBLE else "")}</span>'
    )


def draws(words, counts, after):
    """The table of the draws, with a column for each word."""
    rows = {
        "draws": ("count", counts),
        "share": ("share", [fixed(100 * times / N, 1) for times in counts]),
        "expected": ("expected", [fixed(100 * p, 1) for p in after]),
        "standard error": ("error", [fixed(100 * standard_error(p), 1) for p in after]),
    }
    columns = [out(f"word-{rank}", word) for rank, word in enumerate(words)]
    lines = "".join(
        f'<tr><th scope="row">{label}</th>'
        + "".join(out(f"{key}-{rank}", text, "td") for rank, text in enumerate(texts))
        + "</tr>"
        for label, (key, texts) in rows.items()
    )
    table = parts.open_table(
        "The n draws, and their shares in percent", columns, "word", "tf-even tf-words tf-draws"
    )
    return f"{table}{lines}</tbody></table>"


def settings(prefix):
    return (
        choice(prefix, "context", "after", dict(enumerate(CONTEXTS)), CONTEXT)
        + field_row(
            prefix, "temperature", "temperature τ", TAU, 0, 5, 0.1, spoken="The temperature τ"
        )
        + field_row(
            prefix, "k", "k of top-k", K, 1, len(example.words), 1, entry_step=1, spoken="k"
        )
        + field_row(prefix, "p", "p of top-p", P, 0.01, 1, 0.01, spoken="p")
    )


def line(prefix, words, after, u, fallen):
    """The kept words from 0 to 1, the place of u, and the controls that draw."""
    pieces = "".join(piece(i, words[i], p, i == fallen) for i, p in enumerate(after))
    draws_n = field_row(
        prefix, "n", "draws n", N, 0, MOST, 100, entry_step=1, spoken="The number of draws n"
    )
    return (
        f'<div class="tf-line" aria-hidden="true"><div class="tf-stack">{pieces}</div>'
        f'<span class="tf-throw" data-bar="u" style="--tf-share:{u}"></span>'
        f'<div class="tf-ends"><span>0</span><span>u = {out("u", plain(u))}: '
        f'{out("drawn", words[fallen])}</span><span>1</span></div></div>'
        + field_row(prefix, "u", "number u", u, 0, 1, 0.001, spoken="u")
        + f'<div class="tf-foot">{button("draw", "Draw")}{button("draw-100", "Draw 100")}</div>'
        f'<p class="tf-note">{LINE}</p>{draws_n}'
    )


def told(words, tempered, after, u, fallen, counts):
    """What is to be seen; findCuts() and findDraws() of sampling.js say it of any state."""
    stay = sum(p > 0 for p in after)
    return (
        f"{stay} of the {len(words)} words stay, with {fixed(sum(tempered[:stay]), 3)} of the "
        f"probability: p cuts {len(words) - stay}. u = {plain(u)} falls in the piece of "
        f"{quoted(words[fallen])}. {count(counts[0])} of {count(N)} draws are {quoted(words[0])}, "
        f"{percent(counts[0] / N, 1)}; {percent(after[0], 1)} are expected, with a standard error of "
        f"{percent(standard_error(after[0]), 1)}."
    )


def draw(prefix):
    logits = [logits_after(text) for text in CONTEXTS]
    order = best(logits[CONTEXT])
    words = [example.words[i] for i in order]
    ranked = torch.tensor([logits[CONTEXT][i] for i in order], dtype=torch.float64)
    tempered = (ranked / TAU).softmax(0)
    before, after = cuts(tempered)
    numbers = [uniform(i) for i in range(1, N + 1)]
    drawn = torch.searchsorted(after.cumsum(0), torch.tensor(numbers, dtype=torch.float64)).tolist()
    u, fallen = numbers[-1], drawn[-1]
    counts = [drawn.count(rank) for rank in range(len(words))]
    columns = [each.tolist() for each in (ranked.softmax(0), tempered, before, after)]
    rows = "".join(row(i, *each) for i, each in enumerate(zip(words, *columns)))
    _, tempered, _, after = columns
    heads = ("model", "after τ", "before", "verdict", "drawn with")
    table = parts.open_table("Probabilities of the next word", heads, "word", "tf-even tf-cuts")
    body = (
        f'{settings(prefix)}{table}{rows}</tbody></table><p class="tf-note">{NOTE}</p>'
        f"{line(prefix, words, after, u, fallen)}{draws(words, counts, after)}"
    )
    finding = told(words, tempered, after, u, fallen, counts)
    return Drawing(body, finding, {"words": example.words, "logits": logits, "seed": SEED})
