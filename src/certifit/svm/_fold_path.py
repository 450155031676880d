"""Shared work of `SVC`: one Gram matrix for all folds and costs, seeds from cost to cost and from fold to fold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array

from certifit._types import Array, Matrix
from certifit.certificates.svm import pairs_of
from certifit.design import blocks
from certifit.kernels import Kernel, Precomputed, choose
from certifit.parallel import one_thread, side_by_side
from certifit.resampling import CannotShare, Fold
from certifit.solvers.svc_folds import FoldMachine, machine_path
from certifit.svm._labels import Labelled, labelled

_LEADERS = 2  # folds solved without looking at another; the others begin from one of these
Group = tuple[Any, list[int], Array]  # a model, the grid points that differ from it in C alone, and their C


def read_groups(model: Any, grid: Sequence[Mapping[str, Any]]) -> list[Group] | None:
    """Grid points alike but for C; None when one asks for what is better met by a fit of its own."""
    groups: list[tuple[dict[str, Any], list[int], list[float]]] = []
    for i, point in enumerate(grid):
        rest = {k: v for k, v in point.items() if k != "C"}
        C: Any = point.get("C", model.C)
        plain = isinstance(C, Real) and not isinstance(C, bool) and 0 < float(C) < np.inf
        if not plain or not all(isinstance(v, (str, bool, int, float, np.number)) for v in rest.values()):
            return None
        for known, where, costs in groups:
            if known == rest:
                where.append(i)
                costs.append(float(C))
                break
        else:
            groups.append((rest, [i], [float(C)]))
    made = [(clone(model).set_params(**rest), where, np.array(costs)) for rest, where, costs in groups]
    return made if all(_plain(m) for m, _, _ in made) else None


def _plain(model: Any) -> bool:
    """Whether a fit is nothing but its optimum: limits of time and steps, and kernels that are code, depend on more."""
    try:
        model._validate_params()
    except ValueError:
        return False  # a fit says what is wrong
    named = model.kernel in ("linear", "poly", "rbf", "precomputed") if isinstance(model.kernel, str) else False
    formula = isinstance(model.kernel, Kernel) and model.kernel.proof is not None and model.kernel.record() is not None
    return (named or formula) and model.max_iter == -1 and model.time_budget is None


def fold_answers(
    X: Any, y: Any, folds: Sequence[Fold], groups: list[Group], size: int, response: tuple[str, ...], weights: Any
) -> Iterator[dict[str, Array]] | None:
    """Answers of all grid points, fold by fold; None when the Gram matrix would not fit into ``cache_size``."""
    given = groups[0][0].kernel == "precomputed"
    try:
        X = check_array(X, dtype=np.float64, order="C", accept_sparse=False if given else "csr")
        y = check_array(y, ensure_2d=False, dtype=None)
    except (TypeError, ValueError):
        return None  # a fit says what is wrong
    room = min(1e6 * m.cache_size for m, _, _ in groups)
    square = X.shape[0] == X.shape[1]
    mixed = any((m.kernel == "precomputed") != given for m, _, _ in groups)
    if y.ndim != 1 or len(y) != X.shape[0] or 8.0 * X.shape[0] ** 2 > room or mixed or (given and not square):
        return None
    return _answers(X, y, folds, groups, size, response, weights)


def _answers(
    X: Matrix, y: Array, folds: Sequence[Fold], groups: list[Group], size: int, response: tuple[str, ...], weights: Any
) -> Iterator[dict[str, Array]]:
    found: list[dict[str, Array]] = [{} for _ in folds]
    for model, where, costs in groups:
        for fold, paths in enumerate(_paths(model, X, y, folds, costs, weights)):
            test = folds[fold][1]
            lab, machines = paths
            for point, pairs in zip(where, machines):
                scores = np.column_stack([m.product[test] + m.offset for m in pairs])
                for name in response:
                    values = model._answer(name, scores, lab.classes)
                    if name not in found[fold]:
                        found[fold][name] = np.empty((size, *values.shape), dtype=values.dtype)
                    found[fold][name][point] = values
    yield from found


def _paths(
    model: Any, X: Matrix, y: Array, folds: Sequence[Fold], costs: Array, weights: Any
) -> list[tuple[Labelled, list[list[FoldMachine]]]]:
    """For each fold its labels and, in the order of ``costs``, the machines of all pairs of classes."""
    tasks = [_Task.of(model, X, y, train, weights) for train, _ in folds]
    grams: dict[Any, Array] = {}
    rising = np.argsort(costs, kind="stable")
    done: dict[int, list[list[FoldMachine]]] = {}

    def solve(fold: int) -> list[list[FoldMachine]]:
        task, leader = tasks[fold], fold % _LEADERS
        others = done.get(leader) if leader != fold and _kin(tasks[leader], task) else None
        paths = [
            machine_path(
                grams[task.key], *task.problem(y, pair), costs[rising], model._relative_gap(),
                None if others is None else others[p],
            )
            for p, pair in enumerate(pairs_of(len(task.lab.classes)))
        ]  # fmt: skip
        if not all(m.solved for path in paths for m in path):
            raise CannotShare("rounding ended the descent before the asked gap")
        return paths

    for key in dict.fromkeys(task.key for task in tasks):
        mine = [f for f, task in enumerate(tasks) if task.key == key]
        grams.clear()  # one matrix at a time
        with one_thread():
            grams[key] = _gram(next(task.kernel for task in tasks if task.key == key), X)
            for stage in ([f for f in mine if f < _LEADERS], [f for f in mine if f >= _LEADERS]):
                done.update(zip(stage, side_by_side(solve, stage)))
    back = np.argsort(rising)
    return [(task.lab, [[path[c] for path in done[f]] for c in back]) for f, task in enumerate(tasks)]


class _Task:
    """One fold's training rows: their labels and costs at C = 1, and the kernel that they ask for."""

    def __init__(self, train: Array, lab: Labelled, kernel: Kernel) -> None:
        self.train, self.lab, self.kernel = train, lab, kernel
        self.key = repr(kernel)

    @classmethod
    def of(cls, model: Any, X: Matrix, y: Array, train: Array, weights: Any) -> _Task:
        w = None if weights is None else np.asarray(weights)[train]
        if len(np.unique(train)) != len(train):
            raise CannotShare("a fold trains on a row more than once")
        part = X[train]
        try:
            lab = labelled(part, y[train], w, model.class_weight, 1.0, "SVC")
        except ValueError as error:
            raise CannotShare("a fold cannot be fitted") from error
        return cls(train, lab, choose(model.kernel, model.gamma, model.degree, model.coef0, part, lab.weights)[0])

    def problem(self, y: Array, pair: tuple[int, int]) -> tuple[Array, Array]:
        """±1 for all rows, and the training rows' costs at C = 1 (0 for all others)."""
        first, second = pair
        signs = np.where(y == self.lab.classes[first], 1.0, -1.0)
        weight = np.zeros(len(y))
        of_pair = (self.lab.codes == first) | (self.lab.codes == second)
        weight[self.train[of_pair]] = self.lab.cost[of_pair]
        return signs, weight


def _kin(a: _Task, b: _Task) -> bool:
    return a.key == b.key and np.array_equal(a.lab.classes, b.lab.classes)


def _gram(kernel: Kernel, X: Matrix) -> Array:
    if isinstance(kernel, Precomputed):
        return np.asarray(X)
    every = np.arange(X.shape[0])
    return blocks(kernel, X, memory=np.inf).block(every, every)
