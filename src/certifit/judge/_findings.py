"""What a diagnosis is: slips under which an answer is proved to be optimal."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from certifit import _notebook
from certifit.certificates import Certificate

_CLEAR = 0.01  # a slip explains an answer if its gap there is at most this fraction of the gap that is to be explained


@dataclass(frozen=True)
class Finding:
    """One slip under which the answer is optimal.

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
    """What `Certificate.diagnose` found: a list of slips, the best explanation first.

    Empty for a right answer, and where none of the usual slips explains a wrong one; ``right`` tells which.

    Parameters
    ----------
    certificate : Certificate
        The certificate of the answer for the stated objective.
    right : bool
        Whether the answer itself is optimal, up to the tolerance.
    findings : iterable of Finding, default=()
        Slips under which it would be.

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
        if self.right:
            return f"Right. {self.certificate.claim}"
        lines = [self.certificate.claim, *(f"  {finding}" for finding in self)]
        return "\n".join(lines if self else [*lines, "  None of the usual slips explains it."])

    def _repr_html_(self) -> str:
        rows = [(finding.name, finding.sentence) for finding in self]
        return _notebook.card(self.certificate.claim, [_notebook.table([], rows)] if rows else [], self.right)


Candidate = tuple[str, str, Callable[[], Certificate]]


def explained(c: Certificate, tol: float, candidates: list[Candidate]) -> tuple[Finding, ...]:
    """Those under which the answer is proved to be optimal, the smallest gap first."""
    found: list[tuple[float, Finding]] = []
    for name, question, judge in candidates:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                other = judge()
            except (ValueError, ArithmeticError):  # the slip makes no sense for this answer
                continue
        gap = float(other.figures.get("relative_gap", np.inf))
        if other.holds and gap <= tol and gap <= _CLEAR * c.relative_gap:
            found.append((gap, Finding(name, question, other)))
    return tuple(finding for _, finding in sorted(found, key=lambda pair: pair[0]))
