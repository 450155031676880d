"""Distances concentrate as the dimension grows

In a cube of many dimensions all points are about equally far from each other: the mean squared distance between
two uniform points grows like d/6, its standard deviation only like √(7d/180). "Nearest" then says
little, and a k-d tree can exclude nothing. The ratio of the nearest to the farthest distance shows it, and
so does the certificate: the separation between the fifth neighbour and the rest, as a fraction of the distance,
shrinks.
"""

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist

from certifit._types import Figure, Record
from certifit.neighbors import KNeighborsClassifier
from certifit.plot import palette

DIMENSIONS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500)
ROWS, QUERIES = 1000, 50


def run(say: Callable[[str], object] = print) -> Record:
    """Nearest over farthest distance, and the relative spread, for growing dimension."""
    rng = np.random.default_rng(0)
    ratio, spread, theory, proved = [], [], [], []
    for d in DIMENSIONS:
        X, Q = rng.uniform(size=(ROWS, d)), rng.uniform(size=(QUERIES, d))
        squares = cdist(Q, X, "sqeuclidean")
        ratio.append(float(np.mean(np.sqrt(squares.min(axis=1) / squares.max(axis=1)))))
        spread.append(float(squares.std() / squares.mean()))
        theory.append(float(np.sqrt(7 * d / 180) / (d / 6)))
        model = KNeighborsClassifier(n_neighbors=5).fit(X, np.zeros(ROWS))
        proofs = [model.certificate_for(q[None], 5) for q in Q[:5]]
        proved.append(float(np.mean([c.separation / c.farthest for c in proofs])))
        say(
            f"d = {d:>3}: nearest/farthest {ratio[-1]:.3f}; spread of squared distances {spread[-1]:.3f} "
            f"(theory {theory[-1]:.3f}); proved separation of the 5th {proved[-1]:.2%}"
        )
    return {
        "dimensions": list(DIMENSIONS),
        "ratio": ratio,
        "spread": spread,
        "theory": theory,
        "proved": proved,
    }


def draw(numbers: Record) -> Figure:
    """Both curves against the dimension."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    left.semilogx(numbers["dimensions"], numbers["ratio"], "o-", color="C1")
    left.set(xlabel="dimension", ylabel="nearest ÷ farthest distance", ylim=(0, 1))
    left.set_title("The nearest point is hardly nearer than the rest")
    right.loglog(numbers["dimensions"], numbers["spread"], "o", color="C0", label="seen")
    right.loglog(numbers["dimensions"], numbers["theory"], "-", color=palette().faint, label="√(7d/180) ÷ (d/6)")
    right.set(xlabel="dimension", ylabel="deviation ÷ mean of squared distances")
    right.set_title("Squared distances concentrate like 1/√d")
    right.legend(frameon=False)
    return figure
