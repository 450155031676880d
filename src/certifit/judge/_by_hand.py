r"""Judging answers that no estimator made: coefficients, dual variables and components found by hand.

Coefficients are judged by the textbook objective

.. math:: J(w, b) = \frac1S\sum_i s_i\,L(w\cdot x_i + b,\ y_i) + \lambda R(w), \qquad S = \sum_i s_i,

whatever method found them: the certificate bounds how far J(w, b) is above the smallest possible value. The bound comes
from a dual point near the optimum, which certifit finds for itself.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from certifit._objective import Objective, names_of
from certifit._types import Array, MatrixLike, VectorLike, Weights
from certifit.certificates import Certificate, Data, issue
from certifit.decomposition._proof import measured_slack
from certifit.design import as_design
from certifit.exceptions import PairingError
from certifit.kernels import Kernel, choose
from certifit.linear_model import LinearModel
from certifit.losses import EpsilonInsensitive, FamilyLoss, Loss, Softmax, Squared, get_loss
from certifit.regularizers import Regularizer, SquaredL2, Zero, get_regularizer
from certifit.solvers import Options, Task
from certifit.solvers.balance import balance
from certifit.solvers.dual import best_first, dual_point, evidence_of, local_bound_suits
from certifit.solvers.smooth import solve_smooth
from certifit.svm import LinearSVR
from certifit.svm._evidence import hinge_objective, machine_evidence

_PENALTIES = {"l2": SquaredL2(1.0), "half_l2": SquaredL2(0.5)}


def certify_coefficients(
    w: VectorLike,
    b: Any,
    X: MatrixLike,
    y: VectorLike,
    loss: str | Loss = "logistic",
    regularizer: str | Regularizer = "l2",
    lam: float = 0.01,
    sample_weight: Weights = None,
    *,
    convention: str | None = None,
    strength: float | None = None,
) -> Certificate:
    r"""How far are these coefficients from the best possible ones? No estimator and no reference solution is needed.

    The objective is :math:`J(w, b) = \frac1S\sum_i s_i L(w\cdot x_i + b, y_i) + \lambda R(w)`, with the offset b
    free of any penalty.

    Parameters
    ----------
    w : array-like of shape (d,), or (K, d) for the loss "softmax"
    b : float, array-like of shape (K,), or None
        The offset; None for a model without one (then 0).
    X : {array-like, sparse matrix} of shape (n, d)
    y : array-like of shape (n,)
        Numbers, or for a loss of labels two classes (the second in sorted order counts as +1; K for "softmax").
    loss : str or Loss, default="logistic"
        As in `certifit.losses`: "squared", "absolute", "logistic", "hinge", "squared_hinge", "exponential",
        "perceptron", "poisson", "softmax", …
    regularizer : str or Regularizer, default="l2"
        "l2" is ‖w‖², "half_l2" ½‖w‖², "l1" ‖w‖₁, "none"; or an object of `certifit.regularizers`.
    lam : float ≥ 0, default=0.01
        λ.
    sample_weight : array-like of shape (n,), default=None
    convention : str, default=None
        In place of ``loss``, ``regularizer`` and ``lam``: the objective of scikit-learn's "LinearRegression", "Ridge",
        "Lasso", "LogisticRegression", "SVC" (linear) or "PoissonRegressor".
    strength : float > 0, default=None
        With ``convention`` the ``alpha`` or ``C`` of that estimator; None is 1, its default.

    Returns
    -------
    Certificate
        ``value`` is J(w, b), ``bound`` a lower bound on the smallest possible J, ``gap`` an upper bound on their
        difference.

    Examples
    --------
    >>> X, y = np.array([[-1.0], [0.5], [-0.2], [2.0]]), np.array([-1, -1, 1, 1])
    >>> best = certify_coefficients([0.59213645], -0.1831362, X, y, loss="logistic", regularizer="l2", lam=0.1)
    >>> best.holds, best.gap < 1e-9
    (True, True)
    >>> certify_coefficients([0.0], 0.0, X, y, loss="logistic", regularizer="l2", lam=0.1).gap > 0.05
    True
    >>> certify_coefficients([0.59213645], -0.1831362, X, y, convention="LogisticRegression", strength=1.25).gap < 1e-9
    True
    """
    if convention is not None:
        loss, regularizer, lam = _as_in(convention, strength, Data.of(X, y, sample_weight))
    elif strength is not None:
        raise ValueError("strength is the alpha or C of a convention: name it, or give lam.")
    data, kind, penalty = Data.of(X, y, sample_weight), read_loss(loss), read_penalty(regularizer, lam)
    W = np.atleast_2d(np.asarray(w, dtype=float))
    classes = None if kind.targets not in ("sign", "class") else names_of(np.unique(np.asarray(data.y)))
    outputs = len(classes) if classes is not None and kind.targets == "class" else 1
    offset = np.zeros(outputs) if b is None else np.atleast_1d(np.asarray(b, dtype=float))
    if W.shape != (outputs, data.X.shape[1]) or offset.shape != (outputs,):
        raise ValueError(
            f"w must contain {outputs} × {data.X.shape[1]} numbers and b {outputs}: got w of shape {np.shape(w)} and b "
            f"of shape {np.shape(b)}."
        )
    if classes is not None and kind.targets == "sign" and len(classes) != 2:
        raise ValueError(f"The loss {kind.name!r} is for two classes; y holds {len(classes)}.")
    strength = 0.0 if isinstance(penalty, Zero) else float(lam) * float(np.sum(data.weights))
    objective = Objective(kind, penalty, strength, b is not None, classes)
    evidence = evidence_of(objective, W, offset)
    whole = penalty == SquaredL2(1.0) or isinstance(penalty, Zero)
    if kind == Squared() and whole:
        return issue("least-squares", data, evidence)
    best = _best(objective, data, float(lam))
    near_by = isinstance(penalty, (Zero, SquaredL2)) and local_bound_suits(objective, data.X)
    if kind.self_concordant and near_by:
        return issue("local", data, evidence | {"witness_coef": best[0], "witness_intercept": best[1]})
    # Feasible dual points: of our own fit, and of the answer that is judged.
    duals = [dual_point(objective, data, *best[:2]), dual_point(objective, data, W, offset)]
    duals += [] if best[2] is None else [best[2]]
    found = [issue("duality", data, evidence | {"dual": dual}) for dual in duals]
    return best_first(found)[0]


def _as_in(convention: str, strength: float | None, data: Data) -> tuple[str, str, float]:
    """Loss, penalty and λ whose J has the minimiser of an estimator's objective."""
    S, c = float(np.sum(data.weights)), 1.0 if strength is None else float(strength)
    if not 0.0 < c < np.inf:
        raise ValueError(f"strength must be a finite number > 0, not {strength}.")
    labels = 2 if data.y is None or convention != "LogisticRegression" else len(np.unique(np.asarray(data.y)))
    known = {
        "LinearRegression": ("squared", "none", 0.0),
        "Ridge": ("squared", "l2", c / S),
        "Lasso": ("squared", "l1", 2.0 * c),
        "LogisticRegression": ("softmax" if labels > 2 else "logistic", "l2", 1.0 / (2.0 * c * S)),
        "SVC": ("hinge", "l2", 1.0 / (2.0 * c * S)),
        "PoissonRegressor": ("poisson", "half_l2", c),
    }
    if convention not in known:
        raise ValueError(f"convention must be one of {', '.join(known)}, not {convention!r}.")
    return known[convention]


def read_loss(loss: str | Loss) -> Loss:
    """A loss by name, if distances to its optimum can be proved."""
    found = get_loss(loss)
    if not isinstance(found, Loss) or isinstance(found, FamilyLoss):
        raise ValueError(
            f"The loss {found.name!r} is not convex in the scores: no distance to the optimum can be proved."
        )
    return found


def read_penalty(regularizer: str | Regularizer, lam: float) -> Regularizer:
    """A penalty by name; none for λ = 0."""
    if not 0.0 <= lam < np.inf:
        raise ValueError(f"lam must be a finite number ≥ 0, not {lam}.")
    if isinstance(regularizer, str) and regularizer in _PENALTIES:
        found: Regularizer = _PENALTIES[regularizer]
    else:
        found = get_regularizer(regularizer)
    return found if lam > 0 else Zero()


_PATIENCE = 5.0  # seconds for the fit an answer is compared with; a fit cut short only leaves a larger gap
_Best = tuple[Array, Array, Array | None]


def _best(objective: Objective, data: Data, lam: float) -> _Best:
    """Coefficients and offsets of our own fit, and its dual where the solver has one."""
    y, kind = np.asarray(data.y), objective.loss
    if isinstance(kind, Softmax):
        task = Task(objective, as_design(data.X), objective.codes(y), data.weights)
        W, b = solve_smooth(task, Options(1e-12)).value
        return W, b, None
    penalty = objective.regularizer
    common: dict[str, Any] = {"tol": 1e-10, "time_budget": _PATIENCE}
    model: Any = LinearModel(kind, penalty, lam=lam, fit_intercept=objective.fit_intercept, **common)
    if isinstance(kind, EpsilonInsensitive) and isinstance(penalty, SquaredL2) and objective.strength > 0:
        price = 0.5 / (objective.strength * penalty.factor)
        model = LinearSVR(epsilon=kind.epsilon, C=price, fit_intercept=objective.fit_intercept, **common)
    with warnings.catch_warnings(action="ignore"):  # what falls short shows in the certificate
        try:
            model.fit(data.X, y, sample_weight=data.sample_weight)
        except (
            PairingError
        ):  # no solver for the pair (the perceptron's loss is least at w = 0): the answer itself must do
            return np.zeros((1, data.X.shape[1])), np.zeros(1), np.zeros((len(y), 1))
    proof = model.certificate_.evidence
    return np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_), proof.get("dual")


def certify_dual(
    alpha: VectorLike,
    X: MatrixLike,
    y: VectorLike,
    C: float = 1.0,
    kernel: str | Kernel = "linear",
    b: float | None = None,
    *,
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 0.0,
) -> Certificate:
    r"""How good are these dual variables of a soft-margin support vector machine?

    With :math:`w = \sum_i \alpha_i y_i \varphi(x_i)` the primal objective
    :math:`\tfrac12\lVert w\rVert^2 + C\sum_i\max(0, 1 - y_i z_i)` and the dual one,
    :math:`\sum_i\alpha_i - \tfrac12\lVert w\rVert^2`, enclose the optimum.

    Parameters
    ----------
    alpha : array-like of shape (n,)
        One multiplier for each row, in [0, C], with Σ αᵢyᵢ = 0 (violations of the size of rounding errors are
        repaired).
    X : {array-like, sparse matrix} of shape (n, d)
    y : array-like of shape (n,)
        Two classes; the second in sorted order counts as +1.
    C : float > 0, default=1.0
    kernel : str or Kernel, default="linear"
        "linear", "rbf", "poly", or an object of `certifit.kernels`.
    b : float in (−∞, ∞) or None, default=None
        The offset; None takes the best one for these α.
    gamma : float > 0, "scale" or "auto", default="scale"
    degree : int ≥ 1, default=3
    coef0 : float, default=0.0
        Parameters of the kernels "rbf" and "poly", as in `SVC`.

    Returns
    -------
    Certificate
        ``value`` is the primal objective, ``bound`` the dual one, ``gap`` their difference.

    Examples
    --------
    >>> X, y = np.array([[0.0], [2.0]]), np.array([-1, 1])
    >>> certify_dual([0.5, 0.5], X, y, C=1.0).gap < 1e-12
    True
    >>> round(certify_dual([0.25, 0.25], X, y, C=1.0).gap, 6) > 0
    True
    """
    data = Data.of(X, y)
    classes = np.unique(np.asarray(data.y))
    a = np.asarray(alpha, dtype=float)
    if len(classes) != 2 or a.shape != (len(np.asarray(data.y)),):
        raise ValueError("certify_dual needs two classes and one multiplier for each row.")
    if not (0.0 < C < np.inf and np.all(np.isfinite(a)) and np.all((a >= -1e-9 * C) & (a <= C * (1 + 1e-9)))):
        raise ValueError(
            f"Every multiplier must lie in [0, C], with C a finite number > 0: they run from {a.min():.6g} to "
            f"{a.max():.6g}, and C is {C:g}."
        )
    signs = np.where(np.asarray(data.y) == classes[1], 1.0, -1.0)
    if abs(float(a @ signs)) > 1e-6 * max(float(np.abs(a).sum()), 1e-300):
        raise ValueError(f"The multipliers must balance: Σ αᵢyᵢ = 0, not {float(a @ signs):.6g}.")
    chosen, _ = choose(kernel, gamma, degree, coef0, data.X)
    beta = balance(np.clip(a, 0.0, C) * signs, np.full(len(a), float(C)))
    support = np.flatnonzero(beta)
    scores = chosen(data.X, data.X[support]) @ beta[support]
    offset = _best_offset(scores, signs) if b is None else float(b)
    objective = hinge_objective(classes, np.full(2, float(C)))
    columns = beta[support][:, None]
    return issue(
        "duality", data, machine_evidence(chosen, data.X, objective, support, columns, np.array([offset]), columns)
    )


def _best_offset(scores: Array, signs: Array) -> float:
    """A minimiser of Σ max(0, 1 − y(score + b)): the slope changes sign at one of the points y − score."""
    points = np.sort(signs - scores)
    cost = [float(np.maximum(0.0, 1.0 - signs * (scores + p)).sum()) for p in points]
    return float(points[int(np.argmin(cost))])


def certify_components(U: MatrixLike, X: MatrixLike, variances: VectorLike | None = None) -> Certificate:
    """How much variance do these orthonormal directions retain, and how much more could others retain?

    Parameters
    ----------
    U : array-like of shape (k, d)
        Orthonormal rows.
    X : {array-like, sparse matrix} of shape (n, d)
        The data; they are centred here.
    variances : array-like of shape (k,), default=None
        Their eigenvalues (with divisor n − 1), which ``diagnose(X)`` then checks too; None computes them.

    Returns
    -------
    Certificate
        ``value`` is the variance retained, ``bound`` the most that any k directions can retain.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [2.0, 0.1], [4.0, -0.1], [6.0, 0.0]])
    >>> certify_components([[0.0, 1.0]], X).relative_gap > 0.9
    True
    """
    data, components = Data.of(X), np.atleast_2d(np.asarray(U, dtype=float))
    if components.shape[1] != data.X.shape[1]:
        raise ValueError(f"U has {components.shape[1]} columns, X has {data.X.shape[1]}.")
    mean = np.asarray(data.X.mean(axis=0)).ravel()
    centred = (data.X.toarray() if hasattr(data.X, "toarray") else data.X) - mean
    own = np.square(centred @ components.T).sum(axis=0) / max(len(centred) - 1, 1)
    stated = own if variances is None else np.asarray(variances, dtype=float)
    if stated.shape != own.shape or not np.all(np.isfinite(stated)):
        raise ValueError(f"variances must contain a number for each of the {len(components)} components.")
    order = np.argsort(-stated, kind="stable")
    evidence = {"components": components[order], "variances": stated[order], "mean": mean}
    return issue("principal-components", data, evidence | {"slack": measured_slack(data, evidence)})
