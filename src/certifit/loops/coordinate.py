r"""Coordinate descent for ½‖y − A w‖² + Σ l1ⱼ|wⱼ| + ½ Σ l2ⱼ wⱼ², in Gram form and in residual form.

``q`` = Aᵀ(y − A w) throughout. Coordinates are visited in the order given, so that a random order is the caller's
choice. Every function changes ``w`` and its companion (``q`` or ``r``) in place and returns the largest move seen in
the last sweep, measured by what it does to the fit: |Δwⱼ|·‖aⱼ‖.
"""

from __future__ import annotations

import numpy as np

from certifit.loops._jit import njit
from certifit.loops._tiers import tiered

_DOT = {"reassoc", "contract"}  # a dot product is three times as fast; NaN is left alone


@njit(nogil=True)
def _shrink(rho, l1, positive):
    if rho > l1:
        return rho - l1
    if rho < -l1 and not positive:
        return rho + l1
    return 0.0


@tiered(lambda G, q, w, m, l1, l2, positive, order, epochs, tol: 1e-6 * epochs * m * (2 + 0.2 * m))
@njit(nogil=True)
def cd_gram(G, q, w, m, l1, l2, positive, order, epochs, tol):
    """Sweeps over the first m coordinates with the Gram matrix G (rows of a C-ordered buffer)."""
    largest = 0.0
    for _ in range(epochs):
        largest = 0.0
        for k in range(len(order)):
            j = order[k]
            old = w[j]
            if old == 0.0 and _shrink(q[j], l1[j], positive) == 0.0:
                continue  # it stays at 0, whatever its entry of G, which is seldom in the cache
            g = G[j, j]
            if g + l2[j] <= 0.0:
                continue
            new = _shrink(q[j] + g * old, l1[j], positive) / (g + l2[j])
            if new == old:
                continue
            move = new - old
            w[j] = new
            for i in range(m):
                q[i] -= G[j, i] * move
            size = abs(move) * np.sqrt(g)
            if size > largest:
                largest = size
        if largest <= tol:
            break
    return largest


@tiered(lambda G, q, w, l1, l2, positive, order, size, inner, passes: 1e-6 * passes * len(w) * (2 + 0.2 * len(w)))
@njit(nogil=True, fastmath={"contract"})
def cd_blocks(G, q, w, l1, l2, positive, order, size, inner, passes):
    """Passes over all coordinates, some at a time: ``inner`` sweeps among these, and q then follows all their moves.

    Sweeps among few coordinates read a corner of G that fits a cache; of the rest of G a pass reads each row once.
    """
    m = len(w)
    block, moves = np.empty(size, np.int64), np.empty(size)
    part, rho, v = np.empty((size, size)), np.empty(size), np.empty(size)
    for _ in range(passes):
        at = 0
        while at < m:
            k = 0
            while at < m and k < size:
                j = order[at]
                if (w[j] != 0.0 or _shrink(q[j], l1[j], positive) != 0.0) and G[j, j] + l2[j] > 0.0:
                    block[k], rho[k], v[k] = j, q[j], w[j]
                    k += 1
                at += 1
            for a in range(k):
                row = G[block[a]]
                for b in range(k):
                    part[a, b] = row[block[b]]
            for _ in range(inner):
                for a in range(k):
                    j, g = block[a], part[a, a]
                    new = _shrink(rho[a] + g * v[a], l1[j], positive) / (g + l2[j])
                    move = new - v[a]
                    if move != 0.0:
                        v[a] = new
                        for b in range(k):
                            rho[b] -= part[a, b] * move
            n = 0
            for a in range(k):
                j = block[a]
                if v[a] != w[j]:
                    block[n], moves[n] = j, v[a] - w[j]
                    w[j] = v[a]
                    n += 1
            for a in range(0, n - 3, 4):
                r0, r1, r2, r3 = G[block[a]], G[block[a + 1]], G[block[a + 2]], G[block[a + 3]]
                t0, t1, t2, t3 = moves[a], moves[a + 1], moves[a + 2], moves[a + 3]
                for i in range(m):
                    q[i] -= (r0[i] * t0 + r1[i] * t1) + (r2[i] * t2 + r3[i] * t3)
            for a in range(n - n % 4, n):
                row, t = G[block[a]], moves[a]
                for i in range(m):
                    q[i] -= row[i] * t


@tiered(lambda G, Q, W, l1, l2: 4e-7 * W.size * (2 + len(W)))
@njit(nogil=True)
def cd_rows(G, Q, W, l1, l2):
    """One sweep over the rows of W (several targets), each with its own norm as penalty; Q = Aᵀ(Y − A W) follows."""
    m, t = W.shape
    rho, move = np.empty(t), np.empty(t)
    for j in range(m):
        if G[j, j] <= 0.0:
            continue
        size = 0.0
        for k in range(t):
            rho[k] = Q[j, k] + G[j, j] * W[j, k]
            size += rho[k] * rho[k]
        size = np.sqrt(size)
        shrink = (1.0 - l1[j] / size) / (G[j, j] + l2[j]) if size > l1[j] else 0.0
        moved = False
        for k in range(t):
            new = shrink * rho[k]
            move[k] = new - W[j, k]
            moved = moved or move[k] != 0.0
            W[j, k] = new
        if moved:
            for i in range(m):
                g = G[j, i]
                for k in range(t):
                    Q[i, k] -= g * move[k]


@np.errstate(all="ignore")
def _gap(w, q, r2, l1, l2, positive):
    reach, ridge = q if positive else np.abs(q), bool(l2.any())
    if len(l1) and l1.min() > 0.0:
        shares = reach / l1
    else:
        shares = np.divide(reach, l1, out=np.where(reach > 0.0, np.inf, 0.0), where=l1 > 0.0)
    worst = np.fmax.reduce(shares, initial=0.0)
    c = 1.0 if worst <= 1.0 else 1.0 / worst
    cost, along, squares = l1 @ np.abs(w), q @ w, l2 @ (w * w) if ridge else 0.0
    best = 0.5 * (1.0 - c) * (1.0 - c) * r2 + cost - c * along + 0.5 * squares
    if c < 1.0 and ridge:
        excess = np.maximum(reach - l1, 0.0)
        far = excess > 0.0
        whole = cost - along + 0.5 * (squares + np.sum(excess[far] ** 2 / l2[far]))
        if whole < best:
            best, c = whole, 1.0
    return (0.0 if best < 0.0 else float(best)), float(c)


@tiered(lambda w, q, r2, l1, l2, positive: 3e-5 + 1e-8 * len(w), _gap)
@njit(nogil=True, fastmath=_DOT)
def gap(w, q, r2, l1, l2, positive):
    """A bound on the distance to the optimum, and the factor c: the dual point is c times the residual.

    Fenchel–Young terms, none negative. c = 1 wherever every slope may be reached; else the residual is shrunk until
    |c q| ≤ l1. With a ridge part both choices are allowed and the better one counts.
    """
    worst, cost, along, squares, ridge = 0.0, 0.0, 0.0, 0.0, False
    for j in range(len(w)):
        reach = q[j] if positive else abs(q[j])
        if not reach <= worst * l1[j]:
            worst = reach / l1[j] if l1[j] > 0.0 else np.inf
        cost += l1[j] * abs(w[j])
        along += q[j] * w[j]
        squares += l2[j] * w[j] * w[j]
        ridge = ridge or l2[j] > 0.0
    c = 1.0 if worst <= 1.0 else 1.0 / worst  # 0 where l1 was lost to underflow
    best = 0.5 * (1.0 - c) * (1.0 - c) * r2 + cost - c * along + 0.5 * squares
    if ridge and c < 1.0:
        over = 0.0
        for j in range(len(w)):
            excess = max((q[j] if positive else abs(q[j])) - l1[j], 0.0)
            if excess > 0.0:
                over += excess * excess / l2[j] if l2[j] > 0.0 else np.inf
        whole = cost - along + 0.5 * (squares + over)
        if whole < best:
            best, c = whole, 1.0
    return (0.0 if best < 0.0 else best), c


def _take(G, rows, out):
    out[:] = G[rows[:, None], rows]


@tiered(lambda G, rows, out: 1e-8 * out.size, _take)
@njit(nogil=True)
def take(G, rows, out):
    """out[a, b] = G[rows[a], rows[b]]."""
    k = len(rows)
    for a in range(k):
        i = rows[a]
        for b in range(k):
            out[a, b] = G[i, rows[b]]


def _centre(M, mean, total, scale):
    part = M[: len(mean), : len(mean)]
    part -= np.multiply.outer(total * mean, mean)
    part *= (1.0 / scale)[:, None]
    part /= scale


@tiered(lambda M, mean, total, scale: 1e-8 * M.size, _centre)
@njit(nogil=True)
def centre(M, mean, total, scale):
    """(M − total · mean meanᵀ) / (scale scaleᵀ) in place of the leading block of M, as wide as ``mean`` is long."""
    d = len(mean)
    for i in range(d):
        row, a, b = M[i], total * mean[i], 1.0 / scale[i]
        for j in range(d):
            row[j] = (row[j] - a * mean[j]) * b / scale[j]


@tiered(lambda G, q, m, rows, move: 2e-7 * m * len(rows))
@njit(nogil=True)
def follow(G, q, m, rows, move):
    """q −= G[:, rows] move, on the first m entries."""
    for a in range(len(rows)):
        j, t = rows[a], move[a]
        if t != 0.0:
            for i in range(m):
                q[i] -= G[j, i] * t


@njit(fastmath=_DOT)
def _dot(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@njit(nogil=True)
def cd_dense(A, r, w, norms, l1, l2, positive, order, epochs, tol):
    """Sweeps with the residual r = y − A w; A is Fortran-ordered, ``norms`` are its squared column norms."""
    largest = 0.0
    for _ in range(epochs):
        largest = 0.0
        for k in range(len(order)):
            j = order[k]
            g = norms[j]
            old = w[j]
            if g + l2[j] <= 0.0:
                continue
            a = A[:, j]
            new = _shrink(_dot(a, r) + g * old, l1[j], positive) / (g + l2[j])
            if new == old:
                continue
            move = new - old
            w[j] = new
            for i in range(len(r)):
                r[i] -= a[i] * move
            size = abs(move) * np.sqrt(g)
            if size > largest:
                largest = size
        if largest <= tol:
            break
    return largest


@njit(nogil=True)
def cd_sparse(data, indices, indptr, root, mean, total, r, w, norms, l1, l2, positive, order, epochs, tol):
    """Sweeps for columns √s(x − mean) of a sparse X, which are never formed.

    ``root`` is √s, ``total`` Σs; the residual must be orthogonal to √s (centred target) unless every mean is zero.
    r is kept as (stored part) − shift·√s, so that a move costs only the stored entries of a column.
    """
    shift, largest = 0.0, 0.0
    for _ in range(epochs):
        largest = 0.0
        for k in range(len(order)):
            j = order[k]
            g = norms[j]
            old = w[j]
            if g + l2[j] <= 0.0:
                continue
            rho = -shift * total * mean[j]
            for p in range(indptr[j], indptr[j + 1]):
                i = indices[p]
                rho += data[p] * root[i] * r[i]
            new = _shrink(rho + g * old, l1[j], positive) / (g + l2[j])
            if new == old:
                continue
            move = new - old
            w[j] = new
            for p in range(indptr[j], indptr[j + 1]):
                i = indices[p]
                r[i] -= data[p] * root[i] * move
            shift -= move * mean[j]
            size = abs(move) * np.sqrt(g)
            if size > largest:
                largest = size
        if largest <= tol:
            break
    for i in range(len(r)):
        r[i] -= shift * root[i]
    return largest


@njit(nogil=True)
def _spread(data, indices, indptr, q, r, j, a, first, second):
    """first[a] = Σᵢ xᵢⱼ Hᵢ and second[a] = the diagonal of Σᵢ xᵢⱼ² Hᵢ for a column j, or for that of ones."""
    n, K = q.shape
    ones = j == len(indptr) - 1
    for k in range(K):
        second[a, k] = 0.0
        for c in range(K):
            first[a, k, c] = 0.0
    for p in range(0 if ones else indptr[j], n if ones else indptr[j + 1]):
        i = p if ones else indices[p]
        x = 1.0 if ones else data[p]
        for k in range(K):
            first[a, k, k] += x * q[i, k]
            second[a, k] += x * x * (q[i, k] - r[i, k] * r[i, k])
            for c in range(K):
                first[a, k, c] -= x * r[i, k] * r[i, c]


@njit(nogil=True)
def _bends(data, indices, indptr, q, r, mean, scale, which, ridge, along, bend):
    """Σᵢ xᵢⱼ Hᵢ of the columns of `cd_curved`, and last of that of ones, and the diagonal of Σᵢ Aᵢⱼ² Hᵢ + ridge."""
    d, m = len(mean), len(which)
    _spread(data, indices, indptr, q, r, d, m, along, bend)
    for a in range(m):
        j = which[a]
        _spread(data, indices, indptr, q, r, j, a, along, bend)
        for k in range(q.shape[1]):
            if j < d:
                middle = mean[j] * (2.0 * along[a, k, k] - mean[j] * along[m, k, k])
                bend[a, k] = max(bend[a, k] - middle, 0.0) / (scale[j] * scale[j])
            bend[a, k] += ridge[a]


@njit(nogil=True)
def cd_curved(data, indices, indptr, q, r, mean, scale, which, start, G, w, l1, ridge, share, most):
    """Minimise ⟨G, δ⟩ + ½ Σᵢ (Aδ)ᵢ Hᵢ (Aδ)ᵢᵀ + ½ Σ ridgeⱼ‖δⱼ‖² + Σ l1ⱼₖ|wⱼₖ| with δ = w − start, over some coordinates.

    A = ((x − mean)/scale, 1) of a sparse X by columns, which is never formed: ``which`` are the columns, and len(mean)
    is the one of ones. There are K scores a row: G, w, l1 and start are (m, K), and the curvature of a row is
    Hᵢ = diag(qᵢ) − rᵢrᵢᵀ. The rows only enter through uᵢ = Hᵢ(stored part of Aδ)ᵢ; what centring and the ones add to
    Aδ is the same for all rows. Sweeps over what is not zero come between sweeps over all, until what further ones
    would gain, as far as their falling gains tell, is this share of the whole gain (then True is returned), or there
    were so many.
    """
    d, m, (n, K) = len(mean), len(which), q.shape
    along, bend, u = np.empty((m + 1, K, K)), np.empty((m + 1, K)), np.zeros((n, K))
    _bends(data, indices, indptr, q, r, mean, scale, which, ridge, along, bend)
    shift, total, every = np.zeros(K), np.zeros(K), True
    gain, before = 0.0, 0.0
    for sweep in range(most):
        fall = 0.0
        for a in range(m):
            j = which[a]
            for k in range(K):
                if bend[a, k] <= 0.0 or (not every and w[a, k] == 0.0 and l1[a, k] > 0.0):
                    continue
                slope = total[k]
                if j < d:
                    slope = -mean[j] * total[k]
                    for c in range(K):
                        slope += shift[c] * along[a, k, c]
                    for p in range(indptr[j], indptr[j + 1]):
                        slope += data[p] * u[indices[p], k]
                    slope /= scale[j]
                slope += G[a, k] + ridge[a] * (w[a, k] - start[a, k])
                new = _shrink(bend[a, k] * w[a, k] - slope, l1[a, k], False) / bend[a, k]
                move = new - w[a, k]
                if move == 0.0:
                    continue
                fall += bend[a, k] * move * move
                w[a, k] = new
                if j == d:
                    shift[k] += move
                    for c in range(K):
                        total[c] += move * along[m, c, k]
                    continue
                step = move / scale[j]
                for p in range(indptr[j], indptr[j + 1]):
                    i = indices[p]
                    x = data[p] * step
                    u[i, k] += q[i, k] * x
                    if K > 1:
                        x *= r[i, k]
                        for c in range(K):
                            u[i, c] -= r[i, c] * x
                shift[k] -= step * mean[j]
                for c in range(K):
                    total[c] += step * (along[a, c, k] - mean[j] * along[m, c, k])
        gain += fall
        rate = min(fall / before, 0.999) if before > 0.0 else 0.5
        settled = fall * rate <= share * gain * (1.0 - rate)
        before = 0.0 if every else fall
        if every and (fall == 0.0 or (settled and sweep > 0)):
            return True
        every = settled and not every
    return False


def warm() -> None:
    """Compile every loop."""
    A = np.asfortranarray(np.array([[1.0, 0.5], [0.0, 1.0], [2.0, 1.0]]))
    y, w, G = np.array([1.0, 2.0, 3.0]), np.zeros(2), np.ascontiguousarray(A.T @ A)
    l1, l2, order = np.full(2, 0.1), np.zeros(2), np.arange(2)
    cd_gram(G, A.T @ y, w.copy(), 2, l1, l2, False, order, 1, 0.0)
    cd_blocks(G, A.T @ y, w.copy(), l1, l2, False, order, 2, 1, 1)
    gap(w, A.T @ y, 1.0, l1, l2, False)
    centre(G.copy(), w, 3.0, np.ones(2))
    cd_rows(G, np.zeros((2, 1)), np.zeros((2, 1)), l1, l2)
    take(G, order, np.empty((2, 2)))
    follow(G, A.T @ y, 2, order, np.ones(2))
    norms = np.diag(G).copy()
    cd_dense(A, y.copy(), w.copy(), norms, l1, l2, False, order, 1, 0.0)
    for kind in (np.int32, np.int64):
        indices, indptr = np.array([0, 2, 0, 1, 2], dtype=kind), np.array([0, 2, 5], dtype=kind)
        data = np.array([1.0, 2.0, 0.5, 1.0, 1.0])
        cd_sparse(data, indices, indptr, np.ones(3), np.zeros(2), 3.0, y.copy(), w, norms, l1, l2, False, order, 1, 0.0)
        one, two = np.ones((3, 1)), np.ones((2, 1))
        cd_curved(data, indices, indptr, one, one, w, l1, order, two, two, two.copy(), two, l2, 0.1, 1)
