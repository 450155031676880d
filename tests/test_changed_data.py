"""A certificate speaks of the data of the fit: an array that was changed since is refused, in one sentence."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier

from certifit.exceptions import ChangedDataError
from certifit.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from certifit.svm import SVC
from tests.test_half_fitted import models

RNG = np.random.default_rng(0)


def _data(model):
    X = np.abs(RNG.normal(size=(24, 3)))
    y = np.arange(24) % 2 if is_classifier(model) else X @ [1.0, 2.0, 0.5] + 1.0
    if is_classifier(model):
        X[y == 1] += 4.0
    if type(model).__name__ == "CategoricalNB":  # of fractions it proves nothing
        X = np.floor(X)
    if type(model).__name__.startswith("MultiTask"):
        y = np.column_stack([y, X[:, 0] - y])
    return X, y


def _one_cell(X, y):
    X[3, 1] = np.nextafter(X[3, 1], 9.0)


def _two_rows(X, y):
    X[[2, 5]] = X[[5, 2]]


def _labels(X, y):
    y[[0, 1]] = y[[1, 0]]


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of defaults that will change
@pytest.mark.parametrize("model", list(models()))
@pytest.mark.parametrize("change", [_one_cell, _two_rows, _labels])
def test_every_certificate_is_about_the_data_of_the_fit(model, change):
    X, y = _data(model)
    model = clone(model).set_params(**({"random_state": 0} if "random_state" in model.get_params() else {}))
    kept = clone(model).fit(X.copy(), y.copy()).certificates_
    fitted = clone(model).fit(X, y)
    change(X, y)
    try:
        found = fitted.certificates_
    except ChangedDataError:
        return
    # The proof stands on a copy, or never looks at what was changed.
    assert [c.digests for c in found] == [c.digests for c in kept]


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(), Lasso(alpha=0.1), LogisticRegression(), SVC()])
def test_each_part_is_named(model):
    for name, part in (("X", 0), ("y", 1), ("sample_weight", 2)):
        X, y = _data(model)
        data = [X, y.astype(float), np.ones(24)]
        fitted, kept = clone(model).fit(*data), clone(model).fit(*copy.deepcopy(data)).certificate_
        data[part].flat[7] += 1.0
        if isinstance(model, SVC) and name == "sample_weight":  # it keeps a copy: the proof is about the fit
            assert fitted.certificate_.digests == kept.digests
            continue
        with pytest.raises(ChangedDataError, match=f"^{name} was changed in place after fit"):
            _ = fitted.certificate_
        with pytest.raises(ChangedDataError):  # and again, although the data are given up
            _ = fitted.certificates_


@pytest.mark.parametrize("part", ["data", "indices"])
def test_sparse_data(part):
    X = sp.random(60, 5, density=0.4, format="csr", random_state=0)
    y = np.asarray(X @ np.ones(5)) + 1.0
    fitted = Ridge().fit(X, y)
    array = getattr(X, part)
    i = X.indptr[:-1][np.diff(X.indptr) == 2][0]
    array[[i, i + 1]] = array[[i + 1, i]]
    with pytest.raises(ChangedDataError, match=r"^X was changed"):
        _ = fitted.certificate_


def test_data_that_are_as_they_were():
    X, y = _data(Ridge())
    fitted = Ridge().fit(X, y)
    X *= 2.0
    X /= 2.0
    assert fitted.certificate_.holds
    X[:] = 0.0  # once it is read, nothing depends on the data any more
    assert fitted.certificate_.holds


def test_certain_labels_need_the_data_of_the_fit_until_they_are_proved():
    X, y = _data(SVC())
    queries, changed, read = X.copy(), SVC().fit(X, y), SVC().fit(X, y)
    sure = read.certain(queries)
    X[0, 0] += 1.0
    assert np.array_equal(read.certain(queries), sure)
    with pytest.raises(ChangedDataError):
        changed.certain(queries)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_of_the_model_works_without_its_certificates(copied):
    X, y = _data(Ridge())
    fitted = Ridge().fit(X, y)
    X[0] = 1.0
    again = copied(fitted)
    assert np.array_equal(again.predict(X), fitted.predict(X))
    for model in (again, fitted):
        with pytest.raises(ChangedDataError):
            _ = model.certificate_


def test_frames_too():
    pd = pytest.importorskip("pandas")
    from certifit.naive_bayes import GaussianNB

    X, y = _data(GaussianNB())
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = GaussianNB().fit(frame, y)
    frame.loc[0, "b"] = 9.0
    with pytest.raises(ChangedDataError):
        _ = fitted.certificate_


@pytest.mark.parametrize("model", [Ridge(), LogisticRegression()])
def test_a_second_claim_is_proved_when_it_is_read(model):
    X, y = _data(model)
    X[::5] = X[1::5]  # the classes overlap
    whole = clone(model).fit(X, y).certificates_
    fitted = clone(model).fit(X, y)
    main = fitted.certificate_
    assert fitted.certificate_ is main
    assert fitted.certificates_[0] is main
    assert [c.to_dict() for c in fitted.certificates_] == [c.to_dict() for c in whole]
    assert len(whole) == 2
    begun = clone(model).fit(X, y)
    assert begun.certificate_.to_dict() == main.to_dict()
    assert len(pickle.loads(pickle.dumps(begun)).certificates_) == 2  # pickling proves the other one
    begun = clone(model).fit(X, y)
    main = begun.certificate_
    _one_cell(X, y)
    with pytest.raises(ChangedDataError):
        _ = begun.certificates_
    assert begun.certificate_ is main  # what was proved stays proved
    assert pickle.loads(pickle.dumps(begun)).certificate_.to_dict() == main.to_dict()


def test_a_proof_that_is_interrupted_begins_anew():
    X, y = _data(Ridge())
    fitted, broken = Ridge().fit(X, y), [True]
    make, held = fitted._promise

    def halting():
        yield from list(make())[:1]
        if broken.pop() if broken else False:
            raise KeyboardInterrupt
        yield from list(make())[1:]

    fitted._promise = halting, held
    main = fitted.certificate_
    with pytest.raises(KeyboardInterrupt):
        _ = fitted.certificates_
    assert [c.kind for c in fitted.certificates_] == [c.kind for c in Ridge().fit(X, y).certificates_]
    assert fitted.certificate_.to_dict() == main.to_dict()
