"""Which solver serves which pairing of loss and penalty: one table, one function.

A solver says what it needs of the loss and of the penalty. `choose` resolves "auto" (the first that fits, best first)
and refuses, before the first iteration, a pairing that cannot work, naming one that can.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from certifit.exceptions import PairingError
from certifit.losses import EvaluationLoss, Loss, Squared
from certifit.regularizers import L1, ElasticMix, NonNegative, Regularizer, SquaredL2, Zero, regularizer_names
from certifit.solvers._separable import separable
from certifit.solvers._solution import Solution
from certifit.solvers._task import Options, Task
from certifit.solvers.coordinate import solve_coordinate
from certifit.solvers.gradient_descent import descend
from certifit.solvers.interior_point import solve_kinked
from certifit.solvers.least_squares import solve_quadratic
from certifit.solvers.proximal import proximal_descent
from certifit.solvers.sgd import sgd
from certifit.solvers.smooth import solve_newton
from certifit.solvers.splitting import split_descent


@dataclass(frozen=True)
class Method:
    """A solver, what it needs, and how to run it."""

    name: str
    needs: str
    loss: Callable[[Loss], bool]
    penalty: Callable[[Regularizer], bool]
    run: Callable[[Task, Options], Solution]
    weights: bool = True

    def fits(self, loss: Loss, regularizer: Regularizer, weighted: bool) -> bool:
        return self.loss(loss) and self.penalty(regularizer) and (self.weights or not weighted)


def _base(regularizer: Regularizer) -> Regularizer:
    return regularizer.base if isinstance(regularizer, NonNegative) else regularizer


def _squared(loss: Loss) -> bool:
    return isinstance(loss, Squared)


def _one_kink(loss: Loss) -> bool:
    return not loss.smooth and loss.targets != "class" and loss.kinks == 1


def _smooth(loss: Loss) -> bool:
    return loss.smooth and loss.targets != "class"


METHODS = (
    Method(
        "closed_form",
        "squared loss with no penalty or a squared norm",
        _squared,
        lambda r: isinstance(_base(r), (Zero, SquaredL2)),
        solve_quadratic,
    ),
    Method(
        "coordinate",
        "squared loss with a 1-norm or an elastic mix",
        _squared,
        lambda r: isinstance(_base(r), (L1, ElasticMix)),
        solve_coordinate,
    ),
    Method(
        "newton",
        "a smooth loss and a penalty of l1, squared l2 or a mix, without w ≥ 0",
        _smooth,
        lambda r: separable(r) is not None and not isinstance(r, NonNegative),
        solve_newton,
    ),
    Method(
        "interior_point",
        "a loss with one kink and a penalty that splits into coordinates",
        _one_kink,
        lambda r: separable(r) is not None,
        solve_kinked,
    ),
    Method(
        "proximal",
        "a smooth loss (any penalty)",
        _smooth,
        lambda r: True,
        proximal_descent,
    ),
    Method(
        "splitting",
        "a loss with one kink (any penalty)",
        _one_kink,
        lambda r: True,
        split_descent,
    ),
    Method(
        "gradient_descent",
        "a smooth loss and a smooth penalty",
        _smooth,
        lambda r: r.smooth,
        descend,
    ),
    Method(
        "sgd",
        "a loss of LinearModel's list, a penalty that splits into coordinates without w ≥ 0, and rows without weights",
        lambda loss: loss.sgd_code is not None,
        lambda r: separable(r) is not None and not isinstance(r, NonNegative),
        sgd,
        weights=False,
    ),
)


def _impossible(loss: EvaluationLoss) -> str:
    if isinstance(loss, Loss):
        return f"{loss.name} loss needs a score per class: use LogisticRegression, or loss='logistic' for two labels."
    return (
        f"{loss.name} loss cannot be minimised by LinearModel; for two labels use loss='logistic', and evaluate "
        f"predictions with {loss.name} afterwards."
    )


def solver_names() -> list[str]:
    """What ``solver=`` may be."""
    return ["auto", *(m.name for m in METHODS)]


def choose_solver(
    loss: EvaluationLoss, regularizer: Regularizer, solver: str = "auto", weighted: bool = False
) -> Method:
    """The solver for a pairing (``weighted`` rows or not); PairingError, with a pairing that works, when there is none.

    Examples
    --------
    >>> from certifit.losses import Absolute
    >>> choose_solver(Absolute(), L1()).name
    'interior_point'
    >>> choose_solver(Absolute(), L1(), "newton")
    Traceback (most recent call last):
    ...
    certifit.exceptions.PairingError: solver='newton' needs a smooth loss and a penalty of l1, squared l2 or a mix,
    without w ≥ 0, not absolute loss with l1; solver='interior_point' works for this pairing.
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
            "The perceptron loss has a trivial minimum at w = 0: solver='sgd' with lam=0 runs the perceptron "
            "algorithm instead, and loss='hinge' works with the solvers 'interior_point' and 'splitting'."
        )
    if solver == "auto":
        if able:
            return able[0]
        if loss.kinks > 1:
            raise PairingError(f"No solver supports {pairing}; LinearSVR minimises it with a squared norm.")
        known = ", ".join(regularizer_names())
        raise PairingError(f"No solver supports {pairing}; squared loss works with every penalty ({known}).")
    wanted = next(m for m in METHODS if m.name == solver)
    if wanted in able:
        return wanted
    works = f"solver={able[0].name!r} works for this pairing" if able else "loss='squared' works with every penalty"
    raise PairingError(f"solver={solver!r} needs {wanted.needs}, not {pairing}; {works}.")
