"""What the two tree estimators share: reading the table, growing, pruning, the walks, the certificate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, is_classifier
from sklearn.model_selection import StratifiedShuffleSplit, check_cv, train_test_split
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.validation import check_array, check_consistent_length

from certifit._certified import Certified
from certifit._errors import respelled
from certifit._sklearn import Interval, RealNotInt, StrOptions, read_weights, usual
from certifit._trace import Trace
from certifit._types import Array, Grid, Matrix, RandomState, Record, VectorLike, Weights
from certifit._validation import check_is_fitted, validate_data
from certifit.certificates import Data
from certifit.resampling import FoldAnswers, FoldTable, require
from certifit.tree import _columns
from certifit.tree._export import Explanation, explain_row
from certifit.tree._folds import tree_answers
from certifit.tree._general import SeveralTargets, grow_general
from certifit.tree._growing import Grown, Settings, grow, resolve, sort_columns
from certifit.tree._pruning import Choice, choose_by_cv, prune, reduced_error, sequence_of
from certifit.tree._target import TreeTarget
from certifit.tree._trace import Work

_GROWING = (
    "criterion", "max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf",
    "max_features", "max_leaf_nodes", "min_impurity_decrease",
)  # fmt: skip


@dataclass(frozen=True)
class TreeTable:
    """A training set as read: numbers, what the columns are, target, and what was given."""

    X: Array
    columns: _columns.Columns
    target: Any  # Target, or SeveralTargets for what the compiled loops do not know
    given: Data
    classes: Any = None  # one array of labels, or a list of them for several targets
    class_weight: Any = None
    signs: Array | None = None  # directions asked for, one a column


@dataclass(kw_only=True, eq=False, repr=False)
class DecisionTree(Certified, BaseEstimator):
    """Base of the tree estimators (see `DecisionTreeClassifier` and `DecisionTreeRegressor`)."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "splitter": [StrOptions({"best", "random"})],
        "min_samples_split": [
            Interval(Integral, 2, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
        ],
        "min_samples_leaf": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="neither"),
        ],
        "min_weight_fraction_leaf": [Interval(Real, 0.0, 0.5, closed="both")],
        "max_features": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
            StrOptions({"sqrt", "log2"}),
            None,
        ],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
        "monotonic_cst": ["array-like", None],
        "pruning": [StrOptions({"cv", "reduced_error", "reduced-error"}, deprecated={"reduced-error"}), None],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
    } | usual("max_depth≥1? min_impurity_decrease≥0 ccp_alpha≥0 validation_fraction∈(0,1) random_state cv trace")

    criterion: str
    splitter: str = "best"
    max_depth: int | None = None
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    min_weight_fraction_leaf: float = 0.0
    max_features: Any = None
    random_state: RandomState = None
    max_leaf_nodes: int | None = None
    min_impurity_decrease: float = 0.0
    ccp_alpha: float = 0.0
    monotonic_cst: Any = None
    pruning: str | None = None
    cv: Any = 10
    validation_fraction: float = 0.25
    categorical_features: Any = "from_dtype"
    trace: bool = False

    def _read_X(self, X: Matrix, reset: bool) -> tuple[Array, _columns.Columns]:
        """X as floats (codes for categories, NaN for missing), checked like any scikit-learn estimator's."""
        special = _columns.is_frame(X) or not (
            self.categorical_features is None or isinstance(self.categorical_features, str)
        )
        if reset and special:
            validate_data(self, X, skip_check_array=True)
            names = tuple(self.feature_names_in_.tolist()) if hasattr(self, "feature_names_in_") else None
            columns = _columns.learn(X, self.categorical_features, names)
        elif reset:
            checked = self._check_numbers(X, reset=True)
            booleans = getattr(X, "dtype", None) == np.dtype(bool)
            return checked, _columns.plain(None, checked.shape[1], booleans)
        else:
            columns = self.columns_
        if not any(c is not None for c in columns.categories):
            return self._check_numbers(X, reset), columns
        validate_data(self, X, skip_check_array=True, reset=reset)
        checked = check_array(
            columns.encode(X), dtype=np.float64, ensure_all_finite="allow-nan", estimator=self, input_name="X"
        )
        return checked, columns

    def _check_numbers(self, X: Matrix, reset: bool) -> Array:
        finite: Any = True if issparse(X) else "allow-nan"  # as in scikit-learn, sparse X has no missing values
        options: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_all_finite": finite}
        checked = validate_data(self, X, reset=reset, accept_sparse="csr", **options)
        return np.asarray(checked.toarray() if issparse(checked) else checked)

    def _read(self, X: Matrix, y: Any, sample_weight: Weights) -> TreeTable:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        numbers, columns = self._read_X(X, reset=True)
        check_consistent_length(numbers, y)
        weight = read_weights(sample_weight, numbers)
        target, classes, class_weight = self._read_y(y, weight)
        if not target.total > 0:
            raise ValueError("Every row has weight zero: there is nothing to learn from.")
        signs = self._read_signs(target, numbers.shape[1])
        given = Data(numbers if issparse(X) else X, y, weight)
        return TreeTable(numbers, columns, target, given, classes, class_weight, signs)

    def _read_signs(self, target: Any, d: int) -> Array | None:
        """Requested directions, with scikit-learn's messages; None where there are none."""
        if self.monotonic_cst is None:
            return None
        general = isinstance(target, SeveralTargets)
        if general and len(target.sizes) > 1:
            raise ValueError("Monotonicity constraints are not supported with multiple output.")
        signs = np.asarray(self.monotonic_cst)
        if signs.shape != (d,):
            raise ValueError(f"monotonic_cst has shape {signs.shape[0]} but the input data X has {d} features.")
        if not np.all(np.isin(signs, (-1, 0, 1))):
            raise ValueError(f"monotonic_cst must be None or an array-like of -1, 0 or 1, but got {np.unique(signs)}")
        if general and target.sizes[0] > 2:
            raise ValueError("Monotonicity constraints are not supported with multiclass classification.")
        return signs.astype(np.int64) if np.any(signs) else None

    def _read_y(self, y: VectorLike, weight: Array | None) -> tuple[Any, Any, Any]:
        raise NotImplementedError

    def _is_general(self, y: Array) -> bool:
        """Whether the compiled loops do not know the task: it is grown in plain NumPy."""
        directed = self.monotonic_cst is not None and bool(np.any(self.monotonic_cst))
        several = y.ndim == 2 and y.shape[1] > 1
        return self.splitter == "random" or self.criterion == "poisson" or directed or several

    def fit(self, X: Matrix, y: VectorLike, sample_weight: Weights = None, check_input: bool = True) -> Any:
        """Grow a tree, prune it if requested, and keep the evidence for its certificate.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Numbers with NaN for missing values; categorical, text and boolean columns in a data frame.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Labels, or values.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights ≥ 0; weight k equals k copies (``min_samples_*`` count rows), weight 0 leaves a row out.
        check_input : bool, default=True
            Accepted for compatibility with scikit-learn; input is always checked.

        Returns
        -------
        self
        """
        self._validate_params()
        if self.pruning is not None and self.ccp_alpha > 0:
            raise ValueError("pruning chooses how far to prune: leave ccp_alpha at 0, or pruning at None.")
        table = self._read(X, y, sample_weight)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        grown, asks, choice, held = self._grow(table, seed)
        self.columns_ = table.columns
        self.tree_ = grown.tree.pruned(asks)
        self.max_features_ = grown.settings.max_features
        self.ccp_alpha_ = choice.alpha if choice is not None else float(self.ccp_alpha)
        self.pruning_choice_ = choice
        self._name_classes(table)
        self.trace_ = self._questions(table, grown, held) if self.trace else Trace()
        general = isinstance(table.target, SeveralTargets)
        kind = "tree-general" if general else "tree"
        write = general_evidence if general else _evidence
        evidence = write(table, grown, asks, self.ccp_alpha_, held, self.splitter)
        given = table.given
        self._promise_certificate(kind, lambda _: evidence(), given.X, given.y, given.sample_weight)
        return self

    def _questions(self, table: TreeTable, grown: Grown, held: Array | None) -> Trace:
        """Every split that a node of the tree compared, with its gain."""
        if isinstance(table.target, SeveralTargets):
            raise ValueError(
                "trace=True needs one target, splitter='best', a criterion other than 'poisson' and no monotonic_cst."
            )
        rows = np.setdiff1d(table.target.used(), [] if held is None else held)
        return Work(table.X[rows], table.columns, table.target.rows(rows), grown.settings).trace(
            grown.tree, grown.drawn
        )

    def _name_classes(self, table: TreeTable) -> None:
        self.n_outputs_ = self.tree_.n_outputs

    def _settings(self, target: Any, d: int, seed: int) -> Settings:
        params = {name: getattr(self, name) for name in _GROWING}
        if params["criterion"] == "friedman_mse":  # w₁w₂(ȳ₁ − ȳ₂)²/(w₁ + w₂) is the fall of the squared error itself
            params["criterion"] = "squared_error"
        return resolve(params, target.n, d, target.total, seed)

    def _grow(self, table: TreeTable, seed: int) -> tuple[Grown, Array, Choice | None, Array | None]:
        """The grown tree, which nodes keep their split, how α was chosen, and the rows held back."""
        if isinstance(table.target, SeveralTargets):
            grown = self._grow_general(table, seed)
            return grown, prune(grown, self.ccp_alpha)[1], None, None
        X, target, d = table.X, table.target, table.X.shape[1]
        rows, held = np.arange(target.n), None
        if respelled("pruning", self.pruning) == "reduced_error":
            rows, held = self._hold_back(target, seed)
        if target.weight is not None:
            rows = rows[target.weight[rows] > 0]
            if not len(rows):
                raise ValueError("Every row to grow from has weight zero: there is nothing to learn from.")
        if len(rows) < target.n:
            X, target = X[rows], target.rows(rows)
        columns = sort_columns(X, table.columns.sizes)
        settings = self._settings(target, d, seed)
        if self.pruning == "cv":
            grown = grow(columns.rows(np.arange(target.n)), target, settings)
            labels = target.codes if target.codes is not None else target.y
            folds = check_cv(self.cv, labels, classifier=is_classifier(self))
            choice = choose_by_cv(
                X, columns, target, lambda part: self._settings(part, d, seed),
                sequence_of(grown.tree), folds.split(X, labels),
            )  # fmt: skip
            return grown, prune(grown, choice.alpha)[1], choice, None
        grown = grow(columns, target, settings)
        if held is not None:
            return grown, reduced_error(grown.tree, table.X[held], table.target.rows(held)), None, held
        return grown, prune(grown, self.ccp_alpha)[1], None, None

    def _grow_general(self, table: TreeTable, seed: int) -> Grown:
        """The tree of what the compiled loops do not know."""
        if self.pruning is not None:
            raise ValueError(
                f"pruning={self.pruning!r} needs one target, splitter='best', a criterion other than 'poisson' and no "
                "monotonic_cst: choose ccp_alpha by a search instead."
            )
        if np.any(table.columns.sizes > 0):
            raise ValueError(
                "Splits on categories need one target, splitter='best', a criterion other than 'poisson' and no "
                "monotonic_cst: encode the categorical columns first, or pass categorical_features=None."
            )
        rows = table.target.used()
        target = table.target.rows(rows)
        settings = self._settings(target, table.X.shape[1], seed)
        return grow_general(table.X[rows], target, settings, self.splitter == "random", table.signs)

    def _hold_back(self, target: TreeTarget, seed: int) -> tuple[Array, Array]:
        """Rows to grow from and rows to validate on."""
        share = self.validation_fraction
        if target.n < 2:
            raise ValueError("pruning='reduced_error' holds rows back: it needs more than n_samples=1.")
        rows = np.arange(target.n)
        if target.codes is not None and np.bincount(target.codes).min() >= 2:
            split = StratifiedShuffleSplit(1, test_size=share, random_state=seed)
            try:
                train, test = next(split.split(rows, target.codes))
                return np.sort(train), np.sort(test)
            except ValueError:  # too few rows to give every class its share: draw without strata
                pass
        train, test = train_test_split(rows, test_size=share, random_state=seed)
        return np.sort(train), np.sort(test)

    def _shared_path(self, table: FoldTable, grid: Grid, response: tuple[str, ...]) -> FoldAnswers:
        """Shared work for `certifit.model_selection`: one tree per fold answers every ccp_alpha or size."""
        require(
            not self._is_general(np.asarray(table.y)),
            "several targets, counts, monotonic constraints and random splits are fitted one by one",
        )
        known = {"predict", "predict_proba"} if is_classifier(self) else {"predict"}
        require(set(response) <= known, "the score needs other predictions")
        return tree_answers(self, table, grid, response)

    def cost_complexity_pruning_path(self, X: Matrix, y: VectorLike, sample_weight: Weights = None) -> Bunch:
        """The α at which the pruned tree changes, and the total leaf impurity from there on.

        Parameters
        ----------
        X, y, sample_weight :
            Training data, as in `fit`.

        Returns
        -------
        Bunch
            ``ccp_alphas`` (rising, each once), ``impurities``, and ``n_leaves`` of each tree.
        """
        self._validate_params()
        table = self._read(X, y, sample_weight)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        if isinstance(table.target, SeveralTargets):
            grown = self._grow_general(table, seed)
        else:
            rows = table.target.used()
            target = table.target.rows(rows)
            columns = sort_columns(table.X[rows], table.columns.sizes)
            grown = grow(columns, target, self._settings(target, table.X.shape[1], seed))
        sequence = sequence_of(grown.tree)
        return Bunch(ccp_alphas=sequence.alphas, impurities=sequence.impurities, n_leaves=sequence.n_leaves)

    def apply(self, X: Matrix, check_input: bool = True) -> Array:
        """The number of the leaf in which each row ends.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        check_input : bool, default=True
            Accepted without effect.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "tree_")
        return self.tree_.apply(self._read_X(X, reset=False)[0])

    def decision_path(self, X: Matrix, check_input: bool = True) -> Any:
        """The nodes that each row passes, as a sparse matrix of ones (rows × nodes).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        check_input : bool, default=True
            Accepted without effect.

        Returns
        -------
        scipy.sparse.csr_matrix
        """
        check_is_fitted(self, "tree_")
        return self.tree_.decision_path(self._read_X(X, reset=False)[0])

    def explain(self, x: Any) -> Explanation:
        """The splits on the path of one row to its prediction.

        Parameters
        ----------
        x : array-like of shape (n_features,), or one row as a table
            The row.

        Returns
        -------
        Explanation
            ``splits``, ``prediction``; prints as numbered steps.
        """
        check_is_fitted(self, "tree_")
        table = x if _columns.is_frame(x) or np.ndim(x) == 2 else np.asarray(x, dtype=object).reshape(1, -1)
        if not _columns.is_frame(table) and hasattr(self, "feature_names_in_"):
            values = self.columns_.encode(table)
            if values.shape[1] != self.n_features_in_:
                raise ValueError(f"The row has {values.shape[1]} entries; the tree has {self.n_features_in_} columns.")
        else:
            values = self._read_X(table, reset=False)[0]
        if len(values) != 1:
            raise ValueError(f"explain takes one row; got {len(values)}.")
        return explain_row(self, values[0])

    def get_depth(self) -> int:
        """Depth of the tree: the most splits on any path to a leaf."""
        check_is_fitted(self, "tree_")
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self, "tree_")
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> Array:
        """Fraction of the total impurity decrease due to each column."""
        check_is_fitted(self, "tree_")
        return self.tree_.compute_feature_importances()

    _tags: ClassVar[Record] = {"input_tags.allow_nan": True, "input_tags.sparse": True}


def general_evidence(
    table: TreeTable, grown: Grown, asks: Array, alpha: float, held: Array | None, splitter: str
) -> Callable[[], dict[str, Any]]:
    """All that a re-check of several targets, counts or random splits needs besides the data."""
    t, s = grown.tree, grown.settings
    classes = None if table.classes is None else [_plain_names(c).tolist() for c in table.classes]
    factors = None if table.class_weight is None else [np.asarray(f).tolist() for f in table.class_weight]
    return lambda: {
        "criterion": s.criterion, "splitter": splitter, "left": t.children_left, "right": t.children_right,
        "feature": t.feature, "threshold": t.threshold, "missing_left": t.missing_go_to_left, "value": t.value,
        "asks": asks, "alpha": float(alpha), **_rules(s), "classes": classes, "class_weight": factors,
        "drawn": grown.drawn, "monotonic": table.signs,
    }  # fmt: skip


def _rules(s: Settings) -> dict[str, Any]:
    return {
        "max_depth": s.max_depth,
        "min_samples_split": s.min_samples_split,
        "min_samples_leaf": s.min_samples_leaf,
        "min_weight_leaf": float(s.min_weight_leaf),
        "min_impurity_decrease": float(s.min_impurity_decrease),
        "max_leaf_nodes": s.max_leaf_nodes,
    }


def _plain_names(classes: Array) -> Array:
    return classes if classes.dtype.kind in "biuf" else np.array([str(c) for c in classes], dtype=object)


def _evidence(
    table: TreeTable, grown: Grown, asks: Array, alpha: float, held: Array | None, splitter: str
) -> Callable[[], dict[str, Any]]:
    """All that a re-check needs besides the data (made when the certificate is first read)."""
    t, s = grown.tree, grown.settings

    def make() -> Record:
        grouped = np.flatnonzero(t.group >= 0)
        sets = np.zeros((max(1, len(grouped)), max(1, int(table.columns.sizes.max(initial=0)))), dtype=bool)
        for node in grouped:
            sets[t.group[node], t.left_categories(int(node))] = True
        classes = None if table.classes is None else _plain_names(table.classes)
        return {
            "criterion": s.criterion,
            "left": t.children_left,
            "right": t.children_right,
            "feature": t.feature,
            "threshold": np.where(t.group >= 0, 0.0, t.threshold),
            "missing_left": t.missing_go_to_left,
            "group": t.group,
            "sets": sets,
            "value": t.value[:, 0, :],
            "asks": asks,
            "alpha": float(alpha),
            **_rules(s),
            "drawn": grown.drawn,
            "classes": None if classes is None else classes.tolist(),
            "class_weight": table.class_weight,
            "categories": [None if c is None else list(c) for c in table.columns.categories],
            "validation": held,
        }

    return make
