r"""Trees with several targets, for counts, or with splits drawn at random: what can be said of each.

A split divides the rows of a node into two sides; what it costs is a function of the sums over each side alone,

- Gini and entropy: weights by class, averaged over the targets;
- squared error: :math:`-\sum_o S_o^2/W` with :math:`S_o = \sum w(y_o - c_o)` around a centre of the node;
- Poisson deviance: :math:`-\sum_o\big((Wc_o + S_o)\log(1 + S_o/(Wc_o)) - S_o\big)` with the same sums;
- absolute error: :math:`\sum_o \min_c \sum w|y_o - c|`, which is no function of sums and is summed row by row,

each up to what no split changes. Sums carry rounding bounds. With ``splitter="best"`` the claim is that no other
allowed threshold, about a column that the node looked at, costs less (to a billionth of the node's own cost). With
``splitter="random"`` thresholds were drawn at random: then only the limits and the values of the nodes are claimed.

With ``monotonic`` (+1, −1 or 0 a column) the prediction rises, or falls, with those columns: of two children of such a
split the one with the larger values predicts more, and everything below them stays on its side of the middle between
the two. Then a split on such a column is allowed where both its sides keep the bounds of the node and the
direction, and a node predicts what its rows say as far as its bounds allow. Impurities are those of the rows.

Evidence: the arrays of the tree as grown, ``outputs`` values a node, the rules of growing, ``asks`` after pruning.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import scipy.special

from certifit._types import Array
from certifit.certificates import tree_questions as tq
from certifit.certificates._ball import UNIT, Ball, gamma
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._record import Check, Kind, Proof, equal, register, upper
from certifit.certificates._schema import FINITE, FLAGS, LISTS, NUMBER, NUMBERS, TRUTHS, WHOLE, word
from certifit.certificates.tree import GrowingRules, GrownTree, least_costs_below
from certifit.certificates.tree_walk import ROUNDING, first_node
from certifit.losses._base import entr

CRITERIA = ("gini", "entropy", "log_loss", "squared_error", "friedman_mse", "absolute_error", "poisson")
Ends = tuple[float, float]  # between which a node may predict


def costs_of(sums: Any, criterion: str, sizes: tuple[int, ...], centre: Array | None = None) -> Any:
    """Weight × impurity of sets of rows (one a line of ``sums``), up to what no division changes.

    For classes the columns are weights by class, ``sizes`` of them a target; else the weight and then, for each target,
    the sum of what its rows are above ``centre`` (which only the Poisson deviance asks for).
    Plain numbers and numbers with bounds go through the same lines.

    Examples
    --------
    >>> costs_of(np.array([[1.0, 3.0]]), "gini", (2,)).tolist()
    [1.5]
    """
    if criterion in ("gini", "entropy", "log_loss"):
        ends = np.cumsum((0, *sizes))
        parts = [sums[:, a:b] for a, b in pairwise(ends)]
        return _mean([_impure(part, criterion) for part in parts])
    weight = sums[:, 0]
    if criterion == "poisson":
        assert centre is not None
        return _mean([_deviance(weight * float(c), sums[:, o]) for o, c in enumerate(centre, start=1)])
    return _mean([-1.0 * (np.square(sums[:, o]) / weight) for o in range(1, 1 + len(sizes))])


def _deviance(expected: Any, above: Any) -> Any:
    if isinstance(above, Ball):
        return above - (expected + above) * np.log1p(above / expected)
    return above - scipy.special.xlog1py(expected + above, above / expected)  # 0 where nothing was counted


def _impure(part: Any, criterion: str) -> Any:
    if isinstance(part, Ball):
        return tq.side_cost(part, criterion)
    total = part.sum(axis=1)
    if criterion == "gini":
        return total - np.square(part).sum(axis=1) / total
    return (entr(part).sum(axis=1) - entr(total)) / np.log(2.0)


def _mean(parts: list[Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total / float(len(parts))


def _sums(columns: Array, places: Array) -> tuple[Array, Array]:
    """The sums of the rows before each place, and of those from it on."""
    return np.cumsum(columns, axis=0)[places - 1], np.cumsum(columns[::-1], axis=0)[::-1][places]


class NodeRows:
    """What the rows of a node bring: the columns that are summed, and what no division changes."""

    def __init__(self, codes: Array | None, y: Array | None, weight: Array, sizes: tuple[int, ...], criterion: str):
        self.codes, self.y, self.weight, self.sizes, self.criterion = codes, y, weight, sizes, criterion
        n = len(weight)
        if codes is not None:
            ends = np.cumsum((0, *sizes))
            self.columns = np.zeros((n, ends[-1]))
            for o in range(len(sizes)):
                self.columns[np.arange(n), ends[o] + codes[:, o]] = weight
            return
        assert y is not None
        self.centre = (weight @ y) / weight.sum()
        if criterion == "poisson":
            self.centre = np.where(self.centre > 0.0, self.centre, 1.0)
        self.columns = np.column_stack([weight, weight[:, None] * (y - self.centre)])

    def pure(self) -> bool:
        """Whether all targets are constant."""
        v = self.codes if self.codes is not None else self.y
        assert v is not None
        return bool(np.all(v == v[0]))

    def fixed(self) -> float:
        """What the cost of a set of rows leaves out, summed over this node; weight × impurity is the sum of both."""
        if self.codes is not None or self.criterion == "absolute_error":
            return 0.0
        assert self.y is not None
        if self.criterion == "poisson":
            return float((self.weight @ scipy.special.kl_div(self.y, self.centre)).sum() / len(self.sizes))
        return float((self.weight @ np.square(self.y - self.centre)).sum() / len(self.sizes))

    def whole(self) -> float:
        """Weight × impurity of the node."""
        if self.criterion == "absolute_error":
            assert self.y is not None
            return float(np.mean([tq.absolute_costs(c, self.weight)[1][-1] for c in self.y.T]))
        return float(np.maximum(0.0, self._cost(self.columns.sum(axis=0)[None])[0] + self.fixed()))  # a NaN stays one

    def _cost(self, sums: Any) -> Any:
        return costs_of(sums, self.criterion, self.sizes, None if self.codes is not None else self.centre)

    def question_costs(self, left: Array) -> tuple[float, float]:
        """The cost of one division (mask of the rows that go left), from below and from above."""
        if self.criterion == "absolute_error":
            assert self.y is not None
            sides = [
                tq.absolute_costs(self.y[m, o], self.weight[m]) for m in (left, ~left) for o in range(len(self.sizes))
            ]
            many = float(len(self.sizes))
            return sum(s[0][-1] for s in sides) / many, sum(s[1][-1] for s in sides) / many
        sides = [self.columns[side] for side in (left, ~left)]
        g = gamma(2 * len(left) + 16)
        balls = [Ball(part.sum(axis=0)[None], g * np.abs(part).sum(axis=0)[None]) for part in sides]
        both = self._cost(balls[0]) + self._cost(balls[1])
        return float(both.lower[0]), float(both.upper[0])

    def cuts(self, x: Array, single: bool = False) -> Iterator[tuple[Array, Array, bool]]:
        """(order of the rows, places after which one may cut, whether missing values go left) for one column.

        With ``single``, only between values that scikit-learn tells apart in single precision.
        """
        lost = np.isnan(x)
        order = np.argsort(np.where(lost, np.inf, x), kind="stable")
        gone, values = int(lost.sum()), x[order]
        known = len(x) - gone
        other = values[: max(known - 1, 0)] != values[1 : max(known, 1)]
        if single:
            other &= tq.told_apart(values[: max(known, 1)].astype(np.float32))
        places = np.flatnonzero(other) + 1
        yield order, np.append(places, known) if 0 < gone < len(x) else places, False
        if gone:
            yield np.roll(order, gone), places + gone, True

    def costs(self, order: Array, places: Array) -> Array:
        """The cost of every cut, as computed."""
        if self.criterion == "absolute_error":
            return self._absolute(order, places)
        left, right = _sums(self.columns[order], places)
        return np.asarray(self._cost(left) + self._cost(right))

    def least_costs(self, order: Array, places: Array) -> Array:
        """The cost of every cut, from below."""
        if self.criterion == "absolute_error":
            return self._absolute(order, places) * (1 - 8 * UNIT)
        part, g = self.columns[order], gamma(2 * len(order) + 16)  # of the sums, and of the sums that bound them
        sides = zip(_sums(part, places), _sums(np.abs(part), places))
        a, b = (Ball(total, g * size) for total, size in sides)
        bound = self._cost(a) + self._cost(b)
        return np.where(np.isnan(bound.lower), -np.inf, bound.lower)

    def _absolute(self, order: Array, places: Array) -> Array:
        assert self.y is not None
        total = np.zeros(len(places))
        for o in range(len(self.sizes)):
            y, w = self.y[order, o], self.weight[order]
            low = tq.absolute_costs(y, w)[0][places] + tq.absolute_costs(y[::-1], w[::-1])[0][::-1][places]
            total += low / len(self.sizes)
        return total

    def allowed(self, order: Array, places: Array, min_rows: int, min_weight: float) -> Array:
        """Cuts that leave enough rows and weight (and, for counts, something counted) on either side."""
        n, mass = len(order), np.cumsum(self.weight[order])
        ok = (places >= min_rows) & (n - places >= min_rows)
        ok &= (mass[places - 1] >= min_weight) & (mass[-1] - mass[places - 1] >= min_weight)
        if self.criterion == "poisson":
            assert self.y is not None
            there = self.y[order] > 0.0
            first, last = np.argmax(there, axis=0).max(), (n - np.argmax(there[::-1], axis=0)).min()
            ok &= (places > first) & (places < last)
        return ok

    def monotone(self, order: Array, places: Array, sign: int, bounds: Ends, spare: float = 0.0) -> Array:
        """Cuts whose two sides predict within the bounds and in the direction asked for, with something to spare."""
        low, high = bounds[0] + spare, bounds[1] - spare
        left, right = self._sides(order, places)
        ok = (left >= low) & (right >= low) & (left <= high) & (right <= high)
        return np.asarray(ok & ((left - right) * sign <= -spare))

    def _sides(self, order: Array, places: Array) -> tuple[Array, Array]:
        """What the two sides of every cut predict: the mean, the median, or the share of the second class."""
        if self.criterion == "absolute_error":
            assert self.y is not None
            y, w = self.y[order, 0], self.weight[order]
            return tq.medians(y, w)[places - 1], tq.medians(y[::-1], w[::-1])[::-1][places]
        left, right = _sums(self.columns[order], places)
        if self.codes is not None:
            return left[:, -1] / left.sum(axis=1), right[:, -1] / right.sum(axis=1)
        return self.centre[0] + left[:, 1] / left[:, 0], self.centre[0] + right[:, 1] / right[:, 0]

    def values(self) -> Array:
        """What the node predicts, (targets, classes or 1)."""
        out = np.zeros((len(self.sizes), max(self.sizes)))
        if self.codes is not None:
            ends = np.cumsum((0, *self.sizes))
            sums = self.columns.sum(axis=0)
            for o, k in enumerate(self.sizes):
                part = sums[ends[o] : ends[o + 1]]
                out[o, :k] = part / part.sum()
            return out
        assert self.y is not None
        for o, y in enumerate(self.y.T):
            out[o, 0] = tq.median(y, self.weight) if self.criterion == "absolute_error" else _exact_mean(y, self.weight)
        return out


def _exact_mean(y: Array, w: Array) -> float:
    mean = float((w := w / w.max()) @ y / w.sum())  # products with small weights would vanish
    return mean + float(w @ (y - mean) / w.sum())


def within(values: Array, bounds: Ends, r: NodeRows) -> Array:
    """What a node of a tree with directions predicts: its value, or the second class's share, within its bounds."""
    out, last = values.copy(), r.sizes[0] - 1
    out[0, last] = min(max(float(out[0, last]), bounds[0]), bounds[1])
    if r.codes is not None and last == 1:
        out[0, 0] = 1.0 - out[0, 1]
    return out


@register
class GeneralTree(Kind):
    """No other threshold costs less, node by node; or, of random splits, that limits and values are right."""

    name = "tree-general"
    theorem = "exhaustive comparison of the allowed splits; bottom-up recursion over prunings"
    needs: ClassVar = {
        "criterion": word(*CRITERIA), "splitter": word("best", "random"), "left": WHOLE, "right": WHOLE,
        "feature": WHOLE, "threshold": NUMBERS, "missing_left": FLAGS, "value": FINITE, "asks": TRUTHS,
        "alpha": NUMBER, "max_depth": NUMBER, "min_samples_split": NUMBER, "min_samples_leaf": NUMBER,
        "max_leaf_nodes": NUMBER, "min_weight_leaf": NUMBER, "min_impurity_decrease": NUMBER,
    }  # fmt: skip
    may: ClassVar = {"classes": LISTS, "class_weight": LISTS, "drawn": FLAGS, "monotonic": WHOLE,
                     "precision": word("single")}  # fmt: skip

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        with np.errstate(all="ignore"):  # a NaN or an infinity fails the comparisons
            return _Walk(data, evidence).proof()

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        rules = _rules(evidence)
        size = f"{figures['questions']} split{'s' if figures['questions'] != 1 else ''}"
        within = f" within {rules.words}" if rules.words else ""
        many = f" for {figures['outputs']} targets" if figures["outputs"] > 1 else ""
        if evidence["splitter"] == "random":
            return (
                f"A tree of {size}{many}{within}, whose thresholds were drawn at random: nothing is claimed about "
                f"them; every node keeps the limits and predicts what its rows imply{_directions(evidence)}."
            )
        drawn = " about the columns drawn for it" if evidence.get("drawn") is not None else ""
        text = f"A tree of {size}{many}{within}: at each node no other allowed split{drawn} gains more by "
        text += f"{evidence['criterion']} ({figures['compared']} compared, to {ROUNDING:.0e} of the node's impurity)"
        text += tq.close_values(evidence)
        if "pruning_shortfall" in figures:
            text += f"; no other pruning costs less at alpha = {rules.alpha:.4g}"
        return text + _directions(evidence) + "."


def _same_division(left: Array, places: Array) -> Array:
    """Cuts of the rows in some order that put on one side just those marked, on the other just the rest."""
    marked = np.cumsum(left)
    before, all_ = marked[places - 1], int(marked[-1])
    return np.asarray(((before == places) & (places == all_)) | ((before == 0) & (len(left) - places == all_)))


def _directions(e: Evidence) -> str:
    """What is claimed of columns with a direction."""
    if e.get("monotonic") is None:
        return ""
    signs = np.asarray(e["monotonic"])
    told = [
        f"{verb} with column{'s' if len(at) > 1 else ''} {', '.join(map(str, at))}"
        for verb, at in (("never falls", np.flatnonzero(signs > 0)), ("never rises", np.flatnonzero(signs < 0)))
        if len(at)
    ]
    spare = f" (splits were compared that keep this with {ROUNDING:.0e} of the range to spare)"
    what = "the share of the second class" if e.get("classes") is not None else "the prediction"
    return f"; of rows without missing values {what} {' and '.join(told)}" + (spare if e["splitter"] == "best" else "")


def _rules(e: Evidence) -> GrowingRules:
    return GrowingRules.of({**e, "criterion": "gini"})


class _Walk:
    """The rows on their way down the tree."""

    def __init__(self, data: Data, e: Evidence) -> None:
        self.e, self.rules, self.criterion = e, _rules(e), str(e["criterion"])
        value = np.asarray(e["value"], dtype=float)
        if value.ndim != 3:
            raise ValueError("values have one row per target")
        n = len(value)
        blank = {"group": np.full(n, -1), "sets": np.zeros((1, 1), dtype=bool), "value": value.reshape(n, -1)}
        self.tree, self.value = GrownTree({**e, **blank}, data.X.shape[1]), value
        self.X, _ = tq.finite_or_missing(np.asarray(data.X, dtype=float))
        self._read(data)
        use = np.flatnonzero(self.weight > 0.0)
        if not len(use):
            raise ValueError("every row has weight zero")
        self.use, self.total = use, float(self.weight[use].sum())
        self.drawn = tq.drawn_columns(e, self.tree.inner, self.tree.feature, self.X.shape[1])
        self._read_signs()
        self.cost, self.room = np.zeros(n), np.zeros(n, dtype=bool)
        self.low, self.high = np.full(n, -np.inf), np.full(n, -np.inf)
        self.bad_value = self.bad_side = self.bad_direction = -1
        self.compared, self.shortfall, self.relative = 0, 0.0, 0.0

    def _read(self, data: Data) -> None:
        y = np.asarray(data.y).reshape(len(self.X), -1)
        self.weight, self.codes, self.y = data.weights.astype(float), None, None
        q = y.shape[1]
        if self.e.get("classes") is not None:
            places = [tq.places_of(names) for names in self.e["classes"]]
            if len(places) != q:
                raise ValueError("one list of classes is needed for each target")
            self.codes = np.array([[place[tq.label_key(v)] for place, v in zip(places, row)] for row in y])
            self.sizes = tuple(len(p) for p in places)
            for o, factors in enumerate(self.e.get("class_weight") or []):
                factor = np.asarray(factors, dtype=float)
                if factor.shape != (self.sizes[o],) or not np.all((factor >= 0) & np.isfinite(factor)):
                    raise ValueError("class weights are finite and not negative, one per class")
                self.weight = self.weight * factor[self.codes[:, o]]
        else:
            self.y, self.sizes = data.real_targets().reshape(y.shape), (1,) * q
            if self.criterion == "poisson" and np.any(self.y < 0.0):
                raise ValueError("counts are not negative")
        classes = self.criterion in ("gini", "entropy", "log_loss")
        if classes != (self.codes is not None) or self.value.shape[1:] != (q, max(self.sizes)):
            raise ValueError("criterion, classes and values do not match")

    def _read_signs(self) -> None:
        self.signs, self.spare = None, 0.0
        if self.e.get("monotonic") is None:
            return
        self.signs = np.asarray(self.e["monotonic"])
        if self.signs.shape != (self.X.shape[1],) or not np.all(np.isin(self.signs, (-1, 0, 1))):
            raise ValueError("a direction is -1, 0 or 1, one for each column")
        if len(self.sizes) > 1 or self.sizes[0] > 2:
            raise ValueError("directions are for one target of values or two classes")
        self.spare = ROUNDING * (1.0 if self.y is None else float(np.ptp(self.y)))

    def _bounds_below(self, node: int, bounds: Ends) -> list[Ends]:
        """Bounds of the two children."""
        t, (low, high) = self.tree, bounds
        first, second = (float(self.value[child, 0, self.sizes[0] - 1]) for child in (t.left[node], t.right[node]))
        if self.signs is None:
            return [bounds, bounds]
        sign = int(self.signs[t.feature[node]])
        middle = first / 2.0 + second / 2.0
        sides = [(low, middle), (middle, high)]
        return [bounds, bounds] if sign == 0 else sides[::sign]

    def _check_directions(self) -> None:
        """On a column with a direction nothing on one side of a split predicts more, or less, than the other side.

        Bounds that hold up to rounding would not do: what is claimed of the predictions is exact.
        """
        assert self.signs is not None
        t, shares = self.tree, self.value[:, 0, self.sizes[0] - 1]
        low, high = shares.copy(), shares.copy()
        for node in np.flatnonzero(t.inner)[::-1]:  # children come after their parents
            a, b = (t.left[node], t.right[node])[:: int(self.signs[t.feature[node]]) or 1]
            if self.signs[t.feature[node]] and not high[a] <= low[b]:
                self.bad_direction = int(node)
            low[node], high[node] = min(low[[node, a, b]]), max(high[[node, a, b]])

    def _rows(self, rows: Array) -> NodeRows:
        codes = None if self.codes is None else self.codes[rows]
        y = None if self.y is None else self.y[rows]
        return NodeRows(codes, y, self.weight[rows], self.sizes, self.criterion)

    def proof(self) -> Proof:
        t = self.tree
        stack: list[tuple[int, Array, int, Ends]] = [(0, self.use, 0, (-np.inf, np.inf))]
        while stack:
            node, rows, depth, bounds = stack.pop()
            if not len(rows):
                raise ValueError("a node without rows")
            self._node(node, rows, depth, bounds)
            if t.inner[node]:
                left = t.goes_left(np.full(len(rows), node), self.X, rows)
                a, b = self._bounds_below(node, bounds)
                stack += [
                    (int(t.left[node]), rows[left], depth + 1, a),
                    (int(t.right[node]), rows[~left], depth + 1, b),
                ]
        figures = {
            "questions": equal(int(t.asks.sum())),
            "leaves": equal(int(t.asks.sum()) + 1),
            "outputs": equal(len(self.sizes)),
            "compared": equal(self.compared),
            **({} if self.e["splitter"] == "random" else {"shortfall": upper(self.shortfall)}),
        }
        checks = self._checks()
        if self.rules.alpha > 0:
            share = np.maximum(self.cost, 0.0) / self.total
            slack = gamma(8 * len(self.use))
            best, kept = least_costs_below(t, share * (1 - slack), share * (1 + slack), self.rules.alpha)
            above = max(0.0, float(kept[0] - best[0]))
            figures["pruning_shortfall"] = upper(above)
            small = np.isfinite(above) and above <= ROUNDING * float(kept[0])  # a huge alpha overflows
            checks.append(Check("no other pruning costs less", bool(small), f"{above:.1e}"))
        else:
            checks.append(Check("nothing was pruned", bool(np.array_equal(t.asks, t.inner))))
        return Proof(figures, tuple(checks))

    def _node(self, node: int, rows: Array, depth: int, bounds: Ends) -> None:
        r, rules = self._rows(rows), self.rules
        self.cost[node] = whole = r.whole()
        self._check_value(node, r, bounds)
        open_ = not r.pure() and depth < rules.max_depth and len(rows) >= rules.min_samples_split
        left = None
        if self.tree.inner[node]:
            left = self.tree.goes_left(np.full(len(rows), node), self.X, rows)
            light = min(float(r.weight[left].sum()), float(r.weight[~left].sum())) * (1 - gamma(len(rows)))
            light_side = light < (1 - ROUNDING) * rules.min_weight_leaf
            if min(left.sum(), (~left).sum()) < rules.min_samples_leaf or light_side or not open_:
                self.bad_side = node
        if self.e["splitter"] == "random":
            self.room[node] = open_
            return
        least = self._least_rival(node, rows, r, bounds, left) if open_ else np.inf
        own = (np.inf, np.inf) if left is None else r.question_costs(left)
        lowest = min(least, own[0])
        self.room[node] = lowest < np.inf and open_
        before = whole - r.fixed()
        slack = gamma(4 * len(rows) + 64) * (abs(before) + abs(r.fixed()) + whole)
        self.high[node] = tq.per_weight(before - lowest + slack, self.total) if self.room[node] else -np.inf
        if left is not None:
            self.low[node] = (before - own[1] - slack) / self.total
            self._fall_short(float(tq.per_weight(own[1] - least, self.total)), node)

    def _least_rival(self, node: int, rows: Array, r: NodeRows, bounds: Ends, left: Array | None) -> float:
        """The least cost, from below, of any allowed split that divides the rows otherwise than the node's own.

        Allowed is what keeps the limit on the weight with a billionth of it to spare: how sums were rounded decides
        about the rest.
        """
        least, rules = np.inf, self.rules
        for j in range(self.X.shape[1]):
            if self.drawn is not None and not self.drawn[node, j]:
                continue
            for order, places, _ in r.cuts(self.X[rows, j], self.e.get("precision") == "single"):
                light = max(0.0, (1 + ROUNDING) * rules.min_weight_leaf - gamma(2 * len(rows)) * r.weight.sum())
                ok = places[r.allowed(order, places, rules.min_samples_leaf, light)]
                if self.signs is not None and self.signs[j] != 0 and len(ok):
                    ok = ok[r.monotone(order, ok, int(self.signs[j]), bounds, self.spare)]
                self.compared += len(ok)
                ok = ok if left is None else ok[~_same_division(left[order], ok)]
                if len(ok):
                    least = min(least, float(r.least_costs(order, ok).min()))
        return least

    def _fall_short(self, short: float, node: int) -> None:
        short = np.inf if np.isnan(short) else max(0.0, short)
        self.shortfall = max(self.shortfall, short)
        here = self.cost[node] / self.total
        self.relative = max(self.relative, short / here if here > 0 else (0.0 if short == 0.0 else np.inf))

    def _check_value(self, node: int, r: NodeRows, bounds: Ends) -> None:
        said, found = self.value[node], r.values()
        if self.signs is not None:
            found = within(found, bounds, r)
        if self.codes is not None:
            size = found if self.signs is None else 1.0  # what a bound cuts off is rounded beside 1
            good = bool(np.all(np.abs(said - found) <= 1e-9 * size))
        elif self.criterion == "absolute_error":
            assert r.y is not None
            least = [tq.absolute_costs(c, r.weight)[1][-1] for c in r.y.T]
            if self.signs is not None:
                least = [float(r.weight @ np.abs(r.y[:, 0] - found[0, 0]))]
            mine = [float(r.weight @ np.abs(c - s)) for c, s in zip(r.y.T, said[:, 0])]
            good = all(tq.as_low_as(m, b) for m, b in zip(mine, least))
        else:
            assert r.y is not None
            size = np.abs(r.y).max(axis=0)
            spread = np.sqrt(r.weight @ np.square(r.y - found[:, 0]) / r.weight.sum())
            good = bool(np.all(np.abs(said - found)[:, 0] <= 1e-9 * spread + 256 * UNIT * size))
        if not good:
            self.bad_value = node

    def _checks(self) -> list[Check]:
        t, rules = self.tree, self.rules
        least, limit = rules.min_impurity_decrease, rules.max_leaf_nodes
        leaves = int((~t.inner).sum())
        checks = [
            Check("every split keeps the limits", self.bad_side < 0, f"node {self.bad_side}"),
            Check("every node predicts what its rows imply", self.bad_value < 0, f"node {self.bad_value}"),
            Check("there are no more leaves than allowed", not limit or leaves <= limit),
            Check("every impurity is a finite number", bool(np.all(np.isfinite(self.cost / self.total)))),
        ]
        if self.signs is not None:
            self._check_directions()
            node = self.bad_direction
            checks.append(Check("every split keeps the requested directions", node < 0, f"node {node}"))
        if self.e["splitter"] == "random":
            return checks
        self._best_first()
        rounding = ROUNDING * (np.maximum(self.cost, 0.0) / self.total + least)
        idle = ~t.inner & self.room & (not (limit and leaves >= limit)) & ~(self.high <= least + rounding)
        stray = t.inner & (~self.room | ~(self.low + rounding >= least if least > 0 else self.room))
        short = self.relative <= ROUNDING
        return [
            Check("no other allowed split gains more", short, f"at most {self.relative:.1e} of a node's"),
            Check("every split was allowed by the limits", not stray.any(), first_node(stray)),
            Check("every leaf had a reason to stop", not idle.any(), first_node(idle)),
            *checks,
        ]

    def _best_first(self) -> None:
        """With a limit on leaves: each node divided gained at least what any leaf then open offered."""
        if self.rules.max_leaf_nodes:
            for node, rivals in tq.in_order(self.tree.left, self.tree.right, self.room):
                self._fall_short(float(self.high[rivals].max() - self.low[node]), node)
