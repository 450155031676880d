"""Which estimators can be fitted in passes over partitions, and by whom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from certifit.cluster import KMeans
from certifit.decomposition import PCA
from certifit.glm import GLM
from certifit.linear_model import (
    ElasticNet,
    GammaRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    TweedieRegressor,
)
from certifit.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MixedNB, MultinomialNB
from certifit.preprocessing import Factored, OneHot, Standardizer, StandardScaler, Thermometer
from certifit.scale._clusters import fit_kmeans
from certifit.scale._job import Job
from certifit.scale._margins import fit_linear_svc
from certifit.scale._moments import fit_moments
from certifit.scale._simple import (
    fit_counting,
    fit_encoder,
    fit_gaussian,
    fit_mixed,
    fit_pca,
    fit_scaler,
    fit_standardizer,
)
from certifit.scale._smooth import fit_glm, fit_logistic
from certifit.svm import LinearSVC

Fitter = Callable[[Job, Any], None]
FITTERS: dict[type, Fitter] = {
    LinearRegression: fit_moments,
    Ridge: fit_moments,
    Lasso: fit_moments,
    ElasticNet: fit_moments,
    LogisticRegression: fit_logistic,
    GLM: fit_glm,
    PoissonRegressor: fit_glm,
    GammaRegressor: fit_glm,
    TweedieRegressor: fit_glm,
    LinearSVC: fit_linear_svc,
    GaussianNB: fit_gaussian,
    MultinomialNB: fit_counting,
    ComplementNB: fit_counting,
    BernoulliNB: fit_counting,
    CategoricalNB: fit_counting,
    MixedNB: fit_mixed,
    PCA: fit_pca,
    KMeans: fit_kmeans,
    Standardizer: fit_standardizer,
    StandardScaler: fit_scaler,
    OneHot: fit_encoder,
    Thermometer: fit_encoder,
    Factored: fit_encoder,
}
_WEIGHING = (fit_moments, fit_logistic, fit_glm, fit_gaussian, fit_counting, fit_mixed, fit_kmeans, fit_scaler)
WEIGHTED = tuple(cls for cls, fitter in FITTERS.items() if fitter in _WEIGHING)
"""Estimators whose rows may have weights."""
SHIFTED = tuple(cls for cls, fitter in FITTERS.items() if fitter is fit_glm)
"""Estimators whose rows may have offsets."""
UNTARGETED = (PCA, KMeans, Standardizer, StandardScaler, OneHot, Thermometer, Factored)
"""Estimators that predict no column."""
WORDS = (MixedNB, OneHot, Thermometer, Factored)
"""Estimators that take columns of words."""
