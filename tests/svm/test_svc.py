"""SVC against quadratic-programming referees, libsvm, published results, and itself."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn import svm as foreign
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.exceptions import NotFittedError

from certifit import kernels
from certifit.certificates import Certificate, Data, issue
from certifit.certificates._data import digest_evidence
from certifit.exceptions import ConvergenceWarning, NoOptimumError
from certifit.svm import SVC, SVR, HardMarginSVC, evidence_of


def _cloud(seed, n=30, d=2, classes=2):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, d)) + y[:, None] * rng.normal(size=d), y


def _referee(K, y, cost, solver, **options):
    """Dual optimum by a general solver: minimise ½βᵀKβ − yᵀβ, with β in units of the largest cost."""
    from qpsolvers import solve_qp

    unit = cost.max()
    lo, hi = np.where(y > 0, 0.0, -cost / unit), np.where(y > 0, cost / unit, 0.0)
    P = scipy.sparse.csc_matrix(unit * K + 1e-12 * np.eye(len(K)))
    ones = scipy.sparse.csc_matrix(np.ones((1, len(y))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "almost solved" still is a referee's word, to the slack below
        u = solve_qp(P, -y, A=ones, b=np.zeros(1), lb=lo, ub=hi, solver=solver, **options)
    return None if u is None else y @ (unit * u) - 0.5 * (unit * u) @ K @ (unit * u)


def _judge(model, X, labels, w, C, solver, slack, **options):
    c = model.certificate_
    assert c.holds
    assert c.relative_gap < 2e-7
    counted = w > 0
    y = np.where(labels[counted] == 1, 1.0, -1.0)
    best = _referee(model.kernel_(X[counted]), y, C * w[counted], solver, **options)
    assert best is not None
    assert c.bound <= best + slack * (1 + abs(best))
    assert c.value >= best - slack * (1 + abs(best))


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_hundreds_of_small_problems_against_a_referee(kernel):
    """Duplicates (Gram matrices only semi-definite), C tiny and huge, weights of zero; the KKT cases add up."""
    for seed in range(80):
        rng = np.random.default_rng(seed)
        X, labels = _cloud(seed)
        if seed % 2:
            X = np.round(np.repeat(X[:15], 2, axis=0), 1)
        C = [1e-4, 0.1, 1.0, 50.0, 1e4][seed % 5]
        w = rng.integers(0, 3, len(labels)).astype(float)
        w[:2] = 1.0
        model = SVC(C=C, kernel=kernel, coef0=1.0, degree=2, tol=1e-5).fit(X, labels, w)
        _judge(model, X, labels, w, C, "clarabel", 1e-5 if C < 1e4 else 3e-4)
        c = model.certificate_
        assert c.verify(X, labels, w)
        assert c.multipliers_zero + c.multipliers_inside + c.multipliers_at_cost == len(labels)
        alpha, cost = np.abs(model.dual_coef_[0]), C * w[model.support_]
        assert c.multipliers_inside == np.count_nonzero(alpha < cost * (1 - 1e-9))


@pytest.mark.parametrize(
    ("solver", "options"),
    [("highs", {"time_limit": 10.0}), ("osqp", {"eps_abs": 1e-8, "eps_rel": 1e-8, "max_iter": 200_000})],
)
def test_two_more_referees(solver, options):
    for seed in range(10):
        X, labels = _cloud(seed)
        model = SVC(tol=1e-5).fit(X, labels)
        _judge(model, X, labels, np.ones(30), 1.0, solver, 1e-5, **options)


SETS = {"cancer": load_breast_cancer, "iris": load_iris, "digits": load_digits}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_against_libsvm_on_real_data(name, kernel):
    X, y = SETS[name](return_X_y=True)
    if name == "digits":
        X, y = X[:600], y[:600]
    if name == "cancer":
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    shape = {"kernel": kernel, "decision_function_shape": "ovo"}
    ours, theirs = SVC(**shape).fit(X, y), foreign.SVC(**shape).fit(X, y)
    kind, evidence = evidence_of(theirs, X, y)
    judged = issue(kind, Data.of(X, y), evidence)
    assert judged.holds
    assert ours.certificate_.holds
    assert ours.certificate_.value <= judged.value + ours.certificate_.gap + 1e-9
    sure = ours.certain(X)
    assert sure.sum() == ours.certificate_.certain_labels
    np.testing.assert_array_equal(ours.predict(X)[sure], theirs.predict(X)[sure])
    few, many = sorted([len(ours.support_), len(theirs.support_)])
    assert many - few <= max(3, 0.01 * many)
    assert ours.dual_coef_.shape[0] == theirs.dual_coef_.shape[0]
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=0.05)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=0.15)
    if kernel == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=0.05)


def test_heart_scale(reference):
    record, table = reference("svm/heart_scale")
    X, y = table.drop(columns="y").to_numpy(), table["y"].to_numpy()
    expected = record["expected"]
    model = SVC(gamma=1 / 13, tol=1e-4).fit(X, y)
    c = model.certificate_
    assert -c.bound == pytest.approx(expected["objective_dual"], abs=1e-3)
    assert -model.intercept_[0] == pytest.approx(expected["rho"], abs=2e-3)
    assert abs(len(model.support_) - expected["n_support"]) <= 2
    assert int((model.predict(X) == y).sum()) == expected["train_correct"]
    linear = SVC(kernel="linear", tol=1e-4).fit(X, y)
    other = expected["linear_kernel_C1_libsvm_run"]
    assert -linear.certificate_.bound == pytest.approx(other["objective_dual"], abs=1e-3)
    assert int((linear.predict(X) == y).sum()) == other["train_correct"]


def test_iris_as_in_e1071(reference):
    record, table = reference("svm/iris_e1071")
    X = table.drop(columns="Species").to_numpy(dtype=float)
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    y = table["Species"].to_numpy()
    model = SVC(gamma=0.25).fit(X, y)
    assert np.abs(model.n_support_ - record["expected"]["n_support_setosa_versicolor_virginica"]).max() <= 1
    confusion = np.array(
        [[int(np.sum((y == a) & (model.predict(X) == b))) for b in model.classes_] for a in model.classes_]
    )
    np.testing.assert_array_equal(confusion, record["expected"]["train_confusion_rows_true"])


@given(seed=st.integers(0, 10**6))
def test_certain_labels_are_those_of_a_much_better_fit(seed):
    X, y = _cloud(seed, n=60, classes=3)
    coarse, fine = SVC(tol=1e-1).fit(X, y), SVC(tol=1e-9).fit(X, y)
    new = np.random.default_rng(seed + 1).normal(size=(100, 2)) * 2
    sure = coarse.certain(new)
    np.testing.assert_array_equal(coarse.predict(new)[sure], fine.predict(new)[sure])
    assert fine.certain(new).mean() >= sure.mean()


def test_kernels_of_every_kind_agree():
    X, y = _cloud(1, n=40)
    plain = SVC(kernel="linear", tol=1e-8).fit(X, y)
    given_gram = SVC(kernel="precomputed", tol=1e-8).fit(X @ X.T, y)
    function = SVC(kernel=lambda A, B: A @ B.T, tol=1e-8).fit(X, y)
    mapped = SVC(kernel=kernels.FeatureMap(lambda A: A), tol=1e-8).fit(X, y)
    summed = SVC(kernel=0.5 * kernels.Linear() + 0.5 * kernels.Linear(), tol=1e-8).fit(X, y)
    for other in (function, mapped, summed):
        np.testing.assert_allclose(other.decision_function(X), plain.decision_function(X), atol=1e-4)
        assert other.certificate_.holds
        assert other.certificate_.verify(X, y)
    np.testing.assert_allclose(given_gram.decision_function(X @ X.T), plain.decision_function(X), atol=1e-4)
    assert given_gram.certificate_.verify(X @ X.T, y)
    assert given_gram.certificate_.assumes
    assert not given_gram.certain(X @ X.T).any()
    assert not SVC(kernel="sigmoid").fit(X, y).certificate_.holds


def test_class_weights_as_in_scikit_learn():
    X, y = _cloud(2, n=60, classes=3)
    for weight in ("balanced", {0: 3.0, 2: 0.5}):
        ours, theirs = (
            SVC(class_weight=weight, tol=1e-6).fit(X, y),
            foreign.SVC(class_weight=weight, tol=1e-6).fit(X, y),
        )
        np.testing.assert_allclose(ours.class_weight_, theirs.class_weight_)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)


def test_probabilities_never_contradict_predict():
    for classes in (2, 3):
        X, y = _cloud(5, n=90, classes=classes)
        model = SVC(probability=True).fit(X, y)
        new = np.random.default_rng(0).normal(size=(300, 2)) * 3
        p = model.predict_proba(new)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(new))
    with pytest.raises(AttributeError, match="predict_proba"):
        SVC().fit(X, y).predict_proba  # noqa: B018


def test_votes_ties_and_shapes():
    X, y = _cloud(7, n=60, classes=4)
    ovo = SVC(decision_function_shape="ovo").fit(X, y)
    assert ovo.decision_function(X).shape == (60, 6)
    assert SVC().fit(X, y).decision_function(X).shape == (60, 4)
    ties = SVC(break_ties=True).fit(X, y)
    np.testing.assert_array_equal(ties.predict(X), ties.decision_function(X).argmax(axis=1))
    with pytest.raises(ValueError, match="break_ties"):
        SVC(break_ties=True, decision_function_shape="ovo").fit(X, y).predict(X)


def test_budget_and_trace():
    X, y = _cloud(3, n=3000, d=5)
    with pytest.warns(ConvergenceWarning, match="time budget"):
        early = SVC(time_budget=1e-9, trace=True).fit(X, y)
    assert early.fit_status_ == 1
    assert early.certificate_.holds
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        steps = SVC(max_iter=20).fit(X, y)
    assert steps.certificate_.relative_gap > 1e-4
    full = SVC(trace=True).fit(X, y)
    gaps = [r.gap for r in full.trace_]
    assert gaps[-1] < 1e-2 * gaps[0]
    assert full.certificate_.relative_gap < 1.5e-5
    unshrunk = SVC(shrinking=False).fit(X, y)
    assert unshrunk.certificate_.value == pytest.approx(full.certificate_.value, rel=1e-4)


def test_single_precision_gives_way_where_it_is_too_coarse():
    X, y = _cloud(4, n=1200, d=3)
    model = SVC(gamma=1e4, tol=1e-3).fit(X, y)
    assert model.certificate_.holds
    assert model.certificate_.relative_gap < 1.5e-5


def test_certificates_refuse_tampering_and_survive_json():
    X, y = _cloud(6, n=40)
    c = SVC(C=2.0).fit(X, y).certificate_
    assert Certificate.from_dict(c.to_dict()).verify(X, y)
    for key, change in (
        ("coef", lambda a: a * 1.001),
        ("dual", lambda a: a * 1.001),
        ("intercept", lambda a: a + 0.1),
        ("objective", lambda a: a | {"class_weight": [0.5 * v for v in a["class_weight"]]}),
        ("support", lambda a: a[::-1]),
    ):
        evidence = dict(c.evidence) | {key: change(c.evidence[key])}
        digests = dict(c.digests) | {"evidence": digest_evidence(evidence)}
        assert not c.tampered(evidence=evidence).verify(X, y), key
        assert not c.tampered(evidence=evidence, digests=digests).verify(X, y), key
    for key in ("gap", "value", "relative_gap", "largest_violation"):
        assert not c.tampered(figures=dict(c.figures) | {key: 0.0}).verify(X, y)
    assert not c.tampered(figures=dict(c.figures) | {"bound": c.value}).verify(X, y)
    assert not c.tampered(claim="Perfect.").verify(X, y)
    assert not c.verify(X * 1.0001, y).same_data
    assert not c.verify(X, y[::-1]).same_data


def test_exact_rigour_proves_the_same_gap():
    X, y = _cloud(8, n=12)
    c = SVC(kernel="linear").fit(X, y).certificate_
    assert c.verify(X, y, rigor="exact")


@pytest.mark.parametrize(
    ("X", "y", "weights", "message"),
    [
        ([[1.0], [2.0]], [0, 0], None, "1 class"),
        ([[np.nan], [2.0]], [0, 1], None, "NaN"),
        ([[1.0], [2.0]], [0, 1], [1.0, 0.0], "without any weight"),
        ([[1.0], [2.0]], [0, 1], [1.0, -1.0], "belong to the same class"),
        ([[1.0], [2.0]], [0, 1], [0.0, -1.0], "zero or negative"),
    ],
)
def test_bad_input_is_named(X, y, weights, message):
    with pytest.raises(ValueError, match=message):
        SVC().fit(X, y, weights)


def test_a_row_of_negative_weight_is_left_out():
    X, y = _cloud(11, n=30)
    w = np.where(np.arange(30) < 26, 1.0, -3.0)
    model, fewer = SVC().fit(X, y, w), SVC().fit(X[:26], y[:26])
    np.testing.assert_allclose(model.decision_function(X), fewer.decision_function(X), rtol=1e-7, atol=1e-9)
    assert model.certificate_.verify(X, y, np.maximum(w, 0.0))


def test_sparse_fits_keep_sparse_attributes():
    X, y = _cloud(12, n=30)
    S = scipy.sparse.csr_array(X)
    model, dense = SVC(kernel="linear").fit(S, y), SVC(kernel="linear").fit(X, y)
    assert all(isinstance(a, scipy.sparse.csr_array) for a in (model.dual_coef_, model.coef_, model.support_vectors_))
    np.testing.assert_allclose(model.coef_.toarray(), dense.coef_, rtol=1e-7)
    with pytest.raises(ValueError, match="trained on dense data"):
        dense.predict(S)
    with pytest.raises(ValueError, match="read-only"):
        dense.coef_[0, 0] = 1.0


def test_odd_but_legal_data():
    y = np.array([0, 1] * 10)
    for X in (np.zeros((20, 2)), np.full((20, 1), 1e150) * y[:, None], 1e-150 * np.arange(20.0)[:, None]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = SVC().fit(X, y)
        assert set(model.predict(X)) <= {0, 1}
    with pytest.raises(ValueError, match="square matrix"):
        SVC(kernel="precomputed").fit(np.ones((3, 2)), [0, 1, 0])


def test_blocks_that_hold_every_point_in_another_order():
    """Nearly all points free: the block of violators is the whole active set, but not in its order."""
    from sklearn.datasets import make_classification

    X, y = make_classification(5000, 20, n_informative=10, n_redundant=4, flip_y=0.05, random_state=0)
    X, y = ((X - X.mean(axis=0)) / X.std(axis=0))[:4000], y[:4000]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SVC(gamma=0.2, time_budget=20.0).fit(X, y)
    assert model.certificate_.relative_gap < 1.1e-5


def test_probabilities_belong_to_the_fit():
    X, y = load_iris(return_X_y=True)
    model = SVC().fit(X, y)
    assert not hasattr(model, "predict_proba")
    model.probability = True
    with pytest.raises(NotFittedError, match="fitted with probability=False"):
        model.predict_proba(X)
    assert model.fit(X, y).predict_proba(X).shape == (150, 3)


def test_small_sparse_tables_are_fitted_to_the_bit_as_dense_ones():
    X, y = load_iris(return_X_y=True)
    for kernel in ("linear", "poly"):
        dense, packed = SVC(kernel=kernel).fit(X, y), SVC(kernel=kernel).fit(scipy.sparse.csr_array(X), y)
        np.testing.assert_array_equal(packed.dual_coef_.toarray(), dense.dual_coef_)
        np.testing.assert_array_equal(packed.intercept_, dense.intercept_)


def test_numbers_too_large_for_a_scale_are_refused():
    X = np.finfo(float).max * np.random.default_rng(0).uniform(size=(10, 2))
    with pytest.raises(ValueError, match="not finite"):
        SVC().fit(X, np.arange(10) % 2)


def test_an_infinite_cost_is_the_hard_margin():
    X, y = load_iris(return_X_y=True)
    model = SVC(kernel="linear", C=np.inf).fit(X[:100], y[:100])
    hard = HardMarginSVC(kernel="linear").fit(X[:100], y[:100])
    np.testing.assert_allclose(model.decision_function(X), hard.decision_function(X), rtol=1e-5, atol=1e-6)
    assert model.certificate_.holds
    assert model.certificate_.verify(X[:100], y[:100])
    with pytest.raises(NoOptimumError, match="finite C"):
        SVC(kernel="linear", C=np.inf).fit(X[50:, :1], y[50:])
    tube = SVR(C=np.inf, epsilon=0.1).fit(X[::15, :3] + np.arange(10)[:, None], X[::15, 3])
    assert np.abs(tube.predict(X[::15, :3] + np.arange(10)[:, None]) - X[::15, 3]).max() <= 0.1 + 1e-6
    assert tube.certificate_.holds
