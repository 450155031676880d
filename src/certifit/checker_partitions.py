"""The kinds of tables in partitions: python checker_partitions.py fit.proof part1.csv part2.csv ...

The partitions come in the order of the proof, or as one table. This file belongs in the folder of checker.py, which has the arithmetic,
reads and prints, and hands over to this file where it does not know a kind itself. Nothing else is needed but Python's standard library.
certifit proves these kinds from sums that were rounded on a grid; here the rows are there, and the theorems are those of tables in memory.
"""
import decimal, functools, importlib.util, itertools, pathlib, sys

if "checker" not in globals():  # it was not checker.py that loaded this file
    checker = sys.modules.get("certifit.checker")
    if checker is None:
        _spec = importlib.util.spec_from_file_location("checker", pathlib.Path(__file__).with_name("checker.py"))
        checker = sys.modules["checker"] = importlib.util.module_from_spec(_spec)
        _spec.loader.exec_module(checker)
N, Cholesky = checker.N, checker.Cholesky
n, need, vec, mat, whole, truth = (getattr(checker, f) for f in "n need vec mat whole truth".split())
total, largest, least, dot, join, away = (getattr(checker, f) for f in "total largest least dot join away".split())
up, low, near, scatter, quadratic_gap = (getattr(checker, f) for f in "up low near scatter quadratic_gap".split())
machines, newton, penalty, class_loss = (getattr(checker, f) for f in "machines newton penalty class_loss".split())

def gap_figures(value, gap, S, table):
    """The figures of an objective and its gap, divided by S; no objective here is negative."""
    value, gap = value / S, gap.max0() / S
    bound = (value - gap).max0()
    found = {"value": near(value), "bound": low(bound), "gap": up(gap), "columns": table.width}
    return {**found, "excess": up(gap / bound)} if bound > 0 else found

def prove_moments(table, e):
    """Squared losses: weak duality at the residuals, shrunk until they are feasible, or ½gᵀH⁺g for a quadratic penalty."""
    ((o, (y,), s, _),) = machines(table, e)
    w, b, s, lam = vec(e.coef[0], table.width), n(e.intercept[0]), vec(s), n(o.strength)
    need(o.loss.name == "squared" and o.padding is None and o.stated == "mean" and table.offset is None, "sums for another objective")
    need(len(e.coef) == len(e.intercept) == 1 and lam >= 0 and (truth(o.fit_intercept) or b.zero()), "coefficients that do not fit")
    c, r, S = n(o.loss.params.factor), [v - z - b for z, v in zip(table.products(w), vec(y))], total(s)
    left = [a * v for a, v in zip(s, r)]
    pull, rest, over = [dot(x, left) for x in table.columns()], dot(left, r), N(0)
    if o.fit_intercept:  # at the best offset for these coefficients
        over, sum_ = total(left) ** 2 / S, total(left)
        pull, rest = [a - sum_ * dot(x, s) / S for a, x in zip(pull, table.columns())], (rest - over).max0()
    square, base, signed = c * dot(left, r), o.regularizer, o.regularizer.name == "non_negative"
    base = base.params.base if signed else base
    need(c > 0 and base.name in ("none", "l2", "l1", "elastic") and (not signed or all(v >= 0 for v in w)), "another penalty")
    gaps, value = [], square
    if base.name == "none" or lam.zero():
        need(base.name != "elastic" or 0 < n(base.params.l1_ratio) <= 1, "no mixing parameter")
    else:
        reach = largest([N(0)] + [v.max0() if signed else abs(v) for v in pull]) * 2 * c
        sparse = base.name == "l1" or (base.name == "elastic" and base.params.l1_ratio == 1.0)
        t = N(1) if not sparse or reach <= lam else (lam / reach).ends()[0].floor()
        if sparse and rest > 0:  # a shorter one may be better: the gap below is quadratic in t
            t = least([t, (1 + dot(pull, w) / rest).max0().ends()[0].floor()])
        own, term = penalty(o.regularizer, lam, [w], [[2 * c * t * v for v in pull]])
        value, gaps = square + own, [c * (1 - t) ** 2 * rest + term + c * over]
    if base.name in ("none", "l2"):
        _, g, H, _ = newton(table, o, y, s, e.coef[0], b)
        held = [j for j, a in enumerate(e.coef[0]) if signed and not a]
        gaps.append(quadratic_gap(H, g, held, value))
    return gap_figures(value, least([value, *gaps]).max0(), S, table)

def prove_passes(table, e):
    """The local bound of every machine, and of a softmax with the range of a row's scores in place of one."""
    parts, W, b, S = machines(table, e), mat(e.coef, None, table.width), vec(e.intercept), total(table.w)
    o, value, gap = parts[0][0], N(0), N(0)
    need(o.padding is None and o.stated == "mean" and o.layout == "rest" and S > 0, "sums for another objective")
    need(len(W) == len(b) == sum(part[3] for part in parts) and (truth(o.fit_intercept) or all(v.zero() for v in b)), "other coefficients")
    if o.loss.name == "softmax":
        value, gap = softmax_bound(table, o, parts[0][1][0], vec(parts[0][2]), W, b)
        return gap_figures(value, gap, S, table)
    need(o.loss.name in checker.SMOOTH and o.regularizer.name in ("l2", "none"), "a loss that this bound is not for")
    for (_, (y,), s, _), coef, v in zip(parts, e.coef, b):
        own, g, H, columns = newton(table, o, y, vec(s), coef, v)
        L = Cholesky(H)
        q, r = L.form(g), L.reach([x for x, weight in zip(zip(*columns), s) if weight])
        u = (q * r).sqrt()
        need(u < 1, "the Newton decrement is too large")
        value, gap = value + own, gap + q / (2 * (1 - u))
    return gap_figures(value, gap, S, table)

def softmax_bound(table, o, codes, s, W, b):
    """F and its gap, in coordinates that leave out what no difference of scores depends on: the last class, or its offset."""
    p, k, one = o.regularizer, len(W), [N(1)] * o.fit_intercept
    need(p.name in ("l2", "none") and (p.name == "none" or p.params.prior is None), "a penalty that this bound is not for")
    ridge = 2 * n(o.strength) * n(p.params.factor) if p.name == "l2" else N(0)
    need(ridge >= 0, "a negative penalty")
    rows = [[*x, *one] for x in table.numbers()]
    width, losses, shares = len(rows[0]), [], []
    for x, c in zip(rows, codes):
        loss, slope = class_loss([dot(w, x[: table.width]) + v for w, v in zip(W, b)], c)
        losses.append(loss)
        shares.append(slope)
    last = [] if ridge.zero() else range(table.width) if one else range(width)
    keep = [(a, i) for a in range(k - 1) for i in range(width)] + [(k - 1, i) for i in last]
    need(len(keep) <= 300, "over 300 coefficients")
    P = [[v + int(a == c) for a, v in enumerate(slope)] for slope, c in zip(shares, codes)]
    g = [total(w * f[a] * x[i] for w, f, x in zip(s, shares, rows)) + (ridge * W[a][i] if i < table.width else 0) for a, i in keep]
    curve = {(a, c): [w * (q[a] * int(a == c) - q[a] * q[c]) for w, q in zip(s, P)] for a in range(k) for c in range(k)}

    def second(a, i, c, j):
        more = ridge if (a, i) == (c, j) and i < table.width else 0
        return total(v * x[i] * x[j] for v, x in zip(curve[a, c], rows)) + more

    L = Cholesky([[second(*at, *other) for other in keep[: m + 1]] for m, at in enumerate(keep)])
    pairs = list(itertools.combinations(range(k), 2))
    used = [x for x, w in zip(rows, s) if w > 0]
    q, r = L.form(g), L.reach([[x[i] * ((a == c) - (a == d)) for a, i in keep] for x in used for c, d in pairs])
    u = (q * r).sqrt()
    need(u < 1, "the Newton decrement is too large")
    value = total(w * v for w, v in zip(s, losses)) + ridge / 2 * total(v**2 for w in W for v in w)
    return value, q / (2 * (1 - u))

def prove_margin_sums(table, e):
    """Machines with the hinge or its square: weak duality at an offset b*, no farther from b than δ, at which the slopes balance."""
    parts, W, b, reach, width = machines(table, e), mat(e.coef, None, table.width), vec(e.intercept), vec(e.reach), n(e.width)
    o, value, gap = parts[0][0], N(0), N(0)
    hinge, p, lam, free = o.loss.name == "hinge", o.regularizer.params, n(o.strength), truth(o.fit_intercept)
    need(o.loss.name in ("hinge", "squared_hinge") and o.classes is not None and o.layout == "rest", "another loss")
    need(o.padding is None and o.stated == "sum" and o.regularizer.name == "l2" and p.prior is None, "another penalty")
    need(table.given is table.offset is None and len(W) == len(b) == len(reach) == len(parts), "weights, or other coefficients")
    need(lam > 0 < n(p.factor) and (width > 0 if hinge else width.zero()) and all(d >= 0 for d in reach), "no width or reach")
    need(free or all(v.zero() for v in b + reach), "an offset where there is none")
    need(all(table.groups(o.classes)), "a class without rows")
    for (_, (y,), s, _), w, v, d in zip(parts, W, b, reach):
        own, more = margin_bound(table.numbers(), y, vec(s), w, v, d, width, lam, n(p.factor), free)
        value, gap = value + own, gap + more
    return gap_figures(value, gap, N(1), table)

def margin_bound(X, y, s, w, b, d, width, lam, factor, free):
    """F of one machine, and what it is at most above its minimum."""
    y, hinge, around = [whole(v) for v in y], not width.zero(), X
    if free:  # where the slopes balance it does not matter from where the columns are measured
        middle = [(largest(c) + least(c)) / 2 for c in zip(*X)]
        around = [[v - m for v, m in zip(x, middle)] for x in X]
    short = [1 - (dot(x, w) + b) * v for x, v in zip(X, y)]

    def slope(t, v):  # of the hinge rounded over the width, or of its square, at a shortfall t
        return -v * least((t.max0() / width, N(1))) if hinge else -2 * v * t.max0()

    here = [slope(t, v) for t, v in zip(short, y)]
    ends = [[slope(t - v * side * d, v) for t, v in zip(short, y)] for side in (-1, 1)]  # at b − δ and b + δ; they grow with b
    need(not free or dot(s, ends[0]) <= 0 <= dot(s, ends[1]), "slopes that do not balance within reach of the offset")
    pull = [total(a * join(u, t) * x[j] for a, u, t, x in zip(s, *ends, around)) for j in range(len(w))]
    penalty_ = lam * factor * total(v**2 for v in w)
    term = lam * factor * total((v + q / (2 * factor * lam)) ** 2 for v, q in zip(w, pull))  # Λf‖w − v/2f‖², Λv = −Σ c u(b*) x
    if not hinge:  # the Fenchel–Young terms are zero at b*, and F(w, b) − F(w, b*) ≤ |F′| δ
        return total(a * t.max0() ** 2 for a, t in zip(s, short)) + penalty_, term + abs(dot(s, here)) * d
    rounded = [a * t.max0() * (1 - least((t.max0() / width, N(1)))) for a, t in zip(s, short)]
    near_ = total(a for a, t in zip(s, short) if not t < -d)
    return total(a * t.max0() for a, t in zip(s, short)) + penalty_, term + total(rounded) + 2 * d * near_

def prove_cluster_sums(table, e):
    """Φ with every row at the centre that distances in floats call the nearest; and the least cost of k parts, tr S minus the k − 1 largest
    eigenvalues of the scatter S."""
    X, s, C, columns = table.numbers(), table.w, mat(e.centres, None, table.width), table.columns()
    need(C and total(s) > 0, "no centre, or no weight")
    label = [nearest_in_floats(x, e.centres) for x in table.X]
    D, S, k = [[away(x, c) for c in C] for x in X], total(s), len(C)
    value = total(w * d[c] for w, d, c in zip(s, D, label))
    better = total(w * largest(d[c] - v for v in d) for w, d, c in zip(s, D, label))
    moved = N(0)
    for c, centre in enumerate(C):
        rows = [i for i, v in enumerate(label) if v == c and not s[i].zero()]
        if rows:
            moved = moved + checker.pull(s, X, rows, centre)
    H, sums = scatter(s, columns), [dot(s, x) for x in columns]
    A = [[H[max(i, j)][min(i, j)] - sums[i] * sums[j] / S for j in range(table.width)] for i in range(table.width)]
    bound = least_scatter(A, k)
    found = {"clusters": k, "value": near(value), "bound": low(bound), "gap": up((value - bound).max0()),
             "reassignment_gain": up(better), "centre_gain": up(moved)}  # fmt: skip
    return {**found, "excess": up((value - bound).max0() / bound)} if bound > 0 else found

def nearest_in_floats(x, centres):
    """The first centre at the least distance, squares summed column by column in floats: what is claimed is the cost of these labels."""
    far = [functools.reduce(lambda a, b: a + b, ((v - c) * (v - c) for v, c in zip(x, centre)), 0.0) for centre in centres]
    return far.index(min(far))

def least_scatter(A, k):
    """tr A − Σ of the k − 1 largest eigenvalues, from below: if Σ(λ − μ)uuᵀ + (μ + τ)I − A ⪰ 0, no k − 1 of them exceed Σ(λ − μ)‖u‖² +
    (k − 1)(μ + τ). The u and λ are found in decimals of 45 digits; whatever they are, the bound holds."""
    d, trace = range(len(A)), total(A[i][i] for i in range(len(A)))
    if k - 1 >= len(A) or not trace > 0:
        return N(0)
    if k == 1:
        return trace.max0().ends()[0]
    need(len(A) <= 300, "over 300 columns")
    values, U = eigenvectors(A)
    values, U, tau = values[: k - 1], U[: k - 1], trace * N(1, None, -110)
    mu = values[-1]
    B = [[total((v - mu) * u[i] * u[j] for u, v in zip(U, values)) - A[i][j] + (mu + tau if i == j else 0) for j in d] for i in d]
    try:
        Cholesky(B)
    except checker.Refused:
        return N(0)
    return (trace - total(dot(u, u) * (v - mu) for u, v in zip(U, values)) - (mu + tau) * (k - 1)).max0().ends()[0]

def eigenvectors(A):
    """Eigenvalues, falling, and vectors of a symmetric matrix by Jacobi's rotations, as numbers of 160 places beside the largest."""
    D, m = decimal.Decimal, range(len(A))
    with decimal.localcontext() as context:
        context.prec = 45
        A = [[D(v.lo) * D(2) ** v.e for v in row] for row in A]
        scale = sum(A[i][i] for i in m)
        A, U = [[v / scale for v in row] for row in A], [[D(int(i == j)) for j in m] for i in m]
        for _ in range(60):
            if sum(A[i][j] ** 2 for i in m for j in m if i != j) < D(10) ** -84:
                break
            for i, j in itertools.combinations(m, 2):
                rotate(A, U, i, j)
        order = sorted(m, key=lambda i: -A[i][i])
        exact = [[N(int(u * 2**160), None, -160) for u in U[i]] for i in order]
        places = 400 - 4 * min(0, scale.adjusted())  # 400 behind its first digit, also where the table is tiny
        size = N(int(scale * D(2) ** places), None, -places)
        return [N(int(A[i][i] * 2**160), None, -160) * size for i in order], exact

def rotate(A, U, i, j):
    """Turn columns, rows and vectors i and j so that A[i][j] becomes zero."""
    if not A[i][j]:
        return
    theta = (A[j][j] - A[i][i]) / (2 * A[i][j])
    t = (1 if theta >= 0 else -1) / (abs(theta) + (theta**2 + 1).sqrt())
    c = 1 / (t**2 + 1).sqrt()
    for row in A:
        row[i], row[j] = c * (row[i] - t * row[j]), c * (t * row[i] + row[j])
    for M in (A, U):
        M[i], M[j] = [c * (a - t * b) for a, b in zip(M[i], M[j])], [c * (t * a + b) for a, b in zip(M[i], M[j])]

prove_gaussian_sums, prove_counted_sums = checker.prove_gaussian_counts, checker.prove_smoothed_counts
def prove_complement_sums(table, e): return checker.check_of("complement-counts")(table, e)
def prove_mixed_sums(table, e): return checker.check_of("mixed-counts")(table, e)

def prove_component_sums(table, e):
    need(table.given is None, "weights")
    return checker.prove_principal_components(table, e)

checker.KINDS.update({name[6:].replace("_", "-"): f for name, f in sorted(globals().items()) if name.startswith("prove_")})
if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")
    sys.exit(checker.main(sys.argv[1:]))
