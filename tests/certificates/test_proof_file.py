"""Proof files: written whole, read back as the same certificate, refused in one sentence where no checker could prove them."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from certifit import checker
from certifit.certificates import Certificate, load, write_table
from certifit.certificates._proof_file import decoded, encoded
from certifit.cluster import KMeans
from certifit.exceptions import CertifitError
from certifit.linear_model import LogisticRegression, Perceptron, Ridge
from certifit.naive_bayes import MixedNB
from certifit.tree import DecisionTreeRegressor
from tests.proof_cases import CASES

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 2))
Y = (X[:, 0] + RNG.normal(size=20) > 0).astype(int)


@pytest.mark.parametrize("name", CASES)
def test_what_is_read_back_says_the_same(name, tmp_path):
    case = CASES[name](np.random.default_rng(0))
    case.certificate.save(tmp_path / "fit.proof")
    again = load(tmp_path / "fit.proof")
    ours, theirs = case.certificate.to_dict(), again.to_dict()
    assert {k: ours[k] for k in ours if k != "evidence"} == {k: theirs[k] for k in theirs if k != "evidence"}
    assert again.verify(*case.data).holds, again.verify(*case.data)


@given(
    st.recursive(
        st.floats(allow_nan=False)
        | st.integers()
        | st.booleans()
        | st.none()
        | st.text()
        | st.sampled_from(["nan", "'", "-inf", "0x1p+0"]),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_numbers_and_words_survive_json(value):
    text = json.dumps(encoded(value), allow_nan=False)
    assert decoded(json.loads(text)) == value
    assert checker.decoded(json.loads(text)) == value


def test_the_file_says_what_is_claimed_about_which_data(tmp_path):
    weight = np.ones(20)
    certificate = LogisticRegression().fit(X, Y, sample_weight=weight).certificate_
    certificate.save(tmp_path / "fit.proof")
    record = json.loads((tmp_path / "fit.proof").read_text(encoding="utf-8"))
    assert record["claim"] == certificate.claim
    assert record["data"] == {
        "sha256": certificate.digests["data"], "rows": 20, "columns": 2, "weights": True, "offset": False,
    }  # fmt: skip
    assert record["objective"]["symbols"]["L"] == "log(1 + exp(−y z))"
    assert float.fromhex(record["figures"]["gap"]) == certificate.gap


@pytest.mark.parametrize(
    ("certificate", "why"),
    [
        (lambda: KMeans(3, random_state=0).fit(X[:, :1]).certificate_, "the bound by 'one dimension'"),
        (
            lambda: DecisionTreeRegressor(max_depth=2, monotonic_cst=[1, 0]).fit(X, Y).certificate_,
            "columns with a direction",
        ),
        (lambda: MixedNB().fit(np.column_stack([X, np.ones(20)]), Y).certificate_, "numeric column that never changes"),
        (lambda: Ridge().fit(X, Y).certificate_.tampered(holds=False, failures=("a doubt",)), "does not hold"),
        (lambda: Ridge().fit(X, Y).certificate_.tampered(about={}), "older version"),
        (lambda: Perceptron(class_weight={0: 1, 1: 2}).fit(X, Y).certificate_, "class weights"),
        (
            lambda: (
                DecisionTreeRegressor(criterion="absolute_error", categorical_features=[0])
                .fit(np.array([["a"], ["b"]] * (len(X) // 2) + [["c"]] * (len(X) % 2), dtype=object), Y)
                .certificate_
            ),
            "chosen by a heuristic",
        ),
    ],
)
def test_what_cannot_be_proved_is_not_written(certificate, why, tmp_path):
    with pytest.raises(CertifitError, match=why):
        certificate().save(tmp_path / "fit.proof")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "certifit-proof", "version": 2}', '{"format": 3}'])
def test_what_is_no_proof_file_is_refused_in_one_sentence(text, tmp_path):
    (tmp_path / "bad.proof").write_text(text)
    with pytest.raises(CertifitError, match=r"bad.proof is not a certifit proof of version 1"):
        load(tmp_path / "bad.proof")


def test_a_changed_file_does_not_verify(tmp_path):
    certificate = Ridge().fit(X, Y).certificate_
    certificate.save(tmp_path / "fit.proof")
    record = json.loads((tmp_path / "fit.proof").read_text(encoding="utf-8"))
    record["evidence"]["coef"][0][0] = (9.0).hex()
    (tmp_path / "fit.proof").write_text(json.dumps(record), encoding="utf-8")
    assert not load(tmp_path / "fit.proof").verify(X, Y).holds


@pytest.mark.parametrize(
    "table",
    [
        X,
        X.tolist(),
        scipy.sparse.csr_matrix(X),
        scipy.sparse.coo_array(X),
        pd.DataFrame(X, columns=["a", "b"]),
        np.asfortranarray(X),
    ],
    ids=["array", "list", "csr", "coo", "frame", "fortran"],
)
def test_tables_of_every_sort_are_written_alike(table, tmp_path):
    write_table(tmp_path / "a.csv", table, np.array(["a,b", 'say "no"'])[Y], np.arange(20.0), -np.arange(20.0))
    read = checker.read_table([str(tmp_path / "a.csv")])
    assert X.tolist() == read.X
    assert read.y == [np.array(["a,b", 'say "no"'])[Y].tolist()]
    assert read.weight == list(np.arange(20.0))
    assert read.offset == list(-np.arange(20.0))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_every_digit_of_a_table_is_kept(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("table") / "a.csv"
    write_table(path, [values])
    assert [values] == checker.read_table([str(path)]).X


def test_several_targets_have_a_column_each(tmp_path):
    write_table(tmp_path / "a.csv", X, np.column_stack([Y, 2 * Y]))
    assert checker.read_table([str(tmp_path / "a.csv")]).y == [Y.tolist(), (2 * Y).tolist()]


def test_certificates_of_older_records_are_still_read():
    record = Ridge().fit(X, Y).certificate_.to_dict()
    del record["about"]
    assert Certificate.from_dict(record).verify(X, Y).holds
