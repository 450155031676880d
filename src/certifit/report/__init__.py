"""Records of studies to one self-contained page, and to a model card."""

from certifit.report._card import card
from certifit.report._page import render

__all__ = ["card", "render"]
