"""The search for separators and for witnesses that there is none.

Notation of `certifit.certificates.separation`: difference rows z (y x̃ for two classes). Both questions are the
same one, "is c a non-negative mixture of given rows?", answered by non-negative least squares (Lawson and Hanson
1974, chapter 23): its support is always independent, so witnesses are small, and its residual is a separator.

- c = −Σ_T z over a row basis T: a mixture ν exists exactly when the classes overlap, and then 1_T + ν is the
  witness of Stiemke's theorem. Otherwise the residual r has z·r ≤ 0 for all z: −r separates at least weakly.
- rows (z, 1) and c = (0, 1): a mixture exists exactly when no strict separator does (Gordan). Otherwise the mixture
  of the fit is the point of the convex hull nearest the origin, which separates with the largest margin.

Rows enter as they are needed: the search runs on a sample, then adds the rows that its answer violates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.lapack import dgeqp3

from certifit._types import Array, Record
from certifit.certificates._integers import to_words
from certifit.certificates.separation import difference_rows
from certifit.parallel import one_thread
from certifit.solvers.mixtures import TINY, Mixture, mixture

_STEP = 512
_SMALL = 100_000  # entries of all difference rows up to which a good margin is worth a second search
_STEPS = 60  # of Newton's method towards a separator
_FEW, _ROWS_A_COLUMN = 500, 40  # rows of which separators are sought first, where there are four times as many
_STALLED = 0.75  # a step that leaves more than this fraction of the loss will not lead to zero
_VISITS = 200_000_000  # multiplications spent on perceptron passes before better methods are tried


@dataclass(frozen=True)
class Candidate:
    """What the search believes, with the evidence for it; the trusted part decides whether it is proved.

    ``weights`` are the stacked weights of classes 1, …, K−1 over x̃ (floats, or exact integers up to a positive
    factor); ``rows``, ``against``, ``multipliers`` name difference rows and their share in a vanishing mixture.
    """

    verdict: str
    weights: Array | None = None
    rows: Array | None = None
    against: Array | None = None
    multipliers: Array | None = None


@dataclass(frozen=True)
class Differences:
    """The difference rows of a data set, numbered i(K−1) + j: row i against the j-th class other than its own."""

    X: Array
    y: Array
    n_classes: int

    def __len__(self) -> int:
        return len(self.y) * (self.n_classes - 1)

    @property
    def dim(self) -> int:
        return int(self.X.shape[1]) * (self.n_classes - 1)

    def pairs(self, index: Array) -> tuple[Array, Array]:
        """Data row and opposing class of each numbered difference row."""
        rows, j = np.divmod(np.asarray(index, dtype=np.int64), self.n_classes - 1)
        return rows, j + (j >= self.y[rows])

    def rows(self, index: Array) -> Array:
        rows, other = self.pairs(index)
        return difference_rows(self.X[rows], self.y[rows], other, self.n_classes)

    def products(self, u: Array) -> Array:
        """z·u for all difference rows, in their order."""
        if self.n_classes == 2:
            score = self.X @ u
            return np.asarray(np.negative(score, out=score, where=self.y == 0))
        k = self.n_classes
        scores = self.X @ np.vstack([np.zeros(self.X.shape[1]), u.reshape(k - 1, -1)]).T
        own = scores[np.arange(len(scores)), self.y]
        _, other = self.pairs(np.arange(len(self)))
        return np.asarray((own[:, None] - np.take_along_axis(scores, other.reshape(-1, k - 1), axis=1)).ravel())

    def lengths(self) -> Array:
        length = np.sqrt(np.einsum("ij,ij->i", self.X, self.X))
        return np.repeat(np.where(length > 0, length, 1.0), self.n_classes - 1)


def _generate(
    d: Differences, lengths: Array, c: Array, work: Array, lift: float = 0.0, start: Array | None = None
) -> tuple[Mixture, Array]:
    """`mixture` over all difference rows (with ``lift`` appended to each), which enter when violated."""
    for _ in range(60):
        Z = d.rows(work) / lengths[work, None]
        if lift:
            Z = np.column_stack([Z, np.full(len(Z), lift)])
        m = mixture(Z, c, start)
        if m.exact:
            return m, work
        values = d.products(m.residual[: d.dim]) / lengths
        if lift:
            values += lift * m.residual[-1]
        values[work] = -np.inf
        left = float(np.linalg.norm(m.residual))
        count = int(np.sum(values > TINY * left))
        if count == 0:
            return m, work
        fresh = np.argpartition(values, -min(count, _STEP))[-min(count, _STEP) :]
        start = np.arange(len(m.support))
        idle = np.setdiff1d(work, work[m.support])
        work = np.concatenate([work[m.support], fresh, idle[: 4 * _STEP]])
    return m, work


# -- coordinates -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Frame:
    """Coordinates in which columns are centred (with an offset), of like size and independent."""

    X: Array
    scale: Array  # of each column: weights over these coordinates times this are weights over x
    centre: Array  # of each column, in the units of the coordinates
    turn: Array | None  # orthonormal columns: the independent directions, when not all are
    offset: bool

    @classmethod
    def of(cls, X: Array, fit_intercept: bool) -> _Frame:
        n, d = X.shape
        peak = np.abs(X).max(axis=0, initial=0.0)
        level = np.exp2(-np.frexp(np.where(peak > 0, peak, 1.0))[1].astype(float))
        scaled = np.empty((n, d + int(fit_intercept)))
        inner = scaled[:, :d]
        np.multiply(X, level, out=inner)
        mean = inner.mean(axis=0) if fit_intercept else np.zeros(d)
        inner -= mean
        spread = np.sqrt(np.einsum("ij,ij->j", inner, inner) / n)
        spread = np.where(spread > 1e-13, spread, 1.0)
        inner /= spread
        scaled[:, d:] = 1.0
        return cls(scaled, level / spread, mean / spread, None, fit_intercept)._independent()

    def _independent(self) -> _Frame:
        n, p = self.X.shape
        if n >= p:
            sample = self.X if n <= 20 * p else self.X[:: n // (20 * p)]
            if _full_rank(np.linalg.qr(sample, mode="r")):
                return self
            R: Any = np.linalg.qr(self.X, mode="r")
            if _full_rank(R):
                return self
            _, s, Vt = np.linalg.svd(R)
        else:  # wide: the rows span few directions
            Q, R = np.linalg.qr(self.X.T)
            _, s, small = np.linalg.svd(R.T)
            Vt = small @ Q.T
        V = Vt[s > 1e-11 * s[0]].T
        return _Frame(self.X @ V, self.scale, self.centre, V, self.offset)

    def weights(self, u: Array, n_classes: int) -> Array:
        """Stacked weights over x̃, from stacked weights over these coordinates."""
        U = u.reshape(n_classes - 1, -1)
        U = U if self.turn is None else U @ self.turn.T
        d = len(self.scale)
        W = U[:, :d] * self.scale
        return (np.column_stack([W, U[:, d] - U[:, :d] @ self.centre]) if self.offset else W).ravel()


def _full_rank(R: Any) -> bool:
    s = np.linalg.svd(R, compute_uv=False)
    return bool(len(s) and s[-1] > 1e-11 * s[0])


# -- the search in floats --------------------------------------------------------------------------------


def search(X: Array, y: Array, n_classes: int, fit_intercept: bool) -> Candidate:
    """The likely verdict on classes 0, …, K−1 with its evidence, by floating-point arithmetic."""
    frame = _Frame.of(X, fit_intercept)
    d = Differences(frame.X, y, n_classes)
    if d.dim == 0 or len(d) == 0:
        return _guess_all_zero(d)
    quick = _squared_hinge_separator(d) if n_classes == 2 else _perceptron_separator(d)
    lengths = d.lengths()
    if quick is not None:
        return Candidate("separable", frame.weights(_widened(d, lengths, frame, quick), n_classes))
    work = np.unique(np.linspace(0, len(d) - 1, min(len(d), 40 * d.dim + 200)).astype(np.int64))
    basis = _row_basis(d, lengths, work)
    Zt = d.rows(basis) / lengths[basis, None]
    m, work = _generate(d, lengths, -Zt.sum(axis=0), work)
    if m.exact:
        return _overlap(d, lengths, basis, work[m.support], m.weights)
    return _strict(d, lengths, frame, m, work)


def _strict(d: Differences, lengths: Array, frame: _Frame, weak: Mixture, work: Array) -> Candidate:
    """Weakly separable: strictly (then with the largest margin of this scaling), or touching."""
    c = np.zeros(d.dim + 1)
    c[-1] = 1.0
    m, work = _generate(d, lengths, c, work, lift=1.0, start=weak.support)
    if not m.exact:
        u = -m.residual[:-1]
        if np.all(d.products(u) > 0):
            return Candidate("separable", frame.weights(u, d.n_classes))
    index = work[m.support]
    rows, other = d.pairs(index)
    weights = frame.weights(-weak.residual, d.n_classes)
    return Candidate("touching", weights, rows, other, m.weights / lengths[index])


def widest(X: Array, y: Array, weights: Array) -> Array:
    """A separator of padded rows X (two classes) with a larger margin min y w̃·x̃/‖w̃‖ than the given one, if found.

    The point of the convex hull of the rows y x̃ that is nearest the origin has the largest margin of all.
    """
    d = Differences(X, y, 2)
    reach = np.full(len(d), float(d.lengths().max()))
    start = np.argsort(d.products(weights))[: 40 * d.dim]
    c = np.zeros(d.dim + 1)
    c[-1] = 1.0
    with np.errstate(all="ignore"):
        m, _ = _generate(d, reach, c, start, lift=1.0)
        better = -m.residual[:-1]
        margins = [float(np.min(d.products(v)) / np.linalg.norm(v)) for v in (weights, better)]
    return better if margins[1] > margins[0] else weights


def _widened(d: Differences, lengths: Array, frame: _Frame, u: Array) -> Array:
    """On small data the separator of largest margin in these coordinates, if its margin in the data's is larger."""
    if len(d) * d.dim > _SMALL:
        return u
    c = np.zeros(d.dim + 1)
    c[-1] = 1.0
    m, _ = _generate(d, lengths, c, np.arange(len(d)), lift=1.0)

    def margin(v: Array) -> float:
        weights = frame.weights(v, d.n_classes).reshape(d.n_classes - 1, -1)[:, : len(frame.scale)]
        return float(np.min(d.products(v))) / max(float(np.linalg.norm(weights)), 1e-300)

    other = -m.residual[:-1]
    return other if margin(other) > margin(u) else u


def _squared_hinge_separator(d: Differences) -> Array | None:
    """A separator of two classes by Newton steps on Σ max(0, 1 − z·u)²; None when they do not help."""
    Z = d.X * np.where(d.y == 1, 1.0, -1.0)[:, None]
    if len(d) > d.dim:
        return _newton_separator(Z)
    u = np.linalg.lstsq(Z, np.ones(len(d)), rcond=None)[0]
    return u if np.all(Z @ u > 0) else None


def _newton_separator(Z: Array) -> Array | None:
    """The steps, from a separator of some of the rows z where there are many: if these have none, nor have all.

    The smallest value is 0 exactly when a separator exists. A step is least squares over the rows with z·u < 1, fewer
    each time; on separable data the loss falls by a constant factor, else it soon stops falling.
    """
    few = max(_FEW, _ROWS_A_COLUMN * Z.shape[1])
    start = _newton_separator(Z[:: len(Z) // few]) if len(Z) >= 4 * few else np.zeros(Z.shape[1])
    if start is None:
        return None
    u, v = start, Z @ start
    loss = float(np.sum(np.square(np.minimum(v - 1.0, 0.0))))
    for _ in range(_STEPS):
        if np.all(v > 0):
            return u if np.all(Z @ u > 0) else None
        near = np.flatnonzero(v < 1.0)
        rows = Z if len(near) == len(Z) else Z.take(near, axis=0)
        try:
            step = np.linalg.solve(rows.T @ rows, rows.sum(axis=0)) - u
        except np.linalg.LinAlgError:  # fewer rows than columns are left, or rows that do not span
            return None
        along = Z @ step
        length = _downhill(v, along)
        u, v = u + length * step, v + length * along
        before, loss = loss, float(np.sum(np.square(np.minimum(v - 1.0, 0.0))))
        if not (loss <= _STALLED * before or np.all(v > 0)):
            return None
    return None


def _downhill(v: Array, along: Array) -> float:
    """The longest of 1, ½, ¼, … at which Σ max(0, 1 − v − t·along)² does not rise yet."""
    length = 1.0
    for _ in range(20):
        short = np.minimum(v + length * along - 1.0, 0.0)
        if short @ along <= 1e-9 * (short @ short):
            break
        length /= 2.0
    return length


def _perceptron_separator(d: Differences) -> Array | None:
    """A few passes of the many-class perceptron, when they happen to separate."""
    from certifit.loops import perceptron as loops  # compiled code loads on first use

    W = np.zeros((d.n_classes, d.X.shape[1]))
    passes = int(np.clip(_VISITS // max(1, len(d.y) * W.size), 2, 200))
    if not loops.joint_passes(np.ascontiguousarray(d.X), d.y.astype(np.int64), W, passes):
        return None
    u = (W - W[0])[1:].ravel()
    return u if np.all(d.products(u) > 0) else None


def _row_basis(d: Differences, lengths: Array, work: Array) -> Array:
    """Difference rows that span all others, well conditioned (from the sample if it spans, else from all rows)."""
    chosen: list[int] = []
    for pool in (work, np.arange(len(d))):
        chosen = _independent_rows(d.rows(pool) / lengths[pool, None])
        if len(chosen) == d.dim:
            break
    return pool[chosen]


def _independent_rows(Z: Array) -> list[int]:
    """Rows that span all others, by QR with pivoting: the longest remainder comes first."""
    with one_thread():
        R, pivots = dgeqp3(Z.T)[:2]
    rank = int(np.count_nonzero(np.abs(np.diag(R)) > 1e-10))  # they fall
    return [int(i) - 1 for i in pivots[:rank]]


def _overlap(d: Differences, lengths: Array, basis: Array, support: Array, nu: Array) -> Candidate:
    """Stiemke's witness: the basis with weight one plus the mixture that answers it, basis rows first."""
    used = nu > 1e-7 * max(1.0, float(nu.max(initial=0.0)))
    index = np.concatenate([basis, np.setdiff1d(support[used], basis)])
    mu = (np.isin(index, basis)).astype(float)
    for s, v in zip(support[used], nu[used]):
        mu[index == s] += v
    # Weights of the basis rows once more, so that the mixture vanishes to rounding.
    Z = d.rows(index) / lengths[index, None]
    k = len(basis)
    if k == d.dim:
        mu[:k] = np.linalg.solve(Z[:k].T, -(Z[k:].T @ mu[k:]))
    rows, other = d.pairs(index)
    return Candidate("overlapping", None, rows, other, mu / lengths[index])


def _guess_all_zero(d: Differences) -> Candidate:
    """All x̃ vanish (through the origin): every product is zero, and any row is its own witness."""
    rows, other = d.pairs(np.array([0]))
    return Candidate("overlapping", None, rows, other, np.ones(1))


def evidence(candidate: Candidate, fit_intercept: bool) -> Record:
    """A candidate as the evidence of a certificate; exact integers travel as words."""

    def words(v: Array | None) -> Any:
        return None if v is None else to_words(v) if v.dtype == object else np.asarray(v, dtype=float)

    return {
        "verdict": candidate.verdict,
        "fit_intercept": bool(fit_intercept),
        "weights": words(candidate.weights),
        "rows": candidate.rows,
        "against": candidate.against,
        "multipliers": words(candidate.multipliers),
    }
