"""The record itself: digests, JSON, words."""

import hashlib
import json

import numpy as np
import pytest
import scipy.sparse as sp

from certifit.certificates import Certificate, Data
from certifit.linear_model import LinearRegression


@pytest.fixture
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=30)
    return LinearRegression().fit(X, y), X, y


def test_digest_depends_on_every_part_and_on_nothing_else():
    X, y = np.arange(6.0).reshape(3, 2), np.array([1.0, 2.0, 3.0])
    base = Data.of(X, y).digest()
    assert Data.of(X.tolist(), y.tolist()).digest() == base
    assert Data.of(np.asfortranarray(X), y.astype(int)).digest() == base
    assert Data.of(X, y, np.ones(3)).digest() != base
    assert Data.of(X, y[::-1]).digest() != base
    assert Data.of(X.reshape(2, 3)[:, :2], y).digest() != base
    assert Data.of(X, ["a", "b", "c"]).digest() != base


def test_negative_zero_is_zero():
    assert Data.of([[0.0]], [1]).digest() == Data.of([[-0.0]], [1]).digest()


@pytest.mark.parametrize("at", [(0, 0), (-1, -1), (9_000, 3), slice(4_000, 9_000)])
def test_negative_zero_is_zero_in_every_block_of_a_large_table(at):
    X = np.random.default_rng(0).normal(size=(20_000, 10))
    X[at] = 0.0
    signed = X.copy()
    signed[at] = -0.0
    kept = Data.of(X).digest()
    assert Data.of(signed).digest() == Data.of(np.asfortranarray(signed)).digest() == kept
    signed[9_500, 5] = 7.0
    assert Data.of(signed).digest() != kept


def test_digests_are_those_of_the_bytes():
    X = np.random.default_rng(0).normal(size=(20_000, 10))
    told = hashlib.sha256(b"X:f(20000, 10)" + X.tobytes() + b"y:w:o:").hexdigest()
    assert Data.of(X).digest() == told


def test_sparse_digest_ignores_storage_order():
    X = sp.random(20, 5, density=0.3, random_state=0, format="csr")
    assert Data.of(X).digest() == Data.of(sp.coo_matrix(X)).digest() == Data.of(sp.csc_array(X)).digest()


def test_words_and_data_frames():
    import pandas as pd

    frame = pd.DataFrame({"a": [1, 2], "b": [3.5, 4.5]})
    assert Data.of(frame).digest() == Data.of(frame.to_numpy()).digest()
    assert Data.of(np.array([["x", "1"], ["y", "2"]], dtype=object)).digest()


def test_json_round_trip_is_exact(fitted):
    model, X, y = fitted
    c = model.certificate_
    back = Certificate.from_dict(json.loads(json.dumps(c.to_dict())))
    assert back.digests == c.digests
    assert np.array_equal(back.evidence["coef"], c.evidence["coef"])
    assert back.verify(X, y).holds
    assert str(back) == str(c)


def test_figures_are_attributes_and_unknown_ones_say_so(fitted):
    c = fitted[0].certificate_
    assert c.gap == c.figures["gap"]
    with pytest.raises(AttributeError, match="no figure 'gapp'"):
        _ = c.gapp


def test_evidence_cannot_be_changed_in_place(fitted):
    with pytest.raises(ValueError, match="read-only"):
        fitted[0].certificate_.evidence["coef"][0, 0] = 1.0


def test_wrong_shapes_are_other_data_not_a_crash(fitted):
    model, X, y = fitted
    v = model.certificate_.verify(X, y[:-1])
    assert not v.holds
    assert not v.same_data
    assert "not the data" in v.reason


def test_verification_reads_like_a_list(fitted):
    model, X, y = fitted
    text = str(model.certificate_.verify(X, y))
    assert text.startswith("holds")
    assert "figure 'gap'" in text


class _Word(str):
    """A word that equals everything."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        return True

    def __str__(self):
        return "something else"


class _Number(float):
    """A number that is as large, and as small, as anybody likes."""

    __hash__ = float.__hash__

    def __eq__(self, other):
        return True

    def __le__(self, other):
        return True

    def __ge__(self, other):
        return True


def test_words_and_numbers_that_lie_about_themselves_are_made_plain(fitted):
    model, X, y = fitted
    c = model.certificate_
    perfect = c.tampered(claim=_Word("This model is perfect."))
    assert type(perfect.claim) is str
    assert perfect.claim == "This model is perfect."
    assert not perfect.verify(X, y).holds
    assert not c.tampered(figures={**c.figures, "gap": _Number(-5.0)}).verify(X, y).holds
    assert (
        not c.tampered(digests={**c.digests, "evidence": _Word("0")}, evidence={**c.evidence, "alpha": 7.0})
        .verify(X, y)
        .holds
    )
    assert not c.tampered(kind=_Word("unheard of")).verify(X, y).holds
    assert not c.tampered(theorem=_Word("magic")).verify(X, y).holds


def test_a_certificate_holds_plain_values_only(fitted):
    c = fitted[0].certificate_
    with pytest.raises(TypeError, match="not object"):
        c.tampered(figures={**c.figures, "gap": object()})
    words = c.tampered(evidence={**c.evidence, "names": np.array([_Word("a"), _Number(1.0)], dtype=object)})
    assert [type(v) for v in words.evidence["names"]] == [str, float]
