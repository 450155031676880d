r"""The textbook objective as a function that can be called: value, gradient and Hessian.

.. math:: J(w, b) = \frac1S\sum_i s_i\,L(w\cdot x_i + b,\ y_i) + \lambda R(w), \qquad S = \sum_i s_i
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from certifit._types import Array, MatrixLike, VectorLike, Weights
from certifit.certificates import Certificate, Data
from certifit.judge._by_hand import certify_coefficients, read_loss, read_penalty
from certifit.losses import Loss
from certifit.regularizers import L1, ElasticMix, Regularizer


def subgradient(penalty: Regularizer, w: Array) -> Array:
    """∇R(w), or a subgradient where a 1-norm has a kink."""
    if isinstance(penalty, L1):
        return np.sign(w)
    if isinstance(penalty, ElasticMix):
        return penalty.l1_ratio * np.sign(w) + (1.0 - penalty.l1_ratio) * w
    return penalty.gradient(w)


@dataclass(frozen=True)
class WrittenObjective:
    """J as a function of w and b, or of θ = (w₁, …, w_d, b) in one vector; without an offset, of w alone.

    For the softmax loss w has a line for each of the K classes, and θ is those lines one after another, then the K
    offsets; a table of lines (wₖ, bₖ) is taken as well.

    Attributes
    ----------
    loss, regularizer :
        The parts.
    lam : float
    X, y, weights : ndarray
        The data; labels as −1 and +1 (softmax: as 0 … K − 1), weights that add up to one.
    fit_intercept : bool
    labels : ndarray
        y as it was given.
    outputs : int
        Lines of weights: K for softmax, else 1.

    Examples
    --------
    >>> J = objective("squared", "l2", [[0.0], [1.0]], [1.0, 3.0], lam=0.5)
    >>> J([1.0], 1.0), J([1.0, 1.0]), J.gradient([1.0], 1.0).tolist()
    (1.0, 1.0, [0.0, -1.0])
    >>> J = objective("softmax", "l2", [[0.0], [1.0], [2.0]], ["a", "b", "c"], lam=0.5)
    >>> round(J(np.zeros((3, 1)), np.zeros(3)), 6), J.gradient(np.zeros(6)).shape, J.hessian(np.zeros(6)).shape
    (1.098612, (6,), (6, 6))
    """

    loss: Loss
    regularizer: Regularizer
    lam: float
    X: Array = field(repr=False)
    y: Array = field(repr=False)
    weights: Array = field(repr=False)
    fit_intercept: bool
    labels: Array = field(repr=False)
    outputs: int = 1

    def _parts(self, theta: VectorLike, b: float | VectorLike | None) -> tuple[Array, Array]:
        """w of shape (K, d) and b of shape (K,)."""
        given, K, d = np.asarray(theta, dtype=float), self.outputs, self.X.shape[1]
        if b is None and self.fit_intercept and K > 1 and given.shape == (K, d + 1):  # lines (wₖ, bₖ)
            return given[:, :-1], given[:, -1]
        t = np.ravel(given)
        if b is not None and self.fit_intercept:
            t = np.append(t, np.asarray(b, dtype=float))
        elif b is not None and np.any(np.asarray(b) != 0):
            raise ValueError("This objective has no offset: b must be left out or 0.")
        size = K * (d + self.fit_intercept)
        if t.shape != (size,):
            raise ValueError(f"θ must contain {size} numbers, got shape {t.shape}.")
        return t[: K * d].reshape(K, d), t[K * d :] if self.fit_intercept else np.zeros(K)

    def _scores(self, w: Array, b: Array) -> Array:
        """One score a row, or K."""
        z = self.X @ w.T + b
        return z if self.outputs > 1 else z[:, 0]

    def __call__(self, theta: VectorLike, b: float | VectorLike | None = None) -> float:
        """J(w, b), or J(θ) with θ = (w, b) in one vector."""
        w, offset = self._parts(theta, b)
        losses = self.loss.value(self._scores(w, offset), self.y)
        return float(self.weights @ losses + self.lam * self.regularizer.value(w.ravel()))

    def gradient(self, theta: VectorLike, b: float | VectorLike | None = None) -> Array:
        """∇J(θ); where the loss or the penalty has a kink, one of its subgradients.

        Parameters
        ----------
        theta : array-like of shape (d + 1,), or (d,) where b is given or there is no offset
            For softmax, of K times as many numbers.
        b : float or array-like of shape (K,), default=None
        """
        w, offset = self._parts(theta, b)
        slope = self.loss.slope(self._scores(w, offset), self.y).reshape(len(self.X), -1) * self.weights[:, None]
        pull = self.lam * subgradient(self.regularizer, w.ravel())
        return np.append((slope.T @ self.X).ravel() + pull, slope.sum(axis=0) if self.fit_intercept else [])

    def hessian(self, theta: VectorLike, b: float | VectorLike | None = None) -> Array:
        """∇²J(θ), of the loss and a squared penalty.

        Parameters
        ----------
        theta : array-like of shape (d + 1,), or (d,) where b is given or there is no offset
            For softmax, of K times as many numbers.
        b : float or array-like of shape (K,), default=None
        """
        w, offset = self._parts(theta, b)
        K, d, z = self.outputs, self.X.shape[1], self._scores(w, offset)
        if K > 1:  # diag(p) − ppᵀ of every row
            p = self.loss.slope(z, self.y) + np.eye(K)[self.y]
            curve = self.weights[:, None, None] * (p[:, :, None] * np.eye(K) - p[:, :, None] * p[:, None, :])
        else:
            curve = (self.weights * self.loss.curvature(z, self.y))[:, None, None]
        W = np.column_stack([self.X, np.ones(len(self.X))]) if self.fit_intercept else self.X
        blocks = np.einsum("nab,ni,nj->aibj", curve, W, W, optimize=True)
        places = [(k, j) for k in range(K) for j in range(d)] + [(k, d) for k in range(K) if self.fit_intercept]
        at = np.array([k * W.shape[1] + j for k, j in places])
        H = blocks.reshape(K * W.shape[1], -1)[np.ix_(at, at)]
        H[: K * d, : K * d] += self.lam * self.regularizer.convexity * np.eye(K * d)
        return np.asarray(H)

    def certify(self, theta: VectorLike, b: float | VectorLike | None = None) -> Certificate:
        """How far is J(θ) above the smallest possible value? See `certify_coefficients`.

        Parameters
        ----------
        theta : array-like of shape (d + 1,), or (d,) where b is given or there is no offset
            For softmax, of K times as many numbers.
        b : float or array-like of shape (K,), default=None
        """
        w, offset = self._parts(theta, b)
        chosen = offset if self.fit_intercept else None
        if self.outputs == 1:
            w = w[0]
        return certify_coefficients(w, chosen, self.X, self.labels, self.loss, self.regularizer, self.lam, self.weights)


def objective(
    loss: str | Loss,
    regularizer: str | Regularizer,
    X: MatrixLike,
    y: VectorLike,
    lam: float = 0.0,
    *,
    fit_intercept: bool = True,
    sample_weight: Weights = None,
) -> WrittenObjective:
    """The textbook objective, mean loss plus λ times a penalty, as a function with gradient and Hessian.

    Parameters
    ----------
    loss : str or Loss
        As in `certifit.losses`; "softmax" for several classes.
    regularizer : str or Regularizer
        "l2" is ‖w‖², "half_l2" ½‖w‖², "l1" ‖w‖₁, "none".
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
        Numbers, or two classes of which the second in sorted order counts as +1; for softmax K classes.
    lam : float ≥ 0, default=0.0
    fit_intercept : bool, default=True
        Whether θ ends with the offset, which is never penalised.
    sample_weight : array-like of shape (n,), default=None

    Returns
    -------
    WrittenObjective

    Examples
    --------
    >>> from certifit.solvers import check_gradient, gradient_descent
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    >>> J = objective("logistic", "l2", X, y, lam=0.1)
    >>> check_gradient(J, J.gradient, np.ones(3)).agrees
    True
    >>> found = gradient_descent(J, J.gradient, np.zeros(3), step=1.0, tol=1e-14)
    >>> J.certify(found.value).relative_gap < 1e-9
    True
    """
    data, kind = Data.of(X, y, sample_weight), read_loss(loss)
    labels = np.asarray(data.y)
    classes, codes = np.unique(labels, return_inverse=True)
    several = kind.targets == "class"
    if several:
        signs = codes
    else:
        signs = labels.astype(float) if kind.targets != "sign" else np.where(labels == classes[-1], 1.0, -1.0)
    dense = data.X.toarray() if hasattr(data.X, "toarray") else np.asarray(data.X, dtype=float)
    weights = np.asarray(data.weights, dtype=float) / float(np.sum(data.weights))
    return WrittenObjective(
        kind, read_penalty(regularizer, lam), float(lam), dense, signs, weights, fit_intercept, labels,
        len(classes) if several else 1,
    )  # fmt: skip
