"""Naive Bayes: features are taken as independent within a class, and learning is counting.

One pass over the data serves any number of folds and settings (`fit_folds`); every fit proves that its estimates are
the counts, means and variances of the data.
"""

from certifit._passing import pass_on
from certifit.naive_bayes._base import Boundary
from certifit.naive_bayes._categorical import CategoricalNB
from certifit.naive_bayes._discrete import BernoulliNB, ComplementNB, MultinomialNB
from certifit.naive_bayes._folds import FoldFit, fit_folds
from certifit.naive_bayes._gaussian import GaussianNB
from certifit.naive_bayes._mixed import MixedNB

__all__ = [
    "BernoulliNB",
    "Boundary",
    "CategoricalNB",
    "ComplementNB",
    "FoldFit",
    "GaussianNB",
    "MixedNB",
    "MultinomialNB",
    "fit_folds",
]

__getattr__, __dir__ = pass_on(__name__, "sklearn.naive_bayes")
