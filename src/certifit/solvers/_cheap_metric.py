r"""A metric for problems whose Hessian is dear to form, because columns times classes are many.

Where all classes are equally likely, the Hessian of softmax regression is

.. math:: \tfrac1K\big(I - \tfrac1K 11^\top\big) \otimes A^\top S A + I \otimes \mathrm{diag}(\rho),

one block for all K classes: a K²-th of the work to form, and a K³-th to factor. Elsewhere Σₖ pₖ(1 − pₖ)/(K − 1), from
the probabilities of each row, takes the place of 1/K. For a single score the block is the Hessian. Some of the rows are
enough for either; with very many columns the diagonal has to do. Quasi-Newton steps correct what such a metric does not
know.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from certifit._types import Array
from certifit.design import Cholesky, lifted_cholesky
from certifit.solvers._smooth_sum import SmoothSum

_FEWEST, _TIMES = 4000, 4  # rows that are enough, and at least so many times the columns
_DENSE, _SPARSE = 5000, 300  # columns up to which the block costs no more than some dozen steps
_LIFTS = (0.0, 1e-10, 1e-6)  # of its diagonal, added where columns depend on each other


class CheapMetric(NamedTuple):
    """The block, ready to be solved with."""

    factor: Cholesky | None  # in units of the diagonal; None where that is all there is
    root: Array  # (p,) of the diagonal
    ridge: Array | None  # (p,), of several classes: the curvature of a shift of all of them

    @property
    def rough(self) -> bool:
        """Steps have to find their length themselves."""
        return True

    @property
    def flat(self) -> bool:
        """No direction counts as such."""
        return False

    def solve(self, G: Array) -> Array:
        """An estimate of H⁻¹G for G of shape (p, K)."""
        shift: Array | float = 0.0
        if self.ridge is not None:
            common = G.mean(axis=1)
            G = G - common[:, None]
            shift = np.divide(common, self.ridge, out=np.zeros(len(G)), where=self.ridge > 0)[:, None]
        inner = G / self.root[:, None]
        return (inner if self.factor is None else self.factor.solve(inner)) / self.root[:, None] + shift


def cheap_metric(f: SmoothSum, theta: Array) -> CheapMetric:
    """The metric at a point, from evenly spread rows.

    Examples
    --------
    >>> from certifit._objective import Objective
    >>> from certifit.design import as_design
    >>> from certifit.losses import Softmax
    >>> from certifit.regularizers import SquaredL2
    >>> from certifit.solvers._task import Task
    >>> objective = Objective(Softmax(), SquaredL2(0.5), 1.0, classes=(0, 1, 2))
    >>> task = Task(objective, as_design(np.array([[1.0], [2.0], [4.0]])), np.array([0, 1, 2]))
    >>> f, zero = SmoothSum.of(task), np.zeros((2, 3))
    >>> G = f.evaluate(zero)[2]
    >>> np.allclose(cheap_metric(f, zero).solve(G), f.metric(f.hessian(f.scores(zero))).solve(G))
    True
    """
    n, p = len(f.y), f.columns.width
    share = max(_FEWEST, _TIMES * p)
    part = f.some(np.linspace(0, n - 1, share).astype(int)) if n > share else f
    h = part.curvatures(part.scores(theta))
    factor = None
    if p <= (_SPARSE if f.columns.design.is_sparse else _DENSE):
        H = part.columns.gram(h)
        H[np.diag_indices_from(H)] += f.ridge
        root = np.sqrt(np.maximum(np.diag(H), 1e-300))
        H /= root
        H /= root[:, None]
        factor = lifted_cholesky(H, lift=_LIFTS)
    if factor is None:
        root = np.sqrt(np.maximum(part.columns.squares(h) + f.ridge, 1e-300))
    return CheapMetric(factor, root, f.ridge if f.outputs > 1 else None)
