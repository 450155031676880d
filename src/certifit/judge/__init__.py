"""`certify`: judge a fitted model, ours or anybody's, by its own objective."""

from certifit.judge._certify import certify

__all__ = ["certify"]
