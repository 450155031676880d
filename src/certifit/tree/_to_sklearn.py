"""A fitted tree as scikit-learn's own class, for tools that look for that class."""

from __future__ import annotations

from typing import Any

import numpy as np

from certifit._sklearn import compiled_tree
from certifit._types import BaseEstimator
from certifit._validation import check_is_fitted


def to_sklearn(model: BaseEstimator) -> Any:
    """The same tree in scikit-learn's class: the same splits, leaves and predictions.

    Some tools require scikit-learn's own tree and read its compiled structure (shap's ``TreeExplainer``, dtreeviz).
    They accept what this function returns. It has no certificate.

    Parameters
    ----------
    model : DecisionTreeClassifier or DecisionTreeRegressor
        Fitted, without categorical splits.

    Returns
    -------
    sklearn.tree.DecisionTreeClassifier or sklearn.tree.DecisionTreeRegressor

    Raises
    ------
    ValueError
        For a tree with splits on categories, which scikit-learn's trees do not have.

    Examples
    --------
    >>> from certifit.tree import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    >>> theirs = to_sklearn(model)
    >>> type(theirs).__module__.split(".")[0], theirs.predict([[0.3], [5.0]])
    ('sklearn', array([0, 1]))
    """
    import sklearn.tree

    check_is_fitted(model)
    tree = model.tree_
    if np.any(tree.group >= 0):
        raise ValueError("The tree splits on categories; scikit-learn's trees split at thresholds only.")
    classifies = hasattr(model, "classes_")
    kind = sklearn.tree.DecisionTreeClassifier if classifies else sklearn.tree.DecisionTreeRegressor
    found = kind()
    both = set(found.get_params()) & set(model.get_params())
    found.set_params(**{name: getattr(model, name) for name in both})
    found.tree_ = compiled_tree(tree, np.asarray(tree.n_classes, dtype=np.intp))
    for name in ("n_features_in_", "feature_names_in_", "classes_", "n_classes_", "n_outputs_", "max_features_"):
        if hasattr(model, name):
            setattr(found, name, getattr(model, name))
    found.n_outputs_ = tree.n_outputs
    if classifies and not hasattr(found, "n_classes_"):
        found.n_classes_ = len(model.classes_)
    return found
