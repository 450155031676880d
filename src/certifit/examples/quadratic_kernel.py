"""The quadratic kernel: (xᵀz)² is the inner product of all m² products, without ever forming them.

The features of (xᵀz)² are the products xᵢxⱼ, m² of them. Their inner product takes O(m²) work; the kernel gives the
same number with one inner product of length m and one multiplication.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from certifit._types import Matrix, Record
from certifit.kernels import FeatureMap, Polynomial, mercer


def products(X: Matrix) -> Any:
    """All m² products of the columns, row by row."""
    return np.einsum("ni,nj->nij", X, X).reshape(len(X), -1)


def run(say: Callable[[str], Any] = print) -> Record:
    """Tell the story; return the largest difference and the counts of multiplications."""
    rng = np.random.default_rng(0)
    sizes, difference, work = [2, 10, 50, 200], [], []
    for m in sizes:
        X = rng.normal(size=(20, m))
        by_kernel = Polynomial(degree=2, offset=0.0)(X)
        by_features = FeatureMap(products)(X)
        difference.append(float(np.max(np.abs(by_kernel - by_features) / np.abs(by_features).max())))
        work.append((m + 1, 2 * m * m + m * m))
        say(f"m = {m}: largest relative difference {difference[-1]:.1e}; multiplications {m + 1} against {3 * m * m}")
    verdict = mercer(Polynomial(degree=2, offset=0.0)).verdict
    say(f"the kernel is {verdict} by construction")
    return {"sizes": sizes, "difference": max(difference), "work": work, "verdict": verdict}


def draw(numbers: Record) -> Any:
    """Multiplications for one value, by kernel and by features."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 3.5))
    axes.loglog(numbers["sizes"], [w[1] for w in numbers["work"]], "o-", label="m² features")
    axes.loglog(numbers["sizes"], [w[0] for w in numbers["work"]], "o-", label="kernel")
    axes.set(title="work for one value of (xᵀz)²", xlabel="columns m", ylabel="multiplications")
    axes.legend()
    figure.tight_layout()
    return figure
