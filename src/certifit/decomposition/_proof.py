"""How much slack a proof of principal components asks for (the trusted part only sees the number)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from certifit._types import Array, Named
from certifit.certificates import Data
from certifit.certificates.spectrum import covariance, gram, largest


def _variance(data: Data) -> float:
    """Sum of the column variances."""
    X = data.X
    w = data.weights / (data.weights.sum() - 1.0)
    mean = np.asarray(X.T @ data.weights).ravel() / data.weights.sum()
    if hasattr(X, "multiply"):
        return float((X.multiply(X).T @ w).sum() - mean @ mean * data.weights.sum() / (data.weights.sum() - 1.0))
    return float(sum(w[i : i + 4096] @ ((X[i : i + 4096] - mean) ** 2).sum(axis=1) for i in range(0, len(X), 4096)))


def rounding_slack(data: Data, dtype: npt.DTypeLike, spread: float | None = None) -> float:
    """What rounding may cost on an exact road: a small multiple of the machine's precision times the variance.

    ``spread`` is that variance where the model knows it.
    """
    n, d = data.X.shape
    rows = max(256, (1 << 16) // d)
    steps = 16.0 * (min(n, rows) + n / rows + d) * 2.0**-53
    stored = 64.0 * float(np.finfo(dtype).eps)
    spread = _variance(data) if spread is None else spread
    # Rows far from zero: X − mean is exact to its own rounding, but the mean is stored with its own spacing.
    size = largest(data.X)
    mean = d * float(np.square(float(np.finfo(dtype).eps) * size)) * 16.0  # infinite where it overflows
    if hasattr(data.X, "multiply"):
        mean += 64.0 * 2.0**-53 * d * float(np.square(size))  # sparse rows are centred after the product
    return float((steps + stored) * spread + mean)


def measured_slack(data: Data, evidence: Named) -> float:
    """What an approximate subspace really needs: the largest eigenvalue it missed."""
    U, values = np.asarray(evidence["components"]), np.asarray(evidence["variances"])
    n, d = data.X.shape
    if d <= n:
        A: Array = covariance(data, np.asarray(evidence["mean"]))[0].mid
        V = U
    else:
        ball, T, _ = gram(data, np.asarray(evidence["mean"]))
        A = ball.mid
        V = T.mid @ U.T
        V = (V / np.linalg.norm(V, axis=0)).T
    mu = values[-1]
    rest = A - (V.T * (values - mu)) @ V
    missed = float(np.linalg.eigvalsh((rest + rest.T) / 2)[-1]) - mu
    return float(1.01 * max(missed, 0.0) + rounding_slack(data, np.float64))
