"""Trees in scikit-learn's class: the same answers, read by scikit-learn's own tools."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.tree
from sklearn.datasets import load_diabetes, load_iris

from certifit.tree import DecisionTreeClassifier, DecisionTreeRegressor, to_sklearn

FLOWERS, KINDS = load_iris(return_X_y=True)
X, Y = load_diabetes(return_X_y=True)


@pytest.mark.parametrize("depth", [1, 4, None])
def test_the_same_answers(depth):
    ours = DecisionTreeClassifier(max_depth=depth).fit(FLOWERS, KINDS)
    theirs = to_sklearn(ours)
    np.testing.assert_array_equal(theirs.predict(FLOWERS), ours.predict(FLOWERS))
    np.testing.assert_allclose(theirs.predict_proba(FLOWERS), ours.predict_proba(FLOWERS))
    assert (theirs.get_depth(), theirs.get_n_leaves()) == (ours.get_depth(), ours.get_n_leaves())
    np.testing.assert_array_equal(theirs.apply(FLOWERS), ours.apply(FLOWERS))
    assert "class" in sklearn.tree.export_text(theirs)
    other = DecisionTreeRegressor(max_depth=depth).fit(X, Y)
    np.testing.assert_allclose(to_sklearn(other).predict(X), other.predict(X))


def test_categories_are_refused():
    model = DecisionTreeClassifier(categorical_features=[0]).fit([[0.0], [1.0], [2.0], [0.0]], [0, 1, 0, 0])
    with pytest.raises(ValueError, match="categories"):
        to_sklearn(model)
