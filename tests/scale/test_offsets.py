"""Offsets of rows in generalized linear models: equal bits, the fit in memory, proof, and refusals."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from certifit import scale
from certifit.exceptions import TableError
from certifit.glm import GLM, Tweedie
from certifit.linear_model import PoissonRegressor, Ridge
from tests.scale.tables import LAW, arrays, assert_same, partitioned, shuffled, table

MODELS = [
    (GLM("poisson", alpha=0.01), "counts"),
    (GLM("poisson", alpha=0.01, fit_intercept=False), "counts"),
    (GLM("gaussian", alpha=0.1), "real"),
    (GLM(Tweedie(1.5), alpha=0.1), "counts"),
    (GLM("binomial", alpha=0.1), "shares"),
    (PoissonRegressor(alpha=0.5), "counts"),
]


def shifted(seed: int, target: str) -> pa.Table:
    """A table with offsets and exposures."""
    t, rng = table(seed, 120, 3, "counts" if target == "counts" else "real"), np.random.default_rng(seed + 1)
    if target == "shares":
        t = t.set_column(3, "y", [rng.integers(0, 5, 120) / 4.0])
    return t.append_column("o", [rng.normal(size=120) * 0.5 + 0.7]).append_column("e", [rng.uniform(0.2, 5.0, 120)])


@pytest.mark.parametrize(("model", "target"), MODELS, ids=str)
@LAW
@given(seed=st.integers(0, 2**20))
def test_every_partitioning_gives_the_bits_of_one_and_the_fit_in_memory(model, target, seed):
    t = shifted(seed, target)
    ask = {"offset": "o"} if target in ("real", "shares") else {"offset": "o", "exposure": "e"}
    use = t if "exposure" in ask else t.drop(["e"])
    fits = []
    for k, parts in enumerate((1, 7, 64)):
        source = partitioned(shuffled(use, seed + k), parts)
        fits.append(scale.fit(model, source, target="y", engine="serial", **ask))
    assert_same(fits)
    assert scale.verify(fits[-1], source, engine="serial").holds
    X, y = arrays(t.drop(["o", "e"]))
    o = t["o"].to_numpy() + (np.log(t["e"].to_numpy()) if "exposure" in ask else 0.0)
    here = clone(model).fit(X, y, offset=o)
    assert np.allclose(fits[0].coef_, here.coef_, rtol=1e-4, atol=1e-4 * np.abs(here.coef_).max())
    certificate = fits[0].certificate_
    assert certificate.holds
    assert certificate.relative_gap < 1e-8
    assert certificate.about["offset"]
    assert certificate.bound <= here.certificate_.value * (1.0 + 1e-12)
    said = scale.predict(fits[0], partitioned(use, 7), engine="serial", **ask)
    assert np.allclose(said, fits[0].predict(t.drop(["y", "o", "e"]).to_pandas(), offset=o), rtol=1e-10)
    figures = [
        scale.evaluate(fits[0], partitioned(use, k), target="y", engine="serial", **ask).figures for k in (1, 64)
    ]
    assert figures[0] == figures[1]
    assert np.isclose(figures[0]["mse"], np.square(y - said).mean())


def test_a_changed_offset_is_named_and_a_forged_one_proves_nothing():
    t = shifted(1, "counts").drop(["e"])
    fit = scale.fit(GLM("poisson", alpha=0.1), partitioned(t, 7), target="y", offset="o", engine="serial")
    o = t["o"].to_numpy().copy()
    o[40] = np.nextafter(o[40], np.inf)
    other = t.set_column(t.column_names.index("o"), "o", [o])
    assert "partition 2 was changed" in str(scale.verify(fit, partitioned(other, 7), engine="serial"))
    certificate = fit.certificate_
    # In memory the same rows verify with their offsets, and not without them.
    X, y = arrays(t.drop(["o"]))
    assert certificate.verify(X, y, offset=t["o"].to_numpy()).holds
    assert not certificate.verify(X, y).holds
    assert not certificate.verify(X, y, offset=o).holds
    # An objective that has no offsets is another one.
    plain = {**certificate.evidence["objective"], "offset": False}
    forged = certificate.tampered(evidence={**certificate.evidence, "objective": plain})
    assert not scale.verify(forged, partitioned(t, 7), engine="serial").holds
    # As weights the same numbers would be other data.
    weighted = scale.fit(GLM("poisson", alpha=0.1), partitioned(t.set_column(4, "o", [np.exp(o)]), 7), target="y",
                         weight="o", engine="serial").certificate_  # fmt: skip
    swapped = scale.fit(GLM("poisson", alpha=0.1), partitioned(t.set_column(4, "o", [np.exp(o)]), 7), target="y",
                        offset="o", engine="serial").certificate_  # fmt: skip
    assert weighted.digests["data"] != swapped.digests["data"]


def test_what_makes_no_sense_is_refused():
    t = shifted(2, "counts")
    with pytest.raises(TypeError, match="generalized linear models"):
        scale.fit(Ridge(), t, target="y", offset="o", engine="serial")
    with pytest.raises(ValueError, match="exposure needs the log link"):
        scale.fit(GLM("gaussian"), t, target="y", exposure="e", engine="serial")
    with pytest.raises(TypeError, match=r"scale\.sample"):
        scale.fit(GLM("gaussian", alpha=0.1, l1_ratio=0.5), t, target="y", offset="o", engine="serial")
    bad = t.set_column(t.column_names.index("e"), "e", [np.zeros(120)])
    with pytest.raises(TableError, match="exposure is missing, or not positive"):
        scale.fit(GLM("poisson"), bad, target="y", exposure="e", engine="serial")
    bad = t.set_column(t.column_names.index("o"), "o", [np.full(120, np.nan)])
    with pytest.raises(TableError, match="offset is missing"):
        scale.fit(GLM("poisson"), bad, target="y", offset="o", engine="serial")
    with pytest.raises(TableError, match="cannot be the offsets"):
        scale.fit(GLM("poisson"), t, target="y", offset="y", engine="serial")
    fit = scale.fit(Ridge(), t, target="y", engine="serial")
    with pytest.raises(TypeError, match="generalized linear models"):
        scale.predict(fit, t, offset="o", engine="serial")
