"""generate: what it makes of a small model, greedily and by chance."""

from __future__ import annotations

import numpy as np

from autograder.check.component import Component
from autograder.check.findings import failure
from autograder.check.mistake import Mistake
from autograder.check.parts import Fixture, Inputs, Property
from autograder.check.draw import choice, normal
from autograder.check.generation.sampling import FREQUENCIES, MANY, outside
from autograder.check.properties import unchanged
from autograder.check.tensors import any_device
from autograder.check.varied import SQUEEZE, property_of
from autograder.check.mode import parts_restored
from autograder.check.randomness import generator_decides, same
from autograder.judge import Trouble
from autograder.oracle import generation as oracle
from autograder.probes import Call
from autograder.probes.plain import Seed


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
    ids, mode, *_ = value
    prompt, new, n = inputs["prompt"], inputs["new"], inputs["n"]
    (B, T), V = prompt.shape, inputs["table"].shape[-1]
    if n == 1 or not isinstance(ids, np.ndarray):
        return ids, mode
    if ids.shape != (B * n, T + new):
        return np.zeros(ids.shape), mode
    if not (ids[:, :T] == prompt).all():
        return Trouble("The result does not begin with the prompt.", look="Append to ids.")
    trouble = outside(ids, V)
    if trouble:
        return trouble
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
    _, _, log, _ = answers[0].value
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
            "The flag use_cache may change the speed, never the tokens.",
            weight=0.5,
        ),
        property_of(
            lambda c, i: i | {"new": 0},
            "no new tokens",
            "With max_new_tokens = 0 the prompt comes back.",
            weight=0.5,
        ),
        property_of(
            lambda c, i: i | {"prompt": i["prompt"][:, :1], "temperature": 0, "n": 1},
            "a single row of one token",
            SQUEEZE,
            weight=0.5,
        ),
        parts_restored({"training": True, "temperature": 0, "n": 1}),
        Property(
            any_device.name,
            lambda c, i: any_device.calls(c, i | {"n": 30}),
            any_device.verdict,
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
            "cropped_too_short", "The model sees one token less than n_positions.", CROP, shorter=1
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
        mistake("new_only", "It returns the new tokens without the prompt.", COUNT, keep="new"),
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
            "First model.eval(), and at the end the old mode again.",
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
        sampled_only(
            "top_k_not_passed", "The argument top_k is not handed to sample_next.", top_k=None
        ),
        sampled_only(
            "top_p_not_passed", "The argument top_p is not handed to sample_next.", top_p=None
        ),
    ),
    outputs=("the result", "the mode (model.training) afterwards"),
    tolerance=FREQUENCIES,
    look={
        "greedy, past n_positions": CROP,
        "a prompt longer than n_positions": CROP,
        "sampled": "The frequencies of the continuations, in order of their ids.",
    },
)
