"""The report of a study as one self-contained page, and its model card."""

from certifit.report._card import card
from certifit.report._page import prepare, render

__all__ = ["card", "prepare", "render"]
