"""scikit-learn's estimator contract for every naive Bayes model."""

from certifit.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MixedNB, MultinomialNB
from tests.contract import contract


@contract([GaussianNB(), BernoulliNB(), MultinomialNB(), CategoricalNB(), ComplementNB(), MixedNB()])
def test_contract(estimator, check):
    check(estimator)
