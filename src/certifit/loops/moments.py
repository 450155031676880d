"""Means and sums of squared deviations per class in one read of the data, and Gaussian class scores.

Stability. Rows are taken in blocks. Inside a block the deviations from the class means seen so far are summed
(any shift within the range of the data is good; the running mean is about the best), and at its end the block
is merged by the update of Chan, Golub and LeVeque. Sums are therefore at most a block long, and columns such as
10⁸ ± 1 keep their variance to nearly all digits.

Convention: ``total`` (K,) is the weight per class, ``mean`` (K, d), ``scatter`` (K, d) = Σ w (x − mean)²; ``rest``
(K, d) is what rounding took from the means.
"""

from __future__ import annotations

import numpy as np

from certifit._types import Array
from certifit.loops._jit import njit
from certifit.loops._tiers import tiered

_BLOCK = 2048


@njit()
def _merge(total, mean, rest, scatter, w, s, q):
    """Absorb a block's weight w, sums s and squares q of the deviations from ``mean``; clear the block.

    The true class mean is ``mean + rest``: what rounding takes from the one is kept in the other, since at 10⁸
    a mean is only good to 10⁻⁸ and its error would enter the squares.
    """
    K, d = mean.shape
    for c in range(K):
        if w[c] > 0.0:
            new = total[c] + w[c]
            for j in range(d):
                block = s[c, j] / w[c]
                gap = block - rest[c, j]
                scatter[c, j] += (q[c, j] - s[c, j] * block) + (total[c] * w[c] / new) * gap * gap
                shift = rest[c, j] + gap * (w[c] / new)
                moved = mean[c, j] + shift
                rest[c, j] = shift - (moved - mean[c, j])
                mean[c, j] = moved
                s[c, j] = 0.0
                q[c, j] = 0.0
            total[c] = new
            w[c] = 0.0


@njit()
def _first_rows(X, code, weight, total, mean):
    """Start each class that has no weight yet at the first of its rows that has."""
    K, d = mean.shape
    seen = total > 0.0
    left = K - seen.sum()
    for i in range(X.shape[0] if left else 0):
        c = code[i]
        if not seen[c] and (weight.shape[0] == 0 or weight[i] > 0.0):
            seen[c] = True
            for j in range(d):
                mean[c, j] = X[i, j]
            left -= 1
            if left == 0:
                break


@tiered(lambda X, code, weight, total, mean, rest, scatter: 1e-6 * X.size)
@njit(nogil=True, fastmath={"contract"})
def class_moments(X, code, weight, total, mean, rest, scatter):
    """Add rows X with class ``code`` to ``total``, ``mean`` (and its ``rest``) and ``scatter``, which begin as zeros.

    ``weight`` of length 0 means ones.
    """
    n, d = X.shape
    K = total.shape[0]
    _first_rows(X, code, weight, total, mean)
    w = np.zeros(K)
    s = np.zeros((K, d))
    q = np.zeros((K, d))
    unit = weight.shape[0] == 0
    size = max(_BLOCK, 8 * K)
    for start in range(0, n, size):
        stop = min(n, start + size)
        if unit:
            for i in range(start, stop):
                c = code[i]
                w[c] += 1.0
                for j in range(d):
                    t = X[i, j] - mean[c, j]
                    s[c, j] += t
                    q[c, j] += t * t
        else:
            for i in range(start, stop):
                c = code[i]
                a = weight[i]
                if a > 0.0:
                    w[c] += a
                    for j in range(d):
                        t = X[i, j] - mean[c, j]
                        s[c, j] += a * t
                        q[c, j] += a * t * t
        _merge(total, mean, rest, scatter, w, s, q)
    for c in range(K):
        for j in range(d):
            scatter[c, j] = max(scatter[c, j], 0.0) if scatter[c, j] == scatter[c, j] else np.inf


@tiered(lambda X, code, weight, total, mean, scatter: 2e-6 * X.size)
@njit()
def class_moments_missing(X, code, weight, total, mean, scatter):
    """As `class_moments`, NaN cells skipped: ``total`` is (K, d), the weight of the cells that are there."""
    n, d = X.shape
    for i in range(n):
        c = code[i]
        a = weight[i] if weight.shape[0] > 0 else 1.0
        if a <= 0.0:
            continue
        for j in range(d):
            x = X[i, j]
            if x == x:
                new = total[c, j] + a
                t = x - mean[c, j]
                mean[c, j] += t * (a / new)
                scatter[c, j] += a * t * (x - mean[c, j])
                total[c, j] = new


@tiered(lambda X, mean, half_precision, constant, out: 5e-7 * X.size * len(constant))
@njit(fastmath={"reassoc", "contract"})
def gaussian_scores(X, mean, half_precision, constant, out):
    """out[i, c] = constant[c] − Σⱼ half_precision[c, j] (X[i, j] − mean[c, j])²."""
    n, d = X.shape
    K = constant.shape[0]
    for i in range(n):
        for c in range(K):
            r = 0.0
            for j in range(d):
                t = X[i, j] - mean[c, j]
                r += half_precision[c, j] * t * t
            out[i, c] = constant[c] - r


@tiered(lambda X, mean, half_precision, constant, out: 5e-7 * X.size * len(constant))
@njit(fastmath={"reassoc", "contract"})
def gaussian_labels(X, mean, half_precision, constant, out):
    """out[i] = the class of the largest Gaussian score (the first of equals); returns how many rows had none.

    A row has none when no score is a finite number: a NaN, an infinity or an overflow is among its cells.
    """
    n, d = X.shape
    K = constant.shape[0]
    bad = 0
    for i in range(n):
        best = -np.inf
        label = -1
        for c in range(K):
            r = 0.0
            for j in range(d):
                t = X[i, j] - mean[c, j]
                r += half_precision[c, j] * t * t
            score = constant[c] - r
            if score > best:
                best = score
                label = c
        if label < 0:
            bad += 1
            label = 0
        out[i] = label
    return bad


@tiered(lambda X, code, weight, start, out: 7e-7 * X.size)
@njit()
def category_counts(X, code, weight, start, out):
    """out[code[i], start[j] + X[i, j]] += weight[i] for every cell with X[i, j] ≥ 0 (negative: missing)."""
    n, d = X.shape
    unit = weight.shape[0] == 0
    for i in range(n):
        a = 1.0 if unit else weight[i]
        for j in range(d):
            if X[i, j] >= 0:
                out[code[i], start[j] + X[i, j]] += a


def warm() -> None:
    """Compile for float64 and float32 rows."""
    code = np.array([0, 1], dtype=np.int64)
    for dtype in (np.float64, np.float32):
        X: Array = np.zeros((2, 3), dtype=dtype)
        for weight in (np.zeros(0),):
            class_moments(X, code, weight, np.zeros(2), np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3)))
        gaussian_scores(X, np.zeros((2, 3)), np.ones((2, 3)), np.zeros(2), np.zeros((2, 2)))
        gaussian_labels(X, np.zeros((2, 3)), np.ones((2, 3)), np.zeros(2), np.zeros(2, dtype=np.int64))
    X64 = np.zeros((2, 3))
    class_moments_missing(X64, code, np.zeros(0), np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3)))
    cells = np.zeros((2, 3), dtype=np.int64)
    category_counts(cells, code, np.zeros(0), np.array([0, 1, 2], dtype=np.int64), np.zeros((2, 3)))
