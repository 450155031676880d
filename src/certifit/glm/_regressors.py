"""Generalized linear models under scikit-learn's names: `GLM` with a fixed family and scikit-learn's parameters."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

from certifit._sklearn import Interval, StrOptions, half_deviance, usual
from certifit.glm._glm import GLM, Tweedie

_SHARED: dict[str, Any] = {
    "solver": [StrOptions({"lbfgs", "newton-cholesky"})],
} | usual("alpha≥0 tol>0 fit_intercept max_iter warm_start verbose")


@dataclass(kw_only=True, eq=False, repr=False)
class _PowerRegressor(GLM):
    """What the three share: scikit-learn's parameters, the l2 penalty, and its loss object by its private names."""

    link = "log"
    l1_ratio = 0.0
    trace = False
    time_budget = None

    _parameter_constraints: ClassVar[dict[str, Any]] = _SHARED
    _power: ClassVar[Any]

    alpha: float = 1.0
    fit_intercept: bool = True
    solver: str = "lbfgs"
    max_iter: int = 100
    tol: float = 1e-4
    warm_start: bool = False
    verbose: int = 0

    def _get_loss(self) -> Any:
        return half_deviance(self._power, self._asked_link() == "log")

    @property
    def _base_loss(self) -> Any:
        return self._get_loss()


class PoissonRegressor(_PowerRegressor):
    r"""Poisson regression with the log link: counts y ≥ 0 with mean :math:`\mu = \exp(w\cdot x + b)`.

    .. math:: \min_{w, b}\ \frac1S\sum_i s_i\,(\mu_i - y_i\log\mu_i) + \tfrac\alpha2\lVert w\rVert^2

    Parameters
    ----------
    alpha : float ≥ 0, default=1.0
    fit_intercept : bool, default=True
    solver : {"lbfgs", "newton-cholesky"}, default="lbfgs"
        Both lead to the same optimum, which is proved.
    max_iter : int ≥ 1, default=100
    tol : float > 0, default=1e-4
        As in `GLM`.
    warm_start, verbose :
        Accepted for compatibility with scikit-learn and ignored.

    Attributes
    ----------
    coef_, intercept_, n_iter_, certificate_ :
        As in `GLM`.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 4.0, 9.0])
    >>> model = PoissonRegressor(alpha=0.0).fit(X, y)
    >>> model.coef_.round(4), model.certificate_.relative_gap < 1e-8
    (array([0.7478]), True)
    """

    family, _power = "poisson", 1.0


class GammaRegressor(_PowerRegressor):
    r"""Gamma regression with the log link: amounts y > 0 with mean :math:`\mu = \exp(w\cdot x + b)`.

    .. math:: \min_{w, b}\ \frac1S\sum_i s_i\,(\log\mu_i + y_i/\mu_i) + \tfrac\alpha2\lVert w\rVert^2

    Parameters
    ----------
    alpha : float ≥ 0, default=1.0
    fit_intercept : bool, default=True
    solver, max_iter, tol, warm_start, verbose :
        As in `PoissonRegressor`.

    Attributes
    ----------
    coef_, intercept_, n_iter_, certificate_ :
        As in `GLM`.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 4.0, 9.0])
    >>> GammaRegressor(alpha=0.0).fit(X, y).coef_.round(3)
    array([0.729])
    """

    family, _power = "gamma", 2.0


@dataclass(kw_only=True, eq=False, repr=False)
class TweedieRegressor(_PowerRegressor):
    r"""Regression with variance :math:`\mu^p`: normal (p = 0), Poisson (1), Tweedie (1 < p < 2), gamma (2), inverse
    Gaussian (3).

    .. math:: \min_{w, b}\ \frac1{2S}\sum_i s_i\,d_p(y_i, \mu_i) + \tfrac\alpha2\lVert w\rVert^2

    Parameters
    ----------
    power : float, not in (0, 1), default=0.0
        p: the variance is μᵖ. Between 0 and 1 there is no such family.
    alpha : float ≥ 0, default=1.0
    fit_intercept : bool, default=True
    link : {"auto", "identity", "log"}, default="auto"
        "auto" is the identity for p = 0 and the logarithm for the others.
    solver, max_iter, tol, warm_start, verbose :
        As in `PoissonRegressor`.

    Attributes
    ----------
    coef_, intercept_, n_iter_, link_, certificate_ :
        As in `GLM`.

    Notes
    -----
    The gap is proved for p = 0 with the identity and for 1 ≤ p ≤ 2 with the log link; other objectives need not be
    convex, and the certificate is about the likelihood equations.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.0, 2.0, 0.0, 9.0])
    >>> model = TweedieRegressor(power=1.5, alpha=0.1).fit(X, y)
    >>> model.link_, model.certificate_.relative_gap < 1e-6
    ('log', True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_SHARED,
        "power": [Interval(Real, None, None, closed="neither")],
        "link": [StrOptions({"auto", "identity", "log"})],
    }

    power: float = 0.0
    link: str = "auto"

    @property
    def _power(self) -> float:
        return float(self.power)

    @property
    def family(self) -> Any:
        """The family of this power, as `GLM` takes it."""
        named = {0: "gaussian", 1: "poisson", 2: "gamma", 3: "inverse_gaussian"}
        if self.power in named:
            return named[int(self.power)]
        if 0 < self.power < 1:
            raise ValueError(f"power must not lie between 0 and 1 (there is no such family), got {self.power}.")
        return Tweedie(self.power)

    def _asked_link(self) -> str:
        return ("identity" if self.power == 0 else "log") if self.link == "auto" else str(self.link)
