"""The quadratic kernel: (xᵀz)² is the inner product of all m² products, without ever forming them.

The features of (xᵀz)² are the products xᵢxⱼ, m² of them. Their inner product takes O(m²) work; the kernel gives the
same number with one inner product of length m and one multiplication.
"""

from collections.abc import Callable

import numpy as np

from certifit._types import Array, Figure, Matrix, Record
from certifit.kernels import FeatureMap, Polynomial, mercer
from certifit.plot import palette


def products(X: Matrix) -> Array:
    """All m² products of the columns, row by row."""
    return np.asarray(np.einsum("ni,nj->nij", X, X).reshape(len(X), -1))


def run(say: Callable[[str], object] = print) -> Record:
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
    few = rng.normal(size=(8, 6))
    upper = np.triu_indices(8)
    values = Polynomial(degree=2, offset=0.0)(few)[upper], FeatureMap(products)(few)[upper]
    return {
        "sizes": sizes,
        "difference": max(difference),
        "work": work,
        "verdict": verdict,
        "pair": (few[0], few[1]),
        "values": values,
    }


def draw(numbers: Record) -> Figure:
    """What is formed for one value, that both ways agree, and how the work grows."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.6), layout="constrained")
    cells, pairs, work = axes
    x, z = numbers["pair"]
    m = len(x)
    whole = np.full((m + 3, m), np.nan)
    whole[:m] = np.outer(x, x) * np.outer(z, z)
    whole[m + 2] = x * z
    size = float(np.nanmax(np.abs(whole)))
    cells.imshow(whole, cmap="PuOr", vmin=-size, vmax=size)
    cells.text(m / 2 - 0.5, m + 0.6, f"sum of {m * m} products = {np.nansum(whole[:m]):.4g}", ha="center", va="center")
    square = float(x @ z) ** 2
    cells.text(m / 2 - 0.5, m + 3.1, f"(sum of {m} products)² = {square:.4g}", ha="center", va="center")
    cells.set(xticks=[], yticks=[], ylim=(m + 3.6, -0.5), title=f"one value, m = {m}")
    cells.spines[:].set_visible(False)
    by_kernel, by_features = numbers["values"]
    span = [0.0, float(np.max(by_kernel)) * 1.05]
    pairs.plot(span, span, color=palette().faint, linewidth=1.0, zorder=0)
    pairs.plot(by_features, by_kernel, "o")
    pairs.set(xlabel="by m² features", ylabel="by the kernel", title="the same number")
    work.loglog(numbers["sizes"], [w[1] for w in numbers["work"]], "o-", color="C1", label="m² features")
    work.loglog(numbers["sizes"], [w[0] for w in numbers["work"]], "o-", color="C0", label="kernel")
    most, least = numbers["work"][-1][1], numbers["work"][-1][0]
    at = numbers["sizes"][-1]
    work.annotate("", (at, least), (at, most), arrowprops={"arrowstyle": "<->", "color": palette().ink})
    work.text(at * 0.85, least * 6.0, f"{most / least:.0f} times", ha="right", va="center")
    work.set(title="fewer multiplications", xlabel="columns m", ylabel="multiplications")
    work.legend()
    return figure
