"""Words of a text as features: which of a fixed number of buckets hold a word of it.

Words are lower case, of two letters or more, and a hash that never changes (MurmurHash3) says which bucket a word
belongs to. So a text becomes numbers without a list of words, and without looking at other rows.
"""

from __future__ import annotations

from typing import Any

from certifit.files import _cells

BUCKETS = 1_024
"""Buckets of a column of text."""


def analyser(buckets: int = BUCKETS) -> Any:
    """scikit-learn's vectorizer that says which buckets the words of a text fall into.

    Examples
    --------
    >>> analyser().build_analyzer()("A good film, GOOD fun")
    ['good', 'film', 'good', 'fun']
    """
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(n_features=buckets, alternate_sign=False, binary=True, norm=None)


def texts(cells: Any) -> list[str]:
    """The cells as texts; a missing one has no words."""
    return [w if w is not None else "" for w in _cells.stripped(cells).to_pylist()]


def presence(cells: Any, buckets: int) -> Any:
    """A sparse (n, buckets) matrix in columns: 1 where a text (a cell of an Arrow array) has a word of the bucket."""
    return analyser(buckets).transform(texts(cells)).tocsc()
