"""The study itself: table in, record, report and model out."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from sklearn import config_context

import certifit
from certifit import _copies
from certifit._types import Named, Record
from certifit.certificates import write_table
from certifit.exceptions import CertifitError
from certifit.files import Table, TableError, TableModel, certificates_of, from_bytes, to_bytes, write_atomic
from certifit.study import _describe, _outlook, _runner, _verdict, _winner
from certifit.study._conformal import strangeness
from certifit.study._design import Design
from certifit.study._drift import remember
from certifit.study._evaluate import evaluate
from certifit.study._facts import Facts, examine
from certifit.study._look import look_into
from certifit.study._plan import Budget, Skipped, StudyPlan, Work, plan_study
from certifit.study._summary import summary

_PROOF_CELLS = 2_000_000  # numbers of the encoded table up to which a proof file is written


class Listener(Protocol):
    """Receives the progress of a study; the command line displays it.

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
        """Receive a remark: ``what`` it is about (a word), and the ``text``."""

    def progress(self, done: int, total: int, name: str) -> None:
        """Receive the progress: ``done`` of ``total`` fits, the last one of the model ``name``."""


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
        The contents of the report as data; `certifit.report.render` makes the page from it.
    model : TableModel
        The chosen model, fitted on all rows.
    training : (X, y, weights) or None
        The rows as the chosen model sees them, which its certificates are about.

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
    training: tuple[Any, Any, Any] | None = field(default=None, repr=False, compare=False)

    @property
    def verdict(self) -> str:
        """The verdict in one paragraph."""
        return str(self.record["verdict"]["text"])

    def write(self, out: str | os.PathLike[str]) -> list[Path]:
        """Write report.html, model.certifit, card.md and, last, record.json with the digests of the others.

        Where the chosen model's certificate has a proof file, model.proof and model.proof.csv (the rows as the model
        saw them) are written as well; ``certifit check`` takes both.

        Parameters
        ----------
        out : str or path
            The folder; made if it is not there.
        """
        return self._write(out, 1)

    def _write(self, out: str | os.PathLike[str], workers: int) -> list[Path]:
        """The same; the page is made by a process of the comparison that is idle, if there is one."""
        import hashlib

        from certifit.report import card

        folder = Path(out)
        proof = self._write_proof(folder)
        record = self.record | {"proofs": self.record.get("proofs", {}) | {"files": proof}}
        page = _page(workers, record)
        model = to_bytes(self.model)
        self._check_reload(model)
        parts = {"report.html": page().encode(), "model.certifit": model, "card.md": card(record).encode()}
        parts |= {name: (folder / name).read_bytes() for name in proof}
        digests = {name: hashlib.sha256(data).hexdigest() for name, data in parts.items()}
        parts["record.json"] = json.dumps(
            record | {"digests": digests}, indent=1, ensure_ascii=False, allow_nan=False
        ).encode()
        for name, data in parts.items():
            if name not in proof:
                write_atomic(folder / name, data)
        return [folder / name for name in parts]

    def _write_proof(self, folder: Path) -> list[str]:
        """model.proof and its table; nothing (and no older ones) where the claim has no proof file or is too large."""
        names = ["model.proof", "model.proof.csv"]
        found = certificates_of(self.model.pipeline)
        if found and self.training is not None and self.training[0].size <= _PROOF_CELLS:
            try:
                found[0].save(folder / names[0])
            except CertifitError:  # a kind, or an option, that the checker does not know
                pass
            else:
                write_table(folder / names[1], *self.training)
                return names
        for name in names:
            (folder / name).unlink(missing_ok=True)
        return []

    def _check_reload(self, data: bytes) -> None:
        """The model that is written must be the model that was fitted."""
        again = from_bytes(data, "the model just written")
        probe = np.vstack([np.zeros(len(self.model.schema.columns)), np.ones(len(self.model.schema.columns))])
        if not np.array_equal(again.pipeline.predict(probe), self.model.pipeline.predict(probe)):
            raise RuntimeError(
                "The reloaded model gives different predictions: this is a bug in certifit, please report it."
            )


def _page(workers: int, record: Record) -> Callable[[], str]:
    """Begin to draw the page: by a copy of this process that waits for it, or by a process that is idle, if any."""
    from certifit.report import render

    copy = _copies.ahead("report")
    if copy is None:
        return _runner.meanwhile(workers, render, record)
    copy.ask(record)

    def drawn() -> str:
        try:
            return str(copy.answer())
        except Exception:  # what was wrong with the record is raised here again
            return render(record)

    return drawn


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
    yardstick: bool = True,
    allow_black_box: bool = False,
    groups: str | None = None,
    time: str | None = None,
    weights: str | None = None,
    test: Any = None,
    positive: str | None = None,
    metric: str | None = None,
    costs: tuple[float, float] | None = None,
    require: str | None = None,
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
        Seconds of work per process; candidates that do not fit in, by an estimate from the size of the table, are
        skipped, and named.
    seed : int, default=0
    out : path, default=None
        Folder for report.html, model.certifit and record.json; nothing is written when None.
    drop, keep, categories : sequences of str
        Columns to drop; to keep although they look like identifiers or leak the target; to take as
        categories although they hold numbers.
    workers : int ≥ 1, default=1
        Processes; each adds a time budget of work. The next study of this session finds them ready; after five minutes
        without work they end.
    yardstick : bool, default=True
        Whether scikit-learn's gradient boosting and random forest run in the same folds, for comparison only (where
        all models are compared).
    allow_black_box : bool, default=False
        Whether these two may be chosen and saved, too; nothing is proved about them.
    groups : str, default=None
        A column: rows with the same cell (a patient, a household) are held out together. It is not used as a feature.
    time : str, default=None
        A column of dates or numbers: each fold is predicted by models of earlier rows only. It is not used as a
        feature.
    weights : str, default=None
        A column of numbers ≥ 0: how much a row counts in fits and scores. It is not used as a feature.
    test : path, data frame or mapping of columns, default=None
        A labelled table on which the chosen model is evaluated once, at the end.
    positive : str, default=None
        The class to find, of two; the rarer one when None.
    metric : str, default=None
        The score that decides: "auc", "accuracy", "balanced_accuracy", "average_precision", "f1", "log_loss" or "brier"
        for classes, "r2", "absolute_error" or "deviance" for numbers (losses as the explained fraction).
    costs : (float, float), default=None
        Costs of a false positive and of a false negative, which set the decision threshold.
    require : str, default=None
        What the threshold must reach instead, such as "recall >= 0.95" (or precision, specificity).
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
    hear, budget = listener or Silent(), Budget(time_budget)
    hear.say("reading", f"{data if isinstance(data, (str, os.PathLike)) else 'the table'}")
    design = Design(groups, time, weights, positive, metric, costs, require)
    facts = examine(data, target, task, tuple(drop), tuple(keep), tuple(categories), design.roles())
    facts = replace(facts, schema=replace(facts.schema, weights=weights or ""))
    trial = None if test is None else _test_table(test, facts)
    hear.say("reading", _describe.summary(facts))
    for remark in _describe.remarks(facts):
        hear.say("noticed", remark)
    plan = plan_study(facts, models, folds, seed, yardstick, design, allow_black_box)
    plan = plan.within(budget.comparison * workers)
    found = _compare(plan, budget, workers, hear)
    asked = {"models": models, "drop": drop, "keep": keep, "categories": categories}
    roles = asdict(design) | {
        "allow_black_box": allow_black_box,
        "yardstick": yardstick,
        "test": None if trial is None else trial.source or "a table",
    }
    with config_context(skip_parameter_validation=True):  # they are the study's own
        settings = _settings(plan, facts, time_budget, asked) | roles
        study = _conclude(plan, facts, found, budget, settings, design, workers)
    if study.record.get("threshold"):
        hear.say("threshold", study.record["threshold"]["text"])
    for line in _outlook.proof_lines(study.record):
        hear.say("proof", line)
    if trial is not None:
        study.record["test"] = {"source": trial.source, "rows": trial.rows, "lines": evaluate(study.model, trial)}
        hear.say("test", "; ".join(study.record["test"]["lines"]))
    study.record["summary"] = summary(study.record)
    if out is not None:
        hear.say("wrote", ", ".join(str(p) for p in study._write(out, workers)))
    return study


def _conclude(
    plan: StudyPlan,
    facts: Facts,
    found: _Compared,
    budget: Budget,
    settings: Named,
    design: Design,
    workers: int,
) -> Study:
    """Fit the chosen model to all rows, look into it, prove it."""
    verdict, measure = found.verdict, plan.work.measure
    pipeline, parameters, how = _winner.refit(verdict.winner, plan.work, budget.refit)
    record: dict[str, Any] = {
        "certifit": certifit.__version__,
        "made": budget.began.isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "data": _describe.describe(facts),
        "settings": dict(settings),
        "measure": {"name": measure.name, "words": measure.words},
        "comparison": found.record(),
        "verdict": _chosen(verdict, found.words, parameters, how),
    }
    record |= look_into(verdict.winner, pipeline, plan.work, budget.stop, design, workers)
    record["changes"] = _outlook.what_would_change(facts, verdict, record, measure)
    record["seconds"] = round(budget.spent(), 2)
    target = getattr(pipeline[-1], "certified_target", np.asarray)(plan.work.y)
    training = np.asarray(pipeline[:-1].transform(plan.work.X)), target, plan.work.weights
    return Study(record, TableModel(pipeline, facts.schema, _about(record, verdict, facts, plan.work)), training)


def _test_table(test: Any, facts: Facts) -> Table:
    """The table to be judged on at the end; refused now if it lacks columns or answers."""
    table = Table.of(test)
    facts.schema.read(table)
    if not facts.schema.labels(table)[1].any():
        raise TableError("No row of the test table has a target.")
    return table


@dataclass(frozen=True)
class _Compared:
    """What came of the comparison."""

    verdict: _verdict.Verdict
    words: str
    skipped: list[Skipped]
    yardsticks: list[dict[str, Any]]

    def record(self) -> Record:
        """As JSON holds it."""
        skipped = [list(item) for item in self.skipped]
        return {"standings": _verdict.to_record(self.verdict), "skipped": skipped, "yardsticks": self.yardsticks}


def _compare(plan: StudyPlan, budget: Budget, workers: int, hear: Listener) -> _Compared:
    """Run the plan, decide, and say what is to be said."""
    measure, folds = plan.work.measure, plan.work.folds
    models = [c for c in plan.candidates if not c.yardstick]
    hear.say("comparing", f"{len(models)} models, nested {_folds_in_words(plan.work)}, by {measure.name}")
    results = _runner.execute(plan, budget.stop, workers, hear.progress)
    verdict = _verdict.decide([r for r in results if not r.candidate.yardstick], folds, measure)
    skipped = [*plan.skipped, *_outlook.unfinished(results, len(folds))]
    _outlook.refuse_without_models(plan, verdict, skipped)
    yardsticks = _verdict.yardsticks(results, verdict, folds)
    words = _verdict.in_words(verdict, measure, _outlook.missing_usual(verdict, skipped), yardsticks)
    if ended := _outlook.cut_short(skipped):
        words = f"{_verdict.ended_early(ended, budget.spent())} {words}"
    hear.say("verdict", words)
    for y in yardsticks:
        hear.say("yardstick", y["text"])
    for line in _outlook.skipped_lines(skipped):
        hear.say("skipped", line)
    return _Compared(verdict, words, skipped, yardsticks)


def _folds_in_words(work: Work) -> str:
    if work.time is not None:
        return f"{len(work.folds)} folds in order of time"
    times = f", {work.repeats} times" if work.repeats > 1 else ""
    return f"{len(work.folds) // work.repeats}-fold{times}"


def _settings(plan: StudyPlan, facts: Facts, time_budget: float | None, asked: Named) -> Record:
    """All that is needed to run the same study again."""
    return {
        "target": facts.target.name,
        "task": facts.task,
        "folds": len(plan.work.folds) // plan.work.repeats,
        "repeats": plan.work.repeats,
        "inner_folds": plan.work.inner,
        "seed": plan.work.seed,
        "time_budget": time_budget,
        **{name: None if chosen is None else list(chosen) for name, chosen in asked.items()},
    }


def _chosen(verdict: _verdict.Verdict, words: str, parameters: Named, how: str) -> Record:
    """The verdict as the record holds it."""
    return {
        "text": words,
        "winner": verdict.winner.name,
        "rule": verdict.rule,
        "parameters": {k: _plain(v) for k, v in parameters.items()},
        "parameters_by": how,
        "chosen_per_fold": _per_fold(verdict.winner),
        "beats_baseline": verdict.beats_baseline,
    }


def _about(record: Named, verdict: _verdict.Verdict, facts: Facts, work: Work) -> Record:
    """What the model file says about its model."""
    held = _winner.held_out_answers(verdict.winner, work)
    standing = verdict.of(verdict.winner.name)
    interval = [standing.low, standing.high]
    return {
        "name": verdict.winner.name,
        "score": {"measure": record["measure"]["name"], "mean": standing.mean, "interval": interval},
        "target": facts.target.name,
        "rows": len(facts.y),
        "data_digest": facts.table.digest,
        "parameters": record["verdict"]["parameters"],
        "made": record["made"],
        "strangeness": strangeness(held.y, held.said, work.classes, work.seed),
        "training": remember(work.X, work.y, work.schema, work.seed),
        **{k: record[k] for k in ("threshold", "recalibrated") if record.get(k)},
    }


def _per_fold(result: _runner.Result) -> dict[str, list[Any]]:
    names = sorted({name for p in result.pieces.values() for name in p.chosen})
    return {n: [_plain(result.pieces[k].chosen.get(n)) for k in sorted(result.pieces)] for n in names}


def _plain(v: Any) -> Any:
    return v.item() if isinstance(v, np.generic) else v


__all__ = ["Listener", "Silent", "Study", "Table", "run"]
