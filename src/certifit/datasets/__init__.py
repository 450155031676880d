"""Bundled tables to try things on, with what is known about them."""

from certifit.datasets._bundled import Dataset, load, names

__all__ = ["Dataset", "load", "names"]
