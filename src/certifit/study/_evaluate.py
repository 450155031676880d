"""Figures of a saved model on a table that has the answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from certifit import metrics
from certifit._types import Array, Record
from certifit.files import Schema, Table, TableError, TableModel
from certifit.study._conformal import decisions
from certifit.study._drift import drifted, seen_before
from certifit.study._encoder import TableEncoder
from certifit.study._facts import Facts
from certifit.study._judge import Answers, answers_of
from certifit.study._kinds import find_kind
from certifit.study._slices import errors_of, slices
from certifit.study._winner import class_figures, share

_DRAWS = 500  # bootstrap samples behind an interval


def evaluate(model: TableModel, data: Any, by: Sequence[str] = ()) -> list[str]:
    """Lines of figures with 95 % intervals, for people.

    Says first when rows were in the training table, and last which columns have drifted since then.

    Parameters
    ----------
    model : TableModel
    data : Table or path
        A table with the target column.
    by : sequence of str, default=()
        Columns of the table: errors in each of their levels or thirds.

    Examples
    --------
    >>> from certifit.study import fit
    >>> a, b = np.arange(40.0) % 7, np.arange(40.0) % 5
    >>> table = {"a": a, "b": b, "y": 2 * a - b + 0.5}
    >>> lines = evaluate(fit(table, "y", "ridge", parameters={"alpha": 0.0}), table)
    >>> lines[1][:26], lines[2][:8]
    ('this is the training table', 'R² 1.000')
    """
    table = Table.of(data)
    y, present = model.schema.labels(table)
    if not present.any():
        raise TableError("No row of the table has a target.")
    X, y = model.read(table).X[present], y[present]
    said = answers_of(model.pipeline, X)
    lines = [_rows_line(len(y), table.rows), *seen_before(model, table, X, y)]
    assert model.schema.target is not None
    classes = model.schema.target.task == "classification"
    lines += _classes(model, y, said) if classes else _values(y, said.labels)
    if by:
        lines += _by(table.take(np.flatnonzero(present)), by, y, said.labels, classes)
    return lines + drifted(model, X)


def _rows_line(judged: int, rows: int) -> str:
    return f"{judged} rows" + (f" ({rows - judged} more have no target)" if rows > judged else "")


def _classes(model: TableModel, y: Array, said: Answers) -> list[str]:
    """Accuracy, AUC of two classes, recall and precision of each."""
    lines = []
    known = np.isin(y, model.classes_)
    if not known.all():
        lines.append(f"{int((~known).sum())} rows have a class that was not in the training data: counted as errors")
    labels = np.union1d(model.classes_, y)
    figures = class_figures(y, said, labels)
    lines.append(f"accuracy {_share(figures['accuracy'])}")
    if len(np.unique(y)) == 2 and known.all() and said.scores is not None:
        curve = metrics.roc(y, said.scores)
        limits = curve.interval(0.95)
        lines.append(f"AUC {float(curve.auc):.3f} ({limits.low:.3f} to {limits.high:.3f})")
    for row in figures["classes"]:
        lines.append(f"{row['label']}: recall {_share(row['recall'])}, precision {_share(row['precision'])}")
    return lines + _at_threshold(model, y, said)


def _at_threshold(model: TableModel, y: Array, said: Answers) -> list[str]:
    """The decisions at the study's threshold, where it set one: what they find, and what they cost."""
    at = model.about.get("threshold")
    decided = dict(decisions(model, said.probabilities)) if at and said.probabilities is not None else {}
    if not at or "decision" not in decided:
        return []
    flagged, happened = np.array(decided["decision"]) == at["positive"], y.astype(str) == at["positive"]
    hits = int((flagged & happened).sum())
    line = f"predicting {at['positive']} from a probability of {at['threshold']:.3f}: "
    line += f"recall {_share(share(hits, int(happened.sum())))}, precision {_share(share(hits, int(flagged.sum())))}"
    if at["by"] == "costs":
        alarm, miss = at["costs"]
        cost = np.mean(alarm * (flagged & ~happened) + miss * (~flagged & happened))
        line += f", cost per row {cost:.3g}"
    return [line]


def _by(table: Table, by: Sequence[str], y: Array, said: Array, classes: bool) -> list[str]:
    """Errors in the slices of some columns of the table, used by the model or not."""
    columns = []
    for name in by:
        found = find_kind(name, table.column(name))
        if found.column is None:
            found = find_kind(name, table.column(name), as_category=True)
        if found.column is not None:
            columns.append(found.column)
    X = Schema(tuple(columns)).read(table).X
    wrong, bar = errors_of(y, said, classes)
    what = "wrong" if bar is None else f"off by more than {bar:.4g}"
    size = None if classes else np.abs(y - said)
    found = slices(X, columns, wrong, size, least=1)
    every = f"{what}: {100 * wrong.mean():.1f} % of all rows; "
    if not found:
        return [every + f"{' and '.join(by)} {'is' if len(by) == 1 else 'are'} the same in all of them"]
    lines = [every + "by slice (simultaneous 95 % intervals):"]
    for row in found:
        low, high = row["interval"]
        mean = f", mean error {row['mean']:.4g}" if size is not None else ""
        mark = "  differs" if row["differs"] else ""
        shown = f"{100 * row['share']:.1f} % ({100 * low:.1f} to {100 * high:.1f})"
        lines.append(f"  {row['name']}: {shown} of {row['rows']} rows{mean}{mark}")
    return lines


def _share(v: Record) -> str:
    if v["value"] is None:
        return "–"
    return f"{v['value']:.3f} ({v['interval'][0]:.3f} to {v['interval'][1]:.3f})"


def _values(y: Array, said: Array) -> list[str]:
    """R², mean absolute and root mean squared error, with percentile bootstrap intervals over the rows."""
    import scipy.stats

    error = np.abs(y - said)
    half = (
        float(scipy.stats.t.ppf(0.975, max(len(y) - 1, 1)) * error.std(ddof=1) / np.sqrt(len(y))) if len(y) > 1 else 0.0
    )
    r2, rmse = _r2(y, error), float(np.sqrt(np.mean(error**2)))
    rng = np.random.default_rng(0)
    draws = [rng.integers(0, len(y), len(y)) for _ in range(_DRAWS)]
    with np.errstate(invalid="ignore"):
        r2s = np.nanquantile([_r2(y[d], error[d]) for d in draws] + [r2], [0.025, 0.975])
    rmses = np.quantile([np.sqrt(np.mean(error[d] ** 2)) for d in draws], [0.025, 0.975])
    return [
        f"R² {r2:.3f} ({r2s[0]:.3f} to {r2s[1]:.3f})",
        f"mean absolute error {error.mean():.6g} ({error.mean() - half:.6g} to {error.mean() + half:.6g})",
        f"root mean squared error {rmse:.6g} ({rmses[0]:.6g} to {rmses[1]:.6g})",
    ]


def _r2(y: Array, error: Array) -> float:
    total = float(np.sum((y - y.mean()) ** 2))
    return 1.0 - float(np.sum(error**2)) / total if total > 0 else float("nan")


def raw_features(facts: Facts) -> Array:
    """The table as numbers on their own scales: gaps filled, categories as 0/1 columns.

    Parameters
    ----------
    facts : Facts

    Examples
    --------
    >>> from certifit.study import examine
    >>> raw_features(examine({"dose": np.sin(np.arange(30.0)), "ill": ["yes", "no", "no"] * 10}, "ill")).shape
    (30, 1)
    """
    encoder = TableEncoder.of(facts.schema.columns, standardize=False, reference=True)
    return np.asarray(encoder.fit_transform(facts.X))
