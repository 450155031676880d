"""The perceptron family: the notes' algorithm, scikit-learn's answers, and the mistake bound."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Perceptron as Peer

from certifit.certificates import Certificate
from certifit.certificates._data import digest_evidence
from certifit.linear_model import AveragedPerceptron, Perceptron, RandomLinearClassifier, VotedPerceptron
from certifit.losses import get_loss
from tests.contract import contract


@contract(
    [
        Perceptron(),
        Perceptron(penalty="l2"),
        AveragedPerceptron(),
        VotedPerceptron(),
        RandomLinearClassifier(),
    ]
)
def test_contract(estimator, check):
    check(estimator)


def table(seed, n=80, d=4, k=2, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.argmax(X @ rng.normal(size=(d, k)) + noise * rng.normal(size=(n, k)), axis=1)
    y[:k] = np.arange(k)
    return X, y


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"shuffle": False},
        {"fit_intercept": False},
        {"eta0": 0.5},
        {"tol": None, "max_iter": 7},
        {"random_state": 5},
        {"class_weight": "balanced"},
        {"class_weight": {0: 2.0, 1: 0.5}},
        {"penalty": "l2", "alpha": 0.01},
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_same_answers_as_scikit_learn(options, k):
    X, y = table(0, k=k)
    ours, peer = Perceptron(**options).fit(X, y), Peer(**options).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))
    assert ours.n_iter_ == peer.n_iter_
    assert ours.certificate_.holds


def test_partial_fit_equals_scikit_learn():
    X, y = table(1, k=3)
    ours, peer = Perceptron(), Peer()
    for part in np.array_split(np.arange(len(X)), 5):
        ours.partial_fit(X[part], y[part], classes=[0, 1, 2])
        peer.partial_fit(X[part], y[part], classes=[0, 1, 2])
        np.testing.assert_array_equal(ours.coef_, peer.coef_)
    assert ours.certificate_.holds
    one_class = Perceptron().partial_fit(X[:3], [1, 1, 1], classes=[0, 1])
    assert one_class.certificate_.holds
    assert one_class.certificate_.verify(X[:3], [1, 1, 1]).holds


def test_padding_with_ones_equals_the_offset():
    X, y = table(2)
    padded = np.column_stack([X, np.ones(len(X))])
    with_offset = Perceptron().fit(X, y)
    through_origin = Perceptron(fit_intercept=False).fit(padded, y)
    np.testing.assert_allclose(through_origin.coef_[0, :-1], with_offset.coef_[0], atol=1e-12)
    assert through_origin.coef_[0, -1] == with_offset.intercept_[0]
    assert through_origin.mistakes_ == with_offset.mistakes_


def test_perceptron_is_sgd_with_step_one_on_its_loss():
    X, y = table(3)
    s = 2.0 * y - 1
    loss, w, b = get_loss("perceptron"), np.zeros(4), 0.0
    for _ in range(3):
        for x, label in zip(X, s):
            z = np.array([x @ w + b])
            # At the kink z = 0 every slope in [−y, 0] is a subgradient; the perceptron takes −y.
            slope = -label if z[0] == 0 else float(loss.slope(z, np.array([label]))[0])
            w, b = w - slope * x, b - slope
    model = Perceptron(shuffle=False, tol=None, max_iter=3).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], w, atol=1e-12)
    assert model.intercept_[0] == b


def test_answer_depends_on_start_and_order():
    X, _ = table(4)
    X = X[np.abs(X[:, 0] - X[:, 1]) > 0.3]  # a clear gap
    y = (X[:, 0] > X[:, 1]).astype(int)
    until = {"tol": None, "max_iter": 100_000}
    a = Perceptron(shuffle=False, **until).fit(X, y)
    b = Perceptron(shuffle=True, **until).fit(X, y)
    c = Perceptron(shuffle=False, **until).fit(X, y, coef_init=[[1.0, 2, 3, 4]], intercept_init=[1.0])
    assert a.score(X, y) == b.score(X, y) == c.score(X, y) == 1.0
    assert not np.allclose(a.coef_, b.coef_)
    assert not np.allclose(a.coef_, c.coef_)


@given(st.integers(0, 10**6), st.sampled_from(["zero", "random", "opposed"]), st.sampled_from([1.0, 0.1, 3.0]))
def test_mistakes_stay_within_the_bound(seed, start, eta0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(int(rng.integers(3, 40)), 2))
    truth = rng.normal(size=2)
    y = (X @ truth + 0.1 > 0).astype(int)
    y[0] = 1 - y[1] if len(set(y)) == 1 else y[0]
    offset = bool(rng.integers(0, 2))
    begin = {"zero": np.zeros(2), "random": 5 * rng.normal(size=2), "opposed": -20 * truth}[start]
    model = Perceptron(tol=None, max_iter=50, fit_intercept=offset, eta0=eta0)
    model.fit(X, y, coef_init=begin, intercept_init=[0.0])
    c = model.certificate_
    assert c.holds
    assert c.value == model.mistakes_ <= c.bound
    assert c.verify(X, y).holds
    if np.isfinite(c.bound) and start == "zero":
        R2 = np.max(np.sum(X**2, axis=1)) + offset
        assert c.bound >= R2 / np.max(np.linalg.norm(X, axis=1) + offset) ** 2 * (1 - 1e-9)
    if not np.isfinite(c.bound):
        assert "never stop" in c.claim


def test_bound_is_that_of_the_widest_margin():
    X, y = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]), [1, 1, 0, 0]
    c = Perceptron(fit_intercept=False).fit(X, y).certificate_
    assert c.bound == pytest.approx(2.0, rel=1e-9)  # R² = 2, γ = 1
    assert Perceptron().fit(X, y).certificate_.bound == pytest.approx(3.0, rel=1e-9)


def test_touching_and_overlapping_rows_never_stop():
    for X, y in (
        ([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1]),
        ([[0.0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]),
    ):
        model = Perceptron(shuffle=False, tol=None, max_iter=30).fit(X, y)
        c = model.certificate_
        assert c.holds
        assert c.bound == np.inf
        assert "never stop" in c.claim
        assert model.cycle_ > 0
        assert model.status_ == "cycle"
        assert c.verify(X, y).holds


def test_cycle_is_a_true_period():
    X, y = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]), [0, 0, 1, 1]
    states = []
    for passes in range(1, 40):
        m = Perceptron(shuffle=False, tol=None, max_iter=passes).fit(X, y)
        states.append((*m.coef_[0], m.intercept_[0]))
    assert states[30] == states[30 - m.cycle_]
    assert all(states[30] != states[30 - k] for k in range(1, m.cycle_))


def test_tampering_is_refused():
    X, y = table(5, noise=0.0)
    for labels in (y, np.random.default_rng(0).integers(0, 2, len(y))):
        c = Perceptron().fit(X, labels).certificate_
        assert c.verify(X, labels).holds
        assert Certificate.from_dict(c.to_dict()).verify(X, labels).holds
        for key, change in (
            ("coef_0", lambda v: v + 0.5),
            ("start_0", lambda v: v + 0.5),
            ("times_0", lambda v: v + 1),
            ("mistaken_0", lambda v: v[:-1]),
            ("classes", lambda v: v[::-1]),
            ("weights_0", lambda v: -v),
            ("multipliers_0", lambda v: v[:-1]),
        ):
            if key in c.evidence:
                evidence = {**c.evidence, key: change(c.evidence[key])}
                digests = {**c.digests, "evidence": digest_evidence(evidence)}
                assert not c.tampered(evidence=evidence, digests=digests).verify(X, labels).holds, key
        for key in ("value", "bound", "verdict"):
            figures = {**c.figures, key: 0.5}
            assert not c.tampered(figures=figures).verify(X, labels).holds
        assert not c.verify(X + 1, labels).same_data


def test_trace_tells_every_mistake():
    X, y = table(6, k=3)
    model = Perceptron(trace=True).fit(X, y)
    assert len(model.trace_) == model.mistakes_
    last = [m for m in model.trace_ if m.target == 1][-1]
    np.testing.assert_array_equal(last.after, model.coef_[1])
    assert last.intercept_after == model.intercept_[1]
    for m in model.trace_:
        assert m.label * m.score <= 0
        np.testing.assert_allclose(m.after - m.before, m.label * X[m.row], atol=1e-12)
    assert str(model.trace_).split()[:2] == ["iteration", "objective"]
    sparse = Perceptron(trace=True).fit(scipy.sparse.csr_array(X), y)
    assert len(sparse.trace_) == sparse.mistakes_


def ten_lines(X, y, passes):
    """Averaged and voted perceptrons, written out."""
    w, b, total, bias, votes = np.zeros(X.shape[1]), 0.0, 0.0, 0.0, []
    for _ in range(passes):
        for x, s in zip(X, 2.0 * y - 1):
            if s * (x @ w + b) <= 0:
                w, b = w + s * x, b + s
            total, bias = total + w, bias + b
            votes.append((w, b))
    n = len(votes)
    score = sum(np.where(X @ v + c > 0, 1, -1) for v, c in votes)
    return total / n, bias / n, score


@pytest.mark.parametrize("seed", [7, 8])
def test_averaged_and_voted_equal_ten_lines(seed):
    X, y = table(seed, noise=1.0)
    w, b, votes = ten_lines(X, y, 4)
    averaged = AveragedPerceptron(max_iter=4, shuffle=False).fit(X, y)
    np.testing.assert_allclose(averaged.coef_[0], w, rtol=1e-9)
    assert averaged.intercept_[0] == pytest.approx(b)
    voted = VotedPerceptron(max_iter=4, shuffle=False).fit(X, y)
    np.testing.assert_array_equal(voted.decision_function(X), votes)
    assert len(voted.ballots_[0].rows) <= len(X)
    for model in (averaged, voted):
        assert model.certificate_.holds
        assert model.certificate_.value == model.mistakes_


def test_sparse_float32_strings_and_warm_start():
    X, y = table(9, k=3)
    X[np.abs(X) < 0.5] = 0.0
    dense = Perceptron().fit(X, y)
    for form in (scipy.sparse.csr_matrix(X), scipy.sparse.csc_array(X)):
        sparse = Perceptron().fit(form, y)
        np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-10)
        assert sparse.certificate_.holds
        penalised = Perceptron(penalty="l2", alpha=0.05)
        np.testing.assert_allclose(penalised.fit(form, y).coef_, penalised.fit(X, y).coef_, atol=1e-9)
    assert Perceptron().fit(X.astype(np.float32), y).score(X, y) > 0.6
    names = np.array(["a", "b", "c"])[y]
    named = Perceptron().fit(X, names)
    assert named.certificate_.holds
    assert set(named.predict(X)) <= {"a", "b", "c"}
    again = Perceptron(warm_start=True, max_iter=1, tol=None).fit(X, y)
    first = again.coef_.copy()
    assert not np.array_equal(again.fit(X, y).coef_, first)
    assert again.certificate_.holds
    assert pickle.loads(pickle.dumps(again)).certificate_.verify(X, y).holds


def test_early_stopping_and_time_budget():
    X, y = table(10, n=300)
    model = Perceptron(early_stopping=True, n_iter_no_change=3).fit(X, y)
    assert model.certificate_.holds
    assert model.n_iter_ < 100
    assert Perceptron(time_budget=1e-9, tol=None).fit(X, y).n_iter_ == 1


def test_random_linear_classifier_keeps_the_best():
    X, y = table(11, k=3)
    model = RandomLinearClassifier(200, random_state=0).fit(X, y)
    assert model.errors_.min() == np.sum(model.predict(X) != y) == model.certificate_.value
    assert len(model.errors_) == 200
    assert model.certificate_.verify(X, y).holds
    weights = np.arange(len(y)) % 3
    heavy = RandomLinearClassifier(200, random_state=0).fit(X, y, weights)
    copies = RandomLinearClassifier(200, random_state=0).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(heavy.coef_, copies.coef_)
    assert heavy.certificate_.verify(X, y, weights).holds
    assert heavy.certificate_.error_rate == pytest.approx(copies.certificate_.error_rate)
    evidence = {**model.certificate_.evidence, "coef": -model.coef_}
    digests = {**model.certificate_.digests, "evidence": digest_evidence(evidence)}
    assert not model.certificate_.tampered(evidence=evidence, digests=digests).verify(X, y).holds


@pytest.mark.parametrize(
    ("run", "says"),
    [
        (lambda: Perceptron().fit([[1.0], [2.0]], [1, 1]), "two or more classes"),
        (lambda: Perceptron().fit([[1.0], [np.nan]], [0, 1]), "NaN"),
        (lambda: Perceptron().fit([[1.0], [2.0]], [0, 1], coef_init=[1.0, 2.0]), "coef_init"),
        (lambda: Perceptron().fit([[1.0], [2.0]], [0, 1], coef_init=[np.inf]), "finite"),
        (lambda: Perceptron().partial_fit([[1.0]], [0]), "classes"),
        (lambda: Perceptron().partial_fit([[1.0]], [2], classes=[0, 1]), "label"),
        (lambda: Perceptron(class_weight="balanced").partial_fit([[1.0]], [0], classes=[0, 1]), "balanced"),
        (lambda: Perceptron(eta0=1e308).fit([[10.0], [20.0]], [0, 1]), "overflowed"),
    ],
)
def test_bad_input_gets_one_clear_sentence(run, says):
    with pytest.raises((ValueError, ArithmeticError), match=says):
        run()
