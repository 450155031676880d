"""The commands on tables in partitions: `certifit fit big/*.parquet`, and what follows it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import certifit as cf
from certifit import scale
from certifit.cli._commands import print_remark, say, setting, writable
from certifit.cli._errors import UsageError, no_column
from certifit.exceptions import CertifitError

_MODELS = {
    "linear regression": ("linear_model", "LinearRegression"),
    "least squares": ("linear_model", "LinearRegression"),
    "ridge": ("linear_model", "Ridge"),
    "lasso": ("linear_model", "Lasso"),
    "elastic net": ("linear_model", "ElasticNet"),
    "logistic": ("linear_model", "LogisticRegression"),
    "logistic regression": ("linear_model", "LogisticRegression"),
    "poisson": ("linear_model", "PoissonRegressor"),
    "poisson regression": ("linear_model", "PoissonRegressor"),
    "gamma regression": ("linear_model", "GammaRegressor"),
    "linear svm": ("svm", "LinearSVC"),
    "naive bayes": ("naive_bayes", "GaussianNB"),
    "gaussian naive bayes": ("naive_bayes", "GaussianNB"),
    "multinomial naive bayes": ("naive_bayes", "MultinomialNB"),
    "complement naive bayes": ("naive_bayes", "ComplementNB"),
    "bernoulli naive bayes": ("naive_bayes", "BernoulliNB"),
    "categorical naive bayes": ("naive_bayes", "CategoricalNB"),
}


def _estimator(name: str, settings: Sequence[str]) -> Any:
    key = name.strip().lower().replace("_", " ").replace("-", " ")
    if key not in _MODELS:
        raise UsageError(
            f"{name!r} cannot be fitted in passes over partitions; these can: {', '.join(sorted(_MODELS))}. "
            "Fit others to a sample (scale.sample in Python)."
        )
    module, cls = _MODELS[key]
    try:
        return getattr(getattr(cf, module), cls)(**dict(setting(s) for s in settings))
    except TypeError as error:
        raise UsageError(f"--set: {error}.") from None


def fit(
    files: list[str],
    target: str | None,
    model: str,
    settings: Sequence[str],
    drop: Sequence[str],
    out: Path,
    way: dict[str, Any],
) -> int:
    """certifit fit on files that are read in partitions."""
    estimator = _estimator(model, settings)
    if target is None:
        raise UsageError("Which column is to be predicted? Add --target COLUMN.")
    if out.is_dir():
        raise UsageError(f"--out {out} is a folder: name a file.")
    writable(out.absolute().parent)
    source = scale.Source.of(files)
    kinds = dict(source.kinds)
    unknown = [c for c in (*drop, target) if c not in kinds]
    if unknown:
        raise no_column(unknown[0], source.columns)
    features = [c for c in source.columns if kinds[c] == "number" and c != target and c not in drop]
    left = [c for c in source.columns if kinds[c] != "number" and c != target and c not in drop]
    fitted = scale.fit(estimator, source, target=target, features=features, progress=True, **way)
    certificate = fitted.certificate_
    cf.files.save(fitted, out)
    say(f"{model}, fitted to {certificate.about['rows']:,} rows in {len(source.parts)} partitions")
    if left:
        say(f"not used, because they are not numeric: {', '.join(left[:8])}")
    say(str(certificate))
    say(f"wrote {out}")
    return 0 if certificate.holds else 1


def study(data: str, target: str | None, memory: str, out: Path, options: dict[str, Any]) -> int:
    """certifit study on files that need not fit into memory."""
    from certifit.cli._screen import Screen
    from certifit.scale._api import bytes_of

    try:
        bytes_of(memory)
    except ValueError as error:
        raise UsageError(f"--memory: {error}") from None
    source = scale.Source.of(data)
    if target is None:
        raise UsageError(f"Which column is to be predicted? Add --target COLUMN ({', '.join(source.columns[-8:])}).")
    for name in (target, *(options[role] for role in ("groups", "time", "weights") if options[role] is not None)):
        if name not in source.columns:
            raise no_column(name, source.columns, data)
    with Screen() as screen:
        cf.study.run_large(source, target, memory=memory, out=out, listener=screen, **options)
    return 0


def verify_encoded(model: Any, data: str) -> Any:
    """Re-check the certificate of a study's model that was fitted again to all rows of a table in partitions."""
    return scale.verify(model.certificates_[0], cf.study.encoded(data, model), progress=True)


def is_plain(path: Path) -> bool:
    """Whether a model file holds a model that was fitted in partitions, without the reading of a study."""
    if not path.exists():
        return False
    model = cf.files.load(path)
    return not isinstance(model, cf.files.TableModel) and hasattr(model, "feature_names_in_")


def verify(model: Any, path: Path, data: str) -> Any:
    """Re-check the certificate of a model on its partitions."""
    certificates = getattr(model, "certificates_", ())
    if not certificates or "partitions" not in certificates[0].digests:
        raise CertifitError(f"{path} was saved without a table: use certifit.verify in Python.")
    return scale.verify(certificates[0], data, progress=True)


def predict(path: Path, data: str, out: Path | None) -> int:
    """Predictions of a plain model: a Parquet file, or one number or label a line."""
    model = cf.files.load(path)
    if out is not None:
        scale.predict(model, data, out=out, progress=True)
        print_remark(f"wrote {out}.")
        return 0
    said = scale.predict(model, data, progress=True)
    assert said is not None
    print("prediction")
    for value in said.tolist():
        print(value)
    return 0
