"""A forger may write any evidence he likes and recompute every digest: false claims stay unproved all the same."""

import numpy as np
import pytest
import scipy.sparse

from certifit.certificates import Data, issue
from certifit.linear_model import Lasso, LinearModel, LogisticRegression, Perceptron, Ridge
from certifit.losses import Squared, TweedieLog
from certifit.regularizers import L1, NonNegative, SquaredL2, Zero

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
Y = np.where(X[:, 0] + RNG.normal(size=30) > 0, 1, 0)
REAL = X @ [1.0, -2.0]


def refused(certificate, y, **changes):
    """Whether the same kind, asked about changed evidence, fails to prove (or cannot even read it)."""
    record = certificate.evidence["objective"]
    inner = {k: changes.pop(k) for k in list(changes) if k in record}
    evidence = {**certificate.evidence, **changes, "objective": {**record, **inner}}
    try:
        return not issue(certificate.kind, Data.of(X, y), evidence).holds
    except ValueError:
        return True


@pytest.mark.parametrize(
    "changes",
    [
        {"strength": -1.0},
        {"strength": np.nan},
        {"strength": np.inf},
        {"class_weight": [-1.0, 1.0]},
        {"class_weight": [np.nan, 1.0]},
        {"classes": None},
        {"classes": [1.0, 1.0]},
        {"classes": [0.0, 2.0]},
        {"padding": -1.0},
        {"padding": -1e6},
        {"offset": True},
        {"regularizer": {"name": "l2", "params": {"factor": -0.5}}},
        {"loss": {"name": "squared", "params": {"factor": -1.0}}},
        {"coef": np.array([[np.nan, 1.0]])},
        {"coef": np.array([[np.inf, 1.0]])},
        {"loss": {"name": "exponential", "params": {}}, "coef": np.array([[-1e4, 0.0]])},
        {"loss": {"name": "tweedie_log", "params": {"power": 5.0}}},
    ],
    ids=lambda c: ",".join(c),
)
def test_problems_that_are_not_convex_or_not_about_these_labels(changes):
    for certificate in LogisticRegression().fit(X, Y).certificates_:
        assert not refused(certificate, Y)
        assert refused(certificate, Y, **changes)


def test_softmax_with_negative_weights():
    three = RNG.integers(0, 3, 30)
    certificate = LogisticRegression().fit(X, three).certificate_
    assert not refused(certificate, three)
    assert refused(certificate, three, class_weight=[1.0, -1.0, 1.0])
    assert refused(certificate, three, strength=-1.0)


@pytest.mark.parametrize("regularizer", [NonNegative(L1()), NonNegative(Zero())], ids=["l1", "none"])
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_negative_coefficients_where_none_may_be(loss, regularizer):
    certificate = LinearModel(loss, regularizer, lam=0.1).fit(X, REAL).certificate_
    assert not refused(certificate, REAL)
    assert refused(certificate, REAL, coef=np.array([[1.0, -1.9]]))


def test_parameters_outside_their_range():
    for make in (lambda: SquaredL2(0.0), lambda: SquaredL2(-1.0), lambda: Squared(-1.0), lambda: TweedieLog(2.0)):
        with pytest.raises(ValueError, match="needs"):
            make()


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        LogisticRegression(l1_ratio=0.5),
        Perceptron(),
        Ridge(),
        Lasso(0.1),
        LinearModel("logistic"),
    ],
    ids=lambda m: type(m).__name__,
)
def test_equal_numbers_are_the_same_data_however_they_are_kept(model):
    rows = np.where(X > 0, X, 0.0)
    padded = scipy.sparse.csr_matrix(np.where(rows == 0, 7.0, rows))
    padded.data[padded.data == 7.0] = 0.0  # zeros that are stored
    kept = [rows, scipy.sparse.csr_matrix(rows), scipy.sparse.csc_array(rows), padded, rows.tolist()]
    for a in kept:
        for certificate in model.fit(a, Y).certificates_:
            for b in kept:
                assert certificate.verify(b, Y).holds
            assert not certificate.verify(scipy.sparse.csr_matrix(rows[::-1]), Y).same_data


def test_labels_beyond_what_floats_tell_apart():
    names = 2**53 + Y
    certificate = LogisticRegression().fit(X, names).certificate_
    assert certificate.verify(X, names).holds
    assert certificate.relative_gap < 1e-9
    assert not certificate.verify(X, names[::-1]).same_data
