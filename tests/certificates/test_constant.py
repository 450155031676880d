"""The baseline's certificate: the mean and the class shares, against plain arithmetic, and under attack."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifit.certificates import Data, issue
from certifit.certificates._data import digest_evidence
from certifit.study._baseline import ConstantClassifier, ConstantRegressor
from tests.certificates.tampering import refuses_everything
from tests.contract import contract

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 2))
Y = RNG.normal(size=50) * 3 + 7
LABELS = RNG.choice(["a", "b", "c"], 50, p=[0.6, 0.3, 0.1])


@contract([ConstantClassifier(), ConstantRegressor()])
def test_contract(estimator, check):
    check(estimator)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30), st.floats(-1e6, 1e6))
def test_the_gap_of_any_constant_is_never_understated(y, c):
    rows = np.zeros((len(y), 1))
    certificate = issue("constant", Data.of(rows, np.array(y)), {"loss": "squared", "value": np.array([c])})
    assert certificate.gap >= (np.mean(y) - c) ** 2 * (1 - 1e-9)
    np.testing.assert_allclose(certificate.value, np.mean((np.array(y) - c) ** 2), rtol=1e-9, atol=1e-300)


@given(st.lists(st.floats(0.01, 1.0), min_size=3, max_size=3))
def test_the_log_loss_gap_is_never_understated(q):
    q = np.array(q) / sum(q)
    p = np.array([np.mean(c == LABELS) for c in "abc"])
    evidence = {"loss": "log", "classes": np.array(list("abc")), "shares": q}
    certificate = issue("constant", Data.of(X, LABELS), evidence)
    assert certificate.gap >= np.sum(p * np.log(p / q)) - 1e-12
    np.testing.assert_allclose(certificate.value, -np.sum(p * np.log(q)), rtol=1e-12)


@pytest.mark.parametrize("rigor", ["float", "exact"])
@pytest.mark.parametrize(("model", "y"), [(ConstantClassifier(), LABELS), (ConstantRegressor(), Y)])
def test_proved_and_not_to_be_fooled(model, y, rigor):
    certificate = model.fit(X, y).certificate_
    assert certificate.verify(X, y, rigor=rigor).holds
    assert certificate.relative_gap < 1e-12
    refuses_everything(certificate, X, y)
    for name in {"shares", "value"} & set(certificate.evidence):
        changed = certificate.evidence[name] * 0.99
        evidence = {**certificate.evidence, name: changed}
        forged = certificate.tampered(
            evidence=evidence, digests={**certificate.digests, "evidence": digest_evidence(evidence)}
        )
        assert not forged.verify(X, y).holds


def test_overflow_is_a_doubt_and_not_a_proof():
    huge = np.array([1e308, -1e308, 1e308, 1e307])
    certificate = ConstantRegressor().fit(X[:4], huge).certificate_
    assert not certificate.holds
