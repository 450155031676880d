"""Which solver serves which pairing of loss and penalty: one table, one function.

A solver says what it needs of the loss and of the penalty. `choose` resolves "auto" (the first that fits, best first)
and refuses, before the first iteration, a pairing that cannot work, naming one that can.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from certifit._errors import PairingError
from certifit.losses import EvaluationLoss, Loss, Squared
from certifit.problem import Problem
from certifit.regularizers import L1, ElasticMix, NonNegative, Regularizer, SquaredL2, Zero, regularizer_names
from certifit.solvers._separable import separable
from certifit.solvers._solution import Solution
from certifit.solvers.coordinate import solve_coordinate
from certifit.solvers.gradient_descent import descend
from certifit.solvers.interior_point import solve_kinked
from certifit.solvers.least_squares import solve_least_squares
from certifit.solvers.newton import newton
from certifit.solvers.proximal import proximal_descent
from certifit.solvers.sgd import sgd
from certifit.solvers.splitting import split_descent


@dataclass(frozen=True)
class Options:
    """What every solver is told."""

    tol: float
    max_iter: int | None
    time_budget: float | None
    trace: bool
    random_state: Any = None

    def limit(self, default: int) -> int:
        return default if self.max_iter is None else self.max_iter


@dataclass(frozen=True)
class Method:
    """A solver, what it needs, and how to run it."""

    name: str
    needs: str
    loss: Callable[[Loss], bool]
    penalty: Callable[[Regularizer], bool]
    run: Callable[[Problem, Options], Solution]
    weights: bool = True

    def fits(self, loss: Loss, regularizer: Regularizer, weighted: bool) -> bool:
        return self.loss(loss) and self.penalty(regularizer) and (self.weights or not weighted)


def _base(regularizer: Regularizer) -> Regularizer:
    return regularizer.base if isinstance(regularizer, NonNegative) else regularizer


def _squared(loss: Loss) -> bool:
    return isinstance(loss, Squared)


def _one_kink(loss: Loss) -> bool:
    return not loss.smooth and loss.targets != "class"


def _smooth(loss: Loss) -> bool:
    return loss.smooth and loss.targets != "class"


def _closed_form(problem: Problem, options: Options) -> Solution:
    part = separable(problem.regularizer)
    assert part is not None
    assert isinstance(problem.loss, Squared)
    found = solve_least_squares(
        problem.design,
        problem.y[:, None],
        problem.weights,
        alpha=0.5 * problem.lam * part.l2 * problem.total / problem.loss.factor,
        prior=None if part.prior is None else np.array(part.prior)[None],
        fit_intercept=problem.fit_intercept,
        positive=part.positive,
    )
    return Solution((found.value[0][0], float(found.value[1][0])), found.status, found.stats)


def _coordinate(problem: Problem, options: Options) -> Solution:
    part = separable(problem.regularizer)
    assert part is not None
    assert isinstance(problem.loss, Squared)
    strength = problem.lam * (part.l1 + part.l2) / (2.0 * problem.loss.factor)
    found = solve_coordinate(
        problem.design,
        problem.y,
        np.array([strength]),
        part.l1 / (part.l1 + part.l2),
        problem.weights,
        fit_intercept=problem.fit_intercept,
        positive=part.positive,
        tol=options.tol,
        max_iter=options.limit(1000),
        time_budget=options.time_budget,
        trace=options.trace,
    )
    stats = found.stats | {"n_iter": int(found.stats["n_iter"][0])}
    return Solution((found.value[0][0], float(found.value[1][0])), found.status, stats)


def _interior_point(problem: Problem, options: Options) -> Solution:
    return solve_kinked(
        problem.design,
        problem.y,
        problem.loss,
        problem.regularizer,
        problem.lam,
        problem.weights,
        fit_intercept=problem.fit_intercept,
        tol=options.tol,
        max_iter=options.limit(200),
        time_budget=options.time_budget,
        trace=options.trace,
    )


def _stepwise(solver: Callable[..., Solution], default: int) -> Callable[[Problem, Options], Solution]:
    def run(problem: Problem, options: Options) -> Solution:
        return solver(problem, options.tol, options.limit(default), options.time_budget, options.trace)

    return run


def _sgd(problem: Problem, options: Options) -> Solution:
    limit = options.limit(1000)
    return sgd(problem, options.tol, limit, options.time_budget, options.trace, random_state=options.random_state)


METHODS = (
    Method(
        "closed_form",
        "squared loss with no penalty or a squared norm",
        _squared,
        lambda r: isinstance(_base(r), (Zero, SquaredL2)),
        _closed_form,
    ),
    Method(
        "coordinate",
        "squared loss with a 1-norm or an elastic mix",
        _squared,
        lambda r: isinstance(_base(r), (L1, ElasticMix)),
        _coordinate,
    ),
    Method("newton", "a smooth loss and a smooth penalty", _smooth, lambda r: r.smooth, _stepwise(newton, 200)),
    Method(
        "interior_point",
        "a loss with one kink and a penalty that splits into coordinates",
        _one_kink,
        lambda r: separable(r) is not None,
        _interior_point,
    ),
    Method(
        "proximal",
        "a smooth loss (any penalty)",
        _smooth,
        lambda r: True,
        _stepwise(proximal_descent, 200_000),
    ),
    Method(
        "splitting",
        "a loss with one kink (any penalty)",
        _one_kink,
        lambda r: True,
        _stepwise(split_descent, 100_000),
    ),
    Method(
        "gradient_descent",
        "a loss of bounded curvature and a smooth penalty",
        lambda loss: _smooth(loss) and bool(np.isfinite(loss.curvature_bound)),
        lambda r: r.smooth,
        _stepwise(descend, 100_000),
    ),
    Method(
        "sgd",
        "a loss of LinearModel's list, a penalty that splits into coordinates without w ≥ 0, and rows without weights",
        lambda loss: loss.sgd_code is not None,
        lambda r: separable(r) is not None and not isinstance(r, NonNegative),
        _sgd,
        weights=False,
    ),
)


def _impossible(loss: EvaluationLoss) -> str:
    if isinstance(loss, Loss):
        return f"{loss.name} loss needs a score per class: use LogisticRegression, or loss='logistic' for two labels."
    return (
        f"{loss.name} loss cannot be minimised by LinearModel; for two labels use loss='logistic', and judge "
        f"predictions by {loss.name} afterwards."
    )


def solver_names() -> list[str]:
    """What ``solver=`` may be."""
    return ["auto", *(m.name for m in METHODS)]


def choose(loss: EvaluationLoss, regularizer: Regularizer, solver: str = "auto", weighted: bool = False) -> Method:
    """The solver for a pairing; PairingError, with a pairing that works, when there is none.

    Parameters
    ----------
    loss : Loss
    regularizer : Regularizer
    solver : str, default="auto"
    weighted : bool, default=False
        Whether rows have weights.

    Examples
    --------
    >>> from certifit.losses import Absolute
    >>> choose(Absolute(), L1()).name
    'interior_point'
    >>> choose(Absolute(), L1(), "newton")
    Traceback (most recent call last):
    ...
    certifit._errors.PairingError: solver='newton' needs a smooth loss and a smooth penalty, not absolute loss with
    l1; solver='interior_point' works for this pairing.
    """
    if solver not in solver_names():
        raise ValueError(f"Unknown solver {solver!r}; choose one of {', '.join(solver_names())}.")
    if not isinstance(loss, Loss) or loss.targets == "class":
        raise PairingError(_impossible(loss))
    able = [m for m in METHODS if m.fits(loss, regularizer, weighted)]
    pairing = f"{loss.name} loss with {regularizer.name}" + (" and sample weights" if weighted else "")
    if loss.name == "perceptron" and solver != "sgd":
        if solver == "auto" and regularizer.name == "none" and not weighted:
            return next(m for m in METHODS if m.name == "sgd")
        raise PairingError(
            "perceptron loss is least at w = 0, so minimising it says nothing; solver='sgd' with lam=0 walks along it "
            "as the perceptron does, and loss='hinge' works with every solver for kinks."
        )
    if solver == "auto":
        if able:
            return able[0]
        known = ", ".join(regularizer_names())
        raise PairingError(f"No solver takes {pairing}; squared loss works with every penalty ({known}).")
    wanted = next(m for m in METHODS if m.name == solver)
    if wanted in able:
        return wanted
    works = f"solver={able[0].name!r} works for this pairing" if able else "loss='squared' works with every penalty"
    raise PairingError(f"solver={solver!r} needs {wanted.needs}, not {pairing}; {works}.")
