"""Strong duality and the KKT conditions of a soft-margin SVM, as numbers.

Two overlapping clusters and a linear SVM with C = 1. Each row has a multiplier α: 0 for rows beyond their margin, C for
rows inside it, and something between for the few rows exactly on H⁺ or H⁻, which fix the hyperplane. The primal
objective and the dual one meet, and that is the proof.
"""

from collections.abc import Callable

import numpy as np

from certifit._types import Figure, Record
from certifit.plot import palette
from certifit.svm import SVC


def run(say: Callable[[str], object] = print) -> Record:
    """Tell the story; return both objective values, the KKT table and the picture's data."""
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal((-1.2, 0.0), 1.0, (30, 2)), rng.normal((1.2, 0.5), 1.0, (30, 2))])
    y = np.repeat([-1, 1], 30)
    model = SVC(kernel="linear", tol=1e-8).fit(X, y)
    c = model.certificate_
    alpha = np.zeros(len(y))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    margin = y * model.decision_function(X)
    table = {}
    for name, rows in (
        ("α = 0", alpha == 0),
        ("0 < α < C", (alpha > 0) & (alpha < 1.0)),
        ("α = C", alpha == 1.0),
    ):
        table[name] = (int(rows.sum()), float(margin[rows].min()), float(margin[rows].max()))
        say(f"{name:>10}: {rows.sum():3d} rows, margins from {margin[rows].min():.4f} to {margin[rows].max():.4f}")
    say(f"primal {c.value:.8f}, dual {c.bound:.8f}: gap {c.gap:.1e}")
    say(str(c.claim))
    return {
        "primal": c.value,
        "dual": c.bound,
        "gap": c.gap,
        "table": table,
        "balance": float(np.sum(model.dual_coef_)),
        "picture": (X, y, alpha, model.coef_[0], float(model.intercept_[0])),
    }


def draw(numbers: Record) -> Figure:
    """Rows by KKT case, the hyperplane, H⁺ and H⁻."""
    import matplotlib.pyplot as plt

    X, y, alpha, w, b = numbers["picture"]
    figure, axes = plt.subplots(figsize=(5.5, 4.5))
    for side, color in ((-1, "C0"), (1, "C1")):
        rows = y == side
        axes.scatter(X[rows, 0], X[rows, 1], s=12 + 40 * alpha[rows], color=color, alpha=0.7)
    on = (alpha > 0) & (alpha < 1)
    axes.scatter(X[on, 0], X[on, 1], s=120, facecolors="none", edgecolors=palette().ink, label="0 < α < C: on H⁺ or H⁻")
    line = np.linspace(X[:, 1].min(), X[:, 1].max(), 2)
    for level, style in ((-1.0, ":"), (0.0, "-"), (1.0, ":")):
        axes.plot((level - b - w[1] * line) / w[0], line, style, color=palette().ink)
    axes.set(title="size of a point: its multiplier α")
    axes.legend(fontsize=8)
    figure.tight_layout()
    return figure
