"""Why do directions not keep the most variance? Other rows, other eigenvalues, other lengths."""

from __future__ import annotations

import numpy as np

from certifit._types import Array
from certifit.certificates import Certificate, Data
from certifit.judge._by_hand import certify_components
from certifit.judge._findings import Candidate, Diagnosis, Finding, dense_rows, explained


def diagnose_components(c: Certificate, data: Data, tol: float) -> Diagnosis:
    U, dense = np.asarray(c.evidence["components"]), dense_rows(data)
    wrong = _variances(c, U, dense, tol)
    if c.holds and c.relative_gap <= tol and wrong is None:
        return Diagnosis(c, True)
    if wrong:
        return Diagnosis(c, False, wrong)
    moves = np.ptp(dense, axis=0) > 0
    spread, width = (np.where(moves, size, 1.0) for size in (dense.std(axis=0), np.ptp(dense, axis=0)))
    candidates: list[Candidate] = [
        ("scaled columns", "They are the components of the standardised columns: were they meant to be scaled?",
         lambda: certify_components(U, dense / spread)),
        ("columns from 0 to 1", "They are the components of columns scaled to run from 0 to 1: were they meant to be "
         "scaled?", lambda: certify_components(U, dense / width)),
        ("not centred", "They are the components of the data without centring: did you subtract the mean?",
         lambda: certify_components(U, np.vstack([dense, -dense]))),
        ("not of length one", "Divided by their lengths they are the components: normalise them.",
         lambda: certify_components(U / np.linalg.norm(U, axis=1, keepdims=True), dense)),
        ("means of rows subtracted", "They are the components after subtracting the mean of each row: subtract that of "
         "each column.", lambda: certify_components(U, _rows_centred(dense))),
    ]  # fmt: skip
    if U.shape[0] == U.shape[1]:
        candidates.append(("transposed", "Their transpose is optimal: are the components rows or columns?",
                           lambda: certify_components(U.T, dense)))  # fmt: skip
    if dense.shape[0] == dense.shape[1]:
        candidates.append(("transposed matrix", "They are the components of the transposed matrix: are rows and "
                           "columns exchanged?", lambda: certify_components(U, dense.T)))  # fmt: skip
    rest = _complement(U, dense)
    if 0 < len(rest) == len(U):
        candidates.append(("smallest for largest", "The directions at right angles to them keep the most variance: did "
                           "you take the smallest eigenvalues?", lambda: certify_components(rest, dense)))  # fmt: skip
    found = explained(c, tol, candidates)
    if not found and 0 < len(U) < min(dense.shape):
        last = np.linalg.svd(dense - dense.mean(axis=0), full_matrices=False)[2][-len(U) :]
        if np.allclose(np.abs(last @ U.T) ** 2 @ np.ones(len(U)), 1.0, atol=1e-6):
            asks = "They are the directions with the least variance: did you take the smallest eigenvalues?"
            found = (Finding("smallest for largest", asks, c),)
    return Diagnosis(c, False, found)


def _rows_centred(X: Array) -> Array:
    """Each row less its mean, beside its negative, so that columns have mean zero as well."""
    rows = X - X.mean(axis=1, keepdims=True)
    return np.vstack([rows, -rows])


def _variances(c: Certificate, U: Array, X: Array, tol: float) -> list[Finding] | None:
    """Slips of stated variances; None where they are those along the components."""
    own = np.square((X - X.mean(axis=0)) @ U.T).sum(axis=0) / max(len(X) - 1, 1)
    stated, n, scale = (
        np.asarray(c.evidence["variances"], dtype=float),
        len(X),
        max(float(own.max(initial=0.0)), 1e-300),
    )

    def same(other: Array) -> bool:
        return bool(np.all(np.abs(stated - other) <= tol * max(float(np.abs(other).max(initial=0.0)), 1e-300)))

    if np.all(np.abs(stated - own) <= tol * scale) or not len(U):
        return None
    slips = [
        ("n for n − 1", "The variances are divided by n: divide by n − 1.", own * (n - 1) / n),
        ("sums for variances", "These are sums of squares: divide by n − 1.", own * (n - 1)),
        ("standard deviations", "These are standard deviations: square them.", np.sqrt(own)),
        ("singular values", "These are singular values of the centred data: square them, and divide by n − 1.",
         np.sqrt(own * (n - 1))),
        ("shares of the variance", "These are shares of the whole variance.", own / X.var(axis=0, ddof=1).sum()),
    ]  # fmt: skip
    return [Finding(name, asks, c) for name, asks, other in slips if same(other)]


def _complement(U: Array, X: Array) -> Array:
    """The principal directions of the data at right angles to all rows of U."""
    rest = np.linalg.svd(U, full_matrices=True)[2][len(U) :]
    return np.asarray(np.linalg.svd((X - X.mean(axis=0)) @ rest.T, full_matrices=False)[2] @ rest)
