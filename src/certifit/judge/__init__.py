"""`certify`: judge a fitted model, ours or anybody's, by its own objective; `certify_clusters`: a clustering."""

from certifit.judge._certify import certify
from certifit.judge._clusters import certify_clusters

__all__ = ["certify", "certify_clusters"]
