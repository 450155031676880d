r"""What is minimised: loss, regularizer, strength, classes and offset in one record that never sees X.

.. math:: F(w, b) = \sum_i s_i\,L(z_i, y_i) + \Lambda R(w), \qquad z_i = w\cdot\varphi(x_i) + b + o_i

Conventions, used by estimators, solvers, provers and model files alike:

- Λ belongs to the *sum*. An estimator whose objective is a mean, (1/S) Σ sᵢ L + λR, hands over Λ = λS, and says
  ``stated="mean"`` so that certificates state F/S; S is the sum of the weights.
- sᵢ is the sample weight times the weight of the row's class, rounded to a float once: F is the sum with those floats.
- ``classes`` names the labels in order. A loss for −1/+1 makes one machine of two classes and several of more: one
  class against the rest, or every pair (rows of other classes then have weight zero). Softmax and the multi-class hinge
  make one machine with a column of scores for each class. `Objective.encode` does all of this.
- b is free (not penalised) unless ``padding`` = B is given: then b = B·w₀ is the weight of a constant column B and is
  penalised with the rest, which is liblinear's objective.
- ``offset`` says that a known number oᵢ is added to every score (GLMs with an exposure).
- The dual variable of a row is β = s·u with u in the domain of the conjugate L*(·, y); `Objective.box` is that domain
  times s, cut inward where a float cannot say it exactly.

Everything is written with NumPy's operators only, so that plain arrays and error-bounded numbers
(`certifit.certificates.Ball`) go through the same lines. Scores are (n,) for one output and (n, k) for several.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from certifit._types import Array, Named, Numeric, Record
from certifit.losses import ClassScores, Loss, best_offset, get_loss, loss_spec
from certifit.regularizers import NonNegative, Regularizer, get_regularizer, regularizer_spec

Layout = Literal["rest", "pairs"]
Stated = Literal["mean", "sum"]
Name = str | int | float
"""A class as JSON can hold it."""

_FEW = 32  # classes up to which labels are compared with each of them, which takes less time than choosing by a mask
_INWARD = 4  # units in the last place by which an end of the box that is not exact is moved inward


@dataclass(frozen=True)
class Target:
    """What one machine learns: its encoded target and the weights of the rows (zero: the row takes no part)."""

    y: Array  # real numbers, −1/+1 or class codes; (n, k) where outputs share a penalty
    weights: Array
    outputs: int  # columns of scores


@dataclass(frozen=True)
class Objective:
    """F of the module docstring.

    Examples
    --------
    >>> from certifit.losses import Squared
    >>> from certifit.regularizers import SquaredL2
    >>> ridge = Objective(Squared(), SquaredL2(), 2.0)
    >>> y, s = np.array([1.0, 3.0]), np.ones(2)
    >>> float(ridge.total(np.array([2.0, 2.0]), y, s) + ridge.penalty(np.array([0.5])))
    2.5
    >>> Objective.from_dict(ridge.to_dict()) == ridge
    True
    """

    loss: Loss
    regularizer: Regularizer  # `Zero` for none
    strength: float  # Λ ≥ 0, for the sum
    fit_intercept: bool = True
    classes: tuple[Name, ...] | None = None  # in the order of codes 0, 1, …; None for real targets
    class_weight: tuple[float, ...] | None = None  # one factor ≥ 0 a class
    layout: Layout = "rest"  # how a loss for −1/+1 treats more than two classes
    padding: float | None = None  # the constant column B > 0 of a penalised offset
    offset: bool = False  # whether a known number is added to each score
    stated: Stated = "mean"  # whether certificates state F/S or F

    def __post_init__(self) -> None:
        object.__setattr__(self, "strength", float(self.strength))
        if not 0.0 <= self.strength < math.inf:
            raise ValueError(f"The strength of a penalty is a finite number ≥ 0, not {self.strength}.")
        if self.classes is not None:
            object.__setattr__(self, "classes", names_of(self.classes))
            if len(set(self.classes)) != len(self.classes) or len(self.classes) < 2:
                raise ValueError("classes must contain two different labels or more.")
        if self.class_weight is not None:
            object.__setattr__(self, "class_weight", tuple(float(v) for v in self.class_weight))
            if self.classes is None or len(self.class_weight) != len(self.classes):
                raise ValueError("class_weight must contain one number for each class.")
            if not all(0.0 <= v < math.inf for v in self.class_weight):
                raise ValueError("class_weight must contain finite numbers ≥ 0.")
        if self.padding is not None and not (self.fit_intercept and 0.0 < self.padding < math.inf):
            raise ValueError("padding is the size of a constant column, a finite number > 0, for a fit with an offset.")
        if self.loss.targets == "class" and self.classes is None:
            raise ValueError(f"The loss {self.loss.name!r} needs the names of the classes.")
        if self.layout not in get_args(Layout) or self.stated not in get_args(Stated):
            raise ValueError(f"Unknown layout {self.layout!r} or statement {self.stated!r}.")

    # -- classes, weights, machines ---------------------------------------------------------------------------------
    @property
    def free(self) -> bool:
        """Whether the offset is not penalised: then Σβ = 0 is asked of the dual variables."""
        return self.fit_intercept and self.padding is None

    @property
    def machines(self) -> tuple[tuple[int, int | None], ...]:
        """(positive class, negative class or None for the rest) of each machine for ±1, in scikit-learn's order."""
        if self.classes is None or self.loss.targets == "class":
            return ()
        k = len(self.classes)
        if k == 2:
            return ((1, 0),)
        if self.layout == "rest":
            return tuple((i, None) for i in range(k))
        return tuple((i, j) for i in range(k) for j in range(i + 1, k))

    def codes(self, y: Array) -> Array:
        """Position of every label among the classes; −1 for a label that is none of them."""
        assert self.classes is not None
        y = np.asarray(y)
        if y.dtype.kind not in "biufU":
            y = np.array(names_of(y), dtype=object)
        if len(self.classes) <= _FEW:  # the last name that a label equals, as below
            found = np.zeros(len(y), dtype=np.int8)
            for k, name in enumerate(self.classes):
                np.maximum(found, np.asarray(y == name, dtype=bool) * np.int8(k + 1), out=found)
            return (found - np.int8(1)).astype(int)  # wide numbers once only
        codes = np.full(len(y), -1)
        for k, name in enumerate(self.classes):
            codes[np.asarray(y == name)] = k
        return codes

    def encode(self, y: Array, sample_weight: Array | None = None) -> tuple[Target, ...]:
        """The targets of all machines, from labels or real numbers (one or more columns) as the user has them."""
        y = np.asarray(y)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        if self.classes is None:
            y = y.astype(float, copy=False).reshape(len(y), -1)
            if self.regularizer.joint:
                return (Target(y, weights, y.shape[1]),)
            return tuple(Target(y[:, t], weights, 1) for t in range(y.shape[1]))
        codes = self.codes(y)
        if np.any(codes < 0):
            raise ValueError("y holds labels that the objective does not name")
        if self.class_weight is not None:
            weights = weights * np.array(self.class_weight)[codes]
        if self.loss.targets == "class":
            return (Target(codes, weights, len(self.classes)),)
        found = []
        for positive, negative in self.machines:
            all_of_them = negative is None or len(self.classes) == 2
            here = weights if all_of_them else np.where((codes == positive) | (codes == negative), weights, 0.0)
            signs = np.multiply(codes == positive, 2.0)
            found.append(Target(np.subtract(signs, 1.0, out=signs), here, 1))
        return tuple(found)

    # -- value and derivatives --------------------------------------------------------------------------------------
    def total(self, z: Numeric, y: Numeric, weights: Array) -> Numeric:
        """Σ sᵢ L(zᵢ, yᵢ), of plain or error-bounded scores."""
        terms = self.loss.value(z, y)
        return (terms if np.all(weights == 1.0) else terms * column_of(weights, terms)).sum()

    def penalty(self, w: Numeric) -> Numeric:
        """Λ R(w); several outputs as rows of w."""
        return self.regularizer.value(self._flat(w)) * self.strength

    def slope(self, z: Array, y: Array, weights: Array) -> Array:
        """β = s·∂L/∂z, the dual variable that belongs to the scores z."""
        u = self.loss.slope(z, y)
        return u * column_of(weights, u)

    def curvature(self, z: Array, y: Array, weights: Array) -> Array:
        """s·∂²L/∂z²."""
        h = self.loss.curvature(z, y)
        return h * column_of(weights, h)

    # -- duality ----------------------------------------------------------------------------------------------------
    def box(self, y: Array, weights: Array) -> tuple[Array, Array]:
        """Ends between which β is surely in the domain of s·L*(·/s); not for class scores (a simplex)."""
        with np.errstate(all="ignore"):
            low, high = (np.asarray(end, dtype=float) for end in self.loss.domain(y))
            s = column_of(weights, low)
            # Ends that depend on y are rounded (1 − y, and s times it); 0, ∞ and a constant ±1 are not.
            sure = (0.0, np.inf) if self.loss.targets == "mean" else (0.0, 1.0, np.inf)
            exact = np.isin(np.abs(low), sure), np.isin(np.abs(high), sure)
            low, high = s * low, s * high
            low = np.where(exact[0], low, low + _INWARD * np.spacing(np.abs(low)))
            high = np.where(exact[1], high, high - _INWARD * np.spacing(np.abs(high)))
        return np.where(s > 0.0, low, 0.0), np.where(s > 0.0, high, 0.0)

    def admits(self, beta: Array, y: Array, weights: Array) -> bool:
        """Whether every β lies in its domain, decided exactly. Class scores: β = s(p − e_y) with p in the simplex."""
        if not np.all(np.isfinite(beta)):
            return False
        if self.loss.targets != "class":
            low, high = self.box(y, weights)
            return bool(np.all((low <= beta) & (beta <= high)))
        own = np.arange(len(beta)), y
        others = beta.copy()
        others[own] = 0.0
        rows_balance = all(math.fsum(row) == 0.0 for row in beta.tolist())
        return bool(rows_balance and np.all(others >= 0.0) and np.all(beta[own] >= -weights))

    def fenchel_young(self, z: Numeric, u: Numeric, y: Numeric, weights: Array) -> Numeric:
        """Σ sᵢ [L(zᵢ) + L*(uᵢ) − uᵢzᵢ] ≥ 0 over rows of positive weight."""
        terms = self.loss.fenchel_young(z, u, y)
        return (terms * column_of(weights, terms)).sum()

    def gauge(self, v: Numeric) -> Numeric:
        """How far v must be shrunk to lie in the domain of R*; at most 1 inside it."""
        return self.regularizer.gauge(self._flat(v))

    def penalty_fenchel_young(self, w: Numeric, v: Numeric) -> Numeric:
        """Λ [R(w) + R*(v) − v·w] ≥ 0, where Λv = −Σ βᵢ φ(xᵢ)."""
        return self.regularizer.fenchel_young(self._flat(w), self._flat(v)) * self.strength

    def _flat(self, w: Numeric) -> Numeric:
        return w if self.regularizer.joint or len(w.shape) == 1 else w.reshape(-1)

    # -- facts ------------------------------------------------------------------------------------------------------
    @property
    def convexity(self) -> float:
        """Λm: F grows by at least ½Λm‖w − w*‖² away from its minimum."""
        return self.strength * self.regularizer.convexity

    @property
    def signed(self) -> bool:
        """Whether coefficients must not be negative."""
        return isinstance(self.regularizer, NonNegative)

    def possible(self, y: Array) -> bool:
        """Whether encoded targets are such as the loss is for."""
        return bool(np.all(np.isfinite(y))) and bool(np.all(self.loss.possible(y)))

    def constants(self, target: Target, start: Array | None = None) -> Array:
        """The best constant scores: one number for each output (zeros without a free offset).

        ``start`` are known numbers that are added to the scores.
        """
        if not self.free:
            return np.zeros(target.outputs)
        if self.loss.targets == "class":
            assert isinstance(self.loss, ClassScores)
            return self.loss.constants(np.bincount(target.y, target.weights, target.outputs))
        columns = target.y.reshape(len(target.y), -1)
        at = np.zeros(len(columns)) if start is None else start
        return np.array([best_offset(self.loss, at, column, target.weights) for column in columns.T])

    # -- to evidence and back ---------------------------------------------------------------------------------------
    def to_dict(self) -> Record:
        """The record that evidence and files hold, in JSON's words."""
        return {
            "loss": loss_spec(self.loss),
            "regularizer": regularizer_spec(self.regularizer),
            "strength": self.strength,
            "fit_intercept": bool(self.fit_intercept),
            "classes": None if self.classes is None else list(self.classes),
            "class_weight": None if self.class_weight is None else list(self.class_weight),
            "layout": self.layout,
            "padding": None if self.padding is None else float(self.padding),
            "offset": bool(self.offset),
            "stated": self.stated,
        }

    @classmethod
    def from_dict(cls, record: Named) -> Objective:
        """The objective of anybody's record; whatever is not as `to_dict` writes it is rejected with ValueError."""
        if not isinstance(record, Mapping) or set(record) != _FIELDS:
            raise ValueError(f"an objective has exactly the fields {', '.join(sorted(_FIELDS))}")
        _check_plain(record)
        for key in ("fit_intercept", "offset"):
            if type(record[key]) is not bool:
                raise ValueError(f"{key} must be true or false")
        for key in ("strength", "padding"):
            if type(record[key]) not in (float, int) and not (key == "padding" and record[key] is None):
                raise ValueError(f"{key} must be a number")
        lists: dict[str, Any] = {key: record[key] for key in ("classes", "class_weight")}
        for key, value in lists.items():
            if value is not None and (type(value) is not list or any(type(v) is bool for v in value)):
                raise ValueError(f"{key} must be a list of names or numbers")
        for key in ("loss", "regularizer"):
            _check_formula(record[key])
        try:
            loss, regularizer = get_loss(dict(record["loss"])), get_regularizer(dict(record["regularizer"]))
        except (TypeError, KeyError) as error:
            raise ValueError(f"loss or regularizer is not well-formed: {error}") from None
        rest = {key: record[key] for key in ("fit_intercept", "layout", "padding", "offset", "stated")}
        return cls(loss, regularizer, record["strength"], **lists, **rest)


_FIELDS = {
    "loss", "regularizer", "strength", "fit_intercept", "classes", "class_weight", "layout", "padding", "offset",
    "stated",
}  # fmt: skip


def names_of(labels: Sequence[Any] | Array) -> tuple[Name, ...]:
    """Labels in JSON's words: numbers stay numbers, everything else becomes its text.

    Examples
    --------
    >>> names_of(np.array([0, 1])), names_of(["no", "yes"])
    ((0.0, 1.0), ('no', 'yes'))
    """
    return tuple(_name(v) for v in (labels.ravel().tolist() if isinstance(labels, np.ndarray) else labels))


def _name(v: Any) -> Name:
    if isinstance(v, (bool, np.bool_, int, np.integer, float, np.floating)):
        whole = int(v) if isinstance(v, (int, np.integer)) else None
        return whole if whole is not None and abs(whole) > 2**53 else float(v)
    return str(v)


def _check_formula(value: Any) -> None:
    """A formula is its name and its parameters, and nothing beside them that a reader might take for one."""
    if not isinstance(value, Mapping) or set(value) != {"name", "params"} or not isinstance(value["params"], Mapping):
        raise ValueError("a loss or regularizer is a record of name and params")
    for inner in value["params"].values():
        if isinstance(inner, Mapping):
            _check_formula(inner)
        elif type(inner) is bool:
            raise ValueError("the parameters of a loss or regularizer are numbers, not true or false")


def _check_plain(value: Any) -> None:
    """Only JSON's own types, exactly (a subclass can lie about what it equals), and only finite numbers."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if type(key) is not str:
                raise ValueError("the names of fields must be text")
            _check_plain(inner)
    elif type(value) is list:
        for inner in value:
            _check_plain(inner)
    elif type(value) not in (str, int, float, bool, type(None)):
        raise ValueError(f"an objective holds plain text and numbers, not {type(value).__name__}")
    elif type(value) is float and not math.isfinite(value):
        raise ValueError("an objective holds finite numbers only")


def column_of(weights: Array, like: Numeric) -> Array:
    """Weights of the rows in a shape that multiplies (n,) or (n, k)."""
    return weights[:, None] if len(like.shape) == 2 else weights
