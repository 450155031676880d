"""Naive Bayes on mixed columns in partitions: equal bits, the fit in memory, gaps, categories, and proof."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from certifit import scale
from certifit.exceptions import TableError
from certifit.naive_bayes import MixedNB
from tests.scale.tables import LAW, PARTITIONINGS, assert_same, partitioned, shuffled


def mixed(seed, rows=150, gaps=True):
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], rows)
    number = rng.normal(size=rows) + (y == "a") * 2.0
    word = np.where(rng.random(rows) < 0.5, y, "z").astype(object)
    code = rng.integers(0, 4, rows).astype(float)
    if gaps:
        number[rng.random(rows) < 0.1] = np.nan
        word[rng.random(rows) < 0.1] = None
        code[rng.random(rows) < 0.1] = np.nan
    return pa.table({"word": word.tolist(), "n": number, "yes": rng.random(rows) < 0.3, "code": code, "y": y,
                     "plain": rng.normal(size=rows) * 100.0})  # fmt: skip


@LAW
@given(seed=st.integers(0, 2**20), weighted=st.booleans())
def test_every_partitioning_gives_the_same_bits(seed, weighted):
    t = mixed(seed)
    ask = {"target": "y"}
    w = np.random.default_rng(seed).integers(1, 4, t.num_rows).astype(float)
    if weighted:
        t, ask = t.append_column("w", [w]), {"target": "y", "weight": "w"}
    model = MixedNB(categorical=["code"], alpha=0.5)
    fits = []
    for k, parts in enumerate(PARTITIONINGS):
        source = partitioned(shuffled(t, seed + k), parts)
        fits.append(scale.fit(model, source, engine="serial", **ask))
    assert_same(fits)
    assert fits[0].certificate_.holds
    assert scale.verify(fits[-1], source, engine="serial").holds
    X = t.drop(["y", *(["w"] if weighted else [])]).to_pandas()
    here = clone(model).fit(X, t["y"].to_numpy(zero_copy_only=False), sample_weight=w if weighted else None)
    assert fits[0].column_kinds_ == here.column_kinds_
    assert fits[0].categories_ == here.categories_
    assert np.allclose(fits[0].predict_proba(X), here.predict_proba(X), atol=1e-9)
    said = scale.predict(fits[0], partitioned(t, 7), engine="serial")
    assert np.array_equal(said, fits[0].predict(X))
    figures = [scale.evaluate(fits[0], partitioned(t, k), target="y", engine="serial").figures for k in (1, 64)]
    assert figures[0] == figures[1]


def test_forged_estimates_and_changed_cells_are_refused(tmp_path):
    t = mixed(3)
    pq.write_table(t.slice(0, 70), tmp_path / "a.parquet")
    pq.write_table(t.slice(70), tmp_path / "b.parquet")
    where = str(tmp_path / "*.parquet")
    honest = scale.fit(MixedNB(), where, target="y", engine="serial").certificate_
    assert scale.verify(honest, where, engine="serial").holds
    e = honest.evidence
    for change in ({"theta": e["theta"] + 0.1}, {"var": e["var"] * 1.01}, {"feature_log_prob": e["feature_log_prob"] - 0.1},
                   {"alpha": 2.0}, {"categories": [c[::-1] for c in e["categories"]]}, {"numeric": e["numeric"][:1]}):  # fmt: skip
        assert not scale.verify(honest.tampered(evidence={**e, **change}), where, engine="serial").holds
    # A missing cell that becomes the word for it is another cell.
    words = t["word"].to_pylist()
    at = words.index(None)
    words[at] = "None"
    pq.write_table(t.set_column(0, "word", [words]).slice(0, 70), tmp_path / "a.parquet")
    pq.write_table(t.set_column(0, "word", [words]).slice(70), tmp_path / "b.parquet")
    answer = scale.verify(honest, where, engine="serial")
    assert f"{'a' if at < 70 else 'b'}.parquet was changed" in str(answer)


def test_a_class_that_never_shows_a_column_and_constant_columns():
    t = mixed(4, gaps=False)
    n = np.where(t["y"].to_numpy(zero_copy_only=False) == "a", np.nan, t["n"].to_numpy())
    t = t.set_column(1, "n", [n]).append_column("same", [np.ones(t.num_rows)])
    fit = scale.fit(MixedNB(), partitioned(t, 5), target="y", engine="serial")
    here = MixedNB().fit(t.drop(["y"]).to_pandas(), t["y"].to_numpy(zero_copy_only=False))
    assert np.allclose(fit.theta_, here.theta_)
    assert np.allclose(fit.var_, here.var_)
    assert fit.certificate_.holds


def test_words_that_should_be_numbers_are_refused():
    with pytest.raises(TableError, match="'word' is listed as numeric"):
        scale.fit(MixedNB(numeric=["word"]), mixed(5), target="y", engine="serial")
