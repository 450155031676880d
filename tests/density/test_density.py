"""Densities: direct sums, quadrature and scikit-learn as witnesses; every claim attacked."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.integrate
import sklearn.neighbors
from hypothesis import given, settings
from hypothesis import strategies as st

from certifit import load, save
from certifit.certificates import Data, issue
from certifit.certificates.density import KERNELS, ball_volume, kernel_integral
from certifit.density import Histogram, KernelDensity, choose_bandwidth, fit_density
from tests.certificates.tampering import forged, refuses_everything
from tests.contract import contract

mpmath = pytest.importorskip("mpmath")
K = {
    "gaussian": lambda u: mpmath.exp(-u * u / 2),
    "tophat": lambda u: mpmath.mpf(u < 1),
    "epanechnikov": lambda u: max(1 - u * u, mpmath.mpf(0)),
    "exponential": lambda u: mpmath.exp(-u),
    "linear": lambda u: max(1 - u, mpmath.mpf(0)),
    "cosine": lambda u: mpmath.cos(mpmath.pi * u / 2) if u < 1 else mpmath.mpf(0),
}


@contract([KernelDensity(), KernelDensity(kernel="epanechnikov", bandwidth="scott", rtol=0.01), Histogram()])
def test_contract(estimator, check):
    check(estimator)


def integral(kernel, d):
    """The integral of the kernel over d dimensions, by quadrature in 40 digits."""
    sphere = 2 * mpmath.pi ** (mpmath.mpf(d) / 2) / mpmath.gamma(mpmath.mpf(d) / 2)
    end = [0, 1] if kernel not in ("gaussian", "exponential") else [0, 1, 10, 40, 120]
    return sphere * mpmath.quad(lambda r: K[kernel](r) * r ** (d - 1), end)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("d", [1, 2, 3, 4, 7])
def test_every_kernel_integrates_to_its_constant(kernel, d):
    with mpmath.workdps(40):
        truth, found = integral(kernel, d), kernel_integral(kernel, d)
        assert abs(truth - mpmath.mpf(float(found.mid))) <= mpmath.mpf(float(found.rad)) * (1 + mpmath.mpf(10) ** -20)
        assert float(found.rad) <= 1e-9 * float(found.mid)
    assert ball_volume(2).contains(np.pi)


def exact(X, weights, x, kernel, h, metric):
    """f(x) in 50 digits."""
    with mpmath.workdps(50):
        total = mpmath.mpf(0)
        for row, w in zip(X, weights):
            gaps = [abs(mpmath.mpf(float(a)) - mpmath.mpf(float(b))) for a, b in zip(row, x)]
            distance = {
                "euclidean": lambda g: mpmath.sqrt(sum(v * v for v in g)),
                "manhattan": sum,
                "chebyshev": max,
            }[metric](gaps)
            total += mpmath.mpf(float(w)) * K[kernel](distance / mpmath.mpf(h))
        d = X.shape[1]
        return total / (sum(mpmath.mpf(float(w)) for w in weights) * integral(kernel, d) * mpmath.mpf(h) ** d)


@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(KERNELS),
    st.sampled_from(["euclidean", "manhattan", "chebyshev"]),
    st.sampled_from([0.0, 1e-3, 0.3]),
)
def test_the_bounds_enclose_the_sum_in_fifty_digits(seed, kernel, metric, rtol):
    rng = np.random.default_rng(seed)
    d, h = int(rng.integers(1, 4)), float(rng.choice([0.1, 0.7, 5.0]))
    X = rng.normal(size=(40, d)).round(2)
    weights = rng.integers(0, 3, size=40).astype(float)
    weights[0] = 1.0
    Q = np.concatenate([X[:2], rng.normal(size=(2, d)), [np.full(d, 30.0)]])
    model = KernelDensity(kernel=kernel, bandwidth=h, metric=metric, rtol=rtol, leaf_size=3)
    low, high = model.fit(X, sample_weight=weights).bounds(Q)
    for a, x, b in zip(low, Q, high):
        truth = exact(X, weights, x, kernel, h, metric)
        assert mpmath.mpf(float(a)) <= truth <= mpmath.mpf(float(b))
    assert model.certificate_for(Q).holds
    loose = 1e-9 * high.max() if kernel in ("epanechnikov", "linear", "cosine", "tophat") else 1e-290
    if kernel != "tophat":  # a row at exactly the bandwidth may be in or out: that doubt stays between the bounds
        assert np.all(high - low <= (rtol + 1e-9) * low + loose)


@pytest.mark.parametrize("kernel", KERNELS)
def test_scikit_learns_logs(kernel):
    rng = np.random.default_rng(0)
    for d in (1, 3) if kernel == "cosine" else (1, 2, 4):  # scikit-learn's cosine is wrong where d is even
        X, Q = rng.normal(size=(200, d)), rng.normal(size=(30, d))
        for bandwidth in (0.8, "scott", "silverman"):
            ours = KernelDensity(kernel=kernel, bandwidth=bandwidth).fit(X)
            theirs = sklearn.neighbors.KernelDensity(kernel=kernel, bandwidth=bandwidth).fit(X)
            a, b = ours.score_samples(Q), theirs.score_samples(Q)
            some = np.isfinite(a)
            assert np.allclose(a[some], b[some], atol=1e-9)
            assert np.all(b[~some] < -30)
            assert ours.bandwidth_ == theirs.bandwidth_
    assert ours.score(X) == pytest.approx(theirs.score(X), rel=1e-9) or kernel == "cosine"


def test_far_points_keep_their_logs():
    X = np.random.default_rng(0).normal(size=(50, 2))
    far = [[200.0, 0.0]]
    ours = KernelDensity(bandwidth=0.5).fit(X)
    theirs = sklearn.neighbors.KernelDensity(bandwidth=0.5).fit(X)
    assert ours.score_samples(far)[0] == pytest.approx(theirs.score_samples(far)[0], rel=1e-9)
    low, high = ours.bounds(far)
    assert low[0] == 0.0
    assert 0 <= high[0] < 1e-290


def test_the_cosine_of_two_columns_integrates_to_one():
    model = KernelDensity(kernel="cosine").fit([[0.0, 0.0]])
    total, _ = scipy.integrate.dblquad(
        lambda y, x: float(np.exp(model.score_samples([[x, y]]))[0]), -1, 1, -1, 1, epsabs=1e-3
    )
    assert total == pytest.approx(1.0, abs=2e-3)


def test_certificates_are_refused_when_anything_is_changed():
    rng = np.random.default_rng(1)
    X, Q = rng.normal(size=(80, 2)), rng.normal(size=(4, 2))
    c = KernelDensity(bandwidth=0.6, rtol=1e-3).fit(X).certificate_for(Q)
    refuses_everything(c, X, None, at_most=("width",))
    for change in (
        {"upper": c.evidence["lower"] * 0.99},
        {"lower": c.evidence["upper"] * 1.01},
        {"bandwidth": 0.5},
        {"bandwidth": -0.6},
        {"kernel": "tophat"},
        {"kernel": "triangle"},
        {"metric": "manhattan"},
        {"points": c.evidence["points"] + 1.0},
        {"upper": c.evidence["upper"] * np.nan},
    ):
        assert not forged(c, **change).verify(X).holds
    assert not issue("kernel-density", Data.of(X, None, -np.ones(80)), c.evidence).holds


def test_leaving_one_out_is_a_fit_without_the_row():
    rng = np.random.default_rng(2)
    X, grid = rng.normal(size=(40, 2)), [0.2, 0.5, 1.3]
    choice = choose_bandwidth(X, grid)
    for h, found in zip(grid, choice.log_likelihood):
        logs = [KernelDensity(bandwidth=h).fit(np.delete(X, i, axis=0)).score_samples(X[[i]])[0] for i in range(40)]
        assert found == pytest.approx(np.mean(logs), rel=1e-9)
    w = rng.integers(1, 4, size=40)
    weighted = choose_bandwidth(X, grid, sample_weight=w)
    repeated = choose_bandwidth(np.repeat(X, w, axis=0), grid)
    assert np.allclose(weighted.log_likelihood, repeated.log_likelihood)
    with pytest.raises(ValueError, match="at least two rows"):
        choose_bandwidth([[1.0]])
    with pytest.raises(ValueError, match="positive"):
        choose_bandwidth(X, [0.0])


def test_samples_follow_the_estimate():
    X = np.array([[0.0, 0.0], [10.0, 0.0]])
    for kernel in ("gaussian", "tophat"):
        model = KernelDensity(kernel=kernel, bandwidth=0.5).fit(X, sample_weight=[1.0, 3.0])
        drawn = model.sample(2000, random_state=0)
        assert np.mean(drawn[:, 0] > 5) == pytest.approx(0.75, abs=0.04)
        assert np.array_equal(drawn, model.sample(2000, random_state=0))
        if kernel == "tophat":
            assert np.all(np.isfinite(model.score_samples(drawn)))
    with pytest.raises(NotImplementedError, match="gaussian and tophat"):
        KernelDensity(kernel="linear").fit(X).sample()


def test_histograms_are_numpys_and_proved():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 2))
    model = Histogram(bins=6).fit(X)
    density, _, _ = np.histogram2d(*X.T, bins=6, density=True)
    assert np.allclose(model.heights_, density)
    refuses_everything(model.certificate_, X, None)
    heights = model.certificate_.evidence["heights"].copy()
    heights[np.argmax(heights)] *= 1.1
    assert not forged(model.certificate_, heights=heights).verify(X).holds
    assert not forged(model.certificate_, bins=np.array([4, 9])).verify(X).holds
    drawn = model.sample(3000, random_state=0)
    assert np.all(np.isfinite(model.score_samples(drawn)))
    assert np.exp(model.score_samples([[99.0, 0.0]]))[0] == 0.0
    given_edges = Histogram(bins=[0.0, 1.0, 3.0]).fit([[0.5], [1.0], [3.0], [7.0]])
    assert given_edges.heights_.tolist() == [0.25, 0.25]
    assert given_edges.certificate_.outside == 1
    with pytest.raises(ValueError, match="increasing edges"):
        Histogram(bins=[1.0, 0.0]).fit(X[:, :1])
    with pytest.raises(ValueError, match="too many cells"):
        Histogram(bins=500).fit(rng.normal(size=(20, 4)))


def test_files_names_and_refusals(tmp_path):
    X = np.random.default_rng(4).normal(size=(50, 2))
    model = KernelDensity(bandwidth=0.4, metric="minkowski", metric_params={"p": 1}).fit(X)
    save(model, tmp_path / "m.certifit")
    assert np.array_equal(load(tmp_path / "m.certifit").score_samples(X), model.score_samples(X))
    assert fit_density([1.0, 2.0, 4.0], "normal").certificate_.holds
    with pytest.raises(ValueError, match="metric_params"):
        KernelDensity(metric_params={"V": 1}).fit(X)
    with pytest.raises(ValueError, match="metric"):
        KernelDensity(metric="cosine").fit(X)
    with pytest.raises(ValueError, match="bandwidth"):
        KernelDensity(bandwidth=0.0).fit(X)


@pytest.mark.parametrize("kernel", ["gaussian", "exponential"])
@pytest.mark.parametrize("atol", [0.0, 1e-6, 1e-2])
def test_far_from_every_row_the_density_vanishes_whatever_the_tolerance(kernel, atol):
    """An allowed error far above the density itself is no reason to state an infinite one."""
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(80, 3)), rng.normal(size=(40, 3))
    model = KernelDensity(bandwidth=0.01, kernel=kernel, atol=atol).fit(X)
    theirs = sklearn.neighbors.KernelDensity(bandwidth=0.01, kernel=kernel).fit(X)
    truth = np.exp(theirs.score_samples(Q))
    np.testing.assert_allclose(np.exp(model.score_samples(Q)), truth, rtol=1e-7, atol=max(atol, 1e-12))
    lower, upper = model.bounds(Q)
    assert np.all((lower <= truth + 1e-12) & (truth <= upper + 1e-12) & (upper - lower <= atol + 1e-9))


def test_on_a_sphere_the_density_is_scikit_learns():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(40, 2))
    ours, theirs = (m(bandwidth=0.2, metric="haversine").fit(X)
                    for m in (KernelDensity, sklearn.neighbors.KernelDensity))  # fmt: skip
    np.testing.assert_array_equal(ours.score_samples(X), theirs.score_samples(X))
    with pytest.raises(ValueError, match="Bounds are proved for"):
        ours.bounds(X)
    import certifit.neighbors

    assert certifit.neighbors.KernelDensity is KernelDensity


def test_the_fit_states_that_it_kept_its_rows():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = KernelDensity().fit(X, sample_weight=np.arange(1.0, 31.0))
    assert model.certificate_.holds
    assert model.certificate_.verify(X, None, np.arange(1.0, 31.0)).holds
    assert not model.certificate_.verify(X + 1.0, None, np.arange(1.0, 31.0)).holds
    assert not model.certificate_.verify(X).holds
    model.fit(X, sample_weight=np.arange(30.0))
    with pytest.raises(AttributeError, match="certificate_for"):
        model.certificate_  # noqa: B018
