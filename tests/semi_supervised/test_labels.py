"""Scores of a graph against solves in many digits and in fractions; certain labels; rows without a label."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
import scipy.sparse
import sklearn.semi_supervised
from hypothesis import given, settings
from hypothesis import strategies as st

from certifit.certificates import Data
from certifit.exceptions import ConvergenceWarning
from certifit.semi_supervised import LabelPropagation, LabelSpreading
from tests.certificates.tampering import forged, refuses_everything, reissued


def clouds(n=12, seed=0, share=0.3):
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(c, 0.5, (n, 2)) for c in ((0, 0), (2, 0), (0, 2))])
    truth = np.repeat([0, 1, 2], n)
    y = np.where(rng.random(len(X)) < share, truth, -1)
    y[[0, n, 2 * n]] = [0, 1, 2]
    return X, y


def many_digits(X, y, gamma, alpha=None):
    """Both systems by mpmath's LU in 60 digits, from the rows themselves."""
    mpmath.mp.dps = 60
    n, classes = len(X), np.unique(y[y != -1])
    W = mpmath.zeros(n)
    for i in range(n):
        for j in range(n):
            if i != j:
                W[i, j] = mpmath.exp(
                    -mpmath.mpf(gamma) * sum((mpmath.mpf(a) - mpmath.mpf(b)) ** 2 for a, b in zip(X[i], X[j]))
                )
    Y = mpmath.matrix([[int(v == c) for c in classes] for v in y])
    d = [mpmath.fsum(W[i, j] for j in range(n)) for i in range(n)]
    A, B = mpmath.eye(n), Y.copy()
    for i in range(n):
        if alpha is None and y[i] == -1:
            A[i, :] = mpmath.matrix([[(d[i] if i == j else -W[i, j]) for j in range(n)]])
            B[i, :] = mpmath.zeros(1, len(classes))
        elif alpha is not None:
            for j in range(n):
                A[i, j] -= mpmath.mpf(alpha) * W[i, j] / mpmath.sqrt(d[i] * d[j])
            B[i, :] = (1 - mpmath.mpf(alpha)) * Y[i, :]
    columns = [mpmath.lu_solve(A, B[:, k]) for k in range(len(classes))]
    return np.array([[columns[k][i] for k in range(len(classes))] for i in range(n)], dtype=object)


@pytest.mark.parametrize("gamma", [1.0, 20.0])
def test_harmonic_scores_against_sixty_digits(gamma):
    X, y = clouds(6)
    exact = many_digits(X, y, gamma)
    model = LabelPropagation(gamma=gamma).fit(X, y)
    c = model.certificate_
    assert c.holds
    assert c.verify(X, y).holds
    distance = np.abs(c.evidence["scores"] - exact).max(axis=1)
    assert np.all(distance <= model.error_bound_)
    assert c.error < 1e-6
    labels = exact.argmax(axis=1)
    assert np.array_equal(model.transduction_[model.certain_], labels[model.certain_])
    assert model.certain_.mean() > 0.9


def test_spread_scores_against_sixty_digits():
    X, y = clouds(6)
    exact = many_digits(X, y, 3.0, alpha=0.6)
    model = LabelSpreading(gamma=3.0, alpha=0.6).fit(X, y)
    assert model.certificate_.holds
    assert model.certificate_.error < 1e-12
    shares = exact / exact.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.label_distributions_, shares.astype(float), atol=1e-12)
    assert np.array_equal(model.transduction_[model.certain_], exact.argmax(axis=1)[model.certain_])


def solved_in_fractions(W, y):
    """The harmonic scores of class 1 by elimination in rational numbers; every row reaches a label."""
    n = len(y)
    A = [[Fraction(0)] * (n + 1) for _ in range(n)]
    for i in range(n):
        if y[i] != -1:
            A[i][i], A[i][n] = Fraction(1), Fraction(int(y[i]))
            continue
        for j in range(n):
            if i != j:
                A[i][i] += Fraction(float(W[i, j]))
                A[i][j] -= Fraction(float(W[i, j]))
    for k in range(n):
        pivot = next(i for i in range(k, n) if A[i][k] != 0)
        A[k], A[pivot] = A[pivot], A[k]
        for i in range(n):
            if i != k and A[i][k] != 0:
                f = A[i][k] / A[k][k]
                A[i] = [a - f * b for a, b in zip(A[i], A[k])]
    return [A[i][n] / A[i][i] for i in range(n)]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.sampled_from(["direct", "krylov"]))
def test_scores_lie_within_their_bounds_in_rational_arithmetic(seed, sparse, solver):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 9))
    W = rng.random((n, n)) ** 4 * (rng.random((n, n)) < 0.8) + 0.01 * np.eye(n, k=1) + 0.01 * np.eye(n, k=-1)
    y = np.array([0, *rng.choice([-1, -1, 0, 1], n - 2), 1])
    kernel = (lambda A, B: scipy.sparse.csr_matrix(W)) if sparse else (lambda A, B: W)
    X = np.arange(n, dtype=float)[:, None]
    model = LabelPropagation(kernel=kernel, solver=solver).fit(X, y)
    c = model.certificate_
    assert c.holds
    assert "given weights" in c.assumes[0]
    exact = solved_in_fractions(W, y)
    for i in range(n):
        assert abs(Fraction(c.evidence["scores"][i, 1]) - exact[i]) <= Fraction(float(model.error_bound_[i]))
        if model.certain_[i]:
            assert model.transduction_[i] == int(exact[i] > Fraction(1, 2))


@pytest.mark.parametrize("kernel", ["rbf", "knn"])
@pytest.mark.parametrize("name", ["LabelPropagation", "LabelSpreading"])
def test_scikit_learn_comes_to_the_same_scores(name, kernel):
    X, y = clouds()
    cls = {"LabelPropagation": LabelPropagation, "LabelSpreading": LabelSpreading}[name]
    ours = cls(kernel, gamma=2.0).fit(X, y)
    theirs = getattr(sklearn.semi_supervised, name)(kernel, gamma=2.0, tol=1e-11, max_iter=20_000).fit(X, y)
    np.testing.assert_allclose(ours.label_distributions_, theirs.label_distributions_, atol=1e-8)
    np.testing.assert_allclose(ours.predict_proba(X + 0.05), theirs.predict_proba(X + 0.05), atol=1e-8)
    assert np.array_equal(ours.transduction_, theirs.transduction_)
    assert ours.certificate_.holds
    assert ours.certain_.all()


@pytest.mark.parametrize("kernel", ["rbf", "knn", "given"])
@pytest.mark.parametrize("cls", [LabelPropagation, LabelSpreading])
def test_tampered_proofs_are_refused(cls, kernel):
    X, y = clouds(6)
    near = lambda A, B: np.exp(-np.abs(A[:, None] - B[None]).sum(axis=2))  # noqa: E731
    model = cls(near if kernel == "given" else kernel, gamma=2.0, n_neighbors=4).fit(X, y)
    c = model.certificate_
    refuses_everything(c, X, y)
    data, scores = Data.of(X, y), np.array(c.evidence["scores"])
    assert not forged(c, w=np.zeros(len(X))).verify(X, y).holds
    assert not forged(c, w=-np.array(c.evidence["w"])).verify(X, y).holds
    assert not reissued(c, data, w=np.zeros(len(X))).holds
    assert not forged(c, scores=scores[:, ::-1]).verify(X, y).holds
    assert not forged(c, unreached=np.array([1])).verify(X, y).holds
    assert not forged(c, scores=None).verify(X, y).holds
    worse = reissued(c, data, scores=scores + 0.3 * np.eye(len(X), 3))
    assert worse.error > 0.01  # an honest bound of a bad answer
    assert worse.certain <= c.certain
    if kernel == "knn":
        lists = np.array(c.evidence["neighbors"])
        others = np.setdiff1d(np.arange(len(X)), [*lists[0], 0])
        lists[0, 0] = others[np.argmax(((X[others] - X[0]) ** 2).sum(axis=1))]
        assert not reissued(c, data, neighbors=lists).holds


def test_w_that_proves_nothing_is_not_believed():
    """A component without a label has no harmonic solution: no w can have Bw > 0 there, whatever is claimed."""
    W = np.kron(np.eye(2), np.ones((2, 2)))
    X, y = np.arange(4.0)[:, None], np.array([0, -1, -1, -1])
    with pytest.warns(UserWarning, match=r"2 rows have no path to a label \(rows 2, 3"):
        model = LabelPropagation(lambda A, B: W).fit(X, y)
    assert model.unreached_.tolist() == [2, 3]
    assert model.certain_.tolist() == [True, True, False, False]
    assert "rows 2, 3 to a label" in model.certificate_.claim
    assert not reissued(model.certificate_, Data.of(X, y), unreached=np.empty(0)).holds


def test_a_directed_graph_ignores_neighbours_that_reach_nothing():
    """Row 1 points at a labelled row and at row 2, from which nothing leads on."""
    W = np.array([[0.0, 0, 0], [1, 0, 3], [0, 0, 0]])
    with pytest.warns(UserWarning, match="no path"):
        model = LabelPropagation(lambda A, B: W).fit(np.arange(3.0)[:, None], [5, -1, -1])
    assert model.label_distributions_.tolist() == [[1.0], [1.0], [0.0]]
    assert model.certificate_.holds


def test_ties_are_not_certain():
    model = LabelPropagation(lambda A, B: 1.0 * (np.abs(A - B.T) == 1)).fit([[0.0], [1.0], [2.0]], [0, -1, 1])
    assert model.certain_.tolist() == [True, False, True]


def test_propagation_is_a_trace_whose_gap_bounds_the_error():
    X, y = clouds(6)
    best = LabelPropagation(gamma=1.0).fit(X, y).certificate_.evidence["scores"]
    model = LabelPropagation(gamma=1.0, solver="propagation", trace=True, tol=1e-4).fit(X, y)
    gaps = [row.gap for row in model.trace_]
    assert gaps[-1] <= 1e-4 < gaps[-2]
    assert model.certificate_.holds
    assert np.abs(model.certificate_.evidence["scores"] - best).max() <= gaps[-1] <= model.certificate_.error
    with pytest.warns(ConvergenceWarning, match="stopped at max_iter"):
        short = LabelPropagation(gamma=1.0, solver="propagation", max_iter=2).fit(X, y)
    assert short.certificate_.holds
    assert short.certificate_.error > 1e-3


def test_words_as_labels_and_sparse_rows():
    X, y = clouds(6)
    words = np.array(["a", "b", "c", -1], dtype=object)[y]
    a, b = LabelPropagation(gamma=1.0).fit(X, words), LabelPropagation(gamma=1.0).fit(scipy.sparse.csr_matrix(X), y)
    assert a.classes_.tolist() == ["a", "b", "c"]
    assert np.array_equal(a.classes_[b.transduction_], a.transduction_)
    assert a.certificate_.verify(X, words).holds
    assert b.certificate_.verify(X, y).holds


def test_clear_errors():
    X, y = clouds(6)
    with pytest.raises(ValueError, match="No row has a label"):
        LabelPropagation().fit(X, np.full(len(X), -1))
    with pytest.raises(ValueError, match="not negative"):
        LabelPropagation(lambda A, B: -np.ones((len(A), len(B)))).fit(X, y)
    with pytest.raises(ValueError, match=r"shape \(18, 18\), not \(2, 2\)"):
        LabelSpreading(lambda A, B: np.ones((2, 2))).fit(X, y)
    with pytest.raises(ValueError, match="more than there are rows"):
        LabelSpreading("knn", n_neighbors=99).fit(X, y)


def test_krylov_steps_need_no_factorisation_on_a_graph_of_neighbours(monkeypatch):
    from certifit.solvers import harmonic

    def refuse(P):
        raise AssertionError("a factorisation of a large graph takes a minute")

    rng = np.random.default_rng(4)
    group = rng.integers(3, size=600)
    X = rng.normal(scale=2.0, size=(3, 6))[group] + rng.normal(size=(600, 6))
    y = np.where(rng.uniform(size=600) < 0.1, group, -1)
    direct = LabelSpreading(kernel="knn", alpha=0.9, solver="direct").fit(X, y)
    monkeypatch.setattr(harmonic, "_factorised", refuse)
    model = LabelSpreading(kernel="knn", alpha=0.9, solver="krylov").fit(X, y)
    np.testing.assert_allclose(model.label_distributions_, direct.label_distributions_, atol=1e-12)
    assert model.certificate_.error < 1e-9


def test_dense_fits_answer_sparse_rows_and_the_other_way_round():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 2)), np.where(np.arange(30) < 6, np.arange(30) % 2, -1)
    dense, sparse = X, scipy.sparse.csr_array(X)
    for kernel in ("rbf", "knn"):
        answers = [
            LabelSpreading(kernel=kernel).fit(a, y).predict_proba(b) for a in (dense, sparse) for b in (dense, sparse)
        ]
        for other in answers[1:]:
            np.testing.assert_allclose(other, answers[0], atol=1e-9)
