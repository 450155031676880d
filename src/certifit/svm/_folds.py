"""Shared work of `SVC`: one Gram matrix for all folds and costs, seeds from cost to cost and from fold to fold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from certifit._types import Answers, Array, BaseEstimator, Grid, Matrix
from certifit.design import blocks
from certifit.kernels import Kernel, Precomputed, choose
from certifit.parallel import one_thread, side_by_side
from certifit.resampling import (
    CannotShare,
    FoldAnswers,
    FoldTable,
    assemble,
    group_grid,
    is_number,
    models_of,
    read_table,
    require,
)
from certifit.solvers.svc_folds import FoldMachine, machine_path
from certifit.svm._labels import Labelled, labelled, pairs_of

_LEADERS = 2  # folds solved without looking at another; the others begin from one of these


def svc_answers(model: BaseEstimator, table: FoldTable, grid: Grid, response: tuple[str, ...]) -> FoldAnswers:
    """Labels and decisions for every grid point on each fold."""
    require(set(response) <= {"predict", "decision_function"}, "probabilities are calibrated fit by fit")
    plain = all(isinstance(v, str | bool) or is_number(v) for point in grid for v in point.values())
    require(plain, "only grids of names and numbers are shared")
    groups = group_grid(grid, lambda point: {name: v for name, v in point.items() if name != "C"})
    models = models_of(model, [rest for rest, _ in groups], model.get_params(deep=False))
    costs = [float(point.get("C", model.C)) for point in grid]
    require(all(0 < c < np.inf for c in costs) and all(map(_shareable, models)), "these options need separate fits")
    given = models[0].kernel == "precomputed"
    require(all((m.kernel == "precomputed") == given for m in models), "only some kernels are precomputed")
    read = read_table(table, labels=True, sparse=not given, dtype=np.float64, order="C")
    require(not given or read.X.shape[0] == read.X.shape[1], "fit rejects the data")
    room = min(1e6 * m.cache_size for m in models)
    require(8.0 * read.n**2 <= room, "the Gram matrix of all rows is larger than cache_size")

    common = cache(lambda k: _labels(model, read, k))  # of all points, unless their class weights differ

    def scores(one: BaseEstimator, where: Sequence[int]) -> Iterator[Answers]:
        same = one.class_weight is model.class_weight
        labels = [common(k) if same else _labels(one, read, k) for k in range(len(read.folds))]
        yield from _answers(one, read, np.array([costs[i] for i in where]), response, labels)

    return assemble(grid, [(where, scores(one, where)) for one, (_, where) in zip(models, groups)])


def _shareable(model: BaseEstimator) -> bool:
    """Whether a fit is nothing but its optimum: limits of time and steps, and kernels that are code, depend on more."""
    named = model.kernel in ("linear", "poly", "rbf", "precomputed") if isinstance(model.kernel, str) else False
    formula = isinstance(model.kernel, Kernel) and model.kernel.proof is not None and model.kernel.record() is not None
    return (named or formula) and model.max_iter == -1 and model.time_budget is None


def _labels(model: BaseEstimator, table: FoldTable, k: int) -> Labelled:
    """Labels and costs at C = 1 of the rows that fold k trains on."""
    part, y, weights = table.training(k)
    require(len(np.unique(table.folds[k][0])) == part.shape[0], "a fold trains on a row more than once")
    try:
        return labelled(part, y, weights, model.class_weight, 1.0, "SVC")
    except ValueError as error:
        raise CannotShare("a fold cannot be fitted") from error


def _answers(
    model: BaseEstimator, table: FoldTable, costs: Array, response: tuple[str, ...], labels: Sequence[Labelled]
) -> list[Answers]:
    """Of every cost, fold by fold."""
    found: list[Answers] = []
    for (_, test), (lab, machines) in zip(table.folds, _paths(model, table, costs, labels)):
        scores = [np.column_stack([m.product[test] + m.offset for m in pairs]) for pairs in machines]
        found.append({name: np.array([model._answer(name, s, lab.classes) for s in scores]) for name in response})
    return found


def _paths(
    model: BaseEstimator, table: FoldTable, costs: Array, labels: Sequence[Labelled]
) -> list[tuple[Labelled, list[list[FoldMachine]]]]:
    """For each fold its labels and, in the order of ``costs``, the machines of all pairs of classes."""
    tasks = [_Task.of(model, table, k, lab) for k, lab in enumerate(labels)]
    grams: dict[Any, Array] = {}
    rising = np.argsort(costs, kind="stable")
    done: dict[int, list[list[FoldMachine]]] = {}

    def solve(fold: int) -> list[list[FoldMachine]]:
        task, leader = tasks[fold], fold % _LEADERS
        others = done.get(leader) if leader != fold and _kin(tasks[leader], task) else None
        paths = [
            machine_path(
                grams[task.key], *task.problem(table.y, pair), costs[rising], model._relative_gap(),
                None if others is None else others[p],
            )
            for p, pair in enumerate(pairs_of(len(task.lab.classes)))
        ]  # fmt: skip
        solved = all(m.solved for path in paths for m in path)
        require(solved, "rounding ended the descent before the requested gap")
        return paths

    for key in dict.fromkeys(task.key for task in tasks):
        mine = [f for f, task in enumerate(tasks) if task.key == key]
        grams.clear()  # one matrix at a time
        with one_thread():
            grams[key] = _gram(next(task.kernel for task in tasks if task.key == key), table.X)
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
    def of(cls, model: Any, table: FoldTable, k: int, lab: Labelled) -> _Task:
        kernel = choose(model.kernel, model.gamma, model.degree, model.coef0, table.training(k)[0], lab.weights)[0]
        return cls(table.folds[k][0], lab, kernel)

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
    return blocks(kernel, X, memory=np.inf).whole()
