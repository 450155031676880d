r"""Principal components: what a subspace keeps, and that no other of its size keeps more.

With A the covariance (divisor Σw − 1), rows u₁ … uₙ of U, stated variances λ₁ ≥ … ≥ λₙ = μ, and τ ≥ 0, let
S = Uᵀ(Λ − μ)U. If S + μI − A + τI is positive semi-definite, then A ⪯ S + (μ + τ)I, and since S has rank at most
n, the sum of the n largest eigenvalues of A (the most that any n-dimensional subspace keeps; Ky Fan) is at most
tr S + n(μ + τ). The subspace of U itself keeps at least tr(UAUᵀ)/(1 + ‖UUᵀ − I‖). The difference is the gap.

Positive semi-definiteness is proved by a floating-point Cholesky factorisation that runs to its end: then the true
matrix is above −γ_{d+1}/(1 − γ_{d+1}) times its trace (Rump), and the rounding in forming it is added on top. Where it
does not run to its end for the stated τ, a τ larger by a small share of the trace is tried.

Eigenvectors 1, 2 and 7 have small residuals, are orthonormal and reconstruct what they span; they fail here.

For fewer rows than columns the same is done with the n × n Gram matrix, which has the same nonzero eigenvalues, and
with the unit vectors along (X − mean)uₖ in place of uₖ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

import numpy as np
import scipy.linalg
import scipy.sparse

from certifit._types import Array, Matrix
from certifit.certificates._ball import ETA, UNIT, Ball, ball, dot, gamma
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._frame import middle
from certifit.certificates._record import Check, Kind, Proof, equal, lower, register, upper
from certifit.certificates._row_sums import sum_slack
from certifit.certificates._schema import FINITE, NUMBER

_ENTRIES = 1 << 16  # entries of X taken at a time: bounds the length of every sum


def largest(A: Matrix) -> float:
    """The largest absolute value of a matrix, without a copy of it; NaN where it holds one."""
    entries = (A.data if scipy.sparse.issparse(A) else A).reshape(-1)
    found = [0.0]
    for start in range(0, entries.size, _ENTRIES):  # both in one read
        part = entries[start : start + _ENTRIES]
        found += [float(part.max()), -float(part.min())]
    return float(np.max(found))


def frobenius(b: Ball) -> float:
    """An upper bound of the Frobenius norm."""
    m = np.asarray(b.magnitude, dtype=float)
    return float(np.linalg.norm(m.ravel()) * (1.0 + gamma(m.size + 4)))


def semidefinite(M: Ball) -> tuple[bool, float]:
    """Whether Cholesky runs to its end on the midpoints, and t with M + tI ⪰ 0 for every matrix in the ball."""
    d = len(M.mid)
    if d == 0:
        return True, 0.0
    # The matrix is symmetric, so its lower triangle says all; taking it twice involves no rounding.
    mid, rad = (np.tril(v) + np.tril(v, -1).T for v in (M.mid, np.broadcast_to(M.rad, M.shape)))
    slack = frobenius(Ball(np.zeros_like(mid), rad))
    trace = float(np.abs(np.diag(mid)).sum())
    if not np.isfinite(mid).all() or np.any(np.diag(mid) < 0):
        return False, np.inf
    try:
        scipy.linalg.cholesky(mid, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return False, np.inf
    g = gamma(d + 2)
    return True, (g / (1.0 - g) * trace + slack) * (1.0 + 1e-10) + d * 1e-300


def _centred_blocks(data: Data, centre: Array) -> Iterator[tuple[slice, Array]]:
    """Rows minus ``centre``, each entry rounded once; not to be written to, and overwritten by the next."""
    (n, d), moved = data.X.shape, bool(np.any(centre))
    step = max(256, _ENTRIES // max(1, d))
    room = np.empty((min(n, step), d))
    for start in range(0, n, step):
        part = slice(start, min(n, start + step))
        block = data.X[part].toarray() if scipy.sparse.issparse(data.X) else data.X[part]
        yield part, np.subtract(block, centre, out=room[: part.stop - start]) if moved else block


def centred_scatter(data: Data, centre: Array, about_mean: bool = True) -> tuple[Ball, Ball, Ball]:
    """Σ w (x − m)(x − m)ᵀ about the exact mean m (or about ``centre``), m − ``centre``, and Σ w.

    With t = x − ``centre``, Σw|tⱼ||tₖ| ≤ √(Σwtⱼ² Σwtₖ²): the diagonal bounds the rounding of all entries. A table
    whose columns lie about zero is taken as it is, t = x, which is as good and saves a copy.
    """
    (n, d), w = data.X.shape, data.sample_weight
    if w is not None and np.any(w < 0.0):
        raise ValueError("weights are not negative")
    about_zero = about_mean and not scipy.sparse.issparse(data.X) and not np.any(middle(data.X, np.sqrt(data.weights)))
    origin = np.zeros(d) if about_zero else centre
    sums, products, tiny = np.zeros(d), np.zeros((d, d)), np.full(d, ETA * n)
    longest = blocks = 0
    for part, T in _centred_blocks(data, origin):
        sums += data.weights[part] @ T
        products += T.T @ T if w is None else T.T @ (T * w[part, None])  # NumPy forms half of TᵀT
        if w is not None:
            tiny += ETA * np.abs(T).sum(axis=0)  # what is lost of wt counts tₖ times
        longest, blocks = max(longest, len(T)), blocks + 1
    total = Ball(float(n)) if w is None else Ball(w).sum()
    slack, W = sum_slack(longest + blocks), float(total.upper)
    size = np.sqrt(np.diag(products) * (1.0 + 2 * slack) + tiny) * (1.0 + 4 * UNIT)
    product = Ball(products, slack * np.multiply.outer(size, size) * (1.0 + 8 * UNIT) + np.add.outer(tiny, tiny))
    mean = Ball(sums, slack * np.sqrt(W) * size * (1.0 + 8 * UNIT) + tiny + ETA * W) / total
    outer = mean.reshape(-1, 1) * mean.reshape(1, -1)
    return (product - outer * total if about_mean else product), mean - centre if about_zero else mean, total


def covariance(data: Data, centre: Array) -> tuple[Ball, Ball]:
    """The covariance (d × d), and the exact mean minus ``centre``."""
    scatter, mean, total = centred_scatter(data, centre)
    return scatter / (total - 1.0), mean


def gram(data: Data, centre: Array) -> tuple[Ball, Ball, Ball]:
    """√w(x − mean)·(x′ − mean)√w′/(W − 1) for all pairs of rows, those rows, and the exact mean minus ``centre``."""
    mid = np.concatenate([T.copy() for _, T in _centred_blocks(data, centre)])
    T = Ball(mid, UNIT * np.abs(mid) * (1.0 + 4 * UNIT))
    w = Ball(data.weights)
    total = w.sum()
    mean = (T * w.reshape(-1, 1)).sum(axis=0) / total
    T = (T - mean) * np.sqrt(w).reshape(-1, 1)
    return dot(T, T.T) / (total - 1.0), T, mean


def _keep(evidence: Evidence, data: Data) -> tuple[Array, Array]:
    U = np.atleast_2d(np.asarray(evidence["components"], dtype=float))
    values = np.asarray(evidence["variances"], dtype=float)
    if U.shape[1] != data.X.shape[1] or values.shape != (len(U),):
        raise ValueError("components do not match the data")
    return U, values


@register
class PrincipalComponents(Kind):
    """Claim: these components keep as much variance as any subspace of their dimension, up to ``gap``.

    Evidence: ``components`` (n, d), ``variances`` (n,), ``mean`` (d,), ``slack`` (τ).
    """

    name = "principal-components"
    theorem = "Ky Fan's maximum principle, with a Cholesky factor as witness"
    needs: ClassVar = {"components": FINITE, "variances": FINITE, "mean": FINITE, "slack": NUMBER}

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        U, values = _keep(evidence, data)
        centre = np.asarray(evidence["mean"], dtype=float)
        tau = float(evidence["slack"])
        live = values > tau  # in the space of rows a component without variance has no direction
        if data.X.shape[1] <= data.X.shape[0]:
            A, shift = covariance(data, centre)
            V, stated = Ball(U), values
        else:
            A, T, shift = gram(data, centre)
            V, stated = _row_vectors(T, U[live]), values[live]
        return subspace_proof(A, shift, lambda: largest(data.X), U, values, tau, (V, stated))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        n = figures["components"]
        these = "This component retains" if n == 1 else f"These {n} components retain"
        more = f"{figures['relative_gap']:.1e} of the whole"
        if not np.isfinite(figures["relative_gap"]):  # rounding leaves open whether there is any variance
            more = f"{figures['gap']:.1e}"
        kept = f"{these} a variance of {figures['value']:.6g}"
        return f"{kept}; no other {n}-dimensional subspace retains more by over {more}."


def subspace_proof(
    A: Ball,
    shift: Ball,
    size: Callable[[], float],
    U: Array,
    values: Array,
    tau: float,
    lifted: tuple[Ball, Array] | None = None,
) -> Proof:
    """What is proved of components U and their variances, given the covariance A and how far the mean is off.

    ``size`` gives the largest entry of the table, which is read for it only if the mean is off by more than a share of
    the spread; ``lifted`` are the unit vectors and variances in the space of rows.
    """
    V, stated = (Ball(U), values) if lifted is None else lifted
    n, total = len(U), trace(A)
    order = Check("the variances are sorted, none negative", bool(np.all(np.diff(values) <= 0) and np.all(values >= 0)))
    mean_off = float(np.max(shift.magnitude))
    spread = float(np.sqrt(max(float(total.upper), 0.0)))
    near = mean_off <= 1e-6 * spread or mean_off <= 1e-6 * spread + 64 * UNIT * max(size(), 1e-300)
    centred = Check("the mean is that of the data", near, f"off by {mean_off:.1e}")
    AV = dot(A, V.T)
    residual = frobenius(AV - V.T * stated)
    unit = frobenius(dot(U, U.T) - np.eye(n))
    skew = frobenius(dot(V, V.T) - np.eye(len(stated)))
    kept = (V.T * AV).sum() / (1.0 + Ball(0.0, skew)) if skew < 0.5 else Ball(0.0, np.inf)
    bound, ran = most_kept(A, V, stated, values, tau, total)
    gap = (bound - kept).maximum(0.0)
    checks = (
        order,
        centred,
        Check("the components are orthonormal", unit <= 1e-5, f"{unit:.1e}"),
        Check("no subspace of this dimension retains more", ran, f"Cholesky with slack {tau:.1e}"),
    )
    # Where rounding leaves open whether there is any variance, nothing is a known share of it.
    share = gap / total if float(total.lower) > 0 else Ball(0.0 if float(gap.upper) == 0.0 else np.inf)
    figures = {
        "components": equal(n),
        "value": lower(0.0) if lower(kept).stated < 0.0 else lower(kept),  # a variance is not negative
        "bound": upper(bound),
        "gap": upper(gap),
        "relative_gap": upper(share),
        "residual": upper(residual),
        "reconstruction_error": upper(total - kept),
    }
    return Proof(figures, checks)


def trace(A: Ball) -> Ball:
    rad = np.broadcast_to(A.rad, A.shape)
    return Ball(np.diag(A.mid).copy(), np.diag(rad).copy()).sum()


def _row_vectors(T: Ball, U: Array) -> Ball:
    """Unit vectors along T uₖ in the space of rows."""
    Z = dot(T, U.T).T
    return ball(Z / np.sqrt(Z.square().sum(axis=1)).reshape(-1, 1))


def most_kept(A: Ball, V: Ball, stated: Array, values: Array, tau: float, total: Ball) -> tuple[Ball, bool]:
    """The most that any subspace of n dimensions keeps, and whether that is proved."""
    n, size = len(values), A.shape[0]
    if n == 0:
        return Ball(0.0), True
    if n >= size:
        return total, True  # everything is kept
    mu = values[-1]
    over = (Ball(stated) - mu).reshape(-1, 1)
    below = dot(V.T, V * over) - A
    # A slack that leaves Cholesky no room for its rounding is lifted; the bound states by how much.
    # By shares of a trace that is surely there: sums that rounding leaves open prove nothing by being large.
    for more in (0.0, *(max(float(total.lower), 0.0) * 2.0**-k for k in range(48, 20, -4))):
        level = mu + tau + more
        ran, extra = semidefinite(below + ball(np.eye(size) * level))
        if ran:
            return (V.square() * over).sum() + (Ball(level) + extra) * float(n), True
    return total, False  # all there is: true, and no proof of anything
