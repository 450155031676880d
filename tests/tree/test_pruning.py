"""Pruning: scikit-learn's path, nested trees, α by cross-validation, reduced error."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.tree
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import KFold, StratifiedKFold

from certifit.tree import DecisionTreeClassifier, DecisionTreeRegressor
from certifit.tree._growing import Settings, grow, sort_columns
from certifit.tree._pruning import sequence_of
from certifit.tree._target import TreeTarget


def noisy(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32).astype(float)
    return X, (X[:, 0] + X[:, 1] + rng.normal(size=n) > 0).astype(int), X[:, 0] + rng.normal(size=n)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_path_is_scikit_learns(weighted):
    X, labels, values = noisy()
    w = np.random.default_rng(1).random(len(X)) if weighted else None
    for ours, theirs, y in (
        (DecisionTreeClassifier, sklearn.tree.DecisionTreeClassifier, labels),
        (DecisionTreeRegressor, sklearn.tree.DecisionTreeRegressor, values),
    ):
        params = {"min_samples_leaf": 5}
        mine = ours(**params).cost_complexity_pruning_path(X, y, sample_weight=w)
        path = theirs(random_state=0, **params).cost_complexity_pruning_path(X, y, sample_weight=w)
        # Theirs lists each cut; ours each α once, with the tree after all cuts of that α.
        last = {round(float(a), 12): float(c) for a, c in zip(path.ccp_alphas, path.impurities)}
        assert mine.ccp_alphas == pytest.approx(sorted(last), abs=2e-12)
        assert mine.impurities == pytest.approx([last[a] for a in sorted(last)], abs=1e-9)
        assert np.all(np.diff(mine.n_leaves) < 0)
        assert mine.n_leaves[-1] == 1


@pytest.mark.parametrize("alpha", [0.003, 0.01, 0.05, 1.0])
def test_ccp_alpha_is_scikit_learns(alpha):
    X, y, _ = noisy()
    ours = DecisionTreeClassifier(ccp_alpha=alpha, min_samples_leaf=4).fit(X, y)
    theirs = sklearn.tree.DecisionTreeClassifier(ccp_alpha=alpha, min_samples_leaf=4, random_state=0).fit(X, y)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X))


def test_one_sequence_predicts_for_every_alpha():
    X, labels, values = noisy()
    for target, model, y in (
        (TreeTarget(labels, 2, None, None), DecisionTreeClassifier(criterion="entropy"), labels),
        (TreeTarget(None, 0, values, None), DecisionTreeRegressor(), values),
    ):
        columns = sort_columns(X, np.zeros(X.shape[1], dtype=np.int64))
        sequence = sequence_of(grow(columns, target, Settings(model.criterion)).tree)
        grid = np.concatenate([sequence.alphas[::7], [0.02, 0.5]])
        many = sequence.predict(X, grid)
        for g, alpha in enumerate(grid):
            one = model.set_params(ccp_alpha=alpha).fit(X, y)
            assert many[:, g] == pytest.approx(one.predict(X))
            assert sequence.at(alpha).n_leaves == one.get_n_leaves()


def by_hand(X, y, cv, model, loss):
    """Each fold's trees one by one, with scikit-learn's splitters and our single fits."""
    alphas = model.cost_complexity_pruning_path(X, y).ccp_alphas
    grid = np.append(np.sqrt(alphas[:-1] * alphas[1:]), alphas[-1])
    losses = np.zeros((len(y), len(grid)))
    for train, test in cv.split(X, y):
        for g, alpha in enumerate(grid):
            guess = model.set_params(ccp_alpha=alpha).fit(X[train], y[train]).predict(X[test])
            losses[test, g] = loss(guess, y[test])
    error, se = losses.mean(axis=0), losses.std(axis=0) / np.sqrt(len(y))
    best = np.argmin(error)
    return grid, error, se, grid[error <= error[best] + se[best]].max()


def test_cv_choice_is_the_one_made_by_hand():
    X, y, values = noisy(150)
    ours = DecisionTreeClassifier(criterion="entropy", pruning="cv", cv=5).fit(X, y)
    hand = by_hand(X, y, StratifiedKFold(5), DecisionTreeClassifier(criterion="entropy"), lambda a, b: a != b)
    choice = ours.pruning_choice_
    for mine, other in zip((choice.alphas, choice.cv_error, choice.cv_se, ours.ccp_alpha_), hand):
        assert mine == pytest.approx(other, abs=1e-12)
    again = DecisionTreeRegressor(pruning="cv", cv=KFold(4, shuffle=True, random_state=0)).fit(X, values)
    squares = by_hand(X, values, KFold(4, shuffle=True, random_state=0), DecisionTreeRegressor(),
                      lambda a, b: (a - b) ** 2)  # fmt: skip
    assert again.ccp_alpha_ == pytest.approx(squares[3])


def test_cv_pruning_generalises_better_than_a_pure_tree():
    X, y = load_breast_cancer(return_X_y=True)
    full, pruned = (DecisionTreeClassifier(pruning=p).fit(X[::2], y[::2]) for p in (None, "cv"))
    assert pruned.get_n_leaves() < full.get_n_leaves()
    assert pruned.score(X[1::2], y[1::2]) > 0.9
    assert pruned.certificate_.holds
    assert "no other pruning costs less" in pruned.certificate_.claim


def test_reduced_error_never_errs_more_on_its_validation_rows():
    X, y = load_diabetes(return_X_y=True)
    model = DecisionTreeRegressor(pruning="reduced_error", random_state=3).fit(X, y)
    held = model.certificate_.evidence["validation"]
    assert len(held) == np.ceil(0.25 * len(y))
    full = DecisionTreeRegressor().fit(np.delete(X, held, axis=0), np.delete(y, held))
    loss = [np.mean((m.predict(X[held]) - y[held]) ** 2) for m in (model, full)]
    assert loss[0] <= loss[1]
    assert loss[0] == pytest.approx(model.certificate_.validation_loss)
    assert model.certificate_.holds


def test_reduced_error_needs_two_rows():
    with pytest.raises(ValueError, match="n_samples=1"):
        DecisionTreeClassifier(pruning="reduced_error").fit([[1.0]], [0])
