"""What is said about the chosen model: figures of held-out rows, what drives it, where it fails, what is proved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from certifit import _copies
from certifit._limits import held_out_share
from certifit._types import Array, Pipeline, Record
from certifit.report import prepare
from certifit.study import _calibration, _drivers, _shapes, _slices, _threshold, _winner
from certifit.study._black_box import NOTHING
from certifit.study._design import Design
from certifit.study._plan import Work
from certifit.study._runner import Result, meanwhile


def look_into(winner: Result, pipeline: Pipeline, work: Work, end: float, design: Design, workers: int = 1) -> Record:
    """Everything about the chosen model, as the record holds it; what there is no time for is left out."""
    held = _winner.held_out_answers(winner, work)
    look = winner.name != "baseline"
    maps = meanwhile(workers, _calibration.recalibration, winner, work, end) if look and _chance(held, work) else None
    if not _copies.possible():  # where it is, a copy has loaded this from the start
        meanwhile(workers, prepare)
    curve = meanwhile(workers, _winner.learning_curve, winner, work, end) if look else None
    out: dict[str, Any] = {"held_out": len(held.y)}
    if work.classes is not None:
        out["classes"] = _winner.class_figures(held.y, held.said, work.classes, look, work.positive)
    else:
        out["values"] = _winner.value_figures(held.y, held.said, work.seed)
    out["proofs"] = _winner.proofs(pipeline, work, end)
    if winner.candidate.black_box:
        out["proofs"]["none"] = NOTHING
    out["inside"] = _winner.inside(pipeline, work) if look else {"kind": "none"}
    if look and (found := _shapes.shapes(pipeline, work)) is not None:
        out["inside"]["shapes"] = found
    out["drivers"] = _drivers.importance(winner, work, end) if look else {}
    leading = _drivers.most_important(out["drivers"])
    out["drivers"]["dependence"] = _drivers.dependence(pipeline, work, leading, end) if look else []
    out["learning_curve"] = [] if curve is None else curve()
    out["slices"] = _where(held, work)
    return out | ({} if maps is None else _probabilities(held, maps, work, design))


def _where(held: _winner.HeldOut, work: Work) -> Record:
    """Errors by slice, all of them; the report shows the worst."""
    wrong, bar = _slices.errors_of(held.y, held.said.labels, work.classes is not None)
    size = None if work.classes is not None else np.abs(held.y - held.said.labels)
    found = _slices.slices(work.X[held.rows], work.schema.columns, wrong, size)
    return {"overall": float(wrong.mean()), "bar": bar, "slices": found}


def _chance(held: _winner.HeldOut, work: Work) -> bool:
    """Whether there are two classes, and probabilities of them."""
    chances = held.said.probabilities
    return work.positive is not None and work.classes is not None and chances is not None and chances.shape[1] == 2


def _probabilities(held: _winner.HeldOut, maps: Callable[[], Record | None], work: Work, design: Design) -> Record:
    """Calibration, other maps and the threshold."""
    chances = held.said.probabilities
    assert chances is not None
    p = chances[:, int(np.flatnonzero(work.classes == work.positive)[0])]
    happened = held.y == work.positive
    out: dict[str, Any] = {"calibration": {"positive": str(work.positive)} | _calibration.curve(p, happened)}
    tried = maps()
    if tried is not None:
        out["calibration"] |= tried
        made = _calibration.chosen_map(tried["advice"], p, happened.astype(int))
        if made is not None:
            out["recalibrated"], out["calibration"]["proof"] = made[0] | {"positive": str(work.positive)}, made[1]
    threshold = _wanted(p, happened, _folds_of(held.rows, work), work, design)
    if threshold is not None:
        out["threshold"] = threshold | {
            "positive": str(work.positive),
            "text": _threshold.in_words(threshold, str(work.positive)),
        }
    return out


def _wanted(p: Array, happened: Array, fold: Array, work: Work, design: Design) -> Record | None:
    """The threshold that was asked for."""
    if design.costs is not None:
        held_out = held_out_share(work.folds)
        return _threshold.by_costs(p, happened, fold, design.costs, held_out)
    return None if design.require is None else _threshold.by_rule(p, happened, _threshold.Rule.read(design.require))


def _folds_of(rows: Array, work: Work) -> Array:
    """The number of the fold that held out each row."""
    fold = np.full(len(work.y), -1)
    for k, (_, test) in enumerate(work.folds):
        fold[test] = k
    return fold[rows]
