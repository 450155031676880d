"""`certify`: judge a fitted model, ours or anybody's, by its own objective."""

# Importing a module of readers makes their models known to `certify`.
from certifit.judge import _sparse  # noqa: F401
from certifit.judge._certify import certify

__all__ = ["certify"]
