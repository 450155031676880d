"""Every algorithm's steps are printed, plotted, animated and written as LaTeX; some are checked by hand."""

import matplotlib as mpl
import numpy as np
import pytest

import certifit as cf
from certifit.exercises._show_work import WORKS
from certifit.reinforcement import MDP

mpl.use("Agg")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(14, 2))
Y = (X[:, 0] + 0.4 * RNG.normal(size=14) > 0).astype(int)


@pytest.mark.parametrize("name", WORKS)
def test_every_work_is_shown(name):
    said = []
    mdp = MDP([np.eye(2), np.eye(2)[::-1]], rewards=[[0.0, 0.0], [1.0, 0.0]], discount=0.5)
    data = {"bayes": ([1, 0, 1, 1],), "k-means": (X,), "value iteration": (mdp,)}.get(name, (X, Y))
    trace = cf.show_work(name, *data, say=said.append)
    assert len(trace) > 0
    assert said[0].endswith(".")
    assert said[1] == trace.table(hide=["seconds"])
    assert len(trace.frame()) == len(trace)
    text = trace.latex()
    assert text.startswith(r"\begin{")
    assert text.count("{") == text.count("}")
    shown_and_animated(trace)


def shown_and_animated(trace):
    """Something is drawn; the film begins with less and ends with all of it."""
    lines = trace.plot().get_lines()
    assert len(lines) >= 1
    whole = sum(len(line.get_xdata()) for line in lines)
    film = trace.animate()
    points = lambda: sum(len(line.get_xdata()) for line in film._fig.axes[0].get_lines())  # noqa: E731
    film._func(0)
    first = points()
    film._func(10**6)
    assert (first < whole or len(trace) == 1) and points() == whole  # noqa: PT018
    film._draw_was_started = True


LATEX = {
    "perceptron": r"\theta &\leftarrow",
    "gradient descent": r"\theta^{(1)} &= ",
    "newton": r"-H^{-1}\nabla J",
    "coordinate descent": r"\operatorname{soft}",
    "smo": r"W(\alpha)",
    "k-means": r"c_{1} = ",
    "tree": r"\leftarrow\ \text{chosen}",
    "neighbours": "d(x, x_{",
    "bayes": r"\mathrm{E} = ",
    "value iteration": r"V^{(1)} &=",
}


@pytest.mark.parametrize("name", WORKS)
def test_latex_has_the_symbols_and_numbers(name):
    mdp = MDP([np.eye(2), np.eye(2)[::-1]], rewards=[[0.0, 0.0], [1.0, 0.0]], discount=0.5)
    data = {"bayes": ([1, 0, 1, 1],), "k-means": (X,), "value iteration": (mdp,)}.get(name, (X, Y))
    text = cf.show_work(name, *data, say=None).latex()
    assert LATEX[name] in text
    assert text.startswith("\\begin{aligned}")
    assert text.count("{") == text.count("}")


def test_newton_ends_where_the_estimator_ends():
    steps = cf.show_work("newton", X, Y, say=None, lam=0.1)
    model = cf.linear_model.LogisticRegression(C=1 / (2 * 0.1 * 14), tol=1e-12).fit(X, Y)
    assert np.allclose(steps[-1].theta, [*model.coef_[0], *model.intercept_], atol=1e-6)
    assert all(b < a for a, b in zip(steps["objective"], steps["objective"][1:]))


def test_coordinates_end_where_the_lasso_ends():
    steps = cf.show_work("coordinate descent", X, Y, say=None, lam=0.05, passes=200)
    model = cf.linear_model.Lasso(alpha=0.05, tol=1e-12).fit(X, Y)
    last = {r.j: r.w_after for r in steps if r.j is not None}
    assert np.allclose([last[0], last[1]], model.coef_, atol=1e-8)


def test_hypotheses_and_beliefs_are_drawn():
    bags = cf.bayes.HypothesisSpace({"fair": 0.5, "limes": 0.5}, {"fair": {"c": 0.5, "l": 0.5}, "limes": {"l": 1.0}})
    steps = bags.trace(["l", "l", "l"])
    assert steps[-1]["P(limes)"] == pytest.approx(8 / 9)
    assert steps[-1].evidence == pytest.approx(bags.evidence(["l", "l", "l"]))
    shown_and_animated(steps)
    assert r"P(\text{limes} \mid e_{1:3}) = 0.8889" in steps.latex()
    for belief, data in (
        (cf.bayes.conjugate.GammaPoisson(2, 1), [3, 0, 4]),
        (cf.bayes.conjugate.NormalKnownVariance(0.0, 1.0, 2.0), [0.5, 1.0]),
    ):
        steps = belief.trace(data)
        assert steps[-1]["mean"] == pytest.approx(belief.update(data).mean)
        shown_and_animated(steps)
        assert len(steps) == len(data) + 1


def test_the_tree_asks_what_the_estimator_asks():
    steps = cf.show_work("tree", X, Y, say=None, max_depth=1)
    chosen = next(r for r in steps if r.chosen)
    assert sum(r.chosen for r in steps) == 1
    model = cf.tree.DecisionTreeClassifier(max_depth=1).fit(X, Y)
    j, t = model.tree_.feature[0], model.tree_.threshold[0]
    assert chosen.split == f"x[{j}] <= {t:.6g}"
    assert chosen.gain == max(steps["gain"])


def test_a_descent_has_its_offset_and_can_be_replayed():
    steps = cf.show_work("gradient descent", X, Y, say=None, lam=0.1, eta=0.5, passes=7)
    theta = np.asarray(steps[-1].theta)
    assert theta.shape == (3,)
    c = cf.certify_coefficients(theta[:2], theta[2], X, Y, loss="logistic", lam=0.1)
    assert [f.name for f in c.diagnose(X, Y, trace=steps)] == ["stopped too early"]


def test_neighbours_vote():
    steps = cf.show_work("neighbours", [[0.0], [1.0], [5.0]], [0, 1, 1], say=None, query=[0.9], k=1)
    assert [r.row for r in steps] == [1, 0, 2]
    assert [r.votes for r in steps] == [True, False, False]


def test_unknown_algorithms_get_a_sentence():
    with pytest.raises(ValueError, match="Unknown algorithm 'magic'; choose one of perceptron"):
        cf.show_work("magic", X, Y)


def test_other_names_and_the_picture_of_mistakes():
    X, y = np.array([[1.0, 2.0], [2.0, -1.0], [-1.0, -1.0], [2.0, 2.5]]), np.array([1, -1, -1, 1])
    assert len(cf.show_work("lloyd", X, say=None, n_clusters=2)) == len(
        cf.show_work("k-means", X, say=None, n_clusters=2)
    )
    steps = cf.show_work("perceptron", X, y, say=None)
    ax = steps.plot()
    assert ax.get_ylabel() == "mistakes in the pass"
    assert sum(ax.get_lines()[0].get_ydata()) == len(steps)
