"""Lasso and elastic net for a whole grid of strengths."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length

from certifit._types import Array
from certifit.design import Columns, Design, as_design
from certifit.solvers.coordinate import solve_coordinate


def enet_path(
    X: Any,
    y: Any,
    *,
    l1_ratio: float = 0.5,
    eps: float = 1e-3,
    n_alphas: int | None = None,
    alphas: Any = 100,
    precompute: Any = "auto",
    Xy: Any = None,
    copy_X: bool = True,
    coef_init: Any = None,
    verbose: bool = False,
    return_n_iter: bool = False,
    positive: bool = False,
    check_input: bool = True,
    tol: float = 1e-4,
    max_iter: int = 1000,
    sample_weight: Any = None,
    random_state: Any = None,
    selection: str = "cyclic",
) -> Any:
    r"""Coefficients of the elastic net, without offset, for many strengths α at once.

    For each α, from large to small, minimise
    :math:`\frac1{2S}\sum_i s_i(y_i - w\cdot x_i)^2 + \alpha(\rho\lVert w\rVert_1 + \tfrac12(1-\rho)\lVert w\rVert^2)`.

    Parameters
    ----------
    X : (n, d) array or sparse matrix
        Centre it (and y) for a model with an offset.
    y : (n,) array
    l1_ratio : float in (0, 1], default=0.5
        ρ.
    eps : float in (0, 1), default=1e-3
        Ratio of the smallest to the largest α when ``alphas`` is a number.
    n_alphas : int, default=None
        Older name for a number given as ``alphas``.
    alphas : int ≥ 1 or array > 0, default=100
        How many strengths (spaced evenly in the logarithm), or the strengths.
    precompute : "auto", bool or array, default="auto"
        True forms the whole Gram matrix; otherwise the solver decides by size.
    Xy, copy_X, verbose, check_input :
        Accepted so that scikit-learn's calls work; nothing is overwritten or printed.
    coef_init : (d,) array, default=None
        Start.
    return_n_iter : bool, default=False
    positive : bool, default=False
        Require w ≥ 0.
    tol : float > 0, default=1e-4
        Each fit stops when its proved duality gap is at most tol times the objective at w = 0.
    max_iter : int ≥ 1, default=1000
        Rounds (looks at X) for each block of strengths.
    sample_weight : (n,) array, default=None
    random_state, selection :
        As in `Lasso`.

    Returns
    -------
    alphas : (k,) array, falling
    coefs : (d, k) array
    dual_gaps : (k,) array
        Bounds on the distance to the optimum, in units of the objective.
    n_iters : list of int
        Only with ``return_n_iter=True``.

    Notes
    -----
    Not in certifit: several targets at once (scikit-learn couples them by the multi-task penalty); call it per target.

    Examples
    --------
    >>> X, y = np.array([[1.0, 2.0, 3.1], [2.3, 5.4, 4.3]]).T, np.array([1.0, 2.0, 3.1])
    >>> alphas, coefs, gaps = enet_path(X, y, alphas=[0.1, 1.0], tol=1e-12)
    >>> alphas, coefs.round(3)
    (array([1. , 0.1]), array([[0.307, 0.859],
           [0.309, 0.067]]))
    """
    if not 0.0 < l1_ratio <= 1.0:
        raise ValueError(f"l1_ratio must lie in (0, 1], got {l1_ratio}; for 0 use Ridge, which needs no path.")
    design, target, weights = _read(X, y, sample_weight)
    grid = _grid(design, target, weights, alphas if n_alphas is None else n_alphas, eps, l1_ratio, positive)
    start = None if coef_init is None else np.asarray(coef_init, dtype=float)
    if start is not None and start.shape != (design.shape[1],):
        raise ValueError(f"coef_init must hold {design.shape[1]} numbers, got shape {start.shape}.")
    found = solve_coordinate(
        design,
        target,
        grid,
        l1_ratio,
        weights,
        fit_intercept=False,
        positive=positive,
        tol=tol,
        max_iter=max_iter,
        start=start,
        gram=True if precompute is True else None,
        random_state=(0 if random_state is None else random_state) if selection == "random" else None,
    )
    coefs, gaps = found.value[0].T, found.stats["gap"]
    if return_n_iter:
        return grid, coefs, gaps, found.stats["n_iter"].tolist()
    return grid, coefs, gaps


def lasso_path(X: Any, y: Any, *, alphas: Any = 100, eps: float = 1e-3, **options: Any) -> Any:
    r"""Coefficients of the lasso, without offset, for many strengths α at once.

    :math:`\frac1{2n}\lVert y - Xw\rVert^2 + \alpha\lVert w\rVert_1` for each α: `enet_path` with ``l1_ratio=1``.

    Parameters
    ----------
    X : (n, d) array or sparse matrix
        Centre it (and y) for a model with an offset.
    y : (n,) array
    alphas : int ≥ 1 or array > 0, default=100
        How many strengths, or the strengths.
    eps : float in (0, 1), default=1e-3
        Ratio of the smallest to the largest α when ``alphas`` is a number.
    **options :
        Everything else that `enet_path` takes.

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
    return enet_path(X, y, l1_ratio=1.0, alphas=alphas, eps=eps, **options)


def _read(X: Any, y: Any, sample_weight: Any) -> tuple[Design, Array, Array | None]:
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    y = check_array(y, ensure_2d=False, dtype=float)
    if y.ndim != 1:
        raise ValueError(f"y must have one column, got shape {y.shape}; call the path once per target.")
    check_consistent_length(X, y)
    if sample_weight is None:
        return as_design(X), y, None
    weights = check_array(sample_weight, ensure_2d=False, dtype=float)
    check_consistent_length(X, weights)
    if np.any(weights < 0) or not weights.sum() > 0:
        raise ValueError("sample_weight must not be negative and not all zero.")
    return as_design(X), y, weights


def _grid(
    design: Design, y: Array, weights: Array | None, alphas: Any, eps: float, ratio: float, positive: bool
) -> Array:
    """The strengths, largest first."""
    if np.ndim(alphas) > 0:
        grid = np.sort(np.asarray(alphas, dtype=float))[::-1]
        if len(grid) == 0 or not np.all(np.isfinite(grid)) or grid[-1] <= 0:
            raise ValueError("alphas must be positive finite numbers; for alpha = 0 use LinearRegression.")
        return grid
    if not (isinstance(alphas, (int, np.integer)) and alphas >= 1):
        raise ValueError(f"alphas must be a positive number of strengths or an array of them, got {alphas!r}.")
    if not 0.0 < eps <= 1.0:
        raise ValueError(f"eps must lie in (0, 1], got {eps}.")
    columns = Columns.of(design, weights, False)
    q = columns.correlate(columns.target(y)[0])
    top = float(np.max(q if positive else np.abs(q), initial=0.0)) / (columns.total * ratio)
    top = max(top, float(np.finfo(float).resolution))
    return np.geomspace(top, top * eps, int(alphas))
