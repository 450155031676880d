"""Texts as words in buckets: the same numbers for ever, and alike in a schema and out of it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifit.files import Column, Schema, Table, _text
from certifit.study import examine, run


def reviews(n=120, seed=0):
    """Every third word tells; the others are drawn by lot."""
    rng = np.random.default_rng(seed)
    lot = np.array(["story", "music", "actors", "ending", "camera", "light", "plot", "pace"])
    liked = rng.random(n) < 0.5
    told = [f"the {' and the '.join(rng.choice(lot, 5))} were {'great' if v else 'poor'}" for v in liked]
    told = [t if rng.random() > 0.15 else t.replace("great", "fine").replace("poor", "fine") for t in told]
    return {"review": told, "liked": np.where(liked, "yes", "no")}


def test_buckets_never_change():
    """Stored answers: a model file must mean the same in years to come."""
    found = _text.presence(pa.array(["good film", "bad film", None]), 1_024)
    assert found.shape == (3, 1_024)
    assert [np.flatnonzero(row).tolist() for row in found.toarray()] == [[65, 681], [3, 681], []]


@given(st.lists(st.text("ab cd", max_size=12), min_size=1, max_size=6))
def test_a_schema_reads_words_as_columns_do(cells):
    columns = tuple(Column(f"t: {b}", "boolean", text="t", bucket=b, buckets=8) for b in (5, 0, 3))
    table = Table.of({"t": [c or "none" for c in cells]})
    X = Schema(columns).read(table).X
    for j, column in enumerate(columns):
        np.testing.assert_array_equal(X[:, j], column.read(table.column("t"))[0])


def test_a_missing_text_has_no_words_and_a_missing_column_is_named():
    columns = (Column("t: good", "boolean", text="t", bucket=1, buckets=2),)
    assert Schema(columns).read(Table.of({"t": [None, "NA"]})).X.tolist() == [[0.0], [0.0]]
    with pytest.raises(Exception, match="lacks 1 column the model was fitted on: 't'"):
        Schema(columns).read(Table.of({"u": ["x"]}))


def test_a_study_learns_from_words_and_its_file_remembers_them(tmp_path):
    import certifit as cf
    from certifit.exceptions import ExportError
    from certifit.files import to_code

    table = reviews()
    study = run(table, "liked", models=["logistic regression", "naive Bayes"], folds=3, yardstick=False)
    assert study.record["verdict"]["winner"] != "baseline"
    assert study.record["comparison"]["standings"][0]["mean"] > 0.85
    assert "1 text" in study.record["data"]["summary"]
    assert any("'review' is text" in line for line in study.record["data"]["remarks"])
    assert study.record["drivers"]["importance"][0]["columns"] == ["review"]
    assert study.record["slices"]["slices"] == []
    study.write(tmp_path)
    model = cf.load(tmp_path / "model.certifit")
    new = {"review": ["everything in it was great", "all of it was poor", None]}
    assert model.predict(new)[:2].tolist() == ["yes", "no"]
    np.testing.assert_array_equal(model.predict(new), study.model.predict(new))
    with pytest.raises(ExportError, match="Text \\('review'\\)"):
        to_code(model, "python", tmp_path / "model.py")


def test_few_words_are_no_text_unless_kept():
    rng = np.random.default_rng(0)
    names = [f"Mr {a} {b}" for a, b in zip(rng.permutation(400), rng.choice(["Brown", "Green"], 400))]
    table = {"name": names[:200], "age": rng.normal(size=200), "y": rng.normal(size=200)}
    assert examine(table, "y").schema.sources == ("age",)
    kept = examine(table, "y", keep=["name"]).schema
    assert {"name: brown", "name: green"} <= {c.name for c in kept.columns}
