r"""What a solver is asked: an objective on rows, and when to stop.

.. math:: F(w, b) = \sum_i s_i\,L(w\cdot x_i + b + o_i,\ y_i) + \Lambda R(w)

Solvers report values and gaps as the objective is stated: F itself, or F/S with S the sum of the weights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from certifit._objective import Objective
from certifit._types import Array, BaseEstimator
from certifit.design import Design
from certifit.losses import best_offset
from certifit.solvers.balance import balance_within


@dataclass(frozen=True)
class Options:
    """When to stop, what to record, and the random state.

    Attributes
    ----------
    tol : float ≥ 0
        As a fraction of the null model's loss.
    max_iter : int ≥ 1 or None
        None is the solver's own limit.
    time_budget : float > 0 or None
        Seconds.
    trace : bool
    random_state : int, Generator or None
    step : float > 0 or None
        η of gradient descent; None is the solver's own.
    start : array or None
        Where gradient descent begins: the coefficients, then the offset if there is one.

    Examples
    --------
    >>> Options(tol=1e-6).limit(100), Options(max_iter=7).limit(100)
    (100, 7)
    """

    tol: float = 1e-8
    max_iter: int | None = None
    time_budget: float | None = None
    trace: bool = False
    random_state: int | np.random.Generator | None = None
    step: float | None = None
    start: Array | None = None

    def limit(self, default: int) -> int:
        """``max_iter``, or the solver's own limit where that is None.

        Parameters
        ----------
        default : int ≥ 1
        """
        return default if self.max_iter is None else self.max_iter


DEFAULT = Options()


def options_of(model: BaseEstimator) -> Options:
    """What an estimator says in its parameters ``tol``, ``max_iter``, ``time_budget`` and ``trace``."""
    return Options(model.tol, model.max_iter, model.time_budget, model.trace)


@dataclass(frozen=True)
class Task:
    """An objective with the rows it is about; its methods take coefficients w (d,) and an offset b, or scores z (n,).

    Attributes
    ----------
    objective : Objective
    design : Design of shape (n, d)
    y : (n,) array
        Encoded: real numbers, −1/+1, or class codes.
    weights : (n,) array ≥ 0 or None
        Sample weights times class weights; None for ones.
    offset : (n,) array or None
        Known numbers that are added to the scores.

    Examples
    --------
    >>> from certifit.design import as_design
    >>> from certifit.losses import Squared
    >>> from certifit.regularizers import Zero
    >>> Task(Objective(Squared(), Zero(), 0.0), as_design(np.eye(2)), np.array([1.0, 3.0])).value(np.zeros(2), 2.0)
    1.0
    """

    objective: Objective
    design: Design
    y: Array
    weights: Array | None = None
    offset: Array | None = None

    # -- sizes --------------------------------------------------------------------------------------
    @property
    def s(self) -> Array:
        """Weights (ones when none were given)."""
        return np.ones(self.design.shape[0]) if self.weights is None else self.weights

    @property
    def total(self) -> float:
        """S = Σ sᵢ."""
        return float(self.design.shape[0] if self.weights is None else self.weights.sum())

    @property
    def unit(self) -> float:
        """What F is divided by where it is stated: S or 1."""
        return self.total if self.objective.stated == "mean" else 1.0

    @property
    def lam(self) -> float:
        """Λ in the units of what is stated."""
        return self.objective.strength / self.unit

    @property
    def outputs(self) -> int:
        """Scores of a row: one, or one for each class."""
        classes = self.objective.classes
        return len(classes) if classes is not None and self.objective.loss.targets == "class" else 1

    def used(self) -> Task:
        """The same without rows of weight zero, which take no part; weights that are all one are None."""
        if self.weights is None:
            return self
        keep, part = self.weights > 0, self
        if not keep.all():
            offset = None if self.offset is None else self.offset[keep]
            design = Design(self.design.X[keep])
            part = replace(self, design=design, y=self.y[keep], weights=self.weights[keep], offset=offset)
        return replace(part, weights=None) if np.all(part.s == 1.0) else part

    # -- one output ---------------------------------------------------------------------------------
    def scores(self, w: Array, b: float = 0.0) -> Array:
        """X w + b, with the known offsets.

        Parameters
        ----------
        w : (d,) array
        b : float, default=0
        """
        z = self.design.product(w) + b if np.any(w) else np.full(self.design.shape[0], float(b))
        return z if self.offset is None else z + self.offset

    def fit_at(self, z: Array) -> float:
        """The loss's part of the value at scores z.

        Parameters
        ----------
        z : (n,) array
        """
        with np.errstate(over="ignore"):
            return float(self.objective.total(z, self.y, self.s)) / self.unit

    def value(self, w: Array, b: float) -> float:
        """F (or F/S) at one point.

        Parameters
        ----------
        w : (d,) array
        b : float
        """
        return self.fit_at(self.scores(w, b)) + float(self.objective.penalty(w)) / self.unit

    def slope(self, w: Array, b: float) -> Array:
        """Gradient in w of the loss's part.

        Parameters
        ----------
        w : (d,) array
        b : float
        """
        z = self.scores(w, b)
        return self.design.product_t(self.objective.slope(z, self.y, self.s)) / self.unit

    def best_intercept(self, w: Array) -> float:
        """argmin_b F(w, b).

        Parameters
        ----------
        w : (d,) array
        """
        if not self.objective.fit_intercept:
            return 0.0
        return best_offset(self.objective.loss, self.scores(w), self.y, self.s)

    def null(self) -> float:
        """Loss of the null model: w = 0 and the best offset."""
        zero = np.zeros(self.design.shape[1])
        return max(self.value(zero, self.best_intercept(zero)), 1e-300)

    def bound(self, w: Array, b: float) -> float:
        """A lower bound on the minimum from the slopes at (w, b), the best offset assumed; −inf where there is none.

        Parameters
        ----------
        w : (d,) array
        b : float
        """
        s, y = self.s, self.y
        low, high = self.objective.box(y, s)
        beta = np.clip(self.objective.slope(self.scores(w, b), y, s), low, high)
        return self.bound_of(beta)[0]

    def bound_of(self, beta: Array) -> tuple[float, Array]:
        """The dual value of β in its box, brought to Σβ = 0 and into the domain of R*; and its u = β/s.

        Parameters
        ----------
        beta : (n,) array
        """
        objective, s, y = self.objective, self.s, self.y
        balanced: Array | None = balance_within(beta, *objective.box(y, s)) if objective.fit_intercept else beta
        per_row = np.where(s > 0, s, 1.0)
        if objective.strength == 0.0 or balanced is None:
            return -np.inf, beta / per_row
        v = -self.design.product_t(balanced) / objective.strength
        shrink = min(1.0, 1.0 / max(float(objective.gauge(v)), 1e-300))
        u = shrink * balanced / per_row
        data = float(s @ objective.loss.conjugate(u, y))
        if self.offset is not None:
            data -= shrink * float(balanced @ self.offset)
        penalty = objective.strength * float(objective.regularizer.conjugate(shrink * v))
        return -(data + penalty) / self.unit, u
