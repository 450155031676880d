"""A fitted model together with the schema of the tables it understands."""

from __future__ import annotations

from typing import Any

import numpy as np

from certifit._types import Array, Pipeline, Record
from certifit.files._read import Table
from certifit.files._schema import Reading, Schema


class TableModel:
    """Predicts from tables: a schema, and a fitted pipeline from the schema's matrix to predictions.

    Parameters
    ----------
    pipeline : fitted estimator
        Takes the matrix that `Schema.read` makes.
    schema : Schema
    about : dict, default=None
        Facts to show with it (name, score, seed, ...).

    Examples
    --------
    >>> from certifit.files import Column, Schema, Target
    >>> from certifit.linear_model import Ridge
    >>> schema = Schema((Column("x", "number"),), Target("y", "regression"))
    >>> model = TableModel(Ridge(alpha=1.0).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.5]), schema)
    >>> model.predict({"x": [0, 1]}).round(3)
    array([1.667, 3.167])
    """

    def __init__(self, pipeline: Pipeline, schema: Schema, about: Record | None = None) -> None:
        self.pipeline = pipeline
        self.schema = schema
        self.about = dict(about or {})

    @property
    def estimator(self) -> Any:
        """The last step: the model itself."""
        return self.pipeline.steps[-1][1] if hasattr(self.pipeline, "steps") else self.pipeline

    @property
    def classes_(self) -> Array:
        """Class labels, in the order of the probabilities."""
        return np.asarray(self.estimator.classes_)

    @property
    def certificates_(self) -> tuple[Any, ...]:
        """Certificates of the fit (of the last step, on the rows as transformed by the steps before it)."""
        return tuple(getattr(self.estimator, "certificates_", ()))

    def read(self, data: Any) -> Reading:
        """A table as the pipeline takes it, with remarks.

        Parameters
        ----------
        data : path, mapping of columns, or data frame
        """
        return self.schema.read(Table.of(data))

    def features(self, X: Array) -> Array:
        """What the last step sees: the matrix after all preprocessing.

        Parameters
        ----------
        X : (n, columns) array
            A table as `read` gives it.
        """
        return np.asarray(self.pipeline[:-1].transform(X)) if hasattr(self.pipeline, "steps") else X

    def labelled(self, data: Any) -> tuple[Array, Array, Array | None]:
        """What the last step is fitted to: features, targets and weights (if any) of the rows that have a target.

        Parameters
        ----------
        data : path, mapping of columns, or data frame
        """
        table = Table.of(data)
        y, present = self.schema.labels(table)
        weights = self.schema.row_weights(table)
        X = self.features(self.read(table).X[present])
        return X, y[present], None if weights is None else weights[present]

    def predict(self, data: Any) -> Array:
        """Predictions for the rows of a table (a path, a data frame, a mapping of columns)."""
        return np.asarray(self.pipeline.predict(self.read(data).X))

    def predict_proba(self, data: Any) -> Array:
        """Class probabilities for the rows of a table; columns in the order of ``classes_``.

        Parameters
        ----------
        data : path, mapping of columns, or data frame
        """
        return np.asarray(self.pipeline.predict_proba(self.read(data).X))
