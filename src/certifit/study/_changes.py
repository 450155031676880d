"""What a study says about its data, and what would change its verdict: sentences from figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from certifit.study._compare import Result
from certifit.study._facts import Facts
from certifit.study._judge import Measure
from certifit.study._verdict import Verdict, difference, signed

_RARE = 0.1


def _plural(count: int, word: str, words: str | None = None) -> str:
    return f"{count} {word if count == 1 else words or word + 's'}"


def summary(facts: Facts) -> str:
    """The table in one line."""
    kinds = Counter(c.kind for c in facts.schema.columns)
    words = {"number": "numbers", "category": "categories", "boolean": "booleans", "date": "dates"}
    parts = ", ".join(f"{n} {words[k] if n > 1 else k}" for k, n in kinds.most_common())
    missing = f", {_plural(facts.missing, 'missing cell')}" if facts.missing else ""
    return f"{len(facts.y)} rows, {_plural(len(facts.schema.columns), 'column')} ({parts}){missing}"


def remarks(facts: Facts) -> list[str]:
    """What a reader must know about the data, one sentence each."""
    said = [f"{name!r} gives the answer away ({score:.3f} by itself): dropped" for name, score in facts.leaks]
    leaked = dict(facts.leaks)
    said += [f"{name!r} is not used: {why}" for name, why in facts.schema.dropped if name not in leaked]
    said += list(facts.notes)
    if facts.duplicates:
        said.append(
            f"{_plural(facts.duplicates, 'row')} equal{'s' * (facts.duplicates == 1)} an earlier one: "
            "kept in the same fold"
        )
    if facts.task == "classification":
        shares = facts.shares()
        rarest = min(shares, key=lambda k: shares[k])
        if shares[rarest] < _RARE * len(facts.y):
            said.append(
                f"class {rarest!r} is rare ({_plural(shares[rarest], 'row')}, {shares[rarest] / len(facts.y):.1%}): "
                "accuracy alone would mislead"
            )
    return said


def describe(facts: Facts) -> dict[str, Any]:
    """The data as the record holds them."""
    used = {c.name: j for j, c in enumerate(facts.schema.columns)}
    columns = []
    for f in facts.found:
        row: dict[str, Any] = {"name": f.name, "kind": f.kind, "missing": f.missing, "distinct": f.distinct}
        row["used"] = f.name in used
        if f.name in used and f.column is not None:
            x = facts.X[:, used[f.name]]
            row |= _spread(x, f.column.kind, f.column.categories)
        elif f.column is not None:
            row["why"] = "gives the answer away"
        else:
            row["why"] = f.why
        columns.append(row)
    out = {
        "source": facts.table.source,
        "sha256": facts.table.digest,
        "rows": len(facts.y),
        "summary": summary(facts),
        "remarks": remarks(facts),
        "columns": columns,
        "target": facts.target.name,
        "missing_cells": facts.missing,
        "duplicates": facts.duplicates,
        "leaks": [{"name": n, "alone": s} for n, s in facts.leaks],
    }
    if facts.task == "classification":
        return out | {"shares": facts.shares()}
    low, middle, high = (float(v) for v in np.quantile(facts.y, [0.0, 0.5, 1.0]))
    counts, edges = np.histogram(facts.y, bins=min(30, max(8, len(np.unique(facts.y)))))
    histogram = {"counts": counts.tolist(), "edges": [float(f"{e:.6g}") for e in edges]}
    return out | {"target_range": [low, middle, high], "target_histogram": histogram}


def _spread(x: Any, kind: str, categories: Sequence[str]) -> dict[str, Any]:
    seen = x[~np.isnan(x)]
    if kind == "category":
        counts = np.bincount(seen[seen >= 0].astype(int), minlength=len(categories))
        top = np.argsort(-counts, kind="stable")[:4]
        return {"levels": [[categories[int(t)], int(counts[t])] for t in top]}
    if not len(seen):
        return {}
    marks = np.quantile(seen, [0.0, 0.5, 1.0])
    if kind == "date":
        return {"range": [str(np.datetime64(int(day), "D")) for day in np.floor(marks)]}
    return {"range": [float(v) for v in marks]}


def left_behind(results: Sequence[Result], folds: int) -> list[tuple[str, str]]:
    """Candidates that started and did not finish, with the reason."""
    left = []
    for r in results:
        if r.error:
            left.append((r.name, f"failed: {r.error}"))
        elif not r.complete(folds):
            left.append((r.name, f"the time budget allowed {len(r.pieces) or 'none'} of {folds} folds"))
        elif not np.all(np.isfinite(r.scores)):
            left.append((r.name, "gives no score on some fold"))
    return left


def left_lines(left: Sequence[tuple[str, str]]) -> list[str]:
    """What was left out, for the terminal: models with the same reason share a line."""
    reasons: dict[str, list[str]] = {}
    for name, why in left:
        reasons.setdefault(why, []).append(name)
    return [f"{', '.join(names)}: {why}" for why, names in reasons.items()]


def what_would_change(facts: Facts, verdict: Verdict, record: Mapping[str, Any], measure: Measure) -> list[str]:
    """What would change the verdict, from the figures at hand."""
    said = []
    chosen = verdict.of(verdict.winner.name)
    rivals = [s for s in verdict.standings if not s.real and s.name not in (chosen.name, "baseline")]
    if rivals:
        closest = min(rivals, key=lambda s: abs(s.difference))
        said.append(
            f"Other folds: {_plural(len(rivals), 'model')} {'is' if len(rivals) == 1 else 'are'} statistically "
            f"indistinguishable from {the(chosen.name)} on these {len(facts.y)} rows (closest: {closest.name}, "
            f"{difference(closest)}); another seed may order them differently."
        )
        rival = max(rivals, key=lambda s: s.mean)
        rows = len(facts.y) * (rival.half / max(abs(rival.difference), 1e-9)) ** 2
        if len(facts.y) < rows < 1e8:
            said.append(
                f"More rows: about {_rough(rows)} would be needed to call the difference to {rival.name} significant, "
                f"if it stays at {abs(rival.difference):.2g}."
            )
    if not verdict.beats_baseline:
        said.append(
            f"Other columns: what these say about {facts.target.name} is too little; one that stands closer to its "
            "cause would change everything."
        )
    curve = record.get("learning_curve") or []
    if len(curve) >= 3:
        gain = curve[-1]["held_out"] - curve[-3]["held_out"]
        if gain > 0.01:
            said.append(
                f"More rows again: {measure.name} still rose by {gain:.3f} over the last part of the learning curve."
            )
        else:
            said.append(
                "Not simply more rows of the same kind: the learning curve is flat "
                f"({signed(gain)} over its last part)."
            )
    said += [
        f"The column {name!r}: it was dropped because it gives the answer away ({score:.3f} by itself). If it is "
        f"known before the answer is, use it with --keep {name!r}."
        for name, score in facts.leaks
    ]
    left = record["comparison"]["left"]
    if left:
        said.append("Skipped models: " + "; ".join(f"{name} ({why})" for name, why in left) + ".")
    if facts.duplicates > 0.01 * len(facts.y):
        said.append(f"The {_plural(facts.duplicates, 'repeated row')}, if they are copies by mistake.")
    said.append(
        "Other data: every figure assumes that future rows come from where these came from; a change of instrument, "
        "place or time voids them."
    )
    return said


def the(name: str) -> str:
    """A model's name inside a sentence."""
    return f"the {name}" if name == "baseline" else name


def _rough(rows: float) -> str:
    digits = max(int(np.floor(np.log10(rows))) - 1, 0)
    return f"{int(round(rows / 10**digits) * 10**digits):,}".replace(",", " ")


def proof_lines(record: Mapping[str, Any]) -> list[str]:
    """The proofs in a line or two for the terminal."""
    proofs = record["proofs"]
    lines = []
    if proofs["certificates"]:
        first = proofs["certificates"][0]
        lines.append(("" if first["holds"] else "NOT PROVED: ") + first["claim"])
    if "certain" in proofs:
        lines.append(f"{proofs['certain']['labels']} of {proofs['certain']['of']} labels are certain")
    if "separability" in proofs:
        lines.append(f"the classes are {proofs['separability']['verdict']}")
    return lines
