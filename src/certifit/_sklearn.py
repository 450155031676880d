"""What certifit uses of scikit-learn that has no public name there, in one place.

Each entry says why it is used nevertheless. When scikit-learn moves one of these names, this file is all that changes;
everything else imports public names only, and a test sees to it.
"""

from __future__ import annotations

import inspect
import re
from inspect import signature
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn.exceptions
from sklearn.utils import _safe_indexing
from sklearn.utils._array_api import get_namespace_and_device, move_to
from sklearn.utils._metadata_requests import _raise_for_params, _routing_enabled, process_routing
from sklearn.utils._param_validation import HasMethods, Hidden, Interval, Options, RealNotInt, StrOptions
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.multiclass import _check_partial_fit_first_call, _ovr_decision_function
from sklearn.utils.validation import (
    _check_feature_names_in,
    _check_method_params,
    _check_sample_weight,
    _check_y,
    _num_samples,
)

from certifit import exceptions
from certifit._passing import later
from certifit._types import Array, BaseEstimator, Matrix, Record

if TYPE_CHECKING:  # imported on first use, see below
    from sklearn.neighbors._base import KNeighborsMixin, NeighborsBase, RadiusNeighborsMixin

# The words in which ``_parameter_constraints`` are written: an estimator that states its parameters' ranges this way
# refuses bad values with the message that users of scikit-learn know, and tools read the ranges.
__all__ = [
    "ConvergenceWarning",
    "HasMethods",
    "Hidden",
    "Interval",
    "KNeighborsMixin",
    "NeighborsBase",
    "Options",
    "RadiusNeighborsMixin",
    "RealNotInt",
    "StrOptions",
    "any_sample_weight",
    "array_library",
    "check_feature_names_in",
    "check_method_params",
    "check_partial_fit_first_call",
    "check_sample_weight",
    "check_y",
    "compiled_tree",
    "half_deviance",
    "has_callbacks",
    "move_to",
    "num_samples",
    "ovr_decision_function",
    "read_weights",
    "routed",
    "routing_enabled",
    "safe_indexing",
    "safe_split",
    "trees_of_boosting",
    "usual",
    "with_labels",
]

_BOOLEANS = """alpha_per_target average breadth_first break_ties check_metric compute_score copy copy_X copy_x
drop_first early_stopping fit_intercept fit_prior force_alpha include_bias include_one interaction_only
nesterovs_momentum norm positive probability refit shrinking shuffle store_cv_results trace warm_start whiten
with_mean with_std"""
_USUAL: dict[str, list[Any]] = {
    **{name: ["boolean"] for name in _BOOLEANS.split()},
    "class_weight": [dict, StrOptions({"balanced"}), None],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "cv": ["cv_object"],
    "l1_ratio": [Interval(Real, 0, 1, closed="both")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
    "time_budget": [Interval(Real, 0, None, closed="neither"), None],
    "verbose": ["verbose"],
}
_RANGES = {
    ">0": Interval(Real, 0, None, closed="neither"),
    "≥0": Interval(Real, 0, None, closed="left"),
    "∈(0,∞]": Interval(Real, 0, None, closed="right"),
    "≥1": Interval(Integral, 1, None, closed="left"),
    "∈[0,1]": Interval(Real, 0, 1, closed="both"),
    "∈(0,1]": Interval(Real, 0, 1, closed="right"),
    "∈[0,1)": Interval(Real, 0, 1, closed="left"),
    "∈(0,1)": Interval(Real, 0, 1, closed="neither"),
}


def usual(names: str) -> dict[str, list[Any]]:
    """The ranges of parameters: of those whose name means the same in every family, or as written behind the name.

    "≥1" is for integers, the others for real numbers; "?" allows None as well.

    Examples
    --------
    >>> {name: [str(rule) for rule in rules] for name, rules in usual("tol>0 k≥1?").items()}
    {'tol': ['a float in the range (0.0, inf)'], 'k': ['an int in the range [1, inf)', 'None']}
    """
    found = {}
    for name, written, none in re.findall(r"(\w+)([^\s?]*)(\??)", names):
        found[name] = [_RANGES[written], *([None] if none else [])] if written else _USUAL[name]
    return found


# The parts of nearest neighbours, whose import costs more than all others: on first use.
_MIXINS = ("KNeighborsMixin", "NeighborsBase", "RadiusNeighborsMixin")
__getattr__ = later(__name__, dict.fromkeys(_MIXINS, "sklearn.neighbors._base"))

_KNOWS_ZERO_WEIGHTS = "allow_all_zero_weights" in signature(_check_sample_weight).parameters  # from 1.9 on


class ConvergenceWarning(exceptions.ConvergenceWarning, sklearn.exceptions.ConvergenceWarning):
    """Ours and scikit-learn's: filters that name either one know it."""


def check_sample_weight(sample_weight: object, X: object, **options: Any) -> Array:
    """Weights as an array, with scikit-learn's checks and messages: its contract tests look at both."""
    found = np.asarray(_check_sample_weight(sample_weight, X, **options))
    if not np.any(found):  # scikit-learn says so itself from 1.9 on
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return found


def read_weights(sample_weight: object, X: object) -> Array | None:
    """Sample weights as floats ≥ 0, not all zero; None when none were given."""
    if sample_weight is None:
        return None
    return check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)


def any_sample_weight(sample_weight: object, X: object, **options: Any) -> Array:
    """Weights as an array, of any sign and all zero too: for estimators to which that means something."""
    options = options | {"allow_all_zero_weights": True} if _KNOWS_ZERO_WEIGHTS else options
    return np.asarray(_check_sample_weight(sample_weight, X, **options))


def array_library(*arrays: object) -> tuple[Any, Any] | None:
    """Library and device of the first array under ``array_api_dispatch``; None where it is NumPy's or no array."""
    for array in arrays:
        if hasattr(array, "__array_namespace__") or hasattr(array, "__dlpack__"):
            if isinstance(array, (np.ndarray, np.generic)):
                return None
            xp, found, device = get_namespace_and_device(array)
            return (xp, device) if found else None
    return None


def check_y(y: object, **options: Any) -> Array:
    """y as an array where X is validated apart; the public `check_X_y` would validate both."""
    return np.asarray(_check_y(y, **options))


def num_samples(X: object) -> int:
    """Rows of anything that scikit-learn accepts, with its message for what it does not."""
    return int(_num_samples(X))


def check_feature_names_in(model: object, input_features: object) -> Array:
    """Names of the columns as ``get_feature_names_out`` promises them."""
    return np.asarray(_check_feature_names_in(model, input_features))


def check_partial_fit_first_call(model: object, classes: object) -> bool:
    """Whether this is the first ``partial_fit``; sets ``classes_`` and refuses other classes, as scikit-learn does."""
    return bool(_check_partial_fit_first_call(model, classes))


def ovr_decision_function(votes: Array, scores: Array, n_classes: int) -> Array:
    """One score per class from those of all pairs: scikit-learn's formula, so that scores of `SVC` are comparable."""
    return np.asarray(_ovr_decision_function(votes, scores, n_classes))


def safe_indexing(X: Matrix, rows: object, **options: Any) -> Any:
    """Rows of an array, sparse matrix, data frame or list: the public resampling tools do it with this."""
    if type(X) is np.ndarray and type(rows) is np.ndarray and rows.dtype.kind == "i" and not options:
        return X[rows]  # which the other road ends in, a hundred microseconds later
    return _safe_indexing(X, rows, **options)


def safe_split(estimator: object, X: Matrix, y: Any, rows: object, train_rows: object = None) -> tuple[Any, Any]:
    """X and y of one side of a fold; columns too, where the estimator takes a kernel matrix."""
    X, y = _safe_split(estimator, X, y, rows, train_rows)
    return X, y


def check_method_params(X: object, params: Any, rows: object = None) -> Record:
    """The share of a fold of what goes to ``fit`` (weights and the like)."""
    return dict(_check_method_params(X, params, rows))


def routing_enabled() -> bool:
    """Whether metadata routing is on: models that hand metadata on behave differently then."""
    return bool(_routing_enabled())


def has_callbacks(model: object) -> bool:
    """Whether ``set_callbacks`` was used (from 1.9 on): there is no public way to ask."""
    return bool(getattr(model, "_skl_callbacks", None))


def routed(model: object, method: str, params: Record, **known: Any) -> Any:
    """What goes to each part of a model that hands metadata on, ``found.<part>.<method>``; empty without routing.

    ``params`` are allowed with metadata routing only, ``known`` (weights) always, with scikit-learn's message.
    """
    _raise_for_params(params, model, method)
    if not routing_enabled():
        return process_routing(model, method)
    return process_routing(model, method, **known, **params)


def with_labels(scorer: Any, classes: Array) -> Any:
    """The same scorer, told all classes where its function asks for them: test rows may lack some."""
    function = getattr(scorer, "_score_func", None)
    known = () if function is None else inspect.signature(function).parameters
    if "labels" not in known:
        return scorer
    from sklearn.metrics import make_scorer  # loads on first use

    more = {"pos_label": classes[-1]} if len(classes) == 2 and "pos_label" in known else {}
    return make_scorer(
        function, greater_is_better=scorer._sign == 1, response_method=scorer._response_method,
        **({"labels": classes} | more | scorer._kwargs),
    )  # fmt: skip


def compiled_tree(tree: Any, counts: Array) -> Any:
    """scikit-learn's compiled tree with these nodes: shap and dtreeviz read that class and no other.

    ``tree`` has scikit-learn's names of arrays; ``counts`` the number of classes of each output (ones for regression).
    """
    from sklearn.tree._tree import Tree  # loads on first use

    made = Tree(int(tree.n_features), counts, len(counts))
    nodes = np.zeros(tree.node_count, dtype=made.__getstate__()["nodes"].dtype)
    nodes["left_child"], nodes["right_child"] = tree.children_left, tree.children_right
    for name in ("feature", "threshold", "impurity", "n_node_samples", "weighted_n_node_samples", "missing_go_to_left"):
        nodes[name] = getattr(tree, name)
    nodes["threshold"][tree.children_left < 0] = -2.0
    values = np.ascontiguousarray(tree.value, dtype=np.float64)
    made.__setstate__({"max_depth": tree.max_depth, "node_count": tree.node_count, "nodes": nodes, "values": values})
    return made


def half_deviance(power: float, log_link: bool) -> Any:
    """scikit-learn's own loss object of a generalized linear model, for those who ask a model for ``_get_loss``."""
    from sklearn._loss import HalfGammaLoss, HalfPoissonLoss, HalfTweedieLoss, HalfTweedieLossIdentity

    if not log_link:
        return HalfTweedieLossIdentity(power=power)
    plain = {1.0: HalfPoissonLoss, 2.0: HalfGammaLoss}.get(float(power))
    return HalfTweedieLoss(power=power) if plain is None else plain()


def trees_of_boosting(model: BaseEstimator) -> tuple[list[dict[str, Any]], list[int], Any]:
    """The trees of a fitted HistGradientBoosting model as arrays, the output each adds to, and where sums start.

    The model has no categorical columns.
    """
    trees, outputs = [], []
    for step in model._predictors:
        for k, tree in enumerate(step):
            nodes = tree.nodes
            leaf = nodes["is_leaf"].astype(bool)
            children = {side: np.where(leaf, -1, nodes[side].astype(np.int64)) for side in ("left", "right")}
            found = {"feature": nodes["feature_idx"].astype(np.int64), "threshold": nodes["num_threshold"]}
            trees.append(found | children | {"value": nodes["value"][:, None], "depth": nodes["depth"].max()})
            outputs.append(k)
    return trees, outputs, np.ravel(model._baseline_prediction)
