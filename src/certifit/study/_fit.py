"""Fit one named model to a table, without a comparison."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from certifit._types import Named, Pipeline
from certifit.files import TableError, TableModel
from certifit.study._design import Design
from certifit.study._drift import remember
from certifit.study._facts import examine
from certifit.study._plan import choose_candidates, plan_work
from certifit.study._runner import Result, make_pipeline
from certifit.study._winner import refit


def fit(
    data: Any,
    target: str,
    model: str,
    *,
    parameters: Mapping[str, Any] | None = None,
    task: str | None = None,
    seed: int = 0,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    categories: Sequence[str] = (),
) -> TableModel:
    """Fit one model to all rows of a table; parameters that are not given are chosen by cross-validation.

    Parameters
    ----------
    data : path, data frame or mapping of columns
    target : str
    model : str
        A name of the study's table, such as "ridge" or "logistic regression".
    parameters : mapping, default=None
        Parameters of the model to set, such as ``{"alpha": 1.0}``; nothing is then chosen.
    task, seed, drop, keep, categories :
        As in `run`.

    Returns
    -------
    TableModel

    Examples
    --------
    >>> a, b = np.arange(40.0) % 7, np.arange(40.0) % 5
    >>> model = fit({"a": a, "b": b, "y": 2 * a - b + 0.5}, "y", "ridge", parameters={"alpha": 0.0})
    >>> model.predict({"a": [3.0], "b": [1.0]}).round(6)
    array([5.5])
    """
    facts = examine(data, target, task, tuple(drop), tuple(keep), tuple(categories))
    chosen, skipped = choose_candidates(facts, [model])
    candidate = next((c for c in chosen if c.name == model), None)
    if candidate is None:
        raise TableError(f"{model} does not apply here: {dict(skipped)[model]}.")
    work = plan_work(facts, Design().read(facts), None, seed)
    if parameters:
        pipeline = _with_parameters(make_pipeline(candidate, work), parameters, model)
        with warnings.catch_warnings(action="ignore"):
            try:
                pipeline.fit(work.X, work.y)
            except ValueError as error:  # a parameter that cannot be, or data that the model refuses
                raise TableError(" ".join(str(error).split())) from None
        used = dict(parameters)
    else:
        pipeline, used, _ = refit(Result(candidate), work)
    about = {
        "name": model,
        "target": target,
        "rows": len(facts.y),
        "unlabelled": facts.unlabelled,
        "data_digest": facts.table.digest,
        "parameters": used,
        "training": remember(facts.X, facts.y, facts.schema, seed),
    }
    return TableModel(pipeline, facts.schema, about)


def _with_parameters(pipeline: Pipeline, parameters: Named, model: str) -> Any:
    known = pipeline.steps[-1][1].get_params(deep=False)
    wrong = [p for p in parameters if p not in known]
    if wrong:
        raise TableError(f"{model} has no parameter {wrong[0]!r}; it has {', '.join(sorted(known))}.")
    return pipeline.set_params(**{f"model__{k}": v for k, v in parameters.items()})
