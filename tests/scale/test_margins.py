"""Linear support vector machines in passes: equal bits, the optimum in memory, and proof."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from certifit import scale
from certifit.svm import LinearSVC
from tests.scale.tables import LAW, arrays, assert_same, partitioned, shuffled, table

MODELS = [
    (LinearSVC(), "two"),
    pytest.param(LinearSVC(loss="hinge"), "two", marks=pytest.mark.slow),  # some thirty passes
    (LinearSVC(C=0.5), "three"),
    (LinearSVC(fit_intercept=False, class_weight="balanced"), "two"),
]


@pytest.mark.parametrize(("model", "target"), MODELS, ids=str)
@LAW
@given(seed=st.integers(0, 2**20))
def test_every_partitioning_gives_the_same_bits(model, target, seed):
    t = table(seed, 120, 3, target)
    fits = [
        scale.fit(model, partitioned(shuffled(t, seed + k), parts), target="y", engine="serial")
        for k, parts in enumerate((1, 7, 64))
    ]
    assert_same(fits)
    certificate = fits[0].certificate_
    assert certificate.holds
    assert certificate.relative_gap < 1e-3
    X, y = arrays(t)
    best = clone(model).set_params(tol=1e-8).fit(X, y).certificate_
    assert certificate.bound <= best.value * (1.0 + 1e-12)
    assert best.bound <= certificate.value * (1.0 + 1e-12)


def test_the_hinge_itself():
    t = table(2, 60, 2, "two")
    model = LinearSVC(loss="hinge")
    fits = [scale.fit(model, partitioned(t, parts), target="y", engine="serial") for parts in (1, 3)]
    assert_same(fits)
    best = clone(model).set_params(tol=1e-8).fit(*arrays(t)).certificate_
    certificate = fits[0].certificate_
    assert certificate.holds
    assert certificate.bound <= best.value * (1.0 + 1e-12)
    assert best.bound <= certificate.value * (1.0 + 1e-12)


def test_an_offset_out_of_reach_and_moved_coefficients_prove_nothing():
    t = table(1, 120, 3, "two")
    source = partitioned(t, 3)
    honest = scale.fit(LinearSVC(), source, target="y", engine="serial").certificate_
    assert scale.verify(honest, source, engine="serial").holds
    for change in ({"intercept": honest.evidence["intercept"] + 0.1}, {"coef": honest.evidence["coef"] * 1.01},
                   {"reach": np.zeros(1)}, {"width": 0.1}):  # fmt: skip
        forged = honest.tampered(evidence={**honest.evidence, **change})
        assert not scale.verify(forged, source, engine="serial").holds
