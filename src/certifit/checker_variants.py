"""Variants of neighbours and naive Bayes: python checker_variants.py fit.proof data.csv

This file belongs in the folder of checker.py, which has the arithmetic, reads and prints, and hands over to this file where it does not
know a kind itself. Nothing else is needed but Python's standard library. The pages "The proof file" and "What you have to trust" say more.
"""
import fractions, importlib.util, pathlib, sys

if "checker" not in globals():  # it was not checker.py that loaded this file
    checker = sys.modules.get("certifit.checker")
    if checker is None:
        _spec = importlib.util.spec_from_file_location("checker", pathlib.Path(__file__).with_name("checker.py"))
        checker = sys.modules["checker"] = importlib.util.module_from_spec(_spec)
        _spec.loader.exec_module(checker)
Record, Table = checker.Record, checker.Table
need, vec, mat, whole, truth, coded = (getattr(checker, f) for f in "need vec mat whole truth coded".split())
total, largest, dot, log, moments, pull = (getattr(checker, f) for f in "total largest dot log moments pull".split())
up, near, smoothing, nearest, listed = (getattr(checker, f) for f in "up near smoothing nearest listed".split())

def prove_radius_neighbors(table, e):
    """Distance ≤ r; by angle s ≥ (1 − r)‖x‖‖q‖, both sides squared with their signs."""
    r, stated, counts = fractions.Fraction(e.radius), iter(e.indices), [whole(c, 0) for c in e.counts]
    t = 1 - r
    for at, (order, unit, p, size) in enumerate(nearest(table, e, e.queries)):
        limit = r**p / unit if e.metric != "cosine" else -t * abs(t) * size if size else -int(t > 0)
        rows = sorted(i for d, i in order if d <= limit)
        need(rows == sorted(whole(next(stated)) for _ in range(counts[at])), "other rows")
    need(r >= 0 and len(counts) == at + 1 and sum(counts) == len(e.indices), "lists that do not fit, or a negative radius")
    return {"queries": at + 1, "radius": float(e.radius), "fewest": min(counts), "most": max(counts)}

def prove_edited_neighbors(table, e):
    """Kept is who has the label that most of its nearest other rows have, the first of equals."""
    y = table.codes(table.names())
    right = [max(range(max(y) + 1), key=[y[j] for j in rows].count) == v for v, rows in zip(y, e.neighbors)]
    need(sorted(map(whole, e.kept)) == [i for i, v in enumerate(right) if v], "kept are not the rows that their neighbours confirm")
    return {"kept": sum(right), **listed(nearest(table, Record(e, own=range(table.rows)), table.X), e.neighbors)}

def prove_condensed_neighbors(table, e):
    """The nearest row and the nearest prototype of every row have one label."""
    kept, (y,), orders = {whole(i, 0, table.rows) for i in e.prototypes}, table.y, nearest(table, Record(e, own=None), table.X)
    need(all(y[order[0][1]] == y[next(i for _, i in order if i in kept)] for order, *_ in orders), "a row that they answer otherwise")
    return {"prototypes": len(kept), "agreeing": table.rows}

def prove_stored_rows(table, e):
    """Equal rows are answered alike: all labels but the commonest are mistakes, deviations from means errors."""
    need(table.numbers() and any(Table(table.X).digest(s) == e.rows for s in (False, True)), "other rows than those of the model")
    need(e.task in (["none"] if not table.y else ["classes", "values"]), "an unknown task")
    groups, found = {}, {}
    for x, label in zip(table.X, zip(*table.y or [table.X])):
        groups.setdefault(tuple(x), []).append(label)
    if e.task == "classes":
        found["unavoidable"] = sum(len(g) - max(map(g.count, set(g))) for g in groups.values())
    sums = (dot(c, c) - total(c) ** 2 / len(c) for g in groups.values() for c in map(vec, zip(*g)))  # about the mean of each group
    return {**found, "distinct": len(groups), **({"unavoidable": near(total(sums))} if e.task == "values" else {})}

def prove_class_centres(table, e):
    """A point off the mean by δ costs W·δ² more; at a median no more than half of the rows lie on a side."""
    w, middle, groups, C = table.w, e.distance == "manhattan", table.groups(e.classes), mat(e.centres, None, table.width)
    need(((middle and table.given is None) or e.distance == "euclidean") and all(groups) and len(C) == len(groups), "no such centres")
    cells = [(x, rows, m) for rows, c in zip(groups, C) for x, m in zip(table.columns(), c)]
    if middle:
        sides = ((sum(x[i] < m for i in rows), sum(x[i] > m for i in rows), len(rows)) for x, rows, m in cells)
        need(all(2 * max(below, above) <= count for below, above, count in sides), "a wrong centre")
        return {"classes": len(C)}
    off = [(*moments(w, x, rows), m) for x, rows, m in cells]
    need(all(abs(a - m) <= v.sqrt() * 1e-9 + abs(m) * 2.0**-49 for a, v, m in off), "a wrong centre")
    return {"classes": len(C), "gap": up(total(pull(w, table.numbers(), *v) for v in zip(groups, C)))}

def prove_complement_counts(table, e):
    """A weight is −log of a column's share of counts plus α in all other classes, or that over their sum."""
    w, X, worst, F = table.w, table.numbers(), [], mat(e.feature_weights, len(e.classes), table.width)
    alpha = smoothing(e.alpha, table.width)
    need(all(v >= 0 for x in X for v in x), "a negative count")
    for here, stated in zip(map(set, table.groups(e.classes)), F):
        counts = [a + total(w[i] * x[j] for i, x in enumerate(X) if i not in here) for j, a in enumerate(alpha)]
        logs = [-log(v / total(counts)) for v in counts]
        best = [v / total(logs) for v in logs] if truth(e.norm) else logs
        worst += [abs(a - b) / (abs(b) if table.width > 1 else 1) for a, b in zip(best, stated)]  # one column: log 1
    error = largest(worst)
    need(error <= 1e-8, "other weights")
    return {"error": up(error), "classes": len(F)}

def prove_mixed_counts(table, e):
    """Columns of numbers by gaussian_counts, of words by smoothed_counts; missing cells are left out."""
    (numeric, discrete), words, cells = [[*map(whole, e[k])] for k in ("numeric", "discrete")], e.get("categories", []), [*zip(*table.X)]
    need(sorted(numeric + discrete) == list(range(table.width)) and len(discrete) == len(words), "every column is taken once, as one kind")
    def part(columns): return Table([list(x) for x in zip(*columns)], table.y, table.weight)
    found = checker.prove_gaussian_counts(part([cells[j] for j in numeric]), e) if numeric else {}
    if not discrete:
        return found
    rest = Record(e, model="categorical", n_categories=[*map(len, words)])
    return {**found, **checker.prove_smoothed_counts(part([coded(cells[j], v) for j, v in zip(discrete, words)]), rest)}

checker.KINDS.update({name[6:].replace("_", "-"): f for name, f in sorted(globals().items()) if name.startswith("prove_")})
if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")
    sys.exit(checker.main(sys.argv[1:]))
