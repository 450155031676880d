"""k-means in passes: equal bits, a local optimum, and a bound that no clustering goes below."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans as Reference

from certifit import scale
from certifit.certificates.cluster_sums import nearest
from certifit.cluster import KMeans
from tests.scale.tables import LAW, PARTITIONINGS, assert_same, partitioned, shuffled


def clumps(seed, rows=200, columns=3, k=3):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(k, columns)) * 6.0
    X = centres[rng.integers(0, k, rows)] + rng.normal(size=(rows, columns))
    return pa.table({f"x{j}": X[:, j] * 10.0**j for j in range(columns)})


def rows_of(t):
    return np.column_stack([t[c].to_numpy() for c in t.column_names])


@LAW
@given(seed=st.integers(0, 2**20), weighted=st.booleans())
def test_every_partitioning_gives_the_same_bits(seed, weighted):
    t = clumps(seed)
    w = np.random.default_rng(seed).integers(0, 3, t.num_rows).astype(float)
    ask = {"weight": "w", "features": t.column_names} if weighted else {}
    t = t.append_column("w", [w]) if weighted else t
    model = KMeans(3, random_state=seed % 1000, tol=0.0)
    fits = []
    for k, parts in enumerate(PARTITIONINGS):
        source = partitioned(shuffled(t, seed + k), parts)
        fits.append(scale.fit(model, source, engine="serial", **ask))
    assert_same(fits)
    fit, X = fits[0], rows_of(t)[:, :3]
    assert fit.status_ == "converged"
    c = fit.certificate_
    assert c.holds
    assert scale.verify(fits[-1], source, engine="serial").holds
    s = w if weighted else np.ones(len(X))
    cost = float(s @ ((X - fit.cluster_centers_[fit.predict(t.to_pandas()[["x0", "x1", "x2"]])]) ** 2).sum(axis=1))
    assert np.isclose(fit.inertia_, cost, rtol=1e-9)
    assert c.centre_gain <= 1e-9 * c.value
    best = Reference(3, n_init=20, random_state=0).fit(X, sample_weight=s).inertia_
    assert c.bound <= best * (1.0 + 1e-9)
    assert c.value <= 3.0 * best  # a start from k-means++ on a sample, and no luck needed
    assert np.isfinite(c.excess)


def test_the_bound_is_the_cost_where_one_part_is_all_there_is():
    t = clumps(1)
    c = scale.fit(KMeans(1), partitioned(t, 3), engine="serial").certificate_
    assert c.excess < 1e-9
    assert "At most" in c.claim


def test_given_centres_too_few_iterations_and_empty_clusters():
    t = clumps(2)
    start = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [1e6, 1e6, 1e6]])
    with pytest.warns(UserWarning, match="stopped after 1 iterations"):
        model = scale.fit(KMeans(3, init=start, max_iter=1), partitioned(t, 3), engine="serial")
    assert np.array_equal(model.cluster_centers_[2], start[2])  # nobody came
    assert model.certificate_.holds
    assert "Not settled" in model.certificate_.claim
    with pytest.raises(ValueError, match="initial centers"):
        scale.fit(KMeans(2, init=start), t, engine="serial")
    with pytest.raises(ValueError, match="n_samples=200"):
        scale.fit(KMeans(300), t, engine="serial")
    with pytest.raises(ValueError, match="integer"):
        scale.fit(KMeans(3, random_state=np.random.RandomState(0)), t, engine="serial")


def test_centres_that_were_moved_and_a_smaller_cost_are_refused():
    source = partitioned(clumps(3), 3)
    honest = scale.fit(KMeans(2), source, target="x2", engine="serial").certificate_
    assert honest.about["columns"] == 2
    assert scale.verify(honest, source, target="x2", engine="serial").holds
    for change in ({"figures": {**honest.figures, "value": honest.value * 0.99}},
                   {"figures": {**honest.figures, "bound": honest.bound * 1.01}},
                   {"evidence": {**honest.evidence, "centres": honest.evidence["centres"] + 0.1}}):  # fmt: skip
        assert not scale.verify(honest.tampered(**change), source, engine="serial").holds


def test_rows_go_to_the_nearest_centre_and_the_first_of_equals():
    rng = np.random.default_rng(0)
    X, C = rng.normal(size=(4, 500)), rng.normal(size=(6, 4))
    assert np.array_equal(nearest(X, C), ((X.T[:, None] - C) ** 2).sum(axis=2).argmin(axis=1))
    assert nearest(np.zeros((1, 1)), np.array([[1.0], [-1.0]])).tolist() == [0]
