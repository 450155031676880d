"""The short way of validation gives what scikit-learn's gives: the same arrays, attributes, errors and warnings."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn.utils.multiclass
import sklearn.utils.validation as theirs
from sklearn.base import BaseEstimator

from certifit import _validation as ours
from certifit.linear_model import Ridge

GOOD = np.arange(12.0).reshape(4, 3)


class Model(BaseEstimator):
    """No parameters."""

    def fit(self, X, y=None):
        """Only here to be an estimator."""
        return self


def _with(value):
    X = GOOD.copy()
    X[1, 2] = value
    return X


def _read_only():
    X = GOOD.copy()
    X.flags.writeable = False
    return X


TABLES = {
    "read-only": _read_only(),
    "plain": GOOD,
    "single": GOOD.astype(np.float32),
    "half": GOOD.astype(np.float16),
    "longdouble": GOOD.astype(np.longdouble),
    "integers": GOOD.astype(int),
    "fortran": np.asfortranarray(GOOD),
    "strided": np.repeat(GOOD, 2, axis=1)[:, ::2],
    "nan": _with(np.nan),
    "infinite": _with(np.inf),
    "both infinities": np.array([[np.inf, 1.0], [-np.inf, 2.0], [0.0, 1.0], [1.0, 1.0]]),
    "overflowing sum": np.full((4, 3), 1e308),
    "one row": GOOD[:1],
    "no rows": GOOD[:0],
    "no columns": GOOD[:, :0],
    "two columns": GOOD[:, :2].copy(),
    "vector": GOOD.ravel(),
    "cube": GOOD.reshape(2, 2, 3),
    "list": GOOD.tolist(),
    "objects": GOOD.astype(object),
    "words": GOOD.astype(str),
    "complex": GOOD.astype(complex),
    "frame": pd.DataFrame(GOOD, columns=list("abc")),
    "sparse": scipy.sparse.csr_array(GOOD),
    "matrix": np.asmatrix(GOOD),
    "masked": np.ma.array(GOOD),
}
TARGETS = {
    "none given": "no_validation",
    "missing": None,
    "floats": np.arange(4.0),
    "integers": np.arange(4),
    "booleans": np.arange(4) > 1,
    "nan": np.array([1.0, np.nan, 0.0, 2.0]),
    "infinite": np.array([1.0, np.inf, 0.0, 2.0]),
    "words": np.array(list("abcd")),
    "objects": np.array([1, 2, 3, 4], dtype=object),
    "short": np.arange(3.0),
    "column": np.arange(4.0)[:, None],
    "two targets": np.arange(8.0).reshape(4, 2),
    "strided": np.arange(8.0)[::2],
    "list": [0, 1, 2, 3],
    "complex": np.arange(4) * 1j,
}
OPTIONS = [
    {},
    {"accept_sparse": "csr", "dtype": [np.float64, np.float32]},
    {"dtype": np.float64, "order": "C", "accept_sparse": "csr"},
    {"dtype": (np.float64, np.float32), "order": "F"},
    {"dtype": None, "ensure_all_finite": False},
    {"dtype": np.float32},
    {"ensure_all_finite": "allow-nan", "ensure_min_samples": 2, "ensure_min_features": 3},
    {"dtype": "int"},
    {"copy": True},
    {"copy": True, "order": "F", "force_writeable": True},
    {"copy": False, "force_writeable": True},
    {"ensure_non_negative": True},
]
TOGETHER = [{}, {"multi_output": True}, {"y_numeric": True}, {"multi_output": True, "y_numeric": True}]


def _outcome(validate, model, X, y, reset, options):
    """What came out, what the model knows now, and what was said."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = validate(model, X, y, reset=reset, **options)
        except Exception as error:
            found = type(error), str(error)
    return found, vars(model), [(w.category, str(w.message)) for w in said]


def _equal(a, b):
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(_equal, a, b))
    if isinstance(a, np.ndarray):
        same = np.array_equal(a, b, equal_nan=a.dtype.kind in "fc") and type(a) is type(b) and a.dtype == b.dtype
        return same and a.strides == b.strides and a.flags.writeable == b.flags.writeable
    return (a != b).nnz == 0 if scipy.sparse.issparse(a) else a == b


def _compare(X, y, options, *, reset=True, **known):
    models = Model(), Model()
    for model in models:
        vars(model).update(known)
    mine, other = (
        _outcome(validate, model, X, y, reset, options)
        for validate, model in zip((ours.validate_data, theirs.validate_data), models, strict=True)
    )
    assert _equal(mine[0], other[0])
    assert (mine[0] is X) == (other[0] is X)
    assert mine[1].keys() == other[1].keys()
    assert mine[1].get("n_features_in_") == other[1].get("n_features_in_")
    assert mine[2] == other[2]


@pytest.mark.parametrize("name", TABLES)
def test_tables_come_out_as_from_scikit_learn(name):
    names = np.array(list("abc"), dtype=object)
    for options in OPTIONS:
        _compare(TABLES[name], "no_validation", options)
        _compare(TABLES[name], "no_validation", options, feature_names_in_=names, n_features_in_=3)
        for known in ({}, {"n_features_in_": 3}, {"n_features_in_": 3, "feature_names_in_": names}):
            _compare(TABLES[name], "no_validation", options, reset=False, **known)


@pytest.mark.parametrize("name", TARGETS)
def test_targets_come_out_as_from_scikit_learn(name):
    tables = [TABLES[t] for t in ("plain", "single", "fortran", "nan", "integers", "frame", "sparse", "one row")]
    for X, options, more in itertools.product(tables, OPTIONS[:3], TOGETHER):
        _compare(X, TARGETS[name], options | (more if not isinstance(TARGETS[name], str) else {}))


def test_a_plain_array_is_handed_back_itself_without_scikit_learn(monkeypatch):
    monkeypatch.setattr(theirs, "validate_data", None)
    monkeypatch.setattr(theirs, "check_is_fitted", None)
    model, y = Model(), np.arange(4)
    found = ours.validate_data(model, GOOD, y, dtype=np.float64, order="C")
    assert found[0] is GOOD
    assert found[1] is y
    assert ours.validate_data(model, GOOD, reset=False) is GOOD
    ours.check_is_fitted(model)
    ours.check_is_fitted(model, "n_features_in_")


def test_a_model_that_is_not_fitted_is_told_so():
    with pytest.raises(theirs.NotFittedError, match="not fitted"):
        ours.check_is_fitted(Model())
    model = Model()
    model.n_features_in_ = 3
    for missing in ("coef_", ["n_features_in_", "coef_"]):
        with pytest.raises(theirs.NotFittedError, match="not fitted"):
            ours.check_is_fitted(model, missing)
    ours.check_is_fitted(model, ["n_features_in_", "coef_"], all_or_any=any)


@pytest.mark.parametrize("y", [*(t for t in TARGETS.values() if not isinstance(t, str)), np.arange(30), np.arange(30) // 2,
                               np.arange(30.0), np.zeros(0, dtype=int), np.arange(30) // 2 > 3])  # fmt: skip
def test_labels_are_judged_as_by_scikit_learn(y):
    def judged(check):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                check(y)
            except Exception as error:
                return type(error), str(error)
        return [str(w.message) for w in said]

    assert judged(ours.check_classification_targets) == judged(sklearn.utils.multiclass.check_classification_targets)


def test_parameters_that_passed_once_are_not_checked_again_and_others_are(monkeypatch):
    Ridge(alpha=0.25)._validate_params()
    with monkeypatch.context() as patch:
        patch.setattr(sklearn.base.BaseEstimator, "_validate_params", None)
        Ridge(alpha=0.25)._validate_params()
    for wrong in (-0.25, "0.25", None):
        for _ in range(2):
            with pytest.raises(ValueError, match="alpha"):
                Ridge(alpha=wrong)._validate_params()
    Ridge(alpha=np.array([1.0, 2.0]))._validate_params()
    Ridge(fit_intercept=True)._validate_params()
    with pytest.raises(ValueError, match="fit_intercept"):
        Ridge(fit_intercept=2)._validate_params()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, np.int16])
def test_classes_and_codes_are_those_of_unique(dtype):
    rng = np.random.default_rng(0)
    info = np.iinfo(dtype)
    for low in (info.min, info.max - 120, 0, 5):
        y = np.array(low, dtype) + rng.integers(0, 121, size=1000).astype(dtype)
        classes, codes = ours.classes_and_codes(y)
        expected = np.unique(y, return_inverse=True)
        assert classes.dtype == dtype
        assert np.array_equal(classes, expected[0])
        assert np.array_equal(codes, expected[1])
    late = np.append(np.arange(9_000) % 3, [5, 3])  # labels that only the last rows have
    for a, b in zip(ours.classes_and_codes(late.astype(dtype)), np.unique(late.astype(dtype), return_inverse=True)):
        assert a.tolist() == b.tolist()
    words = np.array(["b", "a", "b"])
    assert ours.classes_and_codes(words)[1].tolist() == [1, 0, 1]
    wide = np.array([info.min, info.max, info.min], dtype)
    assert ours.classes_and_codes(wide)[1].tolist() == [0, 1, 0]
