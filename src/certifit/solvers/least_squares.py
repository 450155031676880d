r"""Least squares and ridge in closed form, as accurately as the data allow.

.. math:: \min_{w,b}\ \sum_i s_i (y_i - w\cdot x_i - b)^2 + \alpha\lVert w - w_0\rVert^2

Three roads, chosen by the condition number of the centred and column-scaled X (never of the raw one):

- *cholesky* of the Gram matrix, where that loses fewer than six digits; one pass over X, then steps of iterative
  refinement with true residuals;
- *qr* of X itself, refined in the sense of Björck (1967): residual and coefficients together, with residuals in
  twice the working precision, which reaches full accuracy wherever the problem determines it;
- *svd* where the rank is short: the solution of least norm.

Ridge is the same problem with d more rows √α·I and targets √α·w₀. Wide ridge problems use the n × n form.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass

import numpy as np
import scipy.linalg  # optimize loads on first use
import scipy.sparse.linalg
from scipy.linalg.lapack import dtrcon, dtrtri, dtrtrs

from certifit._types import Array, Record
from certifit.design import (
    Cholesky,
    Design,
    GramSums,
    Moments,
    MomentSums,
    add_to_pair,
    cholesky,
    compensated_product,
    compensated_product_t,
    powers_of_two,
)
from certifit.losses import Squared
from certifit.parallel import one_thread, sum_over_rows
from certifit.solvers._separable import separable
from certifit.solvers._solution import Solution
from certifit.solvers._task import Options, Task

METHODS = ("auto", "cholesky", "qr", "svd", "lsmr")
_SAFE = 1e-6  # reciprocal condition of the scaled Gram matrix above which Cholesky is trusted
_SAFE_LARGE = 1e-11  # the same for a penalty and many numbers, where QR is dear: refinement must settle then
_LARGE = 1 << 18  # entries of X that are many
_CLEAN = 1e-2  # above it the solution of the normal equations is as good as a refined one
_ROUNDS = 6  # of refinement where the condition is bad
_NUMBERS = 1 << 18  # of X that are read at a time for residuals
_REFINED = 1e-5  # of a step from rough moments: the next one would be its square
_RANK = 1e-13  # reciprocal condition of the scaled columns below which rank is called short
_WIDE_SPARSE = 3000  # columns above which a sparse Gram matrix is not formed
_RATE = 1e3 * float(np.finfo(float).eps)  # errors after a step of refinement over those before, for condition 1
_SETTLED = 1e-20  # relative change of the scaled coefficients that leaves even small ones as they are
_SMALL = 1 << 16  # entries of X up to which least squares always gets all its digits
_DENSE_LIMIT = 50_000_000  # entries up to which a sparse X may be made dense


@dataclass(frozen=True)
class Factor:
    """What inference needs of the factorised problem: H⁻¹ = T Tᵀ for the centred coefficients."""

    T: Array  # (d, d), in raw units
    mean: Array
    total: float


@dataclass(frozen=True)
class _Quadratic:
    design: Design
    Y: Array  # (n, t)
    weights: Array | None
    alpha: Array  # (t,)
    prior: Array  # (t, d)
    fit_intercept: bool
    taken: GramSums | None  # sums for the moments, where they are known

    @property
    def root(self) -> Array | None:
        return None if self.weights is None else np.sqrt(self.weights)

    def centred(self) -> tuple[Array, Array, Array, Array]:
        """√s (X − mean) dense, √s (Y − mean − Xw₀), and the two means."""
        d, root, s = self.design.shape[1], self.root, self.weights
        mean = self.design.column_means(s) if self.fit_intercept else np.zeros(d)
        middle = np.zeros(self.Y.shape[1])
        if self.fit_intercept:
            middle = self.Y.mean(axis=0) if s is None else s @ self.Y / s.sum()
        A = self.design.centred(mean)
        R = self.Y - middle - A @ self.prior.T
        if root is not None:
            A, R = A * root[:, None], R * root[:, None]
        return A, R, mean, middle

    def residual_sums(self, W: Array, b: Array) -> tuple[Array, Array, Array]:
        """XᵀSR (d, t), Σ s r and Σ s r² (t,) of the residuals R = Y − XWᵀ − b, in one pass."""

        def work(rows: slice) -> tuple[Array, Array, Array]:
            A = self.design.take(rows)
            R = self.Y[rows] - A @ W.T - b
            SR = R if self.weights is None else R * self.weights[rows, None]
            return np.asarray(A.T @ SR), SR.sum(axis=0), np.einsum("it,it->t", R, SR)

        n, d = self.design.shape
        stored = self.design.narrow_rows
        if stored is None or len(W) > 1 or self.weights is not None:
            return sum_over_rows(work, (n, d), max(64, _NUMBERS // d))
        from certifit.loops.residuals import residual_sums  # loads Numba: only for what is large

        kept: Array = stored

        def narrow(rows: slice) -> tuple[Array, Array, Array]:
            gradient = np.zeros(d)
            sums = residual_sums(kept[rows], self.Y[rows, 0], W[0], float(b[0]), gradient)
            return gradient[:, None], np.array(sums[:1]), np.array(sums[1:])

        return sum_over_rows(narrow, (n, d), n)  # the loop needs no blocks


def solve_least_squares(
    design: Design,
    Y: Array,
    weights: Array | None = None,
    *,
    alpha: Array | float = 0.0,
    prior: Array | None = None,
    fit_intercept: bool = True,
    positive: bool = False,
    method: str = "auto",
    sums: MomentSums | None = None,
) -> Solution:
    """Solve for all targets at once.

    min Σ sᵢ ‖yᵢ − W xᵢ − b‖² + Σₜ αₜ ‖wₜ − w₀ₜ‖².

    Parameters
    ----------
    design : Design of shape (n, d)
    Y : (n, t) array
    weights : (n,) array, default=None
    alpha : float or (t,) array ≥ 0, default=0
    prior : (t, d) array, default=None
    fit_intercept : bool, default=True
    positive : bool, default=False
        Require w ≥ 0.
    method : {"auto", "cholesky", "qr", "svd", "lsmr"}, default="auto"
    sums : MomentSums, default=None
        Sums over these rows and targets that an earlier read has taken along.

    Returns
    -------
    Solution
        ``value`` = (W of shape (t, d), b of shape (t,)); ``stats`` holds ``method`` (what was chosen), ``rank``,
        ``condition`` (of the centred, scaled columns) and ``factor`` for inference where there is one.

    Examples
    --------
    >>> from certifit.design import as_design
    >>> X, Y = np.array([[0.0], [1.0], [2.0]]), np.array([[1.0], [3.0], [5.0]])
    >>> W, b = solve_least_squares(as_design(X), Y).value
    >>> W.round(6).tolist(), b.round(6).tolist()
    ([[2.0]], [1.0])
    """
    start = time.perf_counter()
    t, d = Y.shape[1], design.shape[1]
    if weights is not None:  # rows without weight take no part
        keep = weights > 0
        if not keep.all():
            design, Y, weights = Design(design.X[keep]), Y[keep], weights[keep]
        if np.all(weights == 1.0):
            weights = None
    alphas = np.broadcast_to(np.asarray(alpha, dtype=float), (t,))
    prior = np.zeros((t, d)) if prior is None else np.broadcast_to(prior, (t, d))
    taken = None if sums is None or weights is not None else sums.taken
    task = _Quadratic(design, Y, weights, alphas, prior, fit_intercept, taken)
    # Where units make coefficients overflow they are infinite, and the certificate says so; no warning on the way.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        W, b, stats = _non_negative(task) if positive else _road(task, method)
    stats["seconds"] = time.perf_counter() - start
    return Solution((W, b), "closed form", stats)


def solve_quadratic(task: Task, options: Options | None = None) -> Solution:
    """`solve_least_squares` for one target of a task without a 1-norm; ``value`` = (w, b).

    Examples
    --------
    >>> from certifit.design import as_design
    >>> from certifit._objective import Objective
    >>> from certifit.regularizers import SquaredL2
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.5])
    >>> solve_quadratic(Task(Objective(Squared(), SquaredL2(), 1.0), as_design(X), y)).value[0]
    array([1.5])
    """
    part, loss, strength = separable(task.objective.regularizer), task.objective.loss, task.objective.strength
    assert part is not None
    assert isinstance(loss, Squared)
    found = solve_least_squares(
        task.design,
        task.y[:, None],
        task.weights,
        alpha=0.5 * strength * part.l2 / loss.factor,
        prior=None if part.prior is None else np.array(part.prior)[None],
        fit_intercept=task.objective.fit_intercept,
        positive=part.positive,
    )
    stats = {"n_iter": 1, "gap": 0.0, "relative_gap": 0.0} | found.stats
    return Solution((found.value[0][0], float(found.value[1][0])), found.status, stats)


def _road(task: _Quadratic, method: str) -> tuple[Array, Array, Record]:
    """Resolve "auto": the one place where a road is chosen."""
    n, d = task.design.shape
    if method == "lsmr" or (method == "auto" and task.design.is_sparse and d > _WIDE_SPARSE):
        return _lsmr(task)
    if method == "auto" and n < d and np.all(task.alpha > 0):
        return _dual(task)
    if method == "svd" or (method == "auto" and n < d):
        return _svd(task)
    exact = method == "auto" and not np.any(task.alpha) and n * d <= _SMALL and not task.design.is_sparse
    if method in ("auto", "cholesky") and not exact:
        with one_thread():
            answer = _cholesky(task, forced=method == "cholesky")
        if answer is not None:
            return answer
        if task.design.is_sparse and n * d > _DENSE_LIMIT:
            return _lsmr(task)
    return _qr(task)


def _norms(A: Array) -> Array:
    """Column norms without overflow."""
    largest = np.abs(A).max(axis=0, initial=0.0)
    scale = np.where((largest > 0.0) & np.isfinite(largest), largest, 1.0)
    return np.asarray(scale * np.sqrt(np.square(A / scale).sum(axis=0)))


def _cholesky(task: _Quadratic, forced: bool) -> tuple[Array, Array, Record] | None:
    """Gram matrix, Cholesky, refinement; None when the condition number forbids it."""
    with np.errstate(over="ignore", invalid="ignore"):
        plain = task.weights is None
        rough = task.design.rough_moments(task.Y, task.fit_intercept, task.taken) if plain else None
        answer = None if rough is None else _normal_equations(task, rough, _CLEAN, _REFINED)
        if answer is None:
            m = task.design.moments(task.Y, task.weights, task.fit_intercept, task.taken)
            large = m.gram.shape[0] * task.design.shape[0] > _LARGE and bool(np.all(task.alpha > 0))
            answer = _normal_equations(task, m, 1e-14 if forced else _SAFE_LARGE if large else _SAFE)
    return answer


def _normal_equations(
    task: _Quadratic, m: Moments, least: float, refined: float | None = None
) -> tuple[Array, Array, Record] | None:
    """The solution by Cholesky, refined; None where the reciprocal condition number is not above ``least``.

    Rough moments are told by ``refined``: the size of a step, relative to the solution, after which no other is needed.
    None if there is no such step, either.
    """
    if not (np.all(np.isfinite(m.gram)) and np.all(np.isfinite(m.cross))):
        return None
    D = powers_of_two(np.sqrt(np.maximum(np.diag(m.gram), 0.0)))
    W = np.empty_like(task.prior)
    factors: dict[float, Cholesky] = {}
    worst = 1.0
    for t, a in enumerate(task.alpha):
        if a not in factors:
            H = m.gram / np.outer(D, D)
            H[np.diag_indices_from(H)] += a / D**2
            factor = cholesky(H)
            if factor is None or not factor.rcond > least:
                return None
            worst, factors[a] = min(worst, factor.rcond), factor
        # Solve for the departure from the prior.
        rhs = m.cross[:, t] - m.gram @ task.prior[t]
        W[t] = task.prior[t] + factors[a].solve(rhs / D) / D
    b = m.target_mean - W @ m.mean
    stats: Record = {"method": "cholesky", "rank": task.design.shape[1], "condition": worst**-0.5}
    # True residuals wash out what forming the Gram matrix lost (a well-conditioned one loses nothing).
    size = 0.0 if refined is None and worst >= _CLEAN else np.inf
    careful = least == _SAFE_LARGE and worst < _SAFE
    for _ in range(_ROUNDS if careful else 2):
        if size <= (refined or 1e-10):
            break
        G, sums, squares = task.residual_sums(W, b)
        if not task.fit_intercept:
            sums = np.zeros_like(sums)
        G = G - np.outer(m.mean, sums) - task.alpha * (W - task.prior).T
        step = np.empty_like(W)
        for t, a in enumerate(task.alpha):
            step[t] = factors[a].solve(G[:, t] / D) / D
        W = W + step
        b = b + (sums / m.total - step @ m.mean if task.fit_intercept else 0.0)
        size = float(np.linalg.norm(step * D) / np.maximum(np.linalg.norm(W * D), 1e-300))
        if refined is not None and not np.any(task.alpha):
            stats["rss"] = squares - sums**2 / m.total - np.einsum("td,dt->t", step, G)
            stats["tss"] = m.target_squares
    if (refined is not None and size > refined) or (careful and size > 1e-10):
        return None
    if refined is None and worst >= _CLEAN and not np.any(task.alpha):
        stats["rss"], stats["tss"] = _from_moments(m, W), m.target_squares
    if len(factors) == 1 and not np.any(task.alpha):  # inference is for least squares without a penalty
        stats["factor"] = Factor(next(iter(factors.values())).inverse_root() / D[:, None], m.mean, m.total)
    return W, b, stats


def _from_moments(m: Moments, W: Array) -> Array | None:
    """Residual sums of squares without another pass; None where too much would cancel."""
    rss = m.target_squares - 2.0 * np.einsum("td,dt->t", W, m.cross) + np.einsum("td,dt->t", W, m.gram @ W.T)
    return rss if np.all(rss > 1e-4 * m.target_squares) else None


@dataclass(frozen=True)
class _Rows:
    """The problem as plain rows: √s(X, 1 | y), and below them √α(I, 0 | w₀); last column ones if there is an offset."""

    A: Array
    y: Array
    centre: Array
    D: Array
    B: Array  # centred and scaled columns: what is factorised

    @classmethod
    def of(cls, task: _Quadratic, t: int) -> _Rows:
        X, root = task.design.dense(), task.root
        n, d = X.shape
        ones = np.ones((n, 1)) if task.fit_intercept else np.ones((n, 0))
        A = np.hstack([X, ones])
        y = task.Y[:, t]
        if root is not None:
            A, y = A * root[:, None], y * root
        a = float(task.alpha[t])
        if a > 0:
            A = np.vstack([A, np.hstack([np.sqrt(a) * np.eye(d), np.zeros((d, A.shape[1] - d))])])
            y = np.concatenate([y, np.sqrt(a) * task.prior[t]])
        centre = task.design.column_means(task.weights) if task.fit_intercept else np.zeros(d)
        B = A.copy()
        if task.fit_intercept:
            B[:, :d] -= A[:, d:] * centre
        D = powers_of_two(_norms(B))
        return cls(A, y, centre, D, B / D)

    def raw(self, theta: Array) -> Array:
        """Coefficients (w, b) of the rows from those of the scaled columns."""
        full = theta / self.D
        if len(full) > len(self.centre):
            full[-1] -= self.centre @ full[: len(self.centre)]
        return full


def _qr(task: _Quadratic) -> tuple[Array, Array, Record]:
    d = task.design.shape[1]
    W, b = np.empty_like(task.prior), np.zeros(len(task.prior))
    worst, factor = 1.0, None
    cache: dict[float, tuple[Array, Array]] = {}
    for t in range(len(W)):
        rows = _Rows.of(task, t)
        if rows.B.shape[0] < rows.B.shape[1]:
            return _svd(task)
        a = float(task.alpha[t])
        if a not in cache:
            cache[a] = np.linalg.qr(rows.B)
        Q, R = cache[a]
        rcond = dtrcon(R)[0] if np.all(np.isfinite(R)) else 0.0
        if not rcond > _RANK:
            return _svd(task)
        worst = min(worst, rcond)
        full = _refined(rows, Q, R, _RATE / rcond)
        W[t], b[t] = full[:d], full[d] if task.fit_intercept else 0.0
        if len(cache) == 1:
            T = np.triu(dtrtri(R)[0]) / rows.D[:, None]
            total = float(task.design.shape[0] if task.weights is None else task.weights.sum())
            factor = Factor(T[:d, :], rows.centre, total)
    stats = {
        "method": "qr",
        "rank": d,
        "condition": 1.0 / worst,
        "factor": factor if len(cache) == 1 else None,
    }
    return W, b, stats


def _refined(rows: _Rows, Q: Array, R: Array, rate: float) -> Array:
    """(w, b) by QR and refinement of residual and coefficients (Björck 1967), each step of which leaves ``rate``."""
    k = len(rows.centre)

    def solve(f: Array, g: Array) -> tuple[Array, Array]:
        """[I B; Bᵀ 0][dr; dθ] = [f; g]."""
        h = Q.T @ f - dtrtrs(R, g, trans=1)[0]
        return f - Q @ h, dtrtrs(R, h)[0]

    r, theta = solve(rows.y, np.zeros(len(R)))
    low = np.zeros_like(r)  # the residual is carried in two parts: where it is large, its last digits decide
    full = rows.raw(theta)
    last = np.inf
    for _ in range(10):
        f = compensated_product(rows.A, full, rows.y, -r, -low)
        g = -compensated_product_t(rows.A, r, low)
        if len(g) > k:  # to centred coordinates
            g[:k] -= rows.centre * g[k]
        dr, dtheta = solve(f, g / rows.D)
        size = float(np.linalg.norm(dtheta)) / max(float(np.linalg.norm(full * rows.D)), 1e-300)
        if not size < 0.5 * last:
            break
        (r, low), full, last = add_to_pair(r, low, dr), full + rows.raw(dtheta), size
        if size * rate < _SETTLED:  # what another step would change
            break
    return full


def _svd(task: _Quadratic) -> tuple[Array, Array, Record]:
    """Least norm (of w − w₀, in raw units) among the best fits; rank decided on scaled columns."""
    A, R, mean, target_mean = task.centred()
    if not np.all(np.isfinite(A)):
        raise ValueError("The columns of X, centred and weighted, exceed the largest float: rescale X or the weights.")
    D = powers_of_two(_norms(A))
    U, s, Vt = np.linalg.svd(A / D, full_matrices=False)
    keep = s > max(A.shape) * np.finfo(float).eps * s.max(initial=0.0)
    rank = int(keep.sum())
    # The rows span the columns of D Vᵀ: a basis of it gives the least norm in raw units.
    basis = scipy.linalg.qr(D[:, None] * Vt[keep].T, mode="economic", check_finite=False) if rank else None
    W = task.prior.copy()
    for t, a in enumerate(task.alpha):
        if basis is None:
            continue
        Q, C = basis
        if not np.all(np.diag(C)):  # columns in units too far apart: least norm in the scaled ones
            step = Vt[keep].T @ (U[:, keep].T @ R[:, t] / s[keep]) / D
        elif a == 0.0:
            step = Q @ scipy.linalg.solve_triangular(C, (U[:, keep].T @ R[:, t]) / s[keep], trans=1)
        else:  # within the row space: ‖A Q c − r‖² + a‖c‖²
            F = U[:, keep] * s[keep] @ C.T
            full = np.vstack([F, np.sqrt(a) * np.eye(rank)])
            step = Q @ scipy.linalg.lstsq(full, np.concatenate([R[:, t], np.zeros(rank)]), check_finite=False)[0]
        W[t] = W[t] + step
    b = target_mean - W @ mean
    smallest = s[keep].min() if rank else 1.0
    condition = float(s.max(initial=1.0) / smallest)
    return W, b, {"method": "svd", "rank": rank, "condition": condition}


def _dual(task: _Quadratic) -> tuple[Array, Array, Record]:
    """Ridge with more columns than rows: the n × n form w = w₀ + Xᵀa, refined once."""
    A, R, mean, target_mean = task.centred()
    n, d = A.shape
    K = A @ A.T
    W = task.prior.copy()
    worst = 1.0
    for t, a in enumerate(task.alpha):
        H = K + a * np.eye(n)
        factor = cholesky(H)
        if factor is None or not factor.rcond > 1e-13:
            return _qr(task)
        worst = min(worst, factor.rcond)
        dual = np.zeros(n)
        for _ in range(3):
            dual += factor.solve(R[:, t] - A @ (A.T @ dual) - a * dual)
        W[t] = W[t] + A.T @ dual
    b = target_mean - W @ mean
    return W, b, {"method": "dual cholesky", "rank": min(n - task.fit_intercept, d), "condition": worst**-0.5}


def _lsmr(task: _Quadratic) -> tuple[Array, Array, Record]:
    """Large sparse problems: LSMR on centred, scaled columns with the ridge rows below."""
    n, d = task.design.shape
    X, root = task.design.X, np.ones(n) if task.root is None else task.root
    mean = task.design.column_means(task.weights) if task.fit_intercept else np.zeros(d)
    square = np.asarray(X.multiply(X).T @ root**2).ravel() if task.design.is_sparse else root**2 @ np.square(X)
    spread = np.maximum(square - (root @ root) * mean**2, 0.0)
    D = np.sqrt(np.where(spread > 1e-14 * square, spread, 1.0))
    W, b = task.prior.copy(), np.zeros(len(task.prior))
    steps = 0
    for t, a in enumerate(task.alpha):
        h = np.sqrt(a)

        def forward(v: Array, h: float = h) -> Array:
            v = np.ravel(v) / D
            return np.concatenate([root * (X @ v - mean @ v), h * v])

        def backward(u: Array, h: float = h) -> Array:
            top = root * u[:n]
            return np.asarray((X.T @ top - mean * top.sum() + h * u[n:]) / D)

        L = scipy.sparse.linalg.LinearOperator((n + d, d), matvec=forward, rmatvec=backward, dtype=float)
        y = task.Y[:, t]
        centre = float(root**2 @ y / (root @ root)) if task.fit_intercept else 0.0
        for _ in range(3):  # restarts are refinement: each solves for what is left
            left = root * (y - centre - (X @ W[t] - mean @ W[t]))
            rhs = np.concatenate([left, h * (task.prior[t] - W[t])])
            out = scipy.sparse.linalg.lsmr(L, rhs, atol=1e-14, btol=1e-14, conlim=0, maxiter=20 * min(n, d) + 200)
            W[t] += out[0] / D
            steps += out[2]
        b[t] = centre - mean @ W[t]
    return W, b, {"method": "lsmr", "rank": None, "condition": float("nan"), "n_iter": steps}


def _active_set(B: Array, z: Array) -> Array:
    """
    The w ≥ 0 with the smallest ‖Bw − z‖, by SciPy's Lawson and Hanson.

    On dependent columns it may stop at a point that is not the best one, or never stop; the bounded-variable method,
    which solves each free set by least squares of minimum norm, is then used instead. Both stop by absolute sizes, so
    that columns and z are to be of the size of one.
    """
    d = B.shape[1]
    with contextlib.suppress(RuntimeError):  # too many steps
        w = scipy.optimize.nnls(B, z, maxiter=max(1000, 30 * d))[0]
        uphill = B.T @ (z - B @ w)  # at the best point 0 where w > 0, and nowhere positive
        if np.max(np.where(w > 0, np.abs(uphill), uphill), initial=0.0) <= 1e-11 * np.linalg.norm(z):  # columns ≤ √2
            return np.asarray(w)
    w = scipy.optimize.lsq_linear(B, z, (0.0, np.inf), method="bvls", tol=1e-15, max_iter=max(1000, 30 * d)).x
    return np.asarray(np.maximum(w, 0.0))


def _non_negative(task: _Quadratic) -> tuple[Array, Array, Record]:
    """w ≥ 0 by active sets, on the triangular factor."""
    d = task.design.shape[1]
    W, b = np.zeros_like(task.prior), np.zeros(len(task.prior))
    m = task.design.moments(task.Y, task.weights, task.fit_intercept)
    A = task.design.centred(m.mean, task.root)
    for t, a in enumerate(task.alpha):
        y = task.Y[:, t] - m.target_mean[t]
        B, z = A, y if task.root is None else y * task.root
        if a > 0:
            B, z = np.vstack([A, np.sqrt(a) * np.eye(d)]), np.concatenate([z, np.sqrt(a) * task.prior[t]])
        D, unit = powers_of_two(_norms(B)), float(powers_of_two(np.max(np.abs(z), initial=0.0)))
        B, z = B / D, z / unit
        if B.shape[0] > d:
            Q, R = scipy.linalg.qr(B, mode="economic", check_finite=False)
            B, z = R, Q.T @ z
        W[t] = _active_set(B, z) * (unit / D)
        b[t] = m.target_mean[t] - W[t] @ m.mean
    return W, b, {"method": "active set", "rank": d, "condition": float("nan")}
