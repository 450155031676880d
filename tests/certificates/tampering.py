"""Attacks that every certificate must withstand."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from certifit.certificates import Certificate, Data, issue
from certifit.certificates._data import digest_evidence


def refuses_everything(
    c: Certificate, X: Any, y: Any, sample_weight: Any = None, at_most: tuple[str, ...] = ("gap", "relative_gap")
) -> None:
    """Change data, evidence, figures and words in turn; each time `verify` must refuse, and say why.

    Figures named in ``at_most`` are upper bounds, which are made smaller: a weaker one would still be proved.
    """
    assert c.holds, str(c)
    assert c.verify(X, y, sample_weight).holds, str(c.verify(X, y, sample_weight))
    again = Certificate.from_dict(c.to_dict())
    assert again.verify(X, y, sample_weight).holds, "the JSON round trip must keep the proof"
    _refuses_other_data(c, np.array(X), y, sample_weight)
    _refuses_other_evidence(c, X, y, sample_weight)
    _refuses_other_words(c, X, y, sample_weight, at_most)


def forged(c: Certificate, **evidence: Any) -> Certificate:
    """The certificate with other evidence (None takes a field away) and a digest to match."""
    changed = {k: v for k, v in {**c.evidence, **evidence}.items() if v is not None}
    return c.tampered(evidence=changed, digests={**c.digests, "evidence": digest_evidence(changed)})


def reissued(c: Certificate, data: Data, **evidence: Any) -> Certificate:
    """What the trusted part itself says of other evidence, sent through JSON as a third party would get it."""
    changed = {k: v for k, v in {**c.evidence, **evidence}.items() if v is not None}
    return Certificate.from_dict(json.loads(json.dumps(issue(c.kind, data, changed, c.rigor).to_dict())))


def _refuses_other_data(c: Certificate, X: Any, y: Any, w: Any) -> None:
    other = X.copy()
    if other.dtype.kind == "f":
        other[0, 0] += 1e-9 * (1 + abs(other[0, 0]))
    else:
        other[[0, -1]] = other[[-1, 0]]
    v = c.verify(other, y, w)
    assert not v.holds
    assert not v.same_data
    assert "not the data" in v.reason
    assert not c.verify(X[1:], None if y is None else y[1:], None if w is None else w[1:]).holds
    if w is None:
        assert not c.verify(X, y, np.linspace(0.5, 1.5, len(X))).holds


def _refuses_other_evidence(c: Certificate, X: Any, y: Any, w: Any) -> None:
    for name, value in c.evidence.items():
        if not isinstance(value, np.ndarray) or value.dtype.kind != "f" or value.size == 0:
            continue
        changed = value.copy()
        changed.flat[0] += 0.01 * (1 + np.abs(value).max())
        evidence = {**c.evidence, name: changed}
        assert not c.tampered(evidence=evidence).verify(X, y, w).holds, name
        if "coef" in name:  # also when the forger recomputes the digest: the figures are no longer proved
            digests = {**c.digests, "evidence": digest_evidence(evidence)}
            forged = c.tampered(evidence=evidence, digests=digests).verify(X, y, w)
            assert not forged.holds or name.startswith("witness"), name


def _refuses_other_words(c: Certificate, X: Any, y: Any, w: Any, at_most: tuple[str, ...]) -> None:
    for name, value in c.figures.items():
        if isinstance(value, bool):
            wrong: Any = not value
        elif isinstance(value, (int, float)):
            wrong = value / 100 - 1e-3 if name in at_most else value * 1.5 + 1.0
        else:
            wrong = f"not {value}"
        if name in ("bound_kind",) or wrong == value:
            continue
        assert not c.tampered(figures={**c.figures, name: wrong}).verify(X, y, w).holds, name
    assert not c.tampered(claim="This model is perfect.").verify(X, y, w).holds
    assert not c.tampered(kind="unheard of").verify(X, y, w).holds
    assert not c.tampered(evidence={}).verify(X, y, w).holds
