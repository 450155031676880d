"""Can probabilities be taken at their word, and would another map from score to probability be better?

Held-out rows are put into groups by predicted probability. In each group the observed fraction has an exact
binomial interval (Clopper and Pearson; conservative too where the chances inside a group differ), and all intervals
hold together with 95 %. Two maps are tried, each learned from inner held-out answers of a fold's training rows and
judged by the Brier score on the fold's own held-out rows: Platt's sigmoid, and the best non-decreasing function
(isotonic).
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from certifit import metrics
from certifit._limits import corrected_limits, held_out_share
from certifit._types import Array, Named, Record
from certifit.certificates import Data, issue
from certifit.certificates.isotonic import pooled
from certifit.study._drivers import as_chosen
from certifit.study._plan import Work
from certifit.study._runner import Result, fit_weighted, inner_folds

_GROUPS = 10
_ROWS = 25  # in a group, at least
_TINY = 1e-9
_EXACT = 20_000  # distinct scores up to which isotonic regression is proved


class Sigmoid:
    """p ↦ σ(a logit p + b), by maximum likelihood with Platt's targets.

    Examples
    --------
    >>> p, y = np.array([0.2, 0.4, 0.6, 0.8] * 25), np.array([0, 0, 1, 1] * 25)
    >>> bool(Sigmoid().fit(p, y).apply(np.array([0.9]))[0] > 0.9)
    True
    """

    def fit(self, p: Array, y: Array) -> Sigmoid:
        """Learn from probabilities that were said and what happened (0 or 1)."""
        hits = float(np.sum(y))
        target = np.where(y == 1, (hits + 1) / (hits + 2), 1 / (len(y) - hits + 2))
        z = _log_odds(p)

        def loss(ab: Array) -> tuple[float, Array]:
            f = ab[0] * z + ab[1]
            slope = expit(f) - target
            return float(np.mean(np.logaddexp(0, f) - target * f)), np.array([np.mean(slope * z), np.mean(slope)])

        self.a, self.b = minimize(loss, np.array([1.0, 0.0]), jac=True, method="L-BFGS-B").x
        return self

    def apply(self, p: Array) -> Array:
        """Probabilities after the map."""
        return np.asarray(expit(self.a * _log_odds(p) + self.b))

    def record(self) -> Record:
        """As JSON holds it."""
        return {"kind": "sigmoid", "a": float(self.a), "b": float(self.b)}


class Isotonic:
    """The non-decreasing function of smallest squared error; straight lines between its points.

    Examples
    --------
    >>> Isotonic().fit(np.array([0.1, 0.2, 0.3, 0.4]), np.array([0, 1, 0, 1])).apply(np.array([0.1, 0.25, 0.4]))
    array([0. , 0.5, 1. ])
    """

    def fit(self, p: Array, y: Array) -> Isotonic:
        """Learn from probabilities that were said and what happened (0 or 1)."""
        self.scores, group = np.unique(p, return_inverse=True)
        hits = np.bincount(group, weights=y).astype(int)
        counts = np.bincount(group)
        self.values = np.array(pooled(hits.tolist(), counts.tolist()), dtype=float)
        return self

    def apply(self, p: Array) -> Array:
        """Probabilities after the map."""
        return np.asarray(np.interp(p, self.scores, self.values))

    def prove(self, p: Array, y: Array) -> Record | None:
        """The claim that nothing non-decreasing fits better, proved in exact arithmetic; None for very many scores."""
        if len(self.scores) > _EXACT:
            return None
        evidence = {"scores": self.scores, "values": self.values}
        certificate = issue("isotonic", Data.of(p[:, None], y.astype(float)), evidence)
        return {"claim": certificate.claim, "holds": bool(certificate.holds), "theorem": certificate.theorem}

    def record(self) -> Record:
        """As JSON holds it: only the corners, which say the same."""
        flat = np.r_[False, (self.values[1:-1] == self.values[:-2]) & (self.values[1:-1] == self.values[2:]), False]
        keep = ~flat[: len(self.scores)]
        return {"kind": "isotonic", "scores": self.scores[keep].tolist(), "values": self.values[keep].tolist()}


def apply_map(record: Named, p: Array) -> Array:
    """The map of a record, applied to probabilities."""
    if record["kind"] == "isotonic":
        return np.asarray(np.interp(p, record["scores"], record["values"]))
    return np.asarray(expit(record["a"] * _log_odds(p) + record["b"]))


def _log_odds(p: Array) -> Array:
    return np.asarray(logit(np.clip(p, _TINY, 1 - _TINY)))


# -- the curve ----------------------------------------------------------------------------------------
def curve(p: Array, happened: Array) -> Record:
    """Groups of rows by predicted probability, with the observed fraction and its interval.

    Examples
    --------
    >>> found = curve(np.full(200, 0.5), np.arange(200) % 2 == 0)
    >>> found["groups"][0]["seen"], found["off"]
    (0.5, 0)
    """
    count = max(1, min(_GROUPS, len(p) // _ROWS))
    edges = np.unique(np.quantile(p, np.linspace(0, 1, count + 1)[1:-1]))
    group = np.searchsorted(edges, p, side="right")
    level = 1.0 - 0.05 / len(np.unique(group))
    found = []
    for g in np.unique(group):
        inside = group == g
        hits = metrics.share(int(happened[inside].sum()), int(inside.sum()))
        limits = hits.interval(level)
        said = float(p[inside].mean())
        row = {"said": said, "seen": float(hits), "interval": [limits.low, limits.high], "rows": int(inside.sum())}
        found.append(row | {"off": bool(said < limits.low or said > limits.high)})
    brier = float(np.mean((p - happened) ** 2))
    return {"groups": found, "off": sum(row["off"] for row in found), "brier": brier, "text": _in_words(found)}


def _in_words(groups: list[Record]) -> str:
    off = [row for row in groups if row["off"]]
    if not off:
        count = f"all {len(groups)} groups" if len(groups) > 1 else "the one group"
        return (
            f"The probabilities are calibrated: in {count} of held-out rows the observed fraction "
            "matches the predicted probability, up to chance."
        )
    worst = max(off, key=lambda row: abs(row["said"] - row["seen"]))
    return (
        f"The probabilities are off in {len(off)} of {len(groups)} groups of held-out rows: where the model predicted "
        f"{100 * worst['said']:.0f} % on average, it happened in {100 * worst['seen']:.0f} % of cases "
        f"({100 * worst['interval'][0]:.0f} to {100 * worst['interval'][1]:.0f})."
    )


# -- other maps ---------------------------------------------------------------------------------------
def recalibration(result: Result, work: Work, deadline: float = float("inf")) -> Record | None:
    """How much each map gains on held-out rows, and which is significantly better, if any; None when time is up."""
    assert work.classes is not None
    at = int(np.flatnonzero(work.classes == work.positive)[0])
    gains: dict[str, list[float]] = {"sigmoid": [], "isotonic": []}
    for k, (train, test) in enumerate(work.folds):
        said = result.pieces[k].answers
        if time.monotonic() > deadline or said is None or said.probabilities is None:
            return None
        p, y = said.probabilities[:, at], (work.y[test] == work.positive).astype(int)
        inner = _inner_answers(result, k, work, train, at)
        if inner is None:
            return None
        before = float(np.mean((p - y) ** 2))
        for name, made in (("sigmoid", Sigmoid()), ("isotonic", Isotonic())):
            gains[name].append(before - float(np.mean((made.fit(*inner).apply(p) - y) ** 2)))
    held_out = held_out_share(work.folds)
    out: dict[str, Any] = {}
    for name, gain in gains.items():
        low, high, _ = corrected_limits(np.array(gain), held_out, 1.0 - 0.05 / len(gains))
        out[name] = {"gain": float(np.mean(gain)), "interval": [low, high]}
    better = [name for name in out if out[name]["interval"][0] > 0]
    return {"maps": out, "advice": max(better, key=lambda name: out[name]["gain"]) if better else None}


def _inner_answers(result: Result, k: int, work: Work, train: Array, at: int) -> tuple[Array, Array] | None:
    """Probabilities of the training rows of fold k by models that have not seen them, and what happened."""
    p = np.full(len(train), np.nan)
    for some, others in inner_folds(work, train):
        model = as_chosen(result, k, work)
        with warnings.catch_warnings(action="ignore"):
            try:
                fit_weighted(model, work.X[train[some]], work.y[train[some]], work.weights_of(train[some]))
                chances = np.asarray(model.predict_proba(work.X[train[others]]))
            except (ValueError, AttributeError):
                return None
        if chances.shape[1] != len(work.classes if work.classes is not None else ()):
            return None
        p[others] = chances[:, at]
    seen = ~np.isnan(p)
    return p[seen], (work.y[train[seen]] == work.positive).astype(int)


def chosen_map(name: str | None, p: Array, y: Array) -> tuple[dict[str, Any], dict[str, Any] | None] | None:
    """The advised map learned from all held-out answers, and the proof of an isotonic one."""
    if name == "isotonic":
        made = Isotonic().fit(p, y)
        return made.record(), made.prove(p, y)
    return None if name is None else (Sigmoid().fit(p, y).record(), None)
