"""`to_code`: a model of a table as SQL, Python or C."""

from __future__ import annotations

import os

import certifit
from certifit._atomic import write_atomic
from certifit._types import BaseEstimator
from certifit.exceptions import ExportError
from certifit.families import words_for
from certifit.files._code import _write
from certifit.files._code._program import program_of
from certifit.files._table_model import TableModel

_LANGUAGES = {"sql": _write.to_sql, "python": _write.to_python, "c": _write.to_c}


def to_code(model: BaseEstimator, language: str, path: str | os.PathLike[str] | None = None) -> str:
    """A fitted model of a table as code without dependencies.

    Its preprocessing is part of it: the code takes the table's own columns. Linear, logistic, generalized linear and
    additive models, trees and naive Bayes can be written out; answers agree with `predict` to about 1e-12.

    Parameters
    ----------
    model : TableModel
        Of `certifit.study.run` or `certifit.study.fit`.
    language : {"sql", "python", "c"}
    path : path, default=None
        Where to write it; None: not written.

    Returns
    -------
    str
        The code.

    Raises
    ------
    ExportError
        If the model, or a column of it, cannot be written out.

    Examples
    --------
    >>> from certifit.study import fit
    >>> table = {"a": np.arange(40.0) % 7, "b": np.arange(40.0) % 5, "y": 2 * (np.arange(40.0) % 7) + 1}
    >>> code = to_code(fit(table, "y", "least squares", task="regression", keep=["a"]), "python")
    >>> scope = {}
    >>> exec(code, scope)
    >>> round(scope["predict"]({"a": 3.0, "b": 1.0})["prediction"], 6)
    7.0
    """
    if language not in _LANGUAGES:
        raise ExportError(f"There is no export to {language!r}; there are: {', '.join(_LANGUAGES)}.")
    if not isinstance(model, TableModel):
        raise ExportError("Only models of a table (certifit study, certifit fit) can be written as code.")
    target = model.schema.target.name if model.schema.target else "the target"
    what = f"{model.about.get('name', words_for(type(model.estimator)))} that predicts {target}".replace("\n", " ")
    code = _LANGUAGES[language](program_of(model), what, certifit.__version__)
    if path is not None:
        write_atomic(path, code.encode())
    return code
