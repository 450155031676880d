"""One-pass families: naive Bayes, principal components, standardising, encodings."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from certifit import scale
from certifit.certificates._by_class import class_codes
from certifit.certificates.class_sums import codes_of
from certifit.decomposition import PCA
from certifit.exceptions import TableError
from certifit.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from certifit.preprocessing import OneHot, Standardizer, StandardScaler, Thermometer
from tests.scale.tables import (
    LAW,
    PARTITIONINGS,
    assert_same,
    counted,
    fitted_state,
    frame,
    partitioned,
    same_bits,
    shuffled,
    table,
)

BAYES = [
    (GaussianNB(), lambda seed: table(seed, 120, 3, "three")),
    (GaussianNB(priors=[0.5, 0.5], var_smoothing=1e-3), lambda seed: table(seed, 120, 3, "two")),
    (MultinomialNB(alpha=0.5), counted),
    (ComplementNB(alpha=0.5), counted),
    (ComplementNB(norm=True), counted),
    (BernoulliNB(binarize=1.0, fit_prior=False), counted),
    (CategoricalNB(min_categories=7), counted),
]


@pytest.mark.parametrize(("model", "make"), BAYES, ids=lambda v: str(v) if hasattr(v, "fit") else "")
@LAW
@given(seed=st.integers(0, 2**20))
def test_naive_bayes_in_every_partitioning(model, make, seed):
    t = make(seed)
    fits = [
        scale.fit(model, partitioned(shuffled(t, seed + k), parts), target="y", engine="serial")
        for k, parts in enumerate(PARTITIONINGS)
    ]
    assert_same(fits)
    assert fits[0].certificate_.holds
    assert scale.verify(fits[0], partitioned(shuffled(t, seed), 1), target="y", engine="serial").holds
    ordinary = clone(model).fit(frame(t), t["y"].to_numpy())
    assert np.allclose(fits[0].predict_proba(frame(t)), ordinary.predict_proba(frame(t)), atol=1e-9)


@pytest.mark.parametrize("model", [PCA(2), PCA(), PCA(0.9)], ids=str)
@LAW
@given(seed=st.integers(0, 2**20))
def test_components_in_every_partitioning(model, seed):
    t = table(seed).drop(["y"])
    fits = [
        scale.fit(model, partitioned(shuffled(t, seed + k), parts), engine="serial")
        for k, parts in enumerate(PARTITIONINGS)
    ]
    assert_same(fits)
    assert fits[0].certificate_.holds
    assert fits[0].certificate_.relative_gap < 1e-9
    ordinary = clone(model).fit(t.to_pandas())
    assert np.allclose(fits[0].explained_variance_, ordinary.explained_variance_, rtol=1e-6)
    other = fits[0].certificate_.tampered(figures={**fits[0].certificate_.figures, "gap": 0.0})
    assert not scale.verify(other, partitioned(t, 3), features=t.column_names, engine="serial").holds


@LAW
@given(seed=st.integers(0, 2**20))
def test_standardising_and_encoding(seed):
    t = table(seed).drop(["y"])
    rng = np.random.default_rng(seed)
    words = pa.table({"c": rng.choice(["u", "v", "w"], 90), "n": rng.integers(0, 4, 90)})
    for model, data in (
        (Standardizer(ddof=1), t),
        (StandardScaler(), t),
        (OneHot(), words),
        (Thermometer(), words.drop(["c"])),
    ):
        fits = [
            scale.fit(model, partitioned(shuffled(data, seed + k), parts), engine="serial")
            for k, parts in enumerate(PARTITIONINGS)
        ]
        assert all(same_bits(fitted_state(fits[0]), fitted_state(other)) for other in fits[1:])
        ordinary = clone(model).fit(data.to_pandas())
        there, here = (np.asarray(m.transform(data.to_pandas()), dtype=float) for m in (fits[0], ordinary))
        assert np.allclose(there, here, rtol=1e-10, atol=1e-12)


def test_labels_that_are_numbers_and_too_many_of_them():
    with pytest.raises(TableError, match="not classes"):
        scale.fit(GaussianNB(), partitioned(table(0, 1500), 3), target="y", engine="serial")


@pytest.mark.parametrize("labels", [[0, 1], [2.5, -1.0, 7.0], [False, True], ["a", "b"], list(range(12))])
def test_labels_find_their_class_and_others_none(labels):
    classes = np.array(labels)
    drawn = classes[np.random.default_rng(0).integers(len(labels), size=50)]
    assert np.array_equal(codes_of(drawn, classes), class_codes(drawn, classes))
    others = np.array(["1", "z"]) if classes.dtype.kind == "U" else np.array([np.nan, 99.0])
    assert codes_of(others, classes).tolist() == [-1, -1]
    assert codes_of(np.array([1.0]), np.array(["1", "2"])).tolist() == [-1]  # the word "1" is not the number 1
