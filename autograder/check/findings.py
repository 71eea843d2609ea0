"""From a student's answers to findings: what is wrong with each part, and the cause of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from autograder.check.mistake import Mistake
from autograder.check.naming import Case, Cause, cause_of
from autograder.check.parts import Fixture
from autograder.check.raised import hint
from autograder.check.shown import given
from autograder.judge import Finding, Trouble
from autograder.judge.compare import finite, form
from autograder.judge.finding import CLOSE, lower
from autograder.probes import Answer

if TYPE_CHECKING:
    from autograder.check.component import Component


SHAPES = "shapes and types"


def findings(
    c: Component,
    fixtures: list[Fixture],
    answers: list[Answer],
    rest: list[list[Answer]],
    mistakes: tuple[Mistake, ...],
) -> list[Finding]:
    """`answers`: one for each fixture; `rest`: those of each property; `mistakes`: to search."""
    wanted = [c.expected(f.inputs) for f in fixtures]
    each = zip(fixtures, answers, wanted)
    cause = cause_of(mistakes, [Case(f.inputs, a, w) for f, a, w in each], c.tolerance)
    seen = list(zip(fixtures, answers, wanted))
    raised = [_raised(c, f, a, cause) for f, a, _ in seen]
    shaped = [None if r else _shape(c, *each) for r, each in zip(raised, seen)]
    tried = [r or s for r, s in zip(raised, shaped)]
    whole = [None if t else _finite(c, *each) for t, each in zip(tried, seen)]
    obstacles = [t or w for t, w in zip(tried, whole)]

    def because(trouble: Trouble | None) -> Trouble | None:
        return _because(cause, len(fixtures), trouble)

    found, left = [], len(seen)
    for name, troubles in (("runs", raised), (SHAPES, shaped), ("finite", whole)):
        trouble = because(next((t for t in troubles if t), None))
        found.append(Finding(name, trouble, weight=0.0, skipped=left == 0))
        left -= sum(t is not None for t in troubles)
    troubles = [o or _numbers(c, *each) for o, each in zip(obstacles, seen)]
    troubles = _narrowed(fixtures, troubles)
    values = [
        Finding(f.name, because(t), f.weight, evidence=f.weight > 0)
        for f, t in zip(fixtures, troubles)
    ]
    main = fixtures[-1].inputs
    for prop, answer in zip(c.properties, rest):
        finding = Finding(prop.name, weight=prop.weight, evidence=prop.evidence)
        if obstacles[-1] or (prop.exact and values[-1].trouble):
            found.append(replace(finding, skipped=True))
        else:
            found.append(replace(finding, trouble=told(prop.verdict, c, main, answer)))
    return found + values


def _raised(c: Component, fixture: Fixture, answer: Answer, cause: Cause | None) -> Trouble | None:
    if not answer.failure:
        return None
    error, said = answer.failure.type, answer.failure.message
    kinds = (error, f"{fixture.name}: {error}")
    looks = (look for part, look in c.raises.items() if part in kinds or part in said)
    trouble = failure(answer, f'in the part "{fixture.name}"')
    trouble = replace(trouble, look=next(looks, trouble.look))
    return replace(trouble, evidence="") if cause else trouble


def _shape(c: Component, fixture: Fixture, answer: Answer, want: Any) -> Trouble | None:
    if isinstance(answer.value, Trouble):  # what `read` has to say
        return answer.value
    trouble = form(answer.value, want, c.outputs)
    if trouble is None:
        return None
    look = trouble.look or c.look.get(SHAPES, "")
    if trouble.evidence:
        return replace(trouble, look=look)
    return _placed(c, fixture, trouble, look)


def _finite(c: Component, fixture: Fixture, answer: Answer, want: Any) -> Trouble | None:
    trouble = finite(answer.value, want, c.outputs)
    return _placed(c, fixture, trouble, c.look.get(fixture.name, ""))


def _numbers(c: Component, fixture: Fixture, answer: Answer, want: Any) -> Trouble | None:
    trouble = c.difference(answer.value, want)
    return _placed(c, fixture, trouble, c.look.get(fixture.name, ""))


def _placed(c: Component, fixture: Fixture, trouble: Trouble | None, look: str) -> Trouble | None:
    """Told with the call that shows it, or with the part and what was given; and where to look."""
    if trouble is None:
        return None
    trouble = replace(trouble, look=look)
    code = c.typed(fixture)
    where = code or f'In "{fixture.name}"{given(fixture.inputs)}'
    if not trouble.picture:  # a single number, or a shape
        return replace(trouble, evidence=f"{where}.")
    if code:
        return replace(trouble, code=code)
    return replace(trouble, evidence=f"{where}, {lower(trouble.evidence)}")


def _narrowed(fixtures: list[Fixture], troubles: list[Trouble | None]) -> list[Trouble | None]:
    """Each trouble with the parts that are right: what differs between them is the place to look."""
    right = [f.name for f, t in zip(fixtures, troubles) if t is None and f.weight]
    if not right or not any(troubles):
        return troubles
    but = f"It is right on: {'; '.join(right)}."
    return [t and replace(t, relation=f"{t.relation} {but}".strip()) for t in troubles]


def _because(cause: Cause | None, n: int, trouble: Trouble | None) -> Trouble | None:
    """The same evidence, told with its cause where that is known."""
    if cause is None or trouble is None:
        return trouble
    detail = trouble.evidence or trouble.what
    if trouble.evidence and not trouble.picture:  # that is only where
        detail = f"{detail.rstrip('.')}: {lower(trouble.what)}"
    mistake, says = cause.mistake, cause.mistake.says
    alone = "These two together give" if " + " in mistake.name else "This one mistake gives"
    on = f"on all {n} inputs" if n > 1 else "on the one input"
    agrees = f"{alone} your results, {on}"
    if cause.sure == CLOSE:
        says = f"Probably: {says}"
        agrees = f"This explains {cause.explains:.0%} of what is off, {on}"
    return replace(
        trouble,
        what=says,
        evidence=f"{agrees}: {lower(detail)}",
        look=mistake.look,
        mistake=mistake.name,
        sure=cause.sure,
        why=mistake.why,
        seen=trouble.what,
    )


def told(reader: Callable[..., Any], *args: Any) -> Any:
    """What a `read` or a verdict says of a student's data; data of a form that it cannot take are
    a trouble, not a crash."""
    try:
        return reader(*args)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        return Trouble("The result has another form than it should.", str(error)[:200])


def failure(answer: Answer, where: str) -> Trouble:
    """An exception of the student's code, told as a trouble."""
    f = answer.failure
    if f.type == "WrongParameters":
        return Trouble(f"The parameters are not those of the exercise: {f.message}.")
    line = f"In your code, {f.line}" if f.line else ""
    if f.unwritten and f.function:
        return Trouble(f"{f.function}() still raises NotImplementedError.", line)
    said = f": {short(f.message).rstrip('.')}." if f.message else "."
    return Trouble(f"It raises {f.type} {where}{said}", line, hint(f))


def short(message: str) -> str:
    """The first line of a message, and the second where that ends in a colon."""
    first, *rest = message.splitlines()
    return f"{first} {rest[0].strip()}" if rest and first.rstrip().endswith(":") else first
