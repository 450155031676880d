"""Soft-margin SVM, parametrised by the fraction of rows that may violate the margin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from certifit._sklearn import Interval
from certifit._types import Array, Matrix, RandomState
from certifit.kernels import Kernel
from certifit.solvers import Solution
from certifit.solvers.balance import balance
from certifit.solvers.crossing import crossing
from certifit.svm._classifier import KernelClassifier, solve_labels
from certifit.svm._svr import mixed, of_all

_FARTHEST = 1e4  # prices between its inverse and this are tried; beyond, the margin is as good as zero
_STRIDE = 8.0


class NuSVC(KernelClassifier):
    r"""Soft-margin classification by the share ν of rows that may miss the margin, proved optimal to a stated gap.

    .. math:: \min_{w, b, \rho\ge 0}\ \tfrac12 \lVert w\rVert^2 - \nu\rho\sum_i s_i
              + \sum_i s_i \max(0,\ \rho - y_i(w^\top\varphi(x_i) + b))

    Divided by ρ, the machine is that of `SVC` with the price C = 1/ρ (one for each pair of classes). The certificate is
    about that problem; it also states that the multipliers add up to the share ν of the costs, which makes it the
    machine of ν.

    Parameters
    ----------
    nu : float in (0, 1], default=0.5
        ν: at most this fraction of the rows violates the margin, and at least this fraction are support vectors.
    max_iter : int ≥ −1, default=-1
        Limit on pair steps at each of the prices tried; −1 is none.
    trace : bool, default=False
        Whether to record the last descent of every machine in ``trace_``.
    time_budget : float > 0, default=None
        Seconds at each of the prices tried.
    kernel, degree, gamma, coef0, shrinking, probability, tol, cache_size, class_weight, decision_function_shape :
        As in `SVC`.
    break_ties, verbose, random_state :
        As in `SVC`.

    Attributes
    ----------
    classes_, class_weight_, dual_coef_, support_, support_vectors_, n_support_, intercept_, coef_, fit_status_,
    n_iter_, shape_fit_, n_features_in_, feature_names_in_ :
        As in scikit-learn.
    gap_, kernel_, status_, trace_ :
        As in `SVC`.
    certificate_ : Certificate
        Kind "duality", as in `SVC`.

    Examples
    --------
    >>> X = np.array([[-2.0, 0.0], [-1.0, 1.0], [1.0, -1.0], [2.0, 0.0]])
    >>> model = NuSVC(kernel="linear").fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[3.0, 1.0]]).tolist(), model.certificate_.holds
    (['b'], True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = KernelClassifier._parameter_constraints | {
        "nu": [Interval(Real, 0.0, 1.0, closed="right")]
    }

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool = False,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: RandomState = None,
        trace: bool = False,
        time_budget: float | None = None,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.trace = trace
        self.time_budget = time_budget

    def _solve(self, kernel: Kernel, X: Matrix, y: Array, cost: Callable[[float], Array]) -> tuple[Solution, float]:
        """The price at which the multipliers add up to ν of the costs, and the machine there."""
        share, unit = float(self.nu), cost(1.0)
        if share * unit.sum() / 2.0 > min(unit[y > 0].sum(), unit[y < 0].sum()) * (1.0 + 1e-12):
            raise ValueError("specified nu is infeasible: it asks for more support vectors than the smaller class has.")
        found: dict[float, Solution] = {}
        last: list[float] = []

        def over(price: float) -> float:
            here = cost(price)
            start = balance(found[last[-1]].value.beta * (price / last[-1]), here) if last else None
            found[price] = solve_labels(self, kernel, X, y, here, start)
            last[:] = [price]
            return float(np.abs(found[price].value.beta).sum()) - share * float(here.sum())

        low = high = (1.0, over(1.0))
        while low[1] < 0.0 and low[0] > 1.0 / _FARTHEST:
            high, low = low, (low[0] / _STRIDE, over(low[0] / _STRIDE))
        while high[1] > 0.0 and high[0] < _FARTHEST:
            low, high = high, (high[0] * _STRIDE, over(high[0] * _STRIDE))
        a, b = crossing(over, low, high, lambda price: 1e-10 * share * price * float(unit.sum()))
        if a == b:
            return of_all(found.values(), found[a]), a
        between = mixed(found[a], found[b], len(y), share * float(cost(a).sum()))
        between = of_all(found.values(), between)
        return replace(between, value=replace(between.value, beta=balance(between.value.beta, cost(a)))), a
