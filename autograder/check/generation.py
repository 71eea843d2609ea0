"""Chapter 8: the frequencies of the next token, and what `generate` makes of a small model."""

from __future__ import annotations

import numpy as np

from autograder.check.component import (
    Component,
    Fixture,
    Inputs,
    Mistake,
    Property,
    failure,
)
from autograder.check.draw import choice, normal
from autograder.check.properties import any_device, property_of, unchanged
from autograder.check.randomness import generator_decides, same
from autograder.judge import Trouble
from autograder.judge.compare import Tolerance, form
from autograder.oracle import generation as oracle
from autograder.probes import Call
from autograder.probes.plain import Seed

MANY = 10_000  # draws: a frequency has a deviation of at most 0.005
FREQUENCIES = Tolerance(0.0, 0.03)

# ------------------------------------------------------------------ sample_next

# Probabilities whose sums lie well apart from the top_p below, one set for a row each.
STEEP = ((0.46, 0.26, 0.14, 0.08, 0.04, 0.02), (0.45, 0.26, 0.14, 0.08, 0.05, 0.02))
FLAT = ((0.21, 0.19, 0.17, 0.16, 0.15, 0.12), (0.215, 0.19, 0.17, 0.16, 0.15, 0.115))
SURE = ((0.80, 0.08, 0.05, 0.04, 0.02, 0.01),) * 2


def sampling_fixtures(rng):
    (which,) = choice(rng, (0,), (1,))
    heat, more_heat = choice(rng, (0.5, 2.0), (0.6, 2.2), (2.5, 1.9))

    def case(*rows, temperature=1.0, top_k=None, top_p=None):
        shifts = 2 + (int(rng.integers(3)) + np.arange(len(rows))) % 3  # the likeliest is not first
        p = [np.roll(row[which], s) for row, s in zip(rows, shifts)]
        return {
            "logits": ((temperature or 1.0) * np.log(p)).astype(np.float32),
            "temperature": temperature,
            "top_k": top_k,
            "top_p": top_p,
            "generator": Seed(int(rng.integers(1, 10**6))),
            "n": MANY,
        }

    return [
        Fixture("temperature 0", case(STEEP, FLAT, temperature=0), weight=1.0),
        Fixture("temperature 1", case(STEEP, FLAT), weight=1.0),
        Fixture("another temperature", case(STEEP, FLAT, temperature=heat), weight=1.5),
        Fixture("top_k", case(STEEP, FLAT, top_k=3), weight=1.5),
        Fixture("top_p", case(STEEP, FLAT, top_p=0.5), weight=1.5),
        Fixture("top_p where one token is enough", case(STEEP, SURE, top_p=0.7), weight=1.0),
        Fixture(
            "all three", case(STEEP, FLAT, temperature=more_heat, top_k=3, top_p=0.65), weight=1.5
        ),
    ]


def drawn_many(inputs: Inputs) -> Call:
    """Each row of the logits n times over: as many draws from it."""
    logits, *rest, n = inputs.values()
    return Call(args=(np.repeat(logits, n, axis=0), *rest))


def frequencies(inputs: Inputs, value):
    (R, V), n = inputs["logits"].shape, inputs["n"]
    trouble = form(value, np.zeros(R * n, int))
    if trouble:
        return trouble
    if value.min() < 0 or value.max() >= V:
        return Trouble(
            f"A token lies outside 0 … {V - 1}.", f"The largest is {value.max()}.", "Return ids."
        )
    return np.stack([np.bincount(row, minlength=V) / n for row in value.reshape(R, n)])


def distribution(logits, temperature, top_k, top_p, generator, n, **switches):
    p = oracle.next_distribution(logits, temperature, top_k, top_p, **switches)
    if np.isnan(p).any():
        raise ValueError("nothing is left to draw from")
    return p


def sampling_mistake(name, says, look="", **switches):
    return Mistake(name, lambda **inputs: distribution(**inputs | switches), says, look)


def divides_by_zero(**inputs):
    if inputs["temperature"] == 0:
        raise ZeroDivisionError
    return distribution(**inputs)


MINUS_INFINITY = "Set the logits of what is cut to -inf, and take the softmax of the rest."
NUCLEUS = "Keep a token while the probabilities of the likelier ones sum to less than top_p."
SAMPLE_NEXT = Component(
    "sample_next",
    sampling_fixtures,
    distribution,
    call=drawn_many,
    read=frequencies,
    properties=(
        property_of(
            lambda c, i: i | {"top_k": i["logits"].shape[-1] + 3},
            "top_k larger than the vocabulary",
            "Then it keeps everything: min(top_k, V).",
            weight=0.5,
        ),
        generator_decides(n=30),
        unchanged,
        any_device,
    ),
    mistakes=(
        Mistake(
            "divides_by_0",
            divides_by_zero,
            "Temperature 0 fails: the logits are divided by it.",
            "Temperature 0 means the largest logit: return it before dividing.",
        ),
        sampling_mistake(
            "always_greedy",
            "It always takes the largest logit.",
            "torch.multinomial(p, 1) draws one id for each row of probabilities.",
            temperature=0,
        ),
        sampling_mistake(
            "temperature_multiplied",
            "The logits are multiplied by the temperature.",
            "logits / temperature: a high temperature makes them more alike.",
            heat="multiply",
        ),
        sampling_mistake(
            "temperature_ignored",
            "The temperature is not used.",
            "logits / temperature",
            heat="ignored",
        ),
        sampling_mistake("top_k_ignored", "top_k is not used.", MINUS_INFINITY, top_k=None),
        sampling_mistake("top_p_ignored", "top_p is not used.", NUCLEUS, top_p=None),
        sampling_mistake("one_more_than_k", "It keeps k + 1 tokens.", more=1),
        sampling_mistake(
            "one_less_than_k",
            "It keeps k - 1 tokens.",
            "The k-th largest stays: cut what is smaller than it.",
            more=-1,
        ),
        sampling_mistake(
            "filled_with_0",
            "The logits of what is cut are set to 0, and e^0 = 1 is still drawn.",
            MINUS_INFINITY,
            fill=0.0,
        ),
        sampling_mistake(
            "crossing_dropped",
            "The token that crosses top_p is cut, too.",
            NUCLEUS,
            crossing="dropped",
        ),
        sampling_mistake(
            "one_more_than_p",
            "It keeps one token more than top_p needs.",
            NUCLEUS,
            crossing="one more",
        ),
        sampling_mistake(
            "tail_kept",
            "top_p keeps the least likely tokens: they are sorted the wrong way round.",
            "sort(descending=True)",
            tail=True,
        ),
        sampling_mistake(
            "not_put_back",
            "The cut of top_p is found in the sorted order and applied in the order of the ids.",
            "Bring it back: scatter it along `order`, or gather with order.argsort(-1).",
            scattered=False,
        ),
        sampling_mistake(
            "p_before_k",
            "top_p is applied before top_k.",
            "First the k likeliest, scaled to sum to 1; then the fewest of them that reach top_p.",
            order="p first",
        ),
        sampling_mistake(
            "p_before_temperature",
            "top_p looks at the probabilities without the temperature.",
            "Divide by the temperature first.",
            nucleus_of="raw",
        ),
        sampling_mistake(
            "all_alike", "It draws from what is kept as if all were equally likely.", flat=True
        ),
        sampling_mistake(
            "softmax_twice",
            "The softmax is taken twice.",
            "torch.multinomial takes probabilities: one softmax before it.",
            twice=True,
        ),
    ),
    shortcuts=frozenset({"generate"}),
    outputs="the frequency of each token in each row",
    tolerance=FREQUENCIES,
    look={
        "temperature 0": "The largest logit of each row: argmax(-1).",
        "top_k": MINUS_INFINITY,
        "top_p": NUCLEUS,
        "top_p where one token is enough": "The likeliest token always stays.",
        "all three": "First temperature, then top_k, then top_p, then the softmax of what is left.",
    },
)

# ------------------------------------------------------------------ generate


def generate_fixtures(rng):
    V, B = choice(rng, (7, 2), (8, 3), (9, 2))

    def case(n_positions, T, new, training=False):
        table = normal(rng, n_positions, V, V)
        prompt = rng.integers(0, V, (B, T))
        return {
            "table": table,
            "other": table[:, ::-1].copy(),
            "training": training,
            "prompt": prompt,
            "new": new,
            "temperature": 0,
            "top_k": None,
            "top_p": None,
            "use_cache": True,
            "generator": None,
            "n": 1,
        }

    def sampling():
        # After the prompt (0, 1, 2) the next token has the probabilities NEXT in some order, and so
        # has the one after it, in an order for each choice of the first.
        NEXT, tau = np.array([0.57, 0.15, 0.12, 0.09, 0.07]), 0.5
        first, *second = (tau * np.log(rng.permutation(NEXT)) for _ in range(6))
        table = rng.standard_normal((5, 5, 5))
        table[2, 2] = first - table[0, 0] - table[1, 1]
        table[3] = second - first
        inputs = {"table": table.astype(np.float32), "other": table[::-1].astype(np.float32)}
        inputs |= {"training": False, "prompt": np.array([[0, 1, 2]]), "new": 2}
        inputs |= {"temperature": tau, "top_k": 4, "top_p": 0.75, "use_cache": True}
        return inputs | {"generator": Seed(int(rng.integers(1, 10**6))), "n": MANY}

    return [
        Fixture("greedy, with all in view", case(6, 3, 4)),
        Fixture("greedy, from a model in training mode", case(7, 4, 4, training=True), weight=1.5),
        Fixture("greedy, past n_positions", case(5, 3, 6)),
        Fixture("a prompt longer than n_positions", case(4, 7, 3), weight=1.0),
        Fixture("sampled", sampling(), weight=2.0),
    ]


def generating(inputs: Inputs) -> Call:
    model = tuple(inputs[k] for k in ("table", "other", "training"))
    prompt = np.repeat(inputs["prompt"], inputs["n"], axis=0)
    how = ("temperature", "top_k", "top_p", "use_cache", "generator")
    return Call(
        args=(*model, prompt, inputs["new"]),
        kwargs={k: inputs[k] for k in how},
        probe="generation:continue_prompt",
    )


def read_ids(inputs: Inputs, value):
    """The ids and the mode afterwards; of many sampled rows, how often each continuation came."""
    ids, mode, _ = value
    prompt, new, n = inputs["prompt"], inputs["new"], inputs["n"]
    (B, T), V = prompt.shape, inputs["table"].shape[-1]
    if n == 1 or not isinstance(ids, np.ndarray):
        return ids, mode
    if ids.shape != (B * n, T + new):
        return np.zeros(ids.shape), mode
    if not (ids[:, :T] == prompt).all():
        return Trouble("The result does not begin with the prompt.", look="Append to ids.")
    number = ids[:, T:] @ V ** np.arange(new)[::-1]
    return np.bincount(number.astype(int), minlength=V**new) / n, mode


def continued(
    table, other, training, prompt, new, temperature, top_k, top_p, use_cache, generator, n, **how
):
    """What a right `generate` gives, or, with switches, one with a mistake."""
    mode = how.pop("mode", training)
    table = other if how.pop("dropout", False) and training else table
    made, keep = how.pop("made", new), how.pop("keep", "all")
    if n == 1:
        return oracle.greedy(table, prompt, made, keep=keep, **how), mode
    T = prompt.shape[1]
    width = {"all": T + made, "new": made, "seen": min(T + made, len(table) + 1)}[keep]
    if width != T + new:
        return np.zeros((len(prompt) * n, width)), mode
    draw = lambda logits: oracle.next_distribution(logits, temperature, top_k, top_p)  # noqa: E731
    return oracle.joint(table, prompt, new, draw, **how), mode


def mistake(name, says, look="", **switches):
    return Mistake(name, lambda **inputs: continued(**inputs | switches), says, look)


def sampled_only(name, says, look="", **changes):
    """A mistake that greedy decoding does not show."""

    def wrong(**inputs):
        return continued(**inputs | (changes if inputs["n"] > 1 else {}))

    return Mistake(name, wrong, says, look)


def _cold(c, inputs):
    """With temperature 0, under two seeds."""
    few = inputs | {"temperature": 0, "n": 30}
    return [c.call(few | {"generator": Seed(seed)}) for seed in (1, 2)]


def _cold_verdict(c, inputs, answers):
    if any(a.failure for a in answers):
        return failure(next(a for a in answers if a.failure), "with temperature 0")
    first, second = (a.value[0] for a in answers)
    if not same(first, second):
        return Trouble(
            "With temperature 0 the result is still random.",
            look="Hand temperature to sample_next.",
        )
    return None


def _recorded(c, inputs, answers):
    _, _, log = answers[0].value
    if any(grad for _, _, grad in log):
        return Trouble(
            "Gradients are recorded while it generates.",
            "The graphs of all passes take memory, and nobody uses them.",
            "Keep @torch.no_grad() above the function.",
        )
    return None


CROP = "Hand the model ids[:, -n_positions:], and append to the whole ids."
RESTORE = "Remember model.training at the start, and hand it to model.train(...) at the end."
COUNT = "The result has T + max_new_tokens columns."
GENERATE = Component(
    "generate",
    generate_fixtures,
    continued,
    call=generating,
    read=read_ids,
    needs=("sample_next",),
    properties=(
        property_of(
            lambda c, i: i | {"use_cache": False},
            "the same without a cache",
            "use_cache may change the speed, never the tokens.",
            weight=0.5,
        ),
        property_of(
            lambda c, i: i | {"new": 0},
            "no new tokens",
            "With max_new_tokens = 0 the prompt comes back.",
            weight=0.5,
        ),
        Property("temperature 0 leaves nothing to chance", _cold, _cold_verdict, weight=0.5),
        Property("no gradients are recorded", lambda c, i: [c.call(i)], _recorded, weight=0.5),
        generator_decides(n=30),
        unchanged,
    ),
    mistakes=(
        mistake(
            "first_position",
            "It uses the logits of the first position.",
            "The next token comes from the last position: logits[:, -1].",
            row=0,
        ),
        mistake(
            "not_cropped",
            "Past n_positions it hands the model more tokens than it has positions.",
            CROP,
            crop="all",
        ),
        mistake(
            "first_tokens_seen",
            "Past n_positions the model sees the first tokens, not the last.",
            CROP,
            crop="first",
        ),
        mistake(
            "cropped_too_short",
            "The model sees one token less than n_positions.",
            CROP,
            shorter=1,
        ),
        mistake(
            "newest_only",
            "The model sees the newest token alone.",
            "Without a cache it needs all that it has room for.",
            crop="newest",
        ),
        mistake(
            "prompt_lost",
            "What the model no longer sees is lost from the result.",
            CROP,
            keep="seen",
        ),
        mistake(
            "new_only",
            "It returns the new tokens without the prompt.",
            COUNT,
            keep="new",
        ),
        Mistake(
            "one_short",
            lambda **inputs: continued(**inputs, made=inputs["new"] - 1),
            "It makes one token too few.",
            COUNT,
        ),
        Mistake(
            "one_too_many",
            lambda **inputs: continued(**inputs, made=inputs["new"] + 1),
            "It makes one token too many.",
            COUNT,
        ),
        mistake(
            "one_pass_only",
            "It runs the model once and draws every token from the same logits.",
            "Run the model again after each token.",
            once=True,
        ),
        mistake(
            "dropout_on",
            "Dropout stays on: the model is not put into evaluation mode.",
            "model.eval() first, and the old mode back at the end.",
            dropout=True,
        ),
        mistake("stays_in_eval", "The model stays in evaluation mode.", RESTORE, mode=False),
        mistake(
            "always_train_after",
            "It puts the model into training mode, even if it was not in it before.",
            RESTORE,
            mode=True,
        ),
        sampled_only(
            "always_greedy",
            "It always takes the largest logit.",
            "Let sample_next choose, with temperature, top_k and top_p.",
            temperature=0,
        ),
        sampled_only("top_k_not_passed", "top_k is not handed to sample_next.", top_k=None),
        sampled_only("top_p_not_passed", "top_p is not handed to sample_next.", top_p=None),
    ),
    outputs=("the result", "model.training afterwards"),
    tolerance=FREQUENCIES,
    look={
        "greedy, past n_positions": CROP,
        "a prompt longer than n_positions": CROP,
        "sampled": "The frequencies of the continuations, in order of their ids.",
    },
)
COMPONENTS = (SAMPLE_NEXT, GENERATE)
