"""Summary tables of fitted models, with the figures that users of R and statsmodels expect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy  # stats loads on first use

from certifit import _notebook
from certifit._types import Array

__all__ = ["Summary"]


@dataclass(frozen=True)
class Summary:
    """Coefficients with standard errors, tests and intervals (the offset first when there is one).

    Attributes
    ----------
    names, params, standard_errors, statistics, p_values : sequences of length p
    statistic : "t" or "z"
    df_resid, df_model : float
        Degrees of freedom.
    title : str
    figures : dict
        ``r_squared``, ``aic``, ``log_likelihood``, ``deviance``, ... ; each is also an attribute.

    Examples
    --------
    >>> from certifit.linear_model import LinearRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 3.0, 4.5, 7.0])
    >>> table = LinearRegression().fit(X, y).summary()
    >>> table.names, table.params.round(3).tolist(), round(table.r_squared, 3)
    (('intercept', 'x0'), [0.95, 1.95], 0.991)
    """

    names: tuple[str, ...]
    params: Array
    standard_errors: Array
    statistic: str
    df_resid: float
    df_model: float
    title: str
    figures: dict[str, float]

    def __getattr__(self, name: str) -> Any:
        figures = self.__dict__.get("figures", {})
        if name in figures:
            return figures[name]
        raise AttributeError(f"this summary has no {name!r}; it has {', '.join(figures)}")

    @property
    def statistics(self) -> Array:
        """Estimates divided by their standard errors."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.params / self.standard_errors

    def _law(self) -> Any:
        return scipy.stats.t(self.df_resid) if self.statistic == "t" else scipy.stats.norm()

    @property
    def p_values(self) -> Array:
        """Two-sided p-values of "this coefficient is zero"."""
        return np.asarray(2.0 * self._law().sf(np.abs(self.statistics)))

    def interval(self, level: float = 0.95) -> Array:
        """Confidence intervals, one row (low, high) per coefficient.

        Parameters
        ----------
        level : float in (0, 1), default=0.95
        """
        if not 0.0 < level < 1.0:
            raise ValueError(f"level must lie between 0 and 1, got {level}.")
        half = self._law().ppf(0.5 + level / 2.0) * self.standard_errors
        return np.column_stack([self.params - half, self.params + half])

    def __str__(self) -> str:
        width = max(10, *(len(n) for n in self.names))
        head = f"{'':<{width}} {'estimate':>13} {'std. error':>13} {self.statistic:>9} {'p':>9} {'95 % interval':>27}"
        lines = [self.title, head]
        for n, b, se, t, p, (low, high) in self._rows():
            lines.append(f"{n:<{width}} {b:>13.6g} {se:>13.6g} {t:>9.3f} {p:>9.2g} {low:>13.6g} {high:>13.6g}")
        return "\n".join([*lines, self._foot()])

    def _rows(self) -> Any:
        return zip(self.names, self.params, self.standard_errors, self.statistics, self.p_values, self.interval())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        head = ["", "estimate", "std. error", self.statistic, "p", "95 % interval"]
        rows = [
            (n, f"{b:.6g}", f"{se:.6g}", f"{t:.3f}", f"{p:.2g}", f"{low:.6g} to {high:.6g}")
            for n, b, se, t, p, (low, high) in self._rows()
        ]
        return _notebook.card(f"{self.title}\n{self._foot(' · ')}", [_notebook.table(head, rows)])

    def _foot(self, between: str = "   ") -> str:
        shown = {k: v for k, v in self.figures.items() if v is not None}
        return between.join(f"{_WORDS.get(k, k.replace('_', ' '))} {v:.6g}" for k, v in shown.items())


_WORDS = {
    "r_squared": "R²", "adj_r_squared": "adjusted R²", "pseudo_r_squared": "pseudo R²",
    "f_statistic": "F statistic", "f_p_value": "p-value of F", "aic": "AIC", "bic": "BIC",
    "pearson_chi2": "Pearson chi²",
}  # fmt: skip


class Scatter(NamedTuple):
    """What a least-squares fit leaves: rows with a weight, residual and total sum of squares, Σ log sᵢ of the weights.

    The total is taken about the mean only if there is an offset.
    """

    rows: int
    rss: float
    tss: float
    log_weights: float


def least_squares_summary(
    names: tuple[str, ...], coef: Array, intercept: float | None, factor: Any, scatter: Scatter
) -> Summary:
    """Summary of an ordinary (or weighted) least-squares fit.

    Parameters
    ----------
    names : coefficient names without the offset
    coef, intercept : the fit; intercept None when there is no offset
    factor : the factorisation: ``T`` of shape (d, d) with (Xc' S Xc)⁻¹ = T T', ``mean`` and ``total`` the weighted
        column means and the sum of the weights
    scatter : Scatter
    """
    rows, rss, tss, log_weights = scatter
    d = len(coef)
    offset = intercept is not None
    p = d + offset
    df = rows - p
    if df <= 0:
        raise ValueError(
            f"Standard errors need more rows than coefficients; there are {rows} rows and {p} coefficients."
        )
    variance = rss / df
    spread = np.linalg.norm(factor.T, axis=1)
    se, params = np.sqrt(variance) * spread, coef
    if offset:
        own = np.hypot(1.0 / np.sqrt(factor.total), np.linalg.norm(factor.mean @ factor.T))
        se, params = np.append(np.sqrt(variance) * own, se), np.concatenate([[intercept], coef])
        names = ("intercept", *names)
    explained = max(tss - rss, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        r2 = float(1.0 - np.float64(rss) / tss) if tss > 0 else float("nan")
        f = float(np.float64(explained / d) / variance) if d else float("nan")
        ll = float(-0.5 * rows * (np.log(2.0 * np.pi * np.float64(rss) / rows) + 1.0) + 0.5 * log_weights)
    figures = {
        "r_squared": r2,
        "adj_r_squared": 1.0 - (1.0 - r2) * (rows - offset) / df,
        "f_statistic": f,
        "f_p_value": float(scipy.stats.f.sf(f, d, df)) if d else float("nan"),
        "residual_standard_error": float(np.sqrt(variance)),
        "log_likelihood": ll,
        "aic": -2.0 * ll + 2.0 * (p + 1),
        "bic": -2.0 * ll + np.log(rows) * (p + 1),
        "deviance": rss,
        "null_deviance": tss,
        "dispersion": variance,
    }
    through = "" if offset else ", through the origin"
    title = f"Least squares: {rows} rows, {d} columns{through}, {df} degrees of freedom"
    return Summary(names, params, se, "t", df, d, title, figures)


def likelihood_summary(names: tuple[str, ...], params: Array, errors: Array, certificate: Any, offset: bool) -> Summary:
    """Summary of a maximum-likelihood logistic fit; the log-likelihood comes from its certificate."""
    rows = certificate.rows
    ll = -certificate.value * rows
    null = -certificate.gap * rows / certificate.relative_gap if certificate.relative_gap > 0 else float("nan")
    p = len(params)
    figures = {
        "log_likelihood": ll,
        "null_log_likelihood": null,
        "deviance": -2.0 * ll,
        "null_deviance": -2.0 * null,
        "pseudo_r_squared": 1.0 - ll / null,
        "aic": -2.0 * ll + 2.0 * p,
        "bic": -2.0 * ll + np.log(rows) * p,
        "dispersion": 1.0,
    }
    title = f"Logistic regression by maximum likelihood: {rows} rows, {p - offset} columns"
    return Summary(names, params, errors, "z", rows - p, p - offset, title, figures)
