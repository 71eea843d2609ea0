"""The nbgrader side of the course: release, and grading of submissions."""
