"""Both roads of a loop give the same answer, and the account decides which one is taken."""

import os
import subprocess
import sys

import numpy as np
import pytest

from certifit.loops import _tiers, active_set, coordinate, density, kmeans, moments, tree_growing, tree_walking
from certifit.loops._tiers import Switch, Tiered, interpreted
from certifit.nearest import _brute as brute
from certifit.neighbors import KNeighborsClassifier
from certifit.tree import DecisionTreeClassifier, DecisionTreeRegressor
from certifit.tree import _structure as tree_structure

rng = np.random.default_rng(18)


def on_road(road, loop):
    """The loop as plain Python, or compiled."""
    return (loop._plain or interpreted(loop.compiled.py_func)) if road == "plain" else loop.compiled


@pytest.mark.parametrize("most", [None, 9])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error"])
def test_trees_are_the_same_to_the_bit(criterion, most, monkeypatch):
    X = rng.normal(size=(80, 4)).round(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    regression = criterion.endswith("error")
    y = rng.normal(size=80) if regression else rng.integers(0, 3, 80)
    cls = DecisionTreeRegressor if regression else DecisionTreeClassifier
    weights = rng.integers(1, 4, 80).astype(float)
    trees = []
    for road in ("plain", "compiled"):
        with monkeypatch.context() as patch:
            for name in ("grow", "grow_best"):
                patch.setattr(tree_growing, name, on_road(road, getattr(tree_growing, name)))
            patch.setattr(tree_structure, "apply", on_road(road, tree_walking.apply))
            model = cls(criterion=criterion, min_samples_leaf=2, max_leaf_nodes=most)
            model.fit(X, y, sample_weight=weights)
            trees.append((model.tree_, model.predict(X)))
    (a, pa), (b, pb) = trees
    assert a.node_count > 5
    for name in ("feature", "threshold", "children_left", "children_right", "impurity", "value"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    np.testing.assert_array_equal(pa, pb)


def _lasso(road):
    A, y = rng_fixed().normal(size=(60, 12)), rng_fixed().normal(size=60)
    G, q, w = np.ascontiguousarray(A.T @ A), A.T @ y, np.zeros(12)
    l1, l2 = np.full(12, 3.0), np.full(12, 0.1)
    S, inv = np.zeros(12, dtype=np.int64), np.zeros((12, 12))
    solve, gap = on_road(road, active_set.active_set), on_road(road, coordinate.gap)
    k, _, status = solve(G, q, w, 12, l1, l2, False, S, 0, inv, 1e-12, 500)
    return w, int(k), int(status), gap(w, q, float(y @ y), l1, l2, False)


def rng_fixed():
    return np.random.default_rng(3)


def test_the_active_set_ends_at_the_same_support():
    (w, k, status, gap), (v, m, other, bound) = _lasso("plain"), _lasso("compiled")
    assert status == other == active_set.DONE
    assert 0 < k == m < 12
    np.testing.assert_allclose(w, v, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(gap, bound, rtol=1e-6, atol=1e-9)


def test_moments_agree():
    X, code, none = rng.normal(size=(50, 3)) + 1e6, rng.integers(0, 2, 50), np.zeros(0)
    out = []
    for road in ("plain", "compiled"):
        total, (mean, rest, scatter) = np.zeros(2), np.zeros((3, 2, 3))
        on_road(road, moments.class_moments)(X, code, none, total, mean, rest, scatter)
        out.append(np.concatenate([total[:, None], mean, scatter], axis=1))
    np.testing.assert_allclose(out[0], out[1], rtol=1e-13)


def test_k_means_passes_agree():
    X, T = rng.normal(size=(60, 3)), rng.normal(size=(3, 4))
    out = []
    for road in ("plain", "compiled"):
        labels, upper, lower = np.zeros(60, dtype=np.int64), np.zeros(60), np.zeros(60)
        on_road(road, kmeans.assign)(X, T, 0, 60, labels, upper, lower)
        out.append((labels, upper, lower))
    np.testing.assert_array_equal(out[0][0], out[1][0])
    np.testing.assert_allclose(out[0][1:], out[1][1:], rtol=1e-14)


@pytest.mark.parametrize("kernel", range(6))
@pytest.mark.parametrize("metric", range(3))
def test_densities_in_numpy_and_in_the_tree_enclose_the_same_number(kernel, metric):
    X, w, points = rng.normal(size=(120, 2)), rng.random(120), 2 * rng.normal(size=(20, 2))
    order = np.arange(120)
    tree = density.build.compiled(X, w, order, 5)
    X, w = np.ascontiguousarray(X[order]), w[order]
    for h, rtol in ((0.05, 0.0), (1.3, 0.0), (0.3, 1e-3), (1.3, 1e-3)):
        a, b = np.zeros((20, 3)), np.zeros((20, 3))
        density.query.compiled(X, w, tree, points, 0, 20, kernel, metric, h, 0.0, rtol, a)
        density._in_numpy(X, w, tree, points, 0, 20, kernel, metric, h, 0.0, rtol, b)
        np.testing.assert_allclose(a[:, 0], b[:, 0], rtol=1e-13)
        assert np.all(np.maximum(a[:, 1], b[:, 1]) <= np.minimum(a[:, 2], b[:, 2]))
        np.testing.assert_allclose(a[:, 1:], b[:, 1:], rtol=1e-8 + rtol, atol=1e-15)


@pytest.mark.parametrize("groups", [False, True])
def test_neighbours_in_numpy_are_those_of_the_scan(groups, monkeypatch):
    X = rng.integers(-3, 4, size=(200, 3)) / 2.0  # many ties
    Q = X[:40] + 0.25 * rng.integers(0, 2, size=(40, 3))
    some = (rng.integers(0, 3, 40), rng.integers(0, 3, 200)) if groups else (np.empty(0, int), np.empty(0, int))
    search = brute.BruteForce(np.ascontiguousarray(X), np.array([1.0, 0.5, 2.0]))
    asked = brute.Queries(np.ascontiguousarray(Q), 7, *some, 1)
    plain = search._in_numpy(asked)
    monkeypatch.setattr(brute._scan, "_settled", True)
    values, found = search.query(asked)
    np.testing.assert_array_equal(plain[0], values)
    np.testing.assert_array_equal(plain[1], found)


def test_rows_beyond_reach_are_filled_up():
    search = brute.BruteForce(np.zeros((3, 1)), np.ones(1))
    values, found = search._in_numpy(brute.Queries(np.zeros((1, 1)), 2, np.array([0]), np.array([0, 0, 1]), 1))
    assert values.tolist() == [[0.0, np.inf]]
    assert found.tolist() == [[2, 3]]


def test_the_account_decides(monkeypatch, tmp_path):
    monkeypatch.setattr(Tiered, "_place", lambda self, ending: tmp_path / f"loop{ending}")
    loop = Tiered(coordinate.follow.compiled, lambda *args: 0.4 * _tiers.ALLOWANCE)
    assert [loop.pays() for _ in range(4)] == [False, False, True, True]
    cached = Tiered(coordinate.follow.compiled, lambda *args: 1e-9)
    monkeypatch.setattr(cached, "_in_cache", lambda: True)
    assert cached.pays()
    asked = Tiered(coordinate.follow.compiled, lambda *args: 1e-9)
    monkeypatch.setattr(asked, "_in_cache", lambda: False)
    monkeypatch.setattr(Switch, "always", True)
    assert asked.pays()


def test_an_account_over_processes_decides_too(monkeypatch, tmp_path):
    monkeypatch.setattr(Tiered, "_place", lambda self, ending: tmp_path / "new" / f"loop{ending}")
    share = 0.9 * _tiers.ALLOWANCE
    processes = [Tiered(coordinate.follow.compiled, lambda *args: share) for _ in range(7)]  # one call each
    compiled = [loop.pays() for loop in processes]
    assert compiled == [share * (i + 1) > _tiers.LIFETIME for i in range(7)]
    assert compiled[0] is False
    assert compiled[-1] is True
    (tmp_path / "new" / "loop.spent").write_text("no number")
    assert not Tiered(coordinate.follow.compiled, lambda *args: share).pays()


def test_what_another_process_compiled_meanwhile_is_used(monkeypatch, tmp_path):
    monkeypatch.setattr(Tiered, "_place", lambda self, ending: tmp_path / f"loop{ending.replace('*', '1')}")
    loop = Tiered(coordinate.follow.compiled, lambda *args: 0.2 * _tiers.ALLOWANCE)
    assert not loop.pays()
    (tmp_path / "loop-1.nbi").touch()
    assert loop.pays()


def test_without_a_cache_every_process_begins_anew(monkeypatch):
    monkeypatch.setattr(Tiered, "_place", lambda self, ending: None)
    assert not any(Tiered(coordinate.follow.compiled, lambda *args: 1.0).pays() for _ in range(20))


COLD = """
import sys, numpy as np
from certifit.tree import DecisionTreeClassifier
from certifit.loops import tree_growing
X = np.arange(40.0).reshape(20, 2)
print(DecisionTreeClassifier().fit(X, X[:, 0] > 20).predict(X).sum(), len(tree_growing.grow.compiled.signatures))
"""


def test_a_new_installation_compiles_nothing_for_a_small_tree(tmp_path):
    def run(**more):
        env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), **more}
        return subprocess.run([sys.executable, "-c", COLD], env=env, capture_output=True, text=True, check=True).stdout

    assert run() == "9 0\n"
    assert not list(tmp_path.rglob("*.nbi"))


def test_neighbour_classes_do_not_depend_on_the_road(monkeypatch):
    X, y = rng.normal(size=(150, 4)), rng.integers(0, 3, 150)
    answers = []
    for settled in (False, True):
        monkeypatch.setattr(brute._scan, "_settled", settled)
        monkeypatch.setattr(brute._scan, "spent", 1e-9)
        answers.append(KNeighborsClassifier(3).fit(X, y).predict_proba(X[:50]))
    np.testing.assert_array_equal(answers[0], answers[1])
