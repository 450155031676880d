"""The siege of one kind: forged certificates by the hundred, each of which must be refused or be true."""

from __future__ import annotations

import json
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import tests.attacks.oracles  # noqa: F401 (adds judges)
from certifit import checker
from certifit.certificates import Certificate, Data, issue
from certifit.certificates._data import digest_evidence
from certifit.certificates._proof_file import proof_of
from certifit.exceptions import CertifitError
from tests.attacks.cases import Case, all_cases
from tests.attacks.judges import JUDGES
from tests.attacks.mutations import Change, LyingWord, data_changes, draw, evidence_changes, figure_changes

ALSO_CHECKED = (
    "cluster-sums",
    "complement-sums",
    "component-sums",
    "conjugate-posterior",
    "counted-sums",
    "cross-validation",
    "evidence-maximum",
    "gaussian-sums",
    "harmonic-labels",
    "histogram",
    "hold-out",
    "isotonic",
    "kernel-density",
    "kernel-perceptron",
    "likelihood-equations",
    "margin-sums",
    "maximum-likelihood",
    "mixed-sums",
    "moments",
    "network-gradient",
    "network-radius",
    "no-margin",
    "passes",
    "stationary",
    "tree",
    "tree-general",
)  # kinds that both a judge and the checker decide
LIMIT = 10.0  # seconds of the processor that one answer may take, however busy the machine is


class Late(BaseException):
    """Not an Exception: nothing on the way may take it for one."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `Late` when the block takes longer (where the system can interrupt)."""

    def ring(*_: Any) -> None:
        raise Late

    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


@dataclass
class Tally:
    """What came of the attacks on one kind."""

    kind: str
    outcomes: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.kind}: " + ", ".join(f"{v} {k}" for k, v in sorted(self.outcomes.items()))


def flat(v: Any) -> list[Any]:
    """Evidence as one list: equal for the same numbers, however they are kept."""
    if isinstance(v, dict):
        return [x for k in sorted(v) for x in [k, *flat(v[k])]]
    if isinstance(v, (list, tuple)):
        return [x for part in v for x in flat(part)]
    if isinstance(v, np.ndarray):
        return [x for part in v.ravel().tolist() for x in flat(part)]
    if isinstance(v, (bool, int, float)):
        return [repr(float(v) + 0.0)] if abs(v) < 1e300 or v != v else [repr(v)]
    return [repr(v)]


def sealed(c: Certificate, evidence: dict[str, Any]) -> Certificate:
    """The certificate with other evidence and a digest to match."""
    changed = c.tampered(evidence=evidence)
    return changed.tampered(digests={**c.digests, "evidence": digest_evidence(changed.evidence)})


def _forge(case: Case, change: Change) -> Iterator[tuple[str, Certificate]]:
    """The old words over new evidence, and what the trusted part itself says of the new evidence."""
    name, edit = change
    try:
        evidence = edit(dict(case.certificate.evidence))
    except (IndexError, KeyError, TypeError):  # the second of two changes has lost its place
        return
    try:
        yield f"forged {name}", sealed(case.certificate, evidence)
        yield f"reissued {name}", issue(case.kind, case.data, evidence, case.certificate.rigor)
    except TypeError as refusal:  # evidence of a type that no certificate can hold
        assert "a certificate holds" in str(refusal) or "descriptor" in str(refusal), refusal  # noqa: PT017


def _words(case: Case) -> Iterator[tuple[str, Certificate]]:
    """Other words: claim, theorem, assumptions, outcome, rigour, failures, digests; other figures."""
    c = case.certificate
    others: dict[str, list[Any]] = {
        "claim": ["This model is perfect.", "", c.claim + " ", LyingWord("This model is perfect.")],
        "theorem": ["none", LyingWord("none")],
        "assumes": [("nothing",), (*c.assumes, "the earth is flat"), ()],
        "holds": [False],
        "rigor": ["perfect", "", LyingWord("perfect")],
        "failures": [("none at all",)],
        "kind": ["unheard of", LyingWord("unheard of"), "duality", "tree"],
        "digests": [{}, {**c.digests, "evidence": ""}, {**c.digests, "data": ""}],
    }
    for name, values in others.items():
        for value in values:
            if value != getattr(c, name) or isinstance(value, LyingWord):
                yield f"{name} {value!r}", c.tampered(**{name: value})
    for name, figures in figure_changes(dict(c.figures)):
        try:
            yield name, c.tampered(figures=figures)
        except TypeError:
            continue


def _table(X: Any, y: Any, w: Any) -> checker.Table:
    """The data as the checker reads them from a file."""
    data = Data.of(X, y, w)
    rows = data.X.toarray() if hasattr(data.X, "toarray") else data.X

    def cells(part: Any) -> list[Any]:
        return [float(v) if isinstance(v, (bool, int, float)) else str(v) for v in part.tolist()]

    columns = None if data.y is None else [cells(column) for column in data.y.reshape(len(data.y), -1).T]
    weight = None if data.sample_weight is None else cells(data.sample_weight)
    return checker.Table([cells(row) for row in rows], columns, weight)


def refused_by_checker(c: Certificate, X: Any, y: Any, w: Any) -> str | None:
    """Why the checker does not prove a proof file of this certificate; None where it does, or where there is no file.

    It does not judge a table without rows, whose columns no file can tell.
    """
    if not len(np.asarray(Data.of(X).X.toarray() if hasattr(X, "toarray") else X)):
        return None
    try:
        checker.check(json.loads(proof_of(c)), _table(X, y, w), say=lambda text: None)
    except CertifitError:
        return None  # no file is written, in words
    except checker.Refused as why:
        return str(why)
    return None


def verdict_on(c: Certificate, case: Case, X: Any, y: Any, w: Any) -> str | None:
    """Why a certificate that verified is false: an independent judge says so, or there is none and the checker refuses."""
    if not c.claim.isprintable():
        return "a claim that cannot be printed"
    if c.kind in JUDGES:
        false = JUDGES[c.kind](c, np.asarray(X), None if y is None else np.asarray(y), w)
        if false is not None or c.kind not in ALSO_CHECKED:
            return false
    why = refused_by_checker(c, X, y, w)
    return None if why is None else f"the checker refuses: {why}"


def try_one(tally: Tally, case: Case, name: str, c: Certificate, data: tuple[Any, Any, Any] | None = None) -> None:
    """Ask `verify`; whatever it accepts must be true."""
    X, y, w = data or (case.X, case.y, case.sample_weight)
    where = f"{case.name}, {name}"
    try:
        with time_limit(LIMIT), np.errstate(all="ignore"):
            # What `issue` itself does not prove is refused by the same proof again: asking twice is half of the time.
            accepted = (c.holds or not name.startswith("reissued")) and c.verify(X, y, w).holds
            false = verdict_on(c, case, X, y, w) if accepted else None
    except Late:
        tally.broken.append(f"{where}: no answer within {LIMIT} s")
        return
    except Exception as error:
        tally.broken.append(f"{where}: {type(error).__name__}: {error}")
        return
    if not accepted:
        tally.outcomes["refused"] += 1
    elif false is not None:
        tally.broken.append(f"{where}: accepted, but {false}: {c.claim}")
    elif flat(dict(c.evidence)) == flat(dict(case.certificate.evidence)) and data is None:
        tally.outcomes["the same evidence"] += 1
    else:
        tally.outcomes["true"] += 1


def besiege(kind: str, count: int, seed: int = 0) -> Tally:
    """At least ``count`` attacks on a kind: evidence, alone and two at a time; words; data."""
    rng, tally, cases = np.random.default_rng(seed), Tally(kind), all_cases()[kind]
    changes = {}
    for case in cases:
        mates = [o.certificate.evidence for o in cases if o is not case]
        changes[case.name] = evidence_changes(dict(case.certificate.evidence), mates, rng)
        words = list(_words(case))
        for at in rng.permutation(len(words))[: max(20, count // (8 * len(cases)))]:
            try_one(tally, case, *words[int(at)])
        for name, (X, y, w) in data_changes(case.X, case.y, case.sample_weight, rng):
            try:
                data = Data.of(X, y, w)
            except ValueError:
                continue
            c = issue(kind, data, case.certificate.evidence, case.certificate.rigor)
            try_one(tally, case, f"{name} reissued", c, (X, y, w))
    while sum(tally.outcomes.values()) + len(tally.broken) < count:
        case = cases[int(rng.integers(len(cases)))]
        for name, c in _forge(case, draw(changes[case.name], rng)):
            try_one(tally, case, name, c)
    return tally
