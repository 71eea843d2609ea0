"""Chapter 1: a class of settings, and a function that takes one."""

from __future__ import annotations

import dataclasses

from autograder import standins
from autograder.probes.call import Answer, Call, kinds
from autograder.probes.plain import to_plain


def attributes(target, call: Call) -> Answer:
    """args: the constructor ("" for the class itself), its values, and the names to look at."""
    make, values, names = call.args
    named = make and isinstance(target, type)  # a function, such as a stub, has nothing by name
    config = (getattr(target, make) if named else target)(*values)
    if config is None:
        return Answer(value=None)
    return Answer(value={k: to_plain(getattr(config, k)) for k in names if hasattr(config, k)})


def nature(target, call: Call) -> Answer:
    """What kind of class it is: its fields, and what an assignment to one of them does."""
    config = target()
    before = to_plain(config.n_layer)
    try:
        config.n_layer = before + 1
        raised = ()
    except Exception as error:  # the right one is FrozenInstanceError
        raised = kinds(error)
    fields = dataclasses.fields(target) if dataclasses.is_dataclass(target) else ()
    return Answer(
        value={
            "fields": tuple(f.name for f in fields),
            "raised": raised,
            "changed": to_plain(config.n_layer) != before,
        }
    )


def refusals(target, call: Call) -> Answer:
    """args: pairs (d_model, n_head). What each raises: its kinds, or nothing."""
    raised = []
    for d_model, n_head in call.args:
        try:
            target(d_model=d_model, n_head=n_head)
            raised.append(())
        except Exception as error:  # whatever a student's code may raise
            raised.append(kinds(error))
    return Answer(value=tuple(raised))


def counts(target, call: Call) -> Answer:
    """args: the fields of a GPT2Config, and the keys of the result to look at (all if empty)."""
    fields, only = call.args
    value = to_plain(target(standins.GPT2Config(**fields)))
    if isinstance(value, dict) and only:
        value = {k: value[k] for k in only if k in value}
    return Answer(value=value)
