"""Crammer and Singer's machine: against scikit-learn's, a quadratic programme, copies of rows, and forged evidence."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
import sklearn.svm
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

import certifit as cf
from certifit._objective import Objective
from certifit.certificates import Ball, Data, issue
from certifit.exceptions import CertifitError
from certifit.kernels import Linear
from certifit.loops import crammer_singer as loops
from certifit.losses import MulticlassHinge, Softmax
from certifit.regularizers import SquaredL2
from certifit.svm import LinearSVC

RNG = np.random.default_rng(5)
IRIS, KINDS = load_iris(return_X_y=True)
WINE, GRAPES = load_wine(return_X_y=True)


def crammer(**options):
    return LinearSVC(multi_class="crammer_singer", **options)


def paid(W, b, X, y, cost, scale=1.0):
    """liblinear's objective, written down once more."""
    z, own = X @ W.T + b, np.arange(len(y))
    asked = z + 1.0
    asked[own, y] -= 1.0
    return 0.5 * np.sum(W**2) + 0.5 * np.sum((b / scale) ** 2) + cost @ (asked.max(axis=1) - z[own, y])


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize(
    "options", [{}, {"fit_intercept": False}, {"intercept_scaling": 7.0}, {"class_weight": "balanced"}]
)
def test_the_machine_is_scikit_learns_where_that_converges(C, options):
    X, y = StandardScaler().fit_transform(WINE)[20:], GRAPES[20:]
    ours = crammer(C=C, tol=1e-10, **options).fit(X, y)
    theirs = sklearn.svm.LinearSVC(multi_class="crammer_singer", C=C, tol=1e-9, max_iter=20_000, **options).fit(X, y)
    assert ours.certificate_.holds
    assert ours.certificate_.relative_gap <= 1e-9
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-4 * np.abs(theirs.coef_).max())
    weight = len(y) / (3 * np.bincount(y))[y] if "class_weight" in options else np.ones(len(y))
    here, there = (
        paid(m.coef_, m.intercept_, X, y, C * weight, options.get("intercept_scaling", 1.0)) for m in (ours, theirs)
    )
    assert here <= there * (1 + 1e-9)
    assert ours.certificate_.value == pytest.approx(here, rel=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_a_quadratic_programme_finds_the_same_value():
    qpsolvers = pytest.importorskip("qpsolvers")
    X, y, C = RNG.normal(size=(30, 2)), np.arange(30) % 3, 0.7
    P = np.hstack([X, np.ones((30, 1))])
    n, d, K = 30, 3, 3
    H = np.diag(np.concatenate([np.ones(K * d), np.full(n, 1e-12)]))
    q = np.concatenate([np.zeros(K * d), np.full(n, C)])
    G, h = [], []
    for i in range(n):
        for k in range(K):
            row = np.zeros(K * d + n)
            row[k * d : k * d + d] += P[i]
            row[y[i] * d : y[i] * d + d] -= P[i]
            row[K * d + i] = -1.0
            G.append(row)
            h.append(-float(k != y[i]))
    solver = next((s for s in ("clarabel", "quadprog", "osqp") if s in qpsolvers.available_solvers), None)
    if solver is None:
        pytest.skip("no solver of quadratic programmes")
    x = qpsolvers.solve_qp(
        scipy.sparse.csc_matrix(H), q, scipy.sparse.csc_matrix(np.array(G)), np.array(h), solver=solver
    )
    W = x[: K * d].reshape(K, d)
    model = crammer(C=C, tol=1e-11).fit(X, y)
    assert paid(model.coef_, model.intercept_, X, y, np.full(n, C)) == pytest.approx(
        paid(W[:, :2], W[:, 2], X, y, np.full(n, C)), rel=1e-7
    )


@pytest.mark.parametrize("sparse", [False, True])
def test_weight_k_is_k_copies(sparse):
    X, y = RNG.normal(size=(60, 3)), np.arange(60) % 4
    k = RNG.integers(0, 4, 60)
    k[:4] = 1
    kind = scipy.sparse.csr_matrix if sparse else np.asarray
    weighted = crammer(tol=1e-11).fit(kind(X), y, k)
    copied = crammer(tol=1e-11).fit(kind(np.repeat(X, k, axis=0)), np.repeat(y, k))
    np.testing.assert_allclose(weighted.coef_, copied.coef_, atol=1e-5)
    assert weighted.certificate_.value == pytest.approx(copied.certificate_.value, rel=1e-9)
    np.testing.assert_array_equal(crammer(tol=1e-11).fit(X, y, k).predict(X), weighted.predict(X))


def test_columns_of_very_different_sizes_are_solved_where_coordinate_descent_gives_up():
    for C in (0.01, 1.0, 100.0):
        c = crammer(C=C).fit(WINE, GRAPES).certificate_
        assert c.holds
        assert c.relative_gap <= 1e-4


def test_two_classes_are_one_row_of_coefficients():
    X, y = WINE[:130], GRAPES[:130]
    X = StandardScaler().fit_transform(X)
    ours = crammer(C=0.3, tol=1e-10).fit(X, y)
    theirs = sklearn.svm.LinearSVC(multi_class="crammer_singer", C=0.3, tol=1e-9, max_iter=20_000).fit(X, y)
    assert ours.coef_.shape == theirs.coef_.shape == (1, X.shape[1])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)
    assert ours.certificate_.relative_gap <= 1e-9
    assert cf.certify(theirs, X, y).relative_gap <= 1e-8
    assert cf.certify(theirs, X, y).value == pytest.approx(ours.certificate_.value, rel=1e-8)


def test_anybodys_machine_is_judged_by_this_objective():
    X = StandardScaler().fit_transform(WINE)
    good = sklearn.svm.LinearSVC(multi_class="crammer_singer", C=0.5, tol=1e-9, max_iter=20_000).fit(X, GRAPES)
    c = cf.certify(good, X, GRAPES)
    assert c.holds
    assert c.relative_gap < 1e-8
    assert "By liblinear's objective, which penalises the offset" in c.claim
    with pytest.warns(UserWarning, match="converge"):
        early = sklearn.svm.LinearSVC(multi_class="crammer_singer", max_iter=100).fit(WINE, GRAPES)
    c = cf.certify(early, WINE, GRAPES)
    best = crammer(tol=1e-9).fit(WINE, GRAPES).certificate_
    assert c.holds
    assert c.value - best.value == pytest.approx(c.gap, rel=1e-6)
    other = sklearn.svm.LinearSVC(C=0.5).fit(X, GRAPES)
    other.multi_class = "crammer_singer"
    assert cf.certify(other, X, GRAPES).relative_gap > 0.01
    with pytest.raises(CertifitError, match="penalises the offset"):
        cf.certify(good, X, GRAPES, objective="true")
    assert cf.certify(crammer(C=0.5, tol=1e-10).fit(X, GRAPES), X, GRAPES).relative_gap < 1e-8


def test_labels_that_are_certain_stay_under_a_tighter_fit():
    X = StandardScaler().fit_transform(WINE) + 0.8 * RNG.normal(size=WINE.shape)
    rough, fine = crammer(C=0.1, tol=1e-3).fit(X, GRAPES), crammer(C=0.1, tol=1e-11).fit(X, GRAPES)
    sure = rough.certain(X)
    assert 0.3 < sure.mean() <= 1.0
    np.testing.assert_array_equal(rough.predict(X)[sure], fine.predict(X)[sure])


def _evidence():
    X, y = RNG.normal(size=(24, 2)), np.arange(24) % 3
    c = crammer(tol=1e-8).fit(X, y).certificate_
    return Data.of(X, y), dict(c.evidence), c


def test_forged_evidence_proves_nothing_false():
    data, evidence, real = _evidence()
    bound, rng = real.value - real.gap, np.random.default_rng(0)
    held = 0
    for _ in range(400):
        forged = {
            k: (v.copy() if isinstance(v, np.ndarray) else dict(v) if isinstance(v, dict) else v)
            for k, v in evidence.items()
        }
        key = ("coef", "intercept", "dual")[rng.integers(3)]
        at = tuple(rng.integers(s) for s in forged[key].shape)
        forged[key][at] += 10.0 ** rng.uniform(-9, 1) * rng.choice([-1.0, 1.0])
        if rng.random() < 0.3:
            forged["dual"] = np.roll(forged["dual"], 1, axis=int(rng.integers(2)))
        if rng.random() < 0.3:
            forged["dual"] = forged["dual"] * rng.choice([0.5, 1.0 + 1e-9, 2.0, -1.0])
        c = issue("duality", data, forged)
        if c.holds:
            held += 1
            W, b = forged["coef"], forged["intercept"]
            codes = data.y.astype(int)
            assert c.value == pytest.approx(paid(W, b, data.X, codes, np.ones(24)), rel=1e-9)
            assert c.value - c.gap <= real.value + 1e-12
            assert c.value >= bound
    assert held > 20
    for change in ({"padding": None}, {"padding": 5.0}, {"strength": 0.5}, {"loss": {"name": "softmax", "params": {}}}):
        c = issue("duality", data, evidence | {"objective": evidence["objective"] | change})
        assert not c.holds or c.relative_gap > 10 * real.relative_gap


@pytest.mark.parametrize("loss", [MulticlassHinge(), Softmax()], ids=lambda loss: loss.name)
def test_a_kernel_has_one_column_of_scores(loss):
    objective = Objective(loss, SquaredL2(0.5), 1.0, classes=(0, 1, 2), stated="sum")
    forged = {"objective": objective.to_dict(), "coef": 50 * RNG.normal(size=(3, 9)), "intercept": np.zeros(3),
              "dual": np.zeros((9, 3)), "support": np.arange(9), "kernel": Linear().record()}  # fmt: skip
    assert not issue("duality", Data.of(RNG.normal(size=(9, 2)), np.arange(9) % 3), forged).holds


def test_the_loss_and_its_conjugate():
    loss, z, y = MulticlassHinge(), RNG.normal(size=(50, 4)) * 2, RNG.integers(0, 4, 50)
    u = loss.slope(z, y)
    np.testing.assert_allclose(loss.fenchel_young(z, u, y), 0.0, atol=1e-12)
    np.testing.assert_allclose(loss.value(z, y) + loss.conjugate(u, y), np.sum(u * z, axis=1), atol=1e-12)
    p = RNG.dirichlet(np.ones(4), 50)
    free = p - loss.one_hot(y, 4)
    assert np.all(loss.fenchel_young(z, free, y) >= -1e-12)
    blurred = loss.fenchel_young(Ball(z, np.full(z.shape, 1e-3)), Ball(free), y)
    assert np.all(blurred.contains(loss.fenchel_young(z, free, y)))
    assert np.all(Ball(z).mid == z)
    step = 1e-6 * RNG.normal(size=z.shape)
    np.testing.assert_allclose(loss.value(z + step, y) - loss.value(z, y), np.sum(u * step, axis=1), atol=1e-12)


@pytest.mark.parametrize("mass", [[3.0, 1.0, 1.0], [2.0, 2.0, 1.0], [5.0, 1.0], [1.0, 1.0, 1.0, 9.0]])
def test_the_best_constants_are_those_of_a_linear_programme(mass):
    mass, K = np.array(mass), len(mass)
    A, b = [], []
    for c in range(K):
        for k in range(K):
            row = np.zeros(2 * K)
            row[k] += 1.0
            row[c] -= 1.0
            row[K + c] = -1.0
            A.append(row)
            b.append(-float(k != c))
    free = [(None, None)] * (2 * K)
    best = scipy.optimize.linprog(np.concatenate([np.zeros(K), mass]), A, b, bounds=free).fun
    loss = MulticlassHinge()
    z = np.tile(loss.constants(mass), (K, 1))
    assert mass @ loss.value(z, np.arange(K)) == pytest.approx(best)


def test_the_loop_projects_onto_the_simplex_and_lowers_the_dual():
    for _ in range(200):
        v = RNG.normal(size=RNG.integers(1, 8)) * 10 ** RNG.uniform(-3, 3)
        down = np.sort(v)[::-1]
        level = (np.cumsum(down) - 1) / np.arange(1, len(v) + 1)
        slow = np.maximum(v - level[np.count_nonzero(down > level) - 1], 0.0)
        loops.project(v)
        np.testing.assert_allclose(v, slow, atol=1e-12 * max(1.0, np.abs(down).max()))
    X, y = RNG.normal(size=(20, 3)), np.arange(20) % 3
    stored, P, W = scipy.sparse.csr_array(X), np.eye(3)[y], np.zeros((3, 3))
    cost, last = np.full(20, 0.5), np.inf
    for _ in range(5):
        loops.sweeps(stored.indptr, stored.indices, stored.data, y, cost, (X**2).sum(axis=1), np.arange(20), 1, 5, W, P)
        np.testing.assert_allclose(W.T, 0.5 * (np.eye(3)[y] - P).T @ X, atol=1e-12)
        now = 0.5 * np.sum(W**2) - 0.5 * np.sum(P * (1 - np.eye(3)[y]))
        assert now <= last + 1e-14
        last = now


def test_limits_searches_files_and_odd_tables(tmp_path):
    with pytest.warns(UserWarning, match="terminated early"):
        assert crammer(max_iter=1, tol=1e-12).fit(WINE, GRAPES).certificate_.holds
    table = np.vstack([IRIS, np.zeros((2, 4))])
    kinds = np.append(KINDS, [0, 1])
    assert crammer().fit(table, kinds).certificate_.relative_gap <= 1e-4
    wide = RNG.normal(size=(12, 40))
    assert crammer().fit(wide, np.arange(12) % 3).certificate_.relative_gap <= 1e-4
    names = np.array(["a", "b", "c"])[KINDS]
    model = crammer(trace=True, tol=1e-6).fit(IRIS, names)
    assert set(model.predict(IRIS)) <= {"a", "b", "c"}
    assert len(model.trace_) > 1
    assert Objective.from_dict(model.certificate_.evidence["objective"]).loss == MulticlassHinge()
    search = cf.model_selection.GridSearchCV(crammer(), {"C": [0.1, 1.0]}, cv=3).fit(IRIS, names)
    assert search.best_score_ > 0.9
    cf.save(model, tmp_path / "m.cf")
    again = cf.load(tmp_path / "m.cf")
    np.testing.assert_array_equal(again.predict(IRIS), model.predict(IRIS))
