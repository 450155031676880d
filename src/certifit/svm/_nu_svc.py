"""Soft-margin SVM, parametrised by the fraction of rows that may violate the margin."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from certifit._sklearn import usual
from certifit._types import Array, Matrix
from certifit.kernels import Kernel
from certifit.solvers import Solution
from certifit.solvers.balance import balance
from certifit.solvers.crossing import crossing
from certifit.svm._classifier import KernelClassifier, solve_labels
from certifit.svm._svr import mixed, of_all

_LOWEST, _HIGHEST = 1e-15, 1e4  # prices tried; above, the margin is as good as zero, and large rows ask for small ones
_STRIDE = 8.0
_JUST_BELOW = 1.0 - 1e-6  # of the largest ν: at ν itself all small prices are one


@dataclass(kw_only=True, eq=False, repr=False)
class NuSVC(KernelClassifier):
    r"""Soft-margin classification by the fraction ν of rows that may violate the margin, with a proved gap.

    .. math:: \min_{w, b, \rho\ge 0}\ \tfrac12 \lVert w\rVert^2 - \nu\rho\sum_i s_i
              + \sum_i s_i \max(0,\ \rho - y_i(w^\top\varphi(x_i) + b))

    Divided by ρ, the solution is that of `SVC` with C = 1/ρ (one C for each pair of classes). The certificate is about
    that problem; it also states that the multipliers add up to the fraction ν of the costs, so that C belongs to this
    ν.

    Parameters
    ----------
    nu : float in (0, 1], default=0.5
        ν: at most this fraction of the rows violates the margin, and at least this fraction are support vectors. The
        smaller of two classes must contain half of these rows; otherwise a warning is issued and the largest possible
        ν is used (scikit-learn raises an error). The offset is then not unique, and the solution is that of `SVC`
        with the C nearest to 1 that attains it.
    max_iter : int ≥ −1, default=-1
        Limit on pair steps for each value of C that is tried; −1 is none.
    trace : bool, default=False
        Whether to record the last descent of every machine in ``trace_``.
    time_budget : float > 0, default=None
        Seconds for each value of C that is tried.
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
    nu_ : array
        The ν of each pair of classes.
    certificate_ : Certificate
        Kind "duality", as in `SVC`.

    Examples
    --------
    >>> X = np.array([[-2.0, 0.0], [-1.0, 1.0], [1.0, -1.0], [2.0, 0.0]])
    >>> model = NuSVC(kernel="linear").fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[3.0, 1.0]]).tolist(), model.certificate_.holds
    (['b'], True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = KernelClassifier._parameter_constraints | usual("nu∈(0,1]")

    nu: float = 0.5

    def _possible(self, y: Array, unit: Array) -> tuple[float, bool]:
        """ν, or the largest possible one, and whether it had to be lowered to that."""
        share, largest = float(self.nu), 2.0 * float(min(unit[y > 0].sum(), unit[y < 0].sum()) / unit.sum())
        if share <= largest * (1.0 + 1e-12):
            return share, False
        warnings.warn(
            f"specified nu is infeasible for two of the classes: nu={share:g} asks for more support vectors than the "
            f"smaller of them has rows. The largest possible nu, {largest:g}, is used for the two.",
            UserWarning,
            stacklevel=4,
        )
        return largest * _JUST_BELOW, True

    def _solve(self, kernel: Kernel, X: Matrix, y: Array, cost: Callable[[float], Array]) -> tuple[Solution, float]:
        """The price at which the multipliers add up to ν of the costs, and the machine there."""
        unit = cost(1.0)
        share, lowered = self._possible(y, unit)
        found: dict[float, Solution] = {}
        last: list[float] = []

        def over(price: float) -> float:
            here = cost(price)
            start = balance(found[last[-1]].value.beta * (price / last[-1]), here) if last else None
            found[price] = solve_labels(self, kernel, X, y, here, start)
            last[:] = [price]
            return float(np.abs(found[price].value.beta).sum()) - share * float(here.sum())

        size = float(np.frexp(unit.max())[1])
        # Weights of any usual size begin at one price, so that a weight of 2 is a row twice.
        first = 1.0 if abs(size) < 64 else 2.0 ** np.clip(1 - size, -1000.0, 1000.0)
        low = high = (first, over(first))
        if lowered and low[1] >= 0.0:  # every price up to some larger one gives this sum
            return replace(found[first], stats=found[first].stats | {"nu": share}), first
        while low[1] < 0.0 and low[0] > _LOWEST * first:
            high, low = low, (low[0] / _STRIDE, over(low[0] / _STRIDE))
        while high[1] > 0.0 and high[0] < _HIGHEST * first:
            low, high = high, (high[0] * _STRIDE, over(high[0] * _STRIDE))
        a, b = crossing(over, low, high, lambda price: 1e-10 * share * price * float(unit.sum()))
        if a == b:
            end = of_all(found.values(), found[a])
        else:
            between = mixed(found[a], found[b], len(y), share * float(cost(a).sum()))
            between = of_all(found.values(), between)
            end = replace(between, value=replace(between.value, beta=balance(between.value.beta, cost(a))))
        return replace(end, stats=end.stats | {"nu": share}), a

    def _share_of(self, solved: list[Solution]) -> dict[str, float]:
        self.nu_ = np.array([f.stats["nu"] for f in solved])
        return {"nu": float(self.nu)} if np.all(self.nu_ == self.nu) else {}
