"""The kinds of the later families: python checker_families.py fit.proof data.csv

This file belongs in the folder of checker.py, which has the arithmetic, reads and prints, and hands over to this file where it does not
know a kind itself. Nothing else is needed but Python's standard library. The pages "The proof file" and "What you have to trust" say more.
"""
import bisect, functools, importlib.util, itertools, math, pathlib, sys
from fractions import Fraction

if "checker" not in globals():  # it was not checker.py that loaded this file
    checker = sys.modules.get("certifit.checker")
    if checker is None:
        _spec = importlib.util.spec_from_file_location("checker", pathlib.Path(__file__).with_name("checker.py"))
        checker = sys.modules["checker"] = importlib.util.module_from_spec(_spec)
        _spec.loader.exec_module(checker)
N, Record, Table, Cholesky = checker.N, checker.Record, checker.Table, checker.Cholesky
n, need, vec, mat, whole, truth, key = (getattr(checker, f) for f in "n need vec mat whole truth key".split())
total, largest, least, dot, length, apart = (getattr(checker, f) for f in "total largest least dot length apart".split())
exp, log, sigmoid, join, up, low, near = (getattr(checker, f) for f in "exp log sigmoid join up low near".split())
away, plogp, softplus, scatter, pull = (getattr(checker, f) for f in "away plogp softplus scatter pull".split())
machines, gram, nearest = checker.machines, checker.gram, checker.nearest

# -- more functions ---------------------------------------------------------------------------------------------------
def arctan(x):
    """arctan x = 2 arctan(x/(1 + √(1 + x²))), four times, so that |x| ≤ tan(π/32) < 2^-3; then Σ (−1)ᵏ x^(2k+1)/(2k+1) is off by less
    than the first term left out, which is below 2^-(3·121)."""
    for _ in range(4):
        x = x / (1 + (1 + x**2).sqrt())
    return 16 * (total(x ** (2 * k + 1) * (-1) ** k / (2 * k + 1) for k in range(60)) + N(-1, 1, -350))

PI = 4 * arctan(N(1))

def cos_quarter(u):
    """cos(πu/2) for 0 ≤ u ≤ 1: with y = (πu/2)² < 2.5 the terms of Σ (−y)ᵏ/(2k)! fall from k = 1 on, and that of k = 32 is below 2^-250."""
    y, terms = -((PI * u / 2) ** 2), [N(1)]
    for k in range(1, 32):
        terms.append(terms[-1] * y / (2 * k * (2 * k - 1)))
    return total(terms) + N(-1, 1, -250)

def normal_share(z):
    """Φ(z) = ½ + φ(z) Σ z^(2k+1)/(1·3·…·(2k+1)), as both sides have the same derivative; where the factors z²/(2k+1) have fallen below ½,
    the last term bounds the rest."""
    need(abs(z) <= 14, "a score too far out for the normal distribution")
    term, sum_, k = z, z, 1
    while not abs(term) < N(1, None, -260) or not z**2 * 2 < 2 * k + 1:
        term, k = term * z**2 / (2 * k + 1), k + 1
        sum_ = sum_ + term
    return N(1, None, -1) + exp(-(z**2) / 2) / (2 * PI).sqrt() * (sum_ + N(-1, 1, -259))

def digamma(k):
    """ψ(k) = ψ(k + m) − Σ 1/(k + i); and ψ(x) = log x − 1/2x − Σ B₂ⱼ/(2j x²ʲ), off by less than the first term left out (the series
    envelops ψ)."""
    x, below = k, N(0)
    while not x >= 64:
        below, x = below + 1 / x, x + 1
    numbers = [(1, 12), (-1, 120), (1, 252), (-1, 240), (1, 132), (-691, 32760), (1, 12)]  # B₂ⱼ/2j
    terms = [N(p) / q / x ** (2 * j) for j, (p, q) in enumerate(numbers, 1)]
    return log(x) - 1 / (2 * x) - total(terms[:-1]) - below + join(-terms[-1], terms[-1])

def frobenius(rows):
    return total(a**2 for row in rows for a in row).sqrt()

def around(middle, reach):
    """All numbers that are no farther from the middle than the reach."""
    return join(middle - reach, middle + reach)

def ratio(f):
    return N(f.numerator) / f.denominator

def power(x, p):
    """x^p for x ≥ 0, with 0^p = 0."""
    return exp(p * log(x)) if x > 0 else need(x.zero(), "a power of what may not be positive") or N(0)

# -- densities --------------------------------------------------------------------------------------------------------
def prove_kernel_density(table, e):
    """Σ s K(‖x − p‖/h) over Σ s, h^d and the integral of K; V is the volume of a ball, V_d = 2π/d·V_(d−2)."""
    h, d, w, P = n(e.bandwidth), table.width, table.w, mat(e.points, None, table.width)
    need(h > 0 and 0 < d and P, "no bandwidth, column or point")
    a, b = vec(e.lower, len(P)), vec(e.upper, len(P))
    V = math.prod((2 * PI / i for i in range(2 + d % 2, d + 1, 2)), start=N(1 + d % 2))
    K, mass = {
        "gaussian": (lambda u: exp(-(u**2) / 2), lambda: ((2 * PI) ** d).sqrt()),
        "tophat": (lambda u: N(int(u < 1), int(not u >= 1)), lambda: V),
        "exponential": (lambda u: exp(-u), lambda: V * math.factorial(d)),
        "linear": (lambda u: (1 - u).max0(), lambda: V / (d + 1)),
        "epanechnikov": (lambda u: (1 - u**2).max0(), lambda: 2 * V / (d + 2)),
        "cosine": (lambda u: N(0) if u >= 1 else cos_quarter(least((u, N(1)))).max0(), lambda: d * V * cosine_integral(d - 1)),
    }[e.kernel]
    far = {"euclidean": length, "manhattan": total, "chebyshev": largest}[e.metric]
    scale = total(w) * mass() * h**d
    f = [total(s * K(far(apart(x, q)) / h) for s, x in zip(w, table.numbers())) / scale for q in P]
    need(all(u <= v.max0() and v <= t for u, v, t in zip(a, f, b)), "a density that is not between its bounds")
    wide = [1 - u / t for u, t in zip(a, b) if t > 0]
    return {"points": len(P), "kernel": e.kernel, "bandwidth": float(e.bandwidth), "width": up(largest([N(0), *wide]))}

def cosine_integral(m):
    """∫ r^m cos(πr/2) dr over [0, 1] by parts, twice: 2/π − m(m − 1)(2/π)² ∫ r^(m−2) cos(πr/2); for m = 1 the lower end adds −(2/π)²."""
    need(m < 30, "the cosine kernel in so many columns")
    a = 2 / PI
    return a if m == 0 else a - a**2 if m == 1 else a - a**2 * m * (m - 1) * cosine_integral(m - 2)

def prove_histogram(table, e):
    """A cell's height is the share of the rows in it over its volume; a row on an edge belongs above, on the last one below."""
    bins, flat, heights = [whole(b, 1) for b in e.bins], e.edges, vec(e.heights)
    need(len(flat) == sum(bins) + len(bins) and len(bins) == table.width, "one edge more than cells for each column")
    need(math.prod(bins) == len(heights) and vec(flat), "one height for each cell")
    ends = [0, *itertools.accumulate(b + 1 for b in bins)]
    edges = [flat[a:b] for a, b in zip(ends, ends[1:])]
    need(all(a < b for line in edges for a, b in zip(line, line[1:])), "edges that do not increase")
    counts, outside = {}, table.numbers() and 0
    for x, s in zip(table.X, table.w):
        at = [bisect.bisect_right(line, v) - 1 - (v == line[-1]) for v, line in zip(x, edges)]
        if all(0 <= k < b for k, b in zip(at, bins)):
            counts[tuple(at)] = counts.get(tuple(at), N(0)) + s
        else:
            outside += 1
    worst, S = [N(0)], total(table.w)
    for at, height in zip(itertools.product(*map(range, bins)), heights):
        if at not in counts or counts[at].zero():
            need(height.zero(), "a height where no row is")
            continue
        volume = math.prod((n(line[k + 1]) - n(line[k]) for k, line in zip(at, edges)), start=N(1))
        share = counts[at] / (S * volume)
        worst.append(abs(height - share) / share)
    need(largest(worst) <= 1e-9, "a height that is not the share of its rows")
    return {"cells": len(heights), "outside": outside, "error": up(largest(worst))}

def statistics(family, table, p):
    """(statistic of each row, its expectation, its standard deviation) of an exponential family, for rows that it can make."""
    X, d = table.numbers(), table.width
    if family == "multivariate_normal":
        mean, cov = vec(p.mean, d), mat(p.cov, d, d)
        need(p.cov == [list(c) for c in zip(*p.cov)], "a covariance that is not symmetric")
        T, sd = [[a - m for a, m in zip(x, mean)] for x in X], [cov[j][j].sqrt() for j in range(d)]
        need(all(cov[j][j] >= 0 for j in range(d)), "a negative variance")
        firsts = [([t[j] for t in T], N(0), sd[j]) for j in range(d)]
        return firsts + [([t[i] * t[j] for t in T], cov[i][j], sd[i] * sd[j]) for i in range(d) for j in range(i + 1)]
    need(d == 1, "a family of one column")
    x, raw = [v for (v,) in X], [v for (v,) in table.X]
    if family in ("normal", "lognormal"):
        m, sd = n(p.mean), n(p.sd)
        need(sd > 0, "no standard deviation")
        t = [(log(v) if family == "lognormal" else v) - m for v in x]
        return [(t, N(0), sd), ([v**2 for v in t], sd**2, sd**2)]
    if family == "gamma":
        k, scale = n(p["shape"]), n(p.scale)
        need(k > 0 < scale, "no shape or scale")
        return [(x, k * scale, k.sqrt() * scale), ([log(v) for v in x], digamma(k) + log(scale), N(1))]
    if family == "categorical":
        shares = vec(p.probabilities)
        need(least(shares) >= 0 and abs(total(shares) - 1) <= 1e-9, "these are no probabilities")
        codes = [whole(v, 0, len(shares)) for v in raw]
        return [([N(int(c == k)) for c in codes], q, N(1)) for k, q in enumerate(shares)]
    q = n(p.get("probability", 0.0))
    need(0 <= q <= 1, "no probability")
    ranges = {"poisson": (0, math.inf), "bernoulli": (0, 2), "geometric": (1, math.inf)}
    ranges["binomial"] = (0, whole(p.trials, 0) + 1) if family == "binomial" else None
    if family == "exponential":
        need(least(x) >= 0, "a negative number")
    else:
        [whole(v, *ranges[family]) for v in raw]
    mean = {
        "exponential": lambda: n(p.scale), "poisson": lambda: n(p.rate), "bernoulli": lambda: q,
        "binomial": lambda: q * whole(p.trials), "geometric": lambda: 1 / q,
    }[family]()
    need(mean >= 0, "a negative parameter")
    return [(x, mean, largest((mean, n(1e-300))))]

PARAMETERS = {
    "normal": "mean sd", "lognormal": "mean sd", "gamma": "scale shape", "exponential": "scale", "poisson": "rate",
    "bernoulli": "probability",
    "binomial": "probability trials", "geometric": "probability", "categorical": "probabilities", "multivariate_normal": "cov mean",
}

def prove_maximum_likelihood(table, e):
    """Every sufficient statistic has the mean that the family expects: the error is in standard deviations."""
    need(" ".join(sorted(e.parameters)) == PARAMETERS.get(e.family), "parameters that are not those of the family")
    S = total(table.w)
    errors = [
        abs(dot(table.w, values) / S - expected) / (sd if sd > 0 else 1)
        for values, expected, sd in statistics(e.family, table, e.parameters)
    ]
    need(largest(errors) <= 1e-9, "a statistic with another mean")
    return {"error": up(largest(errors))}

def prove_likelihood_equations(table, e):
    """Statistics and expected ones, which are given, have the same means over the rows, also times every column."""
    T, M, b, s = mat(e.statistics, table.rows), mat(e.expected, table.rows), vec(e.intercept), table.w
    C, k = mat(e.coef, len(b)), len(b)
    d = len(C[0])
    fit = all(len(row) == k for row in T + M) and all(len(c) == d for c in C) and d in (0, table.width)
    need(fit and k > 0 and largest(s) > 0, "statistics or coefficients that do not fit")
    X, worst = table.numbers() if d else [[]] * table.rows, [N(0)]
    for column in [*zip(*X), [N(1)] * table.rows]:
        for j in range(k):
            terms = [(m[j] - t[j]) * w * v for m, t, w, v in zip(M, T, s, column)]
            size = total(map(abs, terms))
            worst.append(N(0) if size.zero() else abs(total(terms)) / size)
    need(largest(worst) <= 1e-6, "equations that do not hold")
    first = {}
    for x, m in zip(table.X if d else X, M):
        like = first.setdefault(tuple(x), m)
        need(all(abs(u - v) <= ((1 + abs(v)) * 1e-12 if d else 0) for u, v in zip(m, like)), "equal rows that expect different things")
    eta = [[dot(c, x) + v for c, v in zip(C, b)] for x in X[:300]]
    for (p, m), (q, o) in itertools.combinations(zip(eta, M), 2) if d else ():
        size = total((abs(u) + abs(v)) * (abs(f) + abs(g)) for u, v, f, g in zip(p, q, m, o))
        need(total((u - v) * (f - g) for u, v, f, g in zip(p, q, m, o)) >= size * -1e-9, "what is expected falls as η grows")
    return {"statistics": k, "residual": up(largest(worst))}

# -- stationary points ------------------------------------------------------------------------------------------------
def probit(z):
    return normal_share(z), exp(-(z**2) / 2) / (2 * PI).sqrt()

LINKS = {  # the mean at a score, and its derivative
    "identity": lambda z: (z, N(1)),
    "log": lambda z: (exp(z), exp(z)),
    "logit": lambda z: (lambda m: (m, m - m * m))(sigmoid(z)),
    "probit": lambda z: probit(z) if z.lo == z.hi else [join(*v) for v in zip(*map(probit, z.ends()))],
    "cloglog": lambda z: (1 - exp(-exp(z)), exp(z - exp(z))),
    "inverse": lambda z: (1 / z, -1 / z**2),
    "inverse_squared": lambda z: (1 / z.sqrt(), N(-1, None, -1) / (z * z.sqrt())),
}

def family_of(p):
    """Variance at a mean, half the deviance, and which means and targets are possible."""
    k = 1 / n(p.dispersion) if p.family == "negative_binomial" else N(1)
    t = n(p.power) if p.family == "tweedie" else N(3, None, -1)
    need(p.family in ("negative_binomial", "tweedie") or (p.dispersion, p.power) == (1.0, 1.5), "a parameter that the family has not")
    need(k > 0 and (t < 0 or t > 1) and not (t - 2).zero(), "a parameter out of range")
    positive, any_ = (lambda v: v > 0), (lambda v: True)
    return {
        "gaussian": (lambda m: N(1), lambda y, m: (y - m) ** 2 / 2, any_, any_),
        "binomial": (lambda m: m - m * m, lambda y, m: divergence(y, m) + divergence(1 - y, 1 - m), checker.share, checker.share),
        "poisson": (lambda m: m, lambda y, m: divergence(y, m) - y + m, positive, checker.count),
        "gamma": (lambda m: m**2, lambda y, m: log(m / y) + y / m - 1, positive, positive),
        "inverse_gaussian": (lambda m: m**3, lambda y, m: (y - m) ** 2 / (2 * m**2 * y), positive, positive),
        "negative_binomial": (lambda m: m + m**2 / k, lambda y, m: divergence(y, m) - (y + k) * log((y + k) / (m + k)),
                              positive, checker.count),
        "tweedie": (lambda m: power(m, t), lambda y, m: power(y.max0(), 2 - t) / ((1 - t) * (2 - t)) - y * power(m, 1 - t) / (1 - t)
                    + power(m, 2 - t) / (2 - t), positive, lambda y: t < 0 or (y > 0 if t > 2 else y >= 0)),
    }[p.family]  # fmt: skip

def divergence(y, m):
    return N(0) if y.zero() else y * log(y / m)

def prove_stationary(table, e):
    """The likelihood equations: a partial derivative of Σ s L + ½Λ‖w‖² is at most `residual` times the sizes of its terms."""
    ((o, (y,), s, _),) = machines(table, e)
    w, b, s = vec(e.coef[0], table.width), n(e.intercept[0]), vec(s)
    need(len(e.coef) == len(e.intercept) == 1 and o.loss.name == "family" and o.padding is None, "one target of a family is needed")
    plain = o.regularizer.name == "none" or (o.regularizer.name == "l2" and o.regularizer.params == {"factor": 0.5, "prior": None})
    need(plain and (truth(o.fit_intercept) or b.zero()) and o.stated == "mean", "another penalty or offset")
    lam = n(o.strength) if o.regularizer.name == "l2" else N(0)
    need(lam >= 0 and total(s) > 0, "a negative strength, or no weight")
    p = o.loss.params
    (variance, deviance, mean_ok, target_ok), link = family_of(p), LINKS[p.link]
    terms, slopes = [], []
    for z, v, weight, shift in zip(table.products(w), vec(y), s, table.shift):
        m, slope = link(z + b + shift)
        need(mean_ok(m) and target_ok(v), "a mean or a target that the family has not")
        terms.append(weight * deviance(v, m))
        slopes.append(weight * (m - v) / variance(m) * slope)
    equations = [([r * x for r, x in zip(slopes, column)], lam * v) for column, v in zip(table.columns(), w)]
    equations += [(slopes, N(0))] * o.fit_intercept
    worst = [N(0)]
    for parts, pull in equations:
        size = total(map(abs, parts)) + abs(pull)
        worst.append(N(0) if size.zero() else abs(total(parts) + pull) / largest((size.ends()[0], n(1e-300))))
    need(largest(worst) <= 1.01e-6, "equations that do not hold")
    value = (total(terms) + lam * dot(w, w) / 2) / total(s)
    return {"value": near(value), "residual": up(largest(worst))}

def prove_evidence_maximum(table, e):
    """Σ ≈ H⁻¹ with H = λI + αXᵀX, and how level the log evidence is in α and λ at the posterior mean m = w − H⁻¹ρ, ρ = λw − αXᵀr.

    With ε = ‖ΣH − I‖ < 1, |tr Σ − tr H⁻¹| ≤ ε‖Σ‖/(1 − ε); as H ⪰ λI and H ⪰ αXᵀX, ‖m − w‖ ≤ ‖ρ‖/λ and ‖X(m − w)‖ ≤ ‖ρ‖/√(λα).
    """
    d, s, (y,), free = range(table.width), table.w, table.y, e.free
    w, sigma, alpha, lam, hyper = vec(e.coef, len(d)), mat(e.sigma, len(d), len(d)), n(e.alpha), n(e["lambda"]), vec(e.hyper, 4)
    need(sorted(set(free)) == sorted(free) and set(free) <= {"alpha", "lambda"}, "precisions that are none")
    need(alpha > 0 < lam and least(hyper) >= 0 and total(s) > 0, "precisions that are not positive")
    offset, b, columns, S = truth(e.fit_intercept), n(e.intercept), table.columns(), total(s)
    need(offset or b.zero(), "an offset where there is none")
    H, errors = scatter(s, columns), [v - z for z, v in zip(table.products(w), vec(y))]  # at the best offset, whatever b is
    left = [a * r for a, r in zip(s, errors)]
    slope, squares = [dot(c, left) for c in columns], dot(left, errors)
    if offset:  # about the means
        sums, over = [dot(s, c) for c in columns], total(left)
        H = [[H[i][j] - sums[i] * sums[j] / S for j in range(i + 1)] for i in d]
        slope, squares = [a - c * over / S for a, c in zip(slope, sums)], squares - over**2 / S
    H = [[alpha * H[max(i, j)][min(i, j)] + (lam if i == j else 0) for j in d] for i in d]
    off = frobenius([[dot(row, [h[j] for h in H]) - int(i == j) for j in d] for i, row in enumerate(sigma)])
    need(off <= 1e-5, "a covariance that does not invert λI + αXᵀX")
    trace = total(sigma[i][i] for i in d)
    gamma = len(d) - around(trace, frobenius(sigma) * off / (1 - off)) * lam
    rho = length([lam * a - alpha * g for a, g in zip(w, slope)])
    size, error = around(length(w), rho / lam).max0(), around(squares.max0().sqrt(), rho / (lam * alpha).sqrt()).max0()
    a1, a2, l1, l2 = hyper
    slopes = {"lambda": gamma + 2 * l1 - (size**2 + 2 * l2) * lam, "alpha": S - gamma + 2 * a1 - (error**2 + 2 * a2) * alpha}
    steepest = largest([N(0)] + [abs(slopes[name] / S) for name in free])
    need(steepest <= 1e-6, "an evidence that is not level")
    return {"sigma_error": up(off), "slope": up(steepest), "effective_parameters": near(len(d) - trace * lam, N(len(d)))}

def prove_conjugate_posterior(table, e):
    """The parameters are those of the prior and sums over the rows; errors as shares of their size."""
    k, prior, normal, x = table.rows, vec(e.prior), e.family.startswith("normal"), [v for (v,) in table.numbers()]
    S, Q = total(x), dot(x, x)
    need(not table.y and table.given is None and len(prior) > 1 and all(v > 0 for v in prior[normal:]), "a prior or data that are none")
    if not normal:  # counts, or categories
        [whole(v, 0, {"beta": 2, "dirichlet": len(prior)}.get(e.family, math.inf)) for (v,) in table.X]
    D, *right = {  # a common denominator D, then the parameters times D
        "beta": lambda a, b: [N(1), a + S, b + k - S],
        "gamma": lambda a, b: [N(1), a + S, b + k],
        "dirichlet": lambda *a: [N(1), *(v + sum((u - j).zero() for u in x) for j, v in enumerate(a))],
        "normal": lambda m, v, s: [s + v * k, m * s + v * S, v * s, s * (s + v * k)],
        "normal-inverse-gamma": lambda m, c, a, b: [c + k, c * m + S, (c + k) ** 2, (a + N(k) / 2) * (c + k),
                                                    (b * 2 + Q + c * m**2) * (c + k) / 2 - (c * m + S) ** 2 / 2],
    }[e.family](*prior)
    size = [largest(map(abs, [prior[0], *x])) * D if normal and not j else v for j, v in enumerate(right)]
    error = largest(abs(a * D - b) / (c if c > 0 else D * 2.0**-1000) for a, b, c in zip(vec(e.posterior, len(prior)), right, size))
    need(error <= 1e-9, "another posterior")
    return {"error": up(error), "observations": k}

# -- fits in one dimension, and scores on other rows ------------------------------------------------------------------
def prove_isotonic(table, e):
    """The best f never falls, and the sums λ so far of S − Wf are never negative, and zero where f rises and at the end."""
    need(table.width == 1 and len(table.y) == 1 and table.numbers() and vec(table.y[0]), "one column and one target are needed")
    sums, square = {}, Fraction(0)
    for (x,), y, w in zip(table.X, map(Fraction, table.y[0]), map(Fraction, table.weight)):
        W, S = sums.get(x, (0, 0))
        sums[x], square = (W + w, S + w * y), square + w * y * y
    scores = sorted(sums)
    v, groups = [ratio_of(a) for a in e["values"]], [sums[x] for x in scores]
    need(list(e.scores) == scores and len(v) == len(scores), "scores that are not those of the rows")
    need(all(a <= b for a, b in zip(v, v[1:])) and all(W > 0 for W, _ in groups), "values that fall, or a score without weight")
    blocks = []
    for W, S in groups:  # a block that is not above the one before it is pooled with it
        block = (S, W, 1)
        while blocks and blocks[-1][0] * block[1] >= block[0] * blocks[-1][1]:
            block = tuple(a + b for a, b in zip(blocks.pop(), block))
        blocks.append(block)
    f = [S / W for S, W, count in blocks for _ in range(count)]
    debt = list(itertools.accumulate(S - W * a for (W, S), a in zip(groups, f)))
    rises = [a < b for a, b in zip(f, f[1:])] + [True]
    right = all(a <= b for a, b in zip(f, f[1:])) and all(v == 0 or (v > 0 and not rise) for v, rise in zip(debt, rises))
    need(right, "pooling that went wrong")
    mass = sum(W for W, _ in groups)
    gap = sum(W * (a * a - b * b) - 2 * S * (a - b) for (W, S), a, b in zip(groups, v, f)) / mass
    value = (square + sum(W * a * a - 2 * S * a for (W, S), a in zip(groups, v))) / mass
    return {"value": near(ratio(value)), "gap": up(ratio(gap)), "relative_gap": up(ratio(gap / value if value > 0 else gap))}

def ratio_of(v):
    n(v)
    return Fraction(v)

def tail(k, m, p, ways):
    """P(at least k of m successes of probability p), 0 < p ≤ k/m, from the number of ways to choose k: where a term is at most half of the
    one before, so are all later ones, and together they are at most that term."""
    p = p * N((1 << 200) - 1, (1 << 200) + 1, -200)  # an interval, so that powers are rounded
    odds, term = p / (1 - p), ways * p**k * (1 - p) ** (m - k)
    sum_ = term
    for i in range(k, m):
        step = odds * (m - i) / (i + 1)
        term = term * step
        sum_ = sum_ + term
        if step < 0.5 and term < sum_ * N(1, None, -150):
            return sum_ + join(N(0), term)
    return sum_

def share_below(k, m, half):
    """A share p, to 60 places, at which k or more of m have a chance of at most `half`; the chance grows with p."""
    p, ways = N(0), N(math.comb(m, k))
    for bit in range(1, 61) if k > 0 else ():
        more = p + N(1, None, -bit)
        if more * m <= k and more < 1 and tail(k, m, more, ways) <= half:
            p = more
    return p

def prove_hold_out(table, e):
    """Mistakes of the stated predictions, and the shares that would make so many, or so few, too rare (Clopper and Pearson)."""
    (y,), level, m = table.y, n(e.level), table.rows
    need(0 < level < 1 and table.given is None and len(e.predictions) == m <= 10**6, "no level or predictions, or weights")
    k, half = sum(key(a) != key(b) for a, b in zip(e.predictions, y)), (1 - level) / 2
    found = {"mistakes": k, "error_rate": near(N(k) / m), "level": float(e.level)}
    return {**found, "low": low(share_below(k, m, half)), "high": up(1 - share_below(m - k, m, half))}

def cosine_part(m, t, degrees):
    """∫ cos^m from 0 to arctan(t/√ν), by parts: I_m = cos^(m−1) sin/m + (m − 1)/m I_(m−2), I₁ = sin, I₀ the angle; and from 0 to π/2."""
    cos, sin = (degrees / (degrees + t**2)).sqrt(), t / (degrees + t**2).sqrt()
    part, full = (sin, N(1)) if m % 2 else (arctan(t / N(degrees).sqrt()), PI / 2)
    top = cos ** (1 + m % 2) * sin  # cos^(k−1) sin
    for k in range(2 + m % 2, m + 1, 2):
        part, full, top = top / k + part * (k - 1) / k, full * (k - 1) / k, top * cos**2
    return part / full

def student(level, degrees):
    """t with P(|T| ≤ t) = level: with t = √ν tan θ the density of Student's distribution is a constant times cos^(ν−1)θ dθ."""
    down, high = N(0), N(1)
    while not cosine_part(degrees - 1, high, degrees) >= level:
        need(high < 2.0**100, "a level too near one")
        down, high = high, high * 2
    for _ in range(60):
        middle = (down + high) * N(1, None, -1)
        inside = cosine_part(degrees - 1, middle, degrees)
        if inside <= level:
            down = middle
        elif inside >= level:
            high = middle
        else:
            break
    return join(down, high)

def fold_score(metric, y, p, w):
    S = total(w)
    if metric == "accuracy":
        return total(a for a, t, q in zip(w, y, p) if key(t) == key(q)) / S
    off = [a - b for a, b in zip(vec(y), vec(p))]
    if metric == "neg_mean_absolute_error":
        return -dot(w, [abs(v) for v in off]) / S
    left = total(a * v**2 for a, v in zip(w, off))
    if metric == "neg_mean_squared_error":
        return -left / S
    need(metric == "r2", "a score that this checker does not know")
    mean = dot(w, vec(y)) / S
    around_mean = total(a * (n(t) - mean) ** 2 for a, t in zip(w, y))
    if len({t for a, t in zip(w, y) if a > 0}) == 1:  # a fold of equal values
        return N(int(left.zero()))
    return 1 - left / around_mean

def prove_cross_validation(table, e):
    """The scores of the stated predictions fold by fold, and mean ± t·s·√(1/J + n_test/n_train) (Nadeau and Bengio)."""
    (y,), rows, sizes = table.y, table.at(e.test), [whole(v, 1) for v in e.sizes]
    trains, level, J = [whole(v, 1) for v in e.train_sizes], n(e.level), len(e.sizes)
    need(0 < level < 1 and 2 <= J == len(trains) <= 10000 and sum(sizes) == len(rows) == len(e.predictions), "folds that do not fit")
    need(all(a + b <= table.rows for a, b in zip(sizes, trains)), "more rows than there are")
    scores, ends = [], [0, *itertools.accumulate(sizes)]
    for a, b in zip(ends, ends[1:]):
        need(len(set(rows[a:b])) == b - a, "a row that a fold tests twice")
        scores.append(fold_score(e.metric, [y[i] for i in rows[a:b]], e.predictions[a:b], [table.w[i] for i in rows[a:b]]))
    mean = total(scores) / J
    variance = total((v - mean) ** 2 for v in scores) / (J - 1)
    error = ((N(1) / J + total(N(a) / b for a, b in zip(sizes, trains)) / J) * variance).sqrt()
    reach, size = student(level, J - 1) * error, largest(map(abs, scores))
    found = {"mean": near(mean, size), "standard_error": near(error, size), "folds": J, "level": float(e.level)}
    size = largest((size, reach))
    return {**found, "low": near(mean - reach, size), "high": near(mean + reach, size)}

def prove_training_errors(table, e):
    """Rows whose own class has not the largest score w·x + b; a tie goes to the class that sorts first."""
    names, W, b, s = table.names(), mat(e.coef), vec(e.intercept), table.w
    need(len(W) == len(b) == (1 if len(names) == 2 else len(names)), "one line of weights for two classes, and one a class for more")
    Z = [[N(0)] * table.rows] * (len(W) == 1) + [[z + v for z in table.products(w)] for w, v in zip(W, b)]
    ahead = lambda i, c: any(z[i] > Z[c][i] or (k < c and z[i] >= Z[c][i]) for k, z in enumerate(Z))
    wrong = [int(ahead(i, c)) for i, c in enumerate(table.codes(names))]
    return {"value": sum(wrong), "error_rate": near(dot(s, vec(wrong)) / total(s))}

# -- networks ---------------------------------------------------------------------------------------------------------
def layers(e, width, name):
    """Weights of every unit and offsets, layer by layer."""
    for i in range(whole(e.layers, 1, 1001)):
        b = vec(e["intercept_%d" % i])
        W = mat(e["%s_%d" % (name, i)], width, len(b))
        need(b, "a layer without units")
        width = len(b)
        yield list(zip(*W)), b

def through(net, a, unit):
    return functools.reduce(lambda a, layer: [unit(dot(line, a) + v) for line, v in zip(*layer)], net, a)

def prove_truth_table(table, e):
    """Threshold units 1[xW + b > 0], layer by layer, on all inputs of 0 and 1."""
    d = table.width
    net, every = [*layers(e, d, "weights")], len({tuple(x) for x in table.X}) == table.rows == 2**d
    need(d < 17 and every and {v for x in table.X for v in x} <= {0.0, 1.0}, "these are not all inputs")
    for x, y in zip(table.numbers(), zip(*table.y)):
        need([v.lo for v in through(net, x, lambda z: N(int(z > 0)))] == [*y], "a row that the network gets wrong")
    return {"inputs": d, "units": sum(len(b) for _, b in net), "right": table.rows}

UNITS = {  # what a unit makes of its sum; the slope, from the sum and that
    "identity": (lambda z: z, lambda z, a: N(1)),
    "relu": (N.max0, lambda z, a: N(int(z > 0), int(not z < 0))),
    "tanh": (lambda z: 2 * sigmoid(2 * z) - 1, lambda z, a: 1 - a**2),
    "logistic": (sigmoid, lambda z, a: a - a * a),
}

def prove_network_radius(table, e):
    """The label's score stays ahead in the box: an interval holds whatever a layer makes of its numbers."""
    *net, (W, b) = layers(e, table.width, "coef")
    (unit, _), radii, found = UNITS[e.activation], vec(e.radii, table.rows), [N(0)]
    W, b = ([[N(0)] * len(W[0]), W[0]], [N(0), b[0]]) if len(W) == 1 else (W, b)  # one score is compared with zero
    need(len(e.codes) == table.rows and all(r >= 0 for r in radii), "codes that do not fit, or a negative radius")
    for x, r, code in zip(table.numbers(), radii, e.codes):
        c = whole(code, 0, len(b))
        if not r.zero():
            a, found = through(net, [around(v, r) for v in x], unit), [*found, r]
            ahead = [dot([p - q for p, q in zip(W[c], W[k])], a) + b[c] - b[k] for k in range(len(b)) if k != c]
            need(all(v > 0 for v in ahead), "a label may change")
    return {"certain": low(N(len(found) - 1)), "least": low(least(found[1:] or found))}

TASKS = {  # the loss of a row's scores, and its derivatives
    "regression": lambda z, y: (total((a - b) ** 2 for a, b in zip(z, y)) / 2, [a - b for a, b in zip(z, y)]),
    "labels": lambda z, y: (total(softplus(a * (1 - 2 * b)) for a, b in zip(z, y)), [sigmoid(a) - b for a, b in zip(z, y)]),
    "counts": lambda z, y: (total(exp(a) - a * b + plogp(b) - b for a, b in zip(z, y)), [exp(a) - b for a, b in zip(z, y)]),
    "classes": checker.class_loss,
}

def prove_network_gradient(table, e):
    """The mean of Σ s L + ½α Σ W², and the norm of its gradient, by the chain rule from the last layer to the first."""
    net, (unit, slope), alpha, s = [*layers(e, table.width, "coef")], UNITS[e.activation], n(e.alpha), table.w
    need(alpha >= 0 and total(s) > 0 and table.y, "a negative alpha, no weight, or no target")
    outputs = len(net[-1][1])
    if e.task == "classes":
        names = table.names()
        targets = [names.index(key(v)) for v in table.y[0]]
        need(outputs == (1 if len(names) <= 2 else len(names)), "outputs that do not fit the classes")
    else:
        targets = [vec(y, outputs) for y in zip(*table.y)]
        possible = {"labels": lambda v: v.zero() or (v - 1).zero(), "counts": lambda v: v >= 0}.get(e.task, lambda v: True)
        need(all(possible(v) for y in targets for v in y), "a target that the task is not for")
    slopes = [[[alpha * w for w in line] + [N(0)] for line in W] for W, _ in net]  # the last is that of the offset
    losses = []
    for x, y, weight in zip(table.numbers(), targets, s):
        values, sums = [x], []
        for i, (W, b) in enumerate(net):
            sums.append([dot(line, values[-1]) + v for line, v in zip(W, b)])
            values.append([unit(z) for z in sums[-1]] if i + 1 < len(net) else sums[-1])
        loss, delta = TASKS[e.task](sums[-1], y)
        losses.append(weight * loss)
        delta = [weight * v for v in delta]
        for i in reversed(range(len(net))):
            for line, v in zip(slopes[i], delta):
                line[:] = [g + v * a for g, a in zip(line, [*values[i], N(1)])]
            if i:
                back = [total(v * line[j] for v, line in zip(delta, net[i][0])) for j in range(len(values[i]))]
                delta = [v * slope(z, a) for v, z, a in zip(back, sums[i - 1], values[i])]
    S, decay = total(s), alpha * total(w**2 for W, _ in net for line in W for w in line) / 2
    value, norm = (total(losses) + decay) / S, total(g**2 for layer in slopes for line in layer for g in line).sqrt() / S
    return {"value": near(value), "gradient": up(norm), "parameters": sum(len(line) + 1 for W, _ in net for line in W)}

# -- plans ------------------------------------------------------------------------------------------------------------
def bellman(table, e):
    """V ↦ r + γPV for the best actions or given ones; a row of X is a state and the chances of the next, divided by their sum."""
    m, gamma, P = table.width - 1, n(e.discount), [(row[1:], total(row[1:])) for row in table.numbers()]
    state = [whole(x[0], 0, m) for x in table.X]
    need(state == sorted(state) and len(set(state)) == m, "a state without rows")
    shares = all(least(p) >= 0 and abs(S - 1) <= N(2 * m + 4, None, -52) for p, S in P)
    need(shares and 0 <= gamma <= 1, "no probabilities, or no discount")
    (rewards,) = table.y

    def step(V, rows=None):
        Q = [n(r) + gamma * dot(p, V) / S for r, (p, S) in zip(rewards, P)]
        if rows is None:
            return [largest(q for q, at in zip(Q, state) if at == k) for k in range(m)]
        rows = table.at(rows)
        need([state[r] for r in rows] == list(range(m)), "an action of another state")
        return [Q[r] for r in rows]

    return {"states": m, "discount": float(e.discount)}, gamma, step

def prove_policy(table, e):
    """a ≤ TV − V ≤ b: the best values are in TV + [a, b]γ/(1 − γ), those of the policy likewise by its own operator."""
    found, gamma, step = bellman(table, e)
    V, U = vec(e["values"]), vec(e.policy_values)
    TV, TU = step(V), step(U, e.policy)
    need(gamma < 1, "an endless horizon needs a discount below 1")
    factor, change = gamma / (1 - gamma), [a - b for a, b in zip(TV, V)]
    loss = largest(a - b for a, b in zip(TV, TU)) + (largest(change) - least(a - b for a, b in zip(TU, U))) * factor
    return {**found, "loss": up(loss.max0()), "width": up(((largest(change) - least(change)) * factor).max0())}

def prove_finite_horizon(table, e):
    """Backward induction, for the best actions and for the given ones."""
    found, _, step = bellman(table, e)
    V = U = vec(e.terminal)
    need(len(e.policy) == whole(e.horizon, 1), "another number of steps")
    for rows in reversed(e.policy):
        V, U = step(V), step(U, rows)
    return {**found, "horizon": len(e.policy), "loss": up(largest(a - b for a, b in zip(V, U)).max0())}

# -- labels on graphs -------------------------------------------------------------------------------------------------
TINY = 1e-290  # weights below count as zero

def graph(table, e):
    """{row: weight} of the edges from each row: e^(−γ‖x − z‖²); 1 to the nearest rows; or given weights."""
    m = range(table.rows)
    need(e.graph in ("rbf", "knn", "given") and len(m) <= 2000, "an unknown graph, or one of over 2000 rows")
    if e.graph == "rbf":
        K = gram(table, Record(kernel=["rbf", e.gamma]), m, 1)
        W = [{j: v for j, v in zip(m, K[i]) if j != i and not v < TINY} for i in m]
    elif e.graph == "given" and "weights" in e:
        W = [{j: v for j, v in enumerate(row) if j != i and not v.zero()} for i, row in enumerate(mat(e.weights, len(m), len(m)))]
    elif e.graph == "given":
        W, ends = [{} for _ in m], [*zip(table.at(e.rows), table.at(e.columns))]
        need(len(ends) == len(set(ends)) == len(e.entries) and all(i != j for i, j in ends), "an edge given twice, or to itself")
        for (i, j), v in zip(ends, vec(e.entries)):
            W[i].update({} if v.zero() else {j: v})
    else:
        return neighbour_graph(table, e)
    need(all(v >= TINY for row in W for v in row.values()), "a weight that may count as zero, or is negative")
    return W

def neighbour_graph(table, e):
    lists, m = [table.at(row) for row in e.neighbors], range(table.rows)
    k = len(lists[0])
    need(len(lists) == len(m), "lists that do not fit")
    for row, (order, *_) in zip(lists, nearest(table, Record(metric="euclidean", own=m), table.X)):  # of equally far rows any may be listed
        need(len(row) == len(set(row)) == k > 0 and set(row) <= {j for d, j in order if d <= order[k - 1][0]}, "others are nearer")
    return [dict.fromkeys(row, N(1)) for row in lists]

def prove_harmonic_labels(table, e):
    """BG = R on the rows solved for, B = diag(δ) − αW. A w ≥ 0 with Bw > 0 shows that B⁻¹ ≥ 0, so |G̃ − G| ≤ w·max |BG̃ − R|/(Bw)."""
    m, spread, (y,) = range(table.rows), ["propagation", "spreading"].index(e.variant), [[*map(key, column)] for column in table.y]
    names, alpha, known = sorted({*y} - {-1.0}), n(e.alpha) if spread else N(1), {i for i in m if y[i] != -1.0}
    classes, stated, W = range(len(names)), mat(e.scores, len(m), len(names)), graph(table, e)
    reached, more = set(), {*known}
    while more:  # edges lead to a label
        reached |= more
        more = {i for i in m if i not in reached and not reached.isdisjoint(W[i])}
    need(0 < alpha < 2 - spread and [*map(whole, e.unreached)] == sorted({*m} - reached), "α is not between 0 and 1, or others are reached")
    solved = {*m} if spread else reached - known
    need(all(v >= 0 for v in vec(e.w, len(m))), "a negative w")
    w = [v if i in solved else N(0) for i, v in enumerate(vec(e.w))]
    if spread:
        delta = [total([row[i] for row in W if i in row] or [N(1)]) for i in m]
    else:
        delta = [total(a for j, a in W[i].items() if j in reached) for i in m]
    Y, root = [[N(int(v == c)) for c in names] for v in y], [d.sqrt() for d in delta]
    G = [(stated if i in solved else Y)[i] for i in m]

    def B(v):
        return {i: delta[i] * v[i] - alpha * total(a * v[j] for j, a in W[i].items()) for i in solved}

    slack = B(w)
    need(all(v > 0 for v in slack.values()), "Bw is not surely positive")
    R = [{i: (1 - alpha) * root[i] * Y[i][c] for i in solved} for c in classes]
    BG = [B([g[c] for g in G]) for c in classes]
    t = [largest([N(0)] + [abs(BG[c][i] - R[c][i]) / slack[i] for i in solved]) for c in classes]  # |G̃ − G| ≤ tw

    def sure(i):
        return any(all(G[i][c] - t[c] * w[i] > G[i][k] + t[k] * w[i] for k in classes if k != c) for c in classes)

    off = largest(t) * largest(a * b if spread else a for a, b in zip(w, root))
    certain = sum(i not in solved or sure(i) for i in reached)
    return {"labelled": len(known), "unreached": len(m) - len(reached), "certain": low(N(certain)), "error": up(off)}

# -- clusters ---------------------------------------------------------------------------------------------------------
def prove_clustering(table, e):
    """Φ = Σ s‖x − c‖²; what nearest centres, means, or one row elsewhere could gain; a bound for k parts."""
    X, s, C, k = table.numbers(), table.w, mat(e.centres, None, table.width), range(len(e.centres))
    label, D = [whole(c, 0, len(C)) for c in e.labels], [[away(x, c) for c in C] for x in X]
    need(C and len(label) == table.rows and e.method in ("none", "closed form"), "labels that do not fit, or an unknown bound")
    own = list(zip(s, D, label))
    parts = [[i for i, c in enumerate(label) if c == b and not s[i].zero()] for b in k]
    W = [total(s[i] for i in part) for part in parts]
    M = [[total(s[i] * X[i][j] for i in part) / W[c] for j in range(table.width)] if part else C[c] for c, part in enumerate(parts)]
    value, far, moves = total(a * d[c] for a, d, c in own), [[away(x, m) for m in M] for x in X], [N(0)]
    for c, i in ((c, i) for c, part in enumerate(parts) if len(part) > 1 for i in part):  # out of its cluster, and into another
        moves += [s[i] * (W[c] / (W[c] - s[i]) * far[i][c] - W[b] / (W[b] + s[i]) * far[i][b]).max0() for b in k if b != c]
    try:
        used = [v for v in zip(X, s, label, far) if v[1] > 0]  # a row without weight costs nothing anywhere
        bound = N(0) if e.method == "none" else relaxed(*zip(*used), W, n(e.t), n(e.shift)).max0()
    except checker.Refused:
        bound = N(0)  # then nothing is known
    found = {
        "clusters": len(C), "value": up(value), "bound": low(bound), "gap": up((value - bound).max0()), "bound_method": e.method,
        "reassignment_gain": up(total(a * largest(d[c] - v for v in d) for a, d, c in own)),
        "move_gain": up(largest(moves)), "centre_gain": up(total(pull(s, X, part, c) for part, c in zip(parts, C) if part)),
    }
    return {**found, "excess": up((value - bound).max0() / bound)} if bound > 0 else found

def relaxed(X, s, label, far, W, t, shift):
    """Σ y√s + k(t − shift), if ½√s√s'‖x − x'‖² − P − ½(y√s' + √s y') − (t − shift)I is positive definite and P ≥ 0; any such y, P do."""
    k, q, u = range(len(W)), [v.sqrt() for v in s], t - shift
    need(all(v > 0 for v in W), "a cluster without weight")
    y = [(q[i] * (far[i][c] - t / W[c])).ends()[0] for i, c in enumerate(label)]
    R = [[q[i] * (W[b] * (far[i][b] - far[i][c]) + t * (W[b] / W[c] + 1)).max0() / 2 for b in k] for i, c in enumerate(label)]
    mass = [[total(q[i] * R[i][b] for i, c in enumerate(label) if c == a) for b in k] for a in k]
    most = [[largest([mass[a][b], mass[b][a]]) for b in k] for a in k]

    def P(i, j, a, b):
        return (R[i][b] * R[j][a] / most[a][b]).ends()[0] if a != b and most[a][b] > 0 else N(0)

    def S(i, j):
        return q[i] * q[j] * away(X[i], X[j]) / 2 - P(i, j, label[i], label[j]) - (y[i] * q[j] + q[i] * y[j]) / 2

    Cholesky([[S(i, j) - (u if i == j else 0) for j in range(i + 1)] for i in range(len(X))])
    return dot(y, q) + u * len(W)

checker.KINDS.update({name[6:].replace("_", "-"): f for name, f in sorted(globals().items()) if name.startswith("prove_")})
checker.ASSUMED.update({
    "likelihood-equations": "the statistics and the expected ones, which are given, are those of the family",
    "hold-out": "the predictions, which are given, are those of a model chosen without these rows, which are independent draws",
    "cross-validation": "the predictions, which are given, are those of models fitted without their rows, which are independent draws",
})  # fmt: skip
if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")
    sys.exit(checker.main(sys.argv[1:]))
