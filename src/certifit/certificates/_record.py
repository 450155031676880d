"""The certificate: a claim, the evidence that proves it, and the re-check.

A *kind* of certificate is a small class with three answers: what it proves from data and evidence
(`Kind.prove`), how the claim reads (`Kind.claim`), and which theorem it rests on. Issuing and verifying run the
very same `prove`; verifying then compares what is stated with what is proved.
"""

from __future__ import annotations

import importlib
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from certifit import _notebook
from certifit._atomic import write_atomic
from certifit._types import Matrix, Named, Record, VectorLike, Weights
from certifit.certificates._data import Data, Evidence, Figures, Rigor, digest_evidence
from certifit.certificates._figures import ProvedNumber as ProvedNumber
from certifit.certificates._figures import about as about
from certifit.certificates._figures import equal as equal
from certifit.certificates._figures import lower as lower
from certifit.certificates._figures import roughly as roughly
from certifit.certificates._figures import upper as upper
from certifit.certificates._formulas import assumed
from certifit.certificates._kinds import KINDS as KINDS
from certifit.certificates._kinds import kind_named as kind_named
from certifit.certificates._kinds import kinds as kinds
from certifit.certificates._kinds import known
from certifit.certificates._kinds import register as register
from certifit.certificates._plain import plain, tidy, to_json, to_python
from certifit.certificates._schema import Form, check_form


@dataclass(frozen=True)
class Check:
    """One step of a verification: its name, whether it passed, and the figure behind it.

    Attributes
    ----------
    name : str
        What was checked.
    holds : bool
    figure : str
        The number behind it, in words.

    Examples
    --------
    >>> from certifit.linear_model import Ridge
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.5])
    >>> checks = Ridge().fit(X, y).certificate_.verify(X, y).checks
    >>> all(isinstance(check, Check) and check.holds for check in checks)
    True
    """

    name: str
    holds: bool
    figure: str = ""

    def __str__(self) -> str:
        return f"{'ok ' if self.holds else 'NO '} {self.name}" + (f": {self.figure}" if self.figure else "")


@dataclass(frozen=True)
class Proof:
    """What a kind proved from data and evidence."""

    figures: Mapping[str, ProvedNumber]
    checks: tuple[Check, ...]
    region: object | None = None
    """Where the exact optimum must be, for kinds that bound it; `Certificate.region` hands it on."""

    @property
    def holds(self) -> bool:
        return all(c.holds for c in self.checks)


class Kind(ABC):
    """A kind of certificate. Stateless; one instance is registered per name."""

    name: ClassVar[str]
    theorem: ClassVar[str]
    assumes: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[Mapping[str, Form]] = {}
    """The fields of the evidence and their forms; a kind that lists none checks them itself."""
    may: ClassVar[Mapping[str, Form]] = {}
    """Fields that may be there besides."""

    @abstractmethod
    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        """Recompute every figure from data and evidence alone."""

    @abstractmethod
    def claim(self, figures: Figures, evidence: Evidence) -> str:
        """The claim in one sentence a student understands, from the stated figures."""

    def assumptions(self, evidence: Evidence) -> tuple[str, ...]:
        """What is assumed beyond arithmetic: by the kind itself, and about formulas that a user has registered."""
        return self.assumes + assumed(evidence)

    def recognise(self, data: Data, digests: Named) -> Data | None:
        """The data in the form that was certified; None for other data."""
        return data.as_in(digests.get("data"))

    def details(self, figures: Figures) -> str:
        """The figures as one line under the claim."""
        return "   ".join(f"{in_words(k)} {_short(v)}" for k, v in figures.items())


def in_words(figure: str) -> str:
    """How a figure is called on the screen (proof files keep the names that the checker knows)."""
    return "splits" if figure == "questions" else figure.replace("_", " ")


def _short(v: object) -> str:
    return f"{v:.6g}" if isinstance(v, float) else str(v)


@dataclass(frozen=True)
class Verification:
    """Outcome of a re-check: ``holds``, each check, and whether the data are those of the certificate.

    Parameters
    ----------
    checks : sequence of Check
    same_data : bool
        Whether the data are those the certificate was issued for.

    Examples
    --------
    >>> print(Verification((Check("same data", True),), True))
    holds
      ok  same data
    """

    checks: tuple[Check, ...]
    same_data: bool

    @property
    def holds(self) -> bool:
        """Whether these are the same data and every check passed."""
        return all(c.holds for c in self.checks)

    @property
    def reason(self) -> str:
        """Why it does not hold, in one sentence (empty when it does)."""
        if not self.same_data:
            return "These are not the data that the certificate is about."
        failed = next((c for c in self.checks if not c.holds), None)
        return "" if failed is None else f"The claim is not proved: {failed.name} ({failed.figure})."

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        head = "holds" if self.holds else self.reason
        return "\n".join([head, *(f"  {c}" for c in self.checks)])

    def _repr_html_(self) -> str:
        rows = [("✓" if c.holds else "✗", c.name, c.figure) for c in self.checks]
        said = "Every figure was recomputed from data and evidence." if self.holds else self.reason
        return _notebook.card(said, [_notebook.table([], rows)], self.holds)


@dataclass(frozen=True)
class Certificate:
    """A claim about a fitted model together with the evidence that proves it.

    Attributes
    ----------
    kind, claim, theorem : str
        The kind of claim, the claim in one sentence, and the theorem it rests on.
    holds : bool
        Whether the evidence proves the stated figures (not whether they are small). False if in doubt.
    figures : mapping
        The stated numbers; each is also an attribute (``certificate.gap``).
    evidence : mapping
        Coefficients, dual variables, multipliers: everything that a re-check needs besides the data.
    assumes : tuple of str
        Assumptions beyond arithmetic; empty for pure facts.
    digests : mapping
        SHA-256 of the data and of the evidence.
    about : mapping
        ``rows``, ``columns``, ``weights`` and ``offset`` of the data: the numbers of rows and columns, and whether
        there are weights and offsets.
    rigor : "float" or "exact"
    failures : tuple of str
        The checks that did not pass, when ``holds`` is False.
    region : object or None
        The region in which the exact optimum must lie, used by ``model.certain``. Not written to JSON: it is
        recomputed from the data.

    Examples
    --------
    >>> from certifit.linear_model import Ridge
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.5])
    >>> c = Ridge().fit(X, y).certificate_
    >>> c.holds, c.relative_gap < 1e-12, c.verify(X, y).holds, c.verify(X, y + 1).holds
    (True, True, True, False)
    """

    kind: str
    claim: str
    theorem: str
    holds: bool
    figures: Figures
    evidence: Evidence
    assumes: tuple[str, ...]
    digests: Mapping[str, Any]
    rigor: Rigor = "float"
    failures: tuple[str, ...] = field(default=())
    about: Mapping[str, Any] = field(default_factory=dict)
    region: object | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Plain types only: a number or a word of some other class could answer comparisons as it likes."""
        for name in ("kind", "claim", "theorem", "rigor"):
            object.__setattr__(self, name, str.__str__(getattr(self, name)))
        for name in ("figures", "evidence", "digests", "about"):
            object.__setattr__(self, name, {str.__str__(k): plain(v) for k, v in getattr(self, name).items()})
        for name in ("assumes", "failures"):
            object.__setattr__(self, name, tuple(str.__str__(word) for word in getattr(self, name)))
        object.__setattr__(self, "holds", bool(self.holds))

    def __getattr__(self, name: str) -> Any:
        figures = self.__dict__.get("figures", {})
        if name in figures:
            return figures[name]
        raise AttributeError(f"a {self.__dict__.get('kind')!r} certificate has no figure {name!r}")

    def __str__(self) -> str:
        kind = known()[self.kind]
        lines = [self.claim, f"  {kind.details(self.figures)}"]
        if not self.holds:
            lines.insert(0, f"NOT PROVED ({'; '.join(self.failures)}):")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Certificate{'' if self.holds else ', NOT PROVED'}: {self.claim}>"

    def _repr_html_(self) -> str:
        figures = [(in_words(k), _notebook.short(v)) for k, v in self.figures.items()]
        evidence = [(k.replace("_", " "), _notebook.short(v)) for k, v in self.evidence.items()]
        parts = [_notebook.table([], figures)]
        rests = [("theorem", self.theorem), *(("assumes", word) for word in self.assumes)]
        rests += [("failed", word) for word in self.failures]
        parts.append(_notebook.fold("theorem, assumptions and evidence", _notebook.table([], [*rests, *evidence])))
        return _notebook.card(self.claim, parts, self.holds)

    def diagnose(
        self,
        X: Matrix,
        y: VectorLike | None = None,
        sample_weight: Weights = None,
        *,
        tol: float = 1e-5,
        eta: float | None = None,
        passes: int | None = None,
        trace: Any = None,
    ) -> Any:
        """Explain why an answer is not optimal: try common mistakes and prove those under which it is.

        A penalised offset, λ/2, λn or λ/n for λ, a sum for a mean, a sign, the coding of the labels, scaled or centred
        columns, a transposed matrix, a class left out, another norm or loss; for dual variables another C or kernel;
        for components uncentred or scaled columns, or the smallest eigenvalues; for trees another criterion, sides that
        are not weighted, or answers of leaves; for clusters an early stop, centres that are not means, or scaled
        columns; for policies a wrong sign or missing future rewards; for naive Bayes α, divisors and class shares; for
        neighbours the distance, the row itself, or scaled columns; for densities bandwidth, constants and divisors;
        for posteriors the prior or the sum. For other kinds it says whether the claim holds.

        Parameters
        ----------
        X, y, sample_weight :
            The data that the certificate is about.
        tol : float > 0, default=1e-5
            The relative gap below which an answer counts as optimal, or how far an estimate may be off.
        eta : float > 0, default=None
        passes : int ≥ 1, default=None
            With both, gradient descent from zero with this step is replayed, to see whether it stopped too early or
            diverged.
        trace : Trace, default=None
            Of gradient descent, instead of both; the replay starts where the run started.

        Returns
        -------
        Diagnosis
            A list of mistakes, each with ``name``, ``sentence`` and ``certificate`` (the proof); ``right`` is True
            for a correct answer.

        Examples
        --------
        >>> import certifit as cf
        >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([1.0, 3.0, 4.0, 9.0])
        >>> W = np.column_stack([X, np.ones(4)])
        >>> w, b = np.linalg.solve(W.T @ W / 4 + 0.5 * np.eye(2), W.T @ y / 4)        # the penalty reaches b
        >>> print(cf.certify_coefficients([w], b, X, y, loss="squared", lam=0.5).diagnose(X, y)[0].sentence)
        It is optimal for a penalty that includes the offset: did you penalise the offset?
        """
        judge = importlib.import_module("certifit.judge")  # a higher floor, and only when somebody asks
        return judge.diagnose(self, X, y, sample_weight, tol=tol, eta=eta, passes=passes, trace=trace)

    def verify(
        self,
        X: Matrix,
        y: VectorLike | None = None,
        sample_weight: Weights = None,
        offset: npt.ArrayLike | None = None,
        rigor: Rigor | None = None,
    ) -> Verification:
        """Recompute everything from the data and the evidence; no stored figure is trusted.

        Parameters
        ----------
        X, y, sample_weight, offset :
            The training data.
        rigor : {"float", "exact"}, default=None
            Arithmetic of the re-check; None uses that of the certificate.

        Returns
        -------
        Verification
        """
        if self.kind not in known():
            return Verification((Check("a known kind of certificate", False, self.kind),), True)
        try:
            data = known()[self.kind].recognise(Data.of(X, y, sample_weight, offset), self.digests)
        except Exception:  # what cannot even be read is not what was certified
            data = None
        same = data is not None and self.about in ({}, data.facts())
        checks = [Check("the data are those certified", same, "SHA-256")]
        if data is None or not same:
            return Verification(tuple(checks), False)
        kind = known()[self.kind]
        checks.extend(self.recheck(lambda: _prove(kind, data, self.evidence, rigor or self.rigor)))
        return Verification(tuple(checks), True)

    def recheck(self, prove: Callable[[], Proof]) -> list[Check]:
        """The checks of the evidence itself, of what it proves, and of what is stated.

        Parameters
        ----------
        prove : callable
            The proof from the data, wherever these are.
        """
        try:
            return self._compared(prove())
        except Exception as error:  # evidence comes from anybody: whatever goes wrong in reading it is a refusal
            return [_malformed(error)]

    def _compared(self, proof: Proof) -> list[Check]:
        intact = digest_evidence(self.evidence) == self.digests.get("evidence")
        kind = known()[self.kind]
        return [Check("the evidence is unchanged", intact, "SHA-256"), *proof.checks, *self._compare(proof, kind)]

    def _compare(self, proof: Proof, kind: Kind) -> list[Check]:
        """What is stated against what was just proved."""
        checks = [
            Check("the same figures are stated", set(self.figures) == set(proof.figures)),
            Check("the stated outcome is the proved one", self.holds == proof.holds, f"holds={proof.holds}"),
            Check("a claim that holds lists no failures", not self.holds or not self.failures),
            Check(
                "the claim matches the figures",
                self.claim == kind.claim(self.figures, self.evidence)
                and self.theorem == kind.theorem
                and self.assumes == kind.assumptions(self.evidence),
            ),
        ]
        for name, figure in proof.figures.items():
            stated = self.figures.get(name)
            text = f"stated {_short(stated)}, proved {_short(figure.proved)} ({figure.sense})"
            checks.append(Check(f"figure {name!r}", figure.supports(stated), text))
        return checks

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a proof file, which ``checker.py`` checks with only Python's standard library.

        Parameters
        ----------
        path : str or path
            The file to write; an existing file is replaced atomically.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from certifit.certificates import load
        >>> from certifit.linear_model import Ridge
        >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.5])
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "fit.proof"
        >>> Ridge().fit(X, y).certificate_.save(path)
        >>> load(path).verify(X, y).holds
        True
        """
        from certifit.certificates._proof_file import proof_of

        write_atomic(path, proof_of(self).encode())

    def to_dict(self) -> Record:
        """The certificate as a dictionary that can be written as JSON."""
        return {
            **{name: getattr(self, name) for name in ("kind", "claim", "theorem", "holds", "rigor")},
            "figures": {k: to_json(v) for k, v in self.figures.items()},
            "evidence": {k: to_json(v) for k, v in self.evidence.items()},
            "assumes": list(self.assumes),
            "digests": dict(self.digests),
            "failures": list(self.failures),
            "about": dict(self.about),
        }

    @classmethod
    def from_dict(cls, record: Named) -> Certificate:
        """The certificate of a ``record`` made by `to_dict`; raises ValueError for anything else."""
        try:
            return cls(
                kind=record["kind"],
                claim=record["claim"],
                theorem=record["theorem"],
                holds=bool(record["holds"]),
                figures={k: to_python(v) for k, v in record["figures"].items()},
                evidence={k: to_python(v) for k, v in record["evidence"].items()},
                assumes=tuple(record["assumes"]),
                digests=dict(record["digests"]),
                rigor=record.get("rigor", "float"),
                failures=tuple(record.get("failures", ())),
                about=dict(record.get("about", {})),
            )
        except (*_UNREADABLE, RecursionError) as error:
            raise ValueError(f"This is not the record of a certificate: {error!r}.") from error

    def tampered(self, **changes: Any) -> Certificate:
        """A modified copy, for tests and demonstrations that `verify` rejects it.

        Parameters
        ----------
        **changes
            Fields to replace, by name; digests stay as they are unless given.
        """
        return replace(self, **changes)


# What evidence of wrong types, shapes or values raises when it is read.
_UNREADABLE = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)


def _malformed(error: Exception) -> Check:
    return Check("the evidence is complete and well-formed", False, str(error) or type(error).__name__)


def _prove(kind: Kind, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
    if rigor not in ("float", "exact"):
        raise ValueError(f"rigor is 'float' or 'exact', not {rigor!r}")
    weights = data.sample_weight
    if weights is not None and not np.all((weights >= 0.0) & np.isfinite(weights)):
        raise ValueError("weights are finite and not negative")
    if data.y is not None and np.any(data.y != data.y):
        raise ValueError("a label is NaN, which is not equal to itself")
    return proved(kind, evidence, lambda: kind.prove(data, evidence, rigor))


def proved(kind: Kind, evidence: Evidence, prove: Callable[[], Proof]) -> Proof:
    """What a kind proves; overflow makes radii infinite, which is a doubt and not worth a warning."""
    if kind.needs:
        check_form(evidence, kind.needs, kind.may)
    with np.errstate(all="ignore"):
        proof = prove()
    unknown = [k for k, f in proof.figures.items() if isinstance(f.stated, float) and math.isnan(f.stated)]
    if unknown:  # an overflow on the way: nothing is known of it, so nothing is claimed
        return replace(proof, checks=(*proof.checks, Check("every figure is a number", False, unknown[0])))
    return proof


def issue(kind: str, data: Data, evidence: Evidence, rigor: Rigor = "float", digest: str | None = None) -> Certificate:
    """Issue a certificate: prove what the evidence allows.

    Parameters
    ----------
    kind : str
        One of `kinds`.
    data : Data
        What the claim is about.
    evidence : mapping
        Coefficients, multipliers, witnesses: whatever the kind asks for.
    rigor : {"float", "exact"}, default="float"
        Error-bounded floats, or rationals.
    digest : str, default=None
        The SHA-256 of the data, where another claim about them has it already.

    Returns
    -------
    Certificate
        With ``holds`` False and the reason in ``failures`` where the evidence is incomplete or malformed.

    Examples
    --------
    >>> from certifit.certificates import Data
    >>> from certifit.linear_model import Ridge
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.5])
    >>> c = Ridge().fit(X, y).certificate_
    >>> again = issue(c.kind, Data.of(X, y), c.evidence)
    >>> again.holds, again.gap == c.gap
    (True, True)
    >>> issue(c.kind, Data.of(X, y), {}).holds
    False
    """
    which = kind_named(kind)
    evidence, digests = tidy(evidence), {"data": digest or data.digest()}
    return written(which, evidence, lambda: _prove(which, data, evidence, rigor), digests, data.facts(), rigor)


def written(
    kind: Kind,
    evidence: Evidence,
    prove: Callable[[], Proof],
    digests: Named,
    about: Named,
    rigor: Rigor = "float",
) -> Certificate:
    """The certificate of a proof, or of its failure; ``digests`` and ``about`` say of which data."""
    try:
        proof = prove()
        figures = {k: f.stated for k, f in proof.figures.items()}
        claim, assumes = kind.claim(figures, evidence), kind.assumptions(evidence)
    except _UNREADABLE as error:
        proof, figures = Proof({}, (_malformed(error),)), {}
        claim, assumes = "Nothing is proved: the evidence is not complete and well-formed.", kind.assumes
    return Certificate(
        kind=kind.name,
        claim=claim,
        theorem=kind.theorem,
        holds=proof.holds,
        figures=figures,
        evidence=evidence,
        assumes=assumes,
        digests={**digests, "evidence": digest_evidence(evidence)},
        rigor=rigor,
        failures=tuple(f"{c.name}: {c.figure}" if c.figure else c.name for c in proof.checks if not c.holds),
        about=about,
        region=proof.region if proof.holds else None,
    )
