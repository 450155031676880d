"""Bundled tables to try things on, with what is known about them."""

from certifit._passing import pass_on
from certifit.datasets._bundled import Dataset, load, names

__all__ = ["Dataset", "load", "names"]

__getattr__, __dir__ = pass_on(__name__, "sklearn.datasets")
