"""The study itself: table in, record, report and model out."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import certifit
from certifit.files import Table, TableError, TableModel, from_bytes, to_bytes, write_atomic
from certifit.study import _changes, _compare, _verdict, _winner
from certifit.study._facts import Facts, examine
from certifit.study._judge import Measure, measure_for
from certifit.study._models import candidates

_SHARE = 0.75  # of the time budget goes to the comparison; the rest to refit, proofs and report
_REFIT = 0.9  # by this share of the time budget the chosen model is to be fitted again


class Listener(Protocol):
    """Hears what the study does: the command line draws it.

    Examples
    --------
    >>> class Ear:
    ...     def say(self, what, text):
    ...         print(f"{what}: {text}")
    ...     def progress(self, done, total, name):
    ...         pass
    >>> listener: Listener = Ear()
    >>> listener.say("reading", "303 rows")
    reading: 303 rows
    """

    def say(self, what: str, text: str) -> None:
        """Hear a remark: ``what`` it is about (a word), and the ``text``."""

    def progress(self, done: int, total: int, name: str) -> None:
        """Hear that ``done`` of ``total`` fits are over, the last one of the model ``name``."""


class Silent:
    """Says nothing."""

    def say(self, what: str, text: str) -> None:
        """Ignore a line."""

    def progress(self, done: int, total: int, name: str) -> None:
        """Ignore a step."""


@dataclass(frozen=True)
class Study:
    """What a study found.

    Attributes
    ----------
    record : dict
        Everything, as JSON holds it; `certifit.report.render` makes the page from it.
    model : TableModel
        The chosen model, fitted on all rows.

    Examples
    --------
    >>> from certifit.study import run
    >>> x = np.sin(np.arange(60.0))
    >>> table = {"x": x, "y": 2 * x + 0.1 * np.cos(7 * np.arange(60.0))}
    >>> study = run(table, "y", models=["least squares"], folds=3)
    >>> study.record["verdict"]["winner"]
    'least squares'
    """

    record: dict[str, Any]
    model: TableModel

    @property
    def verdict(self) -> str:
        """The verdict in one paragraph."""
        return str(self.record["verdict"]["text"])

    def write(self, out: str | os.PathLike[str]) -> list[Path]:
        """Write report.html, model.certifit and, last, record.json with the digests of the others.

        Parameters
        ----------
        out : str or path
            The folder; made if it is not there.
        """
        import hashlib

        from certifit.report import render

        folder = Path(out)
        parts = {"report.html": render(self.record).encode(), "model.certifit": to_bytes(self.model)}
        self._check_reload(parts["model.certifit"])
        digests = {name: hashlib.sha256(data).hexdigest() for name, data in parts.items()}
        parts["record.json"] = json.dumps(
            self.record | {"digests": digests}, indent=1, ensure_ascii=False, allow_nan=False
        ).encode()
        for name, data in parts.items():
            write_atomic(folder / name, data)
        return [folder / name for name in parts]

    def _check_reload(self, data: bytes) -> None:
        """The model that is written must be the model that was fitted."""
        again = from_bytes(data, "the model just written")
        probe = np.vstack([np.zeros(len(self.model.schema.columns)), np.ones(len(self.model.schema.columns))])
        if not np.array_equal(again.pipeline.predict(probe), self.model.pipeline.predict(probe)):
            raise RuntimeError("The reloaded model predicts otherwise: this is a bug in certifit, please report it.")


def run(
    data: Any,
    target: str,
    *,
    task: str | None = None,
    models: Sequence[str] | None = None,
    folds: int | None = None,
    time_budget: float | None = None,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    categories: Sequence[str] = (),
    workers: int = 1,
    listener: Listener | None = None,
) -> Study:
    """Compare every model that applies to a table, choose one, refit it, prove it.

    Parameters
    ----------
    data : path, data frame (pandas, polars, pyarrow) or mapping of columns
    target : str
        The column to predict.
    task : {"classification", "regression", "counts"}, default=None
        Found from the target when None.
    models : sequence of str, default=None
        Names of the models to compare (the baseline always is); all that apply when None.
    folds : int ≥ 2, default=None
        Outer folds; 10 for up to 2 000 rows, 5 up to 20 000, 3 beyond, when None.
    time_budget : float > 0, default=None
        Seconds; candidates that do not fit in are skipped, and named.
    seed : int, default=0
    out : path, default=None
        Folder for report.html, model.certifit and record.json; nothing is written when None.
    drop, keep, categories : sequences of str
        Columns to leave out; to use although they look like identifiers or give the answer away; to take as
        categories although they hold numbers.
    workers : int ≥ 1, default=1
        Processes; with more than one, work that overruns the time budget is ended.
    listener : Listener, default=None
        Told about progress.

    Returns
    -------
    Study

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=60)
    >>> table = {"x": x, "noise": rng.normal(size=60), "y": 3 * x + rng.normal(size=60)}
    >>> study = run(table, "y", models=["least squares"], folds=5)
    >>> round(study.record["comparison"]["standings"][0]["mean"], 2)
    0.72
    """
    hear = listener or Silent()
    began, start = datetime.now(UTC), time.monotonic()
    end = start + time_budget if time_budget else float("inf")
    hear.say("reading", f"{data if isinstance(data, (str, os.PathLike)) else 'the table'}")
    facts = examine(data, target, task, tuple(drop), tuple(keep), tuple(categories))
    hear.say("reading", _changes.summary(facts))
    for remark in _changes.remarks(facts):
        hear.say("noticed", remark)
    measure = measure_for(facts.task, facts.y)
    work = plan(facts, measure, folds, seed)
    chosen, left = choose_candidates(facts, models)
    hear.say("comparing", f"{len(chosen)} models, nested {len(work.folds)}-fold, by {measure.name}")
    compare_end = start + _SHARE * time_budget if time_budget else float("inf")
    results = _compare.compare(chosen, work, compare_end, workers, hear.progress)
    verdict = _verdict.decide(results, work.folds, measure)
    left += _changes.left_behind(results, len(work.folds))
    text = _verdict.in_words(verdict, measure)
    hear.say("verdict", text)
    for line in _changes.left_lines(left):
        hear.say("skipped", line)
    pipeline, parameters, how = _winner.refit(
        verdict.winner, work, start + _REFIT * time_budget if time_budget else end
    )
    record: dict[str, Any] = {
        "certifit": certifit.__version__,
        "made": began.isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "data": _changes.describe(facts),
        "settings": {
            "target": target,
            "task": facts.task,
            "folds": len(work.folds),
            "inner_folds": work.inner,
            "seed": seed,
            "time_budget": time_budget,
            "models": list(models) if models is not None else None,
            "drop": list(drop),
            "keep": list(keep),
            "categories": list(categories),
        },
        "measure": {"name": measure.name, "words": measure.words},
        "comparison": {"standings": _verdict.to_record(verdict), "left": [list(item) for item in left]},
        "verdict": {
            "text": text,
            "winner": verdict.winner.name,
            "rule": verdict.rule,
            "parameters": {k: _plain(v) for k, v in parameters.items()},
            "parameters_by": how,
            "chosen_per_fold": _per_fold(verdict.winner),
            "beats_baseline": verdict.beats_baseline,
        },
    }
    record |= _look_into(verdict, pipeline, work, facts, end)
    record["changes"] = _changes.what_would_change(facts, verdict, record, measure)
    record["seconds"] = round(time.monotonic() - start, 2)
    for line in _changes.proof_lines(record):
        hear.say("proof", line)
    about = {
        "name": verdict.winner.name,
        "score": _score(verdict, measure),
        "target": target,
        "rows": len(facts.y),
        "data_digest": facts.table.digest,
        "parameters": record["verdict"]["parameters"],
        "made": record["made"],
    }
    study = Study(record, TableModel(pipeline, facts.schema, about))
    if out is not None:
        written = study.write(out)
        hear.say("wrote", ", ".join(str(p) for p in written))
    return study


def plan(facts: Facts, measure: Measure, folds: int | None, seed: int) -> _compare.Work:
    """Folds and everything else that all candidates share."""
    n = len(facts.y)
    asked = folds
    if folds is None:
        folds = 10 if n <= 2_000 else 5 if n <= 20_000 else 3
    if folds < 2:
        raise TableError(f"A comparison needs at least 2 folds, got {folds}.")
    own = facts.y[facts.twins == np.arange(n)]  # one row of each set of twins
    few = 3 if n > 20_000 else 5
    if facts.task == "classification":
        labels, counts = np.unique(own, return_counts=True)
        smallest = int(counts.min())
        if asked is None:
            folds = max(2, min(folds, smallest))
        elif folds > smallest:
            raise TableError(
                f"{folds} folds are too many: class {labels[counts.argmin()]!s} has {smallest} different rows, and "
                "every fold needs one of each class."
            )
        inner = max(2, min(few, smallest - smallest // folds - 1))
    else:
        if asked is None:  # a score of fewer than five rows is mostly noise
            folds = max(3, min(folds, len(own) // 5))
        if 2 * folds > len(own):
            raise TableError(f"{folds} folds are too many for {len(own)} different rows: each needs at least 2.")
        inner = few
    split = _compare.outer_folds(facts.y, facts.twins, facts.task == "classification", folds, seed)
    return _compare.Work(facts.X, facts.y, facts.schema, measure, split, inner, seed)


def choose_candidates(facts: Facts, models: Sequence[str] | None) -> tuple[list[Any], list[tuple[str, str]]]:
    """The candidates for these data, and those left out with the reason."""
    features = sum(min(len(c.categories), 25) if c.kind == "category" else 1 for c in facts.schema.columns)
    classes = len(np.unique(facts.y)) if facts.task == "classification" else 0
    positive = facts.task != "classification" and bool(np.min(facts.y) > 0)
    asked = None if models is None else tuple(models)
    try:
        return candidates(facts.task, len(facts.y), features, classes, positive, asked)
    except ValueError as error:
        raise TableError(str(error)) from None


def _per_fold(result: _compare.Result) -> dict[str, list[Any]]:
    names = sorted({name for p in result.pieces.values() for name in p.chosen})
    return {n: [_plain(result.pieces[k].chosen.get(n)) for k in sorted(result.pieces)] for n in names}


def _look_into(verdict: Any, pipeline: Any, work: _compare.Work, facts: Facts, end: float) -> dict[str, Any]:
    said = _winner.held_out_answers(verdict.winner, work)
    out: dict[str, Any] = {}
    if facts.task == "classification":
        out["classes"] = _winner.class_figures(facts.y, said, facts.target.labels(), verdict.winner.name != "baseline")
    else:
        out["values"] = _winner.value_figures(facts.y, said, work.seed)
    out["proofs"] = _winner.proofs(pipeline, work, end)
    look = verdict.winner.name != "baseline"
    out["inside"] = _winner.inside(pipeline, work, end) if look else {"kind": "none"}
    out["learning_curve"] = _winner.learning_curve(pipeline, work, end) if look else []
    return out


def _score(verdict: _verdict.Verdict, measure: Measure) -> dict[str, Any]:
    standing = verdict.of(verdict.winner.name)
    return {"measure": measure.name, "mean": standing.mean, "interval": [standing.low, standing.high]}


def _plain(v: Any) -> Any:
    return v.item() if isinstance(v, np.generic) else v


__all__ = ["Listener", "Silent", "Study", "Table", "run"]
