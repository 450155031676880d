"""Save a fitted model with its proof; load it without running anything; check it against the data."""

from __future__ import annotations

import copy
import io
import json
import os
import sys
import warnings
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import certifit
from certifit._atomic import write_atomic
from certifit._errors import need
from certifit._types import Array, BaseEstimator, Matrix, VectorLike, Weights
from certifit.certificates import Certificate, Check, Verification
from certifit.exceptions import ModelFileError
from certifit.files._allowed import allowed, refuse_strangers, trusted
from certifit.files._container import as_json, pack, refuse_bombs, unpack
from certifit.files._schema import Schema
from certifit.files._table_model import TableModel

_OTHERS = tuple(f"sklearn.externals.array_api_compat.{name}" for name in ("dask", "torch", "cupy"))


def save(model: BaseEstimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted model (with preprocessing and certificates) to a file that holds no code.

    Parameters
    ----------
    model : fitted certifit estimator, a Pipeline of them, a `TableModel`, or a process or plan of `reinforcement`
    path : path
        Usually ends in ``.certifit``. Replaced atomically.

    Raises
    ------
    ModelFileError
        If the model contains something that cannot be saved (a user-defined function, another library's class).

    Examples
    --------
    >>> import tempfile, os, certifit as cf
    >>> from certifit.linear_model import Ridge
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.5])
    >>> path = os.path.join(tempfile.mkdtemp(), "ridge.certifit")
    >>> cf.save(Ridge().fit(X, y), path)
    >>> cf.load(path).coef_, cf.verify(path, X, y).holds
    (array([1.5]), True)
    """
    write_atomic(path, to_bytes(model))


def to_bytes(model: BaseEstimator) -> bytes:
    """What `save` writes.

    Parameters
    ----------
    model : fitted estimator or TableModel

    Examples
    --------
    >>> from certifit.linear_model import Ridge
    >>> to_bytes(Ridge().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.5]))[:2]        # a zip
    b'PK'
    """
    skops = _skops()
    table = isinstance(model, TableModel)
    pipeline = model.pipeline if table else model
    found = certificates_of(pipeline)
    try:
        body = skops.io.dumps(_without_certificates(pipeline))
    except Exception as error:  # skops raises many kinds for what it cannot write
        raise ModelFileError(
            f"This {type(pipeline).__name__} cannot be saved without pickle: {error}. Functions and objects of your "
            "own cannot be part of a model file."
        ) from error
    refuse_strangers(body, f"this {type(pipeline).__name__}")
    parts = {
        "schema.json": as_json(model.schema.to_dict() if table else None),
        "certificates.json": as_json([c.to_dict() for c in found]),
        "model.skops": body,
    }
    about = {"certifit": certifit.__version__, "model": type(_last(pipeline)).__name__}
    return pack(parts, {**about, "about": model.about if table else {}})


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model file; nothing in it is executed, and anything not on certifit's list is rejected.

    Parameters
    ----------
    path : path
        A file written by `save` or by ``certifit study``.

    Returns
    -------
    estimator, or `TableModel` if the file contains the schema of a table

    Raises
    ------
    ModelFileError
        For a file that is damaged, truncated, modified, from a newer version, or contains something that is not
        allowed.

    See Also
    --------
    save

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from certifit.files import save
    >>> from certifit.linear_model import Ridge
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ridge.certifit"
    >>> save(Ridge().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.5]), path)
    >>> load(path).predict([[2.0]])
    array([4.66666667])
    """
    return from_bytes(_bytes_of(path), str(path))


def from_bytes(data: bytes, where: str = "the file") -> Any:
    """What `load` does, from bytes.

    Parameters
    ----------
    data : bytes
        What `to_bytes` returned.
    where : str, default="the file"
        The name used in error messages.

    Examples
    --------
    >>> from certifit.files import to_bytes
    >>> from certifit.linear_model import Ridge
    >>> model = Ridge().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.5])
    >>> from_bytes(to_bytes(model)).coef_
    array([1.5])
    """
    skops = _skops()
    parts, manifest = unpack(data, where)
    refuse_strangers(parts["model.skops"], where)
    try:
        with warnings.catch_warnings(
            action="ignore"
        ):  # versions are in the manifest; what matters is checked by verify
            model = skops.io.loads(parts["model.skops"], trusted=trusted())
        found = tuple(Certificate.from_dict(r) for r in json.loads(parts["certificates.json"]))
        schema = json.loads(parts["schema.json"])
        if found:
            regions = _last(model).__dict__.pop("_regions", [None] * len(found))
            _last(model).__dict__["_certificates"] = tuple(replace(c, region=r) for c, r in zip(found, regions))
        if schema is None:
            return model
        return TableModel(model, Schema.from_dict(schema), manifest.get("about"))
    except ModelFileError:
        raise
    except Exception as error:  # a well-formed zip can still hold nonsense of any kind
        raise ModelFileError(f"{where} is damaged: {type(error).__name__}: {error}") from None


def load_foreign(path: str | os.PathLike[str]) -> Any:
    """Read a skops file of scikit-learn's (or ours) with the types that skops trusts by itself and certifit's.

    Parameters
    ----------
    path : str or path

    Examples
    --------
    >>> import pathlib, tempfile, skops.io
    >>> from sklearn.linear_model import Ridge
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "theirs.skops"
    >>> skops.io.dump(Ridge().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.5]), path)
    >>> load_foreign(path).coef_
    array([1.5])
    """
    skops = _skops()
    data, where = _bytes_of(path), str(path)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            refuse_bombs(archive, len(data), where)
        unknown = [t for t in skops.io.get_untrusted_types(data=data) if t not in allowed()]
        if unknown:
            raise ModelFileError(f"{where} holds {unknown[0]}, which is not trusted: refused, and nothing was run.")
        return skops.io.loads(data, trusted=sorted(allowed()))
    except ModelFileError:
        raise
    except Exception as error:
        raise ModelFileError(f"{where} is not a model file of certifit or skops: {error}") from None


def is_ours(path: str | os.PathLike[str]) -> bool:
    """Whether a file is for `load` to judge: anything but a plain skops archive, which is for `load_foreign`.

    Parameters
    ----------
    path : str or path

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import skops.io
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "theirs.skops"
    >>> skops.io.dump([1, 2], path)
    >>> is_ours(path)
    False
    """
    try:
        with zipfile.ZipFile(io.BytesIO(_bytes_of(path))) as archive:
            return "schema.json" not in archive.namelist() or "manifest.json" in archive.namelist()
    except zipfile.BadZipFile:
        return True


def verify(
    path: str | os.PathLike[str], X: Matrix, y: VectorLike | None = None, sample_weight: Weights = None
) -> Verification:
    """Check every claim in a model file against the data it was fitted to.

    The file must load, its certificates must hold on these data (recomputed from data and evidence alone), and the
    coefficients of the model must be those of the certificates.

    Parameters
    ----------
    path : path
    X : table or array-like
        For a file of ``certifit study``: the table (path or data frame) with its target column. Otherwise the
        training rows.
    y, sample_weight : array-like, default=None
        Not needed when X is a table with the target in it.

    Returns
    -------
    Verification

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from certifit.files import save
    >>> from certifit.linear_model import Ridge
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.5])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ridge.certifit"
    >>> save(Ridge().fit(X, y), path)
    >>> verify(path, X, y).holds, verify(path, X, y + 0.1).holds
    (True, False)
    """
    try:
        model = load(path)
    except ModelFileError as error:
        return Verification((Check("the file can be trusted", False, str(error)),), True)
    return verify_model(model, X, y, sample_weight)


def verify_model(
    model: BaseEstimator, X: Matrix, y: VectorLike | None = None, sample_weight: Weights = None
) -> Verification:
    """`verify` for a model that is already loaded.

    Parameters
    ----------
    model : fitted estimator or TableModel
    X, y, sample_weight : array-like
        The data it was fitted to.

    Examples
    --------
    >>> from certifit.linear_model import Ridge
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.5])
    >>> verify_model(Ridge().fit(X, y), X, y).holds
    True
    """
    if isinstance(model, TableModel):
        X, labels, weights = model.labelled(X)
        y, estimator = labels if y is None else y, model.estimator
        sample_weight = weights if sample_weight is None else sample_weight
    else:
        estimator = _last(model)
        X = model[:-1].transform(X) if hasattr(model, "steps") else X
    if hasattr(estimator, "certified_target"):  # fitted to a function of the target
        y = estimator.certified_target(y)
    found = certificates_of(estimator)
    checks = [Check("the model carries certificates", bool(found), f"{len(found)}")]
    same = True
    for certificate in found:
        outcome = certificate.verify(X, y, sample_weight)
        same = same and outcome.same_data
        checks += [Check(f"{certificate.kind}: {c.name}", c.holds, c.figure) for c in outcome.checks]
        checks.append(Check(f"{certificate.kind}: the claim is proved", certificate.holds, certificate.claim))
        checks += _speaks_about(certificate, estimator)
        if hasattr(estimator, "mdp"):  # a plan brings its process along
            same_process = certificate.verify(*estimator.mdp.table()).same_data
            checks.append(Check(f"{certificate.kind}: the plan's process is that of the certificate", same_process))
    return Verification(tuple(checks), same)


def certificates_of(model: BaseEstimator) -> tuple[Certificate, ...]:
    """Certificates of a fitted model or of a pipeline's last step; none for models that issue them per query.

    Parameters
    ----------
    model : fitted estimator or Pipeline

    Examples
    --------
    >>> from certifit.linear_model import Ridge
    >>> all(c.holds for c in certificates_of(Ridge().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.5])))
    True
    """
    try:
        return tuple(_last(model).certificates_)
    except AttributeError:
        return ()


def _speaks_about(certificate: Certificate, estimator: BaseEstimator) -> list[Check]:
    """Evidence that carries a fitted attribute's name, or that a plan states as its own, must equal it."""
    checks = []
    plan = getattr(estimator, "_stated", {})
    for name, stated in certificate.evidence.items():
        fitted = plan.get(name, getattr(estimator, f"{name}_", None))
        given = np.asarray(stated)
        if fitted is None or given.dtype.kind not in "fiu" or not (isinstance(stated, np.ndarray) or name in plan):
            continue
        own: Array = np.asarray(fitted, dtype=float).ravel()
        fits = own.size in (1, given.size)
        if not fits and name not in plan:
            continue
        equal = fits and bool(np.array_equal(np.broadcast_to(own, given.size), given.ravel().astype(float)))
        checks.append(Check(f"{certificate.kind}: {name} of the model is that of the certificate", equal))
    return checks


def _skops() -> Any:
    """skops, which at its import looks for estimators in every module of scikit-learn.

    The three that would load dask, torch and cupy, where these are installed, hold none: they are passed over, which
    saves a second or more.
    """
    need("skops", "files")
    hidden = [name for name in _OTHERS if name not in sys.modules and "skops.io" not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None: cannot be imported
    try:
        import skops.io
    finally:
        for name in hidden:
            del sys.modules[name]
    return skops


def _last(model: BaseEstimator) -> Any:
    return model.steps[-1][1] if hasattr(model, "steps") else model


def _without_certificates(model: BaseEstimator) -> Any:
    """A shallow copy whose last step holds no certificates (they are a member of their own)."""
    if hasattr(model, "steps"):
        bare = copy.copy(model)
        bare.steps = [*model.steps[:-1], (model.steps[-1][0], _without_certificates(model.steps[-1][1]))]
        return bare
    if not {"_certificates", "_begun"} & set(getattr(model, "__dict__", {})):
        return model
    bare = copy.copy(model)
    for name in ("_certificates", "_begun", "_promise"):
        bare.__dict__.pop(name, None)
    regions = [c.region for c in model.__dict__.get("_certificates", ())]
    if any(r is not None for r in regions):  # what `certain` asks; certificates themselves are JSON
        bare.__dict__["_regions"] = regions
    return bare


def _bytes_of(path: str | os.PathLike[str]) -> bytes:
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise ModelFileError(f"There is no file {path}.") from None
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}.") from None
