r"""Networks: what they compute in a whole box around a row, how flat the training objective is, and truth tables.

Layers :math:`a_{l+1} = \varphi(a_l W_l + b_l)`, the last without :math:`\varphi`. All activations increase, so numbers
with error bounds go through the layers as boxes do: a ball around each entry of a row holds every
row within that distance.

Evidence: ``layers`` (their number), ``coef_0``, ``intercept_0``, ... and ``activation``; then by kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
import scipy.special

from certifit._types import Array, Matrix, Record
from certifit.certificates._ball import UNIT, Ball, ball, dot
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._figures import at_least
from certifit.certificates._record import Check, Kind, Proof, ProvedNumber, about, equal, register, upper
from certifit.certificates._schema import FINITE, NUMBER, NUMBERS, TEXT, WHOLE, word

Layers = list[tuple[Array, Array]]
_SLACK = 32 * UNIT  # more than tanh and 1/(1 + exp(−t)) err by
_TABLE = 1 << 16  # rows of a truth table that is recomputed


def _between(z: Ball, function: Callable[[Array], Array], low: float, high: float) -> Ball:
    """The image under an increasing function with values in [low, high]."""
    ends = function(z.lower), function(z.upper)
    bottom = np.maximum(ends[0] - _SLACK * np.abs(ends[0]) - 2.0**-1060, low)
    top = np.minimum(ends[1] + _SLACK * np.abs(ends[1]) + 2.0**-1060, high)
    return Ball.between(bottom, top)


def _relu_slope(z: Ball, a: Ball) -> Ball:
    return Ball.between(np.where(z.lower > 0, 1.0, 0.0), np.where(z.upper >= 0, 1.0, 0.0))


_ACTIVATIONS: dict[str, tuple[Callable[[Ball], Ball], Callable[[Ball, Ball], Ball]]] = {
    "identity": (lambda z: z, lambda z, a: Ball(np.ones(a.shape))),
    "relu": (
        lambda z: Ball.between(np.maximum(z.lower, 0.0), np.maximum(z.upper, 0.0)),
        _relu_slope,
    ),
    "tanh": (lambda z: _between(z, np.tanh, -1.0, 1.0), lambda z, a: 1.0 - a.square()),
    "logistic": (lambda z: _between(z, scipy.special.expit, 0.0, 1.0), lambda z, a: a * (1.0 - a)),
}
"""Each activation and its slope (from z and from its own value), on numbers with error bounds."""


def layers_of(coefs: list[Array], intercepts: list[Array], name: str = "coef") -> Record:
    """The part of the evidence that holds the network."""
    out: dict[str, Any] = {"layers": len(coefs)}
    for i, (W, b) in enumerate(zip(coefs, intercepts)):
        out |= {f"{name}_{i}": np.asarray(W, dtype=float), f"intercept_{i}": np.asarray(b, dtype=float)}
    return out


def _read(evidence: Evidence, width: int, weights: str = "coef") -> Layers:
    """The layers, refused unless they fit together and start at the columns of X."""
    layers: Layers = []
    count = evidence["layers"]
    if not isinstance(count, int) or not 1 <= count <= 1000:
        raise ValueError("a network has layers")
    for i in range(count):
        W, b = (np.asarray(evidence[f"{name}_{i}"], dtype=float) for name in (weights, "intercept"))
        if W.ndim != 2 or W.shape[0] != width or b.shape != (W.shape[1],) or W.shape[1] == 0:
            raise ValueError("the layers do not fit together")
        if not (np.all(np.isfinite(W)) and np.all(np.isfinite(b))):
            raise ValueError("the weights are not finite")
        layers.append((W, b))
        width = W.shape[1]
    return layers


def hidden(layers: Layers, activation: str, x: Any) -> Ball:
    """The last hidden layer for a ball (or an exact array) of rows."""
    function = _ACTIVATIONS[activation][0]
    for W, b in layers[:-1]:
        x = function(dot(x, W) + b)
    return x if isinstance(x, Ball) else ball(x)


def labels_hold(layers: Layers, activation: str, X: Array, codes: Array, radius: Array) -> Array:
    """For each row whether every point within its radius (largest change of a coordinate) has the label of that code.

    One score: code 1 where it is positive, 0 where it is not. Several: the largest. Differences of scores are taken in
    the last layer's weights, which is tighter than bounds of each score.
    """
    with np.errstate(all="ignore"):
        wide = np.repeat(np.asarray(radius, dtype=float)[:, None], X.shape[1], axis=1)
        a = hidden(layers, activation, Ball(X, np.where(wide > 0, np.nextafter(wide, np.inf), 0.0)))
        # A middle and a radius say of [0, h] that it may be a little below zero, which a weight of 1e300 would show.
        low, high = np.maximum(a.lower, 0.0 if activation in ("relu", "logistic") else -np.inf), a.upper
        W, b = layers[-1]
        if W.shape[1] == 1:
            above, below = (_least(low, high, ball(sign * W)) + sign * b for sign in (1.0, -1.0))
            return np.where(codes == 1, above.lower[:, 0] > 0, below.lower[:, 0] > 0)
        sure = np.zeros(len(X), dtype=bool)
        for c in np.unique(codes):
            rows, others = codes == c, np.arange(W.shape[1]) != c
            ahead = _least(low[rows], high[rows], ball(W[:, [c]]) - W[:, others]) + (ball(b[[c]]) - b[others])
            sure[rows] = np.all(ahead.lower > 0, axis=1)
        return sure


def _least(low: Array, high: Array, weights: Ball) -> Ball:
    """The least sum of weights times numbers between two ends."""
    return dot(low, weights.maximum(0.0)) + dot(high, weights.minimum(0.0))


def _forward(layers: Layers, activation: str, X: Matrix) -> tuple[list[Any], list[Ball]]:
    """Inputs of every layer and their values before the activation."""
    inputs, values = [X], []
    for i, (W, b) in enumerate(layers):
        values.append(dot(inputs[-1], W) + b)
        if i + 1 < len(layers):
            inputs.append(_ACTIVATIONS[activation][0](values[-1]))
    return inputs, values


def _log_sum(a: Ball, b: Ball) -> Ball:
    """log(exp(a) + exp(b))."""
    out: Ball = np.logaddexp(a, b)  # type: ignore[call-overload]
    return out


def _class_loss(z: Ball, codes: Array) -> tuple[Ball, Ball]:
    """−log of the label's probability for every row, and its slope."""
    n = len(codes)
    if z.shape[1] == 1:
        s = Ball(z.mid * (1 - 2 * codes[:, None]), z.rad)  # log(1 + exp(s)), s the score against the label
        p = _ACTIVATIONS["logistic"][0](z)
        return _log_sum(s, ball(0.0)).reshape(-1), p - codes[:, None]
    top = z[:, 0]
    for k in range(1, z.shape[1]):
        top = _log_sum(top, z[:, k])
    own = z[np.arange(n), codes]
    shares = np.exp(z - top.reshape(-1, 1))
    return top - own, shares - np.eye(z.shape[1])[codes]


def _value_loss(z: Ball, y: Array) -> tuple[Ball, Ball]:
    """Half the squared distance of every row, and its slope."""
    delta = z - y
    return 0.5 * delta.square().sum(axis=1), delta


def _label_loss(z: Ball, y: Array) -> tuple[Ball, Ball]:
    """−log of the probability of all labels of a row, each on its own, and its slope."""
    s = Ball(z.mid * (1.0 - 2.0 * y), z.rad)
    return _log_sum(s, ball(0.0)).sum(axis=1), _ACTIVATIONS["logistic"][0](z) - y


def _count_loss(z: Ball, y: Array) -> tuple[Ball, Ball]:
    """Half the Poisson deviance of every row at the mean exp(z), and its slope."""
    mean = np.exp(z)
    positive = np.where(y > 0, y, 1.0)
    own = np.log(ball(positive)) * y  # y log y, zero for zero
    return (own - z * y - y + mean).sum(axis=1), mean - y


_LOSSES: dict[str, Any] = {
    "classes": _class_loss,
    "regression": _value_loss,
    "labels": _label_loss,
    "counts": _count_loss,
}


def _target(data: Data, evidence: Evidence, outputs: int) -> tuple[str, Array]:
    task = str(evidence["task"])
    if data.y is None:
        raise ValueError("the targets are needed")
    if task != "classes":
        y = data.real_targets().reshape(data.X.shape[0], -1)
        if y.shape[1] != outputs:
            raise ValueError("outputs and targets do not match")
        if (task == "labels" and not np.all((y == 0) | (y == 1))) or (task == "counts" and np.any(y < 0)):
            raise ValueError("the targets do not match the task")
        return task, y
    classes, codes = np.unique(data.y, return_inverse=True)
    if outputs != (1 if len(classes) <= 2 else len(classes)):
        raise ValueError("outputs and classes do not match")
    return "classes", codes.ravel()


def _gradient(layers: Layers, activation: str, inputs: list[Any], values: list[Ball], delta: Ball, decay: Ball) -> Ball:
    """The sum of squares of all partial derivatives of the sum of losses with decay · ½ Σ W²."""
    total = ball(0.0)
    for i in range(len(layers) - 1, -1, -1):
        a, W = inputs[i], layers[i][0]
        across = Ball(a.mid.T, np.broadcast_to(a.rad, a.shape).T) if isinstance(a, Ball) else a.T
        total = total + (dot(across, delta) + decay * W).square().sum() + delta.sum(axis=0).square().sum()
        if i:
            delta = dot(delta, np.ascontiguousarray(W.T)) * _ACTIVATIONS[activation][1](values[i - 1], a)
    return total


@register
class Flat(Kind):
    """Claim: the value of the training objective and a bound on the norm of its gradient. Evidence: task, alpha."""

    name: ClassVar[str] = "network-gradient"
    theorem: ClassVar[str] = "Fermat: at a minimum the gradient is zero (necessary, not sufficient)"
    needs: ClassVar = {
        "layers": WHOLE,
        "intercept_*": FINITE,
        "coef_*": FINITE,
        "activation": TEXT,
        "task": word("regression", "classes", "labels", "counts"),
        "alpha": NUMBER,
    }

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        X: Any = data.X if scipy.sparse.issparse(data.X) else np.asarray(data.X, dtype=float)
        layers, activation = _read(evidence, X.shape[1]), str(evidence["activation"])
        task, target = _target(data, evidence, layers[-1][0].shape[1])
        weights, alpha = data.weights, float(evidence["alpha"])
        if not (alpha >= 0 and np.all(weights >= 0) and np.all(np.isfinite(weights)) and np.any(weights > 0)):
            raise ValueError("weights and alpha are not negative")
        inputs, values = _forward(layers, activation, X)
        loss, delta = _LOSSES[task](values[-1], target)
        total, decay = ball(weights).sum(), ball(alpha)
        penalty = decay * 0.5 * sum((ball(W).square().sum() for W, _ in layers), start=ball(0.0))
        value = ((loss * weights).sum() + penalty) / total
        square = _gradient(layers, activation, inputs, values, delta * weights[:, None], decay)
        norm = np.sqrt(square) / total
        finite = bool(value.rad <= 1e-9 * max(1.0, abs(float(value.mid))) and np.isfinite(norm.upper))
        count = sum(W.size + b.size for W, b in layers)
        figures = {"value": about(value), "gradient": upper(norm), "parameters": equal(count)}
        return Proof(figures, (Check("value and gradient are bounded", finite),))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        return (
            f"The training objective of this network is {figures['value']:.6g}, and its gradient in "
            f"{figures['parameters']} parameters has norm at most {figures['gradient']:.1e}. "
            "The objective is not convex: how far it is from the smallest possible is not known."
        )


@register
class Radius(Kind):
    """Claim: labels that do not change within ``radii`` of the rows. Evidence: codes (outputs), radii."""

    name: ClassVar[str] = "network-radius"
    theorem: ClassVar[str] = "Interval arithmetic: the image of a box lies in the box of the images (Moore 1966)"
    needs: ClassVar = {
        "layers": WHOLE,
        "intercept_*": FINITE,
        "coef_*": FINITE,
        "activation": TEXT,
        "codes": WHOLE,
        "radii": NUMBERS,
    }

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        X = data.X.toarray() if scipy.sparse.issparse(data.X) else np.asarray(data.X, dtype=float)
        layers = _read(evidence, X.shape[1])
        codes, radii = np.asarray(evidence["codes"]), np.asarray(evidence["radii"], dtype=float)
        outputs = max(2, layers[-1][0].shape[1])
        if codes.shape != (len(X),) or radii.shape != (len(X),) or not np.all(np.isin(codes, np.arange(outputs))):
            raise ValueError("codes or radii do not match")
        fine = bool(np.all(radii >= 0) and np.all(np.isfinite(radii)))
        proved = labels_hold(layers, str(evidence["activation"]), X, codes, radii) & (radii > 0)
        claimed = radii > 0
        checks = (
            Check("radii are numbers that are not negative", fine),
            Check("every box keeps its label", bool(np.all(proved[claimed])), f"{int(proved.sum())} of {len(X)} rows"),
        )
        count, least = int(proved.sum()), float(radii[proved].min(initial=np.inf)) if np.any(proved) else 0.0
        figures = {
            "rows": equal(len(X)),
            "certain": at_least(count),
            "least": ProvedNumber(least, least, "lower"),
        }
        return Proof(figures, checks)

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        return (
            f"Of {figures['rows']} rows, {figures['certain']} keep their label when every coordinate changes by at "
            f"most the row's radius, the smallest of which is {figures['least']:.3g} "
            "(the network computed without rounding)."
        )


@register
class TruthTable(Kind):
    """Claim: threshold units compute this Boolean function. The data are all inputs (0 or 1) and the outputs.

    Evidence: ``weights_0`` and so on instead of ``coef_0``.
    """

    name: ClassVar[str] = "truth-table"
    theorem: ClassVar[str] = "Every row of the truth table, recomputed"
    needs: ClassVar = {"layers": WHOLE, "intercept_*": FINITE, "weights_*": FINITE}

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        X = np.asarray(data.X, dtype=float)
        n, d = X.shape
        if data.y is None or len(data.y) != n:
            raise ValueError("the truth table is needed")
        y = data.real_targets().reshape(n, -1)
        whole = d < 32 and n == 2**d <= _TABLE and bool(np.all((X == 0) | (X == 1))) and len(np.unique(X, axis=0)) == n
        layers = _read(evidence, d, "weights")
        clear, a = True, X
        for W, b in layers:
            z = dot(a, W) + b
            on, off = z.lower > 0, z.upper <= 0
            for i, j in np.argwhere(~(on | off)) if rigor == "exact" else ():
                # Inputs are 0 and 1, and the exact sum rounded once has the right sign.
                on[i, j] = math.fsum([*W[a[i] != 0.0, j], b[j]]) > 0.0
                off[i, j] = not on[i, j]
            clear = clear and bool(np.all(on | off))
            a = on.astype(float)
        right = int(np.sum(np.all(a == y, axis=1))) if a.shape == y.shape else 0
        checks = (
            Check("these are all inputs", whole, f"{n} of 2^{d}"),
            Check("rounding decides no unit", clear),
            Check("every output is that of the table", right == n, f"{right} of {n}"),
        )
        units = sum(len(b) for _, b in layers)
        figures = {"inputs": equal(d), "rows": equal(n), "units": equal(units), "right": equal(right)}
        return Proof(figures, checks)

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        return (
            f"This network of {figures['units']} threshold units computes the Boolean function of "
            f"{figures['inputs']} inputs: {figures['right']} of {figures['rows']} rows of its truth table are right."
        )
