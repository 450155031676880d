"""Squared-loss families from one pass: the same bits for every partitioning, the answers of a fit in memory, and proof."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from certifit import scale
from certifit.linear_model import ElasticNet, Lasso, LinearRegression, Ridge
from tests.scale.tables import LAW, PARTITIONINGS, arrays, assert_same, frame, partitioned, shuffled, table

MODELS = [
    LinearRegression(),
    LinearRegression(positive=True),
    LinearRegression(fit_intercept=False),
    Ridge(alpha=0.5),
    Ridge(alpha=2.0, prior=[1.0, 0.0, -1.0, 2.0]),
    Lasso(alpha=0.05),
    ElasticNet(alpha=0.05, l1_ratio=0.4),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
@LAW
@given(seed=st.integers(0, 2**20))
def test_every_partitioning_gives_the_same_bits(model, seed):
    t = table(seed)
    fits = []
    for k, parts in enumerate(PARTITIONINGS):
        source = partitioned(shuffled(t, seed + k), parts)
        fits.append(scale.fit(model, source, target="y", engine="serial"))
        assert scale.verify(fits[-1], source, target="y", engine="serial").holds
    assert_same(fits)
    X, y = arrays(t)
    ordinary = clone(model).fit(X, y)
    assert np.allclose(fits[0].coef_, ordinary.coef_, rtol=1e-6, atol=1e-7)
    assert np.allclose(fits[0].predict(frame(t)), ordinary.predict(X), atol=1e-5)
    assert fits[0].certificate_.holds
    assert fits[0].certificate_.relative_gap < 1e-8


def test_the_estimator_itself_is_left_alone():
    model = Ridge()
    scale.fit(model, partitioned(table(0), 3), target="y", engine="serial")
    assert not hasattr(model, "coef_")


def test_verify_names_the_partition_that_was_changed():
    t = table(1)
    model = scale.fit(Ridge(), partitioned(t, 7), target="y", engine="serial")
    column = t["x2"].to_numpy().copy()
    column[40] += 1e-9
    other = t.set_column(t.column_names.index("x2"), "x2", [column])
    answer = scale.verify(model, partitioned(other, 7), target="y", engine="serial")
    assert not answer.holds
    assert not answer.same_data
    assert "partition 3 was changed" in str(answer)


def test_forged_figures_and_coefficients_are_refused():
    source = partitioned(table(2), 3)
    honest = scale.fit(Ridge(), source, target="y", engine="serial").certificate_
    forged = [
        honest.tampered(figures={**honest.figures, "gap": honest.gap / 2, "value": honest.value}),
        honest.tampered(evidence={**honest.evidence, "coef": honest.evidence["coef"] + 1e-3}),
        honest.tampered(evidence={**honest.evidence, "digits": 1}),
        honest.tampered(evidence={}),
    ]
    for certificate in forged:
        assert not scale.verify(
            certificate, source, target="y", features=["x0", "x1", "x2", "x3"], engine="serial"
        ).holds


def test_dependent_columns_and_constant_columns():
    t = table(3)
    t = t.append_column("x4", [t["x0"].to_numpy() * 2.0]).append_column("x5", [np.ones(t.num_rows)])
    model = scale.fit(LinearRegression(), partitioned(t, 5), target="y", engine="serial")
    X, y = arrays(t)
    best = np.square(y - LinearRegression().fit(X[:, :4], y).predict(X[:, :4])).mean()
    assert np.square(y - model.predict(frame(t))).mean() <= best * (1 + 1e-9)
    assert scale.verify(model, partitioned(t, 5), target="y", engine="serial").holds


def test_in_memory_verification_of_the_same_rows():
    t = table(4)
    model = scale.fit(Ridge(), partitioned(t, 12), target="y", engine="serial")
    X, y = arrays(t)
    assert model.certificate_.verify(X, y).holds
    assert not model.certificate_.verify(X[::-1], y[::-1]).holds  # other partitions
    assert not model.certificate_.verify(X, y + 1.0).holds
