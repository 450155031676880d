"""The largest-margin machine: hard margin, any kernel, refusing with the proof what cannot be separated."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from certifit._certified import Certified
from certifit._sklearn import ConvergenceWarning, usual
from certifit._types import Array, Matrix, MatrixLike, Record, VectorLike
from certifit._validation import check_is_fitted, validate_data
from certifit.certificates import Data, issue
from certifit.certificates.kernel_margin import certain_sides
from certifit.design import blocks
from certifit.exceptions import NotSeparableError, ThinMarginError
from certifit.geometry import separability
from certifit.kernels import Kernel, Linear, Precomputed, choose
from certifit.solvers._status import limit_of
from certifit.solvers._task import options_of
from certifit.solvers.hulls import Hulls, nearest_hulls
from certifit.svm._evidence import read_diagonal
from certifit.svm._labels import Labelled, labelled
from certifit.svm._linear import normals
from certifit.svm._machine import KERNEL_CONSTRAINTS


@dataclass(kw_only=True, eq=False, repr=False)
class HardMarginSVC(Certified, ClassifierMixin, BaseEstimator):
    r"""The hyperplane of largest margin between two classes, linear or in a kernel's feature space.

    .. math:: \min_{w, b}\ \tfrac12\lVert w\rVert^2 \quad\text{subject to}\quad y_i(w^\top\varphi(x_i) + b) \ge 1

    Its dual maximises :math:`\sum\alpha_i - \tfrac12\lVert\sum\alpha_i y_i\varphi(x_i)\rVert^2` over α ≥ 0 with
    Σαᵢyᵢ = 0. Data that no hyperplane separates are rejected, with the proof.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, Kernel or callable, default="linear"
    degree : int ≥ 1, default=3
    gamma : {"scale", "auto"} or float ≥ 0, default="scale"
    coef0 : float, default=0.0
    tol : float > 0, default=1e-6
        The margin found is within this fraction of the largest.
    max_iter : int ≥ 1, default=1_000_000
        Steps of the nearest-points solver.
    trace : bool, default=False
        Whether to record the margin reached (the objective) and its gap in ``trace_``, block by block.
    time_budget : float > 0, default=None
        Seconds after which the best so far is kept, with its (larger) proved gap.

    Attributes
    ----------
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, n_features_in_ :
        As in `SVC` (``coef_`` with the linear kernel only); every αᵢ is ``dual_coef_`` times yᵢ.
    margin_ : float
        Distance of the nearest row from the hyperplane, in feature space: 1/‖w‖.
    primal_value_, dual_value_ : float
        ½‖w‖² and Σα − ½‖w‖²: equal at the optimum (strong duality).
    status_ : str
        Why it stopped: "converged", "precision", "max_iter" or "time_budget".
    trace_ : Trace
        With ``trace=True``; ``step`` counts the steps of the solver.
    certificate_ : Certificate
        Kind "hard-margin": the margin reached, the margin that cannot be beaten, both supporting hyperplanes.

    Notes
    -----
    Sample weights are not supported, because rows are constraints. Two classes only.

    Examples
    --------
    >>> model = HardMarginSVC().fit(np.array([[0.0], [1.0], [3.0]]), [0, 0, 1])
    >>> float(model.margin_.round(6)), model.coef_.round(6).tolist(), float(model.intercept_[0].round(6))
    (1.0, [[1.0]], -2.0)
    >>> model.supporting_hyperplanes()
    {'H+': 'w·x + b = +1', 'H-': 'w·x + b = -1', 'on H+': [2], 'on H-': [1]}
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = KERNEL_CONSTRAINTS | usual("tol>0 max_iter trace time_budget")

    kernel: Any = "linear"
    degree: int = 3
    gamma: Any = "scale"
    coef0: float = 0.0
    tol: float = 1e-6
    max_iter: int = 1_000_000
    trace: bool = False
    time_budget: float | None = None

    def fit(self, X: MatrixLike, y: VectorLike) -> HardMarginSVC:
        """Fit to rows X and labels y of two classes.

        Parameters
        ----------
        X : array of shape (n, d); (n, n) with a precomputed kernel
        y : array of n labels

        Returns
        -------
        self

        Raises
        ------
        NotSeparableError
            With the proof as ``certificate``.
        ThinMarginError
            Separable (proved, with a linear kernel), but by less than floating point resolves.
        """
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        lab = labelled(X, y, None, None, 1.0, "HardMarginSVC")
        if len(lab.classes) > 2:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is multiclass: y holds "
                f"{len(lab.classes)} classes. Fit one machine for each pair of classes."
            )
        kernel, gamma = choose(self.kernel, self.gamma, self.degree, self.coef0, X)
        signs = np.where(lab.codes == 1, 1.0, -1.0)
        self._refuse_twins(X, y, lab, kernel)
        centre = X.mean(axis=0) if isinstance(kernel, Linear) else None
        # A common shift of all rows moves the offset alone.
        gram = blocks(kernel, X if centre is None else X - centre)
        solution = nearest_hulls(gram, signs, options_of(self))
        found: Hulls = solution.value
        used = np.flatnonzero(found.beta)
        used = used[np.argsort(lab.codes[used], kind="stable")]
        if centre is not None:
            shift = float(normals(X[used], found.beta[used, None])[:, 0] @ centre)
            found = replace(found, offset=found.offset - shift)
        evidence = kernel.evidence(X) | {
            "classes": [c.item() if isinstance(c, np.generic) else c for c in lab.classes],
            "support": used,
            "dual_coef": found.beta[None, used],
            "intercept": np.array([found.offset]),
        }
        if found.reached <= 0:
            self._refuse(found, solution.stats["steps"], X, y, evidence, isinstance(kernel, Linear))
        self._name_results(X, lab, kernel, gamma, found, used)
        self.n_iter_, self.status_, self.trace_ = solution.stats["steps"], solution.status, solution.trace
        if limit_of(self.status_) is not None:
            warnings.warn(
                f"HardMarginSVC stopped early, at {limit_of(self.status_)}: the margin {found.reached:.4g} is reached, "
                f"{found.widest:.4g} cannot be beaten. Allow more steps or time.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self._training = self._hold(X, y)
        self._promise_certificates(lambda: (issue("hard-margin", Data.of(X, y), evidence),), self._training)
        return self

    def _refuse_twins(self, X: Matrix, y: Array, lab: Labelled, kernel: Kernel) -> None:
        """Equal rows of unlike labels end the matter at once."""
        if isinstance(kernel, Precomputed):
            return
        seen: dict[bytes, int] = {}
        for i in range(X.shape[0]):
            j = seen.setdefault(np.ascontiguousarray(X[i] + 0.0).tobytes(), i)
            if lab.codes[i] != lab.codes[j]:
                evidence = {"twins": np.array([j, i])}
                c = issue("no-margin", Data.of(X, y), evidence)
                raise NotSeparableError(f"{c.claim} Use SVC, which allows errors at a cost.", c)

    def _refuse(self, found: Hulls, steps: int, X: Matrix, y: Array, evidence: Record, linear: bool) -> None:
        if linear:  # the question has an exact answer
            answer = separability(X, y)
            if answer.holds and answer.verdict != "separable":
                raise NotSeparableError(f"{answer.certificate.claim} Use SVC, which allows errors at a cost.",
                                        answer.certificate)  # fmt: skip
            if answer.holds:
                raise ThinMarginError(
                    "The classes are separable, but their margin is too small, relative to the size of X, to be "
                    "maximised in floating point: rescale the columns of X, or use the separating hyperplane of "
                    "certifit.separability(X, y).",
                    answer.certificate,
                )
        c = issue("no-margin", Data.of(X, y), evidence)
        if not c.holds:
            raise NotSeparableError(
                f"No separating hyperplane was found after {steps} steps (any margin is at most "
                f"{found.widest:.3g}), and no proof that there is none: raise max_iter, or use SVC.",
                c,
            )
        raise NotSeparableError(f"{c.claim} Use SVC, which allows errors at a cost.", c)

    def _name_results(self, X: Matrix, lab: Labelled, kernel: Kernel, gamma: float, found: Hulls, used: Array) -> None:
        self.classes_, self.kernel_, self._gamma = lab.classes, kernel, gamma
        self.support_ = used.astype(np.int32)
        self.n_support_ = np.bincount(lab.codes[used], minlength=2).astype(np.int32)
        self.support_vectors_ = np.empty((0, 0)) if isinstance(kernel, Precomputed) else X[used]
        self.dual_coef_ = found.beta[None, used]
        self.intercept_ = np.array([found.offset])
        if isinstance(kernel, Linear):
            square = float(np.sum(normals(X[used], self.dual_coef_.T) ** 2))
        else:
            K = X[np.ix_(used, used)] if isinstance(kernel, Precomputed) else kernel(X[used])
            square = float(self.dual_coef_[0] @ K @ self.dual_coef_[0])
        self.primal_value_ = 0.5 * square
        self.dual_value_ = float(np.abs(self.dual_coef_).sum()) - 0.5 * square
        self.margin_ = np.float64(found.reached)

    def decision_function(self, X: MatrixLike) -> Array:
        """w·φ(x) + b: at least 1 beyond H⁺, at most −1 beyond H⁻."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        if isinstance(self.kernel_, Linear):
            return np.asarray(
                np.asarray(X @ normals(self.support_vectors_, self.dual_coef_.T))[:, 0] + self.intercept_[0]
            )
        given = isinstance(self.kernel_, Precomputed)
        K = X[:, self.support_] if given else self.kernel_.gram(X, self.support_vectors_)
        return np.asarray(K @ self.dual_coef_[0] + self.intercept_[0])

    def predict(self, X: MatrixLike) -> Array:
        """The label of each row."""
        side = (self.decision_function(X) > 0).astype(int)
        return np.asarray(self.classes_[side])

    def certain(self, X: MatrixLike, diagonal: npt.ArrayLike | None = None) -> Array:
        """Which rows lie on provably the same side of the hyperplane of largest margin.

        Parameters
        ----------
        X : array
        diagonal : array of n numbers, default=None
            k(x, x) of the rows; required with a precomputed kernel.

        Returns
        -------
        boolean array
            All False without proof, and with a precomputed kernel without ``diagonal``.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        c = self.certificate_
        if not c.holds or (isinstance(self.kernel_, Precomputed) and diagonal is None):
            return np.zeros(X.shape[0], dtype=bool)
        data = Data.of(*self._training.read())
        if isinstance(self.kernel_, Precomputed):
            return certain_sides(None, data, c.evidence, X, read_diagonal(diagonal, X))
        return certain_sides(self.kernel_, data, c.evidence, X, self.support_vectors_)

    def supporting_hyperplanes(self) -> Record:
        """H⁺ and H⁻ and the training rows (by index) that lie on them."""
        check_is_fitted(self)
        positive = self.dual_coef_[0] > 0
        return {
            "H+": "w·x + b = +1",
            "H-": "w·x + b = -1",
            "on H+": sorted(self.support_[positive].tolist()),
            "on H-": sorted(self.support_[~positive].tolist()),
        }

    @property
    def coef_(self) -> Array:
        """w itself; with the linear kernel only."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        return normals(self.support_vectors_, self.dual_coef_.T).T

    _tags: ClassVar[Record] = {
        "classifier_tags.multi_class": False,
        "input_tags.pairwise": lambda model: model.kernel == "precomputed",
    }
