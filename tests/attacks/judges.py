"""Is a claim true? Independent answers in exact rationals (`fractions`) or by brute force, one judge for each kind.

A judge returns the reason why a claim is false, or None where it found none. Judges read the figures that are stated
and the model that the evidence names, and share no code with the proofs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from certifit.certificates import Certificate

Verdict = str | None
JUDGES: dict[str, Callable[[Certificate, Any, Any, Any], Verdict]] = {}


def judge(kind: str) -> Callable[[Any], Any]:
    def keep(function: Any) -> Any:
        JUDGES[kind] = function
        return function

    return keep


def exact(v: Any) -> list[Any]:
    """Nested lists of rationals."""
    if isinstance(v, np.ndarray):
        v = v.tolist()
    return [exact(x) if isinstance(x, (list, tuple)) else Fraction(float(x)) for x in v]


def weights_of(w: Any, n: int) -> list[Fraction]:
    return [Fraction(1)] * n if w is None else [Fraction(float(v)) for v in w]


def distance(evidence: Any, a: list[Fraction], b: list[Fraction]) -> Any:
    """A number that grows with the distance: exact for all metrics here but fractional powers."""
    w = [Fraction(1)] * len(a) if evidence.get("weights") is None else exact(evidence["weights"])
    gaps = [abs(x - y) for x, y in zip(a, b)]
    metric, p = evidence["metric"], evidence.get("p", 2.0)
    if metric == "cosine":
        dot = sum(c * x * y for c, x, y in zip(w, a, b))
        size = sum(c * x * x for c, x in zip(w, a))
        return -dot * abs(dot) / size if size else Fraction(0)
    if metric == "chebyshev":
        return max(c * g for c, g in zip(w, gaps))
    power = {"euclidean": 2, "manhattan": 1}.get(metric, p)
    if power == int(power):
        return sum(c * g ** int(power) for c, g in zip(w, gaps))
    return math.fsum(float(c) * float(g) ** power for c, g in zip(w, gaps))


@judge("neighbors")
def neighbors(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    rows, e = exact(X), c.evidence
    own = e.get("own")
    for k, (q, listed) in enumerate(zip(exact(e["queries"]), np.asarray(e["indices"]).astype(int).tolist())):
        far = sorted((distance(e, x, q), i) for i, x in enumerate(rows) if own is None or i != int(own[k]))
        if [i for _, i in far[: len(listed)]] != listed:
            return f"query {k}: {[i for _, i in far[: len(listed)]]} are nearer than {listed}"
        stated = Fraction(c.farthest) ** 2 if math.isfinite(c.farthest) else None
        if e["metric"] == "euclidean" and stated is not None and far[len(listed) - 1][0] > stated:
            return "the last is farther than stated"
    return None


@judge("neighbors-given-distances")
def given_distances(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    for row, listed in zip(
        np.asarray(c.evidence["distances"]).tolist(), np.asarray(c.evidence["indices"]).astype(int).tolist()
    ):
        best = sorted(range(len(row)), key=lambda i: (row[i], i))[: len(listed)]
        if best != listed or min(row) < 0:
            return f"{best} are nearer than {listed}"
    return None


@judge("condensed-neighbors")
def condensed(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    rows, e, kept = exact(X), c.evidence, np.asarray(c.evidence["prototypes"]).astype(int).tolist()
    for x in rows:
        by_all = min((distance(e, r, x), i) for i, r in enumerate(rows))[1]
        by_few = min((distance(e, rows[i], x), i) for i in kept)[1]
        if y[by_all] != y[by_few]:
            return f"rows {by_all} and {by_few} answer differently"
    return None


@judge("edited-neighbors")
def edited(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    rows, e = exact(X), c.evidence
    k, names, right = np.asarray(e["neighbors"]).shape[1], sorted(set(y.tolist())), []
    for i, x in enumerate(rows):
        near = sorted((distance(e, r, x), j) for j, r in enumerate(rows) if j != i)[:k]
        votes = [sum(y[j] == name for _, j in near) for name in names]
        if names[votes.index(max(votes))] == y[i]:
            right.append(i)
    return None if sorted(np.asarray(e["kept"]).astype(int).tolist()) == right else f"{right} are confirmed"


@judge("stored-rows")
def stored(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    groups: dict[Any, list[Any]] = {}
    for row, label in zip(np.asarray(X).tolist(), np.asarray(y).tolist()):
        groups.setdefault(tuple(row), []).append(label)
    if c.evidence["task"] == "classes":
        least: Any = sum(len(g) - max(g.count(v) for v in g) for g in groups.values())
        good = least == c.unavoidable
    else:
        least = sum(sum((Fraction(v) - sum(map(Fraction, g)) / len(g)) ** 2 for v in g) for g in groups.values())
        slack = Fraction(1, 10**9) * least + Fraction(1, 10**12)
        good = math.isfinite(c.unavoidable) and abs(least - Fraction(c.unavoidable)) <= slack
    return None if good and len(groups) == c.distinct else f"{least} are unavoidable"


@judge("constant")
def constant(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    s = weights_of(w, len(y))
    total = sum(s)
    if c.evidence["loss"] == "squared":
        t, at = exact(y), Fraction(float(np.ravel(c.evidence["value"])[0]))
        mean = sum(a * b for a, b in zip(s, t)) / total
        return None if (at - mean) ** 2 <= Fraction(float(c.gap)) or math.isinf(c.gap) else "the mean is better"
    shares = dict(zip(np.asarray(c.evidence["classes"]).tolist(), np.asarray(c.evidence["shares"]).tolist()))
    counted = {k: float(sum(a for a, v in zip(s, y) if float(v) == float(k)) / total) for k in shares}
    excess = sum(p * math.log(p / shares[k]) for k, p in counted.items() if p > 0)
    return None if excess <= c.gap * (1 + 1e-9) + 1e-14 else f"{excess} above the shares"


@judge("isotonic")
def isotonic(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    """The best value at a score is max over starts of min over ends of the means of what lies between."""
    s, t, x = weights_of(w, len(y)), exact(y), np.ravel(np.asarray(X)).tolist()
    order = sorted(set(x))
    W = [sum(a for a, v in zip(s, x) if v == at) for at in order]
    S = [sum(a * b for a, b, v in zip(s, t, x) if v == at) for at in order]
    n = range(len(order))
    best = [max(min(sum(S[a : b + 1]) / sum(W[a : b + 1]) for b in n if b >= g) for a in n if a <= g) for g in n]

    def loss(f: Any) -> Fraction:
        return sum((a * (b - f[order.index(v)]) ** 2 for a, b, v in zip(s, t, x)), Fraction(0)) / sum(s)

    if np.asarray(c.evidence["scores"]).tolist() != order:
        return "other scores"
    stated = exact(c.evidence["values"])
    if any(a > b for a, b in pairwise(stated)):
        return "it falls"
    excess = loss(stated) - loss(best)
    return None if math.isinf(c.gap) or excess <= Fraction(float(c.gap)) else f"{float(excess)} above the best"


@judge("hold-out")
def hold_out(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    wrong = sum(p != t for p, t in zip(np.asarray(c.evidence["predictions"]).tolist(), np.asarray(y).tolist()))
    if (wrong, len(y)) != (c.mistakes, c.rows):
        return "miscounted"

    def tail(k: int, n: int, p: Fraction) -> Fraction:
        return sum((math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1)), Fraction(0))

    half = (1 - Fraction(c.level)) / 2 * (1 + Fraction(1, 10**6))
    low, high = Fraction(max(c.low, 0.0)), Fraction(min(c.high, 1.0))
    fine = tail(wrong, len(y), low) <= half or wrong == 0, tail(len(y) - wrong, len(y), 1 - high) <= half
    return None if fine[0] and (fine[1] or wrong == len(y)) else "the interval is too narrow"


@judge("training-errors")
def training_errors(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    names = sorted(set(y.tolist()))
    coef, b = exact(np.atleast_2d(c.evidence["coef"])), exact(np.ravel(c.evidence["intercept"]))
    wrong = 0
    for x, label in zip(exact(X), y.tolist()):
        scores = [sum(a * v for a, v in zip(row, x)) + o for row, o in zip(coef, b)]
        scores = [Fraction(0), scores[0]] if len(scores) == 1 else scores
        wrong += names[scores.index(max(scores))] != label
    return None if wrong == c.value else f"{wrong} are wrong"


@judge("finite-bayes")
def finite_bayes(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    e = c.evidence
    place = {name: k for k, name in enumerate(e["outcomes"])}
    joint = exact(e["priors"])
    for (outcome,) in np.asarray(X).tolist():
        joint = [p * Fraction(float(row[place[outcome]])) for p, row in zip(joint, np.asarray(e["likelihoods"]))]
    total = sum(joint)
    error = max(abs(p / total - q) for p, q in zip(joint, exact(e["posterior"])))
    return None if error <= Fraction(c.error) else f"off by {float(error)}"


@judge("conjugate-posterior")
def conjugate(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    """One observation after another, as Bayes' rule has it."""
    family, now = str(c.evidence["family"]), exact(c.evidence["prior"])
    size = [abs(now[0])]
    for (x,) in exact(np.asarray(X, dtype=float)):
        size.append(abs(x))
        if family == "beta":
            now = [now[0] + x, now[1] + 1 - x]
        elif family == "dirichlet":
            now[int(x)] += 1
        elif family == "gamma":
            now = [now[0] + x, now[1] + 1]
        elif family == "normal":
            m, v, s = now
            now = [(m * s + x * v) / (s + v), v * s / (s + v), s]
        else:
            m, k, a, b = now
            now = [(k * m + x) / (k + 1), k + 1, a + Fraction(1, 2), b + k * (x - m) ** 2 / (2 * (k + 1))]
    scale = [abs(v) for v in now]
    if family.startswith("normal"):
        scale[0] = max(size)
    for stated, right, unit in zip(exact(c.evidence["posterior"]), now, scale):
        if abs(stated - right) > Fraction(c.error) * unit:
            return f"{float(stated)} should be {float(right)}"
    return None if len(now) == len(c.evidence["posterior"]) and c.observations == len(X) else "of another length"


@judge("counted-sums")
@judge("smoothed-counts")
def smoothed(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    e, s = c.evidence, weights_of(w, len(y))
    table, model = exact(X), e["model"]
    alpha = np.broadcast_to(np.asarray(e["alpha"], dtype=float), (len(table[0]),)).tolist()
    for k, name in enumerate(np.asarray(e["classes"]).tolist()):
        # Minus zero is zero: adding zero makes them one word, as all NaN are.
        word = str(float(name) + 0.0)
        mine = [(v, x) for v, x, label in zip(s, table, y.tolist()) if str(float(label) + 0.0) == word]
        want = []
        for j, a in enumerate(map(Fraction, alpha)):
            if model == "multinomial":
                want.append(a + sum(v * x[j] for v, x in mine))
            elif model == "bernoulli":
                cut = Fraction(float(e["binarize"]))
                on, size = sum(v for v, x in mine if x[j] > cut), sum(v for v, _ in mine)
                want.append((on + a) / (size + 2 * a))
            else:
                sizes, total = int(e["n_categories"][j]), sum(v for v, _ in mine)
                cells = [sum(v for v, x in mine if x[j] == m) + a for m in range(sizes)]
                want += [n / (total + a * sizes) for n in cells]
        if model == "multinomial":
            want = [v / sum(want) for v in want]
        got = np.exp(np.asarray(e["feature_log_prob"], dtype=float)[k])
        if np.max(np.abs(got / np.array(want, dtype=float) - 1.0)) > c.gradient * (1 + 1e-6) + 1e-14:
            return f"class {name}: {np.array(want, dtype=float)} expected"
    return None


@judge("gaussian-sums")
@judge("gaussian-counts")
def gaussian(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    e, s, rows = c.evidence, weights_of(w, len(y)), exact(X)
    columns = list(zip(*rows))

    def moments(values: Any, weights: Any) -> tuple[Fraction, Fraction]:
        total = sum(weights)
        mean = sum(a * b for a, b in zip(weights, values)) / total
        return mean, sum(a * (b - mean) ** 2 for a, b in zip(weights, values)) / total

    extra = Fraction(float(e["var_smoothing"])) * max(moments(col, s)[1] for col in columns)
    for k, name in enumerate(np.asarray(e["classes"]).tolist()):
        here = [i for i, label in enumerate(y.tolist()) if float(label) == float(name)]
        for j, col in enumerate(columns):
            mean, var = moments([col[i] for i in here], [s[i] for i in here])
            theta, stated = Fraction(float(e["theta"][k][j])), Fraction(float(e["var"][k][j]))
            if stated <= 0 or abs(var + extra - stated) > Fraction(c.variance_error) * stated:
                return "a variance is off"
            if (mean - theta) ** 2 > Fraction(c.mean_error) ** 2 * stated:
                return "a mean is off"
    return None


@judge("perceptron")
def perceptron(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    e = c.evidence
    names = list(e["classes"])
    rows = [[*x, Fraction(1)] if e["fit_intercept"] else x for x in exact(X)]
    made = 0
    for k in range(1 if len(names) == 2 else len(names)):
        positive = names[1 if len(names) == 2 else k]
        signs = [1 if label == positive else -1 for label in y.tolist()]
        separable = _separable(rows, signs)
        if (e[f"verdict_{k}"] == "separable") != separable:
            return f"class {positive}: separable is {separable}"
        made += int(np.sum(e[f"times_{k}"]))
        weights = exact(e[f"start_{k}"])
        step = Fraction(float(e["eta0"]))
        for i, t in zip(np.asarray(e[f"mistaken_{k}"]).tolist(), np.asarray(e[f"times_{k}"]).tolist()):
            scale = step * signs[int(i)] * int(t) * Fraction(float(e[f"class_weights_{k}"][(signs[int(i)] + 1) // 2]))
            weights = [a + scale * b for a, b in zip(weights, rows[int(i)])]
        reach = 1e-9 * (1 + max(abs(float(v)) for v in weights))
        if max(abs(float(a) - float(b)) for a, b in zip(weights, e[f"coef_{k}"])) > reach:
            return "the steps do not lead to the weights"
    return None if made == c.value <= c.bound else f"{made} mistakes"


def _separable(rows: list[list[Fraction]], signs: list[int]) -> bool:
    """Whether some u has sign·u·x > 0 for all rows, by Fourier and Motzkin's elimination (small problems)."""
    system = [[s * v for v in x] for s, x in zip(signs, rows)]
    for _ in range(len(rows[0])):
        up, down, flat = ([r for r in system if (r[0] > 0) - (r[0] < 0) == sign] for sign in (1, -1, 0))
        system = [r[1:] for r in flat]
        for a in up:
            for b in down:
                system.append([x / a[0] - z / b[0] for x, z in zip(a[1:], b[1:])])
        system = [list(t) for t in {tuple(r) for r in system}]
    return not system  # what is left says 0 > 0


@judge("separability")
def separability(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    names = sorted(set(y.tolist()))
    if len(names) > 2:
        return None  # the two-class answers decide nothing here; see the tests of separability
    rows = [[*x, Fraction(1)] if c.evidence["fit_intercept"] else x for x in exact(X)]
    separable = _separable(rows, [1 if v == names[1] else -1 for v in y.tolist()])
    return None if separable == (c.verdict == "separable") else f"separable is {separable}"


@judge("no-margin")
def no_margin(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    if "twins" in c.evidence:
        i, j = (int(v) for v in c.evidence["twins"])
        return None if list(X[i]) == list(X[j]) and y[i] != y[j] else "the rows differ"
    if c.evidence["kernel"] != ["linear"]:
        return None
    names = sorted(set(y.tolist()))
    rows = [[*x, Fraction(1)] for x in exact(X)]
    return "separable" if _separable(rows, [1 if v == names[1] else -1 for v in y.tolist()]) and c.bound == 0 else None


@judge("mercer")
def mercer(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    if c.method == "construction":
        return None if _mercer(c.evidence["kernel"]) else "not built from Mercer kernels"
    if "kernel" in c.evidence:
        K = _kernel_values(c.evidence["kernel"], np.asarray(X, dtype=float))
    else:
        K = np.asarray(c.evidence.get("gram", X), dtype=float)  # the values of a function stand in the evidence
    least = float(np.linalg.eigvalsh((K + K.T) / 2)[0])
    if c.verdict == "not mercer":
        return None if least <= c.least_eigenvalue + 1e-12 and least < 0 else f"least eigenvalue {least}"
    return None if least >= c.least_eigenvalue - 1e-12 else f"least eigenvalue {least}"


def _kernel_values(record: list[Any], X: Any) -> Any:
    name, *parts = record
    known = {
        "linear": lambda: X @ X.T,
        "rbf": lambda: np.exp(-parts[0] * ((X[:, None] - X) ** 2).sum(axis=2)),
        "sum": lambda: sum(_kernel_values(part, X) for part in parts),
    }
    return known[name]()


def _mercer(record: list[Any]) -> bool:
    name, *parts = record
    known = {"linear": lambda: True, "rbf": lambda: parts[0] >= 0, "sum": lambda: all(map(_mercer, parts))}
    return name in known and known[name]()


@judge("component-sums")
@judge("principal-components")
def principal(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    T = np.asarray(X, dtype=float) - np.mean(X, axis=0)
    values = np.linalg.eigvalsh(T.T @ T / (len(T) - 1))[::-1]
    n = c.components
    U = np.linalg.qr(np.atleast_2d(c.evidence["components"]).T)[0]
    kept, best = float(np.sum((T @ U) ** 2)) / (len(T) - 1), float(values[:n].sum())
    slack = 1e-12 * (1 + best)
    return None if c.value <= kept + slack and best - kept <= c.gap + slack else f"keeps {kept} of {best}"


@judge("tree")
def tree(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    """No split about a numeric column gains clearly more than the one asked, in rationals."""
    e = c.evidence
    if any(k is not None for k in e["categories"]) or e["criterion"] not in ("gini", "squared_error"):
        return None
    if not np.all(np.isfinite(X)):
        return None
    s, rows = weights_of(w, len(y)), exact(X)
    held = [] if e.get("validation") is None else np.asarray(e["validation"]).tolist()
    todo = [(0, [i for i in range(len(y)) if s[i] > 0 and i not in held])]
    target = y.tolist() if e["criterion"] == "gini" else exact(y)

    def cost(part: list[int]) -> Fraction:
        total = sum(s[i] for i in part)
        if e["criterion"] == "gini":
            counts = [sum(s[i] for i in part if target[i] == v) for v in {target[i] for i in part}]
            return total - sum(n * n for n in counts) / total
        mean = sum(s[i] * target[i] for i in part) / total
        return sum(s[i] * (target[i] - mean) ** 2 for i in part)

    while todo:
        node, part = todo.pop()
        j = int(e["feature"][node])
        if int(e["left"][node]) < 0:
            continue
        sides = [[i for i in part if bool(X[i][j] <= e["threshold"][node]) == side] for side in (True, False)]
        asked, best = sum(map(cost, sides)), None
        for k in range(len(rows[0])):
            if e.get("drawn") is not None and not e["drawn"][node][k]:
                continue
            for cut in sorted({rows[i][k] for i in part})[:-1]:
                here = [[i for i in part if (rows[i][k] <= cut) == side] for side in (True, False)]
                if min(map(len, here)) >= int(e["min_samples_leaf"]):
                    found = sum(map(cost, here))
                    best = found if best is None else min(best, found)
        if best is None or asked - best > Fraction(1, 10**9) * cost(part):
            return f"node {node}: another split gains more"
        todo += [(int(e["left"][node]), sides[0]), (int(e["right"][node]), sides[1])]
    return None


@judge("tree-general")
def general_tree(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    """Squared error and Poisson deviance of several targets, summed row by row: no other threshold costs clearly less."""
    e = c.evidence
    if e.get("monotonic") is not None:  # other splits are allowed there: tests/tree/test_general.py looks at them
        return None
    if e["splitter"] != "best" or e["criterion"] not in ("squared_error", "poisson") or not np.all(np.isfinite(X)):
        return None
    Y = np.asarray(y, dtype=float).reshape(len(X), -1)
    s = np.asarray([float(v) for v in weights_of(w, len(X))])

    def cost(part: Any) -> float:
        mean = np.average(Y[part], axis=0, weights=s[part])
        if e["criterion"] == "squared_error":
            return float((s[part][:, None] * (Y[part] - mean) ** 2).sum())
        ratio = np.where(Y[part] > 0, Y[part], 1.0) / np.where(mean > 0, mean, 1.0)
        return float((s[part][:, None] * Y[part] * np.log(ratio)).sum())

    todo = [(0, np.flatnonzero(s > 0))]
    while todo:
        node, part = todo.pop()
        if int(e["left"][node]) < 0:
            continue
        goes = X[part, int(e["feature"][node])] <= e["threshold"][node]
        if goes.all() or not goes.any():
            return f"node {node} divides nothing"
        asked = cost(part[goes]) + cost(part[~goes])
        for k in range(X.shape[1]):
            if e.get("drawn") is not None and not e["drawn"][node][k]:
                continue
            for cut in np.unique(X[part, k])[:-1]:
                left = X[part, k] <= cut
                if min(left.sum(), (~left).sum()) < int(e["min_samples_leaf"]):
                    continue
                if min(s[part[left]].sum(), s[part[~left]].sum()) < float(e["min_weight_leaf"]):
                    continue
                if e["criterion"] == "poisson" and any(not Y[part[side]].sum(axis=0).all() for side in (left, ~left)):
                    continue  # a rate of zero is not allowed
                if asked - cost(part[left]) - cost(part[~left]) > 1e-7 * (cost(part) + 1e-300):
                    return f"node {node}: column {k} at {cut} gains more"
        todo += [(int(e["left"][node]), part[goes]), (int(e["right"][node]), part[~goes])]
    return None


@judge("kernel-perceptron")
def kernel_perceptron(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    e = c.evidence
    if e["kernel"][0] != "rbf":
        return None
    K = np.exp(-e["kernel"][1] * ((X[:, None] - X[None]) ** 2).sum(axis=2)) + float(e["fit_intercept"])
    names, counts = list(e["classes"]), np.asarray(e["mistakes"], dtype=float)
    signs = [np.where(y == v, 1.0, -1.0) for v in (names[1:] if len(names) == 2 else names)]
    if counts.shape != (len(signs), len(X)):
        return "mistakes of some classes are missing"
    margins = [s * (K @ (n * s)) for s, n in zip(signs, counts)]
    apart = all(float(m.min()) > -1e-9 for m in margins)
    return None if apart or not c.separated else "it does not separate"


@judge("hard-margin")
def hard_margin(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    """No pair of support vectors' directions gives a wider margin than stated (plane data, linear kernel)."""
    if c.evidence["kernel"] != ["linear"] or X.shape[1] != 2:
        return None
    a, b = X[y == 1], X[y == 0]
    best = 0.0
    lines = [p - q for p in a for q in b]
    for part in (a, b):
        lines += [np.array([-(p - q)[1], (p - q)[0]]) for p, q in combinations(part, 2)]
    for u in lines:
        if np.linalg.norm(u) > 0:
            for v in (u, -u):
                gap = ((a @ v).min() - (b @ v).max()) / np.linalg.norm(v) / 2
                best = max(best, float(gap))
    return None if best <= c.bound * (1 + 1e-9) and c.value <= best * (1 + 1e-9) else f"the largest margin is {best}"


@judge("maximum-likelihood")
def maximum_likelihood(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    x, p, family = np.asarray(X, dtype=float), c.evidence["parameters"], c.evidence["family"]
    means = {"poisson": lambda: p["rate"], "geometric": lambda: 1 / p["probability"], "normal": lambda: p["mean"],
             "gamma": lambda: p["shape"] * p["scale"]}  # fmt: skip
    size = float(np.abs(x).max())
    if family in means and abs(means[family]() / size - (x / size).mean()) > 1e-8:
        return "the mean is off"
    if family == "normal" and abs(p["sd"] / size - (x / size).std()) > 1e-8:
        return "the standard deviation is off"
    if family == "multivariate_normal" and not np.allclose(p["cov"], np.cov(x.T, bias=True), rtol=1e-7, atol=1e-9):
        return "the covariance is off"
    if family == "categorical":
        counts = np.bincount(x[:, 0].astype(int)) / len(x)
        shares = np.asarray(p["probabilities"])
        return None if np.allclose(shares[: len(counts)], counts) and abs(shares.sum() - 1) < 1e-8 else "a share is off"
    return None


@judge("clustering")
def clustering(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    """Against the best of all clusterings of the rows into at most k parts."""
    k, s = c.clusters, np.ones(len(X)) if w is None else np.asarray(w)
    if len(X) > 10 or k > 3 or max(np.abs(X).max(initial=0.0), s.max(initial=0.0)) > 1e100 or not np.any(s):
        return None
    centres, labels = np.asarray(c.evidence["centres"], dtype=float), np.asarray(c.evidence["labels"]).astype(int)
    return best_of_all(c, X, s, float(s @ ((X - centres[labels]) ** 2).sum(axis=1)))


def best_of_all(c: Certificate, X: Any, s: Any, cost: float) -> Verdict:
    """Whether the bound and the gap are true of all clusterings of a few rows into at most k parts."""
    k = c.clusters
    if len(X) > 10 or k > 3 or max(np.abs(X).max(initial=0.0), s.max(initial=0.0)) > 1e100:
        return None
    codes = np.stack(np.unravel_index(np.arange(k ** len(X)), (k,) * len(X)), axis=1)
    best, square = np.zeros(len(codes)), (s * (X**2).sum(axis=1)).sum()
    for part in range(k):
        mine = (codes == part) * s
        size = mine.sum(axis=1)
        best += np.where(size > 0, ((mine @ X) ** 2).sum(axis=1) / np.where(size > 0, size, 1.0), 0.0)
    least = float(square - best.max())
    slack = 1e-9 * (abs(square) + 1e-300) + 1e-12 * abs(cost)
    if cost > c.value + slack or c.bound > least + slack or cost - least > c.gap + slack:
        return f"costs {cost}, the best costs {least}"
    return None


@judge("cluster-sums")
def cluster_sums(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    """Every row with its nearest centre, against the best of all clusterings of the rows."""
    centres = np.asarray(c.evidence["centres"], dtype=float)
    s = np.ones(len(X)) if w is None else np.asarray(w)
    distances = ((np.asarray(X)[:, None] - centres) ** 2).sum(axis=2)
    labels = distances.argmin(axis=1)
    cost, gain = float(s @ distances.min(axis=1)), 0.0
    for j, centre in enumerate(centres):
        mine = s * (labels == j)
        if mine.sum() > 0:
            gain += float(mine.sum() * np.square(mine @ X / mine.sum() - centre).sum())
    slack = 1e-9 * (abs(cost) + 1e-300)
    if c.centre_gain < gain - slack or c.value < cost - slack or c.value > cost + slack + c.reassignment_gain:
        return f"costs {cost}, moving centres gains {gain}"
    return best_of_all(c, X, s, cost)


@judge("moments")
def moments(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    """Any other coefficients are a witness: a model is at least as far from the optimum as it is from these."""
    o, rows, n = c.evidence["objective"], exact(X), len(y)
    s = weights_of(w, n)
    mass = sum(s)
    factor, penalty = Fraction(o["loss"]["params"].get("factor", 1.0)), o["regularizer"]
    if penalty["name"] not in ("none", "l1", "l2"):
        return None
    times = Fraction(o["strength"]) * Fraction(penalty["params"].get("factor", 1.0))
    prior = exact(penalty["params"].get("prior") or [0.0] * len(rows[0]))

    def total(coef: list[Fraction], b: Fraction) -> Fraction:
        found = sum(v * factor * (Fraction(float(t)) - sum(p * q for p, q in zip(row, coef)) - b) ** 2
                    for row, t, v in zip(rows, y, s))  # fmt: skip
        if penalty["name"] == "none":
            return found
        l1 = penalty["name"] == "l1"
        return found + times * sum(abs(v) if l1 else (v - p) ** 2 for v, p in zip(coef, prior))

    coef, b = exact(c.evidence["coef"])[0], exact(c.evidence["intercept"])[0]
    mine = total(coef, b)
    if not math.isclose(float(mine / mass), c.value, rel_tol=1e-6, abs_tol=1e-9):
        return "the objective is another"
    A = np.column_stack([X, np.ones(n)]) if o["fit_intercept"] else np.asarray(X, dtype=float)
    root = np.sqrt(np.array(s, dtype=float))
    steps = [np.linalg.lstsq(A * root[:, None], y * root, rcond=None)[0] * t for t in (1.0, 0.99, 0.9)]
    others = [np.append(s, [] if o["fit_intercept"] else 0.0) for s in steps]
    best = min(total([Fraction(float(v)) for v in s[:-1]], Fraction(float(s[-1]))) for s in others)
    return "a better fit is further below than the gap" if mine - best > Fraction(c.gap) * mass else None


@judge("passes")
def passes(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    """A few steps of gradient descent from the model find a witness: it must not be further below than the gap."""
    o, n = c.evidence["objective"], len(y)
    W, b = (np.asarray(c.evidence[k], dtype=float) for k in ("coef", "intercept"))
    penalty = o["regularizer"]
    times = 0.0 if penalty["name"] == "none" else o["strength"] * penalty["params"].get("factor", 1.0)
    prior = np.reshape(penalty["params"].get("prior") or np.zeros(W.shape), W.shape)
    factors = np.ones(len(o["classes"] or [])) if o["class_weight"] is None else np.array(o["class_weight"])
    codes = None if o["classes"] is None else np.array([o["classes"].index(float(v)) for v in y])
    s = np.array(weights_of(w, n), dtype=float)
    n_rows, n = n, float(s.sum())

    def total(W: Any, b: Any) -> float:
        z = np.asarray(X, dtype=float) @ W.T + b
        if o["loss"]["name"] == "softmax":
            terms = (np.logaddexp.reduce(z, axis=1) - z[np.arange(n_rows), codes]) * factors[codes]
        elif o["loss"]["name"] == "logistic":
            terms = np.logaddexp(0.0, -np.where(codes == 1, 1.0, -1.0) * z[:, 0]) * factors[codes]
        elif o["loss"]["name"] == "poisson":
            terms = np.exp(z[:, 0]) - y * z[:, 0] + np.where(y > 0, y * np.log(np.maximum(y, 1)) - y, 0.0)
        else:
            return math.nan
        return float((s * terms).sum() + times * np.square(W - prior).sum())

    mine = total(W, b)
    if math.isnan(mine):
        return None
    if not math.isclose(mine / n, c.value, rel_tol=1e-6, abs_tol=1e-9):
        return "the objective is another"
    best = mine
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 0.1, 0.5):
        for _ in range(8):
            move = rng.normal(size=W.shape) * size
            shift = rng.normal(size=b.shape) * size * bool(o["fit_intercept"])
            best = min(best, total(W + move, b + shift), total(W - move, b - shift), total(W * (1 - size), b))
    return "a better fit is further below than the gap" if mine - best > c.gap * n * (1 + 1e-9) + 1e-9 * n else None


@judge("margin-sums")
def margin_sums(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    """Two classes: no witness near the model may be further below than the gap."""
    o = c.evidence["objective"]
    W, b = (np.asarray(c.evidence[k], dtype=float) for k in ("coef", "intercept"))
    if len(W) != 1:
        return None
    factors = np.ones(2) if o["class_weight"] is None else np.array(o["class_weight"])
    codes = np.array([o["classes"].index(float(v)) for v in y])
    times = o["strength"] * o["regularizer"]["params"].get("factor", 1.0)
    power = 2 if o["loss"]["name"] == "squared_hinge" else 1

    def total(W: Any, b: Any) -> float:
        short = np.maximum(0.0, 1.0 - np.where(codes == 1, 1.0, -1.0) * (np.asarray(X, dtype=float) @ W[0] + b[0]))
        return float((factors[codes] * short**power).sum() + times * np.square(W).sum())

    mine = best = total(W, b)
    if not math.isclose(mine, c.value, rel_tol=1e-6, abs_tol=1e-9):
        return "the objective is another"
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 0.1, 0.5):
        for _ in range(8):
            move, shift = rng.normal(size=W.shape) * size, rng.normal(size=1) * size * bool(o["fit_intercept"])
            best = min(best, total(W + move, b + shift), total(W - move, b - shift), total(W * (1 - size), b))
    return "a better fit is further below than the gap" if mine - best > c.gap * (1 + 1e-9) + 1e-9 else None


@judge("likelihood-equations")
def likelihood_equations(c: Certificate, X: Any, y: Any, w: Any) -> Verdict:
    """The sums again in rationals, of what is stated to be expected and observed."""
    e = c.evidence
    T, M = exact(np.asarray(e["statistics"], dtype=float)), exact(np.asarray(e["expected"], dtype=float))
    coef, n = np.asarray(e["coef"], dtype=float), len(T)
    if len(np.asarray(X)) != n or (coef.shape[1] and coef.shape[1] != np.asarray(X).shape[1]):
        return "other rows or columns"
    rows = exact(np.asarray(X, dtype=float)) if coef.shape[1] else [[] for _ in range(n)]
    s = weights_of(w, n)
    for column in [*zip(*rows), [Fraction(1)] * n]:
        for k in range(len(T[0])):
            terms = [s[i] * column[i] * (M[i][k] - T[i][k]) for i in range(n)]
            size = sum(map(abs, terms))
            if size and abs(sum(terms)) > size * Fraction(c.residual) + Fraction(1, 10**300):
                return f"statistic {k}: the residual is larger than stated"
    if c.residual > 1e-6:
        return "the equations do not hold"
    return None
