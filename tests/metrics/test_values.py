"""Figures against scikit-learn's, laws about weights, and input that makes no sense."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
import sklearn.metrics as sk
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve

from certifit import metrics as ours


def _labels(seed, k, n=40):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), rng.integers(k, size=n)])
    p = np.where(rng.random(len(y)) < 0.6, y, rng.integers(k, size=len(y)))
    return y, p, rng.integers(1, 4, size=len(y)).astype(float)


@given(st.integers(0, 10**6), st.booleans())
def test_binary_figures_are_scikit_learns(seed, weighted):
    y, p, w = _labels(seed, 2)
    w = w if weighted else None
    c = ours.confusion(y, p, sample_weight=w)
    for figure, name in (
        (c.accuracy, "accuracy_score"),
        (c.error_rate, "zero_one_loss"),
        (c.balanced_accuracy, "balanced_accuracy_score"),
        (c.precision, "precision_score"),
        (c.recall, "recall_score"),
        (c.f1, "f1_score"),
    ):
        assert figure == pytest.approx(getattr(sk, name)(y, p, sample_weight=w))
    assert c.f(2.5) == pytest.approx(sk.fbeta_score(y, p, beta=2.5, sample_weight=w))


@given(st.integers(0, 10**6), st.booleans())
def test_many_classes_are_scikit_learns(seed, weighted):
    y, p, w = _labels(seed, 4)
    w = w if weighted else None
    c = ours.confusion(y, p, sample_weight=w)
    assert c.matrix == pytest.approx(sk.confusion_matrix(y, p, sample_weight=w))
    for figure, name in (
        (c.accuracy, "accuracy_score"),
        (c.balanced_accuracy, "balanced_accuracy_score"),
        (c.kappa, "cohen_kappa_score"),
        (c.matthews, "matthews_corrcoef"),
    ):
        assert figure == pytest.approx(getattr(sk, name)(y, p, sample_weight=w))
    for name, theirs in (("precision", "precision_score"), ("recall", "recall_score"), ("f", "f1_score")):
        for average in ("macro", "micro", "weighted"):
            expected = getattr(sk, theirs)(y, p, average=average, sample_weight=w, zero_division=0)
            assert c.average(name, average) == pytest.approx(expected)
        each = [float(c.of(k).f() if name == "f" else c.of(k).figure(name)) for k in range(4)]
        expected = getattr(sk, theirs)(y, p, average=None, sample_weight=w, zero_division=np.nan)
        assert each == pytest.approx(expected, nan_ok=True)


@given(st.integers(0, 10**6), st.booleans())
def test_curves_are_scikit_learns(seed, weighted):
    rng = np.random.default_rng(seed)
    y = np.concatenate([[0, 1], rng.integers(2, size=40)])
    s = np.round(y + rng.normal(size=42), 1)  # rounded: with ties
    w = rng.integers(1, 4, size=42).astype(float) if weighted else None
    curve, trade = ours.roc(y, s, sample_weight=w), ours.precision_recall(y, s, sample_weight=w)
    assert curve.auc == ours.roc_auc(y, s, sample_weight=w) == pytest.approx(sk.roc_auc_score(y, s, sample_weight=w))
    assert trade.average_precision == pytest.approx(sk.average_precision_score(y, s, sample_weight=w))
    expected = sk.roc_curve(y, s, sample_weight=w, drop_intermediate=False)
    for a, b in zip((curve.fpr, curve.tpr, curve.thresholds), expected):
        assert a == pytest.approx(b)
    expected = sk.precision_recall_curve(y, s, sample_weight=w)
    for a, b in zip((trade.precision, trade.recall, trade.thresholds), expected):
        assert a == pytest.approx(b)


@given(st.integers(0, 10**6), st.booleans())
def test_numbers_and_probabilities_are_scikit_learns(seed, weighted):
    rng = np.random.default_rng(seed)
    y, p, w = rng.normal(size=30), rng.normal(size=30), rng.integers(1, 4, size=30).astype(float)
    w = w if weighted else None
    e = ours.errors(y, p, sample_weight=w)
    for figure, name in (
        (e.mse, "mean_squared_error"),
        (e.rmse, "root_mean_squared_error"),
        (e.mae, "mean_absolute_error"),
        (e.r2, "r2_score"),
    ):
        assert figure == pytest.approx(getattr(sk, name)(y, p, sample_weight=w))
    labels, q = np.concatenate([[0, 1], rng.integers(2, size=28)]), rng.random(30)
    assert ours.brier_score(labels, q, sample_weight=w) == pytest.approx(
        sk.brier_score_loss(labels, q, sample_weight=w)
    )
    assert ours.log_score(labels, q, sample_weight=w) == pytest.approx(sk.log_loss(labels, q, sample_weight=w))
    for strategy in ("uniform", "quantile"):
        c = ours.calibration(labels, q, bins=5, strategy=strategy)
        observed, predicted = calibration_curve(labels, q, n_bins=5, strategy=strategy)
        assert c.observed == pytest.approx(observed)
        assert c.predicted == pytest.approx(predicted)


def test_multiclass_auc_is_scikit_learns():
    rng = np.random.default_rng(0)
    y, p = np.arange(90) % 3, rng.dirichlet(np.ones(3), size=90)
    for average in ("macro", "weighted"):
        found = ours.roc_auc(y, p, average)
        assert found == pytest.approx(sk.roc_auc_score(y, p, multi_class="ovr", average=average))
        assert found in found.interval()
    assert ours.roc_auc(y == 1, p[:, :2]) == ours.roc_auc(y == 1, p[:, 1])


def test_every_name_of_scikit_learn_is_passed_on():
    """The very same objects, with all their parameters; and every name that this module ever had."""
    for name in sk.__all__:
        assert getattr(ours, name) is getattr(sk, name), name
        assert name in dir(ours)
    assert set(ours.__all__) <= set(dir(ours))
    assert not set(ours.__all__) & set(sk.__all__)
    from certifit.metrics import accuracy_score, log_loss, pairwise, r2_score, roc_auc_score  # noqa: F401

    assert accuracy_score([0, 1, 1], [0, 1, 0], normalize=False) == 2
    with pytest.raises(AttributeError, match=r"'certifit.metrics' has no attribute 'nothing'"):
        _ = ours.nothing


def test_the_figures_do_not_load_scikit_learn():
    code = "import sys, certifit.metrics as m; m.confusion([0, 1], [0, 1]).recall; print('sklearn' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "False"


@given(st.integers(0, 10**6))
def test_weight_k_is_k_copies_in_figures_and_intervals(seed):
    rng = np.random.default_rng(seed)
    y = np.concatenate([[0, 1, 0, 1], rng.integers(2, size=20)])
    p, s = np.concatenate([[0, 1, 1, 0], rng.integers(2, size=20)]), y + rng.normal(size=24)
    k = rng.integers(1, 4, size=24)
    Y, P, S = (np.repeat(v, k) for v in (y, p, s))
    a, b = ours.confusion(y, p, sample_weight=k), ours.confusion(Y, P)
    for name in ("accuracy", "precision", "recall", "specificity", "f", "balanced_accuracy", "kappa"):
        assert a.interval(name) == pytest.approx(b.interval(name))
    assert ours.roc(y, s, sample_weight=k).interval() == pytest.approx(ours.roc(Y, S).interval())
    assert ours.precision_recall(y, s, sample_weight=k).interval() == pytest.approx(
        ours.precision_recall(Y, S).interval()
    )
    assert ours.errors(y, s, sample_weight=k).interval("r2") == pytest.approx(ours.errors(Y, S).interval("r2"))
    assert ours.cost(y, p, 1, 5, sample_weight=k).interval() == pytest.approx(ours.cost(Y, P, 1, 5).interval())


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_every_interval_holds_its_figure(tp, fp, tn, fn):
    if tp + fp + tn + fn == 0:
        return
    y, p = [1] * tp + [0] * fp + [0] * tn + [1] * fn, [1] * tp + [1] * fp + [0] * tn + [0] * fn
    c = ours.confusion(y, p, labels=[0, 1])
    assert (c.tp, c.fp, c.tn, c.fn) == (tp, fp, tn, fn)
    for name in ("accuracy", "error_rate", "precision", "recall", "specificity"):
        for method in ("exact", "wilson"):
            low, high = c.interval(name, method=method)
            value = float(c.figure(name))
            assert 0 <= low <= high <= 1
            assert np.isnan(value) or low - 1e-12 <= value <= high + 1e-12
    for figure in (c.f(), c.f(2.0), c.balanced_accuracy, c.average("f"), c.average("recall", "weighted")):
        low, high = figure.interval()
        assert 0 <= low <= high <= 1
        assert np.isnan(figure) or low - 1e-12 <= figure <= high + 1e-12
        assert figure.interval(0.5).width <= high - low + 1e-12


def test_wilson_is_the_textbooks():
    from scipy.stats import binomtest

    for k, n in ((0, 10), (3, 17), (17, 17)):
        expected = binomtest(k, n).proportion_ci(0.9, "wilson")
        assert ours.share(k, n, "wilson").interval(0.9) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_delong_is_the_textbooks():
    # DeLong's variance written out over all pairs.
    rng = np.random.default_rng(3)
    y = np.arange(60) % 2
    s = np.round(y + rng.normal(size=60), 1)
    a, b = s[y == 1][:, None], s[y == 0][None, :]
    wins = (a > b) + 0.5 * (a == b)
    variance = np.var(wins.mean(axis=1), ddof=1) / 30 + np.var(wins.mean(axis=0), ddof=1) / 30
    assert ours.roc(y, s).variance == pytest.approx(variance)
    low, high = ours.roc(y, s).interval(0.95)
    assert high - low == pytest.approx(2 * 1.959963985 * np.sqrt(variance))


def test_kappa_of_the_published_table(reference):
    record, _ = reference("metrics/cohen_kappa_50_proposals")
    y1, y2 = [1] * 25 + [0] * 25, [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    kappa = ours.confusion(y1, y2).kappa
    assert kappa == pytest.approx(record["expected"]["kappa"], abs=1e-12)
    low, high = kappa.interval(0.95)
    assert low < 0.4 < high


def test_words_and_positive_labels():
    y, p = ["spam", "ham", "spam", "ham"], ["spam", "ham", "ham", "ham"]
    c = ours.confusion(y, p)
    assert c.positive == "spam"
    assert (c.tp, c.fn) == (1, 1)
    assert ours.confusion(y, p, positive="ham").precision == pytest.approx(2 / 3)
    assert c.of("ham").tp == 2
    assert "spam" in str(c)
    assert ours.roc(y, [0.9, 0.1, 0.2, 0.4]).auc == pytest.approx(0.75)


def test_costs_and_the_cheapest_threshold():
    r = ours.roc([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9])
    assert r.cheapest(1, 10)[0] == pytest.approx(0.4)  # misses are dear: call more rows positive
    assert r.cheapest(10, 1) == (pytest.approx(0.9), pytest.approx(0.25))
    assert ours.cost([0, 0, 1, 1], [0, 1, 0, 1], 1, 10) == pytest.approx(11 / 4)


def test_a_perfect_ranking_is_not_taken_for_certainty():
    r = ours.roc([0] * 10 + [1] * 10, np.arange(20.0))
    assert r.auc == 1.0
    assert 0.6 < r.interval().low < 0.8


def test_the_band_holds_the_curve_and_shrinks():
    rng = np.random.default_rng(0)
    widths = []
    for n in (50, 5000):
        y = np.arange(2 * n) % 2
        r = ours.roc(y, y + rng.normal(size=2 * n))
        low, high = r.band()
        assert np.all((low <= r.tpr) & (r.tpr <= high))
        widths.append(float(np.mean(high - low)))
    assert widths[1] < 0.25 * widths[0]


def test_figures_are_floats():
    f = ours.confusion([0, 1], [0, 1]).accuracy
    assert isinstance(f, float)
    assert pickle.loads(pickle.dumps(f)) == 1.0
    interval = f.interval(0.9)
    assert pickle.loads(pickle.dumps(interval)).method == "exact binomial"
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        f.interval(95)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ours.confusion([0, 1], [0]), "2 labels but 1 predictions"),
        (lambda: ours.confusion([], []), "no rows"),
        (lambda: ours.confusion([0, 1], ["a", "b"]), "mix numbers and strings"),
        (lambda: ours.confusion([0.0, np.nan], [0, 1]), "NaN or infinity"),
        (lambda: ours.confusion([[0, 1]], [[0, 1]]), "must be vectors"),
        (lambda: ours.confusion([0, 1, 2], [0, 1, 2]).recall, "More than two classes"),
        (lambda: ours.confusion([0, 1], [0, 1], positive=5), "does not occur"),
        (lambda: ours.confusion([0, 1], [0, 1], sample_weight=[-1, 1]), "sample_weight"),
        (lambda: ours.roc([1, 1], [0.1, 0.2]), "both classes"),
        (lambda: ours.roc([0, 1], ["a", "b"]), "must be numbers"),
        (lambda: ours.calibration([0, 1], [0.5, 1.5]), "between 0 and 1"),
        (lambda: ours.errors(["a"], ["b"]), "must be numbers"),
        (lambda: ours.confusion([0, 1], [0, 1]).interval("luck"), "no figure 'luck'"),
        (lambda: ours.log_score([0, 1, 2], [0.1, 0.2, 0.3]), "3 classes but 2 columns"),
        (lambda: ours.roc_auc([0, 1, 2], np.eye(3), "micro"), "'macro' or 'weighted'"),
        (lambda: ours.roc_auc([0, 1, 1], np.eye(3)), "2 classes but 3 columns"),
    ],
)
def test_bad_input_gets_one_clear_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call()
