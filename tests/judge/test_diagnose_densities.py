"""Densities and posteriors with a known slip are told what it was; right ones are accepted."""

import numpy as np
import pytest
import scipy.stats
from sklearn.neighbors import KernelDensity

import certifit as cf


def rows(seed, d=2, n=30):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * np.array([1.0, 3.0])[:d] + 2.0, rng.normal(size=(5, d)) + 2.0


def shape(kind, u):
    return {
        "gaussian": np.exp(-0.5 * u**2), "tophat": (u < 1) + 0.0, "epanechnikov": np.maximum(0, 1 - u**2),
    }[kind]  # fmt: skip


def parzen(X, P, h, kernel="gaussian", constant=None, n=None, scale=None, own=True, exponent=1.0):
    d = X.shape[1]
    u = np.sqrt(((P[:, None] - X[None]) ** 2).sum(-1)) / h
    values = shape(kernel, u * exponent)
    total = values.sum(axis=1) if own else values.sum(axis=1) - 1.0
    c = (2 * np.pi) ** (d / 2) if constant is None else constant
    return total / ((len(X) if n is None else n) * c * (h**d if scale is None else scale))


H = 1.7
KERNEL = {
    "1/n missing": lambda X, P: parzen(X, P, H, n=1),
    "n − 1 for n": lambda X, P: parzen(X, P, H, n=len(X) - 1),
    "constant of the kernel missing": lambda X, P: parzen(X, P, H, constant=1.0),
    "bandwidth missing in the constant": lambda X, P: parzen(X, P, H, scale=1.0),
    "constant and bandwidth missing": lambda X, P: parzen(X, P, H, constant=1.0, scale=1.0),
    "bare sum of kernels": lambda X, P: parzen(X, P, H, constant=1.0, scale=1.0, n=1),
    "h for h to the power d": lambda X, P: parzen(X, P, H, scale=H),
    "constant of one dimension": lambda X, P: parzen(X, P, H, constant=np.sqrt(2 * np.pi)),
    "h² for h": lambda X, P: parzen(X, P, H**2),
    "√h for h": lambda X, P: parzen(X, P, H**0.5),
    "twice the bandwidth": lambda X, P: parzen(X, P, 2 * H),
    "half the bandwidth": lambda X, P: parzen(X, P, H / 2),
    "½ missing in the exponent": lambda X, P: parzen(X, P, H, exponent=np.sqrt(2.0)),
    "logarithm": lambda X, P: np.log(parzen(X, P, H)),
    "other kernel": lambda X, P: parzen(X, P, H, "epanechnikov", constant=np.pi / 2),
    "scaled columns": lambda X, P: parzen((X - X.mean(0)) / X.std(0), (P - X.mean(0)) / X.std(0), H),
}


@pytest.mark.parametrize("slip", KERNEL)
@pytest.mark.parametrize("seed", range(3))
def test_kernel_estimates(slip, seed):
    X, P = rows(seed)
    certificate = cf.certify_density(KERNEL[slip](X, P), X, points=P, bandwidth=H)
    assert not certificate.holds
    found = certificate.diagnose(X)
    assert slip in [f.name for f in found]
    assert all(f.certificate.holds for f in found)


def test_two_slips_at_once_and_the_own_row():
    X, P = rows(0)
    both = cf.certify_density(parzen(X, P, H**2, n=1), X, points=P, bandwidth=H).diagnose(X)
    assert {f.name for f in both} == {"h² for h", "1/n missing"}
    left_out = cf.certify_density(parzen(X, X, H, n=len(X) - 1, own=False), X, bandwidth=H).diagnose(X)
    assert "own row left out" in [f.name for f in left_out]
    none = cf.certify_density(parzen(X, P, 1.05 * H), X, points=P, bandwidth=H).diagnose(X)
    assert none == []
    assert not none.right


@pytest.mark.parametrize("kernel", ["gaussian", "tophat", "epanechnikov", "exponential", "linear"])
def test_kernel_estimates_of_scikit_learn_are_right(kernel):
    for seed in range(30):
        X, P = rows(seed, 1 + seed % 2)
        model = KernelDensity(bandwidth=0.5 + seed % 3, kernel=kernel, rtol=1e-10).fit(X)
        values = np.exp(model.score_samples(P))
        certificate = cf.certify_density(values, X, points=P, bandwidth=0.5 + seed % 3, kernel=kernel)
        assert certificate.diagnose(X).right, seed


EDGES = np.array([-6.0, -1.0, 0.0, 2.0, 5.0])
HEIGHTS = {
    "counts for density": lambda n, v, N: n,
    "shares for density": lambda n, v, N: n / N,
    "counts per width": lambda n, v, N: n / v,
    "shares of the rows inside": lambda n, v, N: n / n.sum() / v,
    "share times width": lambda n, v, N: n / N * v,
    "n − 1 for n": lambda n, v, N: n / (N - 1) / v,
}


@pytest.mark.parametrize("slip", HEIGHTS)
def test_histograms(slip):
    X = rows(1, 1)[0] * 3 - 5
    n, v = np.histogram(X, EDGES)[0], np.diff(EDGES)
    assert n.sum() < len(X)
    found = cf.certify_density(HEIGHTS[slip](n, v, len(X)), X, edges=EDGES).diagnose(X)
    assert slip in [f.name for f in found]
    assert cf.certify_density(n / len(X) / v, X, edges=EDGES).diagnose(X).right


def test_rows_on_edges():
    X = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 3.0])
    edges = np.array([-1.0, 0.0, 1.0, 2.0, 3.5])
    below = np.array([2, 3, 1, 1]) / 7 / np.diff(edges)
    assert [f.name for f in cf.certify_density(below, X, edges=edges).diagnose(X)] == ["edges on the other side"]
    assert cf.certify_density(np.histogram(X, edges, density=True)[0], X, edges=edges).diagnose(X).right


def fitted(family, X):
    return dict(cf.bayes.fit_density(X, family).parameters)


LIKELIHOOD = {
    ("normal", "n − 1 for n"): lambda x, p: p | {"sd": x.std(ddof=1)},
    ("normal", "variance for standard deviation"): lambda x, p: p | {"sd": x.var()},
    ("normal", "variance with n − 1"): lambda x, p: p | {"sd": x.var(ddof=1)},
    ("normal", "precision for standard deviation"): lambda x, p: p | {"sd": 1 / x.var()},
    ("normal", "sum for mean"): lambda x, p: p | {"sd": np.sqrt(len(x)) * x.std()},
    ("lognormal", "values for logarithms"): lambda x, p: {"mean": x.mean(), "sd": x.std()},
    ("lognormal", "logarithm to base 10"): lambda x, p: {"mean": np.log10(x).mean(), "sd": np.log10(x).std()},
    ("lognormal", "n − 1 for n"): lambda x, p: p | {"sd": np.log(x).std(ddof=1)},
    ("exponential", "one over it"): lambda x, p: {"scale": 1 / x.mean()},
    ("exponential", "sum for mean"): lambda x, p: {"scale": x.sum()},
    ("gamma", "method of moments"): lambda x, p: {"shape": x.mean() ** 2 / x.var(), "scale": x.var() / x.mean()},
    ("gamma", "one over it"): lambda x, p: p | {"scale": 1 / p["scale"]},
    ("poisson", "sum for mean"): lambda x, p: {"rate": x.sum()},
    ("poisson", "one over it"): lambda x, p: {"rate": 1 / x.mean()},
    ("geometric", "one over it"): lambda x, p: {"probability": min(1.0, x.mean() / 10)},
    ("bernoulli", "failures for successes"): lambda x, p: {"probability": 1 - x.mean()},
    ("bernoulli", "one added to each outcome"): lambda x, p: {"probability": (x.sum() + 1) / (len(x) + 2)},
    ("categorical", "one added to each outcome"): lambda x, p: {
        "probabilities": ((np.bincount(x.astype(int)) + 1) / (len(x) + x.max() + 1)).tolist()
    },
}


def sample(family, seed):
    rng = np.random.default_rng(seed)
    made = {
        "poisson": lambda: rng.poisson(3.0, 40), "geometric": lambda: rng.geometric(0.3, 40),
        "bernoulli": lambda: rng.permutation(np.repeat([0, 1], [29, 11])), "categorical": lambda: rng.integers(0, 4, 40),
        "normal": lambda: rng.normal(2.0, 3.0, 40),
    }  # fmt: skip
    return made.get(family, lambda: rng.gamma(2.0, 1.5, 40))().astype(float)


@pytest.mark.parametrize(("family", "slip"), [key for key in LIKELIHOOD if key[0] != "geometric"])
@pytest.mark.parametrize("seed", range(3))
def test_largest_likelihood(family, slip, seed):
    x = sample(family, seed)
    right = fitted(family, x)
    assert cf.certify_density(right, x, family=family).diagnose(x).right
    found = cf.certify_density(LIKELIHOOD[family, slip](x, right), x, family=family).diagnose(x)
    assert slip in [f.name for f in found]


def test_covariances():
    X, _ = rows(0)
    for ddof, slips in ((0, None), (1, ["n − 1 for n"])):
        answer = {"mean": X.mean(axis=0).tolist(), "cov": np.cov(X.T, ddof=ddof).tolist()}
        found = cf.certify_density(answer, X, family="multivariate_normal").diagnose(X)
        assert found.right is (slips is None)
        assert [f.name for f in found] == (slips or [])


def test_answers_of_scipy_are_right():
    for seed in range(40):
        x = sample("gamma", seed)
        shape, _, scale = scipy.stats.gamma.fit(x, floc=0)
        found = cf.certify_density({"shape": shape, "scale": scale}, x, family="gamma").diagnose(x)
        assert found.right
        mean, sd = scipy.stats.norm.fit(x)
        assert cf.certify_density({"mean": mean, "sd": sd}, x, family="normal").diagnose(x).right


PRIORS = {"h1": 0.1, "h2": 0.2, "h3": 0.4, "h4": 0.3}
CHERRY = {"h1": 1.0, "h2": 0.75, "h3": 0.5, "h4": 0.2}
BAG = {h: {"cherry": p, "lime": 1 - p} for h, p in CHERRY.items()}
SEEN = ["lime", "cherry", "lime", "lime"]


def bayes(seen, prior=None, normal=True, power=1):
    joint = {h: (PRIORS[h] if prior is None else prior) ** power for h in PRIORS}
    for o in seen:
        joint = {h: p * BAG[h][o] for h, p in joint.items()}
    total = sum(joint.values()) if normal else 1.0
    return {h: p / total for h, p in joint.items()}


POSTERIOR = {
    "not normalised": lambda: bayes(SEEN, normal=False),
    "prior left out": lambda: bayes(SEEN, prior=1.0),
    "likelihood alone": lambda: bayes(SEEN, prior=1.0, normal=False),
    "prior alone": lambda: dict(PRIORS),
    "last outcome only": lambda: bayes(SEEN[-1:]),
    "last outcome forgotten": lambda: bayes(SEEN[:-1]),
    "prior at every step": lambda: bayes(SEEN, power=4),
    "order of the hypotheses": lambda: dict(zip(PRIORS, list(bayes(SEEN).values())[::-1])),
}


@pytest.mark.parametrize("slip", POSTERIOR)
def test_posteriors(slip):
    bag, column = cf.bayes.HypothesisSpace(PRIORS, BAG), np.array(SEEN, dtype=object)[:, None]
    assert bag.certify(SEEN, bayes(SEEN)).diagnose(column).right
    found = bag.certify(SEEN, POSTERIOR[slip]()).diagnose(column)
    assert not found.right
    assert slip in [f.name for f in found]
    with pytest.raises(ValueError, match="each hypothesis"):
        bag.certify(SEEN, {"h1": 1.0})


def test_posteriors_first_outcome_and_sums():
    bag, seen = cf.bayes.HypothesisSpace(PRIORS, BAG), ["cherry", "lime", "lime"]
    column = np.array(seen, dtype=object)[:, None]
    assert "first outcome only" in [f.name for f in bag.certify(seen, bayes(seen[:1])).diagnose(column)]
    added = {h: PRIORS[h] * sum(BAG[h][o] for o in seen) for h in PRIORS}
    added = {h: p / sum(added.values()) for h, p in added.items()}
    assert "likelihoods added" in [f.name for f in bag.certify(seen, added).diagnose(column)]
