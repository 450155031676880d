"""Exercises that mark themselves: data for each student, a statement, and `check`, which proves how good an answer
is."""

from certifit.exercises._base import Exercise, Verdict, exercise, judged, load, names, numbers
from certifit.exercises._base import names as list  # noqa: A004  (exercises.list() reads well)
from certifit.exercises._notebook import notebook
from certifit.exercises._show_work import show_work

__all__ = ["Exercise", "Verdict", "exercise", "judged", "list", "load", "names", "notebook", "numbers", "show_work"]
