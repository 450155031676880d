"""Answers of a fitted model about blocks of rows, none of which depends on the block that its row is in.

Matrix products round differently in blocks of different sizes. Scores of linear models are therefore summed here
column after column; other models are asked about a fixed number of rows at a time, the last piece filled up with
copies of its first row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import get_tags

from certifit._types import Array, BaseEstimator
from certifit.certificates.passes import scores as linear
from certifit.certificates.sums import Block

_ROWS = 1024  # rows that other models are asked about at a time


def _bare(model: BaseEstimator) -> Any:
    """The model without the promise of a proof, which would have to be kept before the model goes to a worker."""
    if "_promise" not in getattr(model, "__dict__", {}):
        return model
    bare = object.__new__(type(model))
    bare.__dict__.update({k: v for k, v in vars(model).items() if k not in ("_promise", "_begun", "_certificates")})
    return bare


class Answerer:
    """A fitted model and the names of the columns of a block, in their order; those of words come last."""

    def __init__(self, model: BaseEstimator, columns: tuple[str, ...], words: tuple[str, ...] = ()) -> None:
        self.model, self.columns, self.words = _bare(model), columns, words

    def __deepcopy__(self, memo: Any) -> Answerer:
        return self  # it only reads: partitions can share it

    @property
    def allows_gaps(self) -> bool:
        """Whether the model answers for rows with missing cells."""
        return bool(get_tags(self.model).input_tags.allow_nan)

    def predict(self, block: Block) -> Array:
        """Labels or values."""
        if not self._is_linear():
            return self._asked("predict", block)
        z = self._linear(block)
        classes = getattr(self.model, "classes_", None)
        if classes is None:
            reader = getattr(self.model, "_reader", None)
            return z[0] if reader is None else np.asarray(reader.parts[1].inverse(z[0]))
        if len(z) > 1:
            return np.asarray(classes[z.argmax(axis=0)])
        cut = getattr(self.model, "threshold_", 0.5)
        return np.asarray(classes[(z[0] > np.log(cut / (1.0 - cut))).astype(int)])

    def scores(self, block: Block) -> Array:
        """One number a row that grows with the chance of the second class."""
        if self._is_linear():
            return np.asarray(self._linear(block)[0])
        if hasattr(self.model, "predict_proba"):
            return np.ascontiguousarray(self._asked("predict_proba", block)[:, 1])
        return self._asked("decision_function", block)

    def probabilities(self, block: Block) -> Array | None:
        """Probabilities of the classes, (m, K); None for a model without any."""
        if not hasattr(self.model, "predict_proba"):
            return None
        if not self._is_linear():
            return self._asked("predict_proba", block)
        from certifit.linear_model._logistic import class_probabilities

        z = self._linear(block)
        return class_probabilities(z[0] if len(z) == 1 else np.ascontiguousarray(z.T), self.model.classes_)

    def _is_linear(self) -> bool:
        names = {"LinearRegression", "Ridge", "Lasso", "ElasticNet", "LogisticRegression", "LinearSVC", "GLM",
                 "PoissonRegressor", "GammaRegressor", "TweedieRegressor"}  # fmt: skip
        return type(self.model).__name__ in names and type(self.model).__module__.startswith("certifit.")

    def _linear(self, block: Block) -> Array:
        coef = np.atleast_2d(np.asarray(self.model.coef_, dtype=float))
        return linear(
            block.X, coef, np.broadcast_to(np.ravel(self.model.intercept_), (len(coef),)).astype(float), block.offset
        )

    def _asked(self, method: str, block: Block) -> Array:
        """What the model itself says, in pieces of one size."""
        import pandas as pd

        found = []
        for part in block.pieces(_ROWS):
            fill = np.append(np.arange(part.rows), np.zeros(_ROWS - part.rows, dtype=int))
            data = {name: part.X[j, fill] for j, name in enumerate(self.columns)}
            data |= {name: part.words[j][fill] for j, name in enumerate(self.words)}
            rows = pd.DataFrame(data)
            names = getattr(self.model, "feature_names_in_", None)
            asked = rows if names is None else rows[[str(n) for n in names]]
            found.append(
                np.asarray(getattr(self.model, method)(asked if names is not None else rows.to_numpy()))[: part.rows]
            )
        return np.concatenate(found)
