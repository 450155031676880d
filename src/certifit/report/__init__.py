"""Records of studies to one self-contained page."""

from certifit.report._page import render

__all__ = ["render"]
