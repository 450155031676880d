"""Tables that come with scikit-learn, as named columns with a target and a story."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

_KNOWN = {
    "breast-cancer": (
        "load_breast_cancer",
        "diagnosis",
        "569 biopsies, 30 measurements of cell nuclei, benign or malignant",
    ),
    "iris": ("load_iris", "species", "150 irises of three species, four lengths each"),
    "wine": ("load_wine", "cultivar", "178 wines of three cultivars, 13 chemical figures"),
    "diabetes": ("load_diabetes", "progression", "442 patients, ten standardised figures, progression after a year"),
}


@dataclass(frozen=True)
class Dataset:
    """A table in memory: columns by name, the column to predict, and what it is.

    Attributes
    ----------
    name, target, story : str
    columns : mapping
        Name → array.

    Examples
    --------
    >>> table = Dataset("tiny", {"x": np.arange(3), "y": np.ones(3)}, "y", "Three rows.")
    >>> table.target, len(table.columns)
    ('y', 2)
    """

    name: str
    columns: Mapping[str, Any]
    target: str
    story: str


def names() -> list[str]:
    """The names that `load` knows.

    Examples
    --------
    >>> len(names())
    4
    """
    return list(_KNOWN)


def load(name: str) -> Dataset:
    """A bundled table.

    Parameters
    ----------
    name : {"breast-cancer", "iris", "wine", "diabetes"}

    Examples
    --------
    >>> table = load("iris")
    >>> table.target, len(table.columns["species"])
    ('species', 150)
    """
    if name not in _KNOWN:
        raise ValueError(f"There is no bundled table {name!r}; there are {', '.join(_KNOWN)}.")
    import sklearn.datasets

    loader, target, story = _KNOWN[name]
    bunch = getattr(sklearn.datasets, loader)()
    columns: dict[str, Any] = {str(n): bunch.data[:, j] for j, n in enumerate(bunch.feature_names)}
    labels = getattr(bunch, "target_names", None)
    columns[target] = bunch.target if labels is None else np.asarray(labels)[bunch.target]
    return Dataset(name, columns, target, story)
