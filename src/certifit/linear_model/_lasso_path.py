"""Lasso and elastic net for a whole grid of strengths."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array, check_consistent_length

from certifit._objective import Objective
from certifit._types import Array, Matrix, VectorLike, Weights
from certifit.design import CentredColumns, Design, as_design
from certifit.losses import Squared
from certifit.regularizers import mix_of_norms
from certifit.solvers import Options, Task
from certifit.solvers.coordinate import coordinate_path
from certifit.solvers.least_squares import solve_least_squares
from certifit.solvers.multitask import solve_multitask

_FEW = 120  # coefficients up to which the last digits of a multi-task path cost next to nothing


def enet_path(
    X: Matrix,
    y: VectorLike,
    *,
    l1_ratio: float = 0.5,
    eps: float = 1e-3,
    n_alphas: Any = "deprecated",
    alphas: npt.ArrayLike = 100,
    precompute: Any = "auto",
    Xy: Any = None,
    copy_X: bool = True,
    coef_init: npt.ArrayLike | None = None,
    verbose: bool = False,
    return_n_iter: bool = False,
    positive: bool = False,
    check_input: bool = True,
    tol: float = 1e-4,
    max_iter: int = 1000,
    sample_weight: Weights = None,
    random_state: Any = None,
    selection: str = "cyclic",
    **params: Any,
) -> Any:
    r"""Coefficients of the elastic net, without offset, for many strengths α at once.

    For each α, from large to small, minimise
    :math:`\frac1{2S}\sum_i s_i(y_i - w\cdot x_i)^2 + \alpha(\rho\lVert w\rVert_1 + \tfrac12(1-\rho)\lVert w\rVert^2)`.
    With several targets, as in scikit-learn, the 1-norm is that of the lengths of the rows of coefficients that belong
    to one column of X (multi-task): a column is used for all targets or for none.

    Parameters
    ----------
    X : (n, d) array or sparse matrix
        Centre it (and y) for a model with an offset.
    y : (n,) or (n, t) array
    l1_ratio : float in [0, 1], default=0.5
        ρ; 0 is ridge, for strengths that are given.
    eps : float in (0, 1), default=1e-3
        Ratio of the smallest to the largest α when ``alphas`` is a number.
    n_alphas : int, default="deprecated"
        Older name for a number given as ``alphas``.
    alphas : int ≥ 1 or array ≥ 0, default=100
        How many strengths (spaced evenly in the logarithm), or the strengths (0 is least squares).
    precompute : "auto", bool or array, default="auto"
        True forms the whole Gram matrix; otherwise the solver decides by size.
    Xy, copy_X, verbose, check_input :
        Accepted for compatibility with scikit-learn; nothing is overwritten or printed.
    coef_init : (d,) or (t, d) array, default=None
        Start.
    return_n_iter : bool, default=False
    positive : bool, default=False
        Require w ≥ 0 (one target).
    tol : float > 0, default=1e-4
        Each fit stops when its proved duality gap is at most tol times the objective at w = 0.
    max_iter : int ≥ 1, default=1000
        Rounds (passes over X) for each block of strengths.
    sample_weight : (n,) array, default=None
    random_state, selection :
        As in `Lasso`.
    **params :
        Raises an error: other parameters are unknown.

    Returns
    -------
    alphas : (k,) array, falling
    coefs : (d, k) or (t, d, k) array, in the dtype of X
    dual_gaps : (k,) array
        Bounds on the distance to the optimum, in units of the objective.
    n_iters : list of int
        Only with ``return_n_iter=True``.

    Examples
    --------
    >>> X, y = np.array([[1.0, 2.0, 3.1], [2.3, 5.4, 4.3]]).T, np.array([1.0, 2.0, 3.1])
    >>> alphas, coefs, gaps = enet_path(X, y, alphas=[0.1, 1.0], tol=1e-12)
    >>> alphas, coefs.round(3)
    (array([1. , 0.1]), array([[0.307, 0.859],
           [0.309, 0.067]]))
    """
    if params:
        raise ValueError("Unexpected parameters in params", params.keys())
    if not 0.0 <= l1_ratio <= 1.0:
        raise ValueError(f"l1_ratio must lie in [0, 1], got {l1_ratio}.")
    design, target, weights = _read(X, y, sample_weight)
    if target.ndim > 1 and positive:
        raise ValueError("positive=True needs one target: call the path once per column of y.")
    grid = _grid(design, target, weights, _asked(alphas, n_alphas), eps, l1_ratio, positive)
    shape = (design.shape[1],) if target.ndim == 1 else (target.shape[1], design.shape[1])
    start = None if coef_init is None else np.asarray(coef_init, dtype=float)
    if start is not None and start.shape != shape:
        raise ValueError(f"coef_init must have shape {shape}, got {start.shape}.")
    bent = grid * l1_ratio > 0.0
    coefs, gaps, rounds = np.empty((len(grid), *shape)), np.zeros(len(grid)), np.ones(len(grid), dtype=int)
    total = float(len(target) if weights is None else weights.sum())
    if np.any(bent) and target.ndim > 1:
        found = solve_multitask(
            design, target, grid[bent], l1_ratio, weights, fit_intercept=False, tol=tol, start=start,
            polish=target.shape[1] * design.shape[1] <= _FEW,
        )  # fmt: skip
    elif np.any(bent):
        regularizer = mix_of_norms(l1_ratio, positive=positive)
        objective = Objective(Squared(0.5), regularizer, 0.0, fit_intercept=False)
        seed = (0 if random_state is None else random_state) if selection == "random" else None
        task, options = Task(objective, design, target, weights), Options(tol, max_iter, random_state=seed)
        whole = True if precompute is True else None
        found = coordinate_path(task, options, total * grid[bent], start=start, gram=whole)
    if np.any(bent):
        coefs[bent], gaps[bent], rounds[bent] = found.value[0], found.stats["gap"], found.stats["n_iter"]
    for i in np.flatnonzero(~bent):  # no norm with a kink: least squares or ridge in closed form
        plain = solve_least_squares(
            design, target.reshape(len(target), -1), weights, alpha=float(grid[i]) * total, fit_intercept=False,
            positive=positive,
        )  # fmt: skip
        coefs[i] = plain.value[0].reshape(shape)
    path = np.moveaxis(coefs, 0, -1).astype(np.float32 if getattr(X, "dtype", None) == np.float32 else float)
    return (grid, path, gaps, rounds.tolist()) if return_n_iter else (grid, path, gaps)


def lasso_path(
    X: Matrix,
    y: VectorLike,
    *,
    eps: float = 1e-3,
    n_alphas: Any = "deprecated",
    alphas: npt.ArrayLike = 100,
    precompute: Any = "auto",
    Xy: Any = None,
    copy_X: bool = True,
    coef_init: npt.ArrayLike | None = None,
    verbose: bool = False,
    return_n_iter: bool = False,
    positive: bool = False,
    **params: Any,
) -> Any:
    r"""Coefficients of the lasso, without offset, for many strengths α at once.

    :math:`\frac1{2n}\lVert y - Xw\rVert^2 + \alpha\lVert w\rVert_1` for each α: `enet_path` with ``l1_ratio=1``.

    Parameters
    ----------
    X : (n, d) array or sparse matrix
        Centre it (and y) for a model with an offset.
    y : (n,) or (n, t) array
    eps : float in (0, 1), default=1e-3
        Ratio of the smallest to the largest α when ``alphas`` is a number.
    alphas : int ≥ 1 or array ≥ 0, default=100
        How many strengths, or the strengths.
    n_alphas, precompute, Xy, copy_X, coef_init, verbose, return_n_iter, positive :
        As in `enet_path`.
    **params :
        The rest of what `enet_path` takes: ``tol``, ``max_iter``, ``sample_weight``, ``random_state``, ``selection``,
        ``check_input``.

    Returns
    -------
    alphas, coefs, dual_gaps[, n_iters] :
        As `enet_path`.

    Examples
    --------
    >>> X, y = np.array([[1.0, 2.0, 3.1], [2.3, 5.4, 4.3]]).T, np.array([1.0, 2.0, 3.1])
    >>> lasso_path(X, y, alphas=[5.0, 1.0, 0.5], tol=1e-12)[1].round(3)
    array([[0.   , 0.   , 0.469],
           [0.216, 0.443, 0.237]])
    """
    return enet_path(
        X, y, l1_ratio=1.0, eps=eps, n_alphas=n_alphas, alphas=alphas, precompute=precompute, Xy=Xy, copy_X=copy_X,
        coef_init=coef_init, verbose=verbose, return_n_iter=return_n_iter, positive=positive, **params,
    )  # fmt: skip


def _read(X: Matrix, y: VectorLike, sample_weight: Weights) -> tuple[Design, Array, Array | None]:
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    y = check_array(y, ensure_2d=False, dtype=float)
    check_consistent_length(X, y)
    if sample_weight is None:
        return as_design(X), y, None
    weights = check_array(sample_weight, ensure_2d=False, dtype=float)
    check_consistent_length(X, weights)
    if np.any(weights < 0) or not weights.sum() > 0:
        raise ValueError("sample_weight must not be negative and not all zero.")
    return as_design(X), y, weights


def _asked(alphas: npt.ArrayLike, n_alphas: Any) -> Any:
    """The strengths, or their number, by the name that is to stay."""
    if not isinstance(n_alphas, str):
        warnings.warn(
            "'n_alphas' was deprecated in 1.9 and will be removed in 1.11. 'alphas' now accepts an integer value.",
            FutureWarning,
            stacklevel=3,
        )
        return n_alphas
    if alphas is None:
        text = "'alphas=None' is deprecated and will be removed in 1.11: the default is alphas=100."
        warnings.warn(text, FutureWarning, stacklevel=3)
    return 100 if alphas is None else alphas


def _grid(
    design: Design, y: Array, weights: Array | None, alphas: npt.ArrayLike, eps: float, ratio: float, positive: bool
) -> Array:
    """The strengths, largest first."""
    if np.ndim(alphas) > 0:
        grid = np.sort(np.asarray(alphas, dtype=float))[::-1]
        if len(grid) == 0 or not np.all(np.isfinite(grid)) or grid[-1] < 0:
            raise ValueError("alphas must be finite numbers that are not negative.")
        return grid
    if not (isinstance(alphas, (int, np.integer)) and alphas >= 1):
        raise ValueError(f"alphas must be a positive number of strengths or an array of them, got {alphas!r}.")
    return strength_grid(CentredColumns.of(design, weights, False), y, int(alphas), eps, ratio, positive)


def strength_grid(
    columns: CentredColumns, y: Array, count: int, eps: float, ratio: float, positive: bool = False
) -> Array:
    """``count`` strengths, evenly spaced in the logarithm, from the smallest that leaves nothing in the model."""
    if not eps > 0.0:
        raise ValueError(f"eps must be above 0, got {eps}.")
    if ratio == 0.0:
        raise ValueError(
            "Automatic alpha grid generation is not supported for l1_ratio=0. Please supply a grid by providing your "
            "estimator with the appropriate `alphas=` argument."
        )
    targets = [columns.target(y[:, t])[0] for t in range(y.shape[1])] if y.ndim > 1 else [columns.target(y)[0]]
    q = columns.correlate(np.stack(targets, axis=1))
    reach = np.maximum(q[:, 0], 0.0) if positive else np.sqrt(np.sum(q * q, axis=1))
    top = float(np.max(reach, initial=0.0)) / (columns.total * ratio)
    least = float(np.finfo(float).resolution)
    return np.full(count, least) if top <= least else np.geomspace(top, top * eps, count)
