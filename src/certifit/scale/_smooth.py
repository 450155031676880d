"""Smooth families in a few passes: Newton's method, with value, gradient and Hessian summed over all rows.

Every pass is one `Passes` statistic, the same for every partitioning; steps are taken here, in one thread. So the whole
path of the iteration, and where it ends, are the same bits on every engine.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg

from certifit._objective import Objective, names_of
from certifit._sklearn import ConvergenceWarning
from certifit._trace import Trace
from certifit._types import Array, BaseEstimator, ClassWeight
from certifit.certificates.passes import Derivatives, decrement
from certifit.exceptions import NoOptimumError, TableError
from certifit.glm import GLM
from certifit.glm._glm import check_values, family_params, is_convex, link_name
from certifit.losses import FamilyLoss, Logistic, Softmax, Squared
from certifit.parallel import one_thread
from certifit.regularizers import SquaredL2, Zero, mix_of_norms
from certifit.scale._job import Job, Seen, name_features
from certifit.scale._moments import adopt_coefficients
from certifit.scale._quick import QuickPasses

_HALVINGS = 30
_COARSE = 1e-2  # of the least curvature, relative to the columns' own, that may be uncertain in a step


@dataclass
class Fit:
    """Where Newton's method stands."""

    coef: Array
    intercept: Array
    steps: int = 0
    converged: bool = False
    left: float = np.inf


def newton(
    job: Job, objective: Objective, seen: Seen, start: tuple[Array, Array], share: float, max_iter: int
) -> tuple[Fit, Derivatives]:
    """Minimise by Newton's steps until about ``share`` of the null model's loss is left to gain.

    Without a penalty a fit has converged only where an optimum is shown to exist.
    """
    at, before = Fit(*start), np.inf
    move: tuple[Array, Array] | None = None
    null, halvings = np.inf, 0
    rough = objective.strength > 0.0 and objective.loss.targets != "class"
    while True:
        found = derivatives(job, objective, at, seen, rough)
        if rough:
            with one_thread(), np.errstate(all="ignore"):
                rough = not _is_coarse(objective, found)
            if not rough:
                continue
        with one_thread(), np.errstate(all="ignore"):
            value = float(found.value.mid) + float(objective.penalty(at.coef))
            null = value if not np.isfinite(null) else null
            if move is not None and not value <= before * (1.0 + 1e-12) + 1e-12 and halvings < _HALVINGS:
                halvings += 1
                move = (move[0] / 2, move[1] / 2)
                at = replace(at, coef=at.coef - move[0], intercept=at.intercept - move[1])
                continue
            step, gain = _step(objective, found, at.coef, seen.grid.centre)
        if step is None:
            return at, found
        halvings, before, move = 0, value, step
        new = replace(at, coef=at.coef + step[0], intercept=at.intercept + step[1], steps=at.steps + 1, left=gain)
        if gain <= share * max(abs(null), 1e-300):
            exists = objective.strength > 0.0 or decrement(objective, found, at.coef, seen.grid.centre)[1] < 1.0
            return replace(new, converged=exists), found
        if new.steps >= max_iter:
            return new, found
        at = new


def derivatives(job: Job, objective: Objective, at: Fit, seen: Seen, rough: bool = False) -> Derivatives:
    """One pass at the coefficients of a fit."""
    statistic = QuickPasses(
        objective, at.coef, at.intercept, seen.grid, seen.digits, weight_exponent=seen.weight_exponent, rough=rough
    )
    found: Derivatives = job.run(statistic, task=f"pass {job.passes + 1}", rows=seen.rows)
    return found


def _is_coarse(objective: Objective, found: Derivatives) -> bool:
    """Whether a Hessian of 21 bits is too coarse for a step.

    It is where single numbers lie far beyond the others of their column, and where columns are nearly dependent.
    """
    ridge = _ridge(objective)
    for mid, rad in zip(found.hessian.mid, np.broadcast_to(found.hessian.rad, found.hessian.shape)):
        H = mid + np.diag(np.append(0.0, np.full(len(mid) - 1, ridge)))
        scale = np.sqrt(np.maximum(np.diag(H), 0.0))
        if not np.all(scale > 0.0):
            return True
        least = float(np.linalg.eigvalsh(H / np.multiply.outer(scale, scale))[0])
        if not float(np.linalg.norm(rad / np.multiply.outer(scale, scale))) <= _COARSE * least:
            return True
    return False


def _ridge(objective: Objective) -> float:
    """The curvature of the penalty."""
    penalty = objective.regularizer
    return objective.strength * 2.0 * penalty.factor if isinstance(penalty, SquaredL2) else 0.0


def _step(
    objective: Objective, found: Derivatives, coef: Array, centre: Array
) -> tuple[tuple[Array, Array] | None, float]:
    """Newton's step for coefficients and offsets, and what a quadratic would gain by it."""
    k, d = coef.shape
    g, H = found.slopes.mid, found.hessian.mid
    ridge = _ridge(objective)
    prior = getattr(objective.regularizer, "prior", None)
    pull = ridge * (coef - (0.0 if prior is None else np.array(prior).reshape(-1, d)))
    if objective.loss.targets == "class":
        H = H.reshape(k, d + 1, k, d + 1)
    else:
        wide = np.zeros((k, d + 1, k, d + 1))
        for m in range(k):
            wide[m, :, m] = H[m]
        H = wide
    J = np.eye(d + 1)
    if not objective.free:  # in x instead of (1, x − c)
        J = np.column_stack([centre, np.eye(d)])
    g = g @ J.T
    H = np.einsum("ai,kilj,bj->kalb", J, H, J)
    g[:, len(J) - d :] += pull
    for m in range(k):
        H[m, range(len(J) - d, len(J)), m, range(len(J) - d, len(J))] += ridge
    size = k * len(J)
    move = _direction(H.reshape(size, size), g.reshape(size))
    if move is None:
        return None, np.inf
    step = -move.reshape(k, len(J))
    gain = 0.5 * float(g.reshape(size) @ move)
    if not np.isfinite(gain):
        return None, np.inf
    if objective.free:
        return (step[:, 1:], step[:, 0] - step[:, 1:] @ centre), abs(gain)
    return (step, np.zeros(k)), abs(gain)


def _direction(H: Array, g: Array) -> Array | None:
    """H⁻¹g; directions without curvature (softmax has one) are left alone."""
    scale = np.sqrt(np.maximum(np.diag(H), 0.0))
    if not np.all(np.isfinite(scale)):
        return None
    scale[scale == 0.0] = 1.0
    S = H / np.multiply.outer(scale, scale)
    try:
        factor = scipy.linalg.cho_factor(S, lower=True)
        if np.diag(factor[0]).min(initial=1.0) > 1e-6:
            return np.asarray(scipy.linalg.cho_solve(factor, g / scale) / scale)
    except (np.linalg.LinAlgError, ValueError):
        pass
    try:
        values, vectors = np.linalg.eigh(S)
    except np.linalg.LinAlgError:
        return None
    keep = values > 1e-11 * values.max(initial=0.0)
    return np.asarray(vectors @ (np.where(keep, vectors.T @ (g / scale), 0.0) / np.where(keep, values, 1.0)) / scale)


def fit_logistic(job: Job, model: BaseEstimator) -> None:
    """Logistic regression of two or more classes."""
    seen = job.look(labels=True)
    classes = seen.classes
    assert classes is not None
    if len(classes) < 2:
        raise ValueError(
            f"Logistic regression needs samples of at least 2 classes, but there is only {classes.tolist()}."
        )
    strength, ratio = model._penalty()
    if ratio > 0.0:
        raise TypeError(refusal(model, "an l1 penalty needs multipliers of every row"))
    two, d = len(classes) == 2, len(job.plan.numbers)
    prior = model._read_prior(len(classes), d, ratio)
    objective = Objective(
        Logistic() if two else Softmax(),
        model._regularizer(strength, ratio, prior),
        strength,
        bool(model.fit_intercept),
        classes=names_of(classes),
        class_weight=class_factors(model.class_weight, classes, seen.class_mass),
    )
    outputs = 1 if two else len(classes)
    start = np.zeros((outputs, d)), np.zeros(outputs)
    if model.fit_intercept:
        mass = seen.class_mass * np.array(objective.class_weight or (1.0,) * len(classes))
        start[1][:] = np.log(mass[1] / mass[0]) if two else np.log(mass / mass.sum())
    at, _ = newton(job, objective, seen, start, model.tol**2 / 10, model.max_iter)
    if strength == 0.0 and not at.converged:
        raise NoOptimumError(
            "No finite optimum was reached: without a penalty the likelihood keeps increasing if a "
            "hyperplane separates the classes. Use a penalty (C=1.0)."
        )
    warn_if_short(model, at)
    name_features(model, job.plan.numbers)
    model.classes_ = classes
    model.coef_, model.intercept_ = at.coef, at.intercept
    model.n_iter_ = np.array([at.steps], dtype=np.int32)
    model.solver_, model.threshold_, model.trace_ = "newton in passes", model._cut(), Trace()
    promise(model, job, objective, at, seen)


def class_factors(class_weight: ClassWeight, classes: Array, mass: Array) -> tuple[float, ...] | None:
    """Weights of the classes, as scikit-learn counts them; None where all are one."""
    if class_weight is None:
        return None
    if class_weight == "balanced":
        return tuple(float(f) for f in mass.sum() / (len(classes) * mass))
    found = tuple(float(class_weight.get(c, 1.0)) for c in classes.tolist())
    if not all(f > 0.0 for f in found):
        raise ValueError("In passes over partitions every class needs a weight above zero.")
    return found


def promise(
    model: BaseEstimator, job: Job, objective: Objective, at: Fit, seen: Seen, kind: str = "passes", **more: Any
) -> None:
    """The certificate of a fit of this kind, issued when it is read."""
    found = {"objective": objective.to_dict(), "coef": at.coef, "intercept": at.intercept}
    job.promise(model, kind, {**found, **seen.sums, **more})


def refusal(model: BaseEstimator, reason: str) -> str:
    """One sentence about what cannot be done in passes, and what can be done instead."""
    return (
        f"{type(model).__name__} cannot be fitted in passes over partitions ({reason}): take a reproducible "
        "sample with scale.sample(source, rows=...) and fit that."
    )


def warn_if_short(model: BaseEstimator, at: Fit) -> None:
    if not at.converged:
        warnings.warn(
            f"{type(model).__name__} stopped after {at.steps} passes: the objective can still decrease by about "
            f"{at.left:.1e}; certificate_ has the proved gap.",
            ConvergenceWarning,
            stacklevel=3,
        )


def fit_glm(job: Job, model: GLM) -> None:
    """A generalized linear model whose likelihood is convex."""
    seen = job.look(labels=False)
    link = link_name(model.family, model._asked_link())
    loss = is_convex(model.family, link)
    if loss is None:
        raise TypeError(refusal(model, f"the {link} link makes the {model.family} likelihood not convex"))
    check_values(model.family, np.array([seen.low[-1], seen.high[-1]]))
    strength = float(model.alpha) * seen.total
    if strength * model.l1_ratio > 0.0 and not isinstance(loss, Squared):
        raise TypeError(refusal(model, "an l1 penalty needs multipliers of every row"))
    regularizer = Zero() if strength == 0.0 else mix_of_norms(model.l1_ratio)
    shifted = job.plan.shifted
    if job.plan.exposure is not None and link != "log":
        raise ValueError(f"exposure needs the log link, not {link!r}; name a column of offsets with offset= instead.")
    if shifted and strength * model.l1_ratio > 0.0:
        raise TypeError(refusal(model, "an l1 penalty beside offsets of rows needs multipliers of every row"))
    objective = Objective(loss, regularizer, strength, bool(model.fit_intercept), offset=shifted)
    reader = FamilyLoss(**family_params(model.family), link=link)
    model.link_, model._loss, model._reader, model.trace_ = link, loss, reader, Trace()
    model._statistics = {"spread": None, "rows": seen.rows}
    if isinstance(loss, Squared) and not shifted:
        w, b = adopt_coefficients(model, job, objective, seen)
        model.coef_, model.intercept_, model.n_iter_ = w, b, 1
        return
    features = replace(seen, low=seen.low[:-1], high=seen.high[:-1])
    at, level = _glm_newton(job, model, objective, seen, features, reader)
    warn_if_short(model, at)
    name_features(model, job.plan.numbers)
    model.coef_, model.intercept_ = at.coef[0], float(at.intercept[0]) if model.fit_intercept else 0.0
    model.n_iter_ = at.steps
    promise(model, job, objective, at, features, level=level)


def _glm_newton(
    job: Job, model: GLM, objective: Objective, seen: Seen, features: Seen, reader: FamilyLoss
) -> tuple[Fit, float]:
    """Newton's method from the null model; where it ends, and the score of that model (beside offsets of rows)."""
    from certifit.certificates.moments import Moments

    own = type(seen.grid)(seen.grid.centre[-1:], seen.grid.exponent[-1:])
    target = Moments(own, seen.digits, seen.weight_exponent)
    mean = float(job.run(target, plan=job.plan.without_features(), task="mean of the target").mean[-1])
    _, link = reader.parts
    level = float(link.link(np.array([mean]))[0]) if model.fit_intercept else 0.0
    if not np.isfinite(level):
        raise TableError("The target has the same extreme value in every row: there is nothing to fit.")
    if objective.offset and model.fit_intercept:  # the best constant beside them: Newton's method on two columns
        alone = replace(features, low=features.low[:0], high=features.high[:0])
        flat, plain = (np.zeros((1, 0)), np.array([level])), replace(objective, regularizer=Zero(), strength=0.0)
        own_job = replace(job, plan=job.plan.without_features())
        level = float(newton(own_job, plain, alone, flat, 1e-12, model.max_iter)[0].intercept[0])
    start = np.zeros((1, len(features.low))), np.array([level if model.fit_intercept else 0.0])
    at, _ = newton(job, objective, features, start, model.tol**2 / 10, model.max_iter)
    if objective.strength == 0.0 and not at.converged:
        raise NoOptimumError("No finite optimum was reached: use a penalty (alpha > 0) or drop a column.")
    return at, level
