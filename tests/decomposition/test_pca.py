"""PCA: both roads agree, the books' tables, scikit-learn, and the proof."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.decomposition
from hypothesis import given
from hypothesis import strategies as st

from certifit import certificates
from certifit.certificates import Data
from certifit.certificates._data import digest_evidence
from certifit.decomposition import PCA, Covariance
from certifit.design import fingerprint

EXACT = ["full", "covariance_eigh", "gram_eigh"]


def rows(seed=0, n=60, d=6, shift=0.0):
    rng = np.random.default_rng(seed)
    return shift + rng.normal(size=(n, d)) @ np.diag(np.arange(d, 0, -1.0)) @ rng.normal(size=(d, d))


@given(seed=st.integers(0, 1000), n=st.integers(3, 30), d=st.integers(2, 30))
def test_all_roads_agree(seed, n, d):
    X = rows(seed, n, d)
    k = max(1, min(n - 1, d) // 2)
    want = PCA(k, svd_solver="full").fit(X)
    for solver in ("covariance_eigh", "gram_eigh", "arpack"):
        if solver == "arpack" and k >= min(n, d):
            continue
        got = PCA(k, svd_solver=solver, random_state=0).fit(X)
        np.testing.assert_allclose(got.explained_variance_, want.explained_variance_, rtol=1e-7)
        P, Q = got.components_.T @ got.components_, want.components_.T @ want.components_
        gap = 1 - want.explained_variance_[-1] / max(want.explained_variance_[0], 1e-300)
        assert np.abs(P - Q).max() < 1e-4 or gap < 1e-3
        np.testing.assert_allclose(got.components_ @ got.components_.T, np.eye(k), atol=1e-12)
        assert got.certificate_.holds, str(got.certificate_)


@pytest.mark.parametrize("n_components", [None, 1, 3, 0.5, 0.99, "mle"])
@pytest.mark.parametrize("whiten", [False, True])
def test_drop_in_for_scikit_learn(n_components, whiten):
    X = rows(3, 80, 6)
    ours, theirs = (
        PCA(n_components, whiten=whiten).fit(X),
        sklearn.decomposition.PCA(n_components, whiten=whiten).fit(X),
    )
    for name in ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-8, atol=1e-10, err_msg=name)
    assert ours.n_components_ == theirs.n_components_
    assert ours.noise_variance_ == pytest.approx(theirs.noise_variance_, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), theirs.inverse_transform(theirs.transform(X)))
    np.testing.assert_allclose(ours.fit_transform(X), theirs.transform(X), rtol=1e-8, atol=1e-8)
    if not whiten:
        np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(ours.get_precision(), theirs.get_precision(), rtol=1e-6, atol=1e-9)
        assert ours.score(X) == pytest.approx(theirs.score(X), rel=1e-8)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


@given(seed=st.integers(0, 500), k=st.integers(0, 5))
def test_the_error_is_what_was_left_out(seed, k):
    X = rows(seed, 40, 5, shift=100.0)
    every = PCA().fit(X).explained_variance_
    model = PCA(k).fit(X)
    error = model.reconstruction_error(X).sum() / (len(X) - 1)
    assert error == pytest.approx(every[k:].sum(), rel=1e-9, abs=1e-9 * every.sum())
    if k:
        assert model.certificate_.reconstruction_error == pytest.approx(error, rel=1e-6, abs=1e-9 * every.sum())
    assert model.certificate_.holds


def test_iris_in_r(reference):
    record, frame = reference("pca/iris")
    X = frame[record["data"]["features"]].to_numpy()
    model, want = PCA().fit(X), record["expected"]
    np.testing.assert_allclose(np.sqrt(model.explained_variance_), want["sd_of_components_ddof1"], atol=1.01e-7)
    np.testing.assert_allclose(model.explained_variance_ratio_, want["explained_variance_ratio"], atol=1.01e-9)
    table = np.array(want["rotation_rows_are_features"]).T
    signs = np.sign((model.components_ * table).sum(axis=1))
    np.testing.assert_allclose(model.components_ * signs[:, None], table, atol=1.01e-7)
    assert PCA(2).fit(X).certificate_.verify(X).holds


def test_arrests_on_correlations(reference):
    record, frame = reference("pca/usarrests")
    X = frame[record["data"]["features"]].to_numpy(dtype=float)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    model, want = PCA().fit(Z), record["expected"]
    n = len(X)
    sd = np.sqrt(model.explained_variance_ * (n - 1) / n)
    np.testing.assert_allclose(sd, want["sd_of_components_ddof0"], atol=1.01e-7)
    np.testing.assert_allclose(model.explained_variance_ratio_, want["explained_variance_ratio"], atol=1.01e-8)
    np.testing.assert_allclose(model.explained_variance_, want["explained_variance_ddof1"], atol=1.01e-8)
    table = np.array(want["components_rows"])
    np.testing.assert_allclose(np.abs(model.components_), np.abs(table), atol=1.01e-8)
    scores = np.abs(model.transform(Z)[:3])
    np.testing.assert_allclose(scores, want["abs_scores_first_3_rows"], atol=1e-6)


@pytest.mark.parametrize("case", ["lew", "michelso", "numacc1", "numacc3"])
def test_nist_column(reference, case):
    record, frame = reference(f"nist_univariate/{case}")
    x = frame.iloc[:, :1].to_numpy(dtype=float)
    model = PCA(svd_solver="covariance_eigh").fit(x)
    assert model.mean_[0] == pytest.approx(record["expected"]["mean"], rel=1e-14)
    loose = 1e-8 if case == "numacc3" else 1e-12  # its table is not exact in binary
    assert np.sqrt(model.explained_variance_[0]) == pytest.approx(record["expected"]["std_ddof1"], rel=loose)


def test_large_offsets_keep_their_digits():
    X = rows(1, 500, 4)
    near, far = PCA().fit(X - X.mean(axis=0)), PCA().fit(1e8 + X - X.mean(axis=0))
    np.testing.assert_allclose(near.explained_variance_, far.explained_variance_, rtol=1e-6)
    assert far.certificate_.holds, str(far.certificate_)


def test_pieces_give_what_the_whole_gives():
    X = rows(2, 100, 5, shift=50.0)
    whole, pieces = PCA(3).fit(X), PCA(3)
    for i in range(0, 100, 30):
        pieces.partial_fit(X[i : i + 30])
    np.testing.assert_allclose(pieces.components_, whole.components_, atol=1e-10)
    np.testing.assert_allclose(pieces.explained_variance_, whole.explained_variance_, rtol=1e-10)
    assert pieces.n_samples_ == 100
    with pytest.raises(AttributeError, match="in pieces"):
        _ = pieces.certificate_
    assert pieces.certify(X).holds
    a, b = Covariance.of(X[:40]), Covariance.of(X[40:])
    np.testing.assert_allclose(((a + b) - b).scatter, a.scatter, rtol=1e-9)


def test_sparse_rows():
    X = scipy.sparse.random_array((200, 12), density=0.2, rng=np.random.default_rng(0), format="csr")
    dense = PCA(3).fit(X.toarray())
    for solver in ("covariance_eigh", "arpack"):
        model = PCA(3, svd_solver=solver, random_state=0).fit(X)
        np.testing.assert_allclose(model.explained_variance_, dense.explained_variance_, rtol=1e-8)
        np.testing.assert_allclose(model.transform(X), dense.transform(X.toarray()), atol=1e-6)
        assert model.certificate_.verify(X).holds, str(model.certificate_)
    with pytest.raises(TypeError, match="sparse"):
        PCA(svd_solver="full").fit(X)


def test_float32_stays_float32():
    X = rows(4).astype(np.float32)
    model = PCA(2).fit(X)
    assert model.components_.dtype == model.transform(X).dtype == np.float32
    assert model.certificate_.verify(X).holds, str(model.certificate_)


def test_random_start_states_what_it_reached():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 200)) * np.linspace(3, 1, 200)
    for power in (0, 1, 30):
        c = PCA(5, svd_solver="randomized", iterated_power=power, random_state=0).fit(X).certificate_
        assert c.holds, str(c)
        best = PCA(5, svd_solver="full").fit(X).explained_variance_.sum()
        assert c.value <= best * (1 + 1e-12)
        assert c.bound >= best * (1 - 1e-12)
        if power == 30:
            assert c.relative_gap < 1e-6
    wide = PCA(5, svd_solver="randomized", iterated_power=30, random_state=0).fit(X.T[:50]).certificate_
    assert wide.holds, str(wide)


@pytest.mark.parametrize("shape", [(60, 8), (8, 30)])
def test_wrong_eigenvectors_are_refused(shape):
    X = rows(5, *shape)
    every = PCA(min(shape) - 1).fit(X)
    pick = [0, 1, 5]
    evidence = {
        "slack": PCA(3).fit(X).certificate_.evidence["slack"],
        "components": every.components_[pick],
        "variances": every.explained_variance_[pick],
        "mean": every.mean_,
    }
    wrong = certificates.issue("principal-components", Data.of(X), evidence)
    assert not wrong.holds
    assert [f.split(":")[0] for f in wrong.failures] == ["no subspace of this dimension retains more"]
    right = evidence | {"components": every.components_[:3], "variances": every.explained_variance_[:3]}
    assert certificates.issue("principal-components", Data.of(X), right).holds


def resealed(c, **changes):
    evidence = {**c.evidence, **changes}
    return c.tampered(evidence=evidence, digests={**c.digests, "evidence": digest_evidence(evidence)})


def test_tampering_is_refused():
    X = rows(6)
    c = PCA(2).fit(X).certificate_
    assert c.verify(X).holds
    assert type(c).from_dict(c.to_dict()).verify(X).holds
    turned = np.array(c.evidence["components"])
    turned[0, 0] += 1e-3
    assert not resealed(c, components=turned).verify(X).holds
    assert not resealed(c, variances=c.evidence["variances"] * 1.001).verify(X).holds
    assert not resealed(c, mean=c.evidence["mean"] + 0.1).verify(X).holds
    assert not resealed(c, slack=c.evidence["slack"] * 1e6).verify(X).holds
    assert not c.verify(X + 1).holds
    assert not c.tampered(figures={**c.figures, "gap": c.gap / 1000}).verify(X).holds
    assert not c.tampered(figures={**c.figures, "value": c.value * 1.1}).verify(X).holds


def test_bad_input_is_named():
    X = rows(7)
    for bad, match in [(np.nan, "NaN"), (np.inf, "infinity"), (1e200, "squares exceed")]:
        Y = X.copy()
        Y[3, 2] = bad
        with pytest.raises(ValueError, match=match):
            PCA(svd_solver="covariance_eigh").fit(Y)
    with pytest.raises(ValueError, match="n_components=9 must be between 0 and"):
        PCA(9).fit(X)
    with pytest.raises(ValueError, match="mle"):
        PCA("mle").fit(X[:4])
    same = PCA(2).fit(np.ones((10, 3)))
    assert same.explained_variance_.tolist() == [0.0, 0.0]
    assert same.certificate_.holds, str(same.certificate_)


def test_the_road_is_chosen_by_shape():
    assert PCA(2).fit(rows(0, 600, 5)).svd_solver_ == "covariance_eigh"
    assert PCA(2).fit(rows(0, 30, 600)).svd_solver_ == "gram_eigh"
    assert PCA(2).fit(rows(0, 30, 10)).svd_solver_ == "full"


def test_sums_and_fingerprint_come_from_one_read():
    X = np.random.default_rng(0).normal([5.0] + [0.0] * 95, 1.0, size=(60_000, 96))
    one, found = Covariance.with_fingerprint(X)
    assert found == fingerprint(X)
    np.testing.assert_allclose(one.scatter, np.cov(X.T) * (len(X) - 1), atol=1e-7)
    np.testing.assert_allclose(one.mean, X.mean(axis=0), atol=1e-12)
    assert Covariance.with_fingerprint(X[:100])[1] is None
