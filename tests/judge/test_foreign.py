"""certify on trees, clusterings and components of scikit-learn."""

import numpy as np
import pytest
import sklearn.cluster
import sklearn.decomposition
import sklearn.tree
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import certifit as cf
from certifit.cluster import KMeans
from certifit.decomposition import PCA
from certifit.density import KernelDensity
from certifit.neighbors import NearestNeighbors

RNG = np.random.default_rng(2)
X = RNG.normal(size=(60, 3)).astype(np.float32).astype(float)
Y = (X[:, 0] + 0.5 * RNG.normal(size=60) > 0).astype(int)


@pytest.mark.parametrize(
    "model",
    [
        sklearn.tree.DecisionTreeClassifier(max_depth=3, random_state=0),
        sklearn.tree.DecisionTreeClassifier(criterion="entropy", min_samples_leaf=4, random_state=0),
        sklearn.tree.DecisionTreeClassifier(min_samples_split=0.3, random_state=0),
        sklearn.tree.DecisionTreeClassifier(max_leaf_nodes=5, random_state=0),
        sklearn.tree.DecisionTreeClassifier(min_impurity_decrease=0.02, random_state=0),
        sklearn.tree.DecisionTreeRegressor(max_depth=2, random_state=0),
        sklearn.tree.DecisionTreeRegressor(criterion="absolute_error", max_depth=2, random_state=0),
    ],
    ids=str,
)
def test_trees_are_judged_by_the_rules_they_were_grown_by(model):
    c = cf.certify(model.fit(X, Y), X, Y)
    assert c.holds, c.claim
    assert c.verify(X, Y).holds
    assert not cf.certify(model, X, 1 - Y).holds


def test_what_cannot_be_judged_is_named():
    with pytest.raises(ValueError, match="one value for each"):
        cf.certify(sklearn.tree.DecisionTreeClassifier().fit(X, Y), X)


def test_clusters_and_components():
    groups = sklearn.cluster.KMeans(3, n_init=5, random_state=0).fit(X)
    c = cf.certify(groups, X)
    assert c.holds
    assert c.value == pytest.approx(groups.inertia_)
    pca = make_pipeline(StandardScaler(), sklearn.decomposition.PCA(2)).fit(X)
    assert cf.certify(pca, X).relative_gap < 1e-9


def test_y_does_not_matter_to_models_without_targets():
    for model in (KMeans(3, random_state=0), PCA(2), KernelDensity(), NearestNeighbors()):
        assert cf.certify(model.fit(X), X, Y).claim == cf.certify(model, X).claim
        with pytest.raises(ValueError, match="not the data"):
            cf.certify(model, X + 1, Y)
