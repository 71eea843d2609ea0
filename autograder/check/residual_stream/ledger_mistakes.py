"""What goes wrong between a stream and its ledger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.check.mistake import Mistake, altered
from autograder.oracle import residual_stream as oracle


def _mistake(name: str, says: str, look: str, why: str, **changes: Any) -> Mistake:
    return Mistake(name, altered(oracle.run_stream, **changes), says, look, why)


def _ledger(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` of ledger and start in place of the ledger."""

    def changed(result, inputs):
        stream, ledger = result
        return stream, tuple(f(ledger, inputs["x"]))

    return changed


LOOP = "In the loop: write = sublayer(x), then x = x + write, and ledger.append(write)."

MISTAKES = (
    _mistake(
        "replaced",
        "Each sub-layer's result replaces the stream; it should be added to it.",
        "In the loop: x = x + write.",
        "The final stream is then the last write alone: the embedding and all else is lost, and start "
        "+ ledger does not give it.",
        keep=0.0,
    ),
    _mistake(
        "stream_doubled",
        "The result of residual_add is taken for a write: it contains the stream, which is then added "
        "once more.",
        "The write is what the sub-layer returns: write = sublayer(x), and then x = x + write.",
        "The stream doubles with each sub-layer: after the 24 of GPT-2 small the embedding has the "
        "factor 17 million.",
        keep=2.0,
        records="both",
    ),
    _mistake(
        "ledger_of_streams",
        "The ledger holds the stream after each sub-layer, not what the sub-layer added.",
        "Append the write alone, what the sub-layer returned: ledger.append(write).",
        "Such entries do not add up: their sum holds the embedding L times. And none of them says "
        "what one sub-layer did.",
        records="stream",
    ),
    _mistake(
        "ledger_of_inputs",
        "The ledger holds what each sub-layer read, not what it wrote.",
        "Append what the sub-layer returned: ledger.append(write).",
        "What a sub-layer read was written by others; the last write stands in no entry at all.",
        records="input",
    ),
    _mistake(
        "ledger_of_sums",
        "The ledger holds running totals: each entry contains the earlier writes too.",
        "Append the write of this sub-layer alone: ledger.append(write).",
        "In start + ledger the first write would count L times, the second L - 1 times.",
        records="sum",
    ),
    _mistake(
        "write_of_new_stream",
        "The ledger's write is taken from the stream after the update, not from the one before it.",
        "One call, before the update: write = sublayer(x), then x = x + write.",
        "The entry is not what was added, so start + ledger is not the final stream. And a sub-layer "
        "with dropout that is called twice answers twice.",
        records="next",
    ),
    _mistake(
        "ledger_with_start",
        "The ledger starts with the embedding. It lists the writes only, one a sub-layer.",
        "Start with an empty list: ledger = [].",
        "Entry i is then the write of sub-layer i - 1, and start + ledger counts the embedding twice.",
        after=_ledger(lambda ledger, x: (x, *ledger)),
    ),
    _mistake(
        "ledger_of_last",
        "The ledger holds the last write only: it is made anew for every sub-layer.",
        "ledger = [] once, before the loop, and ledger.append(write) in it.",
        "In start + ledger all writes but one are missing. In GPT-2 small that is 23 of 24.",
        after=_ledger(lambda ledger, x: ledger[-1:]),
    ),
    _mistake(
        "ledger_reversed",
        "The ledger is in reverse order: entry 0 should be the write of sub-layer 0.",
        "A new entry belongs at the end: ledger.append(write).",
        "The sum does not show it, but every write is put down to another sub-layer.",
        after=_ledger(lambda ledger, x: ledger[::-1]),
    ),
    _mistake(
        "ledger_negated",
        "The ledger holds each write with the opposite sign.",
        "Append what the sub-layer returned. As a difference it is the new stream minus the old one.",
        "Start + ledger then takes away what was added.",
        after=_ledger(lambda ledger, x: [-write for write in ledger]),
    ),
    _mistake(
        "returned_swapped",
        "The ledger is returned first; the final stream comes first.",
        "The last line: `return x, ledger`.",
        "Two results go by their order: after `stream, ledger = run_stream(…)` each name means the "
        "other thing.",
        after=lambda result: result[::-1],
    ),
    _mistake(
        "order_reversed",
        "The sub-layers run in reverse order.",
        "`for sublayer in sublayers:` begins with the first of the list.",
        "A sub-layer reads what those before it have written. In a trained model the last one would "
        "look for things that nobody has written yet.",
        order=lambda n: reversed(range(n)),
    ),
    _mistake(
        "all_read_start",
        "Every sub-layer reads the first stream; it should read the stream as it then stands.",
        LOOP,
        "No sub-layer sees what another wrote: 24 of them are one wide layer, and nothing is worked "
        "out in two steps.",
        reads="start",
    ),
    _mistake(
        "reads_last_write",
        "Each sub-layer reads the write of the one before, not the stream.",
        "Each reads the sum so far: write = sublayer(x), with x = x + write after it.",
        "Only the first sub-layer sees the token's own vector, and each write is seen by the next "
        "sub-layer alone.",
        reads="write",
    ),
    _mistake(
        "only_last_added",
        "The stream is never updated: the result is the start plus the last write.",
        LOOP,
        "All writes but the last are computed for nothing, and the one that counts has read the bare "
        "embedding.",
        reads="start",
        onto="start",
    ),
    _mistake(
        "start_plus_last",
        "Each write is added to the start, not to the stream: the earlier writes are lost.",
        "x = x + write, where x is the stream so far and not the one that was given.",
        "A write lasts for one sub-layer: what block 1 has found, block 3 cannot read.",
        onto="start",
    ),
    _mistake(
        "without_start",
        "The final stream is the sum of the writes; the embedding is missing from it.",
        "Start from x and add each write to it: x = x + write.",
        "The token's own vector is missing where the prediction is read off, and no gradient reaches "
        "it but through the sub-layers.",
        after=lambda result: (sum(result[1]), result[1]),
    ),
    _mistake(
        "returns_in_loop",
        "It stops after the first sub-layer.",
        "Is the `return` indented into the loop? It belongs below it.",
        "Of GPT-2 small's 24 sub-layers one would run: the attention of the first block.",
        order=lambda n: range(1),
    ),
    _mistake(
        "last_skipped",
        "The last sub-layer is left out.",
        "`for sublayer in sublayers:` runs through all of them; range(L - 1) ends one too early.",
        "Shapes and loss look normal, and the weights of that sub-layer never get a gradient.",
        order=lambda n: range(n - 1),
    ),
    _mistake(
        "first_skipped",
        "The first sub-layer is left out.",
        "`for sublayer in sublayers:` runs through all of them; indices start at 0.",
        "Shapes and loss look normal, and the weights of that sub-layer never get a gradient.",
        order=lambda n: range(1, n),
    ),
    _mistake(
        "first_again",
        "The first sub-layer is called each time, in place of the others.",
        "Call the one whose turn it is: sublayer, or sublayers[i], not sublayers[0].",
        "L sub-layers that share one set of weights are one sub-layer, applied L times.",
        order=lambda n: [0] * n,
    ),
)
