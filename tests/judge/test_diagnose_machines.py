"""Machines of several classes and for regression with a known slip are told what it was; best ones are right."""

import numpy as np
import pytest
import sklearn.svm

import certifit as cf


def classes(seed=0, n=60, k=3):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    X = rng.normal(size=(n, 2)) * [1.0, 3.0] + np.column_stack([1.5 * y, 2.0 * (y == 1)])
    return X, np.array(["a", "b", "c", "d"])[y]


def numbers(seed=0, n=50):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) * [1.0, 2.0] + [1.0, 0.0]
    return X, np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.4 * rng.normal(size=n) + 2.0


def said(model, asked, X, y):
    """The slips of a model that was fitted with other settings than those that were asked for."""
    found = cf.certify(model.set_params(**asked), X, y).diagnose(X, y)
    assert not found.right
    assert all(f.certificate.holds and f.certificate.relative_gap <= 1e-5 for f in found)
    return [f.name for f in found]


@pytest.mark.parametrize("seed", range(10))
def test_right_answers_of_others(seed):
    """Of scikit-learn's and of our own, at tight tolerance."""
    X, y = classes(seed, k=3 + seed % 2)
    A, t = numbers(seed)
    for model, rows, target in (
        (sklearn.svm.SVC(gamma=0.3, tol=1e-9), X, y), (sklearn.svm.SVC(kernel="linear", C=0.3, tol=1e-9), X, y),
        (sklearn.svm.SVR(gamma=0.3, C=2.0, tol=1e-9), A, t), (sklearn.svm.SVR(kernel="linear", tol=1e-9), A, t),
        (sklearn.svm.NuSVC(nu=0.3, gamma=0.3, tol=1e-9), X, y),
        (sklearn.svm.LinearSVC(C=0.5, tol=1e-10, max_iter=1_000_000), X, y),
        (sklearn.svm.LinearSVR(C=0.5, epsilon=0.2, loss="squared_epsilon_insensitive", tol=1e-10, max_iter=1_000_000),
         A, t),
        (cf.svm.SVC(gamma=0.3, tol=1e-9), X, y), (cf.svm.NuSVC(nu=0.3, gamma=0.3, tol=1e-9), X, y),
        (cf.svm.SVR(gamma=0.3, tol=1e-9), A, t), (cf.svm.LinearSVC(tol=1e-9), X, y),
        (cf.svm.LinearSVR(tol=1e-9, epsilon=0.2), A, t),
    ):  # fmt: skip
        found = cf.certify(model.fit(rows, target), rows, target).diagnose(rows, target)
        assert found.right, (type(model), str(found))


CLASSES = {
    "C/2 for C": {"C": 0.5}, "2C for C": {"C": 2.0}, "C/n for C": {"C": 1 / 60}, "nC for C": {"C": 60.0},
    "2γ for γ": {"gamma": 0.6}, "γ/2 for γ": {"gamma": 0.15}, "γ² for γ": {"gamma": 0.09},
    "linear kernel": {"kernel": "linear"},
}  # fmt: skip


@pytest.mark.parametrize("slip", CLASSES)
def test_slips_of_machines_for_pairs_of_classes(slip):
    X, y = classes()
    asked = {"kernel": "rbf", "C": 1.0, "gamma": 0.3}
    used = asked | CLASSES[slip]
    model = sklearn.svm.SVC(tol=1e-9, **used).fit(X, y)
    model.__dict__.pop("_gamma")
    assert slip in said(model, asked, X, y)


def test_other_slips_of_machines_for_pairs_of_classes():
    X, y = classes()
    asked = {"C": 1.0, "gamma": 0.3}

    def changed(rows=X, target=y, **parts):
        model = sklearn.svm.SVC(tol=1e-9, **asked).fit(rows, target)
        for name, change in parts.items():
            setattr(model, name, change(getattr(model, name)))
        return model

    turned = changed()
    turned._dual_coef_, turned._intercept_ = -turned._dual_coef_, -turned._intercept_
    turned.__dict__.update(dual_coef_=-turned.dual_coef_, intercept_=-turned.intercept_)
    assert "wrong sign" in said(turned, asked, X, y)
    no_offset = changed(intercept_=np.zeros_like)
    assert "wrong offset" in said(no_offset, asked, X, y)
    assert "scaled columns" in said(changed((X - X.mean(0)) / X.std(0)), asked, X, y)
    own = cf.svm.SVC(tol=1e-9, **asked).fit(X, y).certificate_
    exchanged = np.array(["b", "c", "a"])[np.searchsorted(["a", "b", "c"], y)]
    c = cf.certificates.issue("duality", cf.certificates.Data.of(X, exchanged), own.evidence)
    assert [f.name for f in c.diagnose(X, exchanged)] == ["classes in another order"]


REST = {
    "C/2 for C": {"C": 0.25}, "2C for C": {"C": 1.0}, "C/n for C": {"C": 0.5 / 60}, "nC for C": {"C": 30.0},
    "other loss": {"loss": "hinge"}, "forgotten offset": {"fit_intercept": False},
}  # fmt: skip


@pytest.mark.parametrize("slip", REST)
@pytest.mark.parametrize("k", [2, 3, 4])
def test_slips_of_machines_of_one_class_against_the_rest(slip, k):
    X, y = classes(1, k=k)
    asked = {"C": 0.5, "loss": "squared_hinge", "fit_intercept": True}
    model = cf.svm.LinearSVC(tol=1e-9, **asked | REST[slip]).fit(X, y)
    model.intercept_ = np.broadcast_to(model.intercept_, (len(model.coef_),)).copy()
    assert slip in said(model, asked, X, y)


@pytest.mark.parametrize("k", [2, 3])
def test_other_slips_of_machines_of_one_class_against_the_rest(k):
    X, y = classes(2, k=k)
    asked = {"C": 0.5}
    theirs = sklearn.svm.LinearSVC(C=0.5, tol=1e-11, max_iter=1_000_000).fit(X, y)
    free = cf.certify(theirs, X, y, objective="true").diagnose(X, y)
    assert not free.right
    assert [f.name for f in free] == ["penalised offset"]
    ours = cf.svm.LinearSVC(C=0.5, tol=1e-9).fit(X, y)
    theirs.coef_, theirs.intercept_ = ours.coef_, ours.intercept_
    assert said(theirs, asked, X, y) == ["offset not penalised"]
    ours.coef_, ours.intercept_ = -ours.coef_, -ours.intercept_
    assert "wrong sign" in said(ours, asked, X, y)
    assert "scaled columns" in said(cf.svm.LinearSVC(C=0.5, tol=1e-9).fit((X - X.mean(0)) / X.std(0), y), asked, X, y)
    assert "centred columns" in said(cf.svm.LinearSVC(C=0.5, tol=1e-9).fit(X - X.mean(0), y), asked, X, y)
    if k == 3:
        ours = cf.svm.LinearSVC(C=0.5, tol=1e-9).fit(X, y)
        ours.coef_, ours.intercept_ = ours.coef_[[1, 2, 0]], ours.intercept_[[1, 2, 0]]
        assert said(ours, asked, X, y) == ["classes in another order"]


TUBE = {
    "C/2 for C": {"C": 0.5}, "2C for C": {"C": 2.0}, "C/n for C": {"C": 1 / 50}, "nC for C": {"C": 50.0},
    "no tube": {"epsilon": 0.0}, "2ε for ε": {"epsilon": 0.4}, "ε/2 for ε": {"epsilon": 0.1},
    "2γ for γ": {"gamma": 0.6}, "γ/2 for γ": {"gamma": 0.15}, "linear kernel": {"kernel": "linear"},
}  # fmt: skip


@pytest.mark.parametrize("slip", TUBE)
def test_slips_of_regression_with_a_tube(slip):
    X, y = numbers()
    asked = {"kernel": "rbf", "C": 1.0, "gamma": 0.3, "epsilon": 0.2}
    model = sklearn.svm.SVR(tol=1e-9, **asked | TUBE[slip]).fit(X, y)
    model.__dict__.pop("_gamma")
    assert slip in said(model, asked, X, y)


def test_other_slips_of_regression_with_a_tube():
    X, y = numbers()
    asked = {"C": 1.0, "gamma": 0.3, "epsilon": 0.2}
    model = sklearn.svm.SVR(tol=1e-9, **asked).fit(X, y)
    model.intercept_ = np.zeros(1)
    assert "wrong offset" in said(model, asked, X, y)
    model = sklearn.svm.SVR(tol=1e-9, **asked).fit(X, -y)
    assert "wrong sign" in said(model, asked, X, y)
    model = sklearn.svm.SVR(tol=1e-9, **asked).fit((X - X.mean(0)) / X.std(0), y)
    assert "scaled columns" in said(model, asked, X, y)


LINEAR_TUBE = {
    "half the penalty": {"C": 2.0}, "twice the penalty": {"C": 0.5}, "no tube": {"epsilon": 0.0},
    "2ε for ε": {"epsilon": 0.4}, "ε/2 for ε": {"epsilon": 0.1}, "other loss": {"loss": "epsilon_insensitive"},
    "sum for mean": {"C": 50.0}, "penalty times n": {"C": 1 / 50},
}  # fmt: skip


@pytest.mark.parametrize("slip", LINEAR_TUBE)
def test_slips_of_linear_regression_with_a_tube(slip):
    X, y = numbers()
    asked = {"C": 1.0, "epsilon": 0.2, "loss": "squared_epsilon_insensitive"}
    ours = cf.svm.LinearSVR(tol=1e-10, **asked | LINEAR_TUBE[slip]).fit(X, y)
    c = cf.certify_coefficients(
        ours.coef_,
        ours.intercept_[0],
        X,
        y,
        cf.losses.SquaredEpsilonInsensitive(0.2),
        cf.regularizers.SquaredL2(0.5),
        1 / 50,
    )
    found = c.diagnose(X, y)
    assert not found.right
    assert slip in [f.name for f in found]


@pytest.mark.parametrize("loss", [cf.losses.EpsilonInsensitive(0.2), cf.losses.SquaredEpsilonInsensitive(0.2)])
@pytest.mark.parametrize("seed", range(5))
def test_coefficients_of_a_tube_by_hand_are_right(loss, seed):
    X, y = numbers(seed)
    for offset in (True, False):
        ours = cf.svm.LinearSVR(tol=1e-10, C=0.7, epsilon=0.2, loss=loss.name, fit_intercept=offset).fit(X, y)
        b = ours.intercept_[0] if offset else None
        c = cf.certify_coefficients(ours.coef_, b, X, y, loss, cf.regularizers.SquaredL2(0.5), 1 / (0.7 * 50))
        assert c.relative_gap < 1e-8
        assert c.diagnose(X, y).right


SHARES = {"ν/2 for ν": 0.2, "2ν for ν": 0.8, "1 − ν for ν": 0.6, "ν² for ν": 0.16}


@pytest.mark.parametrize("slip", SHARES)
@pytest.mark.parametrize("k", [2, 3])
def test_slips_of_machines_with_a_share(slip, k):
    X, y = classes(3, k=k)
    model = sklearn.svm.NuSVC(nu=SHARES[slip], gamma=0.3, tol=1e-10).fit(X, y)
    assert slip in said(model, {"nu": 0.4}, X, y)


def test_weights_of_classes_are_part_of_the_objective():
    """A slip is looked for with the weights that the answer has, not without them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2)) + [1.0, 0.0]
    y = (X[:, 0] + rng.normal(size=80) > 0.2).astype(int)
    asked = {"C": 0.5, "class_weight": {0: 3.0, 1: 1.0}}
    for family, half in ((cf.linear_model.LogisticRegression, "half the penalty"), (cf.svm.LinearSVC, "2C for C")):
        assert cf.certify(family(tol=1e-9, **asked).fit(X, y), X, y).diagnose(X, y).right
        assert half in said(family(tol=1e-9, **asked | {"C": 1.0}).fit(X, y), asked, X, y)
