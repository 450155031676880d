"""Weights of rows: what copies of the rows would give, equal bits, proof, and refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from certifit import scale
from certifit.exceptions import TableError
from certifit.glm import GLM
from certifit.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, PoissonRegressor, Ridge
from certifit.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from certifit.preprocessing import StandardScaler
from certifit.svm import LinearSVC
from tests.scale.tables import (
    LAW,
    PARTITIONINGS,
    arrays,
    assert_same,
    counted,
    fitted_state,
    partitioned,
    same_bits,
    shuffled,
    table,
)

MODELS = [
    (LinearRegression(), "real"),
    (Ridge(alpha=0.5), "real"),
    (Lasso(alpha=0.05), "real"),
    (ElasticNet(alpha=0.05, l1_ratio=0.4, fit_intercept=False), "real"),
    (LogisticRegression(), "two"),
    (LogisticRegression(class_weight="balanced"), "three"),
    (GLM("poisson", alpha=0.01), "counts"),
    (GLM("gaussian", alpha=0.1, l1_ratio=0.5), "real"),
    (PoissonRegressor(alpha=0.5), "counts"),
    (GaussianNB(), "three"),
    (MultinomialNB(alpha=0.5), "cells"),
    (ComplementNB(), "cells"),
    (BernoulliNB(binarize=1.0), "cells"),
    (CategoricalNB(min_categories=7), "cells"),
]


def weighed(seed, target, rows=120):
    t = counted(seed) if target == "cells" else table(seed, rows, 3, target)
    w = np.random.default_rng(seed + 1).integers(0, 4, t.num_rows).astype(float)
    return t.append_column("w", [w * 10.0 ** np.random.default_rng(seed).integers(-3, 4)]), w


def ordinary(model, t):
    X, y = arrays(t.drop(["w"]))
    return clone(model).fit(X, y, sample_weight=t["w"].to_numpy()), X


@pytest.mark.parametrize(("model", "target"), MODELS, ids=str)
@LAW
@given(seed=st.integers(0, 2**20))
def test_weighted_fits_in_every_partitioning(model, target, seed):
    t, _ = weighed(seed, target)
    fits = []
    for k, parts in enumerate(PARTITIONINGS):
        source = partitioned(shuffled(t, seed + k), parts)
        fits.append(scale.fit(model, source, target="y", weight="w", engine="serial"))
    assert_same(fits)
    assert fits[0].certificate_.holds
    assert scale.verify(fits[-1], source, engine="serial").holds
    here, X = ordinary(model, t)
    if hasattr(here, "predict_proba"):
        rows = t.drop(["y", "w"]).to_pandas()
        assert np.allclose(fits[0].predict_proba(rows), here.predict_proba(X), atol=1e-4)
    else:
        assert np.allclose(fits[0].coef_, here.coef_, rtol=1e-4, atol=1e-4 * np.abs(here.coef_).max())


def test_weighted_columns_are_scaled_alike_in_every_partitioning():
    t, _ = weighed(4, "real")
    t = t.drop(["y"]).append_column("flat", [np.full(t.num_rows, 0.1)])
    fits = [
        scale.fit(StandardScaler(), partitioned(shuffled(t, parts), parts), weight="w", engine="serial")
        for parts in PARTITIONINGS
    ]
    assert all(same_bits(fitted_state(fits[0]), fitted_state(other)) for other in fits[1:])
    rows = t.drop(["w"]).to_pandas()
    here = StandardScaler().fit(rows, sample_weight=t["w"].to_numpy())
    assert np.allclose(fits[0].transform(rows), here.transform(rows), rtol=1e-10, atol=1e-12)
    assert fits[0].scale_[-1] == 1.0
    assert np.isclose(fits[0].n_samples_seen_, here.n_samples_seen_, rtol=1e-12)


@pytest.mark.parametrize("model", [Ridge(), LogisticRegression(), GaussianNB()], ids=str)
def test_a_weight_is_so_many_copies(model):
    target = "real" if isinstance(model, Ridge) else "two"
    t = table(3, 80, 3, target)
    w = np.random.default_rng(0).integers(1, 4, 80)
    once = scale.fit(model, t.append_column("w", [w]), target="y", weight="w", engine="serial")
    copies = scale.fit(model, t.take(np.repeat(np.arange(80), w)), target="y", engine="serial")
    name = "coef_" if hasattr(once, "coef_") else "theta_"
    assert np.allclose(getattr(once, name), getattr(copies, name), rtol=1e-6, atol=1e-9)
    if name == "coef_":
        assert np.isclose(once.certificate_.value, copies.certificate_.value, rtol=1e-9)


def test_weights_belong_to_the_data_of_a_certificate():
    t, _ = weighed(5, "real")
    certificate = scale.fit(Ridge(), partitioned(t, 4), target="y", weight="w", engine="serial").certificate_
    assert certificate.about["weights"] is True
    X, y = arrays(t.drop(["w"]))
    w = t["w"].to_numpy()
    assert certificate.verify(X, y, w).holds
    other = w.copy()
    other[40] += 1.0
    assert not certificate.verify(X, y, other).holds
    assert not certificate.verify(X, y).holds
    changed = t.set_column(t.column_names.index("w"), "w", [other])
    answer = scale.verify(certificate, partitioned(changed, 4), engine="serial")
    assert "partition 1 was changed" in str(answer)
    assert not answer.holds
    # Without the weights, or with another column in their place, it is another question.
    plain = scale.fit(Ridge(), partitioned(t.drop(["w"]), 4), target="y", engine="serial").certificate_
    assert not plain.verify(X, y, w).holds
    for evidence in (
        {**certificate.evidence, "weight_exponent": 2000},
        {**certificate.evidence, "weight_exponent": 0.5},
    ):
        assert not certificate.tampered(evidence=evidence).verify(X, y, w).holds


def test_cross_validation_weighs_the_rows():
    t = table(6, 200, 3)
    w = np.random.default_rng(1).integers(1, 3, 200)
    group = np.repeat(np.arange(20.0), 10)
    t = t.append_column("g", [group])
    weighted = scale.cross_validate(
        Ridge(), t.append_column("w", [w]), target="y", weight="w", folds=3, id="g", engine="serial"
    )
    copies = scale.cross_validate(
        Ridge(), t.take(np.repeat(np.arange(200), w)), target="y", folds=3, id="g", engine="serial"
    )
    assert np.allclose(weighted.mse, copies.mse, rtol=1e-9)
    assert np.array_equal(weighted.mass, copies.rows)
    assert np.isclose(weighted.mean, copies.mean, rtol=1e-9)


def test_refusals_name_what_is_wrong_with_the_weights():
    t = table(7, 60, 2, "two")
    ask = {"target": "y", "weight": "w", "engine": "serial"}
    below = t.append_column("w", [np.where(np.arange(60) == 50, -1.0, 1.0)])
    with pytest.raises(TableError, match="partition 2: a weight is missing, negative or not finite"):
        scale.fit(LogisticRegression(), partitioned(below, 3), **ask)
    with pytest.raises(TableError, match="nor all zero"):
        scale.fit(LogisticRegression(), t.append_column("w", [np.zeros(60)]), **ask)
    one = (t["y"].to_numpy(zero_copy_only=False) == "no").astype(float)
    with pytest.raises(TableError, match="class yes have weight zero"):
        scale.fit(LogisticRegression(), t.append_column("w", [one]), **ask)
    with pytest.raises(TypeError, match="LinearSVC does not support row weights"):
        scale.fit(LinearSVC(), t.append_column("w", [np.ones(60)]), **ask)
    with pytest.raises(TableError, match="cannot be the weights"):
        scale.fit(Ridge(), t, target="x0", features=["x1"], weight="y", engine="serial")
