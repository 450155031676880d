"""Columns of several kinds in one model, with gaps."""

import numpy as np
import pandas as pd
import pytest

from certifit.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MixedNB


def frame(n=80, seed=0, gaps=True):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    df = pd.DataFrame(
        {
            "size": rng.normal(size=n) + y,
            "colour": rng.choice(["red", "green", "blue"], n),
            "old": rng.random(n) < 0.3 + 0.4 * y,
            "shape": pd.Categorical(rng.choice(["x", "y"], n)),
            "count": rng.integers(0, 9, n),
        }
    )
    if gaps:
        df.loc[rng.random(n) < 0.2, "size"] = np.nan
        df["colour"] = df["colour"].where(rng.random(n) > 0.2, None)
        df["old"] = df["old"].astype(object).where(rng.random(n) > 0.2, None)
    return df, np.array(["no", "yes"])[y]


def test_a_product_of_the_single_models():
    df, y = frame(gaps=False)
    model = MixedNB(var_smoothing=0.0).fit(df, y)
    assert model.column_kinds_ == ["numeric", "categorical", "boolean", "categorical", "numeric"]
    numbers, old = df[["size", "count"]].to_numpy(float), df[["old"]].to_numpy(float)
    words = np.column_stack([pd.Categorical(df[c]).codes for c in ("colour", "shape")])
    parts = [
        GaussianNB(var_smoothing=0.0).fit(numbers, y).predict_joint_log_proba(numbers),
        BernoulliNB().fit(old, y).predict_joint_log_proba(old),
        CategoricalNB().fit(words, y).predict_joint_log_proba(words),
    ]
    want = sum(parts) - 2 * model.class_log_prior_
    np.testing.assert_allclose(model.predict_joint_log_proba(df), want, rtol=1e-10)


def test_missing_cells_do_not_count():
    df, y = frame()
    model = MixedNB().fit(df, y)
    size = df["size"].to_numpy()
    for c, label in enumerate(model.classes_):
        assert model.theta_[c, 0] == pytest.approx(np.nanmean(size[y == label]), rel=1e-12)
        here = df["colour"][(y == label)].dropna()
        want = [(np.sum(here == w) + 1) / (len(here) + 3) for w in ("blue", "green", "red")]
        np.testing.assert_allclose(np.exp(model.feature_log_prob_[0][c]), want, rtol=1e-14)
    nothing = df.iloc[:1].copy()
    nothing["size"], nothing["colour"], nothing["old"] = np.nan, None, None
    nothing["shape"], nothing["count"] = pd.Categorical([None]), np.nan
    np.testing.assert_allclose(model.predict_proba(nothing)[0], np.exp(model.class_log_prior_), rtol=1e-12)
    nothing["colour"] = "never seen"
    np.testing.assert_allclose(model.predict_proba(nothing)[0], np.exp(model.class_log_prior_), rtol=1e-12)


def test_every_kind_of_table_gives_the_same_model():
    df, y = frame()
    want = MixedNB().fit(df, y)
    assert want.certificate_.holds
    pa = pytest.importorskip("pyarrow")
    table = pa.Table.from_pandas(df, preserve_index=False)
    again = MixedNB().fit(table, y)
    np.testing.assert_allclose(again.predict_proba(table), want.predict_proba(df), rtol=1e-12)
    objects = df.astype(object).where(df.notna(), None).to_numpy()
    by_value = MixedNB(categorical=[3]).fit(objects, y)
    np.testing.assert_allclose(by_value.predict_proba(objects), want.predict_proba(df), rtol=1e-12)
    assert by_value.certificate_.verify(objects, y).holds


def test_polars():
    pl = pytest.importorskip("polars")
    df, y = frame()
    want = MixedNB().fit(df, y)
    table = pl.DataFrame({c: df[c].astype(object).where(df[c].notna(), None).tolist() for c in df.columns})
    model = MixedNB(categorical=["shape"]).fit(table, y)
    np.testing.assert_allclose(model.predict_proba(table), want.predict_proba(df), rtol=1e-12)
    assert model.certificate_.holds


def test_columns_by_name_and_number():
    df, y = frame(gaps=False)
    model = MixedNB(categorical=["count"], boolean=["shape"]).fit(df, y)
    assert model.column_kinds_ == ["numeric", "categorical", "boolean", "boolean", "categorical"]
    assert MixedNB(categorical=[-1]).fit(df, y).column_kinds_[4] == "categorical"
    for wrong, match in [({"numeric": ["nope"]}, "no column 'nope'"), ({"numeric": [9]}, "no column 9")]:
        with pytest.raises(ValueError, match=match):
            MixedNB(**wrong).fit(df, y)
    with pytest.raises(ValueError, match="both"):
        MixedNB(numeric=["count"], categorical=["count"]).fit(df, y)
    with pytest.raises(ValueError, match="'colour' is numeric but"):
        MixedNB(numeric=["colour"]).fit(df, y)
    with pytest.raises(ValueError, match="boolean but holds 3 values"):
        MixedNB(boolean=["colour"]).fit(df, y)
    with pytest.raises(ValueError, match="dates"):
        MixedNB().fit(df.assign(when=pd.Timestamp("2020-01-01")), y)
    with pytest.raises(ValueError, match="infinity"):
        MixedNB().fit(df.assign(size=np.inf), y)


def test_a_class_without_a_value_and_a_column_without_variation():
    X = np.array([[1.0, 5.0], [2.0, 5.0], [np.nan, 5.0], [np.nan, 5.0]])
    y = [0, 0, 1, 1]
    model = MixedNB().fit(X, y)
    assert model.theta_[1, 0] == 1.5
    assert model.var_[:, 1].tolist() == [1.0, 1.0]
    np.testing.assert_allclose(model.predict_proba([[1.5, 5.0]]), [[0.5, 0.5]], atol=1e-9)
    assert model.certificate_.verify(X, y).holds
    gone = MixedNB().fit(np.array([[np.nan], [np.nan]]), [0, 1])
    np.testing.assert_allclose(gone.predict_proba([[3.0]]), [[0.5, 0.5]])
    assert gone.certificate_.holds


def test_weights_are_copies():
    df, y = frame(40)
    w = np.random.default_rng(1).integers(0, 4, 40)
    again = np.repeat(np.arange(40), w)
    a, b = MixedNB().fit(df, y, sample_weight=w), MixedNB().fit(df.iloc[again], y[again])
    np.testing.assert_allclose(a.predict_proba(df), b.predict_proba(df), rtol=1e-9)
    assert a.certificate_.verify(df, y, w).holds


def test_lists_keep_their_numbers():
    X = [[1.0, "red", True], [1.2, "red", False], [3.0, "blue", True]]
    model = MixedNB().fit(X, [0, 0, 1])
    assert model.column_kinds_ == ["numeric", "categorical", "boolean"]
    assert model.predict([[3.0, "blue", True]]).tolist() == [1]
    words = MixedNB().fit(np.array([["a", "x"], ["b", "x"]]), [0, 1])
    assert words.column_kinds_ == ["categorical", "categorical"]
    assert words.certificate_.holds
