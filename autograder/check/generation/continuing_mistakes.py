"""generate: what it gives with each known mistake."""

from __future__ import annotations

import numpy as np

from autograder.check.mistake import Mistake, altered
from autograder.oracle import generation as oracle
from autograder.oracle.self_attention import softmax


def continued(
    table,
    other,
    training,
    prompt,
    new,
    temperature,
    top_k,
    top_p,
    use_cache,
    generator,
    n,
    *,
    mode="restored",
    dropout=False,
    made=None,
    keep="all",
    handed="logits",
    **how,
):
    """The ids, the mode afterwards, and of many sampled rows how often each continuation comes.

    made: (T, n_positions, max_new_tokens) -> the number of tokens that are made. how: of `joint`.
    """
    mode = training if mode == "restored" else mode
    table = other if dropout and training else table
    T, room = prompt.shape[1], len(table)
    length = new if made is None else max(0, made(T, room, new))
    if n == 1:
        return oracle.greedy(table, prompt, length, keep=keep, **how), mode, None
    width = {"all": T + length, "new": length, "seen": min(T + length, room + 1)}[keep]
    ids = np.zeros((len(prompt) * n, width), int)
    if width != T + new:
        return ids, mode, np.zeros((table.shape[-1],) * new)

    def draw(logits):
        logits = softmax(logits) if handed == "probabilities" else logits
        return oracle.next_distribution(logits, temperature, top_k, top_p)

    return ids, mode, oracle.joint(table, prompt, new, draw, **how)


def mistake(name, says, look, why, **switches):
    return Mistake(name, altered(continued, **switches), says, look, why)


CROP = "In each round hand the model ids[:, -n_positions:], and append to the whole ids."
RESTORE = "Remember model.training at the start, and hand it to model.train(...) at the end."
COUNT = (
    "A loop of max_new_tokens rounds, each of which appends one column to ids: T + n in the end."
)
LAST = "The next token comes from the last position that the model sees: logits[:, -1]."
HAND_ON = "sample_next(logits[:, -1], temperature, top_k, top_p, generator)"

SEEING = (
    mistake(
        "first_position",
        "It uses the logits of the first position.",
        LAST,
        "The first position has seen the first token alone. As long as the text fits, every new "
        "token is drawn from the same distribution, whatever was written.",
        row=0,
    ),
    mistake(
        "position_of_the_prompt",
        "It always uses the logits at the place where the prompt ended, T - 1.",
        LAST + " A T from before the loop is out of date after the first round.",
        "That position sees none of the new tokens: each is drawn as if it were the first, and they "
        "do not fit together.",
        row="of the prompt",
    ),
    mistake(
        "one_pass_only",
        "Every new token is drawn from the same logits, those after the prompt.",
        "Run the model again in each round, on the text with the tokens that were appended.",
        "The new tokens do not know of each other: greedy writes the same one n times.",
        once=True,
    ),
    mistake(
        "not_cropped",
        "Past n_positions it fails: the model takes no more than n_positions tokens at once.",
        CROP,
        "GPT-2 has 1,024 position vectors: the text breaks off with an error there, and a longer "
        "prompt cannot be continued at all.",
        crop="all",
    ),
    mistake(
        "first_tokens_seen",
        "Past n_positions the model sees the first tokens, not the last.",
        CROP,
        "Once the text is full, what is written is never seen again: the model stands at the same "
        "place for ever, and greedy repeats one token.",
        crop="first",
    ),
    mistake(
        "cropped_too_short",
        "The model sees one token less than n_positions.",
        CROP + " It takes n_positions tokens, the newest one among them.",
        "The last position vector is never used, and the oldest token is forgotten one step too "
        "early.",
        shorter=1,
    ),
    mistake(
        "newest_not_seen",
        "The model does not see the newest token.",
        CROP + " The newest column is part of it: ids[:, :-1] is for training, where the targets "
        "are shifted.",
        "Each new token is chosen without knowledge of the one before it: that `York` follows, where "
        "`New` has just been written, the model cannot tell.",
        crop="all but the newest",
    ),
    mistake(
        "newest_only",
        "The model sees the newest token alone.",
        CROP + " Without a cache it needs all of them.",
        "Each token is chosen by the one before it, as in a table of word pairs, and always at "
        "position 0: attention has nothing to look back at.",
        crop="newest",
    ),
    mistake(
        "newest_only_after_the_first",
        "After the first pass the model sees the newest token alone, as if there were a cache.",
        CROP + " There is no cache here: in each round it needs the whole text again.",
        "The model keeps nothing between two calls. From the second new token on, the prompt is "
        "forgotten.",
        crop="newest, after the first pass",
    ),
    mistake(
        "window_of_the_prompt",
        "The model sees only as many tokens as the prompt has.",
        CROP + " n_positions is model.config.n_positions, whatever the length of the prompt.",
        "A prompt of one token leaves the model a memory of one token, although GPT-2 has room for "
        "1,024. Longer prompts than that still fail.",
        crop="as many as the prompt",
    ),
)

RESULT = (
    mistake(
        "prompt_lost",
        "What the model no longer sees is missing in the result.",
        CROP + " Give what is cropped a name of its own.",
        "Of a long text the reader gets the last n_positions tokens: beginning and prompt are gone.",
        keep="seen",
    ),
    mistake(
        "new_only",
        "It returns the new tokens without the prompt.",
        COUNT,
        "What is appended must be read together with the prompt: a caller who feeds the result back "
        "in loses everything before.",
        keep="new",
    ),
    mistake(
        "one_short",
        "It makes one token too few.",
        COUNT,
        "With max_new_tokens = 1 nothing is written at all.",
        made=lambda T, room, new: new - 1,
    ),
    mistake(
        "one_too_many",
        "It makes one token too many.",
        COUNT,
        "With max_new_tokens = 0 it should write nothing, and it writes a token. Texts that are to "
        "fill a window exactly run over it.",
        made=lambda T, room, new: new + 1,
    ),
    mistake(
        "one_token_only",
        "It makes one token and stops, however many are asked for.",
        COUNT + " The `return` stands below the loop, not in it.",
        "A text of 100 tokens would need 100 calls by the one who asked for it once.",
        made=lambda T, room, new: min(1, new),
    ),
    mistake(
        "prompt_counted",
        "max_new_tokens is used as the length of the whole, prompt included.",
        COUNT,
        "The longer the prompt, the less is written; one that is longer than max_new_tokens is not "
        "continued at all.",
        made=lambda T, room, new: new - T,
    ),
    mistake(
        "stops_when_full",
        "It stops when the text has n_positions tokens.",
        COUNT + " " + CROP,
        "With the small models of this course, a text ends after a few dozen tokens, and a prompt "
        "of n_positions tokens is not continued at all.",
        made=lambda T, room, new: min(new, room - T),
    ),
)

MODE = (
    mistake(
        "dropout_on",
        "Dropout stays on: the model is not put into evaluation mode.",
        "First model.eval(), and at the end the old mode again.",
        "Each pass loses another random part of the activations: even at temperature 0 the text is "
        "another each time, and worse than the model could do.",
        dropout=True,
    ),
    mistake(
        "stays_in_eval",
        "The model stays in evaluation mode.",
        RESTORE,
        "Whoever writes a sample in the middle of training trains on without dropout from there, "
        "and no error says so.",
        mode=False,
    ),
    mistake(
        "always_train_after",
        "It puts the model into training mode, even if it was not in it before.",
        RESTORE,
        "The next one who uses the finished model gets dropout: its losses and its logits are "
        "random.",
        mode=True,
    ),
)

SAMPLING = (
    mistake(
        "always_greedy",
        "It always takes the largest logit.",
        f"{HAND_ON} chooses the token.",
        "All settings are without effect, and a prompt has one continuation only. Greedy texts tend "
        "to fall into a loop.",
        temperature=0,
    ),
    mistake(
        "temperature_not_passed",
        "The argument temperature is not handed to sample_next, which then takes 1.",
        HAND_ON,
        "Temperature 0 does not give the same text each time, and 0.2 and 2 write alike.",
        temperature=1.0,
    ),
    mistake(
        "nothing_passed",
        "sample_next gets the logits alone: temperature, top_k and top_p are not handed on.",
        HAND_ON,
        "It then draws at temperature 1 from the whole vocabulary, whatever the caller asked for, "
        "and temperature 0 does not give the same text each time.",
        temperature=1.0,
        top_k=None,
        top_p=None,
    ),
    mistake(
        "top_k_not_passed",
        "The argument top_k is not handed to sample_next.",
        HAND_ON,
        "Every token of the vocabulary may come, in GPT-2 any of 50,257, and one odd one is enough "
        "to lead a text astray.",
        top_k=None,
    ),
    mistake(
        "top_p_not_passed",
        "The argument top_p is not handed to sample_next.",
        HAND_ON,
        "The tail of unlikely tokens stays in, however small top_p is.",
        top_p=None,
    ),
    mistake(
        "probabilities_handed_over",
        "It hands probabilities to sample_next, which takes logits: the softmax is taken twice.",
        f"{HAND_ON}: sample_next takes the softmax itself.",
        "Probabilities lie between 0 and 1, so at temperature 1 no token is more than e = 2.7 times "
        "as likely as another. Greedy does not show it: the order is the same.",
        handed="probabilities",
    ),
)

MISTAKES = SEEING + RESULT + MODE + SAMPLING
