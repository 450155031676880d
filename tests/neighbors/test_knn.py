"""The estimators against scikit-learn, published results, and their own rules."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
import sklearn.neighbors as peer
from sklearn.datasets import load_iris, make_regression
from sklearn.exceptions import NotFittedError

from certifit.neighbors import KNeighborsClassifier, KNeighborsRegressor

RNG = np.random.default_rng(0)
X, Q = RNG.normal(size=(300, 4)), RNG.normal(size=(80, 4))
Y = RNG.integers(0, 3, size=300)
V = RNG.normal(size=(300, 2))

SETTINGS = [
    {},
    {"n_neighbors": 1},
    {"weights": "distance", "n_neighbors": 7},
    {"metric": "manhattan"},
    {"metric": "chebyshev", "algorithm": "kd_tree"},
    {"p": 3, "algorithm": "brute"},
    {"p": 1.5, "metric_params": {"w": np.array([1.0, 2.0, 0.5, 0.0])}},
    {"metric": "cosine", "weights": "distance"},
    {"weights": lambda d: np.exp(-d)},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_same_answers_as_scikit_learn(settings):
    ours = KNeighborsClassifier(**settings).fit(X, Y)
    theirs = peer.KNeighborsClassifier(**deepcopy(settings)).fit(X, Y)  # its fit writes into metric_params
    np.testing.assert_allclose(ours.predict_proba(Q), theirs.predict_proba(Q), atol=1e-9)
    np.testing.assert_array_equal(ours.predict(Q), theirs.predict(Q))
    np.testing.assert_array_equal(ours.kneighbors(Q)[1], theirs.kneighbors(Q)[1])
    np.testing.assert_allclose(ours.kneighbors()[0], theirs.kneighbors()[0], atol=1e-7)
    assert (ours.kneighbors_graph(Q) != theirs.kneighbors_graph(Q)).nnz == 0
    values = KNeighborsRegressor(**settings).fit(X, V)
    np.testing.assert_allclose(
        values.predict(Q), peer.KNeighborsRegressor(**deepcopy(settings)).fit(X, V).predict(Q), atol=1e-9
    )
    assert ours.score(None, Y) == theirs.score(None, Y)


def test_several_outputs_and_strings():
    labels = np.stack([np.array(list("abc"))[Y], np.array(list("xyz"))[RNG.integers(0, 3, 300)]], axis=1)
    ours, theirs = (m(n_neighbors=4).fit(X, labels) for m in (KNeighborsClassifier, peer.KNeighborsClassifier))
    np.testing.assert_array_equal(ours.predict(Q), theirs.predict(Q))
    for a, b in zip(ours.predict_proba(Q), theirs.predict_proba(Q)):
        np.testing.assert_allclose(a, b)
    assert ours.certificate_.holds


def test_precomputed_distances():
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    E = np.linalg.norm(Q[:, None] - X[None], axis=2)
    model = KNeighborsClassifier(metric="precomputed").fit(D, Y)
    np.testing.assert_array_equal(model.predict(E), KNeighborsClassifier().fit(X, Y).predict(Q))
    proof = model.certificate_for(E[:3])
    assert proof.holds
    assert proof.assumes == ("the distances are those of the metric",)
    with pytest.raises(ValueError, match="square"):
        KNeighborsClassifier(metric="precomputed").fit(D[:5], Y[:5])
    with pytest.raises(ValueError, match="Negative"):
        KNeighborsClassifier(metric="precomputed").fit(-D - 1, Y)


def test_weights_over_all_points():
    h = 0.7
    D = np.linalg.norm(Q[:, None] - X[None], axis=2)
    K = np.exp(-(D**2) / (2 * h * h))
    shares = np.stack([K[:, c == Y].sum(axis=1) for c in range(3)], axis=1) / K.sum(axis=1)[:, None]
    model = KNeighborsClassifier(n_neighbors=None, weights="gaussian", bandwidth=h).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(Q), shares, atol=1e-12)
    kernel = KNeighborsRegressor(n_neighbors=None, weights="gaussian", bandwidth=h).fit(X, V[:, 0])
    np.testing.assert_allclose(kernel.predict(Q), K @ V[:, 0] / K.sum(axis=1), atol=1e-12)
    inverse = KNeighborsRegressor(n_neighbors=None, weights="distance").fit(X, V[:, 0])
    np.testing.assert_allclose(inverse.predict(Q), (V[:, 0] / D).sum(axis=1) / (1 / D).sum(axis=1))
    np.testing.assert_allclose(inverse.predict(X[:5]), V[:5, 0])  # at distance zero the row itself answers
    left_out = KNeighborsRegressor(n_neighbors=None, weights="gaussian", bandwidth=h).fit(X[1:], V[1:, 0])
    np.testing.assert_allclose(kernel.predict(None)[0], left_out.predict(X[:1])[0])
    uniform = KNeighborsRegressor(n_neighbors=None).fit(X, V[:, 0])
    np.testing.assert_allclose(uniform.predict(Q), V[:, 0].mean())


def test_gaussian_weights_never_all_vanish():
    model = KNeighborsClassifier(n_neighbors=None, weights="gaussian", bandwidth=1e-3).fit(X, Y)
    far = model.predict_proba([[1e6, 0.0, 0.0, 0.0]])
    np.testing.assert_allclose(far.sum(), 1.0)
    nearest = KNeighborsClassifier(1).fit(X, Y).predict([[1e6, 0.0, 0.0, 0.0]])
    assert model.classes_[far.argmax()] == nearest[0]
    assert KNeighborsClassifier(weights="gaussian").fit(X, Y).bandwidth_ > 0


def test_feature_weights_are_weights_inside_the_distance():
    w = np.array([4.0, 1.0, 0.25, 0.0])
    ours = KNeighborsRegressor(feature_weights=w).fit(X, V)
    scaled = peer.KNeighborsRegressor().fit(X * np.sqrt(w), V)
    np.testing.assert_allclose(ours.predict(Q), scaled.predict(Q * np.sqrt(w)))
    np.testing.assert_allclose(ours.kneighbors(Q)[0], scaled.kneighbors(Q * np.sqrt(w))[0])
    for bad, text in (([1.0], "shape"), ([-1.0] * 4, "at least zero"), ([0.0] * 4, "not all zero")):
        with pytest.raises(ValueError, match=text):
            KNeighborsRegressor(feature_weights=bad).fit(X, V)


@pytest.mark.parametrize(
    ("metric", "axiom"),
    [
        (lambda a, b: abs(a[0] - b[0]) + 2 * max(0.0, a[1] - b[1]), "symmetry"),
        (lambda a, b: float(np.sum((a - b) ** 2)), "triangle"),
        (lambda a, b: 1.0, "identity"),
        (lambda a, b: 0.0, "positivity"),
        (lambda a, b: -float(np.abs(a - b).sum()), "non-negativity"),
        (lambda a, b: np.nan, "finiteness"),
    ],
)
def test_a_broken_axiom_is_named(metric, axiom):
    with pytest.raises(ValueError, match=axiom):
        KNeighborsClassifier(metric=metric).fit(X, Y)
    KNeighborsClassifier(metric=metric, check_metric=False).fit(X, Y)


def test_a_metric_of_ones_own():
    model = KNeighborsClassifier(metric=lambda a, b, s: s * float(np.abs(a - b).sum()), metric_params={"s": 2.0})
    model.fit(X, Y)
    wanted = KNeighborsClassifier(metric="manhattan").fit(X, Y)
    np.testing.assert_array_equal(model.kneighbors(Q[:9])[1], wanted.kneighbors(Q[:9])[1])
    assert model.certificate_for(Q[:2]).verify(X, Y).holds


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"metric": "nonsense"}, "metric"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"algorithm": "ball"}, "algorithm"),
        ({"metric_params": {"q": 1}}, "metric_params"),
        ({"metric": "cosine", "algorithm": "kd_tree"}, "kd_tree"),
        ({"metric": lambda a, b: 0.0, "feature_weights": [1.0] * 4}, "inside it"),
    ],
)
def test_impossible_settings(settings, text):
    model = KNeighborsClassifier(**settings)
    with pytest.raises(ValueError, match=text):
        model.fit(X, Y)
    with pytest.raises(NotFittedError):
        model.predict(Q)


def test_too_many_neighbours_and_zero_weights():
    model = KNeighborsClassifier(n_neighbors=4).fit(X[:4], [0, 1, 0, 1])
    assert model.predict_proba(Q[:1]).tolist() == [[0.5, 0.5]]
    with pytest.raises(ValueError, match="n_neighbors < n_samples_fit"):
        model.predict(None)
    with pytest.raises(ValueError, match="n_neighbors <= n_samples_fit"):
        model.kneighbors(Q, 5)
    with pytest.raises(TypeError, match="integer"):
        model.kneighbors(Q, 2.5)
    with pytest.raises(ValueError, match="zero weights"):
        KNeighborsClassifier(weights=lambda d: 0 * d).fit(X, Y).predict(Q)


def test_float32_and_frames():
    pd = pytest.importorskip("pandas")
    single = KNeighborsClassifier().fit(X.astype(np.float32), Y)
    np.testing.assert_array_equal(
        single.predict(Q.astype(np.float32)),
        KNeighborsClassifier().fit(X.astype(np.float32).astype(float), Y).predict(Q.astype(np.float32)),
    )
    frame = pd.DataFrame(X, columns=list("abcd"))
    named = KNeighborsClassifier().fit(frame, Y)
    assert named.feature_names_in_.tolist() == list("abcd")
    assert named.certificate_.verify(frame, Y).holds


def test_ionosphere(reference):
    record, table = reference("knn/ionosphere")
    A, b = table.iloc[:, :-1].to_numpy(float), table["y"].to_numpy(str)
    model = KNeighborsClassifier(n_neighbors=1).fit(A[:200], b[:200])
    assert (model.predict(A[200:]) == b[200:]).sum() == record["expected"]["test_correct_1nn"]


def test_wine_leave_one_out(reference):
    record, table = reference("knn/wine")
    A, b = table.iloc[:, 1:].to_numpy(float), table["cultivar"].to_numpy()
    A = (A - A.mean(axis=0)) / A.std(axis=0)
    right = (KNeighborsClassifier(n_neighbors=1).fit(A, b).predict(None) == b).sum()
    assert right == record["expected"]["here_correct_of_178"]["1nn"]


def test_smarket(reference):
    record, table = reference("islp/smarket")
    train = (table["Year"] < 2005).to_numpy()
    A, b = table[["Lag1", "Lag2"]].to_numpy(float), table["Direction"].to_numpy(str)
    wanted = record["expected"]["knn_train_Lag1_Lag2"]
    for k, share in ((1, wanted["k1_accuracy"]), (3, wanted["k3_accuracy"])):
        found = KNeighborsClassifier(n_neighbors=k).fit(A[train], b[train]).score(A[~train], b[~train])
        assert abs(found - share) <= 3 / (~train).sum() + 1e-12


def test_leave_one_out_is_a_loop_over_rows():
    A, b = load_iris(return_X_y=True)
    got = KNeighborsClassifier(n_neighbors=3).fit(A, b).predict(None)
    for i in range(0, 150, 10):
        rest = np.arange(150) != i
        assert got[i] == KNeighborsClassifier(n_neighbors=3).fit(A[rest], b[rest]).predict(A[i : i + 1])[0]


def test_regression_on_a_smooth_function():
    A, b = make_regression(400, 3, noise=0.0, random_state=0)
    assert KNeighborsRegressor(weights="distance").fit(A[:300], b[:300]).score(A[300:], b[300:]) > 0.8
