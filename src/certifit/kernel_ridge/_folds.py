"""Shared work of `KernelRidge`: one Gram matrix of all rows serves every fold and every α of a kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from certifit._types import Answers, Array, BaseEstimator, Grid
from certifit.design import blocks
from certifit.kernels import choose
from certifit.resampling import FoldAnswers, FoldTable, assemble, group_grid, is_number, models_of, read_table, require
from certifit.solvers.kernel_ridge import closed_form, resolve

_LARGEST = 25_000_000  # numbers of a Gram matrix
_NAMED = ("linear", "poly", "rbf")


def kernel_ridge_answers(model: BaseEstimator, table: FoldTable, grid: Grid, response: tuple[str, ...]) -> FoldAnswers:
    """Predictions of kernel ridge regression for every grid point on each fold."""
    require(response == ("predict",), "the score needs more than predictions")
    models = models_of(model, grid, {"alpha", "gamma", "degree", "coef0", "kernel"})
    named = all(isinstance(m.kernel, str) and m.kernel in _NAMED for m in models)
    require(named, "only named kernels are shared")  # others may be code, or the rows themselves
    require(all(is_number(m.alpha) for m in models), "an alpha is not a number")
    require(resolve(model.solver) == "cholesky", "kernel LMS is fitted one by one")
    read = read_table(table, dtype=np.float64, order="C")
    require(read.y.ndim == 1, "several targets are fitted one by one")
    require(read.n**2 <= _LARGEST, "the Gram matrix of all rows is too large")

    def scores(one: BaseEstimator, where: Sequence[int]) -> Iterator[Answers]:
        kernel, _ = choose(one.kernel, one.gamma, one.degree, one.coef0, read.X)
        K = blocks(kernel, read.X, memory=np.inf).whole()
        alphas = [float(models[i].alpha) for i in where]
        for k in range(len(read.folds)):
            yield {"predict": _predictions(K, read, k, alphas)}

    groups = group_grid(models, lambda m: (m.kernel, m.gamma, m.degree, m.coef0))
    return assemble(grid, [(where, scores(models[where[0]], where)) for _, where in groups])


def _predictions(K: Array, table: FoldTable, k: int, alphas: Sequence[float]) -> Array:
    """Of every α for the rows that fold k tests."""
    train, test = table.folds[k]
    # Rows first: what is cut out of both at once is picked number by number.
    inner, cross = K[train][:, train], K[test][:, train]
    weights = np.ones(len(train)) if table.weights is None else table.weights[train]
    Y = np.repeat(table.y[train][:, None], len(alphas), axis=1)
    return np.asarray((cross @ closed_form(inner, Y, np.array(alphas), weights)).T)
