"""Coefficients in the columns' own units: of the chosen model, and with intervals from the fit without penalty.

A penalty pulls coefficients towards zero on purpose, so that no interval around them would cover the truth as often as
it says. Intervals, odds ratios and p-values therefore come from the same model without penalty, fitted to the same rows
with one level of every category as reference, where that fit exists and its columns are independent.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from certifit._types import Array, Pipeline, Record
from certifit.exceptions import CertifitError, NoOptimumError
from certifit.study._encoder import TableEncoder
from certifit.study._plan import Work

_CELLS = 5_000_000  # rows × columns up to which the fit without penalty is made
_ROWS_PER_COLUMN = 5


def own_units(pipeline: Pipeline) -> Record | None:
    """Coefficients and offset of a linear model per unit of each column; None when other steps stand in between."""
    if len(pipeline.steps) != 2 or not isinstance(pipeline.steps[0][1], TableEncoder):
        return None
    encoder, model = pipeline.steps[0][1], pipeline.steps[1][1]
    coef = np.atleast_2d(np.asarray(model.coef_, dtype=float))
    if encoder.gaps or coef.shape[1] != len(encoder.feature_names_):
        return None
    k = len(encoder.kept_)
    scale, centre = np.ones(coef.shape[1]), np.zeros(coef.shape[1])
    scale[:k], centre[:k] = encoder.scale_, encoder.centre_
    own = coef / scale
    offset = np.broadcast_to(np.ravel(np.asarray(model.intercept_, dtype=float)), len(coef)) - own @ centre
    return {"values": [[float(v) for v in row] for row in own], "intercept": [float(v) for v in offset]}


def effects(pipeline: Pipeline, work: Work) -> Record | None:
    """The table of inference of the fit without penalty; None where there is none to be had, with no excuse needed."""
    made = _without_penalty(pipeline, work)
    if made is None:
        return None
    model, y, ratio = made
    if work.weights is not None or work.groups is not None or work.time is not None:
        return {"why_not": "rows are weighted, grouped or ordered in time, which the usual formulas do not allow for"}
    encoder = TableEncoder.of(work.schema.columns, reference=True)
    Z = encoder.fit_transform(work.X)
    if Z.size > _CELLS or len(Z) < _ROWS_PER_COLUMN * Z.shape[1]:
        return {"why_not": f"{Z.shape[1]} features are too many for {len(Z)} rows"}
    try:
        with warnings.catch_warnings(action="ignore"):
            summary = model.fit(Z, y).summary()
    except NoOptimumError:
        return {"why_not": "without a penalty the likelihood keeps increasing as some coefficients grow: no optimum"}
    except (ValueError, CertifitError) as error:
        return {"why_not": " ".join(str(error).split()).partition(". ")[0].rstrip(".")}
    return _table(summary, encoder, ratio)


def _without_penalty(pipeline: Pipeline, work: Work) -> tuple[Any, Array, str] | None:
    """An unfitted model without penalty, its target and what exp(coefficient) is called."""
    from certifit.glm import GLM
    from certifit.linear_model import LinearRegression, LogisticRegression

    model = pipeline.steps[-1][1]
    if len(pipeline.steps) != 2 or not hasattr(model, "coef_"):
        return None
    if isinstance(model, GLM):
        kind, link = ("poisson", "log") if work.task == "counts" else (model.family, model.link)
        return GLM(family=kind, link=link, alpha=0.0), work.y, "ratio"
    if hasattr(model, "certified_target"):  # a model of the logarithm
        return LinearRegression(), model.certified_target(work.y), "ratio"
    if work.task == "regression":
        return LinearRegression(), work.y, ""
    if work.task == "classification" and work.classes is not None and len(work.classes) == 2:
        return LogisticRegression(C=np.inf), (work.y == work.positive).astype(int), "odds ratio"
    return None


def _table(summary: Any, encoder: TableEncoder, ratio: str) -> Record:
    """Rows of the summary, numbers per unit of their column."""
    k = len(encoder.kept_)
    scale = np.ones(len(encoder.feature_names_))
    scale[:k] = encoder.scale_
    names = list(encoder.feature_names_)
    limits = summary.interval(0.95)
    rows = []
    for j, name in enumerate(names, start=1):
        b = float(summary.params[j]) / scale[j - 1]
        low, high = (float(v) / scale[j - 1] for v in limits[j])
        row: dict[str, Any] = {"name": name, "estimate": b, "interval": [low, high], "p": float(summary.p_values[j])}
        if ratio and max(abs(low), abs(high)) < 700:
            row |= {"ratio": float(np.exp(b)), "ratio_interval": [float(np.exp(low)), float(np.exp(high))]}
        rows.append(row)
    finite = all(np.isfinite(v) for row in rows for v in (row["estimate"], *row["interval"], row["p"]))
    if not finite:
        return {"why_not": "the standard errors are not finite"}
    centre = np.zeros(len(names))
    centre[:k] = encoder.centre_
    intercept = float(summary.params[0]) - float(np.sum([row["estimate"] for row in rows] * centre))
    return {"title": summary.title, "ratio": ratio, "rows": rows, "intercept": intercept, "figures": _figures(summary)}


def _figures(summary: Any) -> Mapping[str, float]:
    return {k: float(v) for k, v in summary.figures.items() if v is not None and np.isfinite(v)}
