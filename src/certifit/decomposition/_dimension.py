"""How many components: a fraction of the variance, or Minka's Bayesian choice."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from certifit._types import Array


def components_for_share(variances: Array, total: float, share: float) -> int:
    """The fewest components that keep more than a fraction of the variance."""
    kept = np.cumsum(variances / total) if total > 0 else np.ones_like(variances)  # shares, summed as users do
    return min(int(np.searchsorted(kept, share, side="right")) + 1, len(variances))


def most_probable_dimension(variances: Array, n: float) -> int:
    r"""Laplace's approximation to log p(data | k components), maximised over 1 ≤ k < d.

    .. math:: \log p(U) - \tfrac n2 \sum_{i \le k} \log\lambda_i - \tfrac{n(d-k)}{2}\log v
              + \tfrac{m+k}{2}\log 2\pi - \tfrac12 \log|A_Z| - \tfrac k2 \log n

    with v the mean left-out variance and m = dk − k(k+1)/2 (T. P. Minka, "Automatic choice of dimensionality for
    PCA", NIPS 2000, equation 30).
    """
    d = len(variances)
    if d < 2:
        return min(d, 1)
    scores = [_log_evidence(variances, k, n) for k in range(1, d)]
    return int(np.argmax(scores)) + 1


def _log_evidence(variances: Array, k: int, n: float) -> float:
    d, tiny = len(variances), 1e-15
    if variances[k - 1] < tiny:
        return -np.inf
    left = np.arange(d, d - k, -1) / 2.0
    log_pu = -k * np.log(2.0) + float(np.sum(gammaln(left) - left * np.log(np.pi)))
    noise = max(tiny, float(variances[k:].mean()))
    m = d * k - k * (k + 1) / 2.0
    filled = np.concatenate([variances[:k], np.full(d - k, noise)])
    i, j = np.triu_indices(d, 1)
    i, j = i[i < k], j[i < k]
    with np.errstate(divide="ignore", invalid="ignore"):
        log_az = float(np.sum(np.log((variances[i] - variances[j]) * (1 / filled[j] - 1 / filled[i])) + np.log(n)))
    score = log_pu - n / 2 * (np.log(variances[:k]).sum() + (d - k) * np.log(noise))
    score += (m + k) / 2 * np.log(2 * np.pi) - log_az / 2 - k / 2 * np.log(n)
    return float(score) if np.isfinite(score) else -np.inf
