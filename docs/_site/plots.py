"""Draws docs/images/plots.png, the picture of the page on pictures: ``python -m docs._site.plots``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from certifit import metrics, plot
from certifit.bayes.conjugate import BetaBernoulli
from certifit.linear_model import LogisticRegression, Perceptron, Ridge
from certifit.svm import SVC


def main() -> None:
    """Six pictures on one sheet."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal((-1.2, 0), 0.7, (40, 2)), rng.normal((1.2, 0.5), 0.7, (40, 2))])
    y = np.repeat(["no", "yes"], 40)
    alphas = np.logspace(-2, 4, 30)
    Z = rng.normal(size=(60, 5))
    t = Z @ [3.0, -2.0, 1.0, 0.0, 0.5] + rng.normal(size=60)
    path = [Ridge(a).fit(Z, t).coef_ for a in alphas]
    with plot.style():
        sheet = Figure(figsize=(12, 7), layout="constrained")
        axes = sheet.subplots(2, 3).ravel()
        model = LogisticRegression().fit(X, y)
        plot.decision_regions(model, X, y, ax=axes[0])
        plot.margins(SVC(kernel="rbf").fit(X, y), X, y, ax=axes[1])
        plot.perceptron_steps(Perceptron(shuffle=False, trace=True).fit(X, y), X, y, ax=axes[2])
        plot.regularization_path(alphas, path, ax=axes[3], chosen=10.0)
        plot.roc(metrics.roc(y, X[:, 0] + rng.normal(size=80)), ax=axes[4])
        plot.posterior(BetaBernoulli(1, 1), [1, 1, 1, 0, 1, 0, 1], ax=axes[5])
        sheet.savefig(Path(__file__).parent.parent / "images" / "plots.png", dpi=110)


if __name__ == "__main__":
    main()
