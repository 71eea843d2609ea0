"""The examination: every probe in turn, and the judges that read what it found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from autograder.conform.row import describe
from autograder.doctor import (
    judge_context,
    judge_data,
    judge_gradients,
    judge_model,
    judge_run,
    judge_step,
    probe_context,
    probe_data,
    probe_gradients,
    probe_model,
    probe_run,
    probe_step,
)
from autograder.doctor.finding import Finding, Look
from autograder.doctor.patient import Patient

# name: what runs the file, what reads the result, which functions of the file it calls
PARTS: dict[str, tuple[Callable, tuple[Callable, ...], str]] = {
    "batches": (probe_data.batches, (judge_data.targets, judge_data.starts), "get_batch"),
    "schedule": (probe_data.schedule, (judge_data.rates,), "lr_schedule"),
    "start": (probe_model.start, (judge_model.first_loss,), "GPT2.forward"),
    "parts": (probe_model.parts, (judge_model.registered, judge_model.tying), "GPT2.__init__"),
    "loss": (probe_model.loss, (judge_model.loss_value,), "GPT2.loss"),
    "leak": (probe_context.leak, (judge_context.later_tokens, judge_context.rows), "GPT2.forward"),
    "context": (
        probe_context.context,
        (judge_context.stream, judge_context.earlier_tokens),
        "GPT2.forward",
    ),
    "gradients": (
        probe_gradients.gradients,
        (judge_gradients.slopes, judge_gradients.by_block),
        "GPT2.loss and its backward pass",
    ),
    "groups": (probe_gradients.groups, (judge_gradients.groups,), "decay_groups"),
    "rest": (probe_step.at_rest, (judge_step.at_rest,), "train_step"),
    "steps": (
        probe_step.steps,
        (judge_step.updates, judge_step.moved, judge_step.returned),
        "train_step",
    ),
    "modes": (probe_model.modes, (judge_model.evaluation,), "estimate_loss"),
    "training": (
        probe_run.training,
        (
            judge_run.determinism,
            judge_run.course_of_losses,
            judge_run.use_of_context,
            judge_run.floor,
            judge_run.prefixes,
            judge_run.overfitting,
        ),
        "get_batch, train_step",
    ),
}


def probes(
    patient: Patient,
    seconds: float,
    only: Collection[str] = (),
    begin: Callable[[str], None] = lambda part: None,
    say: Callable[[int], None] = lambda step: None,
) -> Iterator[tuple[str, dict]]:
    """Each part's name and what was measured, as plain data; `begin` hears each part before.

    What the file raises is data too. A model whose first logits are unusable is looked at no
    further.
    """
    for name, (probe, _, _) in PARTS.items():
        if only and name not in only:
            continue
        begin(name)
        try:
            if name == "training":
                data = probe(patient, seconds, say)
            else:
                data = probe(patient)
        except (Exception, SystemExit) as error:  # a student's code may raise anything
            data = {"raised": describe(error, patient.module.__file__)}
        yield name, data
        if data.get("stop"):
            return


def conclude(measured: dict[str, dict]) -> list[Look]:
    """All looks, in order; of parts that raised the same thing only the first is told."""
    looks, raised = [], set()
    for name, data in measured.items():
        _, judges, functions = PARTS[name]
        if "raised" in data:
            if data["raised"] not in raised:
                looks.append(broken(name, data["raised"], functions))
            raised.add(data["raised"])
            continue
        looks += [look for judge in judges if (look := judge(data)) is not None]
    return looks


def broken(name: str, why: str, functions: str) -> Look:
    wrong = Finding("raises", f"{functions} cannot be run", why + ".", functions + ".")
    return Look(name, "it raises", "no error", (wrong,))


def findings_of(looks: list[Look]) -> list[Finding]:
    return [finding for look in looks for finding in look.findings]
