"""Mercer or not: positive semi-definiteness by construction, by a Cholesky factor, or refuted by a vector.

By construction: the kernel is rebuilt from its record and its proof tree read. By computation, K being the Gram
matrix on the given points, known to within R entry by entry: for any real L, the least eigenvalue of K is at least
−τ − ‖K + τI − LLᵀ‖∞ − ‖R‖∞, whatever way L was found; a Cholesky factor makes the middle term tiny. A vector with
vᵀKv < 0 beyond rounding refutes.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from certifit._types import Array, Matrix, Record
from certifit.certificates._ball import Ball, dot
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._record import Certificate, Check, Kind, Proof, equal, issue, lower, register, upper
from certifit.certificates._schema import FINITE, NUMBER, RECORD, TEXT, check_form, word
from certifit.certificates.gram import BALLS, given_kernel, named_kernel
from certifit.kernels import Kernel, rows

_ROUNDING = 1e-13  # a least eigenvalue above minus this fraction of size × largest entry counts as not negative
_SKEW = 1e-12  # how far from symmetric, as a fraction of the largest entry, a computed Gram matrix may be


def _gram(data: Data, evidence: Evidence) -> Ball:
    if "gram" in evidence:
        K = Ball(evidence["gram"])
    elif "kernel" in evidence:
        K = named_kernel(evidence["kernel"]).gram(data.X, data.X, BALLS)
    else:
        K = Ball(data.X)
    if len(K.shape) != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"a Gram matrix is square, not {K.shape}")
    if "gram" in evidence and K.shape[0] != data.X.shape[0]:
        raise ValueError("kernel values are given for other rows")
    if not np.all(np.isfinite(K.mid)):
        raise ValueError("The Gram matrix contains NaN or infinity: nothing can be proved about it.")
    return K


def _tolerance(K: Ball) -> float:
    """How far below zero an eigenvalue may be proved to lie and still count as rounding."""
    return _ROUNDING * len(K.mid) * float(np.abs(K.mid).max(initial=0.0))


def _symmetric(K: Ball) -> Check:
    """Mercer's condition is about symmetric matrices: vᵀKv alone does not see the rest."""
    skew = float(np.abs(K.mid - K.mid.T).max(initial=0.0))
    size = float(np.abs(K.mid).max(initial=0.0))
    return Check("the matrix is symmetric", skew <= _SKEW * size, f"entries differ by up to {skew:.3g}")


def _least(K: Ball, shift: float) -> float:
    """A proved lower bound of the least eigenvalue, or −inf."""
    n = len(K.mid)
    if not np.any(K.mid) and not np.any(K.rad):
        return 0.0
    half = 0.5 * (K.mid + K.mid.T)
    skew = np.abs(K.mid - K.mid.T)  # the symmetric part has the same vᵀKv; its rounding is covered below
    shifted = half + shift * np.eye(n)
    try:
        L = np.linalg.cholesky(shifted)
    except np.linalg.LinAlgError:
        return -np.inf
    rest = Ball(half) + Ball(shift * np.eye(n)) - dot(L, L.T)
    spread = np.abs(rest.mid) + np.broadcast_to(rest.rad, rest.mid.shape) + skew * 2.0**-52
    spread = spread + np.broadcast_to(K.rad, K.mid.shape) + np.broadcast_to(K.rad, K.mid.shape).T
    worst = float(spread.sum(axis=1).max()) * (1.0 + 4.0 * n * 2.0**-53)
    return -(shift + worst) * (1.0 + 2.0**-50)


@register
class Definiteness(Kind):
    """A Gram matrix, a kernel given by a formula, or the values of a kernel that is a piece of the user's code."""

    name: ClassVar[str] = "mercer"
    needs: ClassVar = {"method": word("construction", "vector", "cholesky", "none")}
    may: ClassVar = {"kernel": RECORD, "gram": FINITE, "vector": FINITE, "shift": NUMBER}  # by method, see prove
    theorem: ClassVar[str] = "Mercer: a kernel is an inner product exactly when its Gram matrices are semi-definite"

    def assumptions(self, evidence: Evidence) -> tuple[str, ...]:
        return super().assumptions(evidence) + given_kernel(evidence)

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        method = evidence["method"]
        fields = {"construction": {"kernel": RECORD}, "vector": {"vector": FINITE}}.get(method, {"shift": NUMBER})
        check_form(evidence, {"method": TEXT, **fields}, {"kernel": RECORD, "gram": FINITE})
        if {"gram", "kernel"} <= set(evidence) or (method == "construction" and "gram" in evidence):
            raise ValueError("kernel values are given, or computed by a kernel, or are the data")
        if method == "construction":
            proof = named_kernel(evidence["kernel"]).proof
            figures = {"verdict": equal("mercer"), "method": equal(method), "least_eigenvalue": lower(0.0)}
            text = "" if proof is None else proof.statement
            return Proof(figures, (Check("the kernel is built from Mercer kernels", proof is not None, text),))
        K = _gram(data, evidence)
        symmetric = _symmetric(K)
        if method == "vector":
            v = np.asarray(evidence["vector"], dtype=float)
            ratio = dot(v, dot(K, v)) / Ball(v).square().sum()
            figures = {"verdict": equal("not mercer"), "method": equal(method), "least_eigenvalue": upper(ratio)}
            negative = bool(ratio.upper < 0)
            told = f"{float(ratio.upper):.3g}"
            return Proof(figures, (symmetric, Check("vᵀKv < 0 beyond rounding", negative, told)))
        least = _least(K, float(evidence["shift"]))
        good = method == "cholesky" and symmetric.holds and least >= -_tolerance(K)
        verdict = "mercer" if good else "undecided"
        figures = {"verdict": equal(verdict), "method": equal(method), "least_eigenvalue": lower(least)}
        told = f"least ≥ {least:.3g}"
        return Proof(figures, (symmetric, Check("no eigenvalue is negative beyond rounding", good, told)))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        verdict, least = figures["verdict"], figures["least_eigenvalue"]
        if figures["method"] == "construction":
            return "This kernel is Mercer on any points: it is built from Mercer kernels by steps that keep it so."
        if verdict == "mercer":
            return (
                f"On these points the Gram matrix has no eigenvalue below {least:.2g}: none negative beyond rounding."
            )
        if verdict == "not mercer":
            return f"This is not a Mercer kernel: the vector in the evidence makes vᵀKv negative ({least:.2g} ‖v‖²)."
        return "Undecided: neither a negative eigenvalue nor the absence of one is proved."


def mercer(K_or_kernel: Any, X: Matrix = None) -> Certificate:
    """Is this kernel (or Gram matrix) positive semi-definite? Proved, refuted, or undecided.

    Parameters
    ----------
    K_or_kernel : square array, or Kernel
    X : array or sparse matrix, default=None
        The points, for a kernel. A kernel that is Mercer by construction needs none.

    Returns
    -------
    Certificate
        ``verdict`` is "mercer", "not mercer" or "undecided"; ``least_eigenvalue`` bounds the least eigenvalue.

    Examples
    --------
    >>> from certifit import kernels
    >>> kernels.mercer(kernels.Linear() + kernels.RBF(), [[0.0], [1.0]]).verdict
    'mercer'
    >>> kernels.mercer(np.array([[1.0, 2.0], [2.0, 1.0]])).least_eigenvalue.__round__(6)
    -1.0
    """
    evidence: dict[str, Any] = {}
    if isinstance(K_or_kernel, Kernel):
        record = K_or_kernel.record()
        data = Data.of(np.zeros((0, 0)) if X is None else X)
        if record is not None:
            evidence["kernel"] = record
            if K_or_kernel.proof is not None:
                return issue("mercer", data, evidence | {"method": "construction"})
        if X is None:
            raise ValueError("There is no proof that this kernel is Mercer: pass points X to examine its Gram matrix.")
        if record is None:
            evidence["gram"] = K_or_kernel(rows(X))
    else:
        data = Data.of(K_or_kernel)
    K = _gram(data, evidence)
    if len(K.mid) == 0:
        raise ValueError("The Gram matrix is empty: pass at least one point.")
    return issue("mercer", data, evidence | _search(K))


def _search(K: Ball) -> Record:
    """A vector that refutes, else a shift that makes Cholesky's method go through."""
    values, vectors = np.linalg.eigh(0.5 * (K.mid + K.mid.T))
    v: Array = vectors[:, 0]
    if float((dot(v, dot(K, v))).upper) < 0 and values[0] < 0:
        return {"method": "vector", "vector": v}
    size, n = float(np.abs(K.mid).max(initial=0.0)), len(v)
    if size == 0.0:
        return {"method": "cholesky", "shift": 0.0}
    shift = max(0.0, -2.0 * float(values[0])) + 4.0 * n * 2.0**-53 * max(size, float(np.abs(values).max(initial=0.0)))
    while shift <= _tolerance(K):
        if _least(K, shift) >= -_tolerance(K):
            return {"method": "cholesky", "shift": shift}
        shift *= 4.0
    return {"method": "none", "shift": _tolerance(K)}
