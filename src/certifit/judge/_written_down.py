r"""The textbook objective as a function that can be called: value, gradient and Hessian.

.. math:: J(w, b) = \frac1S\sum_i s_i\,L(w\cdot x_i + b,\ y_i) + \lambda R(w), \qquad S = \sum_i s_i
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from certifit._types import Array, MatrixLike, VectorLike, Weights
from certifit.certificates import Certificate, Data
from certifit.judge._by_hand import certify_coefficients, read_loss, read_penalty
from certifit.losses import Loss
from certifit.regularizers import Regularizer


@dataclass(frozen=True)
class WrittenObjective:
    """J as a function of w and b, or of θ = (w₁, …, w_d, b) in one vector; without an offset, of w alone.

    Attributes
    ----------
    loss, regularizer :
        The parts.
    lam : float
    X, y, weights : ndarray
        The data; labels as −1 and +1, weights that add up to one.
    fit_intercept : bool

    Examples
    --------
    >>> J = objective("squared", "l2", [[0.0], [1.0]], [1.0, 3.0], lam=0.5)
    >>> J([1.0], 1.0), J([1.0, 1.0]), J.gradient([1.0], 1.0).tolist()
    (1.0, 1.0, [0.0, -1.0])
    """

    loss: Loss
    regularizer: Regularizer
    lam: float
    X: Array
    y: Array
    weights: Array
    fit_intercept: bool
    labels: Array

    def _parts(self, theta: VectorLike, b: float | VectorLike | None) -> tuple[Array, float]:
        t = np.ravel(np.asarray(theta, dtype=float))
        if b is not None and self.fit_intercept:
            t = np.append(t, np.asarray(b, dtype=float))
        elif b is not None and np.any(np.asarray(b) != 0):
            raise ValueError("This objective has no offset: b must be left out or 0.")
        if t.shape != (self.X.shape[1] + self.fit_intercept,):
            raise ValueError(f"θ must contain {self.X.shape[1] + self.fit_intercept} numbers, got shape {t.shape}.")
        return (t[:-1], float(t[-1])) if self.fit_intercept else (t, 0.0)

    def __call__(self, theta: VectorLike, b: float | VectorLike | None = None) -> float:
        """J(w, b), or J(θ) with θ = (w, b) in one vector."""
        w, offset = self._parts(theta, b)
        return float(self.weights @ self.loss.value(self.X @ w + offset, self.y) + self.lam * self.regularizer.value(w))

    def gradient(self, theta: VectorLike, b: float | VectorLike | None = None) -> Array:
        """∇J(θ); where the loss or the penalty has a kink, one of its subgradients.

        Parameters
        ----------
        theta : array-like of shape (d + 1,), or (d,) where b is given or there is no offset
        b : float, default=None
        """
        w, offset = self._parts(theta, b)
        slope = self.weights * self.loss.slope(self.X @ w + offset, self.y)
        pull = self.lam * (self.regularizer.gradient(w) if hasattr(self.regularizer, "gradient") else np.sign(w))
        return np.append(self.X.T @ slope + pull, slope.sum() if self.fit_intercept else [])

    def hessian(self, theta: VectorLike, b: float | VectorLike | None = None) -> Array:
        """∇²J(θ), of the loss and a squared penalty.

        Parameters
        ----------
        theta : array-like of shape (d + 1,), or (d,) where b is given or there is no offset
        b : float, default=None
        """
        w, offset = self._parts(theta, b)
        curve = self.weights * self.loss.curvature(self.X @ w + offset, self.y)
        W = np.column_stack([self.X, np.ones(len(self.X))]) if self.fit_intercept else self.X
        H = W.T @ (curve[:, None] * W)
        d = self.X.shape[1]
        H[:d, :d] += self.lam * self.regularizer.convexity * np.eye(d)
        return H

    def certify(self, theta: VectorLike, b: float | VectorLike | None = None) -> Certificate:
        """How far is J(θ) above the smallest possible value? See `certify_coefficients`.

        Parameters
        ----------
        theta : array-like of shape (d + 1,), or (d,) where b is given or there is no offset
        b : float, default=None
        """
        w, offset = self._parts(theta, b)
        chosen = offset if self.fit_intercept else None
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
        As in `certifit.losses`, of one score a row.
    regularizer : str or Regularizer
        "l2" is ‖w‖², "half_l2" ½‖w‖², "l1" ‖w‖₁, "none".
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
        Numbers, or two classes of which the second in sorted order counts as +1.
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
    if kind.targets == "class":
        raise ValueError("The softmax loss has a line of weights for each class: use certify_coefficients for it.")
    signs = labels.astype(float) if kind.targets != "sign" else np.where(labels == np.unique(labels)[-1], 1.0, -1.0)
    dense = data.X.toarray() if hasattr(data.X, "toarray") else np.asarray(data.X, dtype=float)
    weights = np.asarray(data.weights, dtype=float) / float(np.sum(data.weights))
    return WrittenObjective(
        kind, read_penalty(regularizer, lam), float(lam), dense, signs, weights, fit_intercept, labels
    )
