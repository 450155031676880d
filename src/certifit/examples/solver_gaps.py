"""How far from the optimum do scikit-learn's solvers stop?

Six solvers minimise the same logistic loss on the same table (breast cancer, 569 × 30), each at its default tolerance.
`certify` proves how far above the smallest possible objective each one stopped (`excess`), and how many training labels
would change there: first on the raw columns, which range from 1e-3 to 4e3, then on standardised ones. liblinear
penalises the offset as well and is compared with the optimum of that objective.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from certifit._types import Figure, Record

SOLVERS = ("lbfgs", "newton-cg", "newton-cholesky", "liblinear", "sag", "saga")


def run(say: Callable[[str], None] = print) -> Record:
    """Certify every solver, and certifit's own, on raw and on standardised columns."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression as Theirs

    import certifit as cf
    from certifit.linear_model import LogisticRegression

    X, y = load_breast_cancer(return_X_y=True)
    tables = {"raw": X, "standardised": (X - X.mean(axis=0)) / X.std(axis=0)}
    found: dict[str, Any] = {}
    for kind, Z in tables.items():
        say(f"{kind} columns")
        rows: dict[str, tuple[float, int]] = {}
        for solver in SOLVERS:
            with warnings.catch_warnings(action="ignore"):
                model = Theirs(solver=solver, random_state=0).fit(Z, y)
            c = cf.certify(model, Z, y)
            rows[solver] = (c.excess, c.changed)
        ours = LogisticRegression().fit(Z, y)
        rows["certifit"] = (ours.certificate_.excess, 0)
        for name, (excess, changed) in rows.items():
            size = f"{100 * excess:8.3g} %" if excess > 1e-6 else f"{excess:8.0e}  "
            say(f"  {name:<16}{size} above the smallest objective; {changed:3d} of {len(y)} labels change there")
        say(f"  certifit: {int(ours.certain(Z).sum())} of {len(y)} labels are proved to be the optimum's")
        found[kind] = rows
    return found


def _size(excess: float) -> str:
    return f"{100 * excess:.3g} %" if excess >= 1e-3 else f"{excess:.0e}"


def draw(numbers: Record) -> Figure:
    """Bars of how far above the smallest objective each solver stopped, on a logarithmic scale."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.0), sharey=True, layout="constrained")
    for ax, (kind, rows) in zip(axes, numbers.items()):
        names = list(rows)
        gaps = [max(rows[n][0], 1e-17) for n in names]
        colours = ["C0" if n == "certifit" else "C1" for n in names]
        ax.barh(names, [np.log10(g) + 17 for g in gaps], left=-17, color=colours)
        for i, n in enumerate(names):
            changed = f"  {rows[n][1]} labels change" if rows[n][1] else ""
            ax.text(np.log10(gaps[i]) + 0.2, i, f"{_size(gaps[i])}{changed}", va="center", fontsize=8)
        ax.set_xlim(-17, 6)
        ax.set_xticks([-16, -12, -8, -4, 0], ["1e-16", "1e-12", "1e-8", "1e-4", "1"])
        ax.set_title(f"{kind} columns", fontsize=10)
        ax.set_xlabel("relative distance above the smallest objective", fontsize=9)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].invert_yaxis()
    return figure
