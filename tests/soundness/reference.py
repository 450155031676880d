"""Objectives in fifty digits: what the numbers of a certificate are held against.

F is written down here a second time, from the names in an objective's record, so that an error in the library's own
formulas is not repeated. Any point whose F is below the stated lower bound refutes a certificate; none refutes it wrongly.
"""

import mpmath as mp
import numpy as np

from certifit._objective import Objective

mp.mp.dps = 600  # targets of 1e100 with gaps below 1e-300 need as many
_MANY = mp.mpf(10) ** -40  # of what a step changes, below which it is not worth taking


def number(x):
    return mp.mpf(float(x))


def _x_log_x(x):
    return x * mp.log(x) if x > 0 else mp.mpf(0)


def _soft(z):
    """log(1 + e^z)."""
    return z + mp.log1p(mp.exp(-z)) if z > 0 else mp.log1p(mp.exp(z))


def loss_of(loss):
    """L, L′ and L″ of (z, y); no derivatives where there are kinks."""
    name = loss.name
    if name == "squared":
        c = number(loss.factor)
        return lambda z, y: c * (z - y) ** 2, lambda z, y: 2 * c * (z - y), lambda z, y: 2 * c
    if name == "logistic":
        return (
            lambda z, y: _soft(-y * z),
            lambda z, y: -y / (1 + mp.exp(y * z)),
            lambda z, y: 1 / ((1 + mp.exp(z)) * (1 + mp.exp(-z))),
        )
    if name == "exponential":
        return lambda z, y: mp.exp(-y * z), lambda z, y: -y * mp.exp(-y * z), lambda z, y: mp.exp(-y * z)
    if name == "squared_hinge":
        return (
            lambda z, y: max(0, 1 - y * z) ** 2,
            lambda z, y: -2 * y * max(0, 1 - y * z),
            lambda z, y: mp.mpf(2 if y * z < 1 else 0),
        )
    if name == "poisson":
        return lambda z, y: mp.exp(z) - y * z + _x_log_x(y) - y, lambda z, y: mp.exp(z) - y, lambda z, y: mp.exp(z)
    if name == "binomial":
        return (
            lambda z, y: _soft(z) - y * z + _x_log_x(y) + _x_log_x(1 - y),
            lambda z, y: 1 / (1 + mp.exp(-z)) - y,
            lambda z, y: 1 / ((1 + mp.exp(z)) * (1 + mp.exp(-z))),
        )
    if name == "gamma_log":
        return (
            lambda z, y: y * mp.exp(-z) + z - mp.log(y) - 1,
            lambda z, y: 1 - y * mp.exp(-z),
            lambda z, y: y * mp.exp(-z),
        )
    kinks = {
        "hinge": lambda z, y: max(mp.mpf(0), 1 - y * z),
        "absolute": lambda z, y: abs(z - y),
        "epsilon_insensitive": lambda z, y: max(mp.mpf(0), abs(z - y) - number(loss.epsilon)),
        "squared_epsilon_insensitive": lambda z, y: max(mp.mpf(0), abs(z - y) - number(loss.epsilon)) ** 2,
        "perceptron": lambda z, y: max(mp.mpf(0), -y * z),
    }
    return kinks[name], None, None


def penalty_of(r, w):
    """R(w), of a list of outputs' coefficients; infinite where a sign is not allowed."""
    flat = [v for row in w for v in row]
    if r.name == "non_negative":
        return mp.inf if any(v < 0 for v in flat) else penalty_of(r.base, w)
    if r.name == "none":
        return mp.mpf(0)
    if r.name == "l2":
        prior = [mp.mpf(0)] * len(flat) if r.prior is None else [number(p) for p in r.prior]
        return number(r.factor) * sum((a - b) ** 2 for a, b in zip(flat, prior))
    size = sum(abs(v) for v in flat)
    if r.name == "l1":
        return size
    if r.name == "p_norm":
        p = number(r.p)
        return sum(abs(v) ** p for v in flat) ** (1 / p) if size else mp.mpf(0)
    ratio = number(r.l1_ratio)
    if r.name == "column_norms":
        size = sum(mp.sqrt(sum(v * v for v in column)) for column in zip(*w))
    return ratio * size + (1 - ratio) / 2 * sum(v * v for v in flat)


def kernel_value(record, a, b):
    """k(a, b) by its formula."""
    name, *numbers = record
    numbers = [number(v) for v in numbers]
    inner = sum(x * z for x, z in zip(a, b))
    if name == "linear":
        return inner
    if name == "rbf":
        return mp.exp(-numbers[0] * sum((x - z) ** 2 for x, z in zip(a, b)))
    assert name == "polynomial", record
    degree, gamma, constant = numbers
    return (gamma * inner + constant) ** int(degree)


class Problem:
    """One certificate's data and objective in high precision."""

    def __init__(self, certificate, X, y, weights=None, offset=None):
        evidence = certificate.evidence
        record = evidence["objective"]
        records = record if isinstance(record, list) else [record]
        X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
        self.targets = Objective.from_dict(records[0]).encode(np.asarray(y), weights)
        objectives = [Objective.from_dict(r) for r in records]
        if len(objectives) == len(self.targets):  # every machine may have costs of its own
            self.targets = tuple(o.encode(np.asarray(y), weights)[k] for k, o in enumerate(objectives))
        self.objectives = objectives if len(objectives) == len(self.targets) else objectives * len(self.targets)
        self.rows = [[number(v) for v in row] for row in X]
        self.offset = [mp.mpf(0)] * len(X) if offset is None else [number(v) for v in offset]
        self.kernel, support = evidence.get("kernel"), evidence.get("support")
        if self.kernel is not None:
            self.vectors = [self.rows[i] for i in (range(len(X)) if support is None else support)]
            table = [[kernel_value(self.kernel, a, v) for v in self.vectors] for a in self.rows]
            self.own = [[kernel_value(self.kernel, a, v) for v in self.vectors] for a in self.vectors]
            self.rows = table
        self.scale = sum(number(v) for v in self.targets[0].weights) if objectives[0].stated == "mean" else mp.mpf(1)

    def point(self, coef, intercept):
        return [[number(v) for v in row] for row in np.atleast_2d(coef)], [number(v) for v in np.atleast_1d(intercept)]

    def value(self, W, B):
        """F, as it is stated."""
        total, at = mp.mpf(0), 0
        for objective, target in zip(self.objectives, self.targets):
            k = target.outputs
            total += self._one(objective, target, W[at : at + k], B[at : at + k])
            at += k
        return total / self.scale

    def scores(self, w, b):
        return [sum(x * v for x, v in zip(row, w)) + b + o for row, o in zip(self.rows, self.offset)]

    def _one(self, objective, target, W, B):
        Z = [self.scores(w, b) for w, b in zip(W, B)]
        total = mp.mpf(0)
        for i, s in enumerate(target.weights):
            if s == 0:
                continue
            z, y = [column[i] for column in Z], target.y[i]
            if objective.loss.name == "softmax":
                top = max(z)
                part = top + mp.log(sum(mp.exp(v - top) for v in z)) - z[int(y)]
            else:
                L = loss_of(objective.loss)[0]
                part = sum(L(v, number(t)) for v, t in zip(z, np.atleast_1d(y)))
            total += number(s) * part
        strength = number(objective.strength)
        if self.kernel is not None:
            own = sum(a * b * self.own[i][j] for i, a in enumerate(W[0]) for j, b in enumerate(W[0]))
            return total + strength * number(objective.regularizer.factor) * own
        if objective.padding is not None:
            W = [[*w, b / number(objective.padding)] for w, b in zip(W, B)]
        return total + (strength * penalty_of(objective.regularizer, W) if strength else 0)

    def polished(self, W, B, steps=30):
        """A better point by Newton's steps, for smooth losses of one output with a quadratic penalty or none."""
        objective = self.objectives[0]
        smooth = objective.regularizer.name in ("none", "l2") and objective.padding is None and self.kernel is None
        if objective.loss.name == "softmax" or not smooth or loss_of(objective.loss)[1] is None:
            return W, B
        parts = []
        for o, target, w, b in zip(self.objectives, self.targets, W, B):
            parts.append(self._newton(o, target, w, b, steps))
        return [w for w, _ in parts], [b for _, b in parts]

    def _newton(self, objective, target, w, b, steps):
        _, slope, curve = loss_of(objective.loss)
        d, free = len(w), objective.fit_intercept
        factor = 2 * number(objective.strength) * number(getattr(objective.regularizer, "factor", 0.0))
        prior = getattr(objective.regularizer, "prior", None)
        prior = [mp.mpf(0)] * d if prior is None else [number(v) for v in prior]
        now = self._one(objective, target, [w], [b])
        for _ in range(steps):
            g, H = mp.matrix(d + free, 1), mp.matrix(d + free, d + free)
            for row, z, y, s in zip(self.rows, self.scores(w, b), target.y, target.weights):
                if s == 0:
                    continue
                x = [*row, mp.mpf(1)] if free else row
                a, h = number(s) * slope(z, number(y)), number(s) * curve(z, number(y))
                for i in range(d + free):
                    g[i] += a * x[i]
                    for j in range(d + free):
                        H[i, j] += h * x[i] * x[j]
            for j in range(d):
                g[j] += factor * (w[j] - prior[j])
                H[j, j] += factor
            for j in range(d + free):  # singular matrices are lifted a little: any better point will do
                H[j, j] += H[j, j] * _MANY + _MANY * mp.mpf(10) ** -600
            try:
                step = mp.lu_solve(H, -g)
            except ZeroDivisionError:
                return w, b
            for halving in range(40):
                t = mp.mpf(2) ** -halving
                moved = [v + t * step[j] for j, v in enumerate(w)], b + t * step[d] if free else b
                then = self._one(objective, target, [moved[0]], [moved[1]])
                if then < now:
                    break
            else:
                return w, b
            (w, b), before, now = moved, now, then
            if before - now <= abs(now) * _MANY:
                break
        return w, b
