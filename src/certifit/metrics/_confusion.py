r"""The confusion matrix and the shares read off it.

Rows are true classes, columns predicted ones, in sorted order (scikit-learn's convention). Weight k counts
as k rows. With the positive class of two: TP, FP, TN, FN, and

.. math:: F_β = \frac{(1+β²)\,TP}{(1+β²)\,TP + β²\,FN + FP}.

A share with an empty denominator is nan and its interval 0 to 1: nothing was seen of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from certifit._types import Array, Label, VectorLike, Weights
from certifit.metrics._interval import (
    Figure,
    Interval,
    check_level,
    find_classes,
    labels_and_weights,
    logit_interval,
    multinomial_variance,
    normal_quantile,
    positive_label,
    share,
    share_interval,
    wilson_limits,
)

_SHARES = {
    "accuracy": ("tp tn", "tp tn fp fn"),
    "error_rate": ("fp fn", "tp tn fp fn"),
    "precision": ("tp", "tp fp"),
    "recall": ("tp", "tp fn"),
    "sensitivity": ("tp", "tp fn"),
    "specificity": ("tn", "tn fp"),
    "negative_predictive_value": ("tn", "tn fn"),
    "false_positive_rate": ("fp", "tn fp"),
    "false_negative_rate": ("fn", "tp fn"),
    "prevalence": ("tp fn", "tp tn fp fn"),
}


@dataclass(frozen=True)
class Confusion:
    """Counts of true against predicted classes; see `confusion`.

    Attributes
    ----------
    matrix : array of shape (n_classes, n_classes)
        Row: true class, column: predicted class.
    labels : array of shape (n_classes,)
    positive : label or None
        None when there are more than two classes and none was named; then accuracy, error rate, balanced
        accuracy, kappa and the averages of `average` are defined, and ``of(label)`` gives one class against
        all.

    Examples
    --------
    >>> from certifit.metrics import confusion
    >>> c = confusion([1, 1, 0, 0], [1, 0, 0, 0])
    >>> c.matrix.tolist(), float(c.recall), float(c.f())
    ([[2.0, 0.0], [1.0, 1.0]], 0.5, 0.6666666666666666)
    """

    matrix: Array
    labels: Array
    positive: Label | None = None

    # -- the four counts ----------------------------------------------------------------------------
    def _counts(self) -> tuple[float, float, float, float]:
        if self.positive is None:
            raise ValueError("More than two classes: use of(label) for one class against the rest, or average(...).")
        at = int(np.flatnonzero(self.labels == self.positive)[0])
        m = self.matrix
        tp = float(m[at, at])
        fp, fn = float(m[:, at].sum()) - tp, float(m[at].sum()) - tp
        return tp, fp, float(m.sum()) - tp - fp - fn, fn

    @property
    def tp(self) -> float:
        """True positives."""
        return _whole(self._counts()[0])

    @property
    def fp(self) -> float:
        """False positives: predicted positive, truly negative."""
        return _whole(self._counts()[1])

    @property
    def tn(self) -> float:
        """True negatives."""
        return _whole(self._counts()[2])

    @property
    def fn(self) -> float:
        """False negatives: predicted negative, truly positive."""
        return _whole(self._counts()[3])

    def of(self, label: Label) -> Confusion:
        """The same counts with another class as the positive one.

        Parameters
        ----------
        label : one of ``labels``
        """
        return Confusion(self.matrix, self.labels, positive_label(self.labels, label))

    # -- shares -------------------------------------------------------------------------------------
    def _pair(self, name: str) -> tuple[float, float]:
        if self.positive is None and name in ("accuracy", "error_rate"):
            right, n = float(np.trace(self.matrix)), float(self.matrix.sum())
            return (right if name == "accuracy" else n - right), n
        counts = dict(zip(("tp", "fp", "tn", "fn"), self._counts()))
        top, bottom = _SHARES[name]
        return sum(counts[k] for k in top.split()), sum(counts[k] for k in bottom.split())

    def figure(self, name: str, method: str = "exact") -> Figure:
        """A share by name with its interval by ``method`` "exact" or "wilson"."""
        if name not in _SHARES:
            raise ValueError(f"There is no share {name!r}; there are {', '.join(_SHARES)}.")
        return share(*self._pair(name), method)

    @property
    def accuracy(self) -> Figure:
        """Share of rows predicted right."""
        return self.figure("accuracy")

    @property
    def error_rate(self) -> Figure:
        """Share of rows predicted wrong."""
        return self.figure("error_rate")

    @property
    def precision(self) -> Figure:
        """TP / (TP + FP): how often a predicted positive is one."""
        return self.figure("precision")

    @property
    def recall(self) -> Figure:
        """TP / (TP + FN): how many of the positives are found."""
        return self.figure("recall")

    @property
    def sensitivity(self) -> Figure:
        """Another name of recall."""
        return self.figure("sensitivity")

    @property
    def specificity(self) -> Figure:
        """TN / (TN + FP): how many of the negatives are left alone."""
        return self.figure("specificity")

    def f(self, beta: float = 1.0) -> Figure:
        """F_β, the weighted harmonic mean of precision and recall (recall counts β times as much).

        Parameters
        ----------
        beta : float > 0, default=1
            How many times as much recall counts.
        """
        tp, fp, _, fn = self._counts()
        b2 = float(beta) ** 2
        bottom = (1 + b2) * tp + b2 * fn + fp
        value = (1 + b2) * tp / bottom if bottom > 0 else math.nan
        return Figure(value, lambda level: _f_interval(tp, fp, fn, b2, level))

    @property
    def f1(self) -> Figure:
        """F with β = 1."""
        return self.f()

    @property
    def balanced_accuracy(self) -> Figure:
        """Mean of the classes' recalls (over the classes that occur)."""
        rows = self.matrix.sum(axis=1)
        seen = [(float(self.matrix[i, i]), float(rows[i])) for i in range(len(rows)) if rows[i] > 0]
        value = float(np.mean([k / n for k, n in seen]))
        return Figure(value, lambda level: _mean_of_shares(seen, level))

    # -- many classes -------------------------------------------------------------------------------
    def average(self, name: str, how: str = "macro", beta: float = 1.0) -> Figure:
        """Precision, recall or F averaged over the classes.

        Parameters
        ----------
        name : {"precision", "recall", "f"}
        how : {"macro", "micro", "weighted"}, default="macro"
            Plain mean over classes, pooled counts, or mean weighted by the classes' true counts. A class
            whose denominator is empty counts as 0, as in scikit-learn.
        beta : float > 0, default=1.0
            For "f".

        Returns
        -------
        Figure
            With a delta-method interval on the log-odds scale (cells as multinomial counts).
        """
        if name not in ("precision", "recall", "f") or how not in ("macro", "micro", "weighted"):
            raise ValueError(
                "name must be 'precision', 'recall' or 'f', and how 'macro', 'micro' or 'weighted'; "
                f"got {name!r} and {how!r}."
            )

        def value(m: Array) -> Any:
            return _averaged(m, name, how, beta)

        return self._delta(value, f"delta method, {how}")

    @property
    def kappa(self) -> Figure:
        """Cohen's kappa: agreement beyond chance, 1 − (observed disagreement)/(disagreement by chance)."""
        return self._delta(_kappa, "delta method", logit=False)

    @property
    def matthews(self) -> Figure:
        """Matthews' correlation of true and predicted classes."""
        return self._delta(_matthews, "delta method", logit=False)

    def _delta(self, function: Callable[[Array], Any], method: str, logit: bool = True) -> Figure:
        value = float(np.real(function(self.matrix.astype(complex))))

        def limits(level: float) -> Interval:
            # Half a row in each cell keeps the slope finite where a count is zero.
            cells = self.matrix + (0.5 if np.any(self.matrix == 0) and logit and value in (0.0, 1.0) else 0.0)
            variance = multinomial_variance(function, cells)
            if logit:
                middle = float(np.real(function(cells.astype(complex))))
                found = logit_interval(middle, variance, level, method)
                return Interval(min(found.low, value), max(found.high, value), level, method)
            reach = normal_quantile(level) * math.sqrt(variance)
            return Interval(max(value - reach, -1.0), min(value + reach, 1.0), level, method)

        return Figure(value, limits)

    # -- intervals ----------------------------------------------------------------------------------
    def interval(self, name: str, level: float = 0.95, method: str | None = None) -> Interval:
        """Interval of a figure by name.

        Parameters
        ----------
        name : str
            A share ("accuracy", "error_rate", "precision", "recall", "sensitivity", "specificity", ...), "f",
            "balanced_accuracy", "kappa" or "matthews".
        level : float in (0, 1), default=0.95
        method : str, default=None
            Shares: "exact" (default; Clopper-Pearson) or "wilson". F: "delta" (default) or "bootstrap".

        Returns
        -------
        Interval
        """
        check_level(level)
        if name in _SHARES:
            return share_interval(*self._pair(name), level, method or "exact")
        if name in ("f", "f1"):
            if method == "bootstrap":
                return self._bootstrap_f(level)
            return self.f().interval(level)
        if name in ("balanced_accuracy", "kappa", "matthews"):
            figure: Figure = getattr(self, name)
            return figure.interval(level)
        raise ValueError(f"There is no figure {name!r}; there are {', '.join(_SHARES)}, f, balanced_accuracy, kappa.")

    def _bootstrap_f(self, level: float, rounds: int = 4000) -> Interval:
        # Drawing rows with replacement is drawing the cells' counts from a multinomial; the seed is fixed.
        cells = np.array(self._counts())
        n = round(float(cells.sum()))
        draws = np.random.default_rng(0).multinomial(n, cells / cells.sum(), size=rounds)
        tp, fp, fn = draws[:, 0], draws[:, 1], draws[:, 3]
        values = 2 * tp / np.maximum(2 * tp + fp + fn, 1)
        low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
        return Interval(low, high, level, "bootstrap percentiles")

    def __str__(self) -> str:
        names = [str(c) for c in self.labels]
        width = max(6, *(len(n) + 2 for n in names))
        head = "true / predicted".ljust(18) + "".join(n.rjust(width) for n in names)
        body = [n.ljust(18) + "".join(f"{_whole(v):g}".rjust(width) for v in r) for n, r in zip(names, self.matrix)]
        return "\n".join([head, *body])


def _whole(x: float) -> float:
    return int(x) if float(x).is_integer() else float(x)


def _f_interval(tp: float, fp: float, fn: float, b2: float, level: float) -> Interval:
    # log odds of F = log((1+β²)TP) − log(β²FN + FP): a difference of logs of multinomial counts, whose
    # covariances cancel; half a row is added to the counts when one of the two is empty.
    if tp + fp + fn == 0:
        return Interval(0.0, 1.0, level, "delta method")
    plus = 0.5 if tp == 0 or fp + fn == 0 else 0.0
    t, p, m = tp + plus, fp + plus, fn + plus
    odds = (1 + b2) * t / (b2 * m + p)
    spread = math.sqrt(1 / t + (b2**2 * m + p) / (b2 * m + p) ** 2)
    reach = normal_quantile(level) * spread
    low, high = (o / (1 + o) for o in (odds * math.exp(-reach), odds * math.exp(reach)))
    if plus:
        low, high = (0.0, high) if tp == 0 else (low, 1.0)
    return Interval(low, high, level, "delta method")


def _mean_of_shares(seen: list[tuple[float, float]], level: float) -> Interval:
    # Zou and Donner (2008): squared distances to each share's own (Wilson) limits add up like variances.
    limits = [wilson_limits(k, n, level) for k, n in seen]
    shares = [k / n for k, n in seen]
    mean = sum(shares) / len(seen)
    down = math.sqrt(sum((p - low) ** 2 for p, (low, _) in zip(shares, limits))) / len(seen)
    up = math.sqrt(sum((high - p) ** 2 for p, (_, high) in zip(shares, limits))) / len(seen)
    return Interval(max(mean - down, 0.0), min(mean + up, 1.0), level, "combined Wilson limits")


def _averaged(m: Array, name: str, how: str, beta: float) -> Any:
    right, true, said = np.diagonal(m), m.sum(axis=1), m.sum(axis=0)
    b2 = beta**2
    top, bottom = {
        "precision": (right, said),
        "recall": (right, true),
        "f": ((1 + b2) * right, b2 * true + said),
    }[name]
    if how == "micro":
        return top.sum() / bottom.sum()
    present = (np.abs(true) + np.abs(said)) > 0
    per_class = np.divide(top, bottom, out=np.zeros_like(top), where=bottom != 0)[present]
    if how == "macro":
        return per_class.mean()
    return (per_class * true[present]).sum() / true.sum()


def _kappa(m: Array) -> Any:
    n = m.sum()
    chance = (m.sum(axis=1) * m.sum(axis=0)).sum() / n**2
    return (np.trace(m) / n - chance) / (1 - chance) if abs(1 - chance) > 0 else np.complex128(np.nan)


def _matthews(m: Array) -> Any:
    n, true, said = m.sum(), m.sum(axis=1), m.sum(axis=0)
    square = (n**2 - (said * said).sum()) * (n**2 - (true * true).sum())
    return (np.trace(m) * n - (true * said).sum()) / np.sqrt(square) if abs(square) > 0 else np.complex128(0.0)


def confusion(
    y: VectorLike,
    yhat: VectorLike,
    positive: Label | None = None,
    labels: VectorLike | None = None,
    sample_weight: Weights = None,
) -> Confusion:
    """Count true against predicted classes.

    Parameters
    ----------
    y, yhat : array-like of shape (n,)
        True and predicted labels (numbers or strings).
    positive : label, default=None
        The class counted as positive; of two classes the last in sorted order when None.
    labels : array-like, default=None
        All classes, in the wanted order; those that occur when None.
    sample_weight : array-like of shape (n,), default=None
        Weight k counts as k rows.

    Returns
    -------
    Confusion

    Examples
    --------
    >>> c = confusion([1, 1, 1, 0, 0, 0, 0, 1], [1, 1, 0, 0, 0, 1, 0, 1])
    >>> c.tp, c.fp, c.tn, c.fn
    (3, 1, 3, 1)
    >>> c.recall, c.interval("recall", method="wilson")
    (0.75, 0.3006 to 0.9544 (95 %, Wilson))
    """
    a, b, w = labels_and_weights(y, yhat, sample_weight, "predictions")
    found = find_classes(a, b)
    classes = found if labels is None else np.asarray(labels)
    unknown = [c for c in found.tolist() if c not in classes.tolist()]
    if unknown:
        raise ValueError(f"Labels {unknown} occur but are not among labels={classes.tolist()}.")
    order = np.argsort(classes, kind="stable")
    rows, columns = (order[np.searchsorted(classes[order], v)] for v in (a, b))
    matrix = np.zeros((len(classes), len(classes)))
    np.add.at(matrix, (rows, columns), w)
    if positive is None and len(classes) <= 2:
        positive = classes[-1].item() if hasattr(classes[-1], "item") else classes[-1]
    elif positive is not None:
        positive = positive_label(classes, positive)
    return Confusion(matrix, classes, positive)
