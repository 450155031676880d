r"""How sure for one row: conformal intervals of numbers and sets of labels, from held-out answers.

The strangeness of row i is :math:`r_i = |y_i - \hat y_{-i}|` (numbers) or :math:`1 - \hat p_{-i}(y_i)` (classes), where
the model did not see the row. With q the k-th smallest of n of them, :math:`k = \lceil (n + 1)\,\text{level} \rceil`, a
new row gets :math:`\hat y \pm q`, or all labels with :math:`1 - \hat p ≤ q`: for rows that come from where these came
from, the true answer lies inside in about that fraction of cases.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from certifit._types import Array
from certifit.files import TableError, TableModel
from certifit.study._calibration import apply_map
from certifit.study._judge import Answers

_MOST = 2_000  # held-out rows that a model file remembers


def strangeness(y: Array, said: Answers, labels: Array | None, seed: int) -> list[float] | None:
    """Sorted strangeness of held-out rows (a random part of very many); None for classes without probabilities."""
    if labels is None:
        found = np.abs(np.asarray(y, dtype=float) - said.labels)
    else:
        if said.probabilities is None or said.probabilities.shape[1] != len(labels):
            return None
        found = 1.0 - said.probabilities[np.arange(len(y)), np.searchsorted(labels, y)]
    found = np.random.default_rng(seed).permutation(found)[:_MOST]
    return [float(v) for v in np.sort(found)]


def prediction_sets(model: TableModel, X: Array, level: float = 0.9) -> list[tuple[str, Any]]:
    """Columns that bound each prediction: "low" and "high" for numbers, "labels" (with bars between) for classes.

    Parameters
    ----------
    model : TableModel
        The model of a study.
    X : (n, columns) array
        Rows in the schema's order.
    level : float in (0, 1), default=0.9
        Coverage: the fraction of new rows whose true value lies inside.

    Examples
    --------
    >>> from certifit.study import run
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=100)
    >>> study = run({"x": x, "y": x + rng.normal(size=100)}, "y", models=["least squares"], folds=5)
    >>> (_, low), (_, high) = prediction_sets(study.model, np.zeros((1, 1)), 0.9)
    >>> 2.5 < float((high - low)[0]) < 4.0
    True
    """
    known = model.about.get("strangeness")
    if not known:
        raise TableError(
            "This model file stores no held-out predictions with probabilities: create it with certifit study."
        )
    place = math.ceil((len(known) + 1) * level)
    if place > len(known):
        raise TableError(f"{len(known)} held-out rows are too few for an interval of {level:g}.")
    q = known[place - 1]
    target = model.schema.target
    if target is not None and target.task == "classification":
        inside = 1.0 - np.asarray(model.pipeline.predict_proba(X)) <= q
        names = [str(c) for c in model.classes_]
        return [("labels", ["|".join(n for n, ok in zip(names, row) if ok) for row in inside])]
    said = np.asarray(model.pipeline.predict(X), dtype=float)
    low = np.maximum(said - q, 0.0) if target is not None and target.task == "counts" else said - q
    return [("low", low), ("high", said + q)]


def decisions(model: TableModel, probabilities: Array) -> list[tuple[str, Any]]:
    """Columns that a study's threshold and its map of probabilities add: "calibrated LABEL" and "decision".

    Parameters
    ----------
    model : TableModel
        The model of a study.
    probabilities : (n, 2) array
        As the model says them.

    Examples
    --------
    >>> from certifit.study import run
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=400)
    >>> table = {"x": x, "y": np.where(x + 0.5 * rng.normal(size=400) > 1, "ill", "well")}
    >>> model = run(table, "y", models=["logistic regression"], metric="log_loss", folds=5, costs=(1.0, 9.0)).model
    >>> [(name, list(cells)) for name, cells in decisions(model, np.array([[0.7, 0.3], [0.02, 0.98]]))]
    [('decision', ['ill', 'well'])]
    """
    known = model.about
    found: list[tuple[str, Any]] = []
    names = [str(c) for c in model.classes_]
    mend, at = known.get("recalibrated"), known.get("threshold")
    if mend and mend.get("positive") in names:
        p = probabilities[:, names.index(mend["positive"])]
        found.append((f"calibrated {mend['positive']}", apply_map(mend, p)))
    if at and at.get("threshold") is not None and at["positive"] in names and len(names) == 2:
        k = names.index(at["positive"])
        flagged = probabilities[:, k] >= at["threshold"]
        found.append(("decision", [names[k] if f else names[1 - k] for f in flagged]))
    return found
