"""Squared-loss families from second moments: least squares, ridge, lasso, elastic net."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.linalg

from certifit._objective import Objective
from certifit._sklearn import ConvergenceWarning
from certifit._trace import Trace
from certifit._types import Array, BaseEstimator
from certifit.certificates import ball
from certifit.certificates.moments import SecondMoments
from certifit.design import as_design
from certifit.linear_model import ElasticNet, Lasso, LinearRegression, Ridge
from certifit.losses import Squared
from certifit.parallel import one_thread
from certifit.regularizers import NonNegative, SquaredL2, Zero, mix_of_norms
from certifit.scale._job import Job, Seen, name_features
from certifit.scale._quick import QuickMoments
from certifit.solvers import Options, Task, solve_coordinate, solve_least_squares

_REFINE = 8  # rounds of refinement; each one multiplies the error by about the condition number times 1e-16


def objective_of(model: BaseEstimator, total: float) -> Objective:
    """What the estimator minimises on rows of so much weight."""
    free = bool(model.fit_intercept)
    if isinstance(model, LinearRegression):
        return Objective(Squared(), NonNegative(Zero()) if model.positive else Zero(), 0.0, free)
    if isinstance(model, Ridge):
        alpha = np.asarray(model.alpha, dtype=float)
        if alpha.size != 1:
            raise ValueError("alpha must be one number: there is one target.")
        prior = None if model.prior is None else tuple(np.ravel(np.asarray(model.prior, dtype=float)))
        squared = SquaredL2(1.0, prior)
        return Objective(Squared(), NonNegative(squared) if model.positive else squared, float(alpha.item()), free)
    if model.alpha == 0.0:
        return Objective(Squared(), NonNegative(Zero()) if model.positive else Zero(), 0.0, free)
    regularizer = mix_of_norms(model._ratio(), positive=model.positive)
    return Objective(Squared(0.5), regularizer, float(model.alpha) * total, free)


def fit_moments(job: Job, model: BaseEstimator) -> None:
    """Fit a squared-loss estimator in one pass over the rows."""
    seen = job.look(labels=False)
    adopt(model, job, moments(job, seen), seen)


def moments(job: Job, seen: Seen) -> SecondMoments:
    """The pass itself."""
    statistic = QuickMoments(seen.grid, seen.digits, seen.weight_exponent)
    found: SecondMoments = job.run(statistic, task="moments", rows=seen.rows)
    return found


def adopt(model: BaseEstimator, job: Job, found: SecondMoments, seen: Seen) -> None:
    """Coefficients of the moments, under the estimator's own names, with the promise of a proof."""
    objective = objective_of(model, seen.total)
    w, b = _name(model, job, objective, found, seen)
    model.solver_ = "moments"
    if isinstance(model, (Lasso, ElasticNet)):
        model.n_iter_, model.trace_ = 1, Trace()
        value, gap, _ = bound(objective, found, w, b)
        model.dual_gap_ = gap / seen.total
        if gap > max(model.tol, 1e-9) * max(value, 1e-300):
            warnings.warn(
                f"{type(model).__name__} stopped at a gap of {gap / max(value, 1e-300):.1e} of the objective; "
                "certificate_ has the proved figure.",
                ConvergenceWarning,
                stacklevel=2,
            )
    elif isinstance(model, Ridge):
        model.n_iter_, model.trace_ = np.ones(1, dtype=int), Trace()
    else:
        _describe_least_squares(model, found)


def adopt_coefficients(model: BaseEstimator, job: Job, objective: Objective, seen: Seen) -> tuple[Array, float]:
    """Fit any squared-loss objective in one pass; coefficients, offset and the promise of a proof."""
    return _name(model, job, objective, moments(job, seen), seen)


def _name(
    model: BaseEstimator, job: Job, objective: Objective, found: SecondMoments, seen: Seen
) -> tuple[Array, float]:
    w, b = solve(objective, found)
    model.coef_, model.intercept_ = w, b if model.fit_intercept else 0.0
    name_features(model, job.plan.numbers)
    evidence = {"objective": objective.to_dict(), "coef": w[None], "intercept": np.array([b]), **seen.sums}
    job.promise(model, "moments", evidence)
    return w, b


def _describe_least_squares(model: BaseEstimator, found: SecondMoments) -> None:
    """Rank and condition, as least squares in memory has them; the table of standard errors needs the rows."""
    own = found.centred() if model.fit_intercept else found.raw()
    H = own.mid[:-1, :-1]
    scale = np.sqrt(np.maximum(np.diag(H), 1e-300))
    values = np.linalg.eigvalsh(H / np.multiply.outer(scale, scale)) if len(H) else np.zeros(0)
    top = float(values.max(initial=0.0))
    model.rank_ = int(np.sum(values > len(H) * 1e-15 * top))
    low = float(values.min(initial=0.0))
    model.condition_ = float(np.sqrt(top / low)) if low > 0.0 else np.inf
    rest = found.residuals(model.coef_, float(model.intercept_))
    model._statistics = {
        "factor": None,
        "rows": found.rows,
        "rss": np.array([float(rest.square.mid)]),
        "tss": np.array([float(own.mid[-1, -1])]),
        "log_weights": 0.0,
    }


def bound(objective: Objective, found: SecondMoments, w: Array, b: float) -> tuple[float, float, float]:
    """F, the proved bound on F − min F, and F of the null model, as floats."""
    from certifit.certificates.moments import MomentFit

    value, gap, null = MomentFit(objective, float(objective.loss.factor), w[None], b).bound(found)  # type: ignore[attr-defined]
    return float(value.mid), float(gap.upper), float(null.mid)


def solve(objective: Objective, found: SecondMoments) -> tuple[Array, float]:
    """The minimiser from the moments; the same bits wherever and in whatever order the rows were added."""
    own = found.centred() if objective.free else found.raw()
    H, c = own.mid[:-1, :-1], own.mid[:-1, -1]
    with one_thread(), np.errstate(all="ignore"):
        penalty = objective.regularizer
        if isinstance(penalty, (Zero, SquaredL2)):
            w = _quadratic(objective, found, H, c)
        else:
            w = _surrogate(objective, found, own.mid)
    if not np.all(np.isfinite(w)):
        raise ValueError("The numbers in the table are too large or too small to square: rescale the columns first.")
    return w, best_offset(objective, found, w)


def best_offset(objective: Objective, found: SecondMoments, w: Array) -> float:
    """The offset that goes with w, rounded once."""
    if not objective.free:
        return 0.0
    b = float(found.mean[-1] - found.mean[:-1] @ w)
    for _ in range(3):  # mean − w·mean cancels where means are large: what is left of Σ r is taken off
        b += float(found.residuals(w, b).total.mid) / float(found.weight.mid)
    return b


def _quadratic(objective: Objective, found: SecondMoments, H: Array, c: Array) -> Array:
    """Least squares or ridge: a Cholesky factor, and refinement with residuals in exact arithmetic."""
    d, penalty = len(c), objective.regularizer
    factor = float(objective.loss.factor)  # type: ignore[attr-defined]
    alpha = objective.strength * penalty.factor / factor if isinstance(penalty, SquaredL2) else 0.0
    prior = np.array(getattr(penalty, "prior", None) or np.zeros(d))
    A = H + alpha * np.eye(d)
    scale = np.sqrt(np.maximum(np.diag(A), 0.0))
    scale[scale == 0.0] = 1.0
    scale = np.ldexp(1.0, np.frexp(scale)[1])
    S = A / np.multiply.outer(scale, scale)
    try:
        L = np.linalg.cholesky(S)
        if np.diag(L).min(initial=1.0) < 1e-7:
            raise np.linalg.LinAlgError
        step = lambda q: scipy.linalg.cho_solve((L, True), q / scale) / scale  # noqa: E731
    except np.linalg.LinAlgError:  # dependent columns: the solution of least norm
        values, vectors = np.linalg.eigh(S)
        keep = values > max(d, 1) * 4e-15 * values.max(initial=0.0)
        inverse = np.where(keep, 1.0 / np.where(keep, values, 1.0), 0.0)
        step = lambda q: vectors @ (inverse * (vectors.T @ (q / scale))) / scale  # noqa: E731
    w, last = prior + step(c - H @ prior), np.inf
    for _ in range(_REFINE):
        b = float(found.mean[-1] - found.mean[:-1] @ w) if objective.free else 0.0
        rest = found.residuals(w, b)
        q = (rest.best if objective.free else rest.raw).mid - alpha * (w - prior)
        move = step(q)
        size = float(np.max(np.abs(move) / (np.abs(w) + 1e-300), initial=0.0))
        if not size < 0.5 * last:
            break
        w, last = w + move, size
        if size < 1e-16:
            break
    return np.asarray(w)


def _surrogate(objective: Objective, found: SecondMoments, own: Array) -> Array:
    """A table of d + 1 rows with the same moments, given to the solver that fits tables in memory."""
    d = len(own) - 1
    scale = np.sqrt(np.maximum(np.diag(own), 0.0))
    scale[scale == 0.0] = 1.0
    values, vectors = np.linalg.eigh(own / np.multiply.outer(scale, scale))
    root = (np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T) * scale
    X, y = np.ascontiguousarray(root[:, :d]), np.ascontiguousarray(root[:, d])
    plain = Objective(objective.loss, objective.regularizer, objective.strength, False)
    penalty = objective.regularizer
    if isinstance(penalty, NonNegative) and isinstance(penalty.base, (Zero, SquaredL2)):
        factor = float(objective.loss.factor)  # type: ignore[attr-defined]
        base = penalty.base
        alpha = objective.strength * base.factor / factor if isinstance(base, SquaredL2) else 0.0
        found_there = solve_least_squares(
            as_design(X), y[:, None], None, alpha=np.array([alpha]), fit_intercept=False, positive=True
        )
        return np.asarray(np.asarray(found_there.value[0])[0])
    solution = solve_coordinate(Task(plain, as_design(X), y, None), Options(1e-14, 100_000), start=None, gram=True)
    return _polished(objective, found, np.asarray(solution.value[0]).ravel(), own[:d, :d])


def _polished(objective: Objective, found: SecondMoments, w: Array, H: Array) -> Array:
    """Newton's step on the support with exact residuals, kept where it proves a smaller gap."""
    factor = float(objective.loss.factor)  # type: ignore[attr-defined]
    for _ in range(3):
        on = w != 0.0
        if not on.any():
            return w
        b = best_offset(objective, found, w)
        rest = found.residuals(w, b)
        pull = 2.0 * factor * (rest.best if objective.free else rest.raw).mid
        smooth = objective.strength * objective.regularizer.convexity
        push = pull[on] - smooth * w[on] - objective.strength * _kink(objective) * np.sign(w[on])
        A = 2.0 * factor * H[np.ix_(on, on)] + smooth * np.eye(int(on.sum()))
        try:
            move = np.linalg.solve(A, push)
        except np.linalg.LinAlgError:
            return w
        new = w.copy()
        new[on] += move
        if np.any(np.sign(new) != np.sign(w)):
            return w
        before, after = (bound(objective, found, v, best_offset(objective, found, v))[1] for v in (w, new))
        if not after < before:
            return w
        w = new
    return w


def _kink(objective: Objective) -> float:
    """The weight of |w| in the penalty: R(w) at one minus its quadratic part."""
    inner = objective.regularizer.base if isinstance(objective.regularizer, NonNegative) else objective.regularizer
    one = float(ball(inner.value(ball(np.ones(1)))).mid)
    return one - 0.5 * inner.convexity
