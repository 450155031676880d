"""The GLM estimator."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, RegressorMixin

from certifit._certified import Certified, read_rows
from certifit._objective import Objective
from certifit._sklearn import ConvergenceWarning, StrOptions, check_sample_weight, usual
from certifit._types import Array, Grid, Matrix, MatrixLike, Record, VectorLike, Weights
from certifit._validation import check_is_fitted, validate_data
from certifit.certificates import Certificate, Data, issue
from certifit.design import Coordinates, as_design
from certifit.exceptions import NoOptimumError
from certifit.glm._folds import glm_answers, null_level
from certifit.inference import Summary
from certifit.losses import (
    BUILT_IN,
    LINKS,
    Binomial,
    ExponentialFamily,
    FamilyLoss,
    GammaLog,
    Loss,
    Poisson,
    Squared,
    TweedieLog,
)
from certifit.parallel import one_thread
from certifit.regularizers import SquaredL2, Zero, mix_of_norms
from certifit.resampling import CannotShare, FoldAnswers, FoldTable
from certifit.solvers import Options, Solution, Task
from certifit.solvers.dual import dual_point, duality_proof, evidence_of, local_bound_suits
from certifit.solvers.existence import rising_direction
from certifit.solvers.smooth import solve_smooth


@dataclass(frozen=True)
class NegativeBinomial:
    """Counts with V(μ) = μ + dispersion·μ² (known dispersion).

    Parameters
    ----------
    dispersion : float > 0
        α of the variance μ + αμ².

    Examples
    --------
    >>> NegativeBinomial(0.5).dispersion
    0.5
    """

    dispersion: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.dispersion < np.inf:
            raise ValueError(f"The dispersion of a negative binomial must be positive, got {self.dispersion}.")


@dataclass(frozen=True)
class Tweedie:
    """V(μ) = μ^power, log link: between 1 and 2 for zeros and positive amounts together, above 2 for positive amounts
    with heavy tails, below 0 for real numbers whose mean is positive.

    Parameters
    ----------
    power : float < 0 or > 1, not 2
        p of the variance μᵖ. (0, 1 and 2 are the Gaussian, Poisson and gamma families; between 0 and 1 there is none.)

    Examples
    --------
    >>> Tweedie(1.5).power
    1.5
    """

    power: float = 1.5

    def __post_init__(self) -> None:
        if not np.isfinite(self.power) or 0 <= self.power <= 1 or self.power == 2:
            raise ValueError(
                f"The power of a Tweedie family must be below 0 or above 1, and not 2, got {self.power}: 0, 1 and 2 "
                "are the gaussian, poisson and gamma families, and between 0 and 1 there is none."
            )


def _shortest(X: Array, W: Array) -> Array:
    """The shortest of all coefficients with the same scores: more columns than rows leave many."""
    rows = np.asarray(X, dtype=float)
    return np.asarray(np.linalg.lstsq(rows, rows @ W.T, rcond=None)[0]).T


class GLM(Certified, RegressorMixin, BaseEstimator):
    r"""Generalized linear model: a family from the exponential family, a link, and a penalty.

    Minimises, with unit deviance d and :math:`g(\mu_i) = w\cdot x_i + b + o_i`,

    .. math:: \frac{1}{2S}\sum_i s_i\,d(y_i, \mu_i) + \alpha\,(\rho\lVert w\rVert_1 + \tfrac{1-\rho}2\lVert w\rVert^2) .

    Parameters
    ----------
    family : str, NegativeBinomial, Tweedie or ExponentialFamily, default="poisson"
        "gaussian", "binomial", "poisson", "gamma", "inverse_gaussian", or a family as an object.
        For "binomial" y is a share between 0 and 1 and ``sample_weight`` the number of trials.
    link : {None, "log", "logit", "identity", "inverse", "inverse_squared", "probit", "cloglog"}, default=None
        None is the canonical link (log for the negative binomial and Tweedie families).
    alpha : float ≥ 0, default=0.0
    l1_ratio : float in [0, 1], default=0.0
        ρ.
    fit_intercept : bool, default=True
    tol : float > 0, default=1e-5
        The fit stops when the remaining gap is about tol² of the null model's loss.
    max_iter : int ≥ 1, default=100
    trace : bool, default=False
    time_budget : float, default=None

    Attributes
    ----------
    coef_ : (d,) array
    intercept_ : float
    n_iter_ : int
    status_ : str
        Why the solver stopped: "converged", "closed form", "precision", "max_iter" or "time_budget".
    link_ : str
    certificate_ : Certificate
        A proved gap for gaussian-identity, binomial-logit, poisson-log, gamma-log and Tweedie-log (powers between 1
        and 2); for the others the
        residual of the likelihood equations.

    Raises
    ------
    NoOptimumError
        Poisson and binomial without a penalty, where the likelihood has no maximum; the message shows the direction.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 4.0, 9.0])
    >>> model = GLM("poisson").fit(X, y)
    >>> model.coef_.round(4), model.certificate_.relative_gap < 1e-9
    (array([0.7478]), True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "family": [StrOptions(set(BUILT_IN)), NegativeBinomial, Tweedie, ExponentialFamily],
        "link": [StrOptions(set(LINKS)), None],
    } | usual("alpha≥0 tol>0 l1_ratio fit_intercept max_iter trace time_budget")

    def __init__(
        self,
        family: Any = "poisson",
        link: str | None = None,
        *,
        alpha: float = 0.0,
        l1_ratio: float = 0.0,
        fit_intercept: bool = True,
        tol: float = 1e-5,
        max_iter: int = 100,
        trace: bool = False,
        time_budget: float | None = None,
    ) -> None:
        self.family = family
        self.link = link
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.trace = trace
        self.time_budget = time_budget

    def fit(
        self,
        X: Matrix,
        y: Any,
        sample_weight: Weights = None,
        offset: npt.ArrayLike | None = None,
        exposure: npt.ArrayLike | None = None,
    ) -> GLM:
        """Fit; ``offset`` is added to every score, ``exposure`` adds its logarithm (log link only)."""
        self._validate_params()
        X, y = read_rows(self, X, y, y_numeric=True, multi_output=False)
        y = np.asarray(y, dtype=float)
        weights = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        self.link_ = link_name(self.family, self._asked_link())
        shift = _read_offset(offset, exposure, self.link_, len(y))
        reader = FamilyLoss(**family_params(self.family), link=self.link_)
        check_values(self.family, y)
        loss = is_convex(self.family, self.link_) or reader
        strength = self.alpha * float(weights.sum())
        regularizer = Zero() if strength == 0 else mix_of_norms(self.l1_ratio)
        objective = Objective(loss, regularizer, strength, self.fit_intercept, offset=shift is not None)
        with one_thread():  # see `solve_smooth`
            solution = self._solve(Task(objective, as_design(X), y, weights, shift), reader)
        W, b = solution.value
        if strength == 0 and X.shape[0] < X.shape[1] and not issparse(X):
            W = _shortest(X[weights > 0.0], W)
        self.coef_, self.intercept_ = W[0].astype(X.dtype), X.dtype.type(b[0]) if self.fit_intercept else 0.0
        self.n_iter_, self.status_ = int(solution.stats["n_iter"]), solution.status
        self.trace_ = solution.trace
        self._loss, self._reader = loss, reader
        self._statistics = {} if self.alpha > 0 else self._describe(X, y, weights, shift)
        fitted, witness = (self.coef_, np.array(self.intercept_)), solution.stats.get("witness")
        self._promise_certificates(
            partial(_certificates, X, y, sample_weight, shift, objective, fitted, witness), X, y, sample_weight, shift
        )
        return self

    def _asked_link(self) -> str | None:
        return self.link

    def _solve(self, task: Task, reader: FamilyLoss) -> Solution:
        loss, strength = task.objective.loss, task.objective.strength
        if strength * self.l1_ratio > 0 and isinstance(loss, (FamilyLoss, TweedieLog)):
            raise ValueError(f"An l1 penalty needs a convex family and link, not {self.family!r} with {self.link_!r}.")
        # Without a gap the equations are what is certified, and their residual is the root of what is left.
        share = self.tol**2 * (1e-8 if isinstance(loss, FamilyLoss) else 1.0)
        options = Options(
            max(share, 1e-16 if isinstance(loss, FamilyLoss) else 1e-14), self.max_iter, self.time_budget, self.trace
        )
        unbounded = strength == 0.0 and isinstance(loss, (Poisson, Binomial))
        start, null = self._start(task, reader)
        far = not local_bound_suits(task.objective, task.design)
        solution = solve_smooth(task, options, start, null=null, ask_existence=unbounded, witness=far)
        if unbounded and not solution.stats["exists"]:
            self._refuse_runaway(task.design.X, task.y, task.s, isinstance(loss, Binomial))
        if not solution.converged and solution.stats["gap"] > solution.stats["target"]:
            left = solution.stats["relative_gap"]
            warnings.warn(
                f"Stopped by {solution.status}: the objective can still decrease by about {left:.1e} of the null "
                "model's loss.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return solution

    def _start(self, task: Task, reader: FamilyLoss) -> tuple[tuple[Array, Array], float]:
        """The null model (every mean the overall mean; without an offset, the least-squares fit of the scores), and
        what it pays."""
        W, b = np.zeros((1, task.design.shape[1])), np.zeros(1)
        level = null_level(reader, task.y, task.s)
        if self.fit_intercept:
            b[0] = level if task.offset is None else level - float(np.mean(task.offset))
        elif not np.isfinite(task.value(W[0], 0.0)):
            columns = Coordinates.of(task.design, task.s, False)
            rows = columns.rows(slice(None))
            W, b = columns.raw(np.linalg.lstsq(rows, np.full((len(rows), 1), level), rcond=None)[0])
        null = task.value(W[0], float(b[0]))
        if not np.isfinite(null):
            raise ValueError(
                f"No start with possible means was found for link {self.link_!r}; use link='log' or fit_intercept=True."
            )
        return (W, b), max(null, 1e-12)

    def _refuse_runaway(self, X: Matrix, y: Array, weights: Array, share: bool) -> None:
        dense = X.toarray() if hasattr(X, "toarray") else X
        direction = rising_direction(dense, y, weights, self.fit_intercept, share)
        if direction is None:
            return
        shown = np.array2string(direction[: X.shape[1]], precision=3, threshold=6)
        raise NoOptimumError(
            f"No finite optimum: along w = {shown} every score with y = 0{' or 1' if share else ''} moves in the right "
            "direction and the others stay, so the likelihood keeps increasing. Use a penalty (alpha > 0) or "
            "drop a column."
        )

    def _describe(self, X: Matrix, y: Array, weights: Array, shift: Array | None) -> Record:
        """The few numbers that `summary` needs, which is for fits without a penalty."""
        z = as_design(X).product(np.asarray(self.coef_, dtype=float)) + float(self.intercept_)
        z = z if shift is None else z + shift
        family, link = self._reader.parts
        mu, used = link.inverse(z), weights > 0
        with np.errstate(all="ignore"):
            pearson = float(np.sum(weights[used] * np.square(y - mu)[used] / family.variance_of(mu)[used]))
        spread = self._spread(X, weights * self._reader.curvature(z, y))
        return {
            "spread": spread,
            "rows": int(used.sum()),
            "deviance": 2.0 * float(weights @ np.nan_to_num(family.half_deviance(y, mu))),
            "null_deviance": self._null_deviance(y, weights, shift),
            "pearson": pearson,
            "y": y[used],
            "mu": mu[used],
            "weights": weights[used],
        }

    def _spread(self, X: Matrix, h: Array) -> Array | None:
        """Roots of the diagonal of the inverse information matrix, the offset last; None when it is singular."""
        columns = Coordinates.of(
            as_design(X), np.maximum(h, 0.0) if h.sum() > 0 else np.ones(len(h)), self.fit_intercept
        )
        T = columns.inverse_root(h)
        if T is None:
            return None
        d = X.shape[1]
        W = T[:d] / columns.unit[:, None]
        if not self.fit_intercept:
            return np.asarray(np.linalg.norm(W, axis=1))
        return np.append(np.linalg.norm(W, axis=1), np.linalg.norm(T[d] - columns.centre @ W))

    def _null_deviance(self, y: Array, weights: Array, shift: Array | None) -> float:
        family, link = self._reader.parts
        if self.fit_intercept and shift is None:
            mu = np.full(len(y), weights @ y / weights.sum())
        else:
            z = np.zeros(len(y)) if shift is None else shift
            if self.fit_intercept:
                objective = Objective(self._loss, SquaredL2(0.5), 1.0, offset=shift is not None)
                null = Task(objective, as_design(np.zeros((len(y), 1))), y, weights, shift)
                start, pays = self._start(null, self._reader)
                z = z + solve_smooth(null, Options(1e-14), start, null=pays).value[1][0]
            mu = link.inverse(z)
        with np.errstate(all="ignore"):
            return 2.0 * float(weights @ np.nan_to_num(family.half_deviance(y, mu)))

    def scores(self, X: Matrix, offset: npt.ArrayLike | None = None) -> Array:
        """The linear predictor w·x + b + offset.

        Parameters
        ----------
        X : array-like of shape (n, d)
        offset : array-like of shape (n,), default=None
            As in ``fit``.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        z = np.asarray(X @ self.coef_) + self.intercept_
        return z if offset is None else z + np.asarray(offset, dtype=float)

    def predict(self, X: Matrix, offset: npt.ArrayLike | None = None) -> Array:
        """Predicted means.

        Parameters
        ----------
        X : array-like of shape (n, d)
        offset : array-like of shape (n,), default=None
            As in ``fit``.
        """
        z = self.scores(X, offset)
        return np.asarray(self._reader.parts[1].inverse(z))

    def score(self, X: MatrixLike, y: VectorLike, sample_weight: Weights = None) -> float:
        """D²: the fraction of the deviance that is explained (R² for the gaussian family)."""
        return self._score_predictions(y, self.predict(X), sample_weight)

    def _score_predictions(self, y: VectorLike, mu: Array, sample_weight: Weights = None) -> float:
        y = np.asarray(y, dtype=float)
        w = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        family = FamilyLoss(**family_params(self.family), link=link_name(self.family, self._asked_link())).parts[0]
        with np.errstate(all="ignore"):
            own = float(w @ np.nan_to_num(family.half_deviance(y, mu)))
            null = float(w @ np.nan_to_num(family.half_deviance(y, np.full(len(y), w @ y / w.sum()))))
        return 1.0 - own / null if null > 0 else float("nan")

    def _fold_path(self, table: FoldTable, grid: Grid, response: tuple[str, ...]) -> FoldAnswers:
        """Shared work for `certifit.model_selection`: all folds and all α together, for convex families."""
        link = link_name(self.family, self._asked_link())
        loss = is_convex(self.family, link)
        if loss is None:
            raise CannotShare(f"the {link} link makes the {self.family} likelihood not convex")
        try:
            check_values(self.family, np.asarray(table.y, dtype=float))
        except (TypeError, ValueError) as error:
            raise CannotShare("fit rejects the targets") from error
        return glm_answers(self, loss, FamilyLoss(**family_params(self.family), link=link), table, grid, response)

    def deviance_residuals(self, X: Matrix, y: VectorLike, offset: npt.ArrayLike | None = None) -> Array:
        """Signed roots of the unit deviances; rows that the model does not explain have large ones.

        Parameters
        ----------
        X, y : array-like of shapes (n, d) and (n,)
        offset : array-like of shape (n,), default=None
            As in ``fit``.
        """
        mu, y = self.predict(X, offset), np.asarray(y, dtype=float)
        with np.errstate(all="ignore"):
            half = np.nan_to_num(self._reader.parts[0].half_deviance(y, mu))
        return np.asarray(np.sign(y - mu) * np.sqrt(2.0 * np.maximum(half, 0.0)))

    def summary(self) -> Summary:
        """Coefficients with standard errors, tests and intervals; deviance, dispersion and AIC as R reports them."""
        check_is_fitted(self)
        if self.alpha > 0:
            raise ValueError("summary() is for maximum likelihood: fit with alpha=0.")
        s = self._statistics
        params = np.asarray(self.coef_, dtype=float)
        names = getattr(self, "feature_names_in_", None)
        names = tuple(f"x{j}" for j in range(len(params))) if names is None else tuple(map(str, names))
        p = len(params) + self.fit_intercept
        df = s["rows"] - p
        if df <= 0 or s["spread"] is None:
            raise ValueError("Standard errors need more rows than coefficients and independent columns.")
        family = self._reader.parts[0]
        free = getattr(family, "free_dispersion", False)
        dispersion = s["pearson"] / df if free else 1.0
        spread = s["spread"] * np.sqrt(dispersion)
        if self.fit_intercept:
            spread = np.append(spread[-1], spread[:-1])
            params, names = np.append(float(self.intercept_), params), ("intercept", *names)
        ll = self._log_likelihood(family, s)
        count = p + (1 if free else 0)
        figures = {
            "deviance": s["deviance"],
            "null_deviance": s["null_deviance"],
            "dispersion": dispersion,
            "log_likelihood": ll,
            "aic": -2.0 * ll + 2.0 * count,
            "pearson_chi2": s["pearson"],
        }
        name = self._reader.family.replace("_", " ")
        title = f"GLM, {name} family, {self.link_} link: {s['rows']} rows, {df} degrees of freedom"
        return Summary(names, params, spread, "t" if free else "z", df, p - self.fit_intercept, title, figures)

    @staticmethod
    def _log_likelihood(family: Any, s: Record) -> float:
        if isinstance(family, ExponentialFamily):
            if family.log_b is None:
                return float("nan")
            eta = family.canonical(s["mu"])
            return float(s["weights"] @ (family.log_b(s["y"]) + eta * s["y"] - family.a(eta)))
        # R takes the dispersion in the likelihood of gamma and inverse gaussian models as deviance over weights.
        dispersion = s["deviance"] / float(s["weights"].sum())
        return float(family.log_likelihood(s["y"], s["mu"], s["weights"], max(dispersion, 1e-300)))

    _tags: ClassVar[Record] = {
        "input_tags.sparse": True,
        "target_tags.positive_only": lambda model: _values(model.family)[0] >= 0.0,
    }


def _values(family: Any) -> tuple[float, float, bool]:
    if isinstance(family, ExponentialFamily):
        return (*family.values, True)
    if isinstance(family, Tweedie):
        return FamilyLoss("tweedie", "log", power=family.power).parts[0].values
    return BUILT_IN[family].values if isinstance(family, str) else (0.0, np.inf, True)


def check_values(family: Any, y: Array) -> None:
    low, high, closed = _values(family)
    name = family if isinstance(family, str) else getattr(family, "name", type(family).__name__)
    if np.any(y > high) or np.any(y < low if closed else y <= low):
        bounds = f"{'≥' if closed else '>'} {low:g}" + (f" and ≤ {high:g}" if np.isfinite(high) else "")
        raise ValueError(
            f"Some value(s) of y are out of the valid range of the loss: y must be {bounds} for the {name} family."
        )


def link_name(family: Any, link: str | None) -> str:
    if link is not None:
        return link
    if isinstance(family, ExponentialFamily):
        return "canonical"
    return BUILT_IN[family].link if isinstance(family, str) else "log"


def family_params(family: Any) -> Record:
    if isinstance(family, NegativeBinomial):
        return {"family": "negative_binomial", "dispersion": family.dispersion}
    if isinstance(family, Tweedie):
        return {"family": "tweedie", "power": family.power}
    return {"family": family if isinstance(family, str) else family.name}


def is_convex(family: Any, link: str) -> Loss | None:
    """The loss whose gap can be proved, where there is one."""
    if isinstance(family, Tweedie):
        return TweedieLog(family.power) if link == "log" and 1 < family.power < 2 else None
    table: dict[Any, Loss] = {
        ("gaussian", "identity"): Squared(0.5),
        ("binomial", "logit"): Binomial(),
        ("poisson", "log"): Poisson(),
        ("gamma", "log"): GammaLog(),
    }
    return table.get((family, link)) if isinstance(family, str) else None


def _read_offset(offset: Any, exposure: Any, link: str, rows: int) -> Array | None:
    total = None
    if offset is not None:
        total = np.asarray(offset, dtype=float)
    if exposure is not None:
        if link != "log":
            raise ValueError(f"exposure needs the log link, not {link!r}; give offset= instead.")
        given = np.asarray(exposure, dtype=float)
        if np.any(~(given > 0)):
            raise ValueError("exposure must be positive.")
        total = np.log(given) if total is None else total + np.log(given)
    if total is not None and (total.shape != (rows,) or not np.all(np.isfinite(total))):
        raise ValueError(f"offset must contain {rows} finite numbers, one per row; got shape {total.shape}.")
    return total


def _certificates(
    X: Matrix,
    y: Array,
    sample_weight: Weights,
    shift: Array | None,
    objective: Objective,
    fitted: tuple[Array, Array],
    witness: tuple[Array, Array] | None,
) -> tuple[Certificate, ...]:
    data, evidence = Data.of(X, y, sample_weight, shift), evidence_of(objective, *fitted)
    if not objective.loss.self_concordant:
        return (issue("stationary", data, evidence),)
    if isinstance(objective.regularizer, (SquaredL2, Zero)) and local_bound_suits(objective, X):
        return (issue("local", data, evidence),)
    if witness is not None:
        return (issue("duality", data, evidence | {"dual": dual_point(objective, data, *witness)}),)
    return (duality_proof(objective, data, evidence),)
