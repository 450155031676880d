"""What machines with a kernel have in common: parameters, the descent on their dual, support vectors and tags."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse

from certifit._sklearn import Interval, StrOptions, usual
from certifit._trace import joined
from certifit._types import Array, BaseEstimator, Matrix, MatrixLike, Record
from certifit._validation import check_is_fitted
from certifit.design import Blocks, TwiceBlocks, WholeBlocks, blocks
from certifit.exceptions import NoOptimumError
from certifit.kernels import NAMES, RBF, Kernel, Linear, Precomputed, choose
from certifit.kernels._choice import TOO_LARGE
from certifit.solvers import Options, Solution
from certifit.solvers._box_dual import Box
from certifit.solvers._status import limit_of, worst
from certifit.solvers.smo import smo
from certifit.svm._expansion import fixed, kernel_values, objects_of, shift_of, stored_like
from certifit.svm._linear import normals, unpacked

KERNEL_TAGS: Record = {
    "input_tags.pairwise": lambda model: model.kernel == "precomputed",
    "input_tags.sparse": lambda model: model.kernel != "precomputed",
}
_TOL_TO_GAP = 0.01  # libsvm's tol (a KKT violation) of 1e-3 leaves relative gaps near 1e-5
_ROUNDED = 1e-13  # relative gap that is rounding: Newton steps on the free points lead there
_SINGLE = 1e-6  # relative gap above which single precision serves
_DOUBLE = 600  # rows up to which it saves too little to compile the loops for it, too
_WHOLE = 1024  # rows up to which the Gram matrix is computed once: the first block of pair steps has all of them

KERNEL_CONSTRAINTS: dict[str, Any] = {
    "kernel": [StrOptions(set(NAMES)), callable],
    "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
} | usual("degree≥1 coef0")
CONSTRAINTS: dict[str, Any] = {
    **KERNEL_CONSTRAINTS,
    "max_iter": [Interval(Integral, -1, None, closed="left")],
} | usual("shrinking tol>0 cache_size>0 verbose trace time_budget")


@dataclass(kw_only=True, eq=False, repr=False)
class KernelParameters:
    """The parameters that all of them have; `CONSTRAINTS` says which values are allowed."""

    kernel: Any = "rbf"
    degree: int = 3
    gamma: Any = "scale"
    coef0: float = 0.0
    shrinking: bool = True
    tol: float = 1e-3
    cache_size: float = 200
    verbose: bool = False
    max_iter: int = -1
    trace: bool = False
    time_budget: float | None = None


class KernelMachine(KernelParameters):
    """Mixin: the kernel, ``coef_`` and the tags of machines with one column of ``_columns`` each."""

    support_vectors_: Any
    _columns: Array
    _objects: Any = None

    def _given(self, X: MatrixLike) -> Any:
        """X of a fit; of strings and other objects, which only a kernel function can read, their Gram matrix."""
        self._objects = objects_of(self, X)
        return kernel_values(self, X)

    def _kernel_of(self, X: Matrix, weights: Array | None) -> tuple[Kernel, float]:
        """The kernel with its numbers, and γ; a Gram matrix is looked at."""
        if self._objects is not None:
            return Precomputed(), 0.0
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix: "
                "give the kernel values of all training rows with each other."
            )
        if self.kernel == "precomputed" and scipy.sparse.issparse(X):
            raise TypeError("Sparse precomputed kernels are not supported: give a dense Gram matrix.")
        return choose(self.kernel, self.gamma, self.degree, self.coef0, unpacked(X), weights)

    def _relative_gap(self) -> float:
        """The share of the null model's loss at which a fit stops."""
        return _TOL_TO_GAP * float(self.tol)

    @property
    def coef_(self) -> Matrix:
        """Weights of the columns, sparse where the support vectors are; with the linear kernel only."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        return fixed(stored_like(self.support_vectors_, normals(self.support_vectors_, self._columns).T))

    _tags: ClassVar[Record] = KERNEL_TAGS


def rows_of(kernel: Kernel, X: Matrix, rows: Array) -> Matrix:
    """Some rows of X; of a Gram matrix the columns, too."""
    if len(rows) == X.shape[0]:
        return X
    return X[np.ix_(rows, rows)] if isinstance(kernel, Precomputed) else X[rows]


def solve_box(
    model: BaseEstimator,
    kernel: Kernel,
    X: Matrix,
    box: Box,
    null: float,
    start: Array | None = None,
    rounded: bool = True,
) -> Solution:
    """Descent on the dual of a machine whose rows are X (or their Gram matrix), each once or (`Box.of_tube`) twice.

    The model gives tolerance, limits and whether there is a trace; the gap to reach is a fraction of ``null``, the loss
    of the null model. With ``rounded``, Newton steps go on to rounding.
    """
    X = unpacked(X)
    centre = None
    if isinstance(kernel, Linear) and not scipy.sparse.issparse(X) and box.total == 0.0:
        # Σβ = 0: a common shift of all rows moves the offset alone, and small numbers keep more digits.
        centre = X.mean(axis=0)
        X = X - centre

    relative = model._relative_gap()
    single = isinstance(kernel, RBF) and relative >= _SINGLE and X.shape[0] > _DOUBLE
    few = X.shape[0] <= _WHOLE

    @cache
    def made(dtype: np.dtype[Any]) -> Blocks:
        once = blocks(kernel, X, dtype, memory=1e6 * model.cache_size)
        if few and (dtype == np.float32) == single:  # the first round looks at all of it anyway
            once = WholeBlocks(once)
        return once if once.n == len(box.lo) else TwiceBlocks(once)

    def gram(dtype: npt.DTypeLike) -> Blocks:
        return made(np.dtype(dtype))

    most = None if model.max_iter == -1 else model.max_iter
    options = Options(max_iter=most, time_budget=model.time_budget, trace=model.trace)
    newton = _ROUNDED * null if rounded else None
    found = smo(
        gram, box, relative * null, options, single=single, shrinking=model.shrinking, rounded=newton, start=start
    )
    beta = box.balanced(found.value.beta)
    offset = found.value.offset
    if centre is not None:
        offset -= float(beta.reshape(-1, X.shape[0]).sum(axis=0) @ X @ centre)
    return replace(found, value=replace(found.value, beta=beta, offset=offset))


def without_bound(solve: Callable[[float], Solution], cost: Callable[[float], Array]) -> tuple[Solution, float]:
    """The machine for C = inf, and a finite C of which it is the machine as well: one at which no multiplier is bound.

    ``solve`` and ``cost`` give the machine, and the cost of every row, at a C.
    """
    for price in (1e1, 1e3, 1e5, 1e7, 1e9):
        found = solve(price)
        limit = np.resize(cost(price), len(found.value.beta))
        if np.all(np.abs(found.value.beta) < 0.999 * limit):
            return found, price
    raise NoOptimumError(
        "C=inf requires a model without any loss, and even with C=1e9 some loss remains: with this kernel no model "
        "fits every row. Use a finite C."
    )


def name_machine(
    model: BaseEstimator, X: Matrix, kernel: Kernel, gamma: float, beta: Array, offset: float, found: Solution
) -> None:
    """Fitted attributes of one machine whose expansion is Σ βᵢ k(xᵢ, x) + offset, as in scikit-learn."""
    if not np.all(np.isfinite(beta)) or not np.isfinite(offset):
        raise ValueError(TOO_LARGE)
    support = np.flatnonzero(beta)
    model.support_ = support.astype(np.int32)
    model.n_support_ = np.array([len(support)], dtype=np.int32)
    model.support_vectors_ = np.empty((0, 0)) if isinstance(kernel, Precomputed) else X[support]
    model.dual_coef_ = stored_like(X, beta[support][None, :])
    model.intercept_ = np.array([offset])
    model._columns = beta[support][:, None]
    name_descent(model, X, kernel, gamma, [found])
    model.n_iter_ = int(model.n_iter_[0])
    model.trace_ = found.trace


def name_descent(model: BaseEstimator, X: Matrix, kernel: Kernel, gamma: float, solved: list[Solution]) -> None:
    """What a fit of one or several machines says of its kernel and of how it went."""
    model.kernel_, model._gamma, model._shift = kernel, gamma, shift_of(kernel, X)
    model.shape_fit_ = X.shape
    model.n_iter_ = np.array([f.stats["steps"] for f in solved], dtype=np.int32)
    model.gap_ = float(sum(f.value.gap for f in solved))
    model.status_ = worst(f.status for f in solved)
    model.fit_status_ = int(limit_of(model.status_) is not None)
    model.trace_ = joined([f.trace for f in solved], "machine")
