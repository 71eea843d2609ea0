"""Where nbgrader finds its steps: solutions/ is the source, exercises/ the release."""

import os
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent

c = get_config()  # noqa: F821: nbgrader provides it

c.CourseDirectory.root = str(ROOT)
c.CourseDirectory.course_id = "the-transformer"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.CourseDirectory.submitted_directory = "autograder/submitted"
c.CourseDirectory.autograded_directory = "autograder/autograded"
c.CourseDirectory.feedback_directory = "autograder/feedback"
c.CourseDirectory.db_url = f"sqlite:///{ROOT / 'autograder' / 'gradebook.db'}?timeout=60"

# nbgrader calls alembic by name: find it also where the environment has not been activated.
os.environ["PATH"] = sysconfig.get_path("scripts") + os.pathsep + os.environ.get("PATH", "")

# exercises/<assignment>/<notebook>.ipynb, without a student's name in between
c.CourseDirectory.directory_structure = "{nbgrader_step}/{student_id}/{assignment_id}"
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__"]

c.ClearSolutions.code_stub = {"python": 'raise NotImplementedError("write this part")'}
c.Execute.timeout = 300
c.ExecutePreprocessor.timeout = 300
c.ExecutePreprocessor.iopub_timeout = 30
