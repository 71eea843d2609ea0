"""MultiHeadAttention: the mistakes that are known by name."""

from __future__ import annotations

from functools import partial

from autograder.check.mistake import Mistake, altered
from autograder.check.multi_head_attention.inputs import (
    CUT,
    layer,
    renamed,
    transposed,
    without_biases,
)
from autograder.oracle.self_attention import causal_mask

PASTED = "Three lines that look alike: each of Q, K and V has a matrix and a bias of its own."


def _mask(**switches):
    return altered(layer, mask=partial(causal_mask, **switches))


MISTAKES = (
    Mistake(
        "no_mask",
        altered(layer, mask=None),
        "There is no causal mask: every position sees the later ones.",
        "Hand it to attention: attention(Q, K, V, causal_mask(T, x.device), …).",
        "In training the next token is there to be read. In generation it is not, and the model "
        "has learnt little else.",
    ),
    Mistake(
        "mask_one_too_far",
        _mask(diagonal=2),
        "Each position may look one step ahead.",
        "Mask where s > t, from the diagonal above the main one: causal_mask(T) does it.",
        "One step ahead stands the very token to predict. In a trial the loss fell to 0.06, and "
        "was 7.2 as soon as the next token was not given.",
    ),
    Mistake(
        "mask_hides_itself",
        _mask(diagonal=0),
        "Each position is hidden from itself as well: the first sees nothing, and is NaN.",
        "Mask where s > t only, and keep s = t: causal_mask(T) does it.",
        "A row of scores that are all -inf has no softmax: 0 / 0. One NaN then spoils the loss and "
        "every gradient.",
    ),
    Mistake(
        "mask_mirrored",
        _mask(direction="past"),
        "The mask is the other way round: the past is hidden and the future open.",
        "Mask where s > t, the upper right triangle: causal_mask(T) does it.",
        "Training loss looks wonderful, 0.05 in a trial, since the answer is there to be read. "
        "Without it the loss was 6.6.",
    ),
    Mistake(
        "softmax_over_queries",
        altered(layer, softmax_dim=-2),
        "The softmax runs over the queries (columns) instead of the keys (rows).",
        "Row t of the scores belongs to query t: softmax along dim=-1.",
        "A key's weights are shared out among the queries, later ones included, so the future "
        "leaks: training loss is too good, and generation fails.",
    ),
    Mistake(
        "no_scaling",
        altered(layer, scale=lambda d, d_k: 1.0),
        "The scores are not divided by sqrt(d_k).",
        "attention does it of its own accord. If you write it out: Q K^T / sqrt(d_k), d_k = d / H.",
        "A score is a sum of d_k products: for d_k = 64 its deviation is 8 rather than 1. The "
        "softmax is then nearly a choice of one, and passes hardly any gradient.",
    ),
    Mistake(
        "scaled_by_d_model",
        altered(layer, scale=lambda d, d_k: d**-0.5),
        "The scores are divided by sqrt(d), the width of x, instead of sqrt(d_k).",
        "d_k = d / H is the width of one head, Q.shape[-1] after the split.",
        "With the 12 heads of GPT-2 small the scores are sqrt(12) = 3.5 times too small, and every "
        "position weighs nearly alike.",
    ),
    Mistake(
        "scaled_by_n_head",
        altered(layer, scale=lambda d, d_k: (d // d_k) ** -0.5),
        "The scores are divided by sqrt(H), the number of heads, instead of sqrt(d_k).",
        "d_k = d / H is the width of one head, Q.shape[-1] after the split.",
        "A score is a sum of d_k products, however many heads there are. For GPT-2 small, with 12 "
        "heads and d_k = 64, the scores are 2.3 times too large.",
    ),
    Mistake(
        "divided_by_d_k",
        altered(layer, scale=lambda d, d_k: 1 / d_k),
        "The scores are divided by d_k: by its square root twice, perhaps.",
        "attention divides by sqrt(d_k) of its own accord; do not scale Q or K before it.",
        "For d_k = 64 the scores are 8 times too small, and every position weighs nearly alike.",
    ),
    Mistake(
        "no_heads",
        altered(layer, n_head=lambda d, H: 1),
        "It is one head of width d: Q, K and V are not split.",
        "split_heads(…, self.n_head) comes before attention, merge_heads after it.",
        "One head takes one weighted average at each position. It cannot look at the previous "
        "token with some columns and at the first one with others.",
    ),
    Mistake(
        "n_head_is_width",
        altered(layer, n_head=lambda d, H: d // H),
        "H and d_k have changed places: Q, K and V are cut into d / H heads of width H.",
        "The second argument of split_heads is the number of heads; in a reshape, (H, d_k).",
        "GPT-2 small would get 64 heads of width 12 rather than 12 of width 64. It can be trained, "
        "but published weights mean nothing when they are cut so.",
    ),
    Mistake(
        "heads_not_moved",
        altered(layer, layout="unmoved", merge="unmoved"),
        "The axis of the heads stands behind the positions: at each position the heads attend to "
        "each other.",
        "Q, K and V must be (..., H, T, d_k) when attention gets them: transpose(-3, -2).",
        "No position ever looks at another, which is what attention is for. Only the mask, (T, T), "
        "gives it away: it does not fit scores of H by H.",
    ),
    Mistake(
        "split_without_transpose",
        altered(layer, layout="rows"),
        "Q, K and V are cut into heads by a reshape alone, which mixes positions.",
        CUT,
        "The shapes are right, but head 0 gets all columns of the first T / H positions, and the "
        "mask no longer hides the future. In a trial the loss was too good: 1.56, not 2.37.",
    ),
    Mistake(
        "merge_without_transpose",
        altered(layer, merge="rows"),
        "The heads are flattened without moving their axis back, which mixes positions.",
        "heads.transpose(-3, -2) first, then reshape to (..., T, d): merge_heads does it.",
        "Row 0 of the result holds what head 0 found at the first H positions, so the future "
        "leaks. In a trial the loss was too good: 1.46, not 2.37.",
    ),
    Mistake(
        "interleaved",
        altered(layer, layout="interleaved", merge="interleaved"),
        "Head h owns columns h, h + H, …; it should own d_k columns side by side.",
        "Cut the last axis into (H, d_k), in this order, and merge in the same order.",
        "A model of your own trains as well with it. GPT-2's weights are stored with each head's 64 "
        "columns side by side, and give nonsense when dealt out otherwise.",
    ),
    Mistake(
        "merge_interleaved",
        altered(layer, merge="interleaved"),
        "Head h meets rows h, h + H, … of W_O; its rows lie side by side.",
        "When the heads are merged, the last two axes must be (H, d_k), in this order.",
        "A model of your own learns around it. GPT-2's heads would write through rows of W_O that "
        "were trained for others.",
    ),
    Mistake(
        "sliced_input",
        altered(layer, sliced=True),
        "Each head reads a slice of x only. Every head projects all d columns of x.",
        "Project first, x @ W_Q + b_Q, and split what comes out.",
        "A head could not use what the other columns of the stream hold. With 12 heads it would "
        "use one in twelve of the numbers in W_Q.",
    ),
    Mistake(
        "W_O_forgotten",
        altered(layer, out=False),
        "The heads are put side by side and returned: W_O and b_O are not used.",
        "merge_heads(heads) @ self.W_O + self.b_O",
        "Each head could write to its own d_k places of the stream only, 64 of GPT-2's 768. W_O "
        "lets it write in any direction.",
    ),
    Mistake(
        "W_O_transposed",
        altered(layer, before=transposed("W_O")),
        "W_O is used transposed.",
        "Vectors are rows: merge_heads(heads) @ self.W_O. F.linear would transpose it.",
        "W_O is square, so no error tells of it, and a model of your own learns the transpose. "
        "GPT-2's weights give nonsense.",
    ),
    Mistake(
        "projections_transposed",
        altered(layer, before=transposed("W_Q", "W_K", "W_V")),
        "W_Q, W_K and W_V are used transposed.",
        "Vectors are rows: x @ self.W_Q + self.b_Q. F.linear and nn.Linear would transpose it.",
        "They are square, so no error tells of it, and a model of your own learns the transpose. "
        "GPT-2's weights give nonsense.",
    ),
    Mistake(
        "no_b_O",
        altered(layer, b_O=lambda H: 0.0),
        "b_O is not added.",
        "It comes once, after W_O: merge_heads(heads) @ self.W_O + self.b_O.",
        "It starts at 0, so an untrained model does not show it. GPT-2's trained b_O is not 0, and "
        "its logits would come out otherwise.",
    ),
    Mistake(
        "b_O_per_head",
        altered(layer, b_O=lambda H: H),
        "b_O is added once for every head; it belongs to the layer and is added once.",
        "Add it after the sum over the heads, or after W_O.",
        "It starts at 0, so an untrained model does not show it. With GPT-2's weights and 12 heads "
        "every layer would write 11 b_O too much.",
    ),
    Mistake(
        "b_O_before_W_O",
        altered(layer, before=lambda i: {"state": i["state"] | {"b_O": _through_W_O(i["state"])}}),
        "b_O is added before the product with W_O; it comes after it.",
        "merge_heads(heads) @ self.W_O + self.b_O, without brackets around heads and b_O.",
        "It starts at 0, so an untrained model does not show it. GPT-2's b_O is a vector of the "
        "stream, and W_O would turn it into another.",
    ),
    Mistake(
        "no_bias",
        altered(layer, before=without_biases),
        "No biases are added.",
        "Q = x @ self.W_Q + self.b_Q, and so for K, V and the output.",
        "They start at 0, so an untrained model does not show it. GPT-2's trained biases are not "
        "0, and its logits would come out otherwise.",
    ),
    Mistake(
        "averaged",
        altered(layer, before=lambda i: {"state": i["state"] | {"W_O": _shared(i)}}),
        "The heads' writes are averaged; they are added.",
        "merge_heads(heads) @ W_O is the sum of the writes head_h W_O^h: divide nothing by H.",
        "Every write would be 12 times too small with the 12 heads of GPT-2 small.",
    ),
    Mistake(
        "q_k_swapped",
        altered(layer, before=renamed(W_Q="W_K", b_Q="b_K", W_K="W_Q", b_K="b_Q")),
        "Q and K have changed places: W_Q and W_K, or the arguments of attention.",
        "Q comes from W_Q and b_Q, K from W_K and b_K: attention(Q, K, V, …).",
        "A model of your own learns the roles the other way round and is as good. One with GPT-2's "
        "weights computes other scores.",
    ),
    Mistake(
        "k_v_swapped",
        altered(layer, before=renamed(W_V="W_K", b_V="b_K", W_K="W_V", b_K="b_V")),
        "K and V have changed places: W_K and W_V, or the arguments of attention.",
        "K is what a position is found by, V what it brings: attention(Q, K, V, …).",
        "A model of your own learns the roles the other way round. One with GPT-2's weights finds "
        "positions by what they should bring, and brings what they should be found by.",
    ),
    Mistake(
        "k_is_q",
        altered(layer, before=renamed(W_K="W_Q", b_K="b_Q")),
        "The keys are computed with W_Q: W_K is not used.",
        f"K = x @ self.W_K + self.b_K. {PASTED}",
        "Before the mask, scores become symmetric: what a token looks for is what it offers.",
    ),
    Mistake(
        "v_is_k",
        altered(layer, before=renamed(W_V="W_K", b_V="b_K")),
        "The values are computed with W_K: W_V is not used.",
        f"V = x @ self.W_V + self.b_V. {PASTED}",
        "What a token is found by and what it then hands on become the same thing.",
    ),
    Mistake(
        "v_has_b_K",
        altered(layer, before=renamed(b_V="b_K")),
        "The values get b_K instead of b_V.",
        f"V = x @ self.W_V + self.b_V. {PASTED}",
        "Both start at 0, so an untrained model does not show it. A row of weights sums to 1, so "
        "b_V goes into every output whole; GPT-2's is not 0.",
    ),
    Mistake(
        "v_has_b_Q",
        altered(layer, before=renamed(b_V="b_Q")),
        "The values get b_Q instead of b_V.",
        f"V = x @ self.W_V + self.b_V. {PASTED}",
        "Both start at 0, so an untrained model does not show it. A row of weights sums to 1, so "
        "b_V goes into every output whole; GPT-2's is not 0.",
    ),
    Mistake(
        "residual_added",
        altered(layer, after=lambda y, i: y + i["x"]),
        "It returns x + MHA(x); the layer returns its write alone.",
        "Return merge_heads(heads) @ self.W_O + self.b_O. The block adds it, in chapter 5.",
        "The block hands it ln_1(x) and adds what comes back: the normed copy would be added to "
        "the stream in every block.",
    ),
)


def _through_W_O(p):
    return p["b_O"] @ p["W_O"]


def _shared(i):
    return i["state"]["W_O"] / i["init"][1]
