"""The causal mask: change a word, and see which positions compute something else."""

from autograder import example
from course_site.interactives import model_parts as parts
from course_site.interactives.model_parts import best, quoted
from course_site.interactives.parts import (
    Drawing,
    choice,
    escape,
    fixed,
    measure,
    out,
    small,
    switch,
)

TITLE = "Change a word: who notices?"
NEEDS = ("gpt2",)
STYLES = ("model",)

WORDS = example.sentence
PLACE, WORD = 4, "cat"  # what is changed first


def difference(x):
    """0 only where it is exactly 0."""
    return "0" if x == 0 else small(x)


def likeliest(probs):
    i = best(probs.tolist())[0]
    return f"{quoted(example.words[i])} {fixed(probs[i].item(), 2)}"


def compare(causal):
    """What every position computes before and after the change, and its largest difference."""
    changed = [WORD if t == PLACE else word for t, word in enumerate(WORDS)]
    before, after = (parts.stages(words, causal) for words in (WORDS, changed))
    differences = (after["X1"] - before["X1"]).abs().amax(-1).tolist()
    return before["probs"], after["probs"], differences


def verdict(t, x):
    if x == 0:
        return "the same"
    return "changed: leak" if t < PLACE else "changed"


def told(differences, causal):
    """What is to be seen; find() of leak.js says it of any state."""
    earlier = max(differences[:PLACE])
    change = f"Position {PLACE} now reads {quoted(WORD)} in place of {quoted(WORDS[PLACE])}. "
    if causal:
        return (
            f"{change}With the mask, positions 0 to {PLACE - 1} compute what they computed before: "
            f"the largest difference is exactly {difference(earlier)}."
        )
    leaking = [t for t in range(PLACE) if differences[t]]
    return (
        f"{change}Without the mask {len(leaking)} of the {PLACE} positions before it change as well, "
        f"by up to {difference(earlier)}: they read what comes after them. This is a leak."
    )


def row(t, word, before, after, x, largest):
    changed = f'{t} {out(f"read-{t}", WORD if t == PLACE else word)}'
    return (
        f'<tr data-row="{t}" class="{"tf-altered" if x else ""}"><th scope="row">{changed}</th>'
        f"{out(f'before-{t}', likeliest(before), 'td')}{out(f'after-{t}', likeliest(after), 'td')}"
        f"<td>{measure(f'difference-{t}', difference(x), x / largest, 'tf-stream')}</td>"
        f"{out(f'verdict-{t}', verdict(t, x), 'td', 'tf-verdict')}</tr>"
    )


def draw(prefix):
    before, after, differences = compare(True)
    rows = "".join(
        row(t, word, before[t], after[t], differences[t], max(differences))
        for t, word in enumerate(WORDS)
    )
    places = {t: f"{t} {word}" for t, word in enumerate(WORDS)}
    vocabulary = dict(enumerate(example.words))
    columns = ("likeliest next word before", "and after", "largest change of x", "verdict")
    body = (
        f'<p class="tf-note">The sentence is “{escape(" ".join(WORDS))}”. x is the stream of a '
        "position when it leaves the block, 6 numbers.</p>"
        + choice(prefix, "place", "change position", places, PLACE)
        + choice(prefix, "word", "into", vocabulary, example.words.index(WORD))
        + switch("causal", "causal mask", True)
        + parts.open_table("What each position computes", columns, "position", "tf-even tf-leak")
        + f"{rows}</tbody></table>"
        + out("other", told(compare(False)[2], False), "p", "tf-paper")
    )
    return Drawing(
        body, told(differences, True), {**parts.model(), "sentence": example.ids.tolist()}
    )
