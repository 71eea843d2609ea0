"""What a cell prints is one output, exactly as it was printed. A kernel sends it in bursts, as time
goes by; myst-nb's own merging ends each burst with a line break, also in the middle of a line."""

from myst_nb.core import render


def joined(outputs):
    """Outputs of a cell, with all stream outputs of one name put together at the first."""
    first = {}
    kept = []
    for output in outputs:
        name = output["name"] if output["output_type"] == "stream" else None
        if name in first:
            first[name]["text"] += output["text"]
            continue
        if name:
            first[name] = output
        kept.append(output)
    return kept


def join_bursts(app, config):
    """With nb_merge_streams."""
    render.coalesce_streams = joined
