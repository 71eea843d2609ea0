"""`autograder doctor`: each wrong file is named by its cause, and right ones are left in peace."""

import json
import random
import re
from dataclasses import replace

import pytest
from doctor_patients import MODELS
from doctor_steps import STEPS
from gpt2_edits import edit
from gpt2_rewrites import HARMLESS

from autograder.cli import main
from autograder.conform.load import load_module
from autograder.doctor import updates
from autograder.doctor.examine import PARTS, conclude, findings_of, probes
from autograder.doctor.follows import RESTS_ON, parents
from autograder.doctor.patient import SETTINGS, Patient, text_of
from autograder.errors import CourseError

ILL = [*MODELS, *STEPS]
SMALL = replace(SETTINGS, tales=300, held_out=32)
QUICK = 0.3  # seconds: some 20 steps


@pytest.fixture(scope="module")
def tales():
    return text_of(None, SMALL)


@pytest.fixture(scope="module")
def prose(tmp_path_factory):
    """A text by characters in which letters tell of the next ones."""
    path = tmp_path_factory.mktemp("text") / "prose.txt"
    words = "the cat sat on a mat and so did the dog that she had".split()
    path.write_text(" ".join(random.Random(0).choices(words, k=700)))
    return path


@pytest.fixture(scope="module")
def write(tmp_path_factory, reference_source):
    """The reference with some edits, as a file."""
    folder = tmp_path_factory.mktemp("ill")

    def write(*edits):
        path = folder / f"gpt2_{len(list(folder.iterdir()))}.py"
        path.write_text(edit(reference_source, *edits) if edits else reference_source)
        return path

    return write


def examined(path, text, settings=SMALL, parts=(), seconds=QUICK):
    """What was measured, as it comes through a process: JSON has no tuples and no numbers as keys."""
    patient = Patient(load_module(path), text, settings)
    return json.loads(json.dumps(dict(probes(patient, seconds, parts))))


def causes(measured):
    """Of all findings that follow from no other one."""
    findings = findings_of(conclude(measured))
    return [f.cause for f in findings if f.cause not in parents(findings)]


# ------------------------------------------------------------------ wrong files


@pytest.mark.parametrize("patient", ILL, ids=lambda patient: patient.name)
def test_a_wrong_file_is_found_and_its_cause_named(patient, write, tales):
    measured = examined(write(*patient.edits), tales[0], parts=patient.parts)
    assert causes(measured) == [patient.cause]
    finding, *_ = [f for f in findings_of(conclude(measured)) if f.cause == patient.cause]
    what, evidence, look = finding.lines()
    assert look.startswith("Look at ") and re.search(r"\w", look[8:])
    assert evidence.endswith((".", ")")) and not what.endswith(".")


def test_every_kind_is_tried():
    """Names are used once, every part has a wrong file, and no cause is named by a judge alone."""
    assert len({p.name for p in ILL}) == len(ILL) >= 25
    assert {part for p in ILL for part in p.parts} == set(PARTS)
    assert set(updates.MISTAKES) <= {p.cause for p in ILL}
    assert {root for roots in RESTS_ON.values() for root in roots} - {p.cause for p in ILL} == {
        "mask_has_holes",  # these two are what is said where no other cause fits
        "leak",
        "not_registered",
    }


def test_a_whole_examination_names_one_cause(write, tales):
    edits = next(p.edits for p in ILL if p.name == "no zero_grad")
    measured = examined(write(*edits), tales[0])
    assert list(measured) == list(PARTS)
    findings = findings_of(conclude(measured))
    assert causes(measured) == ["gradients_not_cleared"]
    assert parents(findings) == {"updates_not_adamw": "gradients_not_cleared"}


# ------------------------------------------------------------------ right files


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", ["tales", "prose"])
def test_the_reference_has_no_finding(kind, seed, write, tales, prose):
    text, settings = tales if kind == "tales" else text_of(str(prose), SMALL)
    measured = examined(write(), text, replace(settings, seed=seed), seconds=1.5)
    assert findings_of(conclude(measured)) == []
    assert len(measured["training"]["steps"]) >= 20


@pytest.mark.parametrize("name", HARMLESS)
def test_other_ways_to_be_right_have_no_finding(name, write, tales):
    measured = examined(write(*HARMLESS[name]), tales[0])
    assert findings_of(conclude(measured)) == []


def test_an_optimiser_made_once_keeps_the_first_rate(write, tales):
    """In a training it would stay in the warm-up."""
    edits = next(edits for name, edits in HARMLESS.items() if "optim" in name)
    new_rate = "    for group in state['adamw'].param_groups:\n        group['lr'] = lr\n"
    edits = [(place, old, new.replace(new_rate, "")) for place, old, new in edits]
    assert any(new_rate in new for _, _, new in HARMLESS["SDPA, torch.optim"])
    assert causes(examined(write(*edits), tales[0])) == ["lr_of_the_first_step"]


@pytest.mark.parametrize(
    "changes",
    [
        dict(context=12, n_layer=1, n_head=1, d_model=16, batch_size=3),
        dict(context=24, n_layer=4, n_head=8, d_model=96, batch_size=2),
    ],
)
def test_the_reference_in_other_sizes(changes, write):
    text, settings = text_of(None, replace(SMALL, **changes))
    assert findings_of(conclude(examined(write(), text, settings))) == []


def test_letters_at_random_have_nothing_to_learn(write, tmp_path):
    path = tmp_path / "random.txt"
    path.write_text("".join(random.Random(1).choices("ab", k=3000)))
    text, settings = text_of(str(path), SMALL)
    assert findings_of(conclude(examined(write(), text, settings))) == []


# ------------------------------------------------------------------ a run that breaks


@pytest.mark.parametrize(
    "edits, what",
    [
        (("adamw_step", "state['step'] += 1", "state['step'] += 1; eps = float('nan')"), "weights"),
        (("cross_entropy", ".mean()", ".mean() + (0 * target_logit).sqrt().sum()"), "gradient"),
        (("FeedForward.forward", "+ self.b_down", "+ self.b_down / (self.b_down == 0)"), "ffn"),
    ],
)
def test_where_a_run_breaks_first(edits, what, write, tales):
    measured = examined(write(edits), tales[0], parts=("training",))["training"]
    assert what in f"{measured['broke']['what']} {measured['broke']['part']}"
    (finding,) = [f for f in findings_of(conclude({"training": measured})) if not f.remark]
    assert finding.cause == "not_finite" and len(finding.lines()) == 3


# ------------------------------------------------------------------ texts that are of no use


def test_texts_that_are_too_short_or_of_one_letter(tmp_path):
    path = tmp_path / "text.txt"
    for content, said in (("ab" * 44, "needs 90"), ("a" * 500, "a single character, 'a'")):
        path.write_text(content)
        with pytest.raises(CourseError, match=said):
            text_of(str(path), SMALL)
    path.write_text("ab" * 45)
    text, settings = text_of(str(path), SMALL)
    assert settings.context == 8 and len(text.held_out) == 1


# ------------------------------------------------------------------ the command


@pytest.fixture
def doctor(monkeypatch, capfd, tmp_path):
    monkeypatch.chdir(tmp_path)

    def doctor(*args):
        status = main(["doctor", *map(str, args), "--seconds", str(QUICK)])
        out, err = capfd.readouterr()
        return status, " ".join(out.split()), err

    return doctor


def test_the_command_on_a_right_file(doctor, write, tmp_path):
    status, out, err = doctor(write(), "--json", "said.json", "--seed", 3)
    assert status == 0 and err == ""
    assert "Nothing found in" in out and "y is x one token later" in out
    told = json.loads((tmp_path / "said.json").read_text())
    assert told["findings"] == [] and len(told["looks"]) > 20


def test_the_command_on_a_wrong_file(doctor, write, tmp_path):
    edits = next(p.edits for p in ILL if p.name == "looks one ahead")
    status, out, err = doctor(write(*edits), "--json", "said.json")
    assert status == 1 and "Traceback" not in err
    assert "FOUND The mask is one diagonal off" in out and "1 cause found" in out
    told = json.loads((tmp_path / "said.json").read_text())["findings"]
    follows = {f["cause"]: f["follows_from"] for f in told}
    assert follows["mask_one_ahead"] is None
    assert set(follows.values()) == {None, "mask_one_ahead"}


def test_a_file_that_never_comes_back(doctor, write):
    path = write(("lr_schedule", "", "def lr_schedule(*args):\n    while True:\n        pass"))
    status, out, _ = doctor(path, "--limit", "1")
    assert status == 1
    assert "lr_schedule did not come to an end" in out and "longer than 1 seconds" in out


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("def estimate_loss", "def estimated_loss", "does not define estimate_loss"),
        ("import math", "import maths", "cannot be imported"),
    ],
)
def test_a_file_that_cannot_be_examined(old, new, said, doctor, reference_source, tmp_path):
    path = tmp_path / "gpt2.py"
    path.write_text(reference_source.replace(old, new))
    status, out, err = doctor(path)
    assert status == 2 and said in err and out == ""
