"""Principal component analysis, with a proof that no other subspace retains more variance."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import assert_all_finite, check_array, check_random_state

from certifit import certificates
from certifit._certified import Certified, note_fingerprint
from certifit._sklearn import Interval, RealNotInt, StrOptions, usual
from certifit._types import Array, Matrix, RandomState, Record, VectorLike
from certifit._validation import check_is_fitted, validate_data
from certifit.certificates import Certificate, Data
from certifit.decomposition import _spectrum as roads
from certifit.decomposition._covariance import Covariance
from certifit.decomposition._dimension import components_for_share, most_probable_dimension
from certifit.decomposition._proof import measured_slack, rounding_slack
from certifit.design import OVERFLOW

_FLOATS = (np.float64, np.float32)
_ROWS = 1 << 15  # rows projected at a time


@dataclass(eq=False, repr=False)
class PCA(Certified, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Principal component analysis: the subspace with the smallest reconstruction error.

    .. math:: \min_{U:\ UU^\top = I} \sum_i \lVert (x_i - \bar x) - U^\top U (x_i - \bar x) \rVert^2

    Solved by the leading eigenvectors of the d × d covariance or, with fewer rows than columns, of the n × n matrix
    of inner products. The certificate proves that no subspace of the same dimension retains more variance.

    Parameters
    ----------
    n_components : int ≥ 0, float in (0, 1), "mle" or None, default=None
        How many; the fewest that keep more than this fraction of the variance; Minka's Bayesian choice; all.
    copy : bool, default=True
        Accepted for compatibility with scikit-learn; X is never overwritten.
    whiten : bool, default=False
        Scale the scores to variance one.
    svd_solver : {"auto", "full", "covariance_eigh", "gram_eigh", "arpack", "randomized"}, default="auto"
        The solver: by shape; singular values; d × d; n × n; Lanczos; random start. ``svd_solver_`` says which it was.
    tol : float ≥ 0, default=0.0
        Tolerance of "arpack".
    iterated_power : int ≥ 0 or "auto", default="auto"
        Iterations of "randomized".
    n_oversamples : int ≥ 1, default=10
        Extra directions of "randomized".
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}, default="auto"
        Accepted for compatibility with scikit-learn; "randomized" orthonormalises by QR at every step.
    random_state : int, RandomState or None, default=None
        For "randomized" and "arpack".

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows; the entry of largest size in each is positive.
    explained_variance_, explained_variance_ratio_, singular_values_ : ndarray of shape (n_components,)
    mean_ : ndarray of shape (n_features,)
    n_components_, n_samples_ : int
    noise_variance_ : float
        Mean variance of the discarded directions (probabilistic PCA).
    svd_solver_ : str
        The solver that was used.
    certificate_ : Certificate
        Retained variance, an upper bound for any subspace, and their difference.

    Notes
    -----
    No ``sample_weight`` (as in scikit-learn): ``n_components=None`` counts rows, so that a weight of k could not mean
    k copies.

    References
    ----------
    K. Fan, "On a theorem of Weyl concerning eigenvalues", PNAS 35 (1949). S. M. Rump, "Verification of positive
    definiteness", BIT 46 (2006). N. Halko, P. G. Martinsson, J. A. Tropp, SIAM Review 53 (2011).

    Examples
    --------
    >>> from certifit.decomposition import PCA
    >>> X = np.array([[-1.0, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> model = PCA(n_components=1).fit(X)
    >>> model.certificate_.holds, round(float(model.explained_variance_ratio_[0]), 4)
    (True, 0.9924)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [
            Interval(Integral, 0, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            StrOptions({"mle"}),
            None,
        ],
        "svd_solver": [StrOptions({"auto", "full", "covariance_eigh", "gram_eigh", "arpack", "randomized"})],
        "iterated_power": [StrOptions({"auto"}), Interval(Integral, 0, None, closed="left")],
        "power_iteration_normalizer": [StrOptions({"auto", "QR", "LU", "none"})],
    } | usual("whiten tol≥0 n_oversamples≥1 copy random_state")

    n_components: Any = None
    _: KW_ONLY
    copy: bool = True
    whiten: bool = False
    svd_solver: str = "auto"
    tol: float = 0.0
    iterated_power: Any = "auto"
    n_oversamples: int = 10
    power_iteration_normalizer: str = "auto"
    random_state: RandomState = None

    # -- learning -----------------------------------------------------------------------------------
    def fit(self, X: Matrix, y: VectorLike | None = None) -> PCA:
        """Find the components of rows X, array or sparse; y is ignored."""
        self._validate_params()
        given = X
        X = self._read(X, reset=True)
        solver = self.svd_solver
        if solver == "auto":
            solver = roads.choose_solver(X.shape, self.n_components, scipy.sparse.issparse(X))
        self._check_count(X.shape, solver)
        with np.errstate(over="ignore", invalid="ignore"):
            spectrum = self._solve(X, solver)
        if not np.isfinite(spectrum.total):
            raise ValueError(OVERFLOW)
        self.__dict__.pop("statistics_", None)
        self._name(spectrum, X.shape, solver, X.dtype)
        self._promise_certificates(lambda: (self.certify(given),), given)
        return self

    def partial_fit(self, X: Matrix, y: VectorLike | None = None) -> PCA:
        """Learn from one more batch of rows; the components are those of all rows seen so far."""
        self._validate_params()
        before: Covariance | None = getattr(self, "statistics_", None)
        first = before is None
        X = self._read(X, reset=first, pieces=True)
        more = Covariance.of(X)
        self._refuse_bad(X, more.scatter)
        total = more if before is None else before + more
        rows = X.shape[0] + (0 if first else self.n_samples_)
        if total.total <= 1.0:
            raise ValueError("PCA needs at least two rows (n_samples = 1): give more in the first batch.")
        self._check_count((rows, X.shape[1]), "covariance_eigh")
        self._name(roads.by_covariance(total), (rows, X.shape[1]), "covariance_eigh", X.dtype)
        self.statistics_ = total
        self._withhold_certificates(
            "This PCA was fitted in pieces by partial_fit and kept none of the data: "
            "pass all of them to certify(X) to have its components proved."
        )
        return self

    def _read(self, X: Matrix, reset: bool, pieces: bool = False) -> Any:
        """Validated rows. NaN and infinity show in the products; no read is spent on looking for them."""
        sparse = scipy.sparse.issparse(X)
        if sparse and self.svd_solver not in ("auto", "arpack", "covariance_eigh"):
            raise TypeError(
                'PCA only support sparse inputs with the "arpack" and "covariance_eigh" solvers, while '
                f'"{self.svd_solver}" was passed. See TruncatedSVD for a possible alternative.'
            )
        return validate_data(
            self,
            X,
            dtype=_FLOATS,
            accept_sparse=("csr", "csc"),
            ensure_all_finite=sparse,
            ensure_min_samples=1 if pieces else 2,
            reset=reset,
        )

    def _refuse_bad(self, X: Matrix, product: Array) -> None:
        if not np.isfinite(product).all():
            if not scipy.sparse.issparse(X):
                assert_all_finite(X, estimator_name="PCA", input_name="X")
            raise ValueError("X has values whose squares exceed the largest float: rescale it.")

    def _check_count(self, shape: tuple[int, int], solver: str) -> None:
        """Refuse numbers of components that this road cannot give."""
        small = min(shape)
        k: Any = self.n_components
        if k == "mle":
            if solver in ("arpack", "randomized"):
                raise ValueError(f"n_components='mle' cannot be a string with svd_solver='{solver}'")
            if shape[0] < shape[1]:
                raise ValueError("n_components='mle' is only supported if n_samples >= n_features")
        elif solver in ("arpack", "randomized") and k is not None:
            if not isinstance(k, (int, np.integer)) or not 1 <= k <= small:
                raise ValueError(
                    f"n_components={k!r} must be between 1 and min(n_samples, n_features)={small!r} "
                    f"with svd_solver='{solver}'"
                )
            if solver == "arpack" and k == small:
                raise ValueError(
                    f"n_components={k!r} must be strictly less than min(n_samples, n_features)={small!r} "
                    "with svd_solver='arpack'"
                )
        elif isinstance(k, (int, np.integer)) and not 0 <= k <= small:
            raise ValueError(
                f"n_components={k} must be between 0 and min(n_samples, n_features)={small} with svd_solver={solver!r}"
            )

    def _solve(self, X: Matrix, solver: str) -> roads.Spectrum:
        if solver == "covariance_eigh":
            statistics, found = Covariance.with_fingerprint(X)
            self._refuse_bad(X, statistics.scatter)
            if found is not None:
                note_fingerprint(self, X, found)
            few = isinstance(self.n_components, Integral) and self.n_components < 0.3 * X.shape[1]
            return roads.by_covariance(statistics, int(self.n_components) if few else None)
        if not scipy.sparse.issparse(X):
            assert_all_finite(X, estimator_name="PCA", input_name="X")
        if solver == "full":
            return roads.by_svd(X)
        if solver == "gram_eigh":
            return roads.by_gram(X)
        rng, small = check_random_state(self.random_state), min(X.shape)
        if solver == "arpack":
            count = small - 1 if self.n_components is None else int(self.n_components)
            return roads.by_lanczos(X, count, self.tol, rng)
        count = small if self.n_components is None else int(self.n_components)
        power = self.iterated_power if self.iterated_power != "auto" else 7 if count < 0.1 * small else 4
        return roads.by_random_start(X, count, self.n_oversamples, power, rng)

    def _name(self, s: roads.Spectrum, shape: tuple[int, int], solver: str, dtype: npt.DTypeLike) -> None:
        """Decide how many components stay, and name the fitted attributes."""
        n, d = shape
        small = min(n, d)
        k: Any = self.n_components
        if k is None:
            k = min(len(s.variances), small)
        elif k == "mle":
            k = most_probable_dimension(s.variances, n)
        elif not isinstance(k, Integral):
            k = components_for_share(s.variances[:small], s.total, float(k))
        k = int(k)
        kept = s.variances[:k]
        self.n_components_, self.n_samples_, self.svd_solver_ = k, n, solver
        self.components_ = np.ascontiguousarray(s.vectors[:k], dtype=dtype)
        self.mean_ = s.mean.astype(dtype)
        self.explained_variance_ = kept.astype(dtype)
        self.explained_variance_ratio_ = (kept / s.total if s.total > 0 else np.zeros(k)).astype(dtype)
        self.singular_values_ = np.sqrt(kept * (n - 1.0)).astype(dtype)
        left = max(s.total - float(kept.sum()), 0.0)
        self.noise_variance_ = left / (small - k) if k < small else 0.0

    # -- using --------------------------------------------------------------------------------------
    def _scale(self) -> Array:
        scale = np.sqrt(self.explained_variance_)
        return np.asarray(np.maximum(scale, np.finfo(scale.dtype).eps))

    def transform(self, X: Matrix) -> Array:
        """Scores of rows X, array or sparse, on the components: (n, n_components)."""
        check_is_fitted(self, "components_")
        X = validate_data(self, X, dtype=_FLOATS, accept_sparse=("csr", "csc"), reset=False)
        if scipy.sparse.issparse(X):
            scores = np.asarray(X @ self.components_.T) - self.mean_ @ self.components_.T
        else:
            scores = np.empty((len(X), self.n_components_), dtype=np.result_type(X, self.components_))
            for start in range(0, len(X), _ROWS):  # centred before the product: nothing cancels afterwards
                scores[start : start + _ROWS] = (X[start : start + _ROWS] - self.mean_) @ self.components_.T
        return scores / self._scale() if self.whiten else scores

    def _nested_columns(self, grid: Any) -> tuple[dict[str, Any], list[int]] | None:
        """Shared work for `certifit.model_selection`: scores at a smaller rank are the first columns of the largest."""
        counts: list[Any] = [point.get("n_components", self.n_components) for point in grid]
        plain = all(isinstance(k, (int, np.integer)) and not isinstance(k, bool) and k > 0 for k in counts)
        if not plain or any(set(point) - {"n_components"} for point in grid):
            return None
        if self.svd_solver in ("arpack", "randomized"):  # how near they come depends on the rank
            return None
        return {"n_components": max(counts)}, [int(k) for k in counts]

    def inverse_transform(self, X: Matrix) -> Array:
        """Rows recovered from scores: X U + mean (whitening undone)."""
        check_is_fitted(self, "components_")
        X = check_array(X, input_name="X", dtype=_FLOATS, ensure_min_features=0)
        return np.asarray((X * self._scale() if self.whiten else X) @ self.components_ + self.mean_)

    def reconstruction_error(self, X: Matrix) -> Array:
        """Squared distance of each row from its reconstruction.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            On the training rows the sum, divided by n − 1, is the sum of the discarded variances.
        """
        rows = check_array(X, dtype=_FLOATS)
        return np.asarray(np.sum((rows - self.inverse_transform(self.transform(X))) ** 2, axis=1))

    def get_covariance(self) -> Array:
        """Covariance under probabilistic PCA: Uᵀ(Λ − σ²)₊U + σ²I, σ² the noise variance.

        Returns
        -------
        ndarray of shape (n_features, n_features)
        """
        check_is_fitted(self, "components_")
        over = np.maximum(self.explained_variance_ - self.noise_variance_, 0.0)
        cov: Array = (self.components_.T * over) @ self.components_
        cov.flat[:: len(cov) + 1] += self.noise_variance_
        return cov

    def get_precision(self) -> Array:
        """The inverse of `get_covariance`.

        Returns
        -------
        ndarray of shape (n_features, n_features)
        """
        check_is_fitted(self, "components_")
        noise = self.noise_variance_
        if noise == 0.0:
            return np.linalg.inv(self.get_covariance())
        # Orthonormal rows: the inverse has 1/λ on the components and 1/σ² elsewhere.
        over = 1.0 / noise - 1.0 / np.maximum(self.explained_variance_, noise)
        precision: Array = -(self.components_.T * over) @ self.components_
        precision.flat[:: len(precision) + 1] += 1.0 / noise
        return precision

    def score_samples(self, X: Matrix) -> Array:
        """Log likelihood of each row under probabilistic PCA."""
        check_is_fitted(self, "components_")
        X = validate_data(self, X, dtype=_FLOATS, reset=False)
        T, precision = X - self.mean_, self.get_precision()
        sign, logdet = np.linalg.slogdet(precision)
        logdet = logdet if sign > 0 else -np.inf
        return np.asarray(
            -0.5 * np.sum(T * (T @ precision), axis=1) - 0.5 * (X.shape[1] * np.log(2.0 * np.pi) - logdet)
        )

    def score(self, X: Matrix, y: VectorLike | None = None) -> float:
        """Mean log likelihood of the rows under probabilistic PCA; y is ignored."""
        return float(np.mean(self.score_samples(X)))

    # -- proving ------------------------------------------------------------------------------------
    def certify(self, X: Matrix) -> Certificate:
        """Prove how much variance of the given data these components retain, and how much any others could.

        Parameters
        ----------
        X :
            All rows the components were found from.

        Returns
        -------
        Certificate
        """
        data = Data.of(X)
        evidence = {
            "components": np.asarray(self.components_, dtype=float),
            "variances": np.asarray(self.explained_variance_, dtype=float),
            "mean": np.asarray(self.mean_, dtype=float),
        }
        # Exact roads promise eigenvectors to rounding; the others state what they reached, whatever it is. So do
        # components in single precision: their rounding costs far less than it could.
        if self.svd_solver_ in ("arpack", "randomized") or self.components_.dtype == np.float32:
            slack = measured_slack(data, evidence)
        else:
            kept, share = (float(np.sum(v)) for v in (self.explained_variance_, self.explained_variance_ratio_))
            spread = kept / share if kept > 0.0 and share > 0.0 else None
            slack = rounding_slack(data, self.components_.dtype, spread)
        return certificates.issue("principal-components", data, evidence | {"slack": slack})

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    _tags: ClassVar[Record] = {
        "transformer_tags.preserves_dtype": ["float64", "float32"],
        "input_tags.sparse": lambda model: model.svd_solver in ("auto", "arpack", "covariance_eigh"),
    }
