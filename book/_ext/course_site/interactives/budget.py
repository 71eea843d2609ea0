"""Where the parameters of a GPT-2 sit, exactly, and how good 12 d^2 L is."""

from autograder.oracle.architecture import FIELDS, SIZES, count_parameters

from course_site.interactives.parts import Drawing, button, count, field_row, fixed, out, switch

TITLE = "The parameter budget of a GPT-2"

PARTS = {  # key of count_parameters: name, formula, colour
    "token_embedding": ("token table", "V d", "stream"),
    "position_embedding": ("position table", "1,024 d", "muted"),
    "attention": ("attention", "L (4d² + 4d)", "attention"),
    "feedforward": ("feedforward", "L (8d² + 5d)", "ffn"),
    "layer_norm": ("layer norms", "(2L + 1) 2d", "norm"),
    "unembedding": ("unembedding", "V d (tied: 0)", "ink"),
}
VISIBLE = 0.04  # the narrowest segment that has room for its number


def presets():
    rest = {"V": FIELDS["vocab_size"], "tied": True}
    return {name: {"d": d, "L": L, **rest} for name, (L, _, d) in SIZES.items()}


def percent(part, whole, digits):
    return f"{fixed(100 * part / whole, digits)}\N{NO-BREAK SPACE}%"


def segment(i, part, parameters, total):
    share = parameters / total
    mark = out(f"mark-{part}", "" if share < VISIBLE else i)
    return (
        f'<span class="tf-part tf-{PARTS[part][2]}" data-bar="{part}" '
        f'style="--tf-share:{share:.6g}">{mark}</span>'
    )


def row(i, part, parameters, total):
    name, formula, colour = PARTS[part]
    return (
        f'<tr><th scope="row" class="tf-keyed"><span class="tf-part tf-key tf-{colour}">'
        f"<span>{i}</span></span> "
        f'{name} <span class="tf-formula">{formula}</span></th>'
        f"{out(part, count(parameters), 'td')}"
        f'{out(f"share-{part}", percent(parameters, total, 2), "td")}</tr>'
    )


def draw(prefix):
    sizes = presets()["small"]
    d, L, V = sizes["d"], sizes["L"], sizes["V"]
    counts = {key: int(n) for key, n in count_parameters(FIELDS).items()}
    total = counts.pop("total")
    rule = 12 * d * d * L
    blocks = counts["attention"] + counts["feedforward"] + 4 * d * L
    tables = counts["token_embedding"] + counts["position_embedding"] + counts["unembedding"]
    numbered = [(i, part, counts[part]) for i, part in enumerate(PARTS, 1)]
    buttons = "".join(button(name, f"GPT-2 {name}", name == "small") for name in SIZES)
    compared = "".join(
        f'<tr><th scope="row">{label}</th>{out(key, count(n), "td")}'
        f'{out(f"{key}-error", percent(rule - n, n, 2), "td")}</tr>'
        for key, label, n in (("total", "whole model", total), ("blocks", "its blocks", blocks))
    )
    body = (
        f'<div class="tf-foot">{buttons}</div>'
        + field_row(
            prefix,
            *("d", "width d", d, 1, 4096, 64),
            entry_step=1,
            slider_low=64,
            spoken="The width d",
        )
        + field_row(
            prefix, "L", "blocks L", L, 1, 96, 1, entry_step=1, spoken="The number of blocks L"
        )
        # 256 bytes, the end of the text, and as many merges as one likes: 50,000 in GPT-2
        + field_row(
            prefix,
            *("V", "vocabulary V", V, 1, 150257, 1000),
            entry_step=1,
            slider_low=257,
            spoken="The vocabulary V",
        )
        + switch("tied", "unembedding tied to the token table", True)
        + '<div class="tf-stack" aria-hidden="true">'
        + "".join(segment(*each, total) for each in numbered)
        + '</div><table class="tf-table"><thead><tr><th scope="col">part</th>'
        '<th scope="col">parameters</th><th scope="col">share</th></tr></thead><tbody>'
        + "".join(row(*each, total) for each in numbered)
        + '</tbody></table><table class="tf-table"><thead><tr><th scope="col">12 d² L = '
        f'{out("rule", count(rule))}</th><th scope="col">exact</th>'
        f'<th scope="col">error of 12 d² L</th></tr></thead><tbody>{compared}</tbody></table>'
    )
    finding = (
        f"GPT-2 small has {count(total)} parameters, {percent(blocks, total, 1)} of them in its "
        f"blocks. 12 d² L counts only the matrices there, and is {percent(total - rule, total, 1)} "
        f"below the total: the tables make up {percent(tables, total - rule, 1)} of the difference."
    )
    return Drawing(body, finding, {"presets": presets()})
