"""What logistic regression says about its parameters: scikit-learn's announcements, so that filters by message work."""

from __future__ import annotations

import warnings

import numpy as np

from certifit._types import BaseEstimator

SHORT = {
    "lbfgs": "lbfgs failed to converge. ",
    "liblinear": "Liblinear failed to converge, increase the number of iterations. ",
    "newton-cg": "newton-cg failed to converge. Increase the number of iterations. ",
    "newton-cholesky": "Newton solver did not converge after {} iterations. ",
    "sag": "The max_iter was reached which means the coef_ did not converge. ",
    "saga": "The max_iter was reached which means the coef_ did not converge. ",
}
"""How scikit-learn's warning about a solver begins; ours goes on with the gap."""

_PENALTY = (
    "'penalty' was deprecated in version 1.8 and will be removed in 1.10: use 'l1_ratio' and 'C' (l1_ratio=0 for "
    "'l2', 1 for 'l1', a number between for 'elasticnet', C=np.inf for None)."
)


def speak_of_penalty(model: BaseEstimator) -> None:
    """Warn of deprecated and contradictory values of ``penalty``, ``l1_ratio``, ``C`` and ``n_jobs``."""
    penalty, ratio = model.penalty, model.l1_ratio
    later, now = [], []
    if penalty == "deprecated":
        if ratio is None:
            later.append("'l1_ratio=None' was deprecated in version 1.8. Use 0<=l1_ratio<=1 instead.")
    else:
        later.append(_PENALTY)
        if penalty == "elasticnet" and ratio is None:
            raise ValueError("l1_ratio must be specified when penalty is elasticnet.")
        if penalty != "elasticnet" and ratio is not None and 0 < ratio < 1:
            now.append(f"l1_ratio parameter is only used when penalty is 'elasticnet'. Got (penalty={penalty})")
        if (penalty == "l2" and ratio != 0) or (penalty == "l1" and ratio != 1):
            now.append(
                f"Inconsistent values: penalty={penalty} with l1_ratio={ratio}. penalty is deprecated. Please use "
                "l1_ratio only."
            )
        if penalty is None and model.C != 1.0 and not np.isinf(model.C):
            now.append("Setting penalty=None will ignore the C and l1_ratio parameters")
    if model.n_jobs is not None:
        later.append(
            "'n_jobs' has no effect since 1.8 and will be removed in 1.10. "
            f"You provided 'n_jobs={model.n_jobs}', please leave it unspecified."
        )
    for text in now:
        warnings.warn(text, UserWarning, stacklevel=4)
    for text in later:
        warnings.warn(text, FutureWarning, stacklevel=4)
