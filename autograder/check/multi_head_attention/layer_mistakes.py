"""MultiHeadAttention: the mistakes that are known by name."""

from __future__ import annotations

from functools import partial

from autograder.check.mistake import Mistake, altered
from autograder.check.multi_head_attention.inputs import (
    layer,
    renamed,
    transposed,
    without_biases,
    without_biases_of_QKV,
)
from autograder.oracle.self_attention import causal_mask


def _mask(**switches):
    return altered(layer, mask=partial(causal_mask, **switches))


MISTAKES = (
    Mistake(
        "no_mask",
        altered(layer, mask=None),
        "There is no causal mask, so every position sees the later ones; -inf should be added "
        "to the scores where s > t.",
        "The fourth argument of attention: none -> causal_mask(T, x.device).",
        "In training the next token is there to be read. In generation it is not, and the model "
        "has learnt little else.",
    ),
    Mistake(
        "mask_one_too_far",
        _mask(diagonal=2),
        "-inf is added to the scores where s > t + 1, so position t sees the next one too; it "
        "should be added where s > t.",
        "In the mask: triu(2) -> triu(1). causal_mask(T, x.device) has it right.",
        "One step ahead stands the very token to predict. In a trial the loss fell to 0.06, and "
        "was 7.2 as soon as the next token was not given.",
    ),
    Mistake(
        "mask_hides_itself",
        _mask(diagonal=0),
        "-inf is added to the scores where s >= t, so the first position sees nothing and its "
        "softmax is NaN; it should be added where s > t.",
        "In the mask: triu(0) -> triu(1). causal_mask(T, x.device) has it right.",
        "A row of scores that are all -inf has no softmax: 0 / 0. One NaN then spoils the loss and "
        "every gradient.",
    ),
    Mistake(
        "mask_hides_itself_0",
        altered(layer, mask=partial(causal_mask, diagonal=0), unseen=0.0),
        "-inf is added to the scores where s >= t, so the first position sees nothing and its "
        "heads give 0; it should be added where s > t.",
        "In the mask: triu(0) -> triu(1). causal_mask(T, x.device) has it right.",
        "A row of scores that are all -inf has no softmax. torch's scaled_dot_product_attention "
        "makes 0 of it, so that no NaN gives it away; written out it would be 0 / 0.",
    ),
    Mistake(
        "mask_mirrored",
        _mask(direction="past"),
        "The mask is transposed: -inf is added to the scores where s < t, and 0 where s > t; "
        "-inf should be added where s > t, 0 elsewhere.",
        "In the mask: tril(-1) -> triu(1); with causal_mask(T, x.device), take out the .T.",
        "Training loss looks wonderful, 0.05 in a trial, since the answer is there to be read. "
        "Without it the loss was 6.6.",
    ),
    Mistake(
        "softmax_over_queries",
        altered(layer, softmax_dim=-2),
        "The softmax runs along the queries, dim=-2; it should run along the keys, dim=-1: row "
        "t of the scores belongs to query t.",
        "softmax(..., dim=-2) -> softmax(..., dim=-1)",
        "A key's weights are shared out among the queries, later ones included, so the future "
        "leaks: training loss is too good, and generation fails.",
    ),
    Mistake(
        "no_scaling",
        altered(layer, scale=lambda d, d_k: 1.0),
        "The scores are Q @ K^T, not divided by anything; they should be divided by sqrt(d_k), "
        "d_k = d / H.",
        "Q @ K.transpose(-2, -1) -> the same / math.sqrt(Q.shape[-1]), with Q after the split. "
        "attention does so itself.",
        "A score is a sum of d_k products: for d_k = 64 its deviation is 8 rather than 1. The "
        "softmax is then nearly a choice of one, and passes hardly any gradient.",
    ),
    Mistake(
        "scaled_by_d_model",
        altered(layer, scale=lambda d, d_k: d**-0.5),
        "The scores are divided by sqrt(d), the width of x; they should be divided by "
        "sqrt(d_k), the width d / H of one head.",
        "math.sqrt(x.shape[-1]) -> math.sqrt(Q.shape[-1]), with Q after the split.",
        "With the 12 heads of GPT-2 small the scores are sqrt(12) = 3.5 times too small, and every "
        "position weighs nearly alike.",
    ),
    Mistake(
        "scaled_by_n_head",
        altered(layer, scale=lambda d, d_k: (d // d_k) ** -0.5),
        "The scores are divided by sqrt(H), the number of heads; they should be divided by "
        "sqrt(d_k), the width d / H of one head.",
        "math.sqrt(self.n_head) -> math.sqrt(Q.shape[-1]), with Q after the split into H heads.",
        "A score is a sum of d_k products, however many heads there are. For GPT-2 small, with 12 "
        "heads and d_k = 64, the scores are 2.3 times too large.",
    ),
    Mistake(
        "divided_by_d_k",
        altered(layer, scale=lambda d, d_k: 1 / d_k),
        "The scores are divided by d_k; they should be divided by sqrt(d_k), once.",
        "/ Q.shape[-1] -> / math.sqrt(Q.shape[-1]). If you call attention, it divides already: "
        "then divide neither Q nor K before it.",
        "For d_k = 64 the scores are 8 times too small, and every position weighs nearly alike.",
    ),
    Mistake(
        "no_heads",
        altered(layer, n_head=lambda d, H: 1),
        "Q, K and V are not split: it is one head of width d, its scores divided by sqrt(d); "
        "they should be split into H heads of width d / H.",
        "attention(Q, K, V, ...): put Q, K and V through split_heads(..., self.n_head) before "
        "it, and the heads through merge_heads after it.",
        "One head takes one weighted average at each position. It cannot look at the previous "
        "token with some columns and at the first one with others.",
    ),
    Mistake(
        "n_head_is_width",
        altered(layer, n_head=lambda d, H: d // H),
        "Q, K and V are split into d / H heads of width H, scores divided by sqrt(H); it "
        "should be H heads of width d / H, scores divided by sqrt(d / H).",
        "split_heads(..., d // self.n_head) -> split_heads(..., self.n_head); in a reshape, "
        "(T, d_k, H) -> (T, H, d_k).",
        "GPT-2 small would get 64 heads of width 12 rather than 12 of width 64. It can be trained, "
        "but published weights mean nothing when they are cut so.",
    ),
    Mistake(
        "heads_not_moved",
        altered(layer, layout="unmoved", merge="unmoved"),
        "Q, K and V are (..., T, H, d_k) in attention, so heads attend to heads, and the (T, "
        "T) mask does not fit; they should be (..., H, T, d_k).",
        "reshape(..., T, H, d_k) -> reshape(..., T, H, d_k).transpose(-3, -2), for Q, K and V; "
        "and the same transpose before the heads are merged.",
        "No position ever looks at another, which is what attention is for. Only the mask, (T, T), "
        "gives it away: it does not fit scores of H by H.",
    ),
    Mistake(
        "split_without_transpose",
        altered(layer, layout="rows"),
        "Q, K and V are reshaped straight to (..., H, T, d_k), which mixes positions; they "
        "should be reshaped to (..., T, H, d_k), then transposed.",
        "In the split: reshape(..., H, T, d_k) -> reshape(..., T, H, d_k).transpose(-3, -2)",
        "The shapes are right, but head 0 gets all columns of the first T / H positions, and the "
        "mask no longer hides the future. In a trial the loss was too good: 1.56, not 2.37.",
    ),
    Mistake(
        "merge_without_transpose",
        altered(layer, merge="rows"),
        "The heads, (..., H, T, d_k), are reshaped to (..., T, d) as they stand, which mixes "
        "positions; H and T should be swapped before.",
        "In the merge: heads.reshape(...) -> heads.transpose(-3, -2).reshape(...)",
        "Row 0 of the result holds what head 0 found at the first H positions, so the future "
        "leaks. In a trial the loss was too good: 1.46, not 2.37.",
    ),
    Mistake(
        "interleaved",
        altered(layer, layout="interleaved", merge="interleaved"),
        "Q, K and V are cut as (T, d_k, H), columns h, h + H, ... for head h, and merged so "
        "too; it should be (T, H, d_k): d_k columns side by side.",
        "Both in the split and in the merge: (..., T, d_k, H) -> (..., T, H, d_k).",
        "A model of your own trains as well with it. GPT-2's weights are stored with each head's 64 "
        "columns side by side, and give nonsense when dealt out otherwise.",
    ),
    Mistake(
        "merge_interleaved",
        altered(layer, merge="interleaved"),
        "The split is right, but the heads are merged from (..., T, d_k, H), which deals out "
        "their columns in turn; it should be from (..., T, H, d_k).",
        "In the merge, before the reshape to (..., T, d): (..., T, d_k, H) -> (..., T, H, d_k).",
        "A model of your own learns around it. GPT-2's heads would write through rows of W_O that "
        "were trained for others.",
    ),
    Mistake(
        "sliced_input",
        altered(layer, sliced=True),
        "Head h takes its d_k columns of x alone, times W_Q[rows of h, columns of h], and so "
        "for K and V; it should take all columns of x.",
        "Split after the product, not before: x @ self.W_Q + self.b_Q, and then into heads; so "
        "for K and V.",
        "A head could not use what the other columns of the stream hold. With 12 heads it would "
        "use one in twelve of the numbers in W_Q.",
    ),
    Mistake(
        "W_O_forgotten",
        altered(layer, out=False),
        "It returns the merged heads; it should return the merged heads @ W_O + b_O.",
        "In the return: merge_heads(heads) -> merge_heads(heads) @ self.W_O + self.b_O",
        "Each head could write to its own d_k places of the stream only, 64 of GPT-2's 768. W_O "
        "lets it write in any direction.",
    ),
    Mistake(
        "W_O_transposed",
        altered(layer, before=transposed("W_O")),
        "The merged heads meet W_O.T; they should meet W_O. The other three matrices are right.",
        "@ self.W_O.T -> @ self.W_O, or F.linear(heads, self.W_O) -> heads @ self.W_O: "
        "F.linear transposes.",
        "W_O is square, so no error tells of it, and a model of your own learns the transpose. "
        "GPT-2's weights give nonsense.",
    ),
    Mistake(
        "projections_transposed",
        altered(layer, before=transposed("W_Q", "W_K", "W_V")),
        "Q, K and V are computed with W_Q.T, W_K.T and W_V.T; it should be W_Q, W_K and W_V. "
        "W_O is right.",
        "x @ self.W_Q.T -> x @ self.W_Q, or F.linear(x, self.W_Q) -> x @ self.W_Q, and so for "
        "K and V: F.linear transposes.",
        "They are square, so no error tells of it, and a model of your own learns the transpose. "
        "GPT-2's weights give nonsense.",
    ),
    Mistake(
        "no_b_O",
        altered(layer, b_O=lambda H: 0.0),
        "It returns the merged heads @ W_O; it should return the merged heads @ W_O + b_O.",
        "@ self.W_O -> @ self.W_O + self.b_O",
        "It starts at 0, so an untrained model does not show it. GPT-2's trained b_O is not 0, and "
        "its logits would come out otherwise.",
    ),
    Mistake(
        "b_O_per_head",
        altered(layer, b_O=lambda H: H),
        "b_O is added H times, once with every head; it should be added once.",
        "Take self.b_O out of the loop or the sum over the heads, and add it once after that.",
        "It starts at 0, so an untrained model does not show it. With GPT-2's weights and 12 heads "
        "every layer would write 11 b_O too much.",
    ),
    Mistake(
        "b_O_before_W_O",
        altered(layer, before=lambda i: {"state": i["state"] | {"b_O": _through_W_O(i["state"])}}),
        "It is (heads + b_O) @ W_O; it should be heads @ W_O + b_O.",
        "(merge_heads(heads) + self.b_O) @ self.W_O -> merge_heads(heads) @ self.W_O + self.b_O",
        "It starts at 0, so an untrained model does not show it. GPT-2's b_O is a vector of the "
        "stream, and W_O would turn it into another.",
    ),
    Mistake(
        "no_bias",
        altered(layer, before=without_biases),
        "None of the four biases b_Q, b_K, b_V and b_O is added; each should be.",
        "x @ self.W_Q -> x @ self.W_Q + self.b_Q, and so for K, V and the output.",
        "They start at 0, so an untrained model does not show it. GPT-2's trained biases are not "
        "0, and its logits would come out otherwise.",
    ),
    Mistake(
        "no_bias_of_QKV",
        altered(layer, before=without_biases_of_QKV),
        "b_Q, b_K and b_V are not added; they should be. b_O is right.",
        "x @ self.W_Q -> x @ self.W_Q + self.b_Q, and so for K and V.",
        "They start at 0, so an untrained model does not show it. GPT-2's trained biases are not "
        "0, and its logits would come out otherwise.",
    ),
    Mistake(
        "averaged",
        altered(layer, before=lambda i: {"state": i["state"] | {"W_O": _shared(i)}}),
        "The heads' part of the output is divided by H, then b_O is added; it should not be "
        "divided: the heads are summed.",
        "merge_heads(heads) @ self.W_O / self.n_head -> merge_heads(heads) @ self.W_O; or "
        ".mean over the heads -> .sum.",
        "Every write would be 12 times too small with the 12 heads of GPT-2 small.",
    ),
    Mistake(
        "q_k_swapped",
        altered(layer, before=renamed(W_Q="W_K", b_Q="b_K", W_K="W_Q", b_K="b_Q")),
        "Q and K are swapped: x @ W_K + b_K is used as Q, x @ W_Q + b_Q as K; it should be Q = "
        "x @ W_Q + b_Q, K = x @ W_K + b_K.",
        "attention(K, Q, V, ...) -> attention(Q, K, V, ...), or the names of the matrices "
        "where Q and K are computed.",
        "A model of your own learns the roles the other way round and is as good. One with GPT-2's "
        "weights computes other scores.",
    ),
    Mistake(
        "k_v_swapped",
        altered(layer, before=renamed(W_V="W_K", b_V="b_K", W_K="W_V", b_K="b_V")),
        "K and V are swapped: x @ W_V + b_V is used as K, x @ W_K + b_K as V; it should be K = "
        "x @ W_K + b_K, V = x @ W_V + b_V.",
        "attention(Q, V, K, ...) -> attention(Q, K, V, ...), or the names of the matrices "
        "where K and V are computed.",
        "A model of your own learns the roles the other way round. One with GPT-2's weights finds "
        "positions by what they should bring, and brings what they should be found by.",
    ),
    Mistake(
        "k_is_q",
        altered(layer, before=renamed(W_K="W_Q", b_K="b_Q")),
        "K is computed with W_Q, so W_K is not used; it should be K = x @ W_K + b_K.",
        "Where K is computed: self.W_Q -> self.W_K; the bias after it should be self.b_K.",
        "Before the mask, scores become symmetric: what a token looks for is what it offers.",
    ),
    Mistake(
        "v_is_k",
        altered(layer, before=renamed(W_V="W_K", b_V="b_K")),
        "V is computed with W_K and b_K, so W_V and b_V are not used; it should be V = x @ W_V "
        "+ b_V.",
        "Where V is computed: self.W_K -> self.W_V and self.b_K -> self.b_V.",
        "What a token is found by and what it then hands on become the same thing.",
    ),
    Mistake(
        "v_has_W_K",
        altered(layer, before=renamed(W_V="W_K")),
        "V is x @ W_K + b_V, so W_V is not used; it should be x @ W_V + b_V.",
        "Where V is computed: self.W_K -> self.W_V.",
        "What a token is found by and what it then hands on become the same thing.",
    ),
    Mistake(
        "v_has_b_K",
        altered(layer, before=renamed(b_V="b_K")),
        "V is x @ W_V + b_K; it should be x @ W_V + b_V.",
        "Where V is computed: self.b_K -> self.b_V.",
        "Both start at 0, so an untrained model does not show it. A row of weights sums to 1, so "
        "b_V goes into every output whole; GPT-2's is not 0.",
    ),
    Mistake(
        "v_has_b_Q",
        altered(layer, before=renamed(b_V="b_Q")),
        "V is x @ W_V + b_Q; it should be x @ W_V + b_V.",
        "Where V is computed: self.b_Q -> self.b_V.",
        "Both start at 0, so an untrained model does not show it. A row of weights sums to 1, so "
        "b_V goes into every output whole; GPT-2's is not 0.",
    ),
    Mistake(
        "residual_added",
        altered(layer, after=lambda y, i: y + i["x"]),
        "It returns x + MHA(x); it should return MHA(x) alone, what the layer writes.",
        "In the return: x + merge_heads(heads) @ self.W_O + self.b_O -> without x +. The block "
        "of chapter 5 adds it.",
        "The block hands it ln_1(x) and adds what comes back: the normed copy would be added to "
        "the stream in every block.",
    ),
)


def _through_W_O(p):
    return p["b_O"] @ p["W_O"]


def _shared(i):
    return i["state"]["W_O"] / i["init"][1]
