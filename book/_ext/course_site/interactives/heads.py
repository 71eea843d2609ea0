"""What heads attend to: four heads designed by hand, and the two of the trained example."""

from html import escape

import torch
from torch.nn.functional import scaled_dot_product_attention

from autograder import example
from course_site.interactives import model_parts as parts
from course_site.interactives.parts import Drawing, fixed, plain

TITLE = "Attention heads, one row at a time"
NEEDS = ("attention",)
STYLES = ("model",)

WORDS = example.sentence
T = len(WORDS)
KINDS = {"the": "article", "owl": "noun", "mouse": "noun", "saw": "verb"}


def ask(wanted, features):
    """A query: a number for each feature that it asks for, 0 for the others."""
    return [float(wanted.get(feature, 0)) for feature in features]


def positional():
    """The key says where a position is, the query asks for the place before."""
    places = range(T)
    queries = [ask({t - 1: 9}, places) for t in places]
    return queries, [ask({s: 1}, places) for s in places]


def syntactic():
    """The key says what kind of word it is, the query asks for the kind that it depends on."""
    kinds = ("article", "noun", "verb")
    asks = {"article": {"verb": 8}, "noun": {"verb": 8, "article": 3}, "verb": {"noun": 8}}
    queries = [ask(asks[KINDS[word]], kinds) for word in WORDS]
    return queries, [ask({KINDS[word]: 1}, kinds) for word in WORDS]


def duplicate():
    """The key says which word it is and how late it comes; the query likes its word, and early."""
    vocabulary = list(dict.fromkeys(WORDS))
    queries = [ask({word: 12}, vocabulary) + [-2.0] for word in WORDS]
    return queries, [ask({word: 1}, vocabulary) + [float(s)] for s, word in enumerate(WORDS)]


def everywhere():
    """All queries are 0, so all scores are 0, and softmax makes them equal."""
    return [[0.0]] * T, [[1.0]] * T


DESIGNED = {  # name: maker, what it does, what the numbers of its vectors stand for
    "Positional": (
        positional,
        "Every position looks at the one before it. The first has none, and keeps to itself.",
        "one number for each position",
    ),
    "Syntactic": (
        syntactic,
        "A verb looks at its subject, an object at its verb, a noun without a verb before it at its "
        "article. An article cannot see its noun, which comes later: it looks at the verb whose "
        "object it opens.",
        "article, noun, verb",
    ),
    "Duplicate-token": (
        duplicate,
        "A word looks at its earlier copy; a word that is new looks at itself.",
        f"{', '.join(dict.fromkeys(WORDS))}, and the place",
    ),
    "Global": (
        everywhere,
        "Every position gives the same weight to all that it sees: the mean of the sentence so far.",
        "a single number",
    ),
}


def weigh(queries, keys):
    """Causal attention weights (T, T): with the identity as values, they are the output."""
    q, k = (torch.tensor(x, dtype=torch.float64)[None] for x in (queries, keys))
    eye = torch.eye(len(queries), dtype=torch.float64)[None]
    return scaled_dot_product_attention(q, k, eye, is_causal=True)[0]


def vector(values):
    return f"({', '.join(plain(round(x, 2) + 0.0) for x in values)})"


def head(name, does, features, queries, keys, weights):
    """One head as JSON. weights: (T, T)."""
    return {
        "name": name,
        "does": does,
        "features": features,
        "queries": [vector(q) for q in queries],
        "keys": [vector(k) for k in keys],
        "weights": [[round(a, 9) for a in row] for row in weights.tolist()],
    }


def designed():
    for name, (make, does, features) in DESIGNED.items():
        queries, keys = make()
        yield head(name, does, features, queries, keys, weigh(queries, keys))


def look_back(weights):
    """The largest weight that goes to an earlier position: (t, s)."""
    return divmod(int(weights.tril(-1).argmax()), len(weights))


def trained():
    found = parts.stages(WORDS)
    for h, weights in enumerate(found["A_0"]):
        t, s = look_back(weights)
        does = (
            f"Nobody designed this head: it was learnt. Its strongest look back is that of “{WORDS[t]}” "
            f"(position {t}) at “{WORDS[s]}” ({s})."
        )
        queries, keys = found["Q_0"][h].tolist(), found["K_0"][h].tolist()
        yield head(f"Head {h}", does, "learnt directions without names", queries, keys, weights)


def data():
    """The JSON from which all is drawn; that of another model shows its heads."""
    groups = {"Designed by hand": designed(), "Trained example": trained()}
    listed = [{"name": name, "heads": list(heads)} for name, heads in groups.items()]
    return {"words": WORDS, "groups": listed}


def grid(prefix, words, shown, chosen):
    """The heat map: a row for each query."""
    rows = ""
    for t, row in enumerate(shown["weights"]):
        label = f"{t} {escape(words[t])}"
        cells = "".join(
            (
                f'<td class="tf-tinted" style="--tf-share:{a:.4g}">{fixed(a, 2)}</td>'
                if s <= t
                else parts.masked()
            )
            for s, a in enumerate(row)
        )
        rows += (
            f'<tr data-row="{t}"{" class=tf-chosen" if t == chosen else ""}>'
            f"{parts.row_choice(prefix, 'row', t, label, t == chosen)}{cells}</tr>"
        )
    columns = [f"<span>{s}</span> <span>{escape(word)}</span>" for s, word in enumerate(words)]
    caption = (
        f"<strong>{escape(shown['name'])}.</strong> Weights, from the position of the row to that of "
        "the column; a row sums to 1"
    )
    return (
        '<div role="radiogroup" aria-label="Row that is told in words">'
        f"{parts.open_table(caption, columns, 'from', 'tf-even tf-map tf-hue-attention')}{rows}</tbody></table></div>"
    )


def made_of(words, shown):
    """The queries and keys, folded."""
    rows = "".join(
        f'<tr><th scope="row">{t} {escape(word)}</th><td>{q}</td><td>{k}</td></tr>'
        for t, (word, q, k) in enumerate(zip(words, shown["queries"], shown["keys"]))
    )
    return (
        f'<details><summary>Its queries and keys</summary><p class="tf-note">Numbers: '
        f"{escape(shown['features'])}. The score is q · k / √d<sub>k</sub>.</p>"
        '<table class="tf-table tf-vectors"><thead><tr><th scope="col">position</th>'
        f'<th scope="col">query</th><th scope="col">key</th></tr></thead><tbody>{rows}</tbody>'
        "</table></details>"
    )


def panel(prefix, i, words, shown, chosen):
    return (
        f'<div class="tf-panel" role="tabpanel" id="{prefix}-panel-{i}" data-head="{i}" '
        f'aria-labelledby="{prefix}-tab-{i}"{" hidden" if i else ""}>'
        f"{grid(f'{prefix}-row-{i}', words, shown, chosen)}"
        f"<p>{escape(shown['does'])}</p>{made_of(words, shown)}</div>"
    )


def tab(prefix, i, name, on):
    return (
        f'<button type="button" role="tab" class="tf-button" data-action="head-{i}" '
        f'id="{prefix}-tab-{i}" aria-controls="{prefix}-panel-{i}" '
        f'aria-selected="{str(i == 0).lower()}" tabindex="{0 if on else -1}">{escape(name)}</button>'
    )


def drawing(prefix, data):
    words, chosen = data["words"], len(data["words"]) - 1
    tabs, panels, i = "", "", 0
    for g, group in enumerate(data["groups"]):
        buttons = ""
        for at, shown in enumerate(group["heads"]):
            buttons += tab(prefix, i, shown["name"], at == 0)
            panels += panel(prefix, i, words, shown, chosen)
            i += 1
        key = f"{prefix}-group-{g}"
        tabs += (
            f'<div class="tf-field tf-switcher"><span class="tf-label" id="{key}">{escape(group["name"])}'
            f'</span><div class="tf-tabs" role="tablist" aria-labelledby="{key}">{buttons}</div></div>'
        )
    first = data["groups"][0]["heads"][0]
    hidden = '<input type="hidden" data-name="head" value="0" autocomplete="off">'
    finding = f"{first['name']}: {parts.told(words, first['weights'][chosen], chosen)}"
    return Drawing(tabs + hidden + panels, finding, data)


def draw(prefix):
    return drawing(prefix, data())
