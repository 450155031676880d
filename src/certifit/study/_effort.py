"""How much work a candidate is on one outer fold, by the size of the table: formulas, so that plans never vary.

seconds = fixed + unit · (rows / 1000)ᵃ · (features / 10)ᵇ, with constants measured once by ``python -m
benchmarks.study_effort``, on one thread of a server of 2026. They need not be exact: they decide which models fit into
a budget, and that the same ones do so every time.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """The constants: fixed seconds, seconds at 1 000 rows and 10 features, powers of rows and of features."""

    fixed: float
    unit: float
    rows: float = 1.0
    features: float = 1.0

    def seconds(self, rows: int, features: int) -> float:
        """Of a search on so many training rows, and answers for the rest."""
        return float(self.fixed + self.unit * (rows / 1e3) ** self.rows * (features / 10) ** self.features)


_OTHER = Cost(0.1, 0.1)  # of a model that is not in these tables
_CLASSES = {
    "baseline": Cost(0.005, 0.0005, 1.0, 0.1),
    "logistic regression": Cost(0.015, 0.018, 1.0, 1.0),
    "linear SVM": Cost(0.01, 0.015, 1.2, 1.3),
    "perceptron": Cost(0.005, 0.001, 1.0, 0.7),
    "averaged perceptron": Cost(0.005, 0.001, 1.0, 0.7),
    "naive Bayes": Cost(0.02, 0.002, 1.0, 0.9),
    "decision tree": Cost(0.03, 0.013, 1.1, 0.9),
    "nearest neighbours": Cost(0.015, 0.025, 1.4, 0.5),
    "additive model": Cost(0.02, 0.1, 1.0, 0.6),
    "additive model with interactions": Cost(0.05, 0.4, 1.0, 0.6),
    "logistic regression on principal components": Cost(0.05, 0.02, 0.8, 0.8),
    "logistic regression with squares and products": Cost(0.03, 0.1, 1.0, 2.0),
    "SVM with Gaussian kernel": Cost(0.08, 0.5, 2.0, 0.1),
    "logistic regression with Gaussian kernel (Nyström)": Cost(0.1, 0.5, 1.0, 0.2),
    "gradient boosting": Cost(0.15, 0.1, 0.7, 0.7),
    "random forest": Cost(0.2, 0.2, 1.1, 0.5),
}
_WIDE_SOFTMAX = frozenset(
    {
        "additive model",
        "additive model with interactions",
        "logistic regression with squares and products",
        "logistic regression with Gaussian kernel (Nyström)",
    }
)
_NUMBERS = {
    "baseline": Cost(0.003, 0.0003, 1.0, 0.1),
    "least squares": Cost(0.01, 0.002, 1.0, 1.2),
    "ridge": Cost(0.01, 0.002, 1.0, 1.2),
    "lasso": Cost(0.02, 0.005, 1.0, 1.0),
    "elastic net": Cost(0.03, 0.01, 1.0, 1.1),
    "Poisson regression": Cost(0.03, 0.02, 1.0, 1.2),
    "gamma regression": Cost(0.025, 0.008, 1.0, 1.6),
    "ridge on a log scale": Cost(0.01, 0.002, 1.0, 1.2),
    "decision tree": Cost(0.05, 0.02, 1.1, 1.0),
    "nearest neighbours": Cost(0.02, 0.025, 1.4, 0.5),
    "additive model": Cost(0.05, 0.015, 1.0, 1.0),
    "additive model on a log scale": Cost(0.05, 0.015, 1.0, 1.0),
    "additive model with interactions": Cost(0.3, 0.4, 0.9, 0.3),
    "additive model with interactions on a log scale": Cost(0.3, 0.4, 0.9, 0.3),
    "least squares on principal components": Cost(0.05, 0.005, 0.8, 1.0),
    "ridge with squares and products": Cost(0.012, 0.003, 1.0, 2.0),
    "kernel ridge": Cost(0.05, 1.25, 2.2, 0.1),
    "kernel ridge (Nyström)": Cost(0.1, 0.1, 1.0, 0.2),
    "gradient boosting": Cost(0.1, 0.05, 0.7, 0.7),
    "random forest": Cost(0.2, 0.2, 1.1, 1.0),
}


def estimated(name: str, rows: int, features: int, classes: int = 0) -> float:
    """Seconds of work of a model of this name on one outer fold.

    More classes than two cost in proportion; where softmax has hundreds of columns, with the square of their number,
    as its Hessian does.

    Examples
    --------
    >>> estimated("SVM with Gaussian kernel", 2_000, 10, 2) > 3 * estimated("SVM with Gaussian kernel", 1_000, 10, 2)
    True
    """
    costs = _CLASSES if classes else _NUMBERS
    more = max(1.0, classes / 2.0)
    return costs.get(name, _OTHER).seconds(rows, features) * (more**2 if name in _WIDE_SOFTMAX else more)


KNOWN = {"classification": frozenset(_CLASSES), "numbers": frozenset(_NUMBERS)}
"""Names of the models whose constants were measured."""
