"""Support vector regression with a kernel: errors inside a tube are free."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from certifit._certified import Certified
from certifit._objective import Objective
from certifit._sklearn import usual
from certifit._types import Array, Matrix, MatrixLike, VectorLike, Weights
from certifit._validation import validate_data
from certifit.kernels import Kernel
from certifit.losses import EpsilonInsensitive
from certifit.regularizers import SquaredL2
from certifit.solvers import Solution
from certifit.solvers._box_dual import Box
from certifit.solvers.balance import balance
from certifit.solvers.crossing import crossing
from certifit.svm._evidence import machine_evidence
from certifit.svm._expansion import expansion, read_rows
from certifit.svm._labels import masked
from certifit.svm._linear import warn_if_limited
from certifit.svm._machine import CONSTRAINTS, KernelMachine, name_machine, rows_of, solve_box, without_bound


class TubeMachine(KernelMachine, Certified, RegressorMixin, BaseEstimator):
    """Regression by a tube; a leaf gives the dual over rows with weight and the half width (`_solve`)."""

    def fit(self, X: MatrixLike, y: VectorLike, sample_weight: Weights = None) -> Self:
        """Fit to rows X, (n, n) kernel values with a precomputed kernel, and numbers y.

        Weight k equals k copies of the row; rows of weight 0 or less are ignored.
        """
        self._validate_params()
        X, y = validate_data(self, self._given(X), y, dtype=np.float64, order="C", accept_sparse="csr", y_numeric=True)
        fit_tube(self, X, y, sample_weight, self._solve)
        return self

    @abstractmethod
    def _solve(self, kernel: Kernel, X: Matrix, y: Array, cost: Array) -> tuple[Solution, float]:
        """The machine and the half width of its tube."""

    def predict(self, X: MatrixLike) -> Array:
        """Predicted values of the rows."""
        return expansion(self, read_rows(self, X), self._columns)[:, 0]


@dataclass(kw_only=True, eq=False, repr=False)
class SVR(TubeMachine):
    r"""Support vector regression with a kernel, proved optimal to a stated gap.

    .. math:: \min_{w, b}\ \tfrac12 \lVert w\rVert^2 + C \sum_i s_i\,
              \max(0,\ |w^\top\varphi(x_i) + b - y_i| - \varepsilon)

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, Kernel or callable, default="rbf"
    degree : int ≥ 1, default=3
        Of the polynomial kernel.
    gamma : {"scale", "auto"} or float ≥ 0, default="scale"
        "scale" is 1 / (columns · variance of X, weighted), "auto" 1 / columns.
    coef0 : float, default=0.0
        Offset inside the polynomial and sigmoid kernels.
    tol : float > 0, default=1e-3
        Accuracy: the fit stops when the duality gap is at most tol/100 of the null model's loss. Where at most 2,000
        multipliers are free, Newton steps on them then continue to rounding error.
    C : float > 0, default=1.0
        Cost of a unit of error outside the tube.
    epsilon : float ≥ 0, default=0.1
        ε, half the width of the tube.
    shrinking : bool, default=True
        Whether points that will probably stay at their bound are set aside between rounds.
    cache_size : float > 0, default=200
        Megabytes of kernel rows kept, for kernels that are slow to compute.
    verbose :
        Accepted for compatibility with scikit-learn; nothing is printed.
    max_iter : int ≥ −1, default=-1
        Limit on pair steps; −1 is none.
    trace : bool, default=False
        Whether to record every round in ``trace_``.
    time_budget : float > 0, default=None
        Seconds after which the fit stops and keeps the best so far, with its (larger) proved gap.

    Attributes
    ----------
    dual_coef_, support_, support_vectors_, n_support_, intercept_, coef_, fit_status_, n_iter_, shape_fit_,
    n_features_in_, feature_names_in_ :
        As in scikit-learn.
    gap_ : float
        Duality gap at which the solver stopped.
    kernel_ : Kernel
        The kernel with its parameters.
    status_ : str
        Why it stopped: "converged", "precision", "max_iter" or "time_budget".
    trace_ : Trace
        With ``trace=True``.
    certificate_ : Certificate
        Kind "duality", of the objective divided by C.

    Examples
    --------
    >>> X, y = np.arange(5.0)[:, None], np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    >>> model = SVR(kernel="linear", C=10.0, epsilon=0.5).fit(X, y)
    >>> model.predict([[2.5]]).round(3).tolist(), model.certificate_.relative_gap < 1e-12
    ([2.375], True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS | usual("C∈(0,∞] epsilon≥0")

    C: float = 1.0
    epsilon: float = 0.1

    def _solve(self, kernel: Kernel, X: Matrix, y: Array, cost: Array) -> tuple[Solution, float]:
        return solve_tube(self, kernel, X, y, cost, float(self.epsilon)), float(self.epsilon)


def solve_tube(
    model: BaseEstimator, kernel: Kernel, X: Matrix, y: Array, cost: Array, width: float, start: Array | None = None,
    rounded: bool = True,
) -> Solution:  # fmt: skip
    """The machine for a tube of half width ``width``; β is that of `Box.of_tube`."""
    box = Box.of_tube(y, cost, width)
    _, null = box.offset_and_gap(np.zeros(len(box.lo)), -box.linear)
    return solve_box(model, kernel, X, box, null, start, rounded)


def fit_tube(model: BaseEstimator, X: Matrix, y: Array, sample_weight: Weights, solve: Any) -> None:
    """Fit a regression machine: `solve` gives the dual over the rows with weight and the half width of the tube."""
    y = np.asarray(y, dtype=float)
    sample_weight = masked(sample_weight, X)
    kernel, gamma = model._kernel_of(X, sample_weight)
    weights = np.ones(len(y)) if sample_weight is None else sample_weight
    rows = np.flatnonzero(weights > 0.0)
    level = float(np.median(y[rows]))  # the offset takes it; small numbers keep more digits
    price, own = float(model.C), rows_of(kernel, X, rows)
    if np.isinf(price):
        width = float(model.epsilon)
        found, price = without_bound(
            lambda C: solve(kernel, own, y[rows] - level, C * weights[rows])[0], lambda C: C * weights[rows]
        )
    else:
        found, width = solve(kernel, own, y[rows] - level, price * weights[rows])
    cost = price * weights[rows]
    beta = np.zeros(len(y))
    beta[rows] = balance(found.value.beta.reshape(-1, len(rows)).sum(axis=0), cost)
    name_machine(model, X, kernel, gamma, beta, found.value.offset + level, found)
    warn_if_limited(model)
    objective = Objective(EpsilonInsensitive(width), SquaredL2(0.5), 1.0 / price, stated="sum")
    dual = np.zeros(len(y))
    dual[rows] = balance(beta[rows] / price, weights[rows])
    support, columns, intercept = model.support_, model._columns, model.intercept_
    # A tube of no width may have fewer multipliers than ν: the share is then a bound, and nothing is claimed of it.
    share = {"nu": float(model.nu)} if hasattr(model, "nu") and width > 0.0 else {}
    parts = kernel, X, objective, support, columns, intercept, dual[support][:, None]
    model._promise_certificate("duality", lambda _: machine_evidence(*parts) | share, X, y, sample_weight)


@dataclass(kw_only=True, eq=False, repr=False)
class NuSVR(TubeMachine):
    r"""Support vector regression with at most a fraction ν of the rows outside its tube, proved optimal.

    .. math:: \min_{w, b, \varepsilon\ge 0}\ \tfrac12 \lVert w\rVert^2 + C\Bigl(\nu\varepsilon\sum_i s_i +
              \sum_i s_i \max(0,\ |w^\top\varphi(x_i) + b - y_i| - \varepsilon)\Bigr)

    The solution is that of `SVR` with the width ε that was found, and the certificate is about that problem; it also
    states that the multipliers add up to the fraction ν of the weights, so that ε belongs to this ν.

    Parameters
    ----------
    nu : float in (0, 1], default=0.5
        ν: at most this fraction of the rows lies outside the tube, and at least this fraction are support vectors.
    max_iter : int ≥ −1, default=-1
        Limit on pair steps of each of the tubes tried; −1 is none.
    trace : bool, default=False
        Whether to record every round of the last descent in ``trace_``.
    time_budget : float > 0, default=None
        Seconds for each of the tubes tried.
    C, kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose :
        As in `SVR`.

    Attributes
    ----------
    dual_coef_, support_, support_vectors_, n_support_, intercept_, coef_, fit_status_, n_iter_, shape_fit_,
    n_features_in_, feature_names_in_ :
        As in scikit-learn.
    epsilon_ : float
        Half the width of the tube.
    gap_, kernel_, status_, trace_ :
        As in `SVR`.
    certificate_ : Certificate
        Kind "duality", of the objective of `SVR` divided by C.

    Examples
    --------
    >>> X, y = np.arange(8.0)[:, None], np.array([0.0, 1.2, 1.9, 3.1, 3.9, 5.0, 6.2, 7.0])
    >>> model = NuSVR(kernel="linear", C=10.0, nu=0.4).fit(X, y)
    >>> bool(0.0 < model.epsilon_ < 0.3), model.certificate_.holds
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS | usual("nu∈(0,1] C>0")

    nu: float = 0.5
    C: float = 1.0

    def _solve(self, kernel: Kernel, X: Matrix, y: Array, cost: Array) -> tuple[Solution, float]:
        """The machine and the half width at which its multipliers add up to ν of the costs (or 0, and less)."""
        wanted = float(self.nu) * float(cost.sum())
        found: dict[float, Solution] = {}
        last: list[Array] = []

        def short(width: float) -> float:
            start = last[-1] if width > 0.0 and last else None
            found[width] = solve_tube(self, kernel, X, y, cost, width, start)
            if width > 0.0:
                last[:] = [found[width].value.beta]
            return float(np.abs(found[width].value.beta.reshape(-1, len(y)).sum(axis=0)).sum()) - wanted

        flat = short(0.0)
        self.epsilon_, other = 0.0, 0.0
        if flat > 1e-10 * wanted:
            widest = 0.5 * float(np.ptp(y)) * (1.0 + 1e-9)
            self.epsilon_, other = crossing(short, (0.0, flat), (widest, short(widest)), lambda _: 1e-10 * wanted)
        at = found[self.epsilon_]
        at = at if self.epsilon_ == other else mixed(at, found[other], len(y), wanted)
        return of_all(found.values(), at), self.epsilon_


def of_all(tried: Iterable[Solution], chosen: Solution) -> Solution:
    """The chosen one, with the pair steps of all that were tried."""
    return replace(chosen, stats=chosen.stats | {"steps": sum(f.stats["steps"] for f in tried)})


def mixed(first: Solution, second: Solution, n: int, wanted: float) -> Solution:
    """Between two optima of (nearly) one problem, the one whose multipliers have the wanted sum of sizes."""
    one, two = (f.value.beta.reshape(-1, n).sum(axis=0) for f in (first, second))
    sizes = np.abs(one).sum(), np.abs(two).sum()
    share = float(np.clip((wanted - sizes[1]) / (sizes[0] - sizes[1]), 0.0, 1.0)) if sizes[0] != sizes[1] else 1.0
    offset = share * first.value.offset + (1.0 - share) * second.value.offset
    return replace(first, value=replace(first.value, beta=share * one + (1.0 - share) * two, offset=offset))
