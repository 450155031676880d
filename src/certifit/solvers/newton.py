r"""Newton's method for smooth losses with a squared-norm penalty (or none), dense or sparse, one or many scores.

It runs in centred and scaled coordinates (`SmoothSum`), so that badly scaled columns cost nothing, and in three gears:

- few rows: Newton steps with the full Hessian and a line search on the scores (which costs no pass over X); with many
  columns they start where conjugate gradients, which form no Hessian, end, and the last step is found by these, too;
- many rows: a fraction of the rows gives a start and a Hessian that is good to some ten per cent; with it as metric,
  limited-memory quasi-Newton steps need a full gradient each and gain one or two digits per step. If that stalls, full
  Newton steps take over.

It stops when the Newton decrement says that the objective is within ``tol`` of its minimum.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from certifit._trace import Trace, continued
from certifit._types import Array
from certifit.losses import Logistic
from certifit.parallel import one_thread
from certifit.solvers._cheap_metric import CheapMetric, cheap_metric
from certifit.solvers._driver import drive
from certifit.solvers._smooth_sum import ScaledHessian, SmoothSum, decrement
from certifit.solvers._solution import Solution
from certifit.solvers._task import Options
from certifit.solvers.newton_folds import newton_without_hessian, step_without_hessian

NEWTON, ON_A_SHARE, CHEAPLY = "newton", "newton on a sample of rows", "quasi-newton"
_MEMORY = 12  # pairs kept by the quasi-Newton gear
_PATIENCE = 25  # quasi-Newton steps before full Newton takes over
_WIDE = 200  # columns from which a Hessian costs more than the steps of conjugate gradients in its place
_FEW = 4_000_000  # numbers of a table for that
_SAFE = 10.0  # times what shall be left: their bound of the decrement is far above it
_DEAR = 1.5e9  # multiplications from which on a Hessian with so many columns times classes is dear
_THIN = 0.01  # share of numbers other than zero, below which steps cost no less
_DEEPER = 1e-4  # what steps without one may leave, as a fraction of what shall be left: the decrement is an estimate
_HUGE = 6000  # columns times classes for which none can be formed
_FOR_ONE = 10  # quasi-Newton steps that a limit allows for each of Newton's
_A_HESSIAN = 1 / 16  # quasi-Newton steps for each column times class: they take as long as a Hessian
_NEAREST = 1e-10  # of the null model's loss may always be left by them: a full step does the rest
_SURE = 0.1  # share of the decrement that a step may leave, if the next is to be taken unseen
_ACCURATE = 1e-8  # share of the decrement by which the last step's may be off
_ROUNDING = 2e-15  # fraction of the objective by which its value may be off


@dataclass(frozen=True)
class _Step:
    theta: Array
    Z: Array
    G: Array
    objective: float
    gap: float  # half the squared Newton decrement, in the metric at hand
    step: float
    direction: Array
    pairs: deque[tuple[Array, Array, float]]
    metric: ScaledHessian | CheapMetric
    stalled: bool = False
    sure: bool = False  # whether the next step is known to be a good one


def minimise(
    f: SmoothSum,
    start: Array,
    tol: float,
    options: Options | None = None,
    metric: ScaledHessian | CheapMetric | None = None,
    *,
    witness: bool = False,
) -> Solution:
    """Minimise to within ``tol`` (an absolute amount, in place of that of the options); ``value`` is θ.

    ``stats`` holds ``n_iter``, ``gap`` (estimated, in the units of f), ``method`` and ``trace``. With a ``metric`` (see
    `nearby_metric`) from a problem near by, the start is taken as good and the steps are quasi-Newton. With ``witness``
    they hold a θ whose slopes prove a gap about as small as that of the solution; see `_witness`.
    """
    options = Options() if options is None else options
    with one_thread():  # what is large runs on threads of its own
        given, start = start, _near(f, start, tol) if metric is None else start
        method, gears = _gears(f, start, tol, options.limit(100), metric, start is given)
        state, status, n_iter, seconds, rows = None, "", 0, 0.0, Trace()
        for gear in gears:
            first = gear.begin(start if state is None else state.theta)
            near = start is not given and gear.exact  # one Hessian tells whether that was the optimum
            left = None if options.time_budget is None else max(options.time_budget - seconds, 0.0)
            run = drive(first, gear.advance, gear.finished, gear.steps, left, options.trace, check_start=near)
            rows = run.trace if state is None else continued(rows, run.trace[1:])
            state, status, n_iter, seconds = run.state, run.status, n_iter + run.n_iter, seconds + run.seconds
            # Another metric than the Hessian only estimates the decrement: where that is too large, the next decides.
            if status == "time_budget" or (state.gap <= tol and status != "max_iter"):
                break
        assert state is not None
        status = "converged" if state.gap <= tol else status
        quasi = method != NEWTON
        if quasi and not np.any(f.ridge):  # without a penalty all digits are wanted: the last step is a full one
            state = _first(f, state.theta)
        state, better = _witness(f, state) if witness and quasi else (_last(f, state), None)
    stats = {"n_iter": max(1, n_iter), "seconds": seconds, "trace": rows, "gap": state.gap}
    if witness:
        stats["witness"] = state.theta if better is None else better
    return Solution(state.theta, status, stats | {"method": method})


class _Gear(NamedTuple):
    """One way to go on from where the one before it ended."""

    begin: Callable[[Array], _Step]
    advance: Callable[[_Step], _Step]
    steps: int
    goal: float  # gap at which it ends
    exact: bool = False  # whether the gap comes from the Hessian itself

    def finished(self, before: _Step, after: _Step) -> bool:
        return after.gap <= self.goal or after.stalled


def _gears(
    f: SmoothSum, start: Array, tol: float, limit: int, metric: ScaledHessian | CheapMetric | None, anywhere: bool
) -> tuple[str, list[_Gear]]:
    """The name of the method and its gears; ``anywhere`` says that the start may be far from the optimum."""
    quasi, share = _quasi_newton(f), _share(f)
    full = _Gear(lambda theta: _first(f, theta), _newton(f), limit, tol, exact=True)
    sampled = len(f.y) > 3 * share
    dear = metric is None and anywhere and _hessian_is_dear(f, share if sampled else len(f.y))
    if dear or (metric is not None and metric.rough):
        size = f.columns.width * f.outputs
        most = _FOR_ONE * limit
        patience = most if size > _HUGE else min(most, _patience(f))
        rough = _Gear(lambda theta: _first(f, theta, cheap_metric(f, theta)), quasi, patience, _DEEPER * tol)
        given = rough._replace(begin=rough.begin if metric is None else lambda theta: _first(f, theta, metric))
        return CHEAPLY, [given._replace(steps=min(most, _PATIENCE)), rough, *([] if size > _HUGE else [full])]
    if not sampled and metric is None:
        return NEWTON, [full] if anywhere else [full._replace(begin=lambda theta: _at_the_end(f, theta), steps=0), full]
    first = _first(f, start, metric) if metric is not None else _after_a_share(f, start, share)
    if first.metric.flat:
        # A rare column may be constant on the share: what the share calls flat need not be flat on all rows.
        return NEWTON, [full._replace(begin=lambda theta: _first(f, first.theta))]
    return ON_A_SHARE, [_Gear(lambda theta: first, quasi, _PATIENCE, tol), full]


def _near(f: SmoothSum, start: Array, tol: float) -> Array:
    """A start near the optimum where Hessians are dear and rows few: conjugate gradients need none of them."""
    wide = f.columns.width >= _WIDE and len(f.y) * f.columns.width <= _FEW and not f.columns.design.is_sparse
    plain = isinstance(f.loss, Logistic) and f.offset is None and not np.any(f.prior)
    if not (wide and plain and _penalised(f)):
        return start
    rows = f.columns.rows(slice(None))
    left = max(_SAFE * tol / (np.log(2.0) * float(np.sum(f.weights))), _NEAREST)
    found = newton_without_hessian(rows, f.y, f.loss, f.weights, f.ridge, left, start[:, 0])
    return start if found is None else found[:, None]


def _penalised(f: SmoothSum) -> bool:
    """Whether every column is: the optimum exists, and is one point."""
    return bool(np.count_nonzero(f.ridge) >= f.columns.width - 1)


def _hessian_is_dear(f: SmoothSum, rows: int) -> bool:
    """Whether forming it from so many rows takes longer than the steps without it; zeros cost these nothing."""
    size, design = f.columns.width * f.outputs, f.columns.design
    dense = max(design.X.nnz / max(1, np.prod(design.shape)), _THIN) if design.is_sparse else 1.0
    return size >= _WIDE and rows * size**2 >= _DEAR * dense and _penalised(f)


def _share(f: SmoothSum) -> int:
    """Rows that are enough for a start and a metric; of many rows a few more, which saves passes over all of them."""
    size = f.columns.width * f.outputs
    enough = max(4000, 25 * size // max(1, f.outputs - 1))
    return min(max(enough, len(f.y) // 12), 4 * enough)


def nearby_metric(f: SmoothSum, theta: Array) -> ScaledHessian | CheapMetric:
    """The metric at θ, from a fraction of the rows where there are many, for problems near by."""
    n, share = len(f.y), _share(f)
    if _hessian_is_dear(f, share if n > 3 * share else n):
        return cheap_metric(f, theta)
    return _metric(f.some(_rows(n, share)) if n > 3 * share else f, theta)


def _rows(n: int, share: int) -> Array:
    return np.linspace(0, n - 1, share).astype(int)


def _after_a_share(f: SmoothSum, start: Array, share: int) -> _Step:
    """A rough solution on a fraction of the rows, whose Hessian becomes the metric for all of them."""
    part = f.some(_rows(len(f.y), share))
    metric = _metric(part.some(_rows(share, share // 4)), start)  # fewer rows are enough for the first Hessian
    if metric.flat:  # unless they leave a direction flat that the share does not
        metric = _metric(part, start)
    state = _first(part, start, metric)
    target = 1e-3 * abs(state.objective)
    state = drive(state, _quasi_newton(part), lambda a, b: b.gap <= target or b.stalled, 30).state
    return _first(f, state.theta, part.rough_metric(state.Z))


def _metric(f: SmoothSum, theta: Array) -> ScaledHessian:
    return f.rough_metric(f.scores(theta))


def _first(f: SmoothSum, theta: Array, metric: ScaledHessian | CheapMetric | None = None) -> _Step:
    value, Z, G = f.evaluate(theta)
    measure = f.left if metric is None else decrement
    metric = f.metric(f.hessian(Z)) if metric is None else metric
    D = -metric.solve(G)
    return _Step(theta, Z, G, value, measure(G, D), 0.0, D, deque(maxlen=_MEMORY), metric)


def _at_the_end(f: SmoothSum, theta: Array) -> _Step:
    """`_first` for a start near the optimum: the last step, to many digits, costs less than a Hessian."""
    value, Z, G = f.evaluate(theta)
    h = f.curvatures(Z)
    diagonal = np.maximum(f.columns.squares(h) + f.ridge, 1e-300)
    D = step_without_hessian(f.columns.rows(slice(None)), h, f.ridge, 1.0 / diagonal, G[:, 0], _ACCURATE)[:, None]
    metric = CheapMetric(None, np.sqrt(diagonal), None)
    return _Step(theta, Z, G, value, decrement(G, D), 0.0, D, deque(maxlen=_MEMORY), metric)


def _search(f: SmoothSum, s: _Step) -> tuple[Array, Array, Array, float, float]:
    """The whole step, or backtracking on the scores, which costs no pass over X."""
    slope = float(np.sum(s.direction * s.G))
    # Near the optimum the fall is lost in the rounding of the objective, while the step is still a good one.
    level = s.objective + _ROUNDING * abs(s.objective)
    theta = s.theta + s.direction
    value, Z, G = f.evaluate(theta)
    if np.isfinite(value) and value <= level + 1e-4 * slope:
        return theta, Z, G, value, 1.0
    dZ, t = Z - s.Z, 0.5
    for _ in range(60):
        theta, Z = s.theta + t * s.direction, s.Z + t * dZ
        value, slopes = f.value(Z, theta)
        if np.isfinite(value) and value <= s.objective + 1e-4 * t * slope:
            return theta, Z, f.gradient(slopes, theta), value, t
        t *= 0.5
    return s.theta, s.Z, s.G, s.objective, 0.0


def _last(f: SmoothSum, s: _Step) -> _Step:
    """The next step is known already: taking it squares what is left of the gap, and costs one pass to see that."""
    if s.sure:
        return replace(s, theta=s.theta + s.direction)
    theta, Z, G, value, t = _search(f, s)
    return s if t == 0.0 else replace(s, theta=theta, Z=Z, G=G, objective=value)


def _witness(f: SmoothSum, s: _Step) -> tuple[_Step, Array]:
    """`_last`, and a few steps more, to where a dual point proves as much as the fit has earned.

    The gap that slopes prove (`SmoothSum.proved`) exceeds the one they leave by as much as the loss bends more than the
    penalty, often a thousandfold; a step gains two digits.
    """
    advance = _quasi_newton(f)
    last = advance(s)
    if last.stalled:
        return last, last.theta
    target = max(last.gap, _ROUNDING * abs(last.objective))
    done = lambda a, b: b.stalled or f.proved(b.G, b.direction) <= target  # noqa: E731
    return last, drive(last, advance, done, _patience(f), check_start=True).state.theta


def _patience(f: SmoothSum) -> int:
    """Quasi-Newton steps that a Hessian is worth, and some more."""
    return _PATIENCE + int(_A_HESSIAN * f.columns.width * f.outputs)


def _newton(f: SmoothSum) -> Callable[[_Step], _Step]:
    def advance(s: _Step) -> _Step:
        theta, Z, G, value, t = _search(f, s)
        if t == 0.0:  # rounding: no further decrease can be seen
            return replace(s, stalled=True)
        metric = f.metric(f.hessian(Z))
        D = -metric.solve(G)
        left = f.left(G, D)
        # Steps of the size of rounding go on for ever: there, or where neither value nor gap falls any more.
        if s.gap <= left and (s.gap <= _ROUNDING * abs(s.objective) or value >= s.objective):
            return replace(s, stalled=True)
        return _Step(theta, Z, G, value, left, t, D, s.pairs, metric)

    return advance


def _quasi_newton(f: SmoothSum) -> Callable[[_Step], _Step]:
    def advance(s: _Step) -> _Step:
        theta, Z, G, value, t = _search(f, s)
        if t == 0.0:
            return replace(s, stalled=True)
        step, change = theta - s.theta, G - s.G
        bend = float(np.sum(step * change))
        if bend > 0:
            s.pairs.append((step, change, 1.0 / bend))
        D = -_two_loops(s.metric, s.pairs, G)
        left = decrement(G, D)
        # A whole step that takes nine tenths of what is left shows how near the metric is to the Hessian.
        return _Step(theta, Z, G, value, left, t, D, s.pairs, s.metric, sure=t == 1.0 and left <= _SURE * s.gap)

    return advance


def _two_loops(metric: ScaledHessian | CheapMetric, pairs: deque[tuple[Array, Array, float]], G: Array) -> Array:
    """The L-BFGS recursion with the inverse of a metric as its start, a rough one in the length of the last step."""
    q, weights = G.copy(), []
    for step, change, rho in reversed(pairs):
        a = rho * float(np.sum(step * q))
        weights.append(a)
        q -= a * change
    if metric.rough and pairs:
        _, change, rho = pairs[-1]
        q /= rho * float(np.sum(change * metric.solve(change)))
    q = metric.solve(q)
    for (step, change, rho), a in zip(pairs, reversed(weights)):
        q += (a - rho * float(np.sum(change * q))) * step
    return q
