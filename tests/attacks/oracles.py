"""Judges of the kinds that the checker does not know: exact rationals where there are only sums, else fifty digits.

Importing this module adds them to `JUDGES`. A judge has no opinion (None) about what is too large to recompute.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import scipy.stats

from certifit.certificates import Certificate
from tests.attacks.judges import Verdict, distance, exact, judge, weights_of

HUGE = 1e100  # sizes beyond which a judge leaves the answer to the proof


def _tame(*parts: Any) -> bool:
    return all(np.max(np.abs(np.asarray(p, dtype=float)), initial=0.0) < HUGE for p in parts)


# -- plans ------------------------------------------------------------------------------------------------------------
def _rows_of(X: Any) -> tuple[list[int], list[list[Fraction]], list[list[int]]]:
    """State and next probabilities of every row, and the rows of every state."""
    table = exact(X)
    state = [int(row[0]) for row in table]
    shares = [[p / sum(row[1:]) for p in row[1:]] for row in table]
    return state, shares, [[i for i, s in enumerate(state) if s == k] for k in range(len(table[0]) - 1)]


def _values(rows: Any, shares: Any, rewards: Any, gamma: Fraction) -> list[Fraction]:
    """The values of a policy: (I − γP)V = r by elimination."""
    m = len(rows)
    A = [[Fraction(i == j) - gamma * shares[r][j] for j in range(m)] + [rewards[r]] for i, r in enumerate(rows)]
    for k in range(m):
        pivot = next(i for i in range(k, m) if A[i][k] != 0)
        A[k], A[pivot] = A[pivot], A[k]
        A[k] = [v / A[k][k] for v in A[k]]
        for i in range(m):
            if i != k:
                A[i] = [a - A[i][k] * b for a, b in zip(A[i], A[k])]
    return [row[-1] for row in A]


@judge("policy")
def policy(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    _, shares, choices = _rows_of(X)
    if math.prod(map(len, choices)) > 500:
        return None
    rewards, gamma = exact(y), Fraction(float(c.evidence["discount"]))
    every = [_values(rows, shares, rewards, gamma) for rows in itertools.product(*choices)]
    best = [max(column) for column in zip(*every)]
    mine = _values([int(r) for r in np.ravel(c.evidence["policy"])], shares, rewards, gamma)
    lost = max(a - b for a, b in zip(best, mine))
    return None if lost <= Fraction(c.loss) else f"it loses {float(lost)}"


@judge("finite-horizon")
def finite_horizon(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    _, shares, choices = _rows_of(X)
    rewards, gamma = exact(y), Fraction(float(c.evidence["discount"]))

    def value(r: int, V: list[Fraction]) -> Fraction:
        return rewards[r] + gamma * sum(p * v for p, v in zip(shares[r], V))

    best = mine = exact(c.evidence["terminal"])
    steps = np.asarray(c.evidence["policy"]).astype(int).tolist()
    for rows in reversed(steps):
        best = [max(value(r, best) for r in some) for some in choices]
        mine = [value(r, mine) for r in rows]
    lost = max(a - b for a, b in zip(best, mine))
    return None if lost <= Fraction(c.loss) and len(steps) == c.horizon else f"it loses {float(lost)}"


# -- labels on graphs -------------------------------------------------------------------------------------------------
def _graph(e: Any, X: Any) -> Any:
    n = len(X)
    W = mp.zeros(n)
    if e["graph"] == "rbf":
        for i, j in itertools.permutations(range(n), 2):
            far = mp.fsum((mp.mpf(float(a)) - mp.mpf(float(b))) ** 2 for a, b in zip(X[i], X[j]))
            weight = mp.exp(-mp.mpf(float(e["gamma"])) * far)
            W[i, j] = weight if weight >= 1e-290 else 0
        return W
    if e["graph"] == "knn":
        table = exact(X)
        for i, listed in enumerate(np.asarray(e["neighbors"]).astype(int).tolist()):
            far = [sum((a - b) ** 2 for a, b in zip(table[i], x)) for x in table]
            if max(far[j] for j in listed) > min((far[j] for j in range(n) if j not in [i, *listed]), default=math.inf):
                return None
            for j in listed:
                W[i, j] = 1
        return W
    if "weights" not in e:
        for i, j, v in zip(e["rows"], e["columns"], e["entries"]):
            W[int(i), int(j)] = mp.mpf(float(v))
        return W
    return mp.matrix([[0.0 if i == j else float(v) for j, v in enumerate(r)] for i, r in enumerate(e["weights"])])


@judge("harmonic-labels")
def harmonic(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    e, n = c.evidence, len(y)
    W = _graph(e, X)
    if W is None:
        return "these are not the nearest rows"
    known = [i for i in range(n) if y[i] != -1]
    names = sorted({y[i] for i in known})
    Y = mp.matrix([[float(i in known and y[i] == name) for name in names] for i in range(n)])
    scores = np.asarray(e["scores"], dtype=float)
    with mp.workdps(50):
        if e["variant"] == "spreading":
            alpha, rows = mp.mpf(float(e["alpha"])), list(range(n))
            sums = [mp.fsum(W[i, j] for i in rows) or mp.mpf(1) for j in rows]
            B = mp.matrix(n)
            for i, j in itertools.product(rows, rows):
                B[i, j] = (1 if i == j else 0) - alpha * W[i, j] / mp.sqrt(sums[i] * sums[j])
            F = [mp.lu_solve(B, (1 - alpha) * Y[:, k]) for k in range(len(names))]
            stated = [[mp.sqrt(sums[i]) * mp.mpf(v) for v in scores[i]] for i in rows]
        else:
            reached = set(known)
            while more := {i for i in range(n) if any(W[i, j] > 0 for j in reached)} - reached:
                reached |= more
            rows = sorted(reached - set(known))
            B = mp.matrix(max(len(rows), 1))
            for a, i in enumerate(rows):
                for b, j in enumerate(rows):
                    B[a, b] = (mp.fsum(W[i, k] for k in reached) if i == j else 0) - W[i, j]
            R = [[mp.fsum(W[i, j] * Y[j, k] for j in known) for i in rows] for k in range(len(names))]
            F = [mp.lu_solve(B, mp.matrix(r)) if rows else [] for r in R]
            stated = [[mp.mpf(v) for v in scores[i]] for i in rows]
        off = max((abs(F[k][a] - stated[a][k]) for a in range(len(rows)) for k in range(len(names))), default=0)
        same = sum(
            int(np.argmax([F[k][a] for k in range(len(names))])) == int(np.argmax(stated[a])) for a in range(len(rows))
        )
    certain = same + (0 if e["variant"] == "spreading" else len(known))
    return None if off <= c.error and c.certain <= certain else f"off by {float(off)}, {certain} labels"


# -- densities --------------------------------------------------------------------------------------------------------
def _shape(kernel: str, u: Any) -> Any:
    if kernel in ("gaussian", "exponential"):
        return mp.exp(-u * u / 2) if kernel == "gaussian" else mp.exp(-u)
    inside = {"tophat": 1, "epanechnikov": 1 - u * u, "linear": 1 - u, "cosine": mp.cos(mp.pi * u / 2)}
    return inside[kernel] if u < 1 else mp.mpf(0)


@judge("kernel-density")
def kernel_density(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    e, d = c.evidence, X.shape[1]
    s = [mp.mpf(1)] * len(X) if w is None else [mp.mpf(float(v)) for v in w]
    with mp.workdps(50):
        h, kernel = mp.mpf(float(e["bandwidth"])), str(e["kernel"])
        surface = 2 * mp.pi ** (mp.mpf(d) / 2) / mp.gamma(mp.mpf(d) / 2)
        end = mp.inf if kernel in ("gaussian", "exponential") else 1
        whole = surface * mp.quad(lambda r: _shape(kernel, r * (1 - mp.mpf(10) ** -45)) * r ** (d - 1), [0, end])
        for x, low, high in zip(np.atleast_2d(e["points"]), np.ravel(e["lower"]), np.ravel(e["upper"])):
            terms = []
            for row, weight in zip(X, s):
                gaps = [abs(mp.mpf(float(a)) - mp.mpf(float(b))) for a, b in zip(x, row)]
                norms = {
                    "euclidean": mp.sqrt(mp.fsum(g * g for g in gaps)),
                    "manhattan": mp.fsum(gaps),
                    "chebyshev": max(gaps),
                }
                terms.append(weight * _shape(kernel, norms[e["metric"]] / h))
            f = mp.fsum(terms) / (mp.fsum(s) * whole * h**d)
            room = f * mp.mpf(10) ** -25
            if not (low <= f + room and f - room <= high) or (high > 0 and (high - low) / high > c.width * (1 + 1e-12)):
                return f"the density is {mp.nstr(f, 20)}, not in [{low!r}, {high!r}]"
    return None


@judge("histogram")
def histogram(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    flat, bins = exact(c.evidence["edges"]), [int(b) for b in np.ravel(c.evidence["bins"])]
    ends = np.cumsum([0, *(b + 1 for b in bins)])
    edges = [flat[a:b] for a, b in itertools.pairwise(ends)]
    s, counts, outside = weights_of(w, len(X)), dict.fromkeys(itertools.product(*map(range, bins)), Fraction(0)), 0
    for x, weight in zip(exact(X), s):
        at = []
        for v, g in zip(x, edges):
            cells = [k for k in range(len(g) - 1) if g[k] <= v < g[k + 1] or (v == g[-1] and k == len(g) - 2)]
            at += cells
        if len(at) < len(bins):
            outside += 1
        else:
            counts[tuple(at)] += weight
    for (at, count), height in zip(counts.items(), exact(np.ravel(c.evidence["heights"]))):
        want = count / sum(s) / math.prod(g[k + 1] - g[k] for k, g in zip(at, edges))
        if abs(height - want) > want * (Fraction(c.error) if "error" in c.figures else Fraction(1, 10**11)):
            return f"cell {at}: {float(want)} expected"
    return None if outside == c.outside and len(counts) == c.cells else "rows or cells are miscounted"


# -- networks ---------------------------------------------------------------------------------------------------------
@judge("truth-table")
def truth_table(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    e, wanted = c.evidence, np.asarray(y).reshape(len(X), -1).tolist()
    if {tuple(row) for row in X.tolist()} != set(itertools.product((0.0, 1.0), repeat=X.shape[1])) or len(
        X
    ) != 2 ** X.shape[1]:
        return "these are not all inputs"
    for row, want in zip(exact(X), wanted):
        a = row
        for k in range(int(e["layers"])):
            W, b = exact(e[f"weights_{k}"]), exact(e[f"intercept_{k}"])
            a = [Fraction(sum(v * r[j] for v, r in zip(a, W)) + b[j] > 0) for j in range(len(b))]
        if [float(v) for v in a] != want:
            return f"{row} gives {a}"
    return None


def _activate(name: str, z: Any) -> Any:
    if name == "relu":
        return np.maximum(z, 0.0)
    return {"identity": lambda: z, "tanh": lambda: np.tanh(z), "logistic": lambda: 1.0 / (1.0 + np.exp(-z))}[name]()


def _layers(e: Any) -> list[tuple[Any, Any]]:
    return [
        (np.asarray(e[f"coef_{k}"], float), np.asarray(e[f"intercept_{k}"], float)) for k in range(int(e["layers"]))
    ]


@judge("network-radius")
def network_radius(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    e, layers, rng = c.evidence, _layers(c.evidence), np.random.default_rng(0)
    radii, codes = np.asarray(e["radii"], dtype=float), np.asarray(e["codes"])
    if not _tame(X, radii, *(part for layer in layers for part in layer)):
        return None
    if int((radii > 0).sum()) < c.certain or (c.certain and radii[radii > 0].min() < c.least):
        return "the radii are miscounted"
    for x, r, code in zip(X, radii, codes):
        corners = np.array(list(itertools.product((-1.0, 1.0), repeat=len(x))))
        a = x + r * np.vstack([corners, rng.uniform(-1, 1, (64, len(x)))]) if r > 0 else np.zeros((0, len(x)))
        for W, b in layers[:-1]:
            a = _activate(str(e["activation"]), a @ W + b)
        z = a @ layers[-1][0] + layers[-1][1]
        room = 1e-9 * (1.0 + np.abs(z).max(initial=0.0))
        ahead = (
            z[:, 0] * (1 if code == 1 else -1) if z.shape[1] == 1 else z[:, code] - np.delete(z, code, 1).max(axis=1)
        )
        if np.any(ahead < -room):
            return f"a point within {r} has another label than {code}"
    return None


@judge("network-gradient")
def network_gradient(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    """Against differences of the objective along each parameter."""
    e, layers, s = c.evidence, _layers(c.evidence), np.ones(len(X)) if w is None else np.asarray(w, dtype=float)
    if not _tame(X, s, *(part for layer in layers for part in layer)) or float(e["alpha"]) > 1e6:
        return None
    names = np.unique(y)

    def objective(shift: Any = None) -> float:
        moved = [[W.copy(), b.copy()] for W, b in layers]
        if shift is not None:
            k, part, at, step = shift
            moved[k][part][at] += step
        a = X
        for W, b in moved[:-1]:
            a = _activate(str(e["activation"]), a @ W + b)
        z = a @ moved[-1][0] + moved[-1][1]
        decay = 0.5 * float(e["alpha"]) * sum(float((W**2).sum()) for W, _ in moved)
        if e["task"] == "regression":
            loss = 0.5 * ((z - np.asarray(y, dtype=float).reshape(len(X), -1)) ** 2).sum(axis=1)
        elif z.shape[1] == 1:
            loss = (
                np.logaddexp(0.0, np.where(y == names[-1], -1.0, 1.0) * z[:, 0])
                if len(names) == 2
                else np.logaddexp(0.0, z[:, 0])
            )
        else:
            loss = np.logaddexp.reduce(z, axis=1) - z[np.arange(len(X)), np.searchsorted(names, y)]
        return float((s @ loss + decay) / s.sum())

    if abs(objective() - c.value) > 1e-8 * (1.0 + abs(c.value)):
        return f"the objective is {objective()}"
    slopes = []
    for k, (W, b) in enumerate(layers):
        for part, v in enumerate((W, b)):
            for at in np.ndindex(v.shape):
                h = 1e-6 * (1.0 + abs(float(v[at])))
                sides = [(objective((k, part, at, t * h)) - objective()) / (t * h) for t in (1.0, -1.0)]
                slopes.append(min(map(abs, sides)) if sides[0] * sides[1] > 0 else 0.0)  # at a kink any slope between
    norm = float(np.linalg.norm(slopes))
    return None if norm <= c.gradient * (1 + 1e-3) + 1e-4 * (1.0 + abs(c.value)) else f"the gradient has norm {norm}"


# -- scores, evidence, counts -----------------------------------------------------------------------------------------
@judge("cross-validation")
def cross_validation(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    e, s = c.evidence, np.ones(len(y)) if w is None else np.asarray(w, dtype=float)
    test, sizes = np.ravel(e["test"]).astype(int), np.ravel(e["sizes"]).astype(int)
    scores, at = [], 0
    for size in sizes:
        rows, p = test[at : at + size], np.asarray(e["predictions"])[at : at + size]
        at += size
        t, v = y[rows], s[rows]
        if e["metric"] == "accuracy":
            scores.append(np.average(t == p, weights=v))
            continue
        t, p = t.astype(float), p.astype(float)
        if not _tame(t, p, v):
            return None
        error = {"neg_mean_absolute_error": abs(t - p)}.get(e["metric"], (t - p) ** 2)
        total = v @ (t - np.average(t, weights=v)) ** 2
        r2 = 1.0 - v @ error / total if total > 0 else float(v @ error == 0)
        scores.append(r2 if e["metric"] == "r2" else -np.average(error, weights=v))
    share = np.mean(sizes / np.ravel(e["train_sizes"]).astype(float))
    wide = scipy.stats.t.isf((1 - c.level) / 2, len(sizes) - 1) * math.sqrt(
        (1 / len(sizes) + share) * np.var(scores, ddof=1)
    )
    want = np.array([np.mean(scores), np.mean(scores) - wide, np.mean(scores) + wide])
    room = 1e-6 * (1.0 + np.abs(want).max())
    return None if np.all(np.abs(want - [c.mean, c.low, c.high]) <= room) else f"{want} expected"


@judge("evidence-maximum")
def evidence_maximum(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    """The posterior covariance, and the slope of the log evidence by differences, in fifty digits."""
    e, n, d = c.evidence, len(X), X.shape[1]
    if not (
        _tame(X, y, e["coef"], e["sigma"])
        and min(e["alpha"], e["lambda"]) > 1e-100
        and max(e["alpha"], e["lambda"]) < HUGE
    ):
        return None
    with mp.workdps(60):
        s = [mp.mpf(1) if w is None else mp.mpf(float(v)) for v in (w if w is not None else range(n))]
        T, t, total = mp.matrix(X.astype(float).tolist()), mp.matrix([float(v) for v in y]), mp.fsum(s)
        if e["fit_intercept"]:
            for j in range(d):
                mean = mp.fsum(s[i] * T[i, j] for i in range(n)) / total
                T[:, j] = mp.matrix([T[i, j] - mean for i in range(n)])
            mean = mp.fsum(s[i] * t[i] for i in range(n)) / total
            t = mp.matrix([v - mean for v in t])
        S = mp.diag(s)
        G, q = T.T * S * T, T.T * S * t
        a1, a2, l1, l2 = (mp.mpf(float(v)) for v in e["hyper"])

        def evidence(a: Any, lam: Any) -> Any:
            H = a * G + lam * mp.eye(d)
            m = mp.lu_solve(H, a * q)
            error = mp.fsum(s[i] * (t[i] - (T[i, :] * m)[0]) ** 2 for i in range(n))
            size = mp.fsum(v * v for v in m)
            return (d * mp.log(lam) + total * mp.log(a) - mp.log(mp.det(H)) - a * error - lam * size) / 2 + (
                a1 * mp.log(a) - a2 * a + l1 * mp.log(lam) - l2 * lam
            )

        a, lam = mp.mpf(float(e["alpha"])), mp.mpf(float(e["lambda"]))
        off = mp.mnorm(mp.matrix(np.asarray(e["sigma"]).tolist()) * (a * G + lam * mp.eye(d)) - mp.eye(d), "f")
        if off > c.sigma_error:
            return f"the covariance is off by {mp.nstr(off)}"
        slopes = {"alpha": lambda: mp.diff(lambda u: evidence(mp.exp(u), lam), mp.log(a)),
                  "lambda": lambda: mp.diff(lambda u: evidence(a, mp.exp(u)), mp.log(lam))}  # fmt: skip
        worst = max((abs(2 * slopes[str(name)]() / total) for name in e["free"]), default=0)
    return None if worst <= c.slope + 1e-15 else f"the slope is {mp.nstr(worst)}"


@judge("mixed-sums")
@judge("mixed-counts")
def mixed_counts(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    e, s = c.evidence, np.ones(len(y)) if w is None else np.asarray(w, dtype=float)
    if c.mean_error > 1e-3 or not _tame(s):
        return None
    for k, name in enumerate(np.asarray(e["classes"]).tolist()):
        mine = np.array([str(v) == str(name) or v == name for v in y.tolist()])
        for a, j in enumerate(np.ravel(e["numeric"]).astype(int)):
            v = np.array([float(x) for x in X[:, j]])
            there = ~np.isnan(v)
            own = mine & there
            if not s[own].sum() > 0:
                continue
            mean = np.average(v[own], weights=s[own])
            spread = np.average((v[own] - mean) ** 2, weights=s[own])
            middle = np.average(v[there], weights=s[there])
            spread += float(e["var_smoothing"]) * np.average((v[there] - middle) ** 2, weights=s[there])
            if abs(mean - e["theta"][k][a]) > (1e-8 + 2 * c.mean_error) * (1.0 + abs(mean)):
                return "a mean is off"
            if abs(spread - e["var"][k][a]) > (1e-8 + 2 * c.variance_error) * spread:
                return "a variance is off"
        logs, at = np.exp(np.asarray(e["feature_log_prob"], dtype=float)[k]), 0
        for j, words in zip(np.ravel(e["discrete"]).astype(int), e["categories"]):
            counts = np.array([s[mine & (X[:, j].astype(str) == str(word))].sum() for word in words])
            alpha = np.broadcast_to(np.asarray(e["alpha"], dtype=float), (len(np.ravel(e["discrete"])),))[0]
            want = (counts + alpha) / (counts + alpha).sum()
            if np.abs(logs[at : at + len(words)] - want).max() > 1e-8:
                return f"{want} expected"
            at += len(words)
    return None


@judge("stationary")
def stationary(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    """The equations of a gamma family with the inverse link: Σ s (y − 1/z) x̃ = 0."""
    o, s = c.evidence["objective"], np.ones(len(y)) if w is None else np.asarray(w, dtype=float)
    o = o[0] if isinstance(o, list) else o
    params = o["loss"]["params"]
    if o["loss"]["name"] != "family" or (params["family"], params["link"]) != ("gamma", "inverse"):
        return None
    coef, b = np.ravel(c.evidence["coef"]).astype(float), float(np.ravel(c.evidence["intercept"])[0])
    z, y = X @ coef + b, np.asarray(y, dtype=float)
    if not _tame(z, y, s) or np.any(z <= 0):
        return None if _tame(z, y, s) is False else "a mean that is not positive"
    slope, strength = s * (y - 1.0 / z), float(o["strength"]) if o["regularizer"]["name"] == "l2" else 0.0
    columns = [*X.T, *([np.ones(len(y))] if o["fit_intercept"] else [])]
    for x, v in zip(columns, [*coef, 0.0]):
        size = np.abs(slope * x).sum() + strength * abs(v)
        if abs((slope * x).sum() + strength * v) > (c.residual * 2 + 1e-10) * size:
            return "an equation does not hold"
    return None


@judge("mercer-gram")
def mercer_gram(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    if c.method == "construction":
        return "a construction is about a kernel with a name"
    K = np.asarray(c.evidence["gram"], dtype=float)
    least, room = float(np.linalg.eigvalsh((K + K.T) / 2)[0]), 1e-12 * (1.0 + np.abs(K).max())
    if c.verdict == "not mercer":
        return None if least <= c.least_eigenvalue + room and least < 0 else f"least eigenvalue {least}"
    return None if least >= c.least_eigenvalue - room else f"least eigenvalue {least}"


# -- rows within a radius, class centres, counts of other classes ------------------------------------------------------
@judge("radius-neighbors")
def within_radius(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    rows, e, r = exact(X), c.evidence, Fraction(float(c.evidence["radius"]))
    own, counts = e.get("own"), np.asarray(e["counts"]).astype(int).tolist()
    listed, start = np.asarray(e["indices"]).astype(int).tolist(), 0
    power = {"euclidean": 2, "manhattan": 1, "chebyshev": 1}.get(e["metric"], e.get("p", 0))
    for k, (q, count) in enumerate(zip(exact(e["queries"]), counts)):
        mine, start = listed[start : start + count], start + count
        if e["metric"] == "cosine":
            near = [i for i, x in enumerate(rows) if _angle(e, x, q) <= mp.mpf(r.numerator) / r.denominator]
        elif power == int(power):
            near = [i for i, x in enumerate(rows) if distance(e, x, q) <= r ** int(power)]
        else:
            return None  # sums of fractional powers have no exact answer
        if sorted(mine) != [i for i in near if own is None or i != int(own[k])]:
            return f"query {k}: {near} lie within the radius, not {mine}"
    return None


def _same(label: Any, name: Any) -> bool:
    """Whether two labels are one, as numbers where they are numbers."""
    return str(label) == str(name) if isinstance(name, str) else float(label) == float(name)


def _angle(e: Any, x: Any, q: Any) -> mp.mpf:
    """The cosine distance to a hundred digits."""
    with mp.workdps(100):
        w = [Fraction(1)] * len(x) if e.get("weights") is None else exact(e["weights"])
        dot, *sizes = (sum(c * a * b for c, a, b in zip(w, u, v)) for u, v in ((x, q), (x, x), (q, q)))
        if 0 in sizes:
            return mp.mpf(1)
        ratio = dot * dot / (sizes[0] * sizes[1])
        return 1 - (1 if dot > 0 else -1) * mp.sqrt(mp.mpf(ratio.numerator) / ratio.denominator)


@judge("class-centres")
def centres(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    e, table, s = c.evidence, exact(X), weights_of(w, len(y))
    excess = Fraction(0)
    for name, centre in zip(np.asarray(e["classes"]).tolist(), exact(np.asarray(e["centres"], dtype=float))):
        mine = [(v, x) for v, x, label in zip(s, table, y.tolist()) if _same(label, name)]
        for j, m in enumerate(centre):
            if e["distance"] == "manhattan":
                sides = sum(x[j] < m for _, x in mine), sum(x[j] > m for _, x in mine)
                if 2 * max(sides) > len(mine):
                    return f"class {name}: {sides} values on either side of coordinate {j}"
            else:
                total = sum(v for v, _ in mine)
                excess += total * (sum(v * x[j] for v, x in mine) / total - m) ** 2
    return None if e["distance"] == "manhattan" or excess <= Fraction(c.gap) else f"{float(excess)} above the minimum"


@judge("complement-sums")
@judge("complement-counts")
def complement(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    e, table, s = c.evidence, exact(X), weights_of(w, len(y))
    alpha = np.broadcast_to(np.asarray(e["alpha"], dtype=float), (len(table[0]),)).tolist()
    with mp.workdps(50):
        for name, stated in zip(np.asarray(e["classes"]).tolist(), np.asarray(e["feature_weights"], dtype=float)):
            rest = [(v, x) for v, x, label in zip(s, table, y.tolist()) if not _same(label, name)]
            counts = [Fraction(a) + sum(v * x[j] for v, x in rest) for j, a in enumerate(alpha)]
            shares = [n / sum(counts) for n in counts]
            logs = [mp.log(mp.mpf(p.numerator) / p.denominator) for p in shares]
            want = [v / sum(logs) if e["norm"] else -v for v in logs]
            if any(abs(a - b) > abs(b) * (c.error * (1 + 1e-6)) + 1e-290 for a, b in zip(want, map(mp.mpf, stated))):
                return f"class {name}: {[float(v) for v in want]} expected"
    return None
