"""Linear support vector machines in passes: Newton's method on the squared hinge, or on a hinge with a round corner."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from certifit._objective import names_of
from certifit._trace import Trace
from certifit._types import Array, BaseEstimator, VectorLike
from certifit.losses import Hinge
from certifit.scale._job import Job, name_features
from certifit.scale._smooth import Fit, class_factors, derivatives, newton, promise, warn_if_short
from certifit.svm._evidence import hinge_objective

_WIDTHS = (1.0, 0.1, 0.01, 0.001)  # over which the corner is rounded, one after another
_SHARE = 1e-10  # of the first value that may be left to gain


@dataclass(frozen=True)
class RoundedHinge(Hinge):
    """The hinge with its corner rounded over ``width``: quadratic for 0 < 1 − yz < width."""

    width: float = 1.0
    name: ClassVar[str] = "rounded_hinge"

    def value(self, z: Any, y: VectorLike) -> Any:
        short = 1.0 - y * z
        inside = np.clip(short, 0.0, self.width)
        return inside * inside / (2.0 * self.width) + np.maximum(short - self.width, 0.0)

    def slope(self, z: Array, y: Array) -> Array:
        return -y * np.clip((1.0 - y * z) / self.width, 0.0, 1.0)

    def curvature(self, z: Array, y: Array) -> Array:
        short = 1.0 - y * z
        return np.where((short > 0.0) & (short < self.width), 1.0 / self.width, 0.0)


def fit_linear_svc(job: Job, model: BaseEstimator) -> None:
    """Linear machines, one for two classes and one a class for more."""
    seen = job.look(labels=True)
    assert seen.classes is not None
    if len(seen.classes) < 2:
        raise ValueError(f"LinearSVC needs at least two classes, and there is only {seen.classes.tolist()}.")
    factors = class_factors(model.class_weight, seen.classes, seen.class_mass) or (1.0,) * len(seen.classes)
    cost = float(model.C) * np.array(factors)
    free = bool(model.fit_intercept)
    objective = hinge_objective(np.array(names_of(seen.classes), dtype=object), cost, model.loss, "rest",
                                fit_intercept=free)  # fmt: skip
    k, d = len(objective.machines), len(job.plan.numbers)
    at = Fit(np.zeros((k, d)), np.zeros(k))
    widths = _WIDTHS if model.loss == "hinge" else (0.0,)
    steps, smooth = 0, objective
    for width in widths:
        smooth = objective if width == 0.0 else replace(objective, loss=RoundedHinge(width))
        share = _SHARE if width == widths[-1] else 1e-4
        at, _ = newton(job, smooth, seen, (at.coef, at.intercept), share, model.max_iter)
        steps += at.steps
    reach = np.zeros(k)
    if free:  # how far the offset may be from where the slopes balance
        found = derivatives(job, smooth, at, seen)
        pull, curve = np.abs(found.slopes.mid[:, 0]), found.hessian.mid[:, 0, 0]
        reach = 4.0 * pull / np.where(curve > 0.0, curve, 1.0) + 1e-10 * (1.0 + np.abs(at.intercept))
    warn_if_short(model, at)
    name_features(model, job.plan.numbers)
    model.classes_, model.coef_, model.intercept_ = seen.classes, at.coef, at.intercept
    model.n_iter_, model.gap_ = steps, float(at.left)
    model.status_, model.trace_ = "converged" if at.converged else "max_iter", Trace()
    promise(model, job, objective, at, seen, "margin-sums", width=float(widths[-1]), reach=reach)
