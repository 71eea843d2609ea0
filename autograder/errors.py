"""The error that its reader can put right."""


class CourseError(ValueError):
    """Something given to the course cannot be used as it is. The message says what to do; a
    command shows it without a traceback."""
