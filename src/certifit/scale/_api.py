"""What a user calls: fit, verify."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from sklearn.base import clone

from certifit.certificates import Certificate, Verification
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
from certifit.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB
from certifit.preprocessing import Factored, OneHot, Standardizer, Thermometer
from certifit.scale._engine import running
from certifit.scale._job import Job
from certifit.scale._moments import fit_moments
from certifit.scale._simple import fit_counting, fit_encoder, fit_gaussian, fit_pca, fit_standardizer
from certifit.scale._smooth import fit_glm, fit_logistic
from certifit.scale._source import Source

Fitter = Callable[[Job, Any], None]
_FITTERS: dict[type, Fitter] = {
    LinearRegression: fit_moments,
    Ridge: fit_moments,
    Lasso: fit_moments,
    ElasticNet: fit_moments,
    LogisticRegression: fit_logistic,
    GLM: fit_glm,
    PoissonRegressor: fit_glm,
    GammaRegressor: fit_glm,
    TweedieRegressor: fit_glm,
    GaussianNB: fit_gaussian,
    MultinomialNB: fit_counting,
    BernoulliNB: fit_counting,
    CategoricalNB: fit_counting,
    PCA: fit_pca,
    Standardizer: fit_standardizer,
    OneHot: fit_encoder,
    Thermometer: fit_encoder,
    Factored: fit_encoder,
}
_WORDS = (OneHot, Thermometer, Factored)
"""Estimators that take columns of words."""


def fit(
    estimator: Any,
    source: Any,
    *,
    target: str | None = None,
    features: Sequence[str] | None = None,
    engine: Any = "local",
    workers: int | None = None,
    memory: int | str | None = None,
    progress: Any = None,
) -> Any:
    """Fit an estimator to a table in partitions; the estimator itself is left as it is."""
    fitter = _FITTERS.get(type(estimator))
    if fitter is None:
        raise TypeError(f"{type(estimator).__name__} cannot be fitted in passes over partitions.")
    model = clone(estimator)
    getattr(model, "_validate_params", lambda: None)()
    words = isinstance(estimator, _WORDS)
    with job_of(source, target, features, engine, workers, memory, progress, words) as job:
        fitter(job, model)
    return model


@contextmanager
def job_of(
    source: Any, target: str | None, features: Sequence[str] | None, engine: Any, workers: int | None,
    memory: int | str | None, progress: Any, words: bool = False,
) -> Iterator[Job]:  # fmt: skip
    """The table, the columns and the engine, closed at the end."""
    table = Source.of(source)
    with running(engine, workers) as runner:
        again = partial(running, engine, workers)
        yield Job(table, table.plan(target, features, None, words), runner, progress, again)


def verify(
    fitted: Any,
    source: Any,
    *,
    target: str | None = None,
    features: Sequence[str] | None = None,
    engine: Any = "local",
    workers: int | None = None,
    memory: int | str | None = None,
    progress: Any = None,
) -> Verification:
    """Re-check the certificate of a fit on a table in partitions; a partition that was changed is named."""
    certificate: Certificate = fitted if isinstance(fitted, Certificate) else fitted.certificate_
    if features is None and not isinstance(fitted, Certificate):
        features = [str(name) for name in fitted.feature_names_in_]
    with job_of(source, target, features, engine, workers, memory, progress) as job:
        return job.verify(certificate)
