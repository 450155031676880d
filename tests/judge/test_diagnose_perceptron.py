"""Perceptrons with a known slip are told what it was; those that ended as they should are called right."""

import numpy as np
import pytest
import sklearn.linear_model

import certifit as cf
from certifit.judge._diagnose_perceptron import SLIPS


def rows(seed, n=14, integers=True):
    """Rows of two classes that some line tells apart, with room on both sides of it."""
    rng = np.random.default_rng(seed)
    while True:
        X = rng.integers(-5, 6, size=(n, 2)).astype(float) if integers else rng.normal(size=(n, 2))
        z = X @ [1.0, -2.0] + 1.5
        y = np.where(z > 0, 1, -1)
        if np.abs(z).min() > 0.3 and abs(y.sum()) < n - 4:
            return X, y


def run(X, y, eta=1.0, passes=1000, start=(0.0, 0.0, 0.0), offset=True):
    """A perceptron as a student writes it."""
    w, b, wrong = np.array(start[:2]), start[2], []
    for _ in range(passes):
        before = len(wrong)
        for i in range(len(y)):
            if y[i] * (w @ X[i] + b) <= 0:
                w, b = w + eta * y[i] * X[i], b + eta * y[i] if offset else 0.0
                wrong.append(i)
        if len(wrong) == before:
            return w, b, wrong
    return w, b, wrong


def names(w, b, X, y, mistakes, **more):
    found = cf.certify_perceptron(w, b, X, y, mistakes, **more).diagnose(X, y)
    assert all(f.certificate.holds for f in found)
    return found.right, [f.name for f in found]


@pytest.mark.parametrize("seed", range(100))
def test_a_run_that_ended_is_right(seed):
    X, y = rows(seed, integers=seed % 2 == 0)
    eta = [1.0, 0.1, 0.37][seed % 3]
    w, b, wrong = run(X, y, eta)
    assert names(w, b, X, y, wrong, eta0=eta) == (True, [])
    if seed % 2:  # whole numbers have scores of zero, on which rounding decides
        assert names(np.round(w, 7), round(b, 7), X, y, wrong, eta0=eta) == (True, [])


@pytest.mark.parametrize("seed", range(30))
def test_perceptrons_of_estimators_are_right(seed):
    X, y = rows(seed, integers=False)
    X3 = np.random.default_rng(seed).normal(size=(30, 2)) * 0.2 + np.repeat([[0, 4], [4, 0], [-4, -4]], 10, axis=0)
    y3 = np.repeat(["a", "b", "c"], 10)
    for A, t in ((X, y), (X3, y3)):
        own = cf.linear_model.Perceptron(max_iter=5000, tol=None).fit(A, t)
        assert own.certificate_.diagnose(A, t).right
        theirs = sklearn.linear_model.Perceptron(max_iter=5000, tol=None).fit(A, t)
        assert cf.certify(theirs, A, t).diagnose(A, t).right


def test_what_nothing_separates_is_no_mistake_of_the_perceptron():
    X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([-1, 1, 1, -1])
    w, b, wrong = run(X, y, passes=20)
    assert names(w, b, X, y, wrong) == (True, [])
    model = sklearn.linear_model.Perceptron().fit(X, y)
    assert cf.certify(model, X, y).diagnose(X, y).right


def slips(X, y, eta, start):
    """Answers, each with one slip, to the run with this step and start."""
    w, b, wrong = run(X, y, eta, start=start)
    w0, b0, up = np.array(start[:2]), start[2], [i for i in wrong if y[i] > 0]
    yield "wrong sign", 2 * w0 - w, 2 * b0 - b, wrong
    yield "labels 0/1 for −1/+1", w0 + eta * X[up].sum(axis=0), b0 + eta * len(up), wrong
    yield "label left out", w0 + eta * X[wrong].sum(axis=0), b0 + eta * len(wrong), wrong
    yield "step left out", w0 + (w - w0) / eta, b0 + (b - b0) / eta, wrong
    yield "step doubled", w0 + 2 * (w - w0), b0 + 2 * (b - b0), wrong
    yield "step halved", w0 + (w - w0) / 2, b0 + (b - b0) / 2, wrong
    yield "offset not moved", w, b0, wrong
    yield "offset of the wrong sign", w, 2 * b0 - b, wrong
    yield "offset without the step", w, b0 + (b - b0) / eta, wrong
    yield "start left out", w - w0, b - b0, wrong
    yield "counted from 1", w, b, [i + 1 for i in wrong]
    yield "mistakes miscounted", w, b, wrong[:-1]
    yield "mistakes miscounted", w, b, [*wrong, wrong[0]]
    yield "stopped too early", *run(X, y, eta, passes=1, start=start)


@pytest.mark.parametrize("seed", range(8))
def test_each_slip_of_a_run_is_named(seed):
    """Where the slip changes the answer: an offset that never moved is one that did not have to."""
    X, y = rows(seed, integers=False)
    X += [2.0, 1.0]
    X, y = np.vstack([X, [[-20.0, 20.0]]]), np.append(y, -1)  # never wrong, so that 1 can be added to every row
    start, eta, tried = (0.3, 0.2, -0.1), 0.37, set()
    w, b, _ = run(X, y, eta, start=start)
    for slip, v, c, wrong in slips(X, y, eta, start):
        if max(wrong) >= len(X) or (slip != "counted from 1" and "mis" not in slip and np.allclose([*w, b], [*v, c])):
            continue
        right, found = names(v, c, X, y, wrong, eta0=eta, start=start)
        assert not right
        assert slip in found, slip
        tried.add(slip)
    assert len(tried) >= 9
    assert tried <= {*(name for name, _, _ in SLIPS), "mistakes miscounted", "stopped too early"}


def test_every_slip_is_tried_by_the_test_above():
    X, y = rows(1)
    said = {slip for slip, *_ in slips(X, y, 0.37, (0.3, 0.2, -0.1))}
    assert said == {*(name for name, _, _ in SLIPS), "mistakes miscounted", "stopped too early"}


def test_the_row_that_is_still_wrong_is_named():
    X, y = np.array([[1.0, 2.0], [-1.0, 1.0], [2.0, -5.0]]), np.array([1, -1, 1])
    found = cf.certify_perceptron([1.0, 2.0], 1.0, X, y, [0]).diagnose(X, y)
    assert [f.name for f in found] == ["stopped too early"]
    assert "Row 2 is still wrong, y(w·x + b) = -7" in found[0].sentence


def test_a_class_that_was_missed():
    X = np.random.default_rng(0).normal(size=(30, 2)) * 0.2 + np.repeat([[0, 4], [4, 0], [-4, -4]], 10, axis=0)
    y = np.repeat(["a", "b", "c"], 10)
    c = cf.linear_model.Perceptron(max_iter=5000, tol=None).fit(X, y).certificate_
    told = {**c.evidence, "coef_1": np.zeros(3), "mistaken_1": np.zeros(0, int), "times_1": np.zeros(0, int)}
    found = cf.certificates.issue("perceptron", cf.certificates.Data.of(X, y), told).diagnose(X, y)
    assert not found.right
    assert [f.name for f in found] == ["class b missed"]


SIDES = {
    "wrong sign": lambda w, b, X: (-w, -b),
    "offset not moved": lambda w, b, X: (w, 0.0),
    "wrong offset": lambda w, b, X: (w, b + 50.0),
    "offset of the wrong sign": lambda w, b, X: (w, -b),
    "scaled columns": lambda w, b, X: (w * X.std(0), b + w @ X.mean(0)),
    "centred columns": lambda w, b, X: (w, b + w @ X.mean(0)),
}


@pytest.mark.parametrize("slip", SIDES)
@pytest.mark.parametrize("seed", range(1, 6))
def test_weights_alone(slip, seed):
    """Far from the origin, so that the offset matters."""
    X, y = rows(seed, integers=False)
    X = X * [1.0, 2.0] + [9.0, -9.0]
    w, b, _ = run(X, y, passes=200_000)
    model = sklearn.linear_model.Perceptron(max_iter=5, tol=None).fit(X, y)
    model.coef_, model.intercept_ = w[None], np.array([b])
    assert cf.certify(model, X, y).diagnose(X, y).right
    v, c = SIDES[slip](w, b, X)
    model.coef_, model.intercept_ = v[None], np.array([c])
    found = cf.certify(model, X, y).diagnose(X, y)
    assert not found.right
    assert slip in [f.name for f in found]
    assert all(f.certificate.holds and f.certificate.value == 0 for f in found)


def test_weights_alone_of_several_classes():
    X = np.random.default_rng(0).normal(size=(30, 2)) * 0.2 + np.repeat([[0, 4], [4, 0], [-4, -4]], 10, axis=0)
    y = np.repeat(["a", "b", "c"], 10)
    model = sklearn.linear_model.Perceptron(max_iter=5000, tol=None).fit(X, y)
    W, b = model.coef_.copy(), model.intercept_.copy()

    def said(coef, intercept):
        model.coef_, model.intercept_ = coef, intercept
        found = cf.certify(model, X, y).diagnose(X, y)
        assert not found.right
        return [f.name for f in found]

    assert said(W[[1, 2, 0]], b[[1, 2, 0]]) == ["classes in another order"]
    missed = b.copy()
    missed[1] = -1e6
    assert said(W, missed) == ["class b missed"]
    assert said(0.0 * W + [[1.0, 0], [0, 0], [2.0, 0.0]], 0 * b) == ["stopped too early"]


def test_refusals_are_one_sentence():
    X, y = rows(0)
    for more, words in (
        (([1.0, 2.0], 0.0, X, y, [len(X)]), "counted from 0"),
        (([1.0], 0.0, X, y, [0]), "columns of X"),
        (([1.0, 2.0], 0.0, X, np.arange(len(X)), [0]), "two classes"),
        (([np.nan, 2.0], 0.0, X, y, [0]), "finite"),
    ):
        with pytest.raises(ValueError, match=words):
            cf.certify_perceptron(*more)
