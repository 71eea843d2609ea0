"""generate: what it gives with each known mistake."""

from __future__ import annotations

import numpy as np

from autograder.check.mistake import entries
from autograder.oracle import generation as oracle
from autograder.oracle.self_attention import softmax


def continued(
    tables,
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

    tables: of the small model, in evaluation mode and in training mode.
    training: the mode in which it is found; None: evaluation mode, and nobody asks afterwards.
    made: (T, n_positions, max_new_tokens) -> the number of tokens that are made. how: of `joint`.
    """
    mode = training if training is None or mode == "restored" else mode
    table = tables[bool(dropout and training)]
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


mistake = entries(continued)


CROP = "In each round hand the model ids[:, -n_positions:], and append to the whole ids."
COUNT = (
    "A loop of max_new_tokens rounds, each of which appends one column to ids: T + n in the end."
)
HAND_ON = "sample_next(logits[:, -1], temperature, top_k, top_p, generator)"

SEEING = (
    mistake(
        "first_position",
        "It uses the logits of the first position, logits[:, 0]; it should use those of the "
        "last, logits[:, -1].",
        "logits[:, 0] -> logits[:, -1]",
        "The first position has seen the first token alone. As long as the text fits, every new "
        "token is drawn from the same distribution, whatever was written.",
        row=0,
    ),
    mistake(
        "position_of_the_prompt",
        "It always uses the logits at T - 1, where the prompt ended; it should use those of "
        "the last position, -1.",
        "logits[:, T - 1] -> logits[:, -1]: a T from before the loop is out of date after the "
        "first round.",
        "That position sees none of the new tokens: each is drawn as if it were the first, and they "
        "do not fit together.",
        row="of the prompt",
    ),
    mistake(
        "one_pass_only",
        "Every new token is drawn from the logits after the prompt; it should be those after "
        "all tokens so far.",
        "Move logits = model(...) into the loop, so that it is called each round on the last "
        "n_positions of all tokens so far.",
        "The new tokens do not know of each other: greedy writes the same one n times.",
        once=True,
    ),
    mistake(
        "not_cropped",
        "A text longer than n_positions fails: the model is given all of it; it should be "
        "given its last n_positions tokens.",
        "model(ids) -> model(ids[:, -n_positions:]), with n_positions = "
        "model.config.n_positions.",
        "GPT-2 has 1,024 position vectors: the text breaks off with an error there, and a longer "
        "prompt cannot be continued at all.",
        crop="all",
    ),
    mistake(
        "first_tokens_seen",
        "Past n_positions the model sees the first n_positions tokens; it should see the last.",
        "ids[:, :n_positions] -> ids[:, -n_positions:]",
        "Once the text is full, what is written is never seen again: the model stands at the same "
        "place for ever, and greedy repeats one token.",
        crop="first",
    ),
    mistake(
        "cropped_too_short",
        "The model sees n_positions - 1 tokens of a longer text; it should see n_positions.",
        "ids[:, -(n_positions - 1):] -> ids[:, -n_positions:]",
        "The last position vector is never used, and the oldest token is forgotten one step too "
        "early.",
        shorter=1,
    ),
    mistake(
        "newest_not_seen",
        "The newest token is cut off before the last n_positions are taken; the model should "
        "see it too.",
        "ids[:, :-1][:, -n_positions:] -> ids[:, -n_positions:]. To leave out the last column "
        "is for training.",
        "Each new token is chosen without knowledge of the one before it: that `York` follows, where "
        "`New` has just been written, the model cannot tell.",
        crop="all but the newest",
    ),
    mistake(
        "newest_cut_off",
        "Of the last n_positions tokens the model is given all but the newest; it should see that too.",
        "ids[:, -n_positions:][:, :-1] -> ids[:, -n_positions:]. To leave out the last column is for "
        "training.",
        "Each new token is chosen without knowledge of the one before it: that `York` follows, where "
        "`New` has just been written, the model cannot tell.",
        crop="the last but the newest",
    ),
    mistake(
        "newest_only",
        "The model sees the newest token alone, in every round; it should see the last "
        "n_positions tokens.",
        "ids[:, -1:] -> ids[:, -n_positions:]. There is no cache yet.",
        "Each token is chosen by the one before it, as in a table of word pairs, and always at "
        "position 0: attention has nothing to look back at.",
        crop="newest",
    ),
    mistake(
        "newest_only_after_the_first",
        "From the second round on the model sees the newest token alone; it should see the "
        "last n_positions tokens in each round.",
        "ids[:, -1:] -> ids[:, -n_positions:] in the later rounds too: there is no cache that "
        "keeps the rest.",
        "The model keeps nothing between two calls. From the second new token on, the prompt is "
        "forgotten.",
        crop="newest, after the first pass",
    ),
    mistake(
        "window_of_the_prompt",
        "The model sees only as many tokens as the prompt has; it should see n_positions of "
        "them.",
        "ids[:, -T:] -> ids[:, -n_positions:], with n_positions = model.config.n_positions.",
        "A prompt of one token leaves the model a memory of one token, although GPT-2 has room for "
        "1,024. Longer prompts than that still fail.",
        crop="as many as the prompt",
    ),
)

RESULT = (
    mistake(
        "prompt_lost",
        "Past n_positions the result lacks what the model no longer sees; it should hold the "
        "whole text, the prompt first.",
        "ids = ids[:, -n_positions:] -> seen = ids[:, -n_positions:]; model(seen), and append "
        "to ids.",
        "Of a long text the reader gets the last n_positions tokens: beginning and prompt are gone.",
        keep="seen",
    ),
    mistake(
        "new_only",
        "It returns the new tokens alone; it should return the prompt and the new tokens "
        "behind it.",
        "In the return: ids with all its columns, not ids[:, T:].",
        "What is appended must be read together with the prompt: a caller who feeds the result back "
        "in loses everything before.",
        keep="new",
    ),
    mistake(
        "one_short",
        "It adds max_new_tokens - 1 tokens; it should add max_new_tokens.",
        "range(max_new_tokens - 1) -> range(max_new_tokens): one new column in each round.",
        "With max_new_tokens = 1 nothing is written at all.",
        made=lambda T, room, new: new - 1,
    ),
    mistake(
        "one_too_many",
        "It adds max_new_tokens + 1 tokens; it should add max_new_tokens.",
        "range(max_new_tokens + 1) -> range(max_new_tokens); or, if that is right already: append"
        " no token before or after the loop.",
        "With max_new_tokens = 0 it should write nothing, and it writes a token. Texts that are to "
        "fill a window exactly run over it.",
        made=lambda T, room, new: new + 1,
    ),
    mistake(
        "one_token_only",
        "It adds one token and stops, however many are asked for; it should add max_new_tokens.",
        "A loop of max_new_tokens rounds, with the `return` below it, not in it.",
        "A text of 100 tokens would need 100 calls where one should do.",
        made=lambda T, room, new: min(1, new),
    ),
    mistake(
        "prompt_counted",
        "max_new_tokens is taken for the length of the whole text, prompt included; it should "
        "be the number of tokens added.",
        "while ids.shape[1] < max_new_tokens -> for _ in range(max_new_tokens)",
        "The longer the prompt, the less is written; one that is longer than max_new_tokens is not "
        "continued at all.",
        made=lambda T, room, new: new - T,
    ),
    mistake(
        "stops_when_full",
        "It stops when the text has n_positions tokens; it should go on, the model seeing the "
        "last n_positions of them.",
        "No `break`, and no min(...) with n_positions, in the loop of max_new_tokens rounds.",
        "With the small models of this course, a text ends after a few dozen tokens, and a prompt "
        "of n_positions tokens is not continued at all.",
        made=lambda T, room, new: min(new, room - T),
    ),
)

MODE = (
    mistake(
        "dropout_on",
        "The model is left in training mode, with dropout on; while it generates it should be "
        "in evaluation mode.",
        "Before the loop: was = model.training; model.eval(). After it: model.train(was).",
        "Each pass loses another random part of the activations: even at temperature 0 the text is "
        "another each time, and worse than the model could do.",
        dropout=True,
    ),
    mistake(
        "stays_in_eval",
        "The model is left in evaluation mode; at the end it should be in the mode in which it "
        "was found.",
        "Before model.eval(): was = model.training; and before the return: model.train(was).",
        "Whoever writes a sample in the middle of training trains on without dropout from there, "
        "and no error says so.",
        mode=False,
    ),
    mistake(
        "always_train_after",
        "At the end the model is always in training mode; it should be in the mode in which it "
        "was found.",
        "model.train() -> model.train(was), with was = model.training from before model.eval().",
        "The next one who uses the finished model gets dropout: its losses and its logits are "
        "random.",
        mode=True,
    ),
)

SAMPLING = (
    mistake(
        "always_greedy",
        "It always takes the largest logit; it should take what sample_next draws with the "
        "caller's settings.",
        "argmax(-1) -> sample_next(...); or, where sample_next is called already: temperature=0 "
        "-> temperature=temperature.",
        "All settings are without effect, and a prompt has one continuation only. Greedy texts tend "
        "to fall into a loop.",
        temperature=0,
    ),
    mistake(
        "temperature_not_passed",
        "The argument temperature is not handed to sample_next, which then takes 1; it should "
        "get the caller's.",
        "In the call of sample_next: temperature=temperature.",
        "Temperature 0 does not give the same text each time, and 0.2 and 2 write alike.",
        temperature=1.0,
    ),
    mistake(
        "nothing_passed",
        "Of temperature, top_k and top_p none is handed to sample_next, which takes its "
        "defaults; it should get all three.",
        "sample_next(logits[:, -1], ...): temperature, top_k and top_p belong in the call too.",
        "It then draws at temperature 1 from the whole vocabulary, whatever the caller asked for, "
        "and temperature 0 does not give the same text each time.",
        temperature=1.0,
        top_k=None,
        top_p=None,
    ),
    mistake(
        "top_k_not_passed",
        "top_k is not handed to sample_next; it should be, as temperature and top_p are.",
        "In the call of sample_next: top_k=top_k.",
        "Every token of the vocabulary may come, in GPT-2 any of 50,257, and one odd one is enough "
        "to lead a text astray.",
        top_k=None,
    ),
    mistake(
        "top_p_not_passed",
        "top_p is not handed to sample_next; it should be, as temperature and top_k are.",
        "In the call of sample_next: top_p=top_p.",
        "The tail of unlikely tokens stays in, however small top_p is.",
        top_p=None,
    ),
    mistake(
        "probabilities_handed_over",
        "sample_next is handed probabilities and takes their softmax again; it should be "
        "handed logits.",
        "sample_next(softmax(logits[:, -1]), ...) -> sample_next(logits[:, -1], ...)",
        "Probabilities lie between 0 and 1, so at temperature 1 no token is more than e = 2.7 times "
        "as likely as another. Greedy does not show it: the order is the same.",
        handed="probabilities",
    ),
)

MISTAKES = SEEING + RESULT + MODE + SAMPLING
