"""The candidates of a study: one table, simplest first.

A row is resolved when it is asked for; a family that is not installed simply does not appear. ``path`` names
the steps after the table encoder, ``grid`` the parameters to choose by inner cross-validation (of the last
step, or ``step__parameter``), ``encoder`` how the model wants its features, ``limits`` what it can bear.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.stats import skew
from sklearn.utils.validation import has_fit_parameter

from certifit._types import Array
from certifit.families import words_of
from certifit.study._effort import estimated

CLASSES, VALUES, COUNTS = "classification", "regression", "counts"
_ANY_VALUE = (VALUES, COUNTS)
_POWERS = tuple(float(v) for v in np.logspace(-3, 3, 7))
_SHRINK = tuple(float(v) for v in np.logspace(-3, 4, 15))
_PRUNE = (0.0, 0.0003, 0.001, 0.003, 0.01, 0.03)
_NEIGHBOURS = (1, 3, 5, 7, 11, 15, 21, 31, 51)


@dataclass(frozen=True)
class Limits:
    """Beyond these a candidate is skipped, and the study says so."""

    rows: int = 10**9
    features: int = 10**9
    classes: int = 10**9
    cells: int = 10**11  # rows × features
    positive: bool = False  # the target must be > 0
    fewest: int = 0  # rows below which another model does the same better; it is left out without a word
    skewed: bool = False  # left out unless the target has a long tail that its logarithm has not


@dataclass(frozen=True)
class Shape:
    """What matters about the distribution of a target of numbers.

    Examples
    --------
    >>> Shape.of(np.exp(np.linspace(-3.0, 3.0, 50)))
    Shape(positive=True, skewed=True)
    """

    positive: bool = False  # whether all are > 0
    skewed: bool = False  # whether the upper tail is long and that of the logarithm is not

    @classmethod
    def of(cls, y: Array) -> Shape:
        """Of these targets."""
        positive = bool(np.min(y) > 0)
        return cls(positive, positive and bool(skew(y) > max(1.0, 2.0 * abs(skew(np.log(y))))))


@dataclass(frozen=True)
class Candidate:
    """One row of the table.

    Attributes
    ----------
    tasks : tuple of str
        For which it applies.
    path : tuple of str
        Where the estimator is imported from.
    grid, settings, encoder : mapping
        Values to try, fixed parameters by task, options of the encoder.
    limits : Limits
        Sizes up to which it is tried.
    adapt : callable or None
        Fits the grid to the size of the table.
    called : str
        What people call it, where the table of families has no words for these settings.
    search : mapping
        Parameters of the last step while the grid is searched, such as a looser tolerance: a choice needs fewer digits
        than a proof. The chosen point is fitted without them.
    in_units : tuple of str
        Parameters of the grid that are multiples of the target's standard deviation.
    yardstick : bool
        Run in the same folds and reported, but never chosen: nothing could be proved about it.

    Examples
    --------
    >>> from certifit.study import TABLE
    >>> next(c for c in TABLE if c.name == "ridge").tasks
    ('regression',)
    """

    tasks: tuple[str, ...]
    path: tuple[str, ...]
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    encoder: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = Limits()
    adapt: Callable[[dict[str, tuple[Any, ...]], int, int], dict[str, tuple[Any, ...]]] | None = None
    search: Mapping[str, Any] = field(default_factory=dict)
    in_units: tuple[str, ...] = ()
    called: str = ""
    yardstick: bool = False

    @property
    def black_box(self) -> bool:
        """Whether nothing can be proved about it."""
        return self.path[-1:] in ((_BOXES,), (_BOXED,))

    @property
    def name(self) -> str:
        """What people call it: its own words, or those of the table of families."""
        return self.called or words_of(*self.path)

    def available(self) -> bool:
        """Whether every step is installed; it is imported when it is used."""
        return all(importlib.util.find_spec(p.split(":")[0]) is not None for p in self.path)

    def steps(self, seed: int, kinds: tuple[str, ...] = ()) -> list[tuple[str, Any]]:
        """Named, unfitted steps; the last is called "model".

        Parameters
        ----------
        seed : int
            For what is random.
        kinds : tuple of str, default=()
            The kinds of the columns, for a step that takes gaps.
        """
        made = []
        for k, path in enumerate(self.path):
            cls = _find(path)
            settings = dict(self.settings.get(path.split(":")[1], {}))
            if "random_state" in cls().get_params(deep=False):
                settings.setdefault("random_state", seed)
            name = "model" if k == len(self.path) - 1 else path.split(":")[1].lower()
            if name == "model" and self.encoder.get("gaps"):
                settings |= {k: [j for j, kind in enumerate(kinds) if kind == v] for k, v in _ROLES.items()}
            made.append((name, cls(**settings)))
        return made

    @staticmethod
    def is_fixed(step: Any) -> bool:
        """Whether a step has nothing to choose and learns next to nothing from the target: it may run before the folds.

        Parameters
        ----------
        step : transformer or estimator
        """
        return type(step).__name__ in ("PolynomialBasis", "AdditiveBasis", "NystroemBasis")

    def parameters(self, rows: int, features: int, spread: float = 1.0) -> dict[str, tuple[Any, ...]]:
        """The grid in a pipeline's words, cut to what so many rows and features allow.

        Parameters
        ----------
        rows, features : int ≥ 1
            Of the table.
        spread : float > 0, default=1.0
            Of the target, for parameters in its units.
        """
        units = {name: spread if name in self.in_units else 1 for name in self.grid}
        scaled = {k: tuple(v * units[k] if units[k] != 1 else v for v in values) for k, values in self.grid.items()}
        grid = {k if "__" in k else f"model__{k}": v for k, v in scaled.items()}
        return self.adapt(grid, rows, features) if self.adapt else grid

    def takes_weights(self) -> bool:
        """Whether its last step can weight the rows."""
        return bool(has_fit_parameter(_find(self.path[-1]), "sample_weight"))

    def seconds(self, rows: int, features: int, classes: int = 0) -> float:
        """Estimated seconds of work on one outer fold: a formula, not a measurement, so that it is always the same.

        Parameters
        ----------
        rows, features : int ≥ 1
            Of the training rows, and of what the encoder makes of the columns.
        classes : int ≥ 0, default=0
            Of the target; 0 for numbers.
        """
        return estimated(self.name, rows, features, classes)


def _find(path: str) -> Any:
    module, name = path.split(":")
    return getattr(importlib.import_module(module), name)


def _few_neighbours(grid: dict[str, tuple[Any, ...]], rows: int, features: int) -> dict[str, tuple[Any, ...]]:
    values = tuple(v for v in grid["model__n_neighbors"] if v <= rows // 3) or (1,)
    return grid | {"model__n_neighbors": values}


def _few_components(grid: dict[str, tuple[Any, ...]], rows: int, features: int) -> dict[str, tuple[Any, ...]]:
    most = min(rows - 1, features)
    values = tuple(v for v in grid["pca__n_components"] if v < most) or (1,)
    return grid | {"pca__n_components": values}


def _strong(grid: dict[str, tuple[Any, ...]], rows: int, features: int) -> dict[str, tuple[Any, ...]]:
    """With more columns than rows a weak penalty fits every row exactly, at great cost: the stronger half is tried."""
    alphas = grid["model__alpha"]
    return grid | {"model__alpha": alphas[len(alphas) // 2 :]} if features > rows else grid


_ROLES = {"categorical": "category", "boolean": "boolean"}
_C = {"C": _POWERS}
_ALPHA = {"alpha": _SHRINK}
_WEAK = {"alpha": tuple(float(v) for v in np.logspace(-4, 2, 13))}
_RAW = {"standardize": False}
_FULL_RANK = {"reference": True}
_ADDITIVE = "certifit.preprocessing:AdditiveBasis"
_NYSTROEM = "certifit.preprocessing:NystroemBasis"
_LOGISTIC = "certifit.linear_model:LogisticRegression"
_PAIRS: dict[str, dict[str, Any]] = {"AdditiveBasis": {"pairs": 60, "products": 300}}
_MANY_PAIRS: dict[str, dict[str, Any]] = {"AdditiveBasis": {"pairs": 150, "products": 600}}  # of ridge they are cheap
_FEW_C = {"C": (0.01, 0.1, 1.0, 10.0)}
_POISSON: dict[str, dict[str, Any]] = {"GLM": {"family": "poisson"}}
_BOXES = "certifit.study._black_box:BlackBoxClassifier"
_BOXED = "certifit.study._black_box:BlackBoxRegressor"
_LARGE = 20_000_000  # cells of a table whose columns become sixteen

TABLE: tuple[Candidate, ...] = (
    Candidate((CLASSES,), ("certifit.study._baseline:ConstantClassifier",)),
    Candidate(_ANY_VALUE, ("certifit.study._baseline:ConstantRegressor",)),
    # -- linear ------------------------------------------------------------------------------------
    Candidate(
        (VALUES,), ("certifit.linear_model:LinearRegression",), encoder=_FULL_RANK, limits=Limits(features=2_000),
    ),
    Candidate((VALUES,), ("certifit.linear_model:Ridge",), _ALPHA),
    Candidate(
        (VALUES,), ("certifit.linear_model:Lasso",), {"alpha": tuple(float(v) for v in np.logspace(-4, 0, 9))},
        adapt=_strong, in_units=("alpha",),
    ),
    Candidate(
        (VALUES,), ("certifit.linear_model:ElasticNet",),
        {"alpha": tuple(float(v) for v in np.logspace(-4, 0, 5)), "l1_ratio": (0.2, 0.5, 0.8)}, adapt=_strong,
        in_units=("alpha",),
    ),
    Candidate((CLASSES,), (_LOGISTIC,), _C),
    Candidate(
        (COUNTS,), ("certifit.glm:GLM",), {"alpha": (0.0001, 0.001, 0.01, 0.1, 1.0)}, {"GLM": {"family": "poisson"}},
        called="Poisson regression",
    ),
    Candidate(
        (VALUES,), ("certifit.glm:GLM",), {"alpha": (0.0001, 0.001, 0.01, 0.1, 1.0)},
        {"GLM": {"family": "gamma", "link": "log"}}, limits=Limits(positive=True), called="gamma regression",
    ),
    Candidate((VALUES,), ("certifit.study._log_ridge:LogRidge",), _ALPHA, limits=Limits(positive=True, skewed=True)),
    Candidate((CLASSES,), ("certifit.svm:LinearSVC",), _C, limits=Limits(rows=50_000)),
    Candidate((CLASSES,), ("certifit.linear_model:Perceptron",)),
    Candidate((CLASSES,), ("certifit.linear_model:AveragedPerceptron",)),
    # -- counting, growing, remembering ---------------------------------------------------------------
    Candidate(
        (CLASSES,), ("certifit.naive_bayes:MixedNB",), {"var_smoothing": (1e-9, 1e-6, 1e-3, 1e-1)},
        encoder={"gaps": True},
    ),
    Candidate((CLASSES,), ("certifit.tree:DecisionTreeClassifier",), {"ccp_alpha": _PRUNE}, encoder=_RAW),
    Candidate(
        _ANY_VALUE, ("certifit.tree:DecisionTreeRegressor",), {"max_leaf_nodes": (2, 4, 8, 16, 32, 64)}, encoder=_RAW,
    ),
    Candidate(
        (CLASSES,), ("certifit.neighbors:KNeighborsClassifier",), {"n_neighbors": _NEIGHBOURS},
        limits=Limits(rows=200_000), adapt=_few_neighbours,
    ),
    Candidate(
        _ANY_VALUE, ("certifit.neighbors:KNeighborsRegressor",), {"n_neighbors": _NEIGHBOURS},
        limits=Limits(rows=200_000), adapt=_few_neighbours,
    ),
    # -- a function of each column, and of pairs ------------------------------------------------------
    Candidate(
        (CLASSES,), (_ADDITIVE, _LOGISTIC), _FEW_C, encoder=_RAW, search={"tol": 0.01}, called="additive model",
        limits=Limits(features=400, classes=10, cells=_LARGE),
    ),
    Candidate(
        (VALUES,), (_ADDITIVE, "certifit.linear_model:Ridge"), _ALPHA, encoder=_RAW, called="additive model",
        limits=Limits(features=400, cells=_LARGE),
    ),
    Candidate(
        (VALUES,), (_ADDITIVE, "certifit.study._log_ridge:LogRidge"), _ALPHA, encoder=_RAW,
        called="additive model on a log scale", limits=Limits(features=400, cells=_LARGE, positive=True, skewed=True),
    ),
    Candidate(
        (COUNTS,), (_ADDITIVE, "certifit.glm:GLM"), {"alpha": (0.0001, 0.001, 0.01, 0.1)}, _POISSON, encoder=_RAW,
        called="additive model", limits=Limits(features=400, cells=_LARGE // 4),
    ),
    Candidate(
        (CLASSES,), (_ADDITIVE, _LOGISTIC), {"C": (0.01, 0.1, 1.0, 10.0, 100.0)}, _PAIRS, encoder=_RAW,
        search={"tol": 0.01}, called="additive model with interactions",
        limits=Limits(fewest=1_000, features=400, classes=6, cells=_LARGE),
    ),
    Candidate(
        (VALUES,), (_ADDITIVE, "certifit.linear_model:Ridge"), _ALPHA, _MANY_PAIRS, encoder=_RAW,
        called="additive model with interactions", limits=Limits(fewest=300, features=400, cells=_LARGE),
    ),
    Candidate(
        (VALUES,), (_ADDITIVE, "certifit.study._log_ridge:LogRidge"), _ALPHA, _MANY_PAIRS, encoder=_RAW,
        called="additive model with interactions on a log scale",
        limits=Limits(fewest=300, features=400, cells=_LARGE, positive=True, skewed=True),
    ),
    Candidate(
        (COUNTS,), (_ADDITIVE, "certifit.glm:GLM"), {"alpha": (0.0001, 0.001, 0.01, 0.1)}, {**_POISSON, **_PAIRS},
        encoder=_RAW, called="additive model with interactions",
        limits=Limits(fewest=1_000, features=400, cells=_LARGE // 4),
    ),
    # -- more features, fewer features, kernels ---------------------------------------------------------
    Candidate(
        (CLASSES,), ("certifit.decomposition:PCA", _LOGISTIC), {"pca__n_components": (2, 5, 10, 20), "C": (0.1, 10.0)},
        limits=Limits(features=2_000), adapt=_few_components,
    ),
    Candidate(
        (VALUES,), ("certifit.decomposition:PCA", "certifit.linear_model:LinearRegression"),
        {"pca__n_components": (1, 2, 3, 5, 8, 12, 20)}, limits=Limits(features=2_000), adapt=_few_components,
    ),
    Candidate(
        (CLASSES,), ("certifit.preprocessing:PolynomialBasis", _LOGISTIC), {"C": (0.001, 0.03, 1.0)},
        {"PolynomialBasis": {"degree": 2, "include_one": False}},
        limits=Limits(features=40, cells=2_000_000, classes=10), search={"tol": 0.01},
    ),
    Candidate(
        (VALUES,), ("certifit.preprocessing:PolynomialBasis", "certifit.linear_model:Ridge"), _ALPHA,
        {"PolynomialBasis": {"degree": 2, "include_one": False}}, limits=Limits(features=40, cells=5_000_000),
    ),
    Candidate(
        (CLASSES,), ("certifit.svm:SVC",), {"C": (0.1, 1.0, 10.0, 100.0), "gamma": ("scale", 0.001, 0.01, 0.1)},
        limits=Limits(rows=3_000, classes=20), called="SVM with Gaussian kernel",
    ),
    Candidate(
        (CLASSES,), (_NYSTROEM, _LOGISTIC), {"C": (0.1, 1.0, 10.0, 100.0)}, search={"tol": 0.01},
        called="logistic regression with Gaussian kernel (Nyström)",
        limits=Limits(fewest=3_001, rows=200_000, features=500, classes=6),
    ),
    Candidate(
        (VALUES,), ("certifit.kernel_ridge:KernelRidge",),
        {"alpha": (0.001, 0.01, 0.1, 1.0, 10.0), "gamma": (0.001, 0.003, 0.01, 0.1)},
        {"KernelRidge": {"kernel": "rbf"}}, limits=Limits(rows=3_000),
    ),
    Candidate(
        (VALUES,), (_NYSTROEM, "certifit.linear_model:Ridge"), _WEAK, called="kernel ridge (Nyström)",
        limits=Limits(fewest=3_001, rows=200_000, features=500),
    ),
)  # fmt: skip

"""Candidates. Models of counts predict no negative ones: least squares and related models are for other numbers."""

YARDSTICKS: tuple[Candidate, ...] = (
    Candidate(
        (CLASSES,), ("sklearn.ensemble:HistGradientBoostingClassifier",), encoder=_RAW, called="gradient boosting",
        limits=Limits(classes=20), yardstick=True,
    ),
    Candidate(
        (VALUES,), ("sklearn.ensemble:HistGradientBoostingRegressor",), encoder=_RAW, called="gradient boosting",
        yardstick=True,
    ),
    Candidate(
        (COUNTS,), ("sklearn.ensemble:HistGradientBoostingRegressor",), encoder=_RAW, called="gradient boosting",
        settings={"HistGradientBoostingRegressor": {"loss": "poisson"}}, yardstick=True,
    ),
    Candidate(
        (CLASSES,), ("sklearn.ensemble:RandomForestClassifier",), encoder=_RAW, called="random forest",
        limits=Limits(cells=5_000_000), yardstick=True,
    ),
    Candidate(
        _ANY_VALUE, ("sklearn.ensemble:RandomForestRegressor",), encoder=_RAW, called="random forest",
        limits=Limits(cells=2_000_000), yardstick=True,
    ),
)  # fmt: skip
"""scikit-learn's ensembles with their default settings: how much a model one can prove and read gives away."""


def _boxed(c: Candidate) -> Candidate:
    """A yardstick that may be chosen: the same ensemble, kept as arrays that a model file can hold."""
    path = _BOXES if c.tasks == (CLASSES,) else _BOXED
    settings: dict[str, Any] = {"kind": c.called}
    if path == _BOXED:
        settings["counts"] = c.tasks == (COUNTS,)
    return replace(c, path=(path,), settings={path.split(":")[1]: settings}, yardstick=False)


BLACK_BOXES: tuple[Candidate, ...] = tuple(_boxed(c) for c in YARDSTICKS)
"""The yardsticks as candidates, for a study that allows them."""


def candidates(
    task: str,
    rows: int,
    features: int,
    classes: int,
    shape: Shape,
    asked: tuple[str, ...] | None = None,
    others: tuple[Candidate, ...] = (),
) -> tuple[list[Candidate], list[tuple[str, str]]]:
    """Candidates for a task (and ``others`` beside those of the table), and those skipped with the reason.

    Examples
    --------
    >>> found, _ = candidates("regression", 100, 3, 0, Shape(), ("ridge",))
    >>> [c.name for c in found]
    ['baseline', 'ridge']
    """
    known = [c for c in (*TABLE, *others) if task in c.tasks and c.available()]
    if asked is not None:
        names = {c.name for c in known}
        wrong = [a for a in asked if a not in names]
        if wrong and wrong[0] in {c.name for c in BLACK_BOXES}:
            raise ValueError(f"Nothing can be proved about {wrong[0]}: it is compared with --allow-black-box only.")
        if wrong:
            raise ValueError(f"There is no model {wrong[0]!r} for this task; there are: {', '.join(sorted(names))}.")
        known = [c for c in known if c.name in asked or c.name == "baseline"]
    chosen, skipped = [], []
    for c in known:
        if asked is None and not _worth_it(c.limits, rows, shape):  # who asks by name knows better
            continue
        why = "; ".join(_objections(c.limits, rows, features, classes, shape))
        if why:
            skipped.append((c.name, why))
        else:
            chosen.append(c)
    return chosen, skipped


def _objections(limits: Limits, rows: int, features: int, classes: int, shape: Shape) -> Iterator[str]:
    if rows > limits.rows:
        yield f"{rows} rows are too many for it (at most {limits.rows})"
    if features > limits.features:
        yield f"{features} features are too many for it (at most {limits.features})"
    if rows * features > limits.cells:
        yield f"{rows} × {features} cells are too many for it"
    if classes > limits.classes:
        yield f"{classes} classes are too many for it (at most {limits.classes})"
    if limits.positive and not shape.positive:
        yield "the target is not always positive"


def _worth_it(limits: Limits, rows: int, shape: Shape) -> bool:
    """Whether a model that could be fitted deserves its time: otherwise another one does the same better."""
    return rows >= limits.fewest and (shape.skewed or not limits.skewed)
