"""Naive Bayes and class centres by hand: each slip of a student is named and proved, right estimates are accepted."""

import numpy as np
import pytest
import sklearn.naive_bayes as theirs
from sklearn.neighbors import NearestCentroid

import certifit as cf

LABELS = np.array(["no", "yes"])


def table(seed, kind):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1], [13, 22]))
    if kind == "gaussian":
        X = rng.normal(size=(35, 3)) * [1.0, 5.0, 0.2] + 2.0 * y[:, None] * [1.0, -1.0, 0.1] + [0.0, 10.0, 1.0]
    elif kind == "multinomial":
        X = rng.poisson(1.0 + y[:, None] * [2.0, 0.0, 1.0, 0.5], size=(35, 4)).astype(float)
    elif kind == "bernoulli":
        X = (rng.random((35, 4)) < 0.3 + 0.3 * y[:, None]).astype(float)
    else:
        X = np.column_stack([rng.integers(0, 3, 35), rng.integers(0, 4, 35), (rng.random(35) < 0.4) + 0.0])
        X[0], X[1] = [0, 0, 0], [2, 3, 1]
    return X, LABELS[y]


class Student:
    """Estimates as a student would write them, with room for a slip at every step."""

    def __init__(self, X, y, alpha=0.5, var_smoothing=1e-3):
        self.X, self.y, self.alpha, self.smooth = X, y, alpha, var_smoothing
        self.rows = [X[y == c] for c in LABELS]
        self.n = np.array([len(r) for r in self.rows])

    def gaussian(self, ddof=0, smooth=None, mean=np.mean):
        smooth = self.smooth * self.X.var(axis=0).max() if smooth is None else smooth
        means = np.array([mean(r, axis=0) for r in self.rows])
        return {"means": means, "variances": np.array([r.var(axis=0, ddof=ddof) for r in self.rows]) + smooth}

    def counts(self, model, numerator=None, denominator=None, X=None):
        X = self.X if X is None else X
        top = self.alpha if numerator is None else numerator
        out = []
        for j in range(X.shape[1] if model == "categorical" else 1):
            if model == "categorical":
                sizes = int(self.X[:, j].max()) + 1
                n = np.array([[(X[self.y == c][:, j] == v).sum() for v in range(sizes)] for c in LABELS])
                total, cells = self.n[:, None], sizes
            else:
                n = np.array([X[self.y == c].sum(axis=0) for c in LABELS])
                total = n.sum(axis=1, keepdims=True) if model == "multinomial" else self.n[:, None]
                cells = X.shape[1] if model == "multinomial" else 2
            bottom = total + cells * self.alpha if denominator is None else denominator(total, cells, n)
            out.append((n + top) / bottom)
        return out if model == "categorical" else out[0]


def judge(answer, X, y, model, **more):
    return cf.certify_naive_bayes(answer, X, y, model, alpha=0.5, var_smoothing=1e-3, **more)


def named(answer, X, y, model, **more):
    certificate = judge(answer, X, y, model, **more)
    assert not certificate.holds
    found = certificate.diagnose(X, y)
    assert not found.right
    for finding in found:
        assert finding.certificate.holds
        assert finding.sentence in str(found)
    return [f.name for f in found]


GAUSSIAN = {
    "n − 1 for n": lambda s: s.gaussian(ddof=1),
    "n − 1 for n, without smoothing": lambda s: s.gaussian(ddof=1, smooth=0.0),
    "no smoothing": lambda s: s.gaussian(smooth=0.0),
    "smoothing not scaled": lambda s: s.gaussian(smooth=s.smooth),
    "smoothing of each column": lambda s: s.gaussian(smooth=s.smooth * s.X.var(axis=0)),
    "medians for means": lambda s: s.gaussian(mean=np.median),
    "standard deviation for variance": lambda s: s.gaussian() | {"variances": np.sqrt(s.gaussian()["variances"])},
    "standard deviation for variance, without smoothing": lambda s: (
        s.gaussian() | {"variances": np.sqrt(s.gaussian(smooth=0.0)["variances"])}
    ),
    "precision for variance": lambda s: s.gaussian() | {"variances": 1 / s.gaussian()["variances"]},
    "sum for mean": lambda s: s.gaussian() | {"variances": s.gaussian(smooth=0.0)["variances"] * s.n[:, None]},
    "means of whole columns": lambda s: s.gaussian() | {"means": np.tile(s.X.mean(axis=0), (2, 1))},
    "variance of the whole column": lambda s: (
        s.gaussian() | {"variances": np.tile(s.X.var(axis=0) + s.smooth * s.X.var(axis=0).max(), (2, 1))}
    ),
    "one variance for all classes": lambda s: (
        s.gaussian() | {"variances": np.tile(s.n @ s.gaussian()["variances"] / s.n.sum(), (2, 1))}
    ),
    "labels swapped": lambda s: {name: v[::-1] for name, v in s.gaussian().items()},
    "scaled columns": lambda s: Student((s.X - s.X.mean(0)) / s.X.std(0), s.y, var_smoothing=s.smooth).gaussian(),
}


@pytest.mark.parametrize("slip", GAUSSIAN)
@pytest.mark.parametrize("seed", range(4))
def test_gaussian_slips(slip, seed):
    X, y = table(seed, "gaussian")
    assert slip in named(GAUSSIAN[slip](Student(X, y)), X, y, "gaussian")


CELLS = {
    "no smoothing": lambda s, m: s.counts(m, 0.0, lambda N, k, n: N),
    "twice α": lambda s, m: s.counts(m, 1.0, lambda N, k, n: N + k),
    "half of α": lambda s, m: s.counts(m, 0.25, lambda N, k, n: N + 0.25 * k),
    "α in the numerator only": lambda s, m: s.counts(m, None, lambda N, k, n: N),
    "α in the denominator only": lambda s, m: s.counts(m, 0.0),
    "α once in the denominator": lambda s, m: s.counts(m, None, lambda N, k, n: N + 0.5),
    "class given value": lambda s, m: s.counts(m, None, lambda N, k, n: (n + 0.5).sum(axis=0)),
    "divided by all rows": lambda s, m: s.counts(m, None, lambda N, k, n: N.sum() + 0.5 * k),
    "joint share": lambda s, m: s.counts(m, 0.0, lambda N, k, n: N.sum()),
    "labels swapped": lambda s, m: [t[::-1] for t in s.counts(m)] if m == "categorical" else s.counts(m)[::-1],
}


@pytest.mark.parametrize("slip", CELLS)
@pytest.mark.parametrize("model", ["multinomial", "bernoulli", "categorical"])
@pytest.mark.parametrize("seed", range(3))
def test_slips_of_counts(slip, model, seed):
    X, y = table(seed, model)
    assert slip in named({"probabilities": CELLS[slip](Student(X, y), model)}, X, y, model)


def test_slips_of_single_models():
    X, y = table(0, "multinomial")
    s = Student(X, y)
    assert "presence for counts" in named({"probabilities": s.counts("multinomial", X=(X > 0) + 0.0)}, X, y, None)
    logs = np.log(s.counts("multinomial"))
    for base in (2, 10):
        assert f"logarithm to base {base}" in named({"log_probabilities": logs / np.log(base)}, X, y, None)
    one = s.counts("multinomial", 1.0, lambda N, k, n: N + k)
    assert "α of one" in [
        f.name for f in cf.certify_naive_bayes({"probabilities": one}, X, y, alpha=0.1).diagnose(X, y)
    ]
    X, y = table(0, "bernoulli")
    assert "zeros for ones" in named({"probabilities": 1 - Student(X, y).counts("bernoulli")}, X, y, "bernoulli")
    X = X + table(1, "bernoulli")[0]
    at = Student(X, y).counts("bernoulli", X=(X >= 1) + 0.0)
    assert "threshold included" in named({"probabilities": at}, X, y, "bernoulli", binarize=1.0)
    X, y = table(0, "categorical")
    both = Student(X, y).counts("categorical", None, lambda N, k, n: N + 2 * 0.5)
    assert "α for each class in the denominator" in named({"probabilities": both}, X, y, "categorical")


PRIORS = {
    "equal class shares": lambda n: np.full(2, 0.5),
    "smoothed class shares": lambda n: (n + 0.5) / (n + 0.5).sum(),
    "class shares swapped": lambda n: (n / n.sum())[::-1],
    "class counts for shares": lambda n: n,
    "odds for shares": lambda n: n / (n.sum() - n),
}


@pytest.mark.parametrize("slip", PRIORS)
def test_slips_of_class_shares(slip):
    X, y = table(0, "bernoulli")
    s = Student(X, y)
    prior = PRIORS[slip](s.n.astype(float))
    assert named({"probabilities": s.counts("bernoulli"), "class_prior": prior}, X, y, "bernoulli") == [slip]
    both = {"probabilities": CELLS["no smoothing"](s, "bernoulli"), "class_prior": prior}
    assert set(named(both, X, y, "bernoulli")) >= {slip, "no smoothing"}
    even = {"probabilities": s.counts("bernoulli"), "class_prior": s.n / s.n.sum()}
    assert named(even, X, y, "bernoulli", prior="uniform") == ["class shares of the data"]


def test_what_no_slip_explains_is_said():
    X, y = table(0, "bernoulli")
    p = Student(X, y).counts("bernoulli")
    p[0, 0] += 0.01
    found = judge({"probabilities": p}, X, y, "bernoulli").diagnose(X, y)
    assert not found.right
    assert found == []
    assert str(found).endswith("None of the usual mistakes explains it.")


def test_rounded_answers_are_right():
    X, y = table(0, "multinomial")
    found = judge({"probabilities": Student(X, y).counts("multinomial").round(7)}, X, y, None).diagnose(X, y)
    assert found.right


OTHERS = {
    "gaussian": lambda seed: theirs.GaussianNB(var_smoothing=10.0 ** -(seed % 9 + 1)),
    "bernoulli": lambda seed: theirs.BernoulliNB(alpha=0.1 + seed % 5, fit_prior=bool(seed % 2)),
    "multinomial": lambda seed: theirs.MultinomialNB(alpha=0.1 + seed % 5, fit_prior=bool(seed % 2)),
    "complement": lambda seed: theirs.ComplementNB(alpha=0.1 + seed % 5, norm=bool(seed % 2)),
    "categorical": lambda seed: theirs.CategoricalNB(alpha=0.1 + seed % 5, fit_prior=bool(seed % 2)),
}


@pytest.mark.parametrize("model", OTHERS)
def test_models_of_scikit_learn_are_right(model):
    for seed in range(60):
        X, y = table(seed, "multinomial" if model == "complement" else model)
        weights = np.random.default_rng(seed).integers(1, 4, len(y)).astype(float) if seed % 3 == 0 else None
        fitted = OTHERS[model](seed).fit(X, y, sample_weight=weights)
        certificate = cf.certify(fitted, X, y, weights)
        assert certificate.holds, (seed, certificate.failures)
        found = certificate.diagnose(X, y, weights)
        assert found.right
        assert found == []


def test_models_with_the_wrong_setting_are_told():
    X, y = table(0, "multinomial")
    model = theirs.MultinomialNB(alpha=2.0).fit(X, y).set_params(alpha=1.0)
    assert [f.name for f in cf.certify(model, X, y).diagnose(X, y)] == ["twice α"]
    model = theirs.ComplementNB().fit(X, y)
    for change, slip in (
        (lambda w: -w, "wrong sign"),
        (lambda w: w / np.log(2), "logarithm to base 2"),
        (lambda w: w[::-1], "labels swapped"),
        (lambda w: w / w.sum(axis=1, keepdims=True), "normalised"),
    ):
        other = theirs.ComplementNB().fit(X, y)
        other.feature_log_prob_ = change(model.feature_log_prob_)
        assert slip in [f.name for f in cf.certify(other, X, y).diagnose(X, y)]
    other.feature_log_prob_ = -theirs.MultinomialNB().fit(X, y).feature_log_prob_
    assert "own class for the others" in [f.name for f in cf.certify(other, X, y).diagnose(X, y)]
    model = theirs.ComplementNB(norm=True).fit(X, y)
    model.feature_log_prob_ = theirs.ComplementNB().fit(X, y).feature_log_prob_
    assert "not normalised" in [f.name for f in cf.certify(model, X, y).diagnose(X, y)]


def test_mixed_columns():
    X, y = table(0, "categorical")
    model = cf.naive_bayes.MixedNB(alpha=1.0, var_smoothing=1e-3).fit(X, y)
    held = model.certificate_
    assert held.diagnose(X, y).right
    data = cf.certificates.Data.of(X, y)
    twice = cf.certificates.issue(held.kind, data, {**held.evidence, "alpha": 0.5})
    assert [f.name for f in twice.diagnose(X, y)] in (["twice α"], ["no smoothing of variances"], [])


CENTRES = {
    "medians for means": lambda r: np.median(r, axis=0),
    "sums for means": lambda r: r.sum(axis=0),
    "middle of the range": lambda r: (r.min(axis=0) + r.max(axis=0)) / 2,
}


@pytest.mark.parametrize("slip", CENTRES)
def test_class_centres(slip):
    X, y = table(0, "gaussian")
    right = cf.neighbors.NearestCentroid().fit(X, y)
    assert right.certificate_.diagnose(X, y).right
    assert np.allclose(NearestCentroid().fit(X, y).centroids_, right.centroids_)

    def judged(centres):
        evidence = {**right.certificate_.evidence, "centres": centres}
        return [
            f.name
            for f in cf.certificates.issue("class-centres", cf.certificates.Data.of(X, y), evidence).diagnose(X, y)
        ]

    assert judged(np.array([CENTRES[slip](X[y == c]) for c in LABELS])) == [slip]
    assert judged(right.centroids_[::-1]) == ["labels swapped"]
