"""Pictures of models show the numbers of the model, on light and on dark paper."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from sklearn.svm import SVC

from certifit import plot
from certifit.bayes import BayesianLinearRegression, HypothesisSpace
from certifit.bayes.conjugate import BetaBernoulli
from certifit.glm import GLM
from certifit.linear_model import LinearRegression, LogisticRegression, Perceptron, Ridge
from certifit.tree import DecisionTreeClassifier


@pytest.fixture(scope="module")
def plane():
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal((-1.5, 0.0), 0.7, (25, 2)), rng.normal((1.5, 0.5), 0.7, (25, 2))])
    return X, np.repeat(["no", "yes"], 25)


def shown(ax):
    assert isinstance(ax, Axes)
    ax.figure.canvas.draw()
    return ax


def test_regions_are_the_models_answers(plane):
    X, y = plane
    model = LogisticRegression().fit(X, y)
    ax = shown(plot.decision_regions(model, X, y, names=("a", "b")))
    shade = np.asarray(ax.images[0].get_array())
    left, right, bottom, top = ax.images[0].get_extent()
    rows, columns, _ = shade.shape
    hues = [np.array(to_rgb(c)) for c in plot.COLOURS[:2]]
    white = np.ones(3)
    for x, label in zip(X[::7], model.predict(X[::7])):
        i = round((x[1] - bottom) / (top - bottom) * (rows - 1))
        j = round((x[0] - left) / (right - left) * (columns - 1))
        tint = white - shade[i, j]
        nearest = int(np.argmax([tint @ (white - h) / np.linalg.norm(white - h) for h in hues]))
        assert ["no", "yes"][nearest] == label
    assert ax.get_xlabel() == "a"
    with pytest.raises(ValueError, match="two features"):
        plot.decision_regions(model, np.ones((3, 4)))


def test_margins_ring_the_support_vectors(plane):
    X, y = plane
    model = SVC(kernel="linear").fit(X, y)
    ax = shown(plot.margins(model, X, y))
    ringed = np.column_stack(ax.lines[-1].get_data())
    assert np.array_equal(ringed, X[model.support_])
    shown(plot.margins(LogisticRegression().fit(X, y), X, y))
    with pytest.raises(ValueError, match="two classes"):
        plot.margins(model, X, np.arange(len(X)) % 3)


def test_steps_of_a_perceptron(plane, tmp_path):
    X, y = plane
    model = Perceptron(shuffle=False, trace=True).fit(X, y)
    ax = shown(plot.perceptron_steps(model, X, y))
    assert ax.get_title(loc="left") == f"{len(model.trace_)} mistakes"
    last = ax.lines[-1]
    w, b = model.trace_[-1].after, model.trace_[-1].intercept_after
    assert np.column_stack(last.get_data()) @ w + b == pytest.approx(0.0, abs=1e-9)
    ax = shown(plot.perceptron_steps(model, X, y, step=0))
    assert np.array_equal(np.column_stack(ax.lines[-1].get_data())[0], X[model.trace_[0].row])
    plot.perceptron_animation(model, X, y).save(tmp_path / "steps.gif", writer="pillow")
    from PIL import Image

    with Image.open(tmp_path / "steps.gif") as film:
        assert film.n_frames == len(model.trace_)
    with pytest.raises(ValueError, match="trace=True"):
        plot.perceptron_steps(Perceptron().fit(X, y), X, y)


def test_paths_take_both_orientations():
    X = np.random.default_rng(0).normal(size=(30, 3))
    alphas = np.logspace(-2, 3, 8)
    W = np.array([Ridge(a).fit(X, X @ [1.0, 2.0, -1.0]).coef_ for a in alphas])
    ax, other = shown(plot.regularization_path(alphas, W)), plot.regularization_path(alphas, W.T, names="abc")
    for j in range(3):
        assert np.array_equal(ax.lines[j].get_ydata(), W[:, j])
        assert np.array_equal(other.lines[j].get_ydata(), W[:, j])
    with pytest.raises(ValueError, match="strengths need"):
        plot.regularization_path(alphas, W[:4])


def test_kernel_matrix_sorts_by_class():
    X, y = np.arange(6.0)[:, None], np.array([0, 1, 0, 1, 0, 1])
    K = X @ X.T
    ax = shown(plot.kernel_matrix(K, y=y))
    order = [0, 2, 4, 1, 3, 5]
    assert np.array_equal(ax.images[0].get_array(), K[np.ix_(order, order)])
    assert np.array_equal(plot.kernel_matrix(lambda A, B: A @ B.T, X).images[0].get_array(), K)
    with pytest.raises(ValueError, match="square"):
        plot.kernel_matrix(np.ones((2, 3)))


def test_beliefs():
    space = HypothesisSpace({"h1": 0.5, "h2": 0.5}, {"h1": {"l": 0.2, "c": 0.8}, "h2": {"l": 0.9, "c": 0.1}})
    ax = shown(plot.posterior(space, ["l", "l"]))
    assert ax.lines[1].get_ydata()[-1] == pytest.approx(space.posterior(["l", "l"])["h2"])
    ax = shown(plot.posterior(BetaBernoulli(1, 1), [1, 1, 0]))
    low, high = BetaBernoulli(1, 1).update([1, 1, 0]).interval(0.95)
    assert ax.get_title(loc="left") == f"95% between {low:.3g} and {high:.3g}"
    X = np.linspace(0, 1, 20)[:, None]
    model = BayesianLinearRegression().fit(X, 2 * X[:, 0] + 0.1 * np.sin(40 * X[:, 0]))
    ax = shown(plot.posterior(model, X, 2 * X[:, 0]))
    x, mean = ax.lines[0].get_data()
    assert mean == pytest.approx(model.predict(x[:, None]))


def test_residuals_trees_and_traces(plane):
    X = np.linspace(0, 3, 60)[:, None]
    y = np.round(np.exp(X[:, 0]))
    model = GLM("poisson").fit(X, y)
    ax = shown(plot.residuals(model, X, y))
    assert np.array_equal(ax.lines[1].get_ydata(), model.deviance_residuals(X, y))
    ax = shown(plot.residuals(LinearRegression().fit(X, y), X, y))
    assert ax.get_ylabel() == "residual"
    shown(plot.tree(DecisionTreeClassifier(max_depth=2).fit(*plane)))
    fit = LogisticRegression(trace=True).fit(*plane)
    ax = shown(plot.trace(fit))
    assert len(ax.lines[0].get_ydata()) == len(fit.trace_)
    with pytest.raises(ValueError, match="trace=True"):
        plot.trace(LinearRegression().fit(X, y))


def test_dark_paper(plane):
    X, y = plane
    with plot.style("dark"):
        ax = plot.margins(SVC(kernel="linear").fit(X, y), X, y)
        assert plot.palette().paper == "#131416"
    assert to_hex(ax.get_facecolor()) == "#131416"
    assert plot.palette().paper == "white"
    with pytest.raises(ValueError, match="light"), plot.style("grey"):
        pass


def test_dark_trees_and_films_stay_dark(plane, tmp_path):
    """A tree is drawn by its own family, and the frames of a film when it is saved, outside the style."""
    from PIL import Image

    X, y = plane
    with plot.style("dark"):
        ax = plot.tree(DecisionTreeClassifier(max_depth=2).fit(X, y))
        film = plot.perceptron_animation(Perceptron(shuffle=False, trace=True).fit(X, y), X, y)
    ink, paper = plot._style.PALETTES["dark"].ink, plot._style.PALETTES["dark"].paper
    questions = [t for t in ax.texts if t.get_text().endswith("?")]
    assert questions
    assert {(t.get_color(), to_hex(t.get_bbox_patch().get_facecolor())) for t in questions} == {(ink, paper)}
    film.save(tmp_path / "steps.gif", writer="pillow", dpi=40)
    with Image.open(tmp_path / "steps.gif") as image:
        image.seek(image.n_frames - 1)
        corner = image.convert("RGB").getpixel((1, 1))
        middle = np.asarray(image.convert("RGB"), dtype=float).mean()
    assert max(corner) < 60
    assert middle < 60


def test_named_paths_have_colours_of_their_own():
    path = np.linspace(1.0, 2.0, 12)[:, None] * np.ones((12, 5))
    ax = shown(plot.regularization_path(np.logspace(0, 2, 5), path))
    named = [line.get_color() for line in ax.lines if not line.get_label().startswith("_")]
    assert len(named) == 6
    assert len(set(named)) == 6


@pytest.mark.parametrize("paper", ["light", "dark"])
def test_colours_stay_apart_for_colour_blind_eyes(paper):
    """The first five colours differ clearly as a deuteranope and a protanope see them, and from the paper."""
    # Viénot, Brettel and Mollon (1999), linear RGB.
    views = {
        "deuteranope": np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]),
        "protanope": np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]),
    }
    with plot.style(paper):
        p = plot.palette()
    linear = np.array([to_rgb(c) for c in (p.paper, *p.colours[:5])]) ** 2.2
    for view in views.values():
        seen = np.clip(linear @ view.T, 0, 1) ** (1 / 2.2)
        apart = np.linalg.norm(seen[:, None] - seen[None, :], axis=2) + 9 * np.eye(6)
        assert apart.min() > 0.09, paper


def test_every_picture_takes_and_returns_axes():
    for name in plot.__all__:
        thing = getattr(plot, name)
        if callable(thing) and name not in ("figure", "palette", "style"):
            assert inspect.signature(thing).parameters["ax"].default is None, name


def test_the_shape_of_a_column_is_what_the_model_adds():
    from sklearn.pipeline import make_pipeline

    from certifit.linear_model import LogisticRegression, Ridge
    from certifit.preprocessing import AdditiveBasis

    rng = np.random.default_rng(0)
    X = rng.uniform(0, 6, (200, 2))
    model = make_pipeline(AdditiveBasis(n_steps=6), Ridge(0.1)).fit(X, np.sin(X[:, 0]))
    line = plot.shape(model, 1, names=["a", "b"]).lines[0]
    at = np.column_stack([np.full(7, X[0, 0]), line.get_xdata()])
    said = model.predict(at)
    np.testing.assert_allclose(line.get_ydata(), said - said[0], atol=1e-12)
    classes = make_pipeline(AdditiveBasis(n_steps=4), LogisticRegression()).fit(X, np.digitize(X[:, 0], [2, 4]))
    assert len(plot.shape(classes).get_legend().get_texts()) == 3
    with pytest.raises(TypeError, match="AdditiveBasis"):
        plot.shape(Ridge().fit(X, X[:, 0]))
