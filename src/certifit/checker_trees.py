"""The kinds of decision trees: python checker_trees.py fit.proof data.csv

This file belongs in the folder of checker.py, which has the arithmetic, reads and prints, and hands over to this file where it does not
know a kind itself. Nothing else is needed but Python's standard library. The pages "The proof file" and "What you have to trust" say more.
"""
import fractions, functools, importlib.util, itertools, operator, pathlib, struct, sys

if "checker" not in globals():  # it was not checker.py that loaded this file
    checker = sys.modules.get("certifit.checker")
    if checker is None:
        _spec = importlib.util.spec_from_file_location("checker", pathlib.Path(__file__).with_name("checker.py"))
        checker = sys.modules["checker"] = importlib.util.module_from_spec(_spec)
        _spec.loader.exec_module(checker)
N, Record, Table = checker.N, checker.Record, checker.Table
n, need, vec, whole, truth, coded = (getattr(checker, f) for f in "n need vec whole truth coded".split())
total, largest, least, aligned, apart = (getattr(checker, f) for f in "total largest least aligned apart".split())
up, near, plogp = checker.up, checker.near, checker.plogp

# -- the worth of a side ----------------------------------------------------------------------------------------------
@functools.lru_cache(2**16)
def logarithm(k, bits):
    """log k of a whole number, which comes up often; kept for each number of bits."""
    return checker.log(N(k))

def squares(W, *sums):
    return N(sum(s * s for s in sums)) / W

def logs(W, *sums):
    """Σ s log(s/W)."""
    return total((logarithm(s, checker.BITS) - logarithm(W, checker.BITS)) * s for s in sums if s not in (0, W))

CRITERIA = {  # for classes?; the worth of a side, from its weight and sums; what each row adds to the impurity, which is less the worth
    "gini": (True, squares, lambda y: N(1)),
    "entropy": (True, lambda *side: logs(*side) / logarithm(2, checker.BITS), lambda y: N(0)),
    "squared_error": (False, squares, lambda y: y**2),
    "poisson": (False, logs, plogp),
    "absolute_error": (False, None, lambda y: N(0)),
}

def tree_targets(table, e, of_classes, formula):
    """Targets; weight and terms of the sums of each row, and their unit; the worth of a side."""
    names, s = e.get("classes") or [], table.weight
    need(bool(names) == of_classes and len(names) in (0, len(table.y)), "other classes")
    Y = [Table(table.X, [y]).codes(c, 1) for y, c in zip(table.y, names)] or [vec(y) for y in table.y]
    for y, f in zip(Y, e.get("class_weight") or []):
        s = [a * f[c] for a, c in zip(s, y)]
    s, Z = vec(s), [[N(int(v == k)) for v in y] for y in Y for k in range(max(map(len, names)))] if names else Y
    need(least(s) >= 0, "a negative class weight")
    grids = [(y, sorted({*y}), at) for y, _, at in (() if formula else map(aligned, Y))]
    if grids:  # the sums are the masses below steps
        Z = [[N(int(v <= a)) for v in y] for y, steps, _ in grids for a in steps[:-1]]

    def least_costs(W, *sums):  # the least Σ w|y − c| of each target: a step counts for the smaller mass, of those below or above it
        sums = iter(sums)
        return [N(sum(min(m, W - m) * (b - a) for a, b, m in zip(v, v[1:], sums)), None, at) for _, v, at in grids]

    flat, _, unit = aligned(itertools.chain(s, *([a * v for a, v in zip(s, z)] for z in Z)))
    parts = [flat[i :: table.rows] for i in range(table.rows)]
    return Y, unit, parts, formula or (lambda *side: -total(least_costs(*side))), least_costs

def divisions(here, cells, parts, e, named):
    """How many rows may go left by a column, and their sums; missing cells (None) last, then first."""
    atoms, few = {}, len((e.get("classes") or [[]])[0]) < 3  # two classes, or numbers: a best group of categories is first by its means
    for i in here:
        atoms.setdefault(cells[i] if cells[i] == cells[i] else None, []).append(i)
    sums = {v: [len(rows), *map(sum, zip(*(parts[i] for i in rows)))] for v, rows in atoms.items()}
    lost, known = [None] * (None in atoms), sorted({*atoms} - {None})
    orders = [known + lost, lost + known][: 1 + len(lost)]
    if named and few:
        orders = [sorted(atoms, key=lambda v: fractions.Fraction(sums[v][-1], sums[v][1]))]
    elif named:
        orders = [v for k in range(1, min(len(atoms), 11)) for v in itertools.combinations([*atoms][1:], k)]
    need(not named or (len(orders) < 512 and e.criterion != "absolute_error"), "groups of categories that are too many to compare")
    for order in orders:
        added = itertools.accumulate(map(sums.get, order), lambda a, b: [*map(operator.add, a, b)])
        yield from (v for v, a, b in zip(added, order, [*order[1:], None]) if named or not e.get("precision") or told_apart(a, b))

def told_apart(a, b):
    """Whether b > a + 1e-7 in single precision, as scikit-learn divides numbers; a missing one from any other."""
    def single(v): return struct.unpack("f", struct.pack("f", v))[0]
    return None in (a, b) or single(b) > single(single(a) + single(1e-7))

# -- the tree ---------------------------------------------------------------------------------------------------------
class Tree:
    """The nodes of a tree, from the root down; `seen` has the impurity of each, `short` what divisions gain beyond the stated ones."""

    def __init__(self, table, e):
        known = e.get("precision") in (None, "single") and e.get("monotonic") is None and e.get("splitter", "best") in ("best", "random")
        need(known, "a tree grown by rules not known here")
        criterion = {"log_loss": "entropy", "friedman_mse": "squared_error"}.get(e.criterion, e.criterion)
        self.of_classes, self.formula, self.term = CRITERIA[criterion]
        self.Y, self.unit, self.parts, self.worth, self.least_costs = tree_targets(table, e, self.of_classes, self.formula)
        self.e, self.y, self.w, held = e, table.y, [p[0] for p in self.parts], e.get("validation") or []
        self.names = e.get("categories") or [None] * table.width
        self.X = [coded(*c) for c in zip(zip(*table.X), self.names)]
        self.alpha, self.light, self.few, self.tol = n(e.alpha), n(e.min_weight_leaf), whole(e.min_samples_leaf, 1), n(1e-9)
        self.tests, used = {i for i in table.at(held) if self.w[i]}, {i for i, v in enumerate(self.w) if v}
        self.grown, self.held = sorted(used - self.tests), bool(held)
        self.mass, one = sum(self.w[i] for i in self.grown) * len(self.Y), len(self.Y) == 1
        fit = len({*held}) == len(held) and (one or not (held or any(self.names)))
        need(self.alpha >= 0 <= self.light and fit, "rules that do not fit")
        self.compared = e.get("splitter") != "random"  # thresholds that were drawn are not
        self.seen, self.short = {}, [N(0)]

    def weigh(self, rows):
        return [sum(c) for c in zip(*(self.parts[i] for i in rows))]

    def goes_left(self, t, i):
        """By the side for missing cells, a threshold, or a group of categories."""
        j = whole(self.e.feature[t], 0, len(self.X))
        v, group = self.X[j][i], None if self.names[j] is None else self.e.sets[whole(self.e.group[t], 0)]
        return self.e.missing_left[t] == 1 if v != v else v <= self.e.threshold[t] if group is None else group[int(v)] == 1

    def leaf(self, t, here, tried):
        """The cost of a node as a leaf, whose value must be right, and its impurity."""
        side, value, Y, w, eta = self.weigh(here), self.e.value[t], self.Y, self.w, 1e-307 * self.of_classes  # a share may underflow
        stated, right = vec(sum(value, [])), [N(v) / side[0] for v in side[1:]]
        pure = len({*zip(*([y[i] for i in here] for y in self.y))}) == 1  # then the impurity is 0, which intervals leave open
        impure = N(0) if pure else (total(self.term(y[i]) * w[i] for y in Y for i in here) - self.worth(*side)) / self.mass
        if self.formula:
            off, size = apart(stated, right), right if self.of_classes else [largest(abs(y[i]) for i in here) for y in Y]
        else:
            size = self.least_costs(*side)
            off = [total(abs(y[i] - a) * w[i] for i in here) - v for a, y, v in zip(stated, Y, size)]
        fit = len(stated) == len(size) and all(a <= b * self.tol + (b > 0) * eta for a, b in zip(off, size))
        need(fit, "node %d: a wrong value" % t)
        top = value[0].index(max(value[0]))
        misses = (int(Y[0][i] != top) if self.of_classes else (stated[0] - Y[0][i]) ** 2 for i in tried)
        return total(N(w[i]) * miss for i, miss in zip(tried, misses)) if self.held else impure + self.alpha, impure

    def compare(self, t, here, sums, impure, looked):
        """No other division by these columns gains more than the stated one, into sides with these sums."""
        side, own = self.weigh(here), total(self.worth(*v) for v in sums)
        for count, *left in (v for j in looked for v in divisions(here, self.X[j], self.parts, self.e, self.names[j] is not None)):
            rest = [*map(operator.sub, side, left)]
            if min(count, len(here) - count) < self.few or left in sums:
                continue  # not allowed, or worth the same
            if self.light.lo and N(min(left[0], rest[0]), None, self.unit) < self.light * (1 + self.tol):
                continue
            if self.formula is logs and 0 in left + rest:
                continue
            gain = self.worth(*left) + self.worth(*rest) - own
            if not gain <= 0:
                self.short.append((gain / self.mass).max0())
                need(self.short[-1] <= impure * self.tol, "node %d: a better split" % t)

    def node(self, t, here, tried):
        """The least cost of a pruning below a node, the cost of the stated one, and its impurity."""
        e = self.e
        price, impure = self.leaf(t, here, tried)
        self.seen[t] = impure
        if e.left[t] < 0:
            need(not truth(e.asks[t]), "a leaf that asks")
            return price, price, impure
        below, drawn = [whole(e[k][t], t + 1) for k in ("left", "right")], e.get("drawn")
        looked = [j for j in range(len(self.X)) if not drawn or drawn[t][j] == 1]
        sides = [[[i for i in rows if self.goes_left(t, i) == yes] for rows in (here, tried)] for yes in (True, False)]
        sums, fewest = [self.weigh(rows) for rows, _ in sides], min(len(rows) for rows, _ in sides)
        allowed = fewest >= self.few and N(min(sums)[0], None, self.unit) >= self.light * (1 - self.tol)
        need(allowed and e.feature[t] in looked, "node %d: no split" % t)
        if self.compared:
            self.compare(t, here, sums, impure, looked)
        need(len({*below} - {*self.seen}) == 2 and truth(e.asks[t]) >= max(e.asks[i] for i in below), "node %d: no node of a tree" % t)
        a, b = [self.node(child, *rows) for child, rows in zip(below, sides)]
        best = least((price, a[0] + b[0]))
        return (best, a[1] + b[1], a[2] + b[2]) if e.asks[t] else (best, price, impure)

def prove_tree_general(table, e):
    """No other division of a split node gains more by over `shortfall`; no pruning costs less."""
    tree, yes = Tree(table, e), sum(e.asks)
    best, kept, impure = tree.node(0, tree.grown, sorted(tree.tests))
    lost, tiny = (kept - best).max0() * int(len(tree.seen) > 1), (abs(tree.seen[0]) + int(tree.of_classes)) * 1e-30
    need(len(tree.seen) == len(e.left) and lost <= kept * tree.tol + tiny, "a better pruning exists")
    found = {"validation_loss": near(kept / sum(tree.w[i] for i in tree.tests))} if tree.held else {"pruning_shortfall": up(lost)}
    found = {**found, "shortfall": up(largest(tree.short))} if tree.compared else found
    return {**found, "questions": yes, "leaves": yes + 1, "outputs": len(tree.Y), "impurity": near(impure)}

def prove_tree(table, e):
    """The same for one target."""
    one = {k: [e[k]] for k in ("classes", "class_weight") if e.get(k)}
    return prove_tree_general(table, Record(e, value=[[v] for v in e.value], **one))

checker.KINDS.update({name[6:].replace("_", "-"): f for name, f in sorted(globals().items()) if name.startswith("prove_")})
if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")
    sys.exit(checker.main(sys.argv[1:]))
