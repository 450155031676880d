"""Networks that go on: partial_fit, warm_start, several labels a row, counts; scikit-learn's networks step by step."""

import warnings

import numpy as np
import pytest
import sklearn.neural_network as theirs
from sklearn.datasets import load_digits, make_multilabel_classification

import certifit.neural
from certifit.certificates import Data, issue
from certifit.neural import MLPClassifier, MLPRegressor

X, Y = load_digits(return_X_y=True)
X, Y = X[:300] / 16.0, Y[:300]
RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(120, 3))
COUNTS = RNG.poisson(np.exp(ROWS[:, 0])).astype(float)


def both(name, *args, **options):
    return [getattr(m, name)(*args, **options) for m in (certifit.neural, theirs)]


def test_the_module_of_scikit_learn_has_our_classes():
    import certifit.neural_network as second

    assert second.MLPClassifier is MLPClassifier
    assert second.MLPRegressor is MLPRegressor
    assert second.BernoulliRBM is theirs.BernoulliRBM


@pytest.mark.parametrize("solver", ["adam", "sgd"])
@pytest.mark.parametrize("y", [Y, (Y > 4).astype(int)])
def test_pieces_walk_as_scikit_learn_does(solver, y):
    pair = both("MLPClassifier", (8,), solver=solver, random_state=1, learning_rate_init=0.01)
    for part in (slice(0, 150), slice(150, 300), slice(0, 90)):
        for model in pair:
            model.partial_fit(X[part], y[part], classes=np.unique(y))
    np.testing.assert_allclose(pair[0].coefs_[0], pair[1].coefs_[0], atol=1e-9)
    np.testing.assert_allclose(pair[0].loss_curve_, pair[1].loss_curve_)
    assert pair[0].t_ == pair[1].t_ == 390
    with pytest.raises(AttributeError, match="partial_fit and kept none of the data"):
        _ = pair[0].certificate_


@pytest.mark.parametrize("options", [{"solver": "adam"}, {"solver": "sgd", "learning_rate": "invscaling"}])
def test_a_warm_start_goes_on_where_scikit_learn_does(options):
    pair = both("MLPRegressor", hidden_layer_sizes=(5,), warm_start=True, max_iter=3, random_state=0, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            for model in pair:
                model.fit(ROWS, ROWS[:, 1])
    np.testing.assert_allclose(pair[0].coefs_[0], pair[1].coefs_[0], atol=1e-9)
    np.testing.assert_allclose(pair[0].loss_curve_, pair[1].loss_curve_)
    assert pair[0].certificate_.verify(ROWS, ROWS[:, 1])
    with pytest.raises(ValueError, match="features"):
        pair[0].fit(ROWS[:, :2], ROWS[:, 1])
    classifier = MLPClassifier((3,), warm_start=True, max_iter=5000).fit(ROWS, ROWS[:, 0] > 0)
    with pytest.raises(ValueError, match="warm_start can only be used"):
        classifier.fit(ROWS, np.arange(120) % 3)


def test_several_labels_a_row():
    rows, labels = make_multilabel_classification(n_samples=80, random_state=0)
    pair = both("MLPClassifier", (6,), solver="adam", random_state=0, max_iter=30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in pair:
            model.fit(rows, labels)
    np.testing.assert_allclose(pair[0].predict_proba(rows), pair[1].predict_proba(rows), atol=1e-9)
    np.testing.assert_array_equal(pair[0].predict(rows), pair[1].predict(rows))
    assert pair[0].certificate_.verify(rows, labels)
    assert not pair[0].certificate_.verify(rows, 1 - labels)
    with pytest.raises(ValueError, match="one label per row"):
        pair[0].certified_radius(rows)


def test_counts_by_their_deviance():
    pair = both("MLPRegressor", "poisson", (4,), activation="tanh", solver="adam", random_state=0, max_iter=30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in pair:
            model.fit(ROWS, COUNTS)
    np.testing.assert_allclose(pair[0].loss_curve_, pair[1].loss_curve_)
    np.testing.assert_allclose(pair[0].predict(ROWS), pair[1].predict(ROWS))
    proof = (
        MLPRegressor("poisson", (4,), activation="tanh", random_state=0, max_iter=5000).fit(ROWS, COUNTS).certificate_
    )
    assert proof.holds
    assert proof.gradient < 1e-2
    assert not issue("network-gradient", Data.of(ROWS, -COUNTS - 1), proof.evidence).holds
    with pytest.raises(ValueError, match="not negative"):
        MLPRegressor("poisson").fit(ROWS, -COUNTS - 1)


def test_what_cannot_be_trained_in_pieces():
    with pytest.raises(AttributeError, match="partial_fit"):
        MLPClassifier(solver="lbfgs").partial_fit(X, Y, classes=np.unique(Y))
    with pytest.raises(ValueError, match="early_stopping"):
        MLPRegressor(early_stopping=True).partial_fit(ROWS, COUNTS)
    with pytest.raises(ValueError, match="classes must be passed"):
        MLPClassifier().partial_fit(X, Y)
    with pytest.raises(ValueError, match="classes not in"):
        MLPClassifier().partial_fit(X, Y, classes=[0, 1, 2])


def test_verbose_prints_every_pass(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        MLPClassifier((3,), solver="sgd", max_iter=2, verbose=True).fit(ROWS, ROWS[:, 0] > 0)
    assert capsys.readouterr().out.count("Iteration") == 2
