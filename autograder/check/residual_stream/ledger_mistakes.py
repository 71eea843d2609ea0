"""What goes wrong between a stream and its ledger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.check.mistake import entries
from autograder.oracle import residual_stream as oracle

_mistake = entries(oracle.run_stream)


def _ledger(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` of ledger and start in place of the ledger."""

    def changed(result, inputs):
        stream, ledger = result
        return stream, tuple(f(ledger, inputs["x"]))

    return changed


MISTAKES = (
    _mistake(
        "replaced",
        "Each write replaces the stream, x = write; it should be added to it.",
        "In the loop: x = write -> x = x + write.",
        "The final stream is then the last write alone: the embedding and all else is lost, and start "
        "+ ledger does not give it.",
        keep=0.0,
    ),
    _mistake(
        "stream_doubled",
        "x + sublayer(x), as residual_add gives it, is taken for the write: it is put in the ledger and "
        "added to x once more. The write should be sublayer(x) alone.",
        "In the loop: write = residual_add(x, sublayer) -> write = sublayer(x).",
        "The stream doubles with each sub-layer: after the 24 of GPT-2 small the embedding has the "
        "factor 17 million.",
        keep=2.0,
        records="both",
    ),
    _mistake(
        "ledger_of_streams",
        "Entry i of the ledger is the stream after sub-layer i; it should be the write of "
        "sub-layer i alone.",
        "In the loop, after the update: ledger.append(x) -> ledger.append(write).",
        "Such entries do not add up: their sum holds the embedding L times. And none of them says "
        "what one sub-layer did.",
        records="stream",
    ),
    _mistake(
        "ledger_of_inputs",
        "Entry i of the ledger is the stream that sub-layer i reads; it should be what sub-layer i "
        "writes.",
        "In the loop, before the update: append the result of sublayer(x), not the x that it reads.",
        "What a sub-layer read was written by others; the last write stands in no entry at all.",
        records="input",
    ),
    _mistake(
        "ledger_of_sums",
        "Entry i of the ledger is the sum of the writes 0 to i, without the start; it should be "
        "write i alone.",
        "In the loop, append the newest write, not the sum so far (or stream - start).",
        "In start + ledger the first write would count L times, the second L - 1 times.",
        records="sum",
    ),
    _mistake(
        "write_of_new_stream",
        "Entry i of the ledger is what sub-layer i writes when it is called again, on the new stream. "
        "It should be the write that was added.",
        "In the loop: one call, write = sublayer(x), before x changes; add this write and append "
        "this write.",
        "The entry is not what was added, so start + ledger is not the final stream. And a sub-layer "
        "with dropout that is called twice answers twice.",
        records="next",
    ),
    _mistake(
        "ledger_with_start",
        "The ledger holds the start x_0 as its first entry, before the writes; it should hold the "
        "writes only.",
        "Before the loop: ledger = [x] -> ledger = [].",
        "Entry i is then the write of sub-layer i - 1, and start + ledger counts the embedding twice.",
        after=_ledger(lambda ledger, x: (x, *ledger)),
    ),
    _mistake(
        "ledger_of_last",
        "The ledger holds the last write only; it should hold the write of every sub-layer. The "
        "final stream is right.",
        "ledger = [] belongs before the loop; in the loop: ledger = [write] -> ledger.append(write).",
        "In start + ledger all writes but one are missing. In GPT-2 small that is 23 of 24.",
        after=_ledger(lambda ledger, x: ledger[-1:]),
    ),
    _mistake(
        "ledger_reversed",
        "The ledger is in reverse order, the last write first; the write of sub-layer 0 should be"
        " first. The final stream is right.",
        "In the loop: ledger.insert(0, write) -> ledger.append(write). In the return: no [::-1].",
        "The sum does not show it, but every write is put down to another sub-layer.",
        after=_ledger(lambda ledger, x: ledger[::-1]),
    ),
    _mistake(
        "ledger_negated",
        "Every entry of the ledger is the write times -1; it should be the write. The final stream "
        "is right.",
        "Is the entry a difference of two streams? Take the one after the sub-layer minus the one "
        "before it, not before minus after.",
        "Start + ledger then takes away what was added.",
        after=_ledger(lambda ledger, x: [-write for write in ledger]),
    ),
    _mistake(
        "returned_swapped",
        "It returns the ledger first and the final stream second; the final stream should be first.",
        "In the return: ledger, x -> x, ledger.",
        "Two results go by their order: after `stream, ledger = run_stream(…)` each name means the "
        "other thing.",
        after=lambda result: result[::-1],
    ),
    _mistake(
        "order_reversed",
        "The sub-layers run from the last to the first; they should run from the first to the last.",
        "In the line of the loop: leave out reversed(...) or [::-1] around sublayers.",
        "A sub-layer reads what those before it have written. In a trained model the last one would "
        "look for things that nobody has written yet.",
        order=lambda n: reversed(range(n)),
    ),
    _mistake(
        "all_read_start",
        "Every sub-layer reads the start x_0; each should read the stream so far, x_0 plus the "
        "earlier writes. The writes are added up as they should be.",
        "In the call of the sub-layer: hand it the stream that the loop changes, not the start.",
        "No sub-layer sees what another wrote: 24 of them are one wide layer, and nothing is worked "
        "out in two steps.",
        reads="start",
    ),
    _mistake(
        "reads_last_write",
        "Each sub-layer after the first reads the write of the one before it; it should read the "
        "stream so far. The writes are added up as they should be.",
        "In the loop: write = sublayer(write) -> write = sublayer(x).",
        "Only the first sub-layer sees the token's own vector, and each write is seen by the next "
        "sub-layer alone.",
        reads="write",
    ),
    _mistake(
        "only_last_added",
        "x is never updated: every sub-layer reads the start, and the result is the start plus the "
        "last write. Each turn of the loop should change x.",
        "In the loop, the sum must get the name x: result = x + write -> x = x + write. Then "
        "return x, not result.",
        "All writes but the last are computed for nothing, and the one that counts has read the bare "
        "embedding.",
        reads="start",
        onto="start",
    ),
    _mistake(
        "start_plus_last",
        "Each write is added to the start: after sub-layer i the stream is x_0 + write i. It should "
        "be the stream so far + write i.",
        "In the loop: stream = x + write -> stream = stream + write, where x is the start.",
        "A write lasts for one sub-layer: what block 1 has found, block 3 cannot read.",
        onto="start",
    ),
    _mistake(
        "without_start",
        "The final stream is the sum of the writes alone; it should be the start x_0 plus all "
        "writes. The ledger is right.",
        "In the return: not sum(ledger), but the x of the loop, which holds start + all writes.",
        "The token's own vector is missing where the prediction is read off, and no gradient reaches "
        "it but through the sub-layers.",
        after=lambda result: (sum(result[1]), result[1]),
    ),
    _mistake(
        "returns_in_loop",
        "Only the first sub-layer runs; all of them should run, one after the other.",
        "Is the return inside the loop? It belongs below it, indented as far as the for.",
        "Of GPT-2 small's 24 sub-layers one would run: the attention of the first block.",
        order=lambda n: range(1),
    ),
    _mistake(
        "last_skipped",
        "The last sub-layer does not run, all others do; it should run too.",
        "In the line of the loop: sublayers[:-1] -> sublayers, or range(len(sublayers) - 1) -> "
        "range(len(sublayers)).",
        "Shapes and loss look normal, and the weights of that sub-layer never get a gradient.",
        order=lambda n: range(n - 1),
    ),
    _mistake(
        "first_skipped",
        "The first sub-layer does not run, all others do; it should run too.",
        "In the line of the loop: sublayers[1:] -> sublayers, or range(1, len(sublayers)) -> "
        "range(len(sublayers)).",
        "Shapes and loss look normal, and the weights of that sub-layer never get a gradient.",
        order=lambda n: range(1, n),
    ),
    _mistake(
        "first_again",
        "Sub-layer 0 is called in every turn of the loop; turn i should call sub-layer i.",
        "In the loop: sublayers[0](x) -> sublayers[i](x), or the name that the for gives.",
        "L sub-layers that share one set of weights are one sub-layer, applied L times.",
        order=lambda n: [0] * n,
    ),
)
