"""The tree estimators, with scikit-learn's names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import sklearn.tree
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_array, column_or_1d

from certifit._sklearn import StrOptions
from certifit._types import Array, ClassWeight, Matrix, Record, VectorLike
from certifit._validation import check_classification_targets, check_is_fitted
from certifit.tree._base import DecisionTree, TreeTable
from certifit.tree._general import SeveralTargets
from certifit.tree._target import TreeTarget


@dataclass(kw_only=True, eq=False, repr=False)
class DecisionTreeClassifier(ClassifierMixin, DecisionTree):
    """A classification tree: at each node the split with the largest information gain.

    The gain of a split is H(node) − Σ over its two sides of (fraction of the weight × H(side)), where H
    is the Gini impurity 1 − Σ pₖ² or the entropy −Σ pₖ log₂ pₖ. Growing continues until every leaf is pure
    or a limit is reached; the tree may then be pruned.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        Impurity; "log_loss" is another name of "entropy".
    splitter : {"best", "random"}, default="best"
        The best split, or the best of one drawn at random for each column.
    max_depth : int ≥ 1, default=None
        Largest number of splits on a path to a leaf; None: no limit.
    min_samples_split : int ≥ 2 or float in (0, 1], default=2
        Smallest number (or fraction) of rows that a node needs to be split.
    min_samples_leaf : int ≥ 1 or float in (0, 1), default=1
        Smallest number of rows in a leaf.
    min_weight_fraction_leaf : float in [0, 0.5], default=0.0
        Smallest fraction of the total weight in a leaf.
    max_features : int, float, "sqrt", "log2" or None, default=None
        Number of columns, drawn at random, that a node considers; None: all.
    random_state : int, RandomState or None, default=None
        Used for ``max_features`` and for held-out rows only: with all columns the tree is determined by the data
        (ties go to the first column and the lowest threshold).
    max_leaf_nodes : int ≥ 2, default=None
        Grow the leaf with the largest gain first, up to this number of leaves.
    min_impurity_decrease : float ≥ 0, default=0.0
        Stop early: split only if impurity decrease × fraction of the weight is at least this.
    class_weight : dict, list of dict, "balanced" or None, default=None
        Weight of each class; for several targets a list, whose weights are multiplied.
    ccp_alpha : float ≥ 0, default=0.0
        Penalty per leaf in cost-complexity pruning.
    monotonic_cst : array-like of -1, 0 or 1 of shape (n_features,), default=None
        Columns in which the probability of the second class (or the predicted value) must increase (1) or decrease
        (-1); for one numeric target or two classes.
    pruning : {None, "cv", "reduced_error"}, default=None
        "cv" chooses α by cross-validation with the one-standard-error rule (see ``ccp_alpha_`` and
        ``pruning_choice_``); "reduced_error" prunes on a held-out fraction of the rows.
    cv : int ≥ 2, splitter or iterable, default=10
        Folds for ``pruning="cv"``.
    validation_fraction : float in (0, 1), default=0.25
        Fraction of rows held out for ``pruning="reduced_error"``.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns to be split by groups of categories: text and categorical columns of a data frame, or a mask, column
        numbers or names.
    trace : bool, default=False
        Record every split that a node compared, with its gain, in ``trace_`` (small tables, one target).

    Attributes
    ----------
    tree_ : Tree
        The tree, with scikit-learn's array names.
    classes_, n_classes_, n_features_in_, feature_names_in_, n_outputs_, max_features_, feature_importances_
        As in scikit-learn.
    ccp_alpha_ : float
        The α in use.
    pruning_choice_ : Choice or None
        With ``pruning="cv"``: each candidate α with its cross-validated error and standard error.
    columns_ : Columns
        The kind of each column.
    trace_ : Trace
        With ``trace=True`` one row for each split: node, depth, rows, split, gain (of the node's impurity), chosen.

    Notes
    -----
    Values stay double precision (scikit-learn rounds X to single), so neighbouring values never merge. Missing values
    go to the side that gains more; a node without missing values in training sends them to its larger child, and so
    it does with unseen categories. The grouping of categories is optimal for two classes; for more classes, all
    groupings are tried for up to ten categories in a node, beyond that only those in the order of each class's
    frequency.

    Several targets share one tree; the impurity is the mean of theirs. They, and random splits, are grown in plain
    NumPy (numeric columns only), and the certificate says what is proved: for random splits, only that the limits are
    respected and the leaves are correct. Trees with ``monotonic_cst`` are grown in the same way; the proof includes
    the monotonicity. Sparse X is converted to dense; ``check_input`` has no effect.

    References
    ----------
    Breiman, Friedman, Olshen, Stone (1984), Classification and Regression Trees. Quinlan (1986, 1987). Fisher
    (1958), On grouping for maximum homogeneity.

    Examples
    --------
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> tree = DecisionTreeClassifier(criterion="entropy").fit(X, ["no", "yes", "yes", "no"])
    >>> tree.score(X, ["no", "yes", "yes", "no"])
    1.0
    >>> tree.certificate_.holds
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DecisionTree._parameter_constraints,
        "criterion": [StrOptions({"gini", "entropy", "log_loss"})],
        "class_weight": [dict, list, StrOptions({"balanced"}), None],
    }

    criterion: str = "gini"
    class_weight: ClassWeight = None

    def _read_y(self, y: VectorLike, weight: Array | None) -> tuple[Any, Any, Any]:
        if self._is_general(np.asarray(y)):
            return self._read_several(y, weight)
        y = column_or_1d(y, warn=True)
        if y.dtype.kind == "f":
            check_array(y, ensure_2d=False, input_name="y")
        check_classification_targets(y)
        if isinstance(self.class_weight, list):
            raise ValueError("For multi-output, number of elements in class_weight should match number of outputs.")
        classes, codes = np.unique(y, return_inverse=True)
        factor = None
        if self.class_weight is not None:
            factor = compute_class_weight(self.class_weight, classes=classes, y=y)
            weight = factor[codes] if weight is None else weight * factor[codes]
        return TreeTarget(codes, len(classes), None, weight), classes, factor

    def _read_several(
        self, y: VectorLike, weight: Array | None
    ) -> tuple[SeveralTargets, list[Array], list[Array] | None]:
        y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
        check_classification_targets(y)
        columns = y.reshape(len(y), -1)
        pairs = [np.unique(c, return_inverse=True) for c in columns.T]
        given = self.class_weight
        if isinstance(given, list) and len(given) != len(pairs):
            raise ValueError("For multi-output, number of elements in class_weight should match number of outputs.")
        if isinstance(given, dict) and len(pairs) > 1:
            raise ValueError("For multi-output, class_weight should be a list of dicts, or 'balanced'.")
        factors = None
        if given is not None:
            each = given if isinstance(given, list) else [given] * len(pairs)
            factors = [compute_class_weight(g, classes=p[0], y=c) for g, p, c in zip(each, pairs, columns.T)]
            for factor, (_, codes) in zip(factors, pairs):
                weight = factor[codes] if weight is None else weight * factor[codes]
        codes = np.column_stack([c for _, c in pairs])
        sizes = tuple(len(c) for c, _ in pairs)
        return SeveralTargets(codes, sizes, None, weight), [c for c, _ in pairs], factors

    def _name_classes(self, table: TreeTable) -> None:
        super()._name_classes(table)
        classes: Any = table.classes
        if isinstance(classes, list) and len(classes) == 1:
            classes = classes[0]
        self.classes_ = classes
        several = isinstance(classes, list)
        self.n_classes_: Any = np.array([len(c) for c in classes], dtype=np.intp) if several else len(classes)

    def predict_proba(self, X: Matrix, check_input: bool = True) -> Array | list[Array]:
        """Class frequencies in the leaf of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        check_input : bool, default=True
            Accepted without effect.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or a list of them for several targets
        """
        check_is_fitted(self, "tree_")
        numbers = self._read_X(X, reset=False)[0]
        if self.n_outputs_ == 1:
            return self.tree_.predict(numbers)
        held = self.tree_.value[self.tree_.apply(numbers)]
        return [held[:, o, :k] for o, k in enumerate(self.n_classes_)]

    def predict_log_proba(self, X: Matrix) -> Array | list[Array]:
        """Logarithm of `predict_proba`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        check_input : bool, default=True
            Accepted without effect.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or a list of them for several targets
        """
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(s) for s in shares] if self.n_outputs_ > 1 else np.log(shares)

    def predict(self, X: Matrix, check_input: bool = True) -> Array:
        """The most frequent class of each row's leaf (the first of them on a tie).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        check_input : bool, default=True
            Accepted without effect.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        proba = self.predict_proba(X)
        if self.n_outputs_ > 1:
            said = [c[np.argmax(p, axis=1)] for c, p in zip(self.classes_, proba)]
            return np.column_stack(said)
        return np.asarray(np.asarray(self.classes_)[np.argmax(proba, axis=1)])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags

    _fold_path = DecisionTree._shared_path  # named here: it speaks for the answers above


@dataclass(kw_only=True, eq=False, repr=False)
class DecisionTreeRegressor(RegressorMixin, DecisionTree):
    """A regression tree: at each node the split after which the leaves' values fit best.

    The gain of a split is the decrease in the squared error Σ w (y − mean)² (or of the absolute error
    Σ w |y − median|) as a fraction of the total weight.

    Parameters
    ----------
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}, default="squared_error"
        What is reduced; leaves predict the mean or the median. "poisson" is half the Poisson deviance, for values ≥ 0.
        Friedman's criterion orders splits as the squared error does and is another name of it.
    splitter, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_features, \
random_state, max_leaf_nodes, min_impurity_decrease, ccp_alpha, monotonic_cst, pruning, cv, validation_fraction, \
categorical_features, trace :
        As in `DecisionTreeClassifier`.

    Attributes
    ----------
    tree_, n_features_in_, feature_names_in_, n_outputs_, max_features_, feature_importances_, ccp_alpha_, \
pruning_choice_, columns_, trace_ :
        As in `DecisionTreeClassifier`.

    Notes
    -----
    The grouping of categories is the best of all for the squared error (cuts in the order of their means);
    for the absolute error the same order is used as a heuristic. ``pruning="reduced_error"`` compares
    squared errors.

    Several targets, counts, monotonic constraints and random splits are grown in plain NumPy (numeric columns only).
    Sparse X is converted to dense; ``check_input`` has no effect.

    References
    ----------
    Breiman, Friedman, Olshen, Stone (1984), Classification and Regression Trees.

    Examples
    --------
    >>> X = np.arange(6.0).reshape(-1, 1)
    >>> tree = DecisionTreeRegressor(max_depth=1).fit(X, [1, 1, 1, 5, 5, 6])
    >>> tree.predict([[1.0], [4.0]]).round(3).tolist()
    [1.0, 5.333]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DecisionTree._parameter_constraints,
        "criterion": [StrOptions({"squared_error", "friedman_mse", "absolute_error", "poisson"})],
    }

    criterion: str = "squared_error"

    def _read_y(self, y: VectorLike, weight: Array | None) -> tuple[Any, Any, Any]:
        if self._is_general(np.asarray(y)):
            y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
            if self.criterion == "poisson" and np.any(y < 0):
                raise ValueError("Some value(s) of y are negative which is not allowed for Poisson regression.")
            if self.criterion == "poisson" and not np.sum(y) > 0:
                raise ValueError("Sum of y is not positive which is necessary for Poisson regression.")
            y = y.reshape(len(y), -1)
            return SeveralTargets(None, (1,) * y.shape[1], y, weight), None, None
        y = column_or_1d(y, warn=True)
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        return TreeTarget(None, 0, y, weight), None, None

    def predict(self, X: Matrix, check_input: bool = True) -> Array:
        """The mean (or median) of the training values in each row's leaf.

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
        numbers = self._read_X(X, reset=False)[0]
        if self.n_outputs_ == 1:
            return self.tree_.predict(numbers)[:, 0]
        return self.tree_.value[self.tree_.apply(numbers), :, 0]

    _tags: ClassVar[Record] = {
        "target_tags.multi_output": True,
        "target_tags.positive_only": lambda model: model.criterion == "poisson",
    }

    _fold_path = DecisionTree._shared_path  # named here: it speaks for the answers above


# Tools ask whether a model is scikit-learn's tree before they read its arrays (its own export_text and plot_tree do).
sklearn.tree.DecisionTreeClassifier.register(DecisionTreeClassifier)
sklearn.tree.DecisionTreeRegressor.register(DecisionTreeRegressor)
