"""Fits of numbers that floats can barely hold: what a certificate says of them is proved by the checker, or not claimed.

Each case once was a claim that the checker refused (one was false, in others rounding was forgotten by one of the two), or
ended in a bare error of arithmetic.
"""

from __future__ import annotations

import json
import warnings
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from sklearn.isotonic import IsotonicRegression

from certifit import checker, scale
from certifit.bayes import BayesianLinearRegression
from certifit.bayes.conjugate import NormalInverseGamma, NormalKnownVariance
from certifit.certificates import Data, issue
from certifit.certificates._ball import quotient, to_float
from certifit.certificates._figures import upper
from certifit.certificates._proof_file import proof_of
from certifit.certificates.evaluation import SCORES
from certifit.cluster import KMeans
from certifit.decomposition import PCA
from certifit.density import KernelDensity
from certifit.glm import GLM
from certifit.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Perceptron
from certifit.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB
from certifit.study._baseline import ConstantRegressor
from certifit.svm import LinearSVC, LinearSVR, NuSVC
from certifit.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.attacks.siege import refused_by_checker

LINE = np.arange(4.0)[:, None]
FITS = {
    "a perfect fit by a log link": (GLM("gaussian", "log"), [[1e-192, 2.0, 1e24]], [1.6384213725286465], [1.0]),
    "a perfect fit of equal values": (
        GLM("inverse_gaussian", "log", alpha=0.1),
        [[2e-120, -1e-20], [-1e-120, 0.0], [0.0, 2e-20], [2e-120, 1e-20], [-3e-120, -1e-20]],
        np.ones(5),
        None,
    ),
    "a deviance that is rounding": (GLM("gamma", "inverse", alpha=0.1), [[1.35, -0.1]], [2.0], [9e306]),
    "updates that vanish": (Perceptron(fit_intercept=False), [[0.0, -1.2e-300], [2.9e-301, -4e-302]], [0, 1], None),
    "a bound beyond floats": (Perceptron(max_iter=5), np.array([[1], [3], [1], [0], [2]]) * 1e-160, [0, 1, 0, 0, 0], None),
    "a constant column": (GaussianNB(), np.full((4, 1), 1e-8), [0, 1, 1, 1], None),
    "a class without weight": (GaussianNB(), [[-0.3], [1.0], [-0.6], [1.3]], [0, 1, 0, 1], [1.0, 0.0, 2.0, 0.0]),
    "a class of three without weight": (BernoulliNB(), LINE - 1.5, [0, 1, 2, 1], [1.0, 1.0, 0.0, 2.0]),
    "categories without weight": (CategoricalNB(), [[2.0], [0.0], [1.0]], [0, 1, 0], [1.0, 0.0, 2.0]),
    "a mean among unequal weights": (ConstantRegressor(), LINE, [-2.0, 3.0, 1.0, 0.0], [1e-130, 1e133, 1e198, 1e-204]),
    "a centre among unequal weights": (KMeans(1, random_state=0), [[1.0, 0.0], [0.0, 2.0], [1.0, 0.0]], None, [1e-13, 1e285, 1e-198]),
    "no variance at all": (PCA(1), np.zeros((3, 1)), None, None),
    "equal counts": (DecisionTreeRegressor(criterion="poisson", max_depth=2), LINE % 2, np.ones(4), None),
    "counts that vanish": (DecisionTreeRegressor(criterion="poisson", splitter="random"), [[1.0]], [4e-101], [1e-284]),
    "targets too large to square": (DecisionTreeRegressor(max_depth=2, min_samples_leaf=2), LINE[:2], [3e306, -1e307], None),
    "a share that vanishes": (DecisionTreeClassifier(criterion="entropy", splitter="random", max_features=1), np.ones((2, 2)), [0, 1], [1e216, 1e-227]),
    "one node of unequal weights": (DecisionTreeRegressor(max_depth=1, min_samples_leaf=2), LINE[:2], [[-2e-200, 1e-200], [4.0, -2.0]], [1e-187, 1e-38]),
    "fewer rows than columns": (PCA(2), [[0.0, 0.0, 0.0], [-3.0, 3.0, 0.0]], None, None),
    "clusters and rows without weight": (KMeans(1, random_state=0), [[3.0, -3.0], [0.0, -1.0], [0.0, 2.0], [1.0, 0.0]], None, [1.0, 0.0, 2.0, 2.0]),
    "one class": (DecisionTreeClassifier(), LINE, [1, 1, 1, 1], None),
    "squares by the bound for every GLM": (GLM("gaussian"), [[0.0], [-3e-42], [1e-42], [2e-42]], [-0.0, 1.5e-29, 8e-30, 8e-30], None),
    "a precision that leaves no freedom": (
        BayesianLinearRegression(),
        np.array([[-1, 1, 0], [-1, 1, -1], [1, 0, 0], [2, 1, 1]]) * 5.183566986093928e-282,
        [-9.080593036587067e-13, -1.1144364181265946e-12, 7.498368492333259e-13, 5.004645025846281e-13],
        None,
    ),
    "a gap of the last row of many bits": (NuSVC(), [[-0.46, 0.67, -0.89], [1.15, -1.62, 0.72], [0.8, -3.32, 1.8]], [1, 0, 1], [1e7, 4e-79, 3e-105]),
    "counts of hardly any weight": (DecisionTreeRegressor(criterion="poisson", max_depth=2), [[0.7], [2.4], [2.8], [1.4]], [1, 2, 0, 1], [2e237, 9e137, 5e-258, 4e90]),
    "odds of e to the −300,000": (LogisticRegression(), [[1.0], [2.0], [-1.0], [-2.0], [-1e6], [1e6]], [1, 1, 0, 1, 0, 1], None),
    "clusters of a matrix that nearly cancels": (KMeans(4, random_state=0), [[-3.0, 3.0], [1.0, -2.0], [-2.0, 2.0], [1.0, -3.0], [2.0, -3.0]], None, None),
    "huge counts": (DecisionTreeRegressor(criterion="poisson", max_depth=1, ccp_alpha=0.05), LINE[:2], [8e159, 1e160], [0.3, 0.4]),
}  # fmt: skip


def quietly(model, X, y, w):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        given = (X,) if y is None else (X, y)
        return model.fit(*given) if w is None else model.fit(*given, sample_weight=w)


@pytest.mark.parametrize("name", FITS)
def test_what_is_claimed_is_proved_by_the_checker(name):
    model, *given = FITS[name]
    X, y, w = (None if v is None else np.asarray(v) for v in given)
    for certificate in quietly(model, X, y, w).certificates_:
        assert not certificate.holds or refused_by_checker(certificate, X, y, w) is None, certificate
        assert "inf" not in certificate.claim or not certificate.holds
        assert certificate.kind != "principal-components" or certificate.figures["value"] >= 0.0


TABLES = {
    "residuals of rounding": (LinearRegression(), [[-0.018, 0.347], [0.812, 0.894], [-0.469, 1.161]], [-1.06, -1.25, -0.59]),
    "rows far away": (LinearSVC(), [[3.0], [2.0]], [0, 1]),
    "rows very far away": (LinearSVC(), [[99999999.2], [99999999.2], [100000000.4]], [0, 1, 1]),
    "a loss that cancels": (GLM("poisson", alpha=0.1), [[0.0, 1001.3], [0.0, 999.7]], [1001.0, 1000.0]),
    "scores of large numbers": (
        LogisticRegression(C=10.0),
        np.array([[0.9, 0.7, 1.0], [0.6, -1.9, 0.2], [2.5, 0.0, -1.8], [1.8, 0.1, 1.8]]) + 99999999.0,
        [0, 1, 1, 1],
    ),
    "squares far below one": (KMeans(2), np.array([[0, 0], [0, 1], [1, 0], [1, 1], [0, 0], [1, 1]]) * 1e-100, None),
    "squares lost beside others": (KMeans(2), [[1.2474183111554636e92], [3.580085176505615e-101]], None),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_what_is_claimed_of_partitions_is_proved_by_the_checker(name):
    model, X, y = TABLES[name]
    X = np.asarray(X, dtype=float)
    table = pa.table({**{f"x{j}": c for j, c in enumerate(X.T)}, **({} if y is None else {"y": y})})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        certificate = scale.fit(model, table, **({} if y is None else {"target": "y"}), engine="serial").certificate_
    assert certificate.holds
    assert refused_by_checker(certificate, X, None if y is None else np.asarray(y), None) is None


def test_densities_and_beliefs_at_the_ends_of_the_scale():
    X, w = np.array([[1.0, 1e-50, 1e15], [1.0, 1e-66, 1e15 - 0.5]]), np.array([0.003, 0.15])
    density = KernelDensity(kernel="cosine", bandwidth=1e-100).fit(X, sample_weight=w).certificate_for(X + 0.5)
    assert density.holds
    assert refused_by_checker(density, X, None, w) is None
    seen = np.array([[3.0], [4.0], [1.0], [0.0], [1.0]])
    for belief in (NormalInverseGamma(0.3, 1e300, 1e300, 0.5), NormalKnownVariance(0.3, 1.0, 1e300)):
        certificate = belief.certify(seen[:, 0])
        assert certificate.holds
        assert refused_by_checker(certificate, seen, None, None) is None


def test_an_isotonic_gap_below_the_smallest_float_is_not_called_zero():
    x, y = np.array([[-0.2], [0.2], [0.9], [1.0]]), np.array([1e140, 1e-134, 1e-250, 1e-137])
    values = IsotonicRegression().fit(x[:, 0], y).predict(x[:, 0])
    certificate = issue("isotonic", Data.of(x, y), {"scores": x[:, 0], "values": values})
    assert refused_by_checker(certificate, x, y, None) is None
    tiny = upper(quotient(1, 10**400))
    assert tiny.stated >= tiny.proved > 0.0
    assert to_float(quotient(-(10**400), 1)) == -np.inf


def test_a_mean_without_variance_is_that_number():
    X, y = np.full((4, 1), 0.1), np.array([0, 0, 1, 1])
    honest = GaussianNB().fit(X, y).certificate_
    assert honest.holds
    beside = {**honest.evidence, "theta": np.nextafter(honest.evidence["theta"], 1.0)}
    assert not issue("gaussian-counts", Data.of(X, y), beside).holds


def test_means_where_a_link_is_cut_are_not_certified():
    X, y = np.arange(1.0, 6.0)[:, None], np.array([1.0, 3.0, 2.0, 5.0, 4.0])
    honest = GLM("gamma", "inverse").fit(X, y).certificate_
    loss = {
        **honest.evidence["objective"]["loss"],
        "params": {**honest.evidence["objective"]["loss"]["params"], "link": "log"},
    }
    forged = {
        **honest.evidence,
        "objective": {**honest.evidence["objective"], "loss": loss},
        "intercept": np.array([2.0**63]),
    }
    assert honest.holds
    assert not issue("stationary", Data.of(X, y), forged).holds
    large = GLM("gamma", "identity").fit(X, 1000.0 * y).certificate_  # no exponential: nothing is cut
    assert large.kind == "stationary"
    assert large.holds


def test_the_evidence_of_a_regression_does_not_depend_on_the_stated_offset():
    X, y = np.array([[0.5], [1.0], [2.5], [0.75], [3.0]]), np.array([1.0, 2.0, 4.5, 1.0, 6.0])
    honest = BayesianLinearRegression().fit(X, y).certificate_
    far = issue("evidence-maximum", Data.of(X, y), {**honest.evidence, "intercept": 1e100})
    assert honest.holds
    assert not far.holds or refused_by_checker(far, X, y, None) is None


def test_r2_of_numbers_whose_squares_vanish():
    y, p, w = np.array([1.0, 2.0, 4.0]), np.array([1.5, 2.0, 3.0]), np.ones(3)
    for factor in (2.0**-1060, 2.0**-600, 2.0**600):
        assert SCORES["r2"](y * factor, p * factor, w) == SCORES["r2"](y, p, w)
    far = y + 2.0**50
    assert SCORES["r2"](far, far + (p - y), w) == pytest.approx(SCORES["r2"](y, p, w), rel=1e-12)


def _exact_r2(y, p, w):
    y, p, w = ([Fraction(v) for v in part.tolist()] for part in (y, p, w))
    mean = sum(a * b for a, b in zip(w, y)) / sum(w)
    left, total = (sum(a * (b - c) ** 2 for a, b, c in zip(w, y, other)) for other in (p, [mean] * len(y)))
    return 1 - left / total if total else Fraction(left == 0)


def test_r2_of_hostile_predictions_and_weights():
    rng = np.random.default_rng(0)
    for _ in range(300):
        y, p = (rng.normal(size=4).round(1) * 10.0 ** rng.uniform(-300, 300, rng.choice([1, 4])) for _ in range(2))
        w = 10.0 ** rng.uniform(-290, 290, 4) * rng.integers(0, 2, 4)
        y = y + rng.choice([0.0, 1e15])
        if not w.any():
            continue
        found, true = SCORES["r2"](y, p, w), _exact_r2(y, p, w)
        assert not np.isfinite(found) or abs(Fraction(found) - true) <= abs(true - 1) / 10**12 + Fraction(1, 10**15), (
            y,
            p,
            w,
        )


def test_a_score_is_claimed_of_huge_predictions_only_where_it_is_right():
    X, y = np.arange(6.0)[:, None], np.array([1.0, 3.0, 2.0, 5.0, 4.0, 6.0])
    folds = {
        "metric": "r2",
        "test": np.arange(6),
        "sizes": np.array([3, 3]),
        "train_sizes": np.array([3, 3]),
        "level": 0.95,
    }
    for p in (np.where(y == 5.0, 1e308, y), np.full(6, -1e200), np.where(y == 5.0, 1e100, y), y > 2.0):
        with np.errstate(all="ignore"):
            certificate = issue("cross-validation", Data.of(X, y), {**folds, "predictions": p})
        assert not certificate.holds or refused_by_checker(certificate, X, y, None) is None, p
    column = {**folds, "predictions": y[:, None]}  # no list of predictions
    assert not issue("cross-validation", Data.of(X, y), column).holds
    light = np.array([1.0, 1.0, 0.0, 1.0, 2.0, 1.0])
    folds["predictions"] = y[[0, 0, 1, 3, 4, 5]]
    certificate = issue("cross-validation", Data.of(X, y[[0, 0, 1, 3, 4, 5]], light), folds)
    assert certificate.holds
    assert refused_by_checker(certificate, X, y[[0, 0, 1, 3, 4, 5]], light) is None


REFUSED = {
    "weights of a tree": lambda: DecisionTreeRegressor(max_depth=2).fit(LINE, LINE[:, 0], np.array([0.3, 0.7, 0.2, 0.9]) * 1e-300),
    "targets of a machine": lambda: LinearSVR().fit(LINE, np.array([1.0, -2.0, 0.5, 3.0]) * 1e300),
    "columns of a machine": lambda: LinearSVR().fit(LINE * 1e159, np.array([1.0, -2.0, 0.5, 3.0]) * 1e-301),
    "columns of an elastic net": lambda: ElasticNet(1e-5, l1_ratio=0.9).fit([[-3e100, 2e16], [4e-301, -3e299]], [5e7, -6e7]),
    "components": lambda: PCA(1).fit([[1e200, 1.0], [2e200, 3.0], [0.0, 1.0]]),
    "weights of partitions": lambda: scale.fit(
        Lasso(), pa.table({"x0": [1.0, 2.0], "y": [1.0, 3.0], "w": [1e-320, 5e-324]}), target="y", weight="w", engine="serial"
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REFUSED)
def test_numbers_beyond_floats_are_refused_in_a_sentence(name):
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="rescale"):
        REFUSED[name]()


def test_the_checker_compares_no_groups_for_several_targets():
    """Of groups of categories the best for two targets need not follow the order of the means of either."""
    X = np.array([["a"], ["b"], ["c"], ["d"]] * 2, dtype=object)
    Y = np.array([[0.0, 0.0], [5.0, 1.0], [0.0, 2.0], [5.0, 3.0]] * 2)
    tree = DecisionTreeRegressor(max_depth=1, categorical_features=[0]).fit(X, Y[:, 1])
    evidence = dict(tree.certificate_.evidence)
    record = checker.decoded(json.loads(proof_of(tree.certificate_))["evidence"])
    side = [0.0 + (v in "ab") for v in X[:, 0]]
    means = [
        [[float(Y[rows, k].mean())] for k in (0, 1)]
        for rows in (np.ones(8, bool), np.array(side) == 1, np.array(side) == 0)
    ]
    table = checker.Table(X.tolist(), Y.T.tolist())
    assert evidence["group"][0] >= 0
    with pytest.raises(checker.Refused, match="rules that do not fit"):
        checker.check_of("tree-general")(table, checker.Record(record, value=means))


@pytest.mark.parametrize("seed", range(20))
def test_bounds_of_clusters_far_from_the_origin_are_no_better_than_in_exact_arithmetic(seed):
    """Rounded means made the bound of many a little larger than the one that the checker proves."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(5, 2)) + 10.0 ** rng.integers(6, 12)
    certificate = KMeans(2, n_init=2, random_state=0).fit(X).certificate_
    assert certificate.bound_method == "closed form"
    assert refused_by_checker(certificate, X, None, None) is None


def test_clusters_whose_eigenvalues_differ_by_more_than_floats_hold():
    """The method for a single eigenvalue ended in an internal error of LAPACK."""
    code = np.array([[2, 1], [2, 2], [1, -2], [2, 2], [1, 2]])
    X = np.where(code == 2, 13584218645412.879, code * 1.7084804526056794e114)
    weights = [1.719128483090686e-20, 8.478950215630674e60, 2.2751752325387135e-272, 5.983613514098241e112]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model = KMeans(2, n_init=1, random_state=0).fit(X, sample_weight=[*weights, 2.9277990872747046e121])
        assert model.certificate_.holds


def test_weighted_columns_beyond_the_largest_float_are_refused_in_a_sentence():
    """It ended in the sentence that singular values did not converge."""
    X = [[8e10, 2e99, 8e10], [-2e142, 8e10, 8e10], [8e10, 4e99, 8e10], [8e141, 8e10, 8e10], [2e142, -2e99, 8e10]]
    with pytest.raises(ValueError, match="exceed the largest float: rescale"), np.errstate(all="ignore"):
        LinearRegression().fit(X, [0.0, 0.0, 5e-276, 0.0, 0.0], sample_weight=np.full(5, 3e264))
