"""Why are the estimates of a naive Bayes model not those of the data? Counts, shares, means and variances again.

Every slip says how the right estimate would come from one with that slip; the answer is proved after undoing it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

import numpy as np

from certifit._types import Array
from certifit.certificates import Certificate, Data
from certifit.certificates._by_class import class_codes
from certifit.judge._findings import Diagnosis, Record, Slip, undone

_FEW = 5  # classes up to which every exchange of two is tried


def diagnose_counts(c: Certificate, data: Data, tol: float) -> Diagnosis:
    """Estimates of naive Bayes (Gaussian columns or counted cells), weights of other classes, and class centres."""
    if c.kind == "class-centres":
        return undone(c, data, tol, [*_CENTRES, *_exchanges(c, ("centres",))])
    if c.kind == "complement-counts":
        return undone(c, data, tol, [*_OTHER_CLASSES, *_SMOOTHING, *_exchanges(c, ("feature_weights",))])
    if c.kind == "gaussian-counts":
        return undone(c, data, tol, _PRIORS, [*_GAUSSIAN, *_exchanges(c, ("theta", "var"))])
    swaps = _exchanges(c, ("feature_log_prob", "theta", "var"))
    if c.kind == "mixed-counts":
        return undone(c, data, tol, _PRIORS, [*_SMOOTHING, *_MIXED, *swaps])
    return undone(c, data, tol, _PRIORS, [*_SMOOTHING, *_CELLS, *swaps])


def _exchanges(c: Certificate, names: tuple[str, ...]) -> list[Slip]:
    """Estimates of two classes exchanged."""
    classes = np.asarray(c.evidence.get("classes", []))
    asks = "They are right with two classes exchanged: are the labels swapped?"

    def undo(order: list[int], data: Data, e: Record) -> tuple[Data, Record]:
        return data, {**e, **{name: np.asarray(e[name])[order] for name in names if name in e}}

    found: list[Slip] = []
    for i, j in itertools.combinations(range(len(classes) if len(classes) <= _FEW else 0), 2):
        order = list(range(len(classes)))
        order[i], order[j] = j, i
        found.append(("labels swapped", asks, partial(undo, order)))
    return found


def _dense(data: Data) -> Array:
    return data.X.toarray() if hasattr(data.X, "toarray") else np.asarray(data.X)


def _class_weights(data: Data, e: Record) -> Array:
    codes = class_codes(np.asarray(data.y), np.asarray(e["classes"]))
    return np.bincount(codes[codes >= 0], np.asarray(data.weights)[codes >= 0], len(e["classes"]))


# Gaussian columns


def _moments(data: Data, e: Record) -> tuple[Array, Array, Array, Array]:
    """Weight, means and variances of each class, and the variance of each column."""
    X, w = _dense(data).astype(float), np.asarray(data.weights)
    codes, K = class_codes(np.asarray(data.y), np.asarray(e["classes"])), len(e["classes"])
    W = _class_weights(data, e)
    theta = np.array([np.average(X[codes == c], axis=0, weights=w[codes == c]) for c in range(K)])
    var = np.array([np.average((X[codes == c] - theta[c]) ** 2, axis=0, weights=w[codes == c]) for c in range(K)])
    mean = np.average(X, axis=0, weights=w)
    return W, theta, var, np.average((X - mean) ** 2, axis=0, weights=w)


def _variance(wrong: Callable[[Array, Array, Array, float], Array], data: Data, e: Record) -> tuple[Data, Record]:
    """Variances by another formula of (weights, variances, column variances, smoothing), brought back to the right."""
    W, _, var, spread = _moments(data, e)
    smoothing = float(e["var_smoothing"])
    right = var + smoothing * spread.max()
    return data, {**e, "var": np.asarray(e["var"], dtype=float) * right / wrong(W, var, spread, smoothing)}


def _median(data: Data, e: Record) -> tuple[Data, Record]:
    W, theta, _, _ = _moments(data, e)
    codes = class_codes(np.asarray(data.y), np.asarray(e["classes"]))
    X = _dense(data).astype(float)
    medians = np.array([np.median(X[codes == c], axis=0) for c in range(len(W))])
    return data, {**e, "theta": np.asarray(e["theta"], dtype=float) - medians + theta}


def _overall_mean(data: Data, e: Record) -> tuple[Data, Record]:
    _, theta, _, _ = _moments(data, e)
    mean = np.average(_dense(data).astype(float), axis=0, weights=data.weights)
    return data, {**e, "theta": np.asarray(e["theta"], dtype=float) - mean + theta}


def _standardised(data: Data, e: Record) -> tuple[Data, Record] | None:
    X = _dense(data).astype(float)
    if not np.all(X.std(axis=0) > 0):
        return None
    return Data.of((X - X.mean(axis=0)) / X.std(axis=0), data.y, data.sample_weight), e


_GAUSSIAN: tuple[Slip, ...] = (
    ("n − 1 for n", "The variances are divided by the number of rows less one: maximum likelihood divides by the "
     "number of rows.",
     partial(_variance, lambda W, v, s, a: v * (W / (W - 1))[:, None] + a * s.max())),
    ("n − 1 for n, without smoothing", "The variances are divided by the number of rows less one, and nothing is "
     "added to them.", partial(_variance, lambda W, v, s, a: v * (W / (W - 1))[:, None])),
    ("standard deviation for variance", "These are standard deviations: square them.",
     partial(_variance, lambda W, v, s, a: np.sqrt(v + a * s.max()))),
    ("standard deviation for variance, without smoothing", "These are standard deviations without smoothing: square "
     "them.", partial(_variance, lambda W, v, s, a: np.sqrt(v))),
    ("no smoothing", "Nothing is added to the variances: var_smoothing times the largest column variance is missing.",
     partial(_variance, lambda W, v, s, a: v)),
    ("smoothing not scaled", "var_smoothing itself is added: multiply it by the largest column variance.",
     partial(_variance, lambda W, v, s, a: v + a)),
    ("smoothing of each column", "var_smoothing is multiplied by each column's own variance: take the largest.",
     partial(_variance, lambda W, v, s, a: v + a * s)),
    ("one variance for all classes", "The variances are those within all classes together: did you pool the classes?",
     partial(_variance, lambda W, v, s, a: (W @ v / W.sum() + a * s.max())[None, :] + 0 * v)),
    ("variance of the whole column", "The variances are those of the whole columns: take the rows of one class.",
     partial(_variance, lambda W, v, s, a: (s + a * s.max())[None, :] + 0 * v)),
    ("sum for mean", "These are sums of squared deviations: divide by the number of rows of the class.",
     partial(_variance, lambda W, v, s, a: v * W[:, None])),
    ("precision for variance", "These are one over the variances.",
     partial(_variance, lambda W, v, s, a: 1 / (v + a * s.max()))),
    ("medians for means", "The centres are medians: take means.", _median),
    ("means of whole columns", "The means are those of the whole columns: take the rows of one class.", _overall_mean),
    ("scaled columns", "These are the estimates of standardised columns: were they meant to be scaled?", _standardised),
)  # fmt: skip


# counted cells


def _counts(data: Data, e: Record) -> tuple[Array, Array, Array]:
    """Counts of each class and cell that is stated, their group, and the number of cells of each group."""
    X, w = _dense(data), np.asarray(data.weights)
    codes, K = class_codes(np.asarray(data.y), np.asarray(e["classes"])), len(e["classes"])
    if e["model"] == "bernoulli":
        X = X if e.get("binarize") is None else np.greater(X, float(e["binarize"])).astype(float)
        group, size = np.arange(X.shape[1]), np.full(X.shape[1], 2)
    elif e["model"] == "categorical":
        size = np.asarray(e["n_categories"], dtype=int)
        X = np.hstack([(X[:, [j]] == np.arange(m)[None, :]).astype(float) for j, m in enumerate(size)])
        group = np.repeat(np.arange(len(size)), size)
    else:
        group, size = np.zeros(X.shape[1], dtype=int), np.array([X.shape[1]])
    table = np.array([w[codes == c] @ np.asarray(X[codes == c], dtype=float) for c in range(K)])
    return table, group, size


class _Table:
    """Counts n, their totals N over a feature, pseudo-counts α and the number m of cells, each for class and cell."""

    def __init__(self, data: Data, e: Record) -> None:
        self.n, group, size = _counts(data, e)
        W = _class_weights(data, e)
        alpha = np.asarray(e["alpha"], dtype=float)
        if alpha.ndim:
            alpha = alpha if e["model"] == "multinomial" else alpha[group]
        self.alpha = np.broadcast_to(alpha, self.n.shape)
        self.m = np.broadcast_to(size[group], self.n.shape)
        if e["model"] == "multinomial":
            self.N = np.broadcast_to(self.n.sum(axis=1, keepdims=True), self.n.shape)
            added = self.alpha.sum(axis=1, keepdims=True)
        else:
            self.N, added = np.broadcast_to(W[:, None], self.n.shape), self.alpha * self.m
        self.added = np.broadcast_to(added, self.n.shape)
        self.classes = len(W)

    @property
    def right(self) -> Array:
        """(n + α)/(N + Σα)."""
        return np.asarray((self.n + self.alpha) / (self.N + self.added))


def _cells(wrong: Callable[[_Table], Array], data: Data, e: Record) -> tuple[Data, Record] | None:
    """Probabilities by another formula, brought back to the right one."""
    if "model" not in e:
        return None
    t = _Table(data, e)
    stated, other = np.exp(np.asarray(e["feature_log_prob"], dtype=float)), wrong(t)
    # Where the formula gives zero the answer must say zero too; the undone one is then the right one.
    undone = np.where(other > 0, stated * t.right / np.where(other > 0, other, 1.0), np.where(stated > 0, 2.0, t.right))
    return data, {**e, "feature_log_prob": np.log(undone)}


def _alpha(change: Callable[[Array], Array | float], data: Data, e: Record) -> tuple[Data, Record] | None:
    alpha = np.asarray(e["alpha"], dtype=float)
    other = np.asarray(change(alpha), dtype=float)
    if np.array_equal(alpha, other):
        return None
    return data, {**e, "alpha": other if other.ndim else float(other)}


def _base(base: float, data: Data, e: Record) -> tuple[Data, Record]:
    name = "feature_log_prob" if "feature_log_prob" in e else "feature_weights"
    return data, {**e, name: np.asarray(e[name], dtype=float) * np.log(base)}


def _presence(data: Data, e: Record) -> tuple[Data, Record] | None:
    if e.get("model") != "multinomial" and "feature_weights" not in e:
        return None
    return Data.of((_dense(data) > 0).astype(float), data.y, data.sample_weight), e


def _zeros(data: Data, e: Record) -> tuple[Data, Record] | None:
    if e.get("model") != "bernoulli":
        return None
    return data, {**e, "feature_log_prob": np.log1p(-np.exp(np.asarray(e["feature_log_prob"], dtype=float)))}


def _threshold(data: Data, e: Record) -> tuple[Data, Record] | None:
    if e.get("model") != "bernoulli" or e.get("binarize") is None:
        return None
    return data, {**e, "binarize": float(np.nextafter(float(e["binarize"]), -np.inf))}


_SMOOTHING: tuple[Slip, ...] = (
    ("no smoothing", "The shares are without pseudo-counts: add α to every count.", partial(_alpha, lambda a: 0 * a)),
    ("twice α", "2α was added to every count.", partial(_alpha, lambda a: 2 * a)),
    ("half of α", "α/2 was added to every count.", partial(_alpha, lambda a: a / 2)),
    ("α of one", "One was added to every count, not α.", partial(_alpha, lambda a: np.ones_like(a))),
    ("presence for counts", "Every count above zero counts as one: does the model ask how often, or whether?",
     _presence),
    ("logarithm to base 2", "The logarithms are to base 2: natural ones are meant.", partial(_base, 2.0)),
    ("logarithm to base 10", "The logarithms are to base 10: natural ones are meant.", partial(_base, 10.0)),
)  # fmt: skip

_MIXED: tuple[Slip, ...] = (
    ("no smoothing of variances", "Nothing is added to the variances: var_smoothing times the column's variance is "
     "missing.", lambda data, e: (data, {**e, "var_smoothing": 0.0}) if float(e["var_smoothing"]) else None),
)  # fmt: skip

_CELLS: tuple[Slip, ...] = (
    ("α in the numerator only", "α is added to the counts but not to their total: the shares do not sum to one.",
     partial(_cells, lambda t: (t.n + t.alpha) / t.N)),
    ("α in the denominator only", "α is added to the total but not to the counts.",
     partial(_cells, lambda t: t.n / (t.N + t.added))),
    ("α once in the denominator", "The total takes α once: it must take α for each possible value.",
     partial(_cells, lambda t: (t.n + t.alpha) / (t.N + t.alpha))),
    ("α for each class in the denominator", "The total takes α for each class: it must take α for each possible value.",
     partial(_cells, lambda t: (t.n + t.alpha) / (t.N + t.alpha * t.classes))),
    ("class given value", "These are shares of the classes among rows with a value: P(class | value), not "
     "P(value | class).", partial(_cells, lambda t: (t.n + t.alpha) / (t.n + t.alpha).sum(axis=0))),
    ("divided by all rows", "The counts are divided by those of all classes: divide by those of the class.",
     partial(_cells, lambda t: (t.n + t.alpha) / (t.N.sum(axis=0) + t.added))),
    ("joint share", "The counts are divided by those of all classes, without smoothing: divide by those of the class.",
     partial(_cells, lambda t: t.n / t.N.sum(axis=0))),
    ("zeros for ones", "These are the probabilities of 0: those of 1 are meant.", _zeros),
    ("threshold included", "Values at the threshold count as 1: only those above it do.", _threshold),
)  # fmt: skip


def _own_class(data: Data, e: Record) -> tuple[Data, Record] | None:
    """Counts of the class where those of all other classes are meant."""
    X, w = _dense(data).astype(float), np.asarray(data.weights)
    codes = class_codes(np.asarray(data.y), np.asarray(e["classes"]))
    own = np.array([w[codes == c] @ X[codes == c] for c in range(len(e["classes"]))])
    alpha, rest = np.asarray(e["alpha"], dtype=float), own.sum(axis=0) - own

    def weights(n: Array) -> Array:
        logs = np.log((n + alpha) / (n + alpha).sum(axis=1, keepdims=True))
        return np.asarray(logs / logs.sum(axis=1, keepdims=True) if e["norm"] else -logs)

    return data, {**e, "feature_weights": np.asarray(e["feature_weights"], dtype=float) * weights(rest) / weights(own)}


_OTHER_CLASSES: tuple[Slip, ...] = (
    ("own class for the others", "These are the counts of the class itself: take those of all other classes.",
     _own_class),
    ("wrong sign", "These are the logarithms of the shares: the weights are their negatives.",
     lambda data, e: (data, {**e, "feature_weights": -np.asarray(e["feature_weights"], dtype=float)})),
    ("not normalised", "The weights are not divided by their sum over the features.",
     lambda data, e: (data, {**e, "norm": False}) if e["norm"] else None),
    ("normalised", "The weights are divided by their sum over the features.",
     lambda data, e: (data, {**e, "norm": True}) if not e["norm"] else None),
)  # fmt: skip


# shares of the classes


def _rule(rule: str, data: Data, e: Record) -> tuple[Data, Record] | None:
    return (data, {**e, "prior_rule": rule}) if e["prior_rule"] not in (rule, "given") else None


def _shares(wrong: Callable[[Array, float], Array], data: Data, e: Record) -> tuple[Data, Record] | None:
    if e["prior_rule"] != "data":
        return None
    W = _class_weights(data, e)
    alpha = float(np.ravel(np.asarray(e.get("alpha", 1.0)))[0])
    return data, {**e, "class_prior": np.asarray(e["class_prior"], dtype=float) * (W / W.sum()) / wrong(W, alpha)}


_PRIORS: tuple[Slip, ...] = (
    ("equal class shares", "The classes have equal shares: take those of the data.", partial(_rule, "uniform")),
    ("class shares of the data", "The class shares are those of the data: equal ones are meant.",
     partial(_rule, "data")),
    ("smoothed class shares", "α is added to the class counts too: their shares are not smoothed.",
     partial(_shares, lambda W, a: (W + a) / (W + a).sum())),
    ("class shares swapped", "The class shares are in another order than the classes.",
     partial(_shares, lambda W, a: (W / W.sum())[::-1])),
    ("class counts for shares", "These are class counts: divide by the number of rows.",
     partial(_shares, lambda W, a: W)),
    ("odds for shares", "These are the odds of the classes: divide by the number of all rows.",
     partial(_shares, lambda W, a: W / (W.sum() - W))),
)  # fmt: skip


# class centres


def _centres(wrong: Callable[[Array], Array], data: Data, e: Record) -> tuple[Data, Record]:
    X = _dense(data).astype(float)
    codes = class_codes(np.asarray(data.y), np.asarray(e["classes"]))
    rows = [X[codes == c] for c in range(len(e["classes"]))]
    middle = np.mean if e["distance"] == "euclidean" else np.median
    right, other = np.array([middle(r, axis=0) for r in rows]), np.array([wrong(r) for r in rows])
    off = np.asarray(e["centres"], dtype=float) - other
    return data, {**e, "centres": np.where(np.abs(off) <= 1e-9 * (1 + np.abs(other)), right, np.inf)}


_CENTRES: tuple[Slip, ...] = (
    ("medians for means", "The centres are medians: the euclidean distance asks for means.",
     partial(_centres, lambda r: np.median(r, axis=0))),
    ("means for medians", "The centres are means: the manhattan distance asks for medians.",
     partial(_centres, lambda r: r.mean(axis=0))),
    ("sums for means", "The centres are sums: divide by the number of rows.",
     partial(_centres, lambda r: r.sum(axis=0))),
    ("middle of the range", "The centres are halfway between the least and the largest value: take means.",
     partial(_centres, lambda r: (r.min(axis=0) + r.max(axis=0)) / 2)),
    ("scaled columns", "These are the centres of standardised columns: were they meant to be scaled?", _standardised),
)  # fmt: skip
