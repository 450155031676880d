"""`Search`: scikit-learn's answers, shared work through the protocol, rules, and refusals."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
import scipy.stats
import sklearn.model_selection as sk
from sklearn.decomposition import PCA
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import certifit.model_selection
from certifit.linear_model import Ridge as OurRidge
from certifit.model_selection import RandomizedSearchCV, Search, cross_validate
from tests.contract import contract
from tests.model_selection.sharing import ClassShares, ShrunkenMean


def _regression(n=80, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=d) + rng.normal(size=n) + 3.0


def _classes(n=90, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 3)) + y[:, None], np.array(["no", "yes"])[y]


def _same(ours, theirs, tol=1e-9):
    for key, value in theirs.cv_results_.items():
        if "time" in key:
            assert ours.cv_results_[key].shape == value.shape
        elif key == "params":
            assert ours.cv_results_[key] == value
        elif key.startswith("param_"):
            assert np.array_equal(ours.cv_results_[key].mask, value.mask)
            assert ours.cv_results_[key].tolist() == value.tolist()
        else:
            assert ours.cv_results_[key] == pytest.approx(value, rel=tol, abs=tol, nan_ok=True)
    assert set(ours.cv_results_) == set(theirs.cv_results_)
    assert ours.best_index_ == theirs.best_index_
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_score_ == pytest.approx(theirs.best_score_)


@pytest.mark.parametrize(
    ("estimator", "grid", "scoring"),
    [
        (SVC(), [{"kernel": ["linear"], "C": [0.1, 1]}, {"kernel": ["rbf"], "gamma": [0.1, 1.0]}], None),
        (make_pipeline(StandardScaler(), PCA(), LogisticRegression()), {"pca__n_components": [1, 2]}, "roc_auc"),
        (KNeighborsClassifier(), {"n_neighbors": [1, 5], "weights": ["uniform", "distance"]}, "neg_log_loss"),
    ],
)
def test_any_scikit_learn_estimator_and_pipeline(estimator, grid, scoring):
    X, y = _classes()
    ours = Search(estimator, grid, cv=3, scoring=scoring, return_train_score=True).fit(X, y)
    theirs = GridSearchCV(estimator, grid, cv=3, scoring=scoring, return_train_score=True).fit(X, y)
    _same(ours, theirs)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), rel=1e-12)
    assert ours.classes_.tolist() == ["no", "yes"]
    assert not ours.shared_


def test_several_scores():
    X, y = _classes()
    scoring = {"acc": "accuracy", "auc": "roc_auc"}
    ours = Search(SVC(), {"C": [0.1, 1, 10]}, scoring=scoring, refit="auc").fit(X, y)
    theirs = GridSearchCV(SVC(), {"C": [0.1, 1, 10]}, scoring=scoring, refit="auc").fit(X, y)
    _same(ours, theirs)
    assert ours.multimetric_
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), rel=1e-12)
    with pytest.raises(ValueError, match="For multi-metric scoring, the parameter refit"):
        Search(SVC(), {"C": [1]}, scoring=scoring).fit(X, y)
    unfitted = Search(SVC(), {"C": [1]}, scoring=scoring, refit=False).fit(X, y)
    assert not hasattr(unfitted, "best_index_")


@pytest.mark.parametrize("scoring", [None, "r2", "neg_mean_squared_error", "neg_root_mean_squared_error"])
@pytest.mark.parametrize("cv", [4, KFold(5, shuffle=True, random_state=1)])
def test_shared_work_equals_fits_one_by_one(scoring, cv):
    X, y = _regression()
    grid = {"shrink": [0.0, 0.1, 0.9], "slope": [-1.0, 0.5]}
    shared = Search(ShrunkenMean(), grid, cv=cv, scoring=scoring).fit(X, y)
    assert shared.shared_
    _same(shared, GridSearchCV(ShrunkenMean(), grid, cv=cv, scoring=scoring).fit(X, y))


@pytest.mark.parametrize(
    "scoring",
    ["neg_mean_absolute_error", "explained_variance", make_scorer(mean_absolute_error, greater_is_better=False)],
)
def test_any_scorer_of_answers_shares(scoring):
    X, y = _regression()
    shared = Search(ShrunkenMean(), {"shrink": [0.0, 0.5]}, scoring=scoring).fit(X, y)
    assert shared.shared_
    _same(shared, GridSearchCV(ShrunkenMean(), {"shrink": [0.0, 0.5]}, scoring=scoring).fit(X, y))


@pytest.mark.parametrize("scoring", [None, "roc_auc", "neg_log_loss", "f1_macro", ["accuracy", "neg_log_loss"]])
def test_labels_probabilities_and_decisions_are_shared(scoring):
    X, y = _classes()
    refit = "accuracy" if isinstance(scoring, list) else True
    grid = {"shrink": [0.0, 0.5, 1.0]}
    shared = Search(ClassShares(), grid, cv=3, scoring=scoring, refit=refit).fit(X, y)
    assert shared.shared_
    _same(shared, GridSearchCV(ClassShares(), grid, cv=3, scoring=scoring, refit=refit).fit(X, y))


def test_a_pipeline_shares_through_its_last_step():
    X, y = _regression()
    pipe = make_pipeline(StandardScaler(), ShrunkenMean(slope=1.0))
    grid = {"shrunkenmean__shrink": [0.0, 0.5], "standardscaler__with_mean": [True, False]}
    shared = Search(pipe, grid, cv=4).fit(X, y)
    assert shared.shared_
    _same(shared, GridSearchCV(pipe, grid, cv=4).fit(X, y))
    exchanged = Search(pipe, {"shrunkenmean": [ShrunkenMean(), Ridge()]}, cv=4).fit(X, y)
    assert not exchanged.shared_


@pytest.mark.parametrize("trouble", ["late", "short"])
def test_a_path_that_cannot_go_on_falls_back(trouble):
    X, y = _regression()
    search = Search(ShrunkenMean(trouble=trouble), {"shrink": [0.0, 0.5]}).fit(X, y)
    assert not search.shared_
    _same(search, GridSearchCV(ShrunkenMean(), {"shrink": [0.0, 0.5]}).fit(X, y))


def test_what_is_not_shared():
    X, y = _regression()
    assert not Search(ShrunkenMean(), {"trouble": [None]}).fit(X, y).shared_
    assert not Search(ShrunkenMean(), {"shrink": [0.1]}, share=False).fit(X, y).shared_
    assert not Search(ShrunkenMean(), {"shrink": [0.1]}, return_train_score=True).fit(X, y).shared_

    class Other(ShrunkenMean):
        """Answers differently from what the inherited path says."""

        def predict(self, X):
            return super().predict(X) + 1.0

    assert not Search(Other(), {"shrink": [0.1]}).fit(X, y).shared_
    looks_inside = Search(ShrunkenMean(), {"shrink": [0.1]}, scoring=lambda m, X, y: m.mean_).fit(X, y)
    assert not looks_inside.shared_


def test_weights_count_in_fit_and_score():
    X, y = _regression(40)
    k = np.random.default_rng(1).integers(1, 4, size=40)
    split = [(np.arange(20), np.arange(20, 40)), (np.arange(20, 40), np.arange(20))]
    place = np.repeat(np.arange(40), k)
    copies = [(np.flatnonzero(np.isin(place, a)), np.flatnonzero(np.isin(place, b))) for a, b in split]
    for estimator in (ShrunkenMean(slope=1.0), Ridge()):
        grid = {"shrink": [0.0, 0.5]} if isinstance(estimator, ShrunkenMean) else {"alpha": [0.1, 10.0]}
        weighted = Search(estimator, grid, cv=split).fit(X, y, sample_weight=k)
        copied = Search(estimator, grid, cv=copies).fit(X[place], y[place])
        assert weighted.cv_results_["mean_test_score"] == pytest.approx(copied.cv_results_["mean_test_score"])
        assert weighted.predict(X) == pytest.approx(copied.predict(X))
    with pytest.raises(TypeError, match="KNeighborsClassifier takes no sample_weight"):
        Search(KNeighborsClassifier(), {"n_neighbors": [1]}).fit(X, y > 3, sample_weight=k)


def test_the_one_standard_error_rule():
    X, y = _regression(60, 8)
    grid = {"alpha": np.logspace(-2, 4, 30)}
    best, plain = (Search(Ridge(), grid, rule=rule).fit(X, y) for rule in ("best", "one_se"))
    assert plain.best_params_["alpha"] > best.best_params_["alpha"]
    scores = np.column_stack([best.cv_results_[f"split{k}_test_score"] for k in range(5)])
    error = scores[best.best_index_].std(ddof=1) / np.sqrt(5)
    good = scores.mean(axis=1) >= best.best_score_ - error
    assert plain.best_index_ == np.flatnonzero(good)[-1]
    assert "one-standard-error rule" in repr(plain)
    with pytest.raises(ValueError, match="which values of 'solver' are simpler"):
        Search(Ridge(), {"solver": ["svd", "cholesky"]}, rule="one_se").fit(X, y)


def test_same_choices_for_any_number_of_workers():
    X, y = _classes()
    grid = {"C": [0.1, 1.0], "gamma": [0.1, 1.0]}
    one, two = (Search(SVC(), grid, cv=3, n_jobs=n).fit(X, y) for n in (1, 2))
    assert one.cv_results_["mean_test_score"].tolist() == two.cv_results_["mean_test_score"].tolist()
    assert one.best_params_ == two.best_params_


def test_failed_fits_are_told_and_all_failed_is_an_error():
    X, y = _regression()
    with (
        pytest.warns(FitFailedWarning, match="5 fits failed out of a total of 10"),
        pytest.warns(UserWarning, match="non-finite"),
    ):
        found = Search(Ridge(), {"alpha": [1.0, -1.0]}).fit(X, y)
    assert found.best_params_ == {"alpha": 1.0}
    assert np.isnan(found.cv_results_["mean_test_score"][1])
    with pytest.raises(ValueError, match="alpha"):
        Search(Ridge(), {"alpha": [-1.0]}).fit(X, y)
    with pytest.raises(ValueError, match="alpha"):
        Search(Ridge(), {"alpha": [1.0, -1.0]}, error_score="raise").fit(X, y)


def test_progress_is_told():
    X, y = _regression()
    seen = []
    Search(Ridge(), {"alpha": [1.0, 2.0]}, cv=3, progress=lambda done, total: seen.append((done, total))).fit(X, y)
    assert seen == [(i, 6) for i in range(1, 7)]
    seen.clear()
    Search(ShrunkenMean(), {"shrink": [0.1]}, cv=3, progress=lambda *a: seen.append(a)).fit(X, y)
    assert seen[-1] == (3, 3)


def test_a_line_of_progress(capsys):
    X, y = _regression()
    cross_validate(Ridge(), X, y, cv=3, progress=True)
    assert "100 %" in capsys.readouterr().err


def test_groups_refit_callables_and_states():
    X, y = _regression()
    groups = np.arange(80) // 10
    cv = GroupKFold(4)
    ours = Search(Ridge(), {"alpha": [0.1, 10.0]}, cv=cv).fit(X, y, groups=groups)
    _same(ours, GridSearchCV(Ridge(), {"alpha": [0.1, 10.0]}, cv=cv).fit(X, y, groups=groups))
    chosen = Search(Ridge(), {"alpha": [0.1, 10.0]}, refit=lambda results: 1).fit(X, y)
    assert chosen.best_params_ == {"alpha": 10.0}
    unfitted = Search(Ridge(), {"alpha": [1.0]}, refit=False).fit(X, y)
    with pytest.raises(AttributeError, match="predict") as refused:
        unfitted.predict(X)
    assert "refit=False" in str(refused.value.__cause__)  # as in scikit-learn's searches
    with pytest.raises(NotFittedError):
        Search(Ridge(), {"alpha": [1.0]}).predict(X)
    assert not hasattr(Search(Ridge(), {"alpha": [1.0]}), "predict_proba")
    low, high = ours.interval()
    assert low < ours.best_score_ < high


def test_grid_search_inside_search_and_back():
    X, y = _regression()
    nested = GridSearchCV(Search(Ridge(), {"alpha": [0.1, 10.0]}), {"rule": ["best", "one_se"]}, cv=3).fit(X, y)
    assert nested.best_params_["rule"] in ("best", "one_se")


@contract([Search(Ridge(), {"alpha": [0.1, 1.0]}, cv=3), Search(LogisticRegression(), {"C": [0.1, 1.0]}, cv=3)])
def test_contract(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fits that share no work warn as scikit-learn's search does
        check(estimator)


def test_grid_search_cv_is_the_same_class():
    assert certifit.model_selection.GridSearchCV is Search
    X, y = _regression()
    _same(
        Search(OurRidge(), {"alpha": [0.1, 10.0]}).fit(X, y), GridSearchCV(OurRidge(), {"alpha": [0.1, 10.0]}).fit(X, y)
    )


@pytest.mark.parametrize("state", [3, np.random.RandomState(3)], ids=["seed", "state"])
@pytest.mark.parametrize("kind", [OurRidge, Ridge])
def test_random_draws_are_those_of_scikit_learn(state, kind):
    """Whether work is shared (ours) or not (theirs), equal seeds try equal points."""
    X, y = _regression()
    space = {"alpha": scipy.stats.loguniform(1e-3, 1e3)}
    ours = RandomizedSearchCV(kind(), space, n_iter=6, cv=4, random_state=copy.deepcopy(state)).fit(X, y)
    theirs = sk.RandomizedSearchCV(kind(), space, n_iter=6, cv=4, random_state=copy.deepcopy(state)).fit(X, y)
    _same(ours, theirs)
    assert ours.shared_ == (kind is OurRidge)
    assert ours.certificate_.holds if kind is OurRidge else not hasattr(theirs.best_estimator_, "certificate_")


def test_a_splitter_that_can_be_drawn_from_once():
    X, y = _regression()
    split = list(KFold(4).split(X))
    for model in (OurRidge(), OurRidge(positive=True), Ridge()):
        found = Search(model, {"alpha": [0.1, 10.0]}, cv=iter(split)).fit(X, y)
        np.testing.assert_allclose(
            found.cv_results_["mean_test_score"],
            Search(model, {"alpha": [0.1, 10.0]}, cv=split).fit(X, y).cv_results_["mean_test_score"],
        )
        assert np.isnan(found.interval().low) == isinstance(model, Ridge)  # those folds were out of sight
