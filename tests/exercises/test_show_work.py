"""Every algorithm's steps are printed, plotted, animated and written as LaTeX; some are checked by hand."""

import matplotlib as mpl
import numpy as np
import pytest

import certifit as cf
from certifit.exercises._show_work import WORKS

mpl.use("Agg")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(14, 2))
Y = (X[:, 0] + 0.4 * RNG.normal(size=14) > 0).astype(int)


@pytest.mark.parametrize("name", WORKS)
def test_every_work_is_shown(name):
    said = []
    data = ([1, 0, 1, 1],) if name == "bayes" else (X,) if name == "k-means" else (X, Y)
    trace = cf.show_work(name, *data, say=said.append)
    assert len(trace) > 0
    assert said[0].endswith(".")
    assert said[1] == trace.table()
    assert len(trace.frame()) == len(trace)
    text = trace.latex()
    assert text.startswith(r"\begin{")
    assert text.count("{") == text.count("}")
    if np.any(np.isfinite([np.nan if v is None else v for v in trace["objective"]])):
        assert len(trace.plot().get_lines()) >= 1
        film = trace.animate()
        film._func(0)
        shown = len(film._fig.axes[0].get_lines()[0].get_xdata())
        film._func(10**6)
        assert len(film._fig.axes[0].get_lines()[0].get_xdata()) >= shown
        film._draw_was_started = True


def test_the_tree_asks_what_the_estimator_asks():
    steps = cf.show_work("tree", X, Y, say=None, max_depth=1)
    chosen = next(r for r in steps if r.chosen)
    model = cf.tree.DecisionTreeClassifier(max_depth=1).fit(X, Y)
    j, t = model.tree_.feature[0], model.tree_.threshold[0]
    assert chosen.question == f"x{j} <= {t:g}"
    assert chosen.gain == max(steps["gain"])


def test_neighbours_vote():
    steps = cf.show_work("neighbours", [[0.0], [1.0], [5.0]], [0, 1, 1], say=None, query=[0.9], k=1)
    assert [r.row for r in steps] == [1, 0, 2]
    assert [r.votes for r in steps] == [True, False, False]


def test_unknown_algorithms_get_a_sentence():
    with pytest.raises(ValueError, match="Unknown algorithm 'magic'; choose one of perceptron"):
        cf.show_work("magic", X, Y)
