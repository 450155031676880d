"""Naive Bayes certificates hold for honest fits and refuse everything else."""

import pickle

import numpy as np
import pyarrow as pa
import pytest

from certifit import scale
from certifit.certificates import Certificate, Data, issue
from certifit.certificates._by_class import class_codes
from certifit.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MixedNB, MultinomialNB
from tests.certificates.tampering import forged, reissued

MODELS = [
    GaussianNB(),
    GaussianNB(var_smoothing=0.1, priors=[0.2, 0.3, 0.5]),
    BernoulliNB(alpha=0.5, binarize=1.0),
    MultinomialNB(alpha=np.array([1.0, 0.5, 2.0]), fit_prior=False),
    CategoricalNB(min_categories=5, class_prior=[0.2, 0.3, 0.5]),
    MixedNB(categorical=[2]),
    MixedNB(categorical=[0, 1, 2]),
]
KEYS = ["theta", "var", "feature_log_prob"]


def data(seed=0, n=90):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, 3)).astype(float)
    X[:4] = np.arange(4)[:, None]
    return X, rng.permutation(np.arange(n) % 3), rng.integers(0, 3, n).astype(float)


@pytest.mark.parametrize("model", MODELS)
def test_honest_certificates_hold(model):
    X, y, w = data()
    for weight in (None, w):
        for rigor in ("float", "exact"):
            c = model.fit(X, y, sample_weight=weight).certificate_
            assert c.holds, c
            assert c.verify(X, y, weight, rigor=rigor).holds, c.verify(X, y, weight, rigor=rigor)
        back = Certificate.from_dict(c.to_dict())
        assert back.verify(X, y, weight).holds
    assert pickle.loads(pickle.dumps(model)).certificate_.holds


@pytest.mark.parametrize("model", MODELS)
def test_tampering_is_refused(model):
    X, y, _ = data()
    c = model.fit(X, y).certificate_
    for key in KEYS:
        if key in c.evidence and np.asarray(c.evidence[key]).size:
            wrong = np.array(c.evidence[key])
            wrong.flat[0] += 1e-5
            assert not forged(c, **{key: wrong}).verify(X, y).holds
    shares = np.array(c.evidence["class_prior"])
    if c.evidence["prior_rule"] != "given":
        assert not forged(c, class_prior=shares[::-1] + 0.01).verify(X, y).holds
    other = X.copy()
    other[0, 0] += 1
    outcome = c.verify(other, y)
    assert not outcome.holds
    assert not outcome.same_data
    assert not c.verify(X, np.roll(y, 1)).holds
    for name, value in c.figures.items():
        if isinstance(value, float) and value > 0:
            assert not c.tampered(figures={**c.figures, name: value / 2}).verify(X, y).holds
    assert not c.tampered(claim="All is well.").verify(X, y).holds


def test_wrong_estimates_are_refused_when_issued():
    X, y, _ = data()
    model = GaussianNB().fit(X, y)
    model.theta_ = model.theta_ + 1e-4
    assert not model.certify(X, y).holds
    counts = MultinomialNB().fit(X, y)
    counts.feature_log_prob_ = counts.feature_log_prob_[::-1]
    assert not counts.certify(X, y).holds


def test_large_offsets_are_certified():
    rng = np.random.default_rng(0)
    X, y = 1e8 + rng.normal(size=(10_000, 3)), rng.integers(0, 2, 10_000)
    c = GaussianNB().fit(X, y).certificate_
    assert c.holds, c
    assert c.variance_error < 1e-10
    assert "10000 rows" in str(c)


def test_word_labels_and_unknown_ones():
    X, y, _ = data()
    words = np.array(["a", "b", "c"])[y]
    c = CategoricalNB().fit(X, words).certificate_
    assert c.verify(X, words).holds
    assert not forged(c, classes=np.array(["a", "b", "z"])).verify(X, words).holds


@pytest.mark.parametrize("make", [MultinomialNB, BernoulliNB, CategoricalNB])
def test_zero_counts_without_smoothing(make):
    X, y = np.array([[2, 0, 1], [0, 1, 1], [1, 1, 0], [3, 0, 0]]), [0, 1, 1, 0]
    c = make(alpha=0.0).fit(X, y).certificate_
    assert c.holds, str(c)
    assert c.verify(X, y, rigor="exact").holds
    logs = np.array(c.evidence["feature_log_prob"])
    logs[np.isfinite(logs)] = -np.inf
    assert not forged(c, feature_log_prob=logs).verify(X, y).holds


COUNTS, LABELS = np.array([[3.0, 4.0], [4.0, 3.0], [0.0, 2.0]]), [0, 1, 1]


@pytest.mark.parametrize("alpha", [np.array([-2.0, 5.0]), np.array([np.nan, 1.0]), -1.0, np.inf])
def test_pseudo_counts_that_are_none_are_refused(alpha):
    proof = MultinomialNB().fit(COUNTS, LABELS).certificate_
    cells = np.array([[3.0, 4.0], [4.0, 5.0]]) + alpha
    with np.errstate(all="ignore"):
        logs = np.log(cells / cells.sum(axis=1, keepdims=True))
    again = reissued(proof, Data.of(COUNTS, LABELS), alpha=alpha, feature_log_prob=logs)
    assert not again.holds


@pytest.mark.parametrize("kind", ["smoothed-counts", "counted-sums"])
@pytest.mark.parametrize("alpha", [[1.0], [1.0, 1.0, 1.0], [[1.0, 1.0]]])
def test_pseudo_counts_are_one_number_or_one_for_each_column(kind, alpha):
    """One in a list would be spread over all columns, which the checker refuses."""
    proof = MultinomialNB().fit(COUNTS, LABELS).certificate_
    if kind == "counted-sums":
        table = pa.table({"a": COUNTS[:, 0], "b": COUNTS[:, 1], "y": LABELS})
        proof = scale.fit(MultinomialNB(), table, target="y", engine="serial").certificate_
    assert proof.kind == kind
    assert reissued(proof, Data.of(COUNTS, LABELS), alpha=np.array([1.0, 1.0])).holds
    assert not reissued(proof, Data.of(COUNTS, LABELS), alpha=alpha).holds


def test_the_claim_names_the_smoothing_and_what_is_largest():
    proof = MultinomialNB(alpha=2.5).fit(COUNTS, LABELS).certificate_
    assert "α = 2.5" in proof.claim
    assert "log posterior" in proof.claim
    assert "likelihood" not in proof.claim
    given = GaussianNB(priors=[0.3, 0.7]).fit(COUNTS + [[0.0], [1.0], [2.0]], LABELS).certificate_
    assert "class shares as given" in given.claim


def test_no_category_and_no_column_is_left_uncounted():
    X, y = np.array([[0], [1], [2], [2], [0]]), [0, 0, 1, 1, 1]
    proof = CategoricalNB().fit(X, y).certificate_
    fewer = np.log(np.array([[2.0, 2.0], [2.0, 1.0]]) / np.array([[4.0], [3.0]]))
    hidden = reissued(proof, Data.of(X, y), n_categories=np.array([2]), feature_log_prob=fewer)
    assert not hidden.holds
    T = np.array([[1.0, "a"], [2.0, "b"], [1.5, "a"], [3.0, "c"]], dtype=object)
    mixed = MixedNB().fit(T, [0, 0, 1, 1]).certificate_
    assert mixed.holds
    two = np.log(np.array([[2.0, 2.0], [2.0, 1.0]]) / np.array([[4.0], [3.0]]))
    assert not reissued(mixed, Data.of(T, [0, 0, 1, 1]), categories=[["a", "b"]], feature_log_prob=two).holds
    none = {"discrete": np.zeros(0, dtype=int), "categories": [], "feature_log_prob": np.zeros((2, 0))}
    assert not reissued(mixed, Data.of(T, [0, 0, 1, 1]), **none).holds


@pytest.mark.parametrize("rigor", ["float", "exact"])
def test_the_mean_of_a_column_that_never_changes_is_checked_too(rigor):
    rows = np.array([[3.0, 1.0], [3.0, 2.0], [3.0, 4.0], [3.0, 8.0]])
    true = MixedNB().fit(rows, [0, 1, 0, 1]).certificate_
    data = Data.of(rows, [0, 1, 0, 1])
    forged = dict(true.evidence) | {"theta": np.where(np.arange(2) == 0, 5.0, np.asarray(true.evidence["theta"]))}
    assert issue("mixed-counts", data, true.evidence, rigor).holds
    assert not issue("mixed-counts", data, forged, rigor).holds


def test_a_class_without_numbers_takes_those_of_the_column():
    rows = np.array([[1.0, 1.0], [3.0, 2.0], [np.nan, 4.0], [np.nan, 8.0]])
    true = MixedNB().fit(rows, [0, 0, 1, 1]).certificate_
    assert true.holds
    for name in ("theta", "var"):
        forged = np.array(true.evidence[name])
        forged[1, 0] += 0.1
        assert not issue("mixed-counts", Data.of(rows, [0, 0, 1, 1]), dict(true.evidence) | {name: forged}).holds


@pytest.mark.parametrize(
    "y",
    [
        np.array([0.0, -0.0, 1.0, np.nan, np.inf, 0.1, 7.0]),
        np.array([0.1, 1.0, 0.0], dtype=np.float32),  # 0.1 in single precision is another number
        np.array([True, False]),
        np.array([2**53, 2**53 + 1, -1, 1]),
        np.array([2**64 - 1, 1, 0], dtype=np.uint64),
    ],
)
def test_numbers_that_are_compared_find_the_class_that_they_are_looked_up_in(y):
    one_by_one = np.array([*y.tolist(), "1"], dtype=object)
    for classes in ([0, 1], [1.0, 0.1, -0.0], [np.nan, np.inf, 2**53], [0, 1, 1, True], ["1", "0"], list(range(40))):
        listed = np.array(classes)
        assert class_codes(y, listed).tolist() == class_codes(one_by_one, listed)[:-1].tolist()
