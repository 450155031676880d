"""Studies of tables larger than memory: a stated sample, the same whatever the files, and a fit to all rows after it."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from certifit import load, scale
from certifit.cli import main
from certifit.exceptions import TableError
from certifit.files import TableModel
from certifit.study import encoded, run_large
from certifit.study._large import refitted, sample_rows
from certifit.tree import DecisionTreeClassifier


def rows(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    x, ward = rng.normal(size=n), rng.choice(["north", "south", "west"], n)
    age = rng.integers(20, 80, n)
    score = 1.5 * x + (ward == "north") - 0.03 * (age - 50)
    sick = np.where(score + rng.logistic(size=n) > 0, "yes", "no")
    gaps = np.where(rng.random(n) < 0.05, np.nan, x)
    return pa.table({"x": gaps, "ward": ward, "age": age, "sick": sick, "cost": score + rng.normal(size=n)})


def written(t, folder, parts):
    folder.mkdir()
    for k, piece in enumerate(np.array_split(np.arange(t.num_rows), parts)):
        pq.write_table(t.take(pa.array(piece)), folder / f"part-{k}.parquet")
    return str(folder / "*.parquet")


SMALL = {"memory": 1, "engine": "serial", "folds": 3, "time_budget": None, "yardstick": False}


def test_compared_on_a_sample_and_fitted_to_all_rows(tmp_path):
    t = rows()
    ask = {**SMALL, "models": ["logistic regression"], "drop": ["cost"]}
    two = [run_large(written(t.take(np.random.default_rng(k).permutation(3000)), tmp_path / str(k), parts), "sick", **ask)
           for k, parts in enumerate((2, 5))]  # fmt: skip
    found = [study.record["scale"] for study in two]
    assert (found[0]["rows"], found[0]["sample"], found[0]["refitted"]) == (3000, 1000, True)
    assert "1,000 of 3,000 rows" in two[0].verdict
    assert "fitted again to all 3,000 rows" in two[0].verdict
    # The same sample, the same encoding, the same bits, however the files are cut.
    assert np.array_equal(two[0].model.estimator.coef_, two[1].model.estimator.coef_)
    certificate = two[0].model.certificates_[0]
    assert certificate.holds
    assert certificate.about["rows"] == 3000
    assert [c["about"]["rows"] for c in two[0].record["proofs"]["certificates"]] == [3000]
    where = str(tmp_path / "0" / "*.parquet")
    assert scale.verify(certificate, encoded(where, two[0].model), engine="serial").holds
    assert set(two[0].model.predict(t.slice(0, 50))) <= {"yes", "no"}


def test_what_cannot_be_fitted_in_passes_stays_with_the_sample(tmp_path):
    where = written(rows(), tmp_path / "a", 3)
    study = run_large(where, "sick", **{**SMALL, "models": ["decision tree"], "drop": ["cost"]})
    assert not study.record["scale"]["refitted"]
    assert "stays fitted to the sample" in study.verdict
    assert isinstance(study.model.estimator, DecisionTreeClassifier)
    assert refitted(where, TableModel(study.model.pipeline, study.model.schema)) is None
    with pytest.raises(TableError, match="no column 'nothing'"):
        run_large(where, "nothing", **SMALL)


def test_a_table_within_the_sample_is_an_ordinary_study(tmp_path):
    where = written(rows(600), tmp_path / "a", 2)
    study = run_large(where, "cost", **{**SMALL, "models": ["ridge"], "drop": ["sick"]})
    assert study.record["scale"]["sample"] == study.record["scale"]["rows"] == 600
    assert "all 600 rows" in study.verdict


def test_the_command_line_writes_a_model_that_verifies(tmp_path, capsys):
    where = written(rows(2500, 3), tmp_path / "a", 3)
    options = ["--target", "cost", "--memory", "1MB", "--models", "ridge", "--drop", "sick", "--folds", "3",
               "--no-yardstick", "--out", str(tmp_path / "out")]  # fmt: skip
    assert main(["study", where, *options]) == 0
    assert "fitted again to all 2,500 rows" in " ".join(capsys.readouterr().out.split())
    assert "reproducible sample of 1,000 of 2,500 rows" in (tmp_path / "out" / "card.md").read_text()
    model = load(tmp_path / "out" / "model.certifit")
    assert model.certificates_[0].about["rows"] == 2500
    assert main(["verify", str(tmp_path / "out" / "model.certifit"), where]) == 0
    assert main(["study", where, "--target", "cost", "--memory", "plenty"]) == 2
    assert main(["study", where, "--memory", "1MB"]) == 2


def test_samples_grow_with_memory_and_shrink_with_columns():
    assert sample_rows("1GB", 2000) < sample_rows("4GB", 2000)
    assert sample_rows(1, 5) == 1000
