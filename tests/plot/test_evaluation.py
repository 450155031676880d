"""Every picture shows the figures of its record, in the house style."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

from certifit import metrics, plot
from certifit import model_selection as ms


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    return X, X[:, 0] + rng.normal(size=80), (X[:, 0] + rng.normal(size=80) > 0).astype(int)


def _shown(ax):
    assert isinstance(ax, Axes)
    ax.figure.canvas.draw()
    assert not ax.spines["top"].get_visible()
    return ax


def test_figures_of_predictions(data):
    X, _, c = data
    p = LogisticRegression().fit(X, c).predict_proba(X)[:, 1]
    matrix = metrics.confusion(c, p > 0.5)
    ax = _shown(plot.confusion(matrix))
    assert sum(int(t.get_text().split("\n")[0]) for t in ax.texts) == 80
    curve = metrics.roc(c, p)
    ax = _shown(plot.roc(curve, label="model"))
    assert f"{curve.auc:.3f}" in ax.get_legend().get_texts()[0].get_text()
    assert np.array_equal(ax.lines[0].get_ydata(), curve.tpr)
    again = plot.roc(metrics.roc(c, X[:, 1]), ax=ax, band=False)
    assert again is ax
    _shown(plot.precision_recall(metrics.precision_recall(c, p)))
    _shown(plot.calibration(metrics.calibration(c, p, bins=5)))


def test_figures_of_judgements(data):
    X, y, _ = data
    result = ms.cross_validate(Ridge(), X, y, cv=5)
    ax = _shown(plot.cross_validation(result))
    assert np.array_equal(ax.lines[-1].get_ydata(), result["test_score"])
    search = ms.Search(Ridge(), {"alpha": np.logspace(-2, 3, 6), "fit_intercept": [True, False]}).fit(X, y)
    ax = _shown(plot.search(search))
    assert ax.get_xlabel() == "alpha"
    assert ax.lines[1].get_xdata()[0] == search.best_params_["alpha"]
    assert _shown(plot.search(search, name="fit_intercept")).get_xlabel() == "fit_intercept"
    _shown(plot.curve(ms.learning_curve(Ridge(), X, y, train_sizes=[20, 60])))
    _shown(plot.curve(ms.validation_curve(Ridge(), X, y, param_name="alpha", param_range=[0.1, 10, 1000])))
    _shown(plot.comparison(ms.compare([Ridge(), LinearRegression()], X, y, cv=3)))
    parts = [ms.bias_variance(Ridge(a), X, y, rounds=10) for a in (1.0, 100.0)]
    ax = _shown(plot.bias_variance(parts, [1.0, 100.0], name="alpha"))
    assert ax.lines[0].get_ydata() == pytest.approx([p.total for p in parts])
    _shown(plot.bootstrap(ms.bootstrap(Ridge(), X, y, rounds=10)))
    _shown(plot.leakage(ms.leakage_check(Ridge(), X, y, rounds=3)))


def test_the_style_leaves_no_trace():
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    plot.confusion(metrics.confusion([0, 1], [0, 1]))
    assert dict(mpl.rcParams) == before
    assert set(plot.__all__) <= set(dir(plot))
