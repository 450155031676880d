"""What a diagnosis is: slips under which an answer is proved to be optimal."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from certifit import _notebook
from certifit._types import Array
from certifit.certificates import Certificate, Data, issue

_CLEAR = 0.01  # a slip explains an answer if its gap there is at most this fraction of the gap that is to be explained

_CLASSES = 5  # up to which all orders of the classes are tried

_BESIDE = 1e4  # how much larger than that of the best explanation the gap of another one may be


@dataclass(frozen=True)
class Finding:
    """One mistake under which the answer is optimal.

    Attributes
    ----------
    name : str
        Its short name.
    sentence : str
        A question that helps to find the mistake.
    certificate : Certificate
        The proof that the answer is optimal there; for a replayed run the judgement of the answer itself.
    """

    name: str
    sentence: str
    certificate: Certificate

    def __str__(self) -> str:
        return f"{self.name}: {self.sentence}"


class Diagnosis(list[Finding]):
    """What `Certificate.diagnose` found: a list of mistakes, the best explanation first.

    Empty for a correct answer, and for a wrong one that no common mistake explains; ``right`` tells which.

    Parameters
    ----------
    certificate : Certificate
        The certificate of the answer for the stated objective.
    right : bool
        Whether the answer itself is optimal, up to the tolerance.
    findings : iterable of Finding, default=()
        Mistakes under which it would be.

    Examples
    --------
    >>> import certifit as cf
    >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([1.0, 3.0, 4.0, 9.0])
    >>> found = cf.certify_coefficients([1.9], 0.9, X, y, loss="squared", lam=0.0).diagnose(X, y)
    >>> found.right, len(found)
    (False, 0)
    """

    def __init__(self, certificate: Certificate, right: bool, findings: Iterable[Finding] = ()) -> None:
        super().__init__(findings)
        self.certificate = certificate
        self.right = right

    def __str__(self) -> str:
        lines = [f"  {finding}" for finding in self]
        c = self.certificate
        if self.right:
            said = c.claim if c.holds else "Rounding, or the order of equal values, is all that differs."
            return "\n".join([f"Right. {said}", *lines])
        said = c.claim if c.holds else f"Not right: {'; '.join(c.failures)}."
        return "\n".join([said, *(lines or ["  None of the usual mistakes explains it."])])

    def _repr_html_(self) -> str:
        rows = [(finding.name, finding.sentence) for finding in self]
        return _notebook.card(self.certificate.claim, [_notebook.table([], rows)] if rows else [], self.right)


Candidate = tuple[str, str, Callable[[], Certificate]]


def dense_rows(data: Data) -> Array:
    """The rows as plain numbers."""
    return data.X.toarray() if hasattr(data.X, "toarray") else np.asarray(data.X, dtype=float)


def scalings(X: Array) -> list[tuple[str, str, Array]]:
    """The columns in the usual other units: a name, words for them, and the rows."""
    centred, low, spread = X - X.mean(axis=0), X.min(axis=0), np.ptp(X, axis=0)
    if not np.all(spread > 0) or len(X) < 2:
        return []
    s0, s1 = X.std(axis=0), X.std(axis=0, ddof=1)
    found = [
        ("scaled columns", "standardised columns", centred / s0),
        ("scaled columns, n − 1", "columns standardised by deviations that divide by n − 1", centred / s1),
        ("divided columns", "columns divided by their standard deviations, not centred", X / s0),
        ("divided columns, n − 1", "columns divided by deviations that divide by n − 1, not centred", X / s1),
        ("columns from 0 to 1", "columns scaled to run from 0 to 1", (X - low) / spread),
    ]
    return [row for row in found if not np.allclose(row[2], X)]


def other_orders(count: int) -> list[tuple[int, ...]]:
    """All orders of more than two classes but the usual one; none of classes that are too many to try them."""
    if not 2 < count <= _CLASSES:
        return []
    return list(itertools.permutations(range(count)))[1:]


def explained(c: Certificate, tol: float, candidates: list[Candidate]) -> tuple[Finding, ...]:
    """Those under which the answer is proved to be optimal, the smallest gap first."""
    found: list[tuple[float, Finding]] = []
    for name, question, judge in candidates:
        with warnings.catch_warnings(action="ignore"):
            try:
                other = judge()
            except (ValueError, ArithmeticError, TypeError):  # the slip makes no sense for this answer
                continue
        gap = float(other.figures.get("relative_gap", np.inf))
        if other.holds and gap <= tol and gap <= _CLEAR * float(c.figures.get("relative_gap", np.inf)):
            found.append((gap, Finding(name, question, other)))
    found.sort(key=lambda pair: pair[0])
    return tuple(finding for gap, finding in found if gap <= max(_BESIDE * found[0][0], 1e-10))


# estimates that are recomputed: shares, means, neighbours, heights

_ERRORS = ("mean_error", "variance_error", "prior_error", "gradient", "sum_error", "error")
_ROUNDED = (
    "each mean is", "each variance is", "the class shares are", "every probability is", "the probabilities of each",
    "the log posterior has no slope", "every weight is", "the posterior sums", "the posterior is prior",
    "the evidence is the sum", "the mean agrees", "the variance agrees", "the mean logarithm agrees",
    "the share of category", "the mean of column", "the covariance", "each height is",
)  # fmt: skip

Record = Mapping[str, Any]
Undo = Callable[[Data, Record], tuple[Data, Record] | None]
Slip = tuple[str, str, Undo]
"""Name, question, and how the right answer comes from one with this slip: other evidence, or other data."""


def misfit(c: Certificate) -> float:
    """How far off an answer is: zero where it is proved, infinite where more than rounding keeps it from that."""
    if c.holds:
        return 0.0
    if not c.figures or not all(failure.startswith(_ROUNDED) for failure in c.failures):
        return np.inf
    return float(max((c.figures[name] for name in _ERRORS if name in c.figures), default=np.inf))


def undone(c: Certificate, data: Data, tol: float, *groups: Sequence[Slip]) -> Diagnosis:
    """Slips after whose undoing the answer is proved; one slip if that is enough, else one of each group."""
    own = misfit(c)
    if own <= tol:
        return Diagnosis(c, True)
    for many in range(1, len(groups) + 1):
        found: list[tuple[float, list[Finding]]] = []
        for chosen in itertools.combinations(groups, many):
            for slips in itertools.product(*chosen):
                other = _after(c, data, slips)
                if other is not None and (off := misfit(other)) <= min(tol, _CLEAR * own):
                    found.append((off, [Finding(name, question, other) for name, question, _ in slips]))
        if found:
            found.sort(key=lambda pair: pair[0])
            kept = found if many == 1 else found[:1]
            return Diagnosis(c, False, [finding for _, findings in kept for finding in findings])
    return Diagnosis(c, False)


def _after(c: Certificate, data: Data, slips: Iterable[Slip]) -> Certificate | None:
    evidence: Record = dict(c.evidence)
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        try:
            for _, _, undo in slips:
                changed = undo(data, evidence)
                if changed is None:
                    return None
                data, evidence = changed
            return issue(c.kind, data, evidence)
        except (ValueError, ArithmeticError, IndexError):  # the slip makes no sense for this answer
            return None
