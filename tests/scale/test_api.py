"""Predicting, evaluating, sampling, cross-validating and reading files: equal for every partitioning and format."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge as Reference
from sklearn.metrics import confusion_matrix, mean_squared_error, roc_auc_score

from certifit import scale
from certifit.exceptions import TableError
from certifit.linear_model import Lasso, LogisticRegression, Ridge
from certifit.naive_bayes import GaussianNB
from certifit.scale._api import bytes_of
from certifit.scale._metrics import ranges_of
from certifit.tree import DecisionTreeClassifier
from tests.scale.tables import LAW, PARTITIONINGS, arrays, assert_same, frame, partitioned, same_bits, shuffled, table


def sources(t, seed):
    return [partitioned(shuffled(t, seed + k), parts) for k, parts in enumerate(PARTITIONINGS)]


@pytest.mark.parametrize(
    ("model", "target"),
    [(LogisticRegression(), "two"), (LogisticRegression(), "three"), (GaussianNB(), "two"), (Ridge(), "real")],
    ids=str,
)
@LAW
@given(seed=st.integers(0, 2**20))
def test_figures_are_exact_and_equal(model, target, seed):
    t = table(seed, 150, 3, target)
    fitted = scale.fit(model, partitioned(t, 2), target="y", engine="serial")
    found = [scale.evaluate(fitted, s, target="y", engine="serial") for s in sources(t, seed)]
    assert all(same_bits(vars(found[0]), vars(other)) for other in found[1:])
    X, y = frame(t), t["y"].to_numpy()
    said = scale.predict(fitted, partitioned(t, 7), engine="serial")
    if target == "real":
        assert np.isclose(found[0].figures["mse"], mean_squared_error(y, said), rtol=1e-12)
        return
    assert np.array_equal(said, fitted.predict(X))
    assert np.array_equal(found[0].confusion, confusion_matrix(y, said))
    if target == "two":
        score = fitted.predict_proba(X)[:, 1]
        assert np.isclose(found[0].figures["roc_auc"], roc_auc_score(y == "yes", score), atol=1e-12)


def test_predictions_are_written_whole_or_not_at_all(tmp_path):
    t = table(2, 50, 3, "two")
    fitted = scale.fit(LogisticRegression(), t, target="y", engine="serial")
    scale.predict(fitted, partitioned(t, 7), out=tmp_path / "p.parquet", engine="serial")
    found = pq.read_table(tmp_path / "p.parquet")
    assert found.column_names == ["prediction", "probability no", "probability yes"]
    assert found["prediction"].to_pylist() == fitted.predict(frame(t)).tolist()
    broken = t.set_column(0, "x0", [np.where(np.arange(50) == 40, np.nan, t["x0"].to_numpy())])
    with pytest.raises(TableError, match="partition 5"):
        scale.predict(fitted, partitioned(broken, 7), out=tmp_path / "q.parquet", engine="serial")
    assert [p.name for p in tmp_path.iterdir()] == ["p.parquet"]


@LAW
@given(seed=st.integers(0, 2**20))
def test_samples_and_folds_are_those_of_the_rows(seed):
    t = table(seed, 200, 3)
    samples = [scale.sample(s, rows=30, seed=seed, target="y", engine="serial") for s in sources(t, seed)]
    assert all(samples[0].equals(other) for other in samples[1:])
    assert samples[0].num_rows == 30
    assert not samples[0].equals(scale.sample(partitioned(t, 2), rows=30, seed=seed + 1, target="y", engine="serial"))
    for model in (Ridge(alpha=2.0), Lasso(alpha=0.1)):
        found = [scale.cross_validate(model, s, target="y", folds=4, engine="serial") for s in sources(t, seed)]
        assert all(same_bits(vars(found[0]), vars(other)) for other in found[1:])
        assert found[0].rows.sum() == 200


def test_folds_are_judged_as_by_hand():
    t = table(3, 200, 3)
    # With integer ids the folds can be found again: rows of one id stay together.
    group = np.repeat(np.arange(10.0), 20)
    t = t.append_column("g", [group])
    found = scale.cross_validate(Ridge(), t, target="y", folds=3, id="g", engine="serial")
    from certifit.certificates.sums import Block
    from certifit.scale._sample import row_hashes

    fold = row_hashes(Block(group[None]), 0) % np.uint64(3)
    X, y = arrays(t)
    for k in range(3):
        test = fold == k
        error = mean_squared_error(y[test], Reference().fit(X[~test], y[~test]).predict(X[test]))
        assert np.isclose(found.mse[k], error, rtol=1e-9)


def test_every_format_gives_the_same_bits(tmp_path):
    t = table(4)
    pq.write_table(t, tmp_path / "a.parquet", row_group_size=20)
    pq.write_table(t, tmp_path / "plain.parquet", write_statistics=False)
    pa.feather.write_feather(t, tmp_path / "a.arrow", compression="uncompressed")
    pa.csv.write_csv(t, tmp_path / "a.csv")
    names = ["a.parquet", "plain.parquet", "a.arrow", "a.csv"]
    fits = [scale.fit(Ridge(), str(tmp_path / name), target="y", engine="serial") for name in names]
    assert_same(fits)
    with pytest.raises(TableError, match="no file"):
        scale.fit(Ridge(), str(tmp_path / "b*.parquet"), target="y", engine="serial")


def test_refusals_name_what_is_wrong():
    t = table(5, 60, 3, "two")
    with pytest.raises(TypeError, match="reproducible sample"):
        scale.fit(DecisionTreeClassifier(), t, target="y", engine="serial")
    with pytest.raises(TableError, match="no column 'z'"):
        scale.fit(Ridge(), t, target="z", engine="serial")
    with pytest.raises(TableError, match="contains strings"):
        scale.fit(Ridge(), t, target="x0", engine="serial")
    with pytest.raises(ValueError, match="engine is"):
        scale.fit(Ridge(), t, target="x0", features=["x1"], engine=3)


def test_sizes_of_memory_and_ranges_of_scores():
    assert bytes_of("1.5 gb") == 3 << 29
    assert bytes_of(7) == 7
    with pytest.raises(ValueError, match="such as"):
        bytes_of("much")
    counts = np.zeros((2, 1 << 16), dtype=int)
    counts[0, [3, 4, 9]] = 5
    assert ranges_of(counts, 10) == [(0, 9), (9, 1 << 16)]
