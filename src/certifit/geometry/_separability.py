"""Can a hyperplane separate the classes? ``certifit.separability(X, y)`` answers with a proof."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse

from certifit._types import Array, Matrix, VectorLike
from certifit.certificates import Certificate, Data, issue
from certifit.certificates._data import Rigor
from certifit.certificates._integers import as_floats, from_words
from certifit.certificates.separation import padded
from certifit.parallel import one_thread
from certifit.solvers._exact_separation import decide
from certifit.solvers.separation import Candidate, evidence, search

__all__ = ["Separability", "separability"]

_EXACT_SIZE = 200_000  # entries of X up to which a doubtful float answer is settled exactly, unasked


class Separability:
    """The verdict on a data set: ``verdict``, its evidence, and the certificate that proves it.

    Parameters
    ----------
    X, labels : ndarray
        The rows and their labels.
    fit_intercept : bool
        Whether the hyperplane may have an offset.
    certificate : Certificate

    Attributes
    ----------
    verdict : {"separable", "touching", "overlapping"}
    holds : bool
        Whether the verdict is proved with the requested arithmetic.
    certificate : Certificate
    classes : ndarray
        The labels, sorted; for two classes the second is the positive side.
    w, b : ndarray, float (two classes) or ndarrays of shapes (K, d), (K,)
        Separator when separable, weak separator when touching, None when overlapping.
    margin : float or None
        Proved lower bound of the geometric margin of (w, b), when separable.
    multipliers : ndarray of shape (n,), or (n, K) for K > 2 classes, or None
        When overlapping or touching: non-negative weights μ with sum one and Σ μᵢyᵢx̃ᵢ = 0.
    rows : ndarray of int or None
        The rows with a positive multiplier.

    Examples
    --------
    >>> import certifit as cf
    >>> answer = cf.separability([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> answer.verdict, answer.holds, answer.margin > 0.1
    ('separable', True, True)
    """

    def __init__(self, X: Array, labels: Array, fit_intercept: bool, certificate: Certificate) -> None:
        self._X = X
        self._labels = labels
        self._fit_intercept = fit_intercept
        self.certificate = certificate
        self.verdict: str = certificate.figures["verdict"]
        self.holds = certificate.holds
        self.classes = np.unique(labels)
        self.margin: float | None = certificate.figures.get("margin")
        self.w, self.b = self._separator()

    def _separator(self) -> tuple[Any, Any]:
        stored = self.certificate.evidence.get("weights")
        if stored is None:
            return None, None
        flat = stored if isinstance(stored, np.ndarray) else as_floats(from_words(stored))
        W = np.array(flat, dtype=float).reshape(len(self.classes) - 1, -1)
        b = W[:, -1] if self._fit_intercept else np.zeros(len(W))
        W = W[:, : self._X.shape[1]]
        if len(self.classes) == 2:
            return W[0].copy(), float(b[0])
        return np.vstack([np.zeros(W.shape[1]), W]), np.append(0.0, b)

    @cached_property
    def rows(self) -> Array | None:
        """The rows with a positive multiplier."""
        stored = self.certificate.evidence.get("rows")
        return None if stored is None else np.unique(stored)

    @cached_property
    def multipliers(self) -> Array | None:
        """Non-negative weights μ with Σ μᵢyᵢx̃ᵢ = 0, when overlapping or touching."""
        evidence = self.certificate.evidence
        stored = evidence.get("multipliers")
        if stored is None:
            return None
        mu = stored if isinstance(stored, np.ndarray) else as_floats(from_words(stored))
        out = np.zeros((len(self._labels), len(self.classes)))
        out[evidence["rows"], evidence["against"]] = mu / mu.sum()
        return out.max(axis=1) if len(self.classes) == 2 else out

    @cached_property
    def pairs(self) -> Mapping[tuple[Any, Any], Separability]:
        """The two-class verdict of every pair of classes (only their rows)."""
        found = {}
        for a, b in combinations(self.classes.tolist(), 2):
            chosen = (self._labels == a) | (self._labels == b)
            found[a, b] = self._ask(self._X[chosen], self._labels[chosen])
        return found

    @cached_property
    def one_vs_rest(self) -> Mapping[Any, Separability]:
        """The two-class verdict of every class against all others (labels False and True)."""
        return {c: self._ask(self._X, self._labels == c) for c in self.classes.tolist()}

    def _ask(self, X: Array, y: Array) -> Separability:
        return separability(X, y, fit_intercept=self._fit_intercept, rigor=self.certificate.rigor)

    def __str__(self) -> str:
        return str(self.certificate)

    def _repr_html_(self) -> str:
        return self.certificate._repr_html_()

    def __repr__(self) -> str:
        return f"<Separability: {self.verdict}, {'proved' if self.holds else 'not proved'}>"


def separability(X: Matrix, y: VectorLike, fit_intercept: bool = True, rigor: Rigor = "float") -> Separability:
    """Decide, with proof, whether a hyperplane separates the classes.

    With x̃ = (x, 1) and labels ±1: *separable* if some w̃ has all yᵢ w̃·x̃ᵢ > 0; *touching* if only ≥ 0 is possible,
    not all zero; *overlapping* if neither. The maximum-likelihood fit of logistic regression exists exactly when the
    classes overlap.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Finite numbers; sparse matrices are made dense.
    y : array-like of shape (n,)
        Two or more different labels. For more than two the verdict is the joint one, about weights W with
        (w_{yᵢ} − w_k)·x̃ᵢ > 0 (or ≥ 0) for all rows i and classes k ≠ yᵢ.
    fit_intercept : bool, default=True
        Whether the hyperplane may have an offset; through the origin otherwise.
    rigor : {"float", "exact"}, default="float"
        ``"float"`` proves with bounds for rounding and cannot prove "touching"; ``"exact"`` decides every case
        in rational arithmetic (faster with python-flint installed).

    Returns
    -------
    Separability
        ``verdict``, ``holds``, ``w``, ``b``, ``margin``, ``multipliers``, ``pairs``, ``one_vs_rest``,
        ``certificate``. A verdict that cannot be proved with this arithmetic has ``holds=False``.

    References
    ----------
    Albert and Anderson (1984), On the existence of maximum likelihood estimates in logistic regression models.

    Examples
    --------
    >>> import certifit as cf
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> print(cf.separability(X, y))
    Overlapping: no hyperplane separates the classes, not even weakly. Proof: the convex hulls
    intersect: a weighted average of rows 0 and 3 equals one of rows 1 and 2, and these rows span all others.
      classes 2   witnesses 4
    >>> cf.separability(X, [0, 1, 1, 1]).verdict
    'separable'
    """
    with one_thread():  # many small products: threads of BLAS would only get in each other's way
        rows, labels, index = _checked(X, y, rigor)
        certificate = _decided(rows, labels, index, fit_intercept, rigor)
    return Separability(rows, labels, fit_intercept, certificate)


def _decided(rows: Array, labels: Array, index: Array, fit_intercept: bool, rigor: Rigor) -> Certificate:
    """The verdict with its proof: a search in floats, and an exact one where that was not enough and size allows."""
    k = int(index.max()) + 1
    data = Data.of(rows, labels)
    with np.errstate(all="ignore"):
        guess = _guarded(rows, index, k, fit_intercept)
    certificate = issue("separability", data, evidence(guess, fit_intercept), rigor)
    small = rows.size * (k - 1) ** 2 <= _EXACT_SIZE
    if not certificate.holds and (rigor == "exact" or small):
        with np.errstate(all="ignore"):
            sure = _rounded(decide(padded(rows, fit_intercept), index, k, guess))
        for candidate in sure:
            certificate = issue("separability", data, evidence(candidate, fit_intercept), rigor)
            if certificate.holds:
                break
    return certificate


def _guarded(X: Array, index: Array, k: int, fit_intercept: bool) -> Candidate:
    """The float search; whatever defeats floats (overflow, say) becomes a doubtful answer."""
    try:
        found = search(X, index, k, fit_intercept)
    except (np.linalg.LinAlgError, ValueError, FloatingPointError):
        found = None
    parts = () if found is None else (found.weights, found.multipliers)
    if found is None or not all(p is None or np.all(np.isfinite(p)) for p in parts):
        d = X.shape[1] + int(fit_intercept)
        return Candidate("separable", np.zeros((k - 1) * d))
    return found


def _rounded(candidate: Candidate) -> list[Candidate]:
    """The exact answer with evidence in floats, which is easier to read, then as it is."""
    floats = {
        name: as_floats(part)
        for name in ("weights", "multipliers")
        if (part := getattr(candidate, name)) is not None
        and not (name == "weights" and candidate.verdict == "touching")
    }
    readable = Candidate(**{**candidate.__dict__, **floats})
    return [readable, candidate]


def _checked(X: Matrix, y: VectorLike, rigor: str) -> tuple[Array, Array, Array]:
    """Dense finite rows, labels, class numbers; or one clear sentence."""
    if rigor not in ("float", "exact"):
        raise ValueError(f"rigor must be 'float' or 'exact', not {rigor!r}.")
    data = Data.of(X.toarray() if scipy.sparse.issparse(X) else X, y)
    rows, labels = data.X, np.asarray(y)
    labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if getattr(rows, "ndim", 0) != 2 or rows.dtype == object:
        raise ValueError("X must be a table of numbers with two dimensions.")
    if labels.ndim != 1 or len(labels) != len(rows):
        raise ValueError(f"y must contain one label for each of the {len(rows)} rows of X.")
    if not np.all(np.isfinite(rows)):
        i, j = np.argwhere(~np.isfinite(rows))[0]
        raise ValueError(f"X holds {rows[i, j]} in row {i}, column {j}: replace or drop it first.")
    if labels.dtype.kind == "f" and not np.all(np.isfinite(labels)):
        raise ValueError(f"y holds {labels[~np.isfinite(labels)][0]}: drop the rows without a label first.")
    classes, index = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        seen = "none" if len(classes) == 0 else f"only {classes.tolist()[0]!r}"
        raise ValueError(f"Separability needs at least two classes; y contains {seen}.")
    return rows, labels, index.ravel()
