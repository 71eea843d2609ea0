"""Notebooks as files: read them leniently, write them normalised, take definitions from them."""

from autograder.notebooks.definitions import Definition, Definitions, definitions
from autograder.notebooks.find import CourseNotebook, find, files
from autograder.notebooks.locate import Place, locate
from autograder.notebooks.needs import Needs, needs, ordered
from autograder.notebooks.normalise import dumps, normalise
from autograder.notebooks.read import NotebookError, read

__all__ = [
    "CourseNotebook",
    "Definition",
    "Definitions",
    "Needs",
    "NotebookError",
    "Place",
    "definitions",
    "dumps",
    "files",
    "find",
    "locate",
    "needs",
    "normalise",
    "ordered",
    "read",
]
