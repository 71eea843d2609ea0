"""Import a gpt2.py and examine it, in a process of its own: the file may hang or crash."""

import os
import time
from dataclasses import replace

from autograder.errors import CourseError
from autograder.survey.child import work

PULSE = 1.0  # seconds between two signs of life while it trains


def main(todo: dict, tell) -> None:
    os.chdir(todo["here"])
    from autograder.conform.load import load_module  # torch is loaded before the file can fail
    from autograder.doctor.examine import probes
    from autograder.doctor.patient import SETTINGS, Patient, text_of
    from autograder.training import device as devices

    try:
        device = devices.pick(todo["device"])
        devices.prepare(device, todo["threads"])
        text, settings = text_of(todo["text"], replace(SETTINGS, seed=todo["seed"]))
        tell("import")
        patient = Patient(load_module(todo["file"]), text, settings, device.type)
    except CourseError as error:
        tell("refused", why=str(error))
        return
    told = time.monotonic()

    def say(step: int) -> None:
        nonlocal told
        if time.monotonic() - told > PULSE:
            told = time.monotonic()
            tell("step", number=step)

    examined = probes(
        patient, todo["seconds"], begin=lambda part: tell("begin", part=part), say=say
    )
    for part, data in examined:
        tell("measured", part=part, data=data)


if __name__ == "__main__":
    work(main)
