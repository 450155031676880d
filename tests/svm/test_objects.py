"""Kernel functions of strings and other objects: the same machine as with their Gram matrix."""

import pickle

import numpy as np
import pytest
import sklearn.svm
from sklearn.model_selection import cross_val_score

from certifit.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

WORDS = ["A A", "A", "B", "B B", "A B", "A A B", "B A B", "A A A", "B B B", "A B A"]
LABELS = np.array([1, 1, 2, 2, 1, 1, 2, 1, 2, 1])


def common_letters(these, those):
    assert isinstance(these[0], str)
    assert isinstance(those[0], str)
    counts = [np.array([[word.count(letter) for letter in "AB"] for word in words]) for words in (these, those)]
    return counts[0] @ counts[1].T


GRAM = common_letters(WORDS, WORDS)
MACHINES = [SVC(), NuSVC(nu=0.3), SVR(), NuSVR(), OneClassSVM(nu=0.3)]


@pytest.mark.parametrize(
    "words", [WORDS, np.array(WORDS), np.array(WORDS, dtype=object)], ids=["list", "str", "object"]
)
@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: type(m).__name__)
def test_strings_give_the_machine_of_their_gram_matrix(machine, words):
    """New strings too; the certificate is that of the Gram matrix and is verified with it."""
    told, given = type(machine)(**machine.get_params()), type(machine)(**machine.get_params())
    told.set_params(kernel=common_letters).fit(words, LABELS)
    given.set_params(kernel="precomputed").fit(GRAM, LABELS)
    new = ["A B B", "B", "A A A A"]
    for name in ("predict", "decision_function"):
        if hasattr(told, name):
            np.testing.assert_array_equal(getattr(told, name)(new), getattr(given, name)(common_letters(new, WORDS)))
    np.testing.assert_array_equal(told.support_, given.support_)
    y = () if isinstance(machine, OneClassSVM) else (LABELS,)
    assert told.certificate_.gap == given.certificate_.gap
    if y:
        assert told.certificate_.verify(GRAM, *y).holds
        assert not told.certificate_.verify(GRAM + np.eye(len(GRAM)), *y).holds


def test_as_scikit_learn():
    ours = SVC(kernel=common_letters).fit(WORDS, LABELS)
    theirs = sklearn.svm.SVC(kernel=common_letters, tol=1e-10).fit(WORDS, LABELS)
    np.testing.assert_allclose(ours.decision_function(WORDS), theirs.decision_function(WORDS), atol=1e-7)


def test_probabilities_folds_and_a_second_fit():
    machine = SVC(kernel=common_letters, probability=True).fit(WORDS, LABELS)
    assert machine.predict_proba(WORDS).shape == (len(WORDS), 2)
    assert np.all(np.isfinite(cross_val_score(SVC(kernel=common_letters), np.array(WORDS), LABELS, cv=2)))
    again = pickle.loads(pickle.dumps(machine))
    np.testing.assert_array_equal(again.predict(WORDS), machine.predict(WORDS))
    machine.set_params(kernel="linear", probability=False).fit(np.eye(len(WORDS)), LABELS)
    assert machine.predict(np.eye(len(WORDS))).shape == LABELS.shape


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_strings_need_a_function(kernel):
    with pytest.raises(ValueError, match=r"could not convert|array"):
        SVC(kernel=kernel).fit(WORDS, LABELS)
