"""What a study says at its end: what was skipped, what was proved, and what would change the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from certifit._types import Named
from certifit.files import TableError
from certifit.study._describe import plural
from certifit.study._facts import Facts
from certifit.study._judge import Measure
from certifit.study._plan import LATE, USUAL, Skipped, StudyPlan
from certifit.study._runner import Result
from certifit.study._verdict import Verdict, difference, diverged, signed

_FEASIBLE = 20  # times as many rows: nobody collects more to tell two models apart
_FLAT = 0.002  # a change of the score that a learning curve does not show
CLOCK = "stopped by the time limit"
_SAID = {
    "separable": "A hyperplane separates the classes.",
    "touching": "The classes touch: a hyperplane separates them only weakly.",
    "overlapping": "No hyperplane separates the classes.",
}


def missing_usual(verdict: Verdict, skipped: Sequence[Skipped]) -> list[str]:
    """Models that usually matter and could not be compared: too much work for the budget, or they failed."""
    compared = {s.name for s in verdict.standings}
    gone = {name for name, why in skipped if name not in compared and why.startswith((LATE, "failed", "diverged"))}
    return [name for name in USUAL if name in gone]


def refuse_without_models(plan: StudyPlan, verdict: Verdict, skipped: Sequence[Skipped]) -> None:
    """A comparison in which no model but the baseline took part is none: say what to raise."""
    late = [item for item in skipped if item[1].startswith((LATE, CLOCK))]
    alone = sum(not c.yardstick for c in plan.candidates) == 1
    if len(verdict.standings) > 1 or (alone and not late):
        return
    reasons = skipped_lines(late[:1] or [item for item in skipped if item not in plan.skipped])
    advice = "raise --time-budget, or name fewer --models" if late else "try other --models"
    raise TableError(f"No model besides the baseline could be compared ({'; '.join(reasons)}): {advice}.")


def cut_short(skipped: Sequence[Skipped]) -> list[str]:
    """Models that the clock ended."""
    return [name for name, why in skipped if why.startswith(CLOCK)]


def unfinished(results: Sequence[Result], folds: int) -> list[Skipped]:
    """Candidates that started and did not finish, with the reason."""
    found = []
    for r in results:
        if r.error:
            found.append((r.name, f"failed: {r.error}"))
        elif not r.complete(folds):
            found.append((r.name, f"{CLOCK} after {len(r.pieces) or 'none'} of {folds} folds"))
        elif not np.all(np.isfinite(r.scores)):
            found.append((r.name, "has no score on some fold"))
        elif (fold := diverged(r, results)) is not None:
            found.append((r.name, f"diverged: its score on fold {fold + 1} is {r.scores[fold]:.2g}"))
    return found


def skipped_lines(skipped: Sequence[Skipped]) -> list[str]:
    """What was skipped, for the terminal: models with the same reason share a line."""
    reasons: dict[str, list[str]] = {}
    for name, why in skipped:
        reasons.setdefault(why, []).append(name)
    return [f"{', '.join(names)}: {why}" for why, names in reasons.items()]


def what_would_change(facts: Facts, verdict: Verdict, record: Named, measure: Measure) -> list[str]:
    """What would change the verdict, from the figures at hand."""
    told = _rivals(facts, verdict)
    if not verdict.beats_baseline:
        told.append(_nothing_found(facts, record["comparison"].get("yardsticks", [])))
    told += _growth(record.get("learning_curve") or [], measure)
    told += [
        f"The column {name!r}: it was dropped because it leaks the target ({score:.3f} on its own). If it is "
        f"known before the target is, use it with --keep {name!r}."
        for name, score in facts.leaks
    ]
    if skipped := record["comparison"]["skipped"]:
        told.append("Skipped models: " + "; ".join(f"{name} ({why})" for name, why in skipped) + ".")
    if facts.duplicates > 0.01 * len(facts.y):
        told.append(f"The {plural(facts.duplicates, 'repeated row')}, if they are copies by mistake.")
    told.append(
        "Other data: every figure assumes that future rows come from the same source as these; a change of instrument, "
        "place or time invalidates them."
    )
    return told


def _nothing_found(facts: Facts, yardsticks: Sequence[Named]) -> str:
    better = [y["name"] for y in yardsticks if y["minus_winner"] > y["half_width"]]
    if better:
        return (
            f"Models of another kind: {' and '.join(better)} {'find' if len(better) > 1 else 'finds'} something about "
            f"{facts.target.name} in these columns that none of the models with proofs finds."
        )
    return (
        f"Other columns or other models: none of the models compared finds anything about {facts.target.name} in these "
        "columns that is more than chance."
    )


def _rivals(facts: Facts, verdict: Verdict) -> list[str]:
    """Models that are as good as the chosen one, for all that is known, and how many rows would tell."""
    chosen = verdict.of(verdict.winner.name)
    rivals = [s for s in verdict.standings if not s.real and s.name not in (chosen.name, "baseline")]
    if not rivals:
        return []
    closest = min(rivals, key=lambda s: abs(s.difference))
    told = [
        f"Other folds: {plural(len(rivals), 'model')} {'is' if len(rivals) == 1 else 'are'} statistically "
        f"indistinguishable from {the(chosen.name)} on these {len(facts.y)} rows (closest: {closest.name}, "
        f"{difference(closest)}); another seed may order them differently."
    ]
    rival = max(rivals, key=lambda s: s.mean)
    rows = len(facts.y) * (rival.half / max(abs(rival.difference), 1e-9)) ** 2
    if len(facts.y) < rows < _FEASIBLE * len(facts.y):
        told.append(
            f"More rows: about {_rough(rows)} would be needed to call the difference to {rival.name} significant, "
            f"if it stays at {abs(rival.difference):.2g}."
        )
    return told


def _growth(curve: Sequence[Mapping[str, float]], measure: Measure) -> list[str]:
    """What the end of the learning curve promises."""
    if len(curve) < 3:
        return []
    gain = curve[-1]["held_out"] - curve[-3]["held_out"]
    first, last = int(curve[-3]["rows"]), int(curve[-1]["rows"])
    if gain > _FLAT:
        return [f"More rows of the same kind: from {first} to {last} training rows {measure.name} rose by {gain:.3f}."]
    if gain < -_FLAT:
        return [f"Chance: from {first} to {last} training rows {measure.name} fell by {-gain:.3f}, which is noise."]
    return [
        "More rows of the same kind would hardly change it: the learning curve is flat "
        f"({signed(gain)} from {first} to {last} rows)."
    ]


def the(name: str) -> str:
    """A model's name inside a sentence."""
    return f"the {name}" if name == "baseline" else name


def _rough(rows: float) -> str:
    digits = max(int(np.floor(np.log10(rows))) - 1, 0)
    return f"{int(round(rows / 10**digits) * 10**digits):,}".replace(",", " ")


def proof_lines(record: Named) -> list[str]:
    """The proofs in a line or two for the terminal."""
    proofs = record["proofs"]
    lines = []
    if "none" in proofs:
        lines.append(proofs["none"])
    if proofs["certificates"]:
        first = proofs["certificates"][0]
        lines.append(("" if first["holds"] else "NOT PROVED: ") + first["claim"])
    if "certain" in proofs:
        certain = proofs["certain"]
        lines.append(f"{certain['labels']} of {certain['of']} training labels are provably those of the exact optimum.")
    if "separability" in proofs:
        found = proofs["separability"]
        lines.append(_SAID.get(found["verdict"], found["text"]) if found["holds"] else found["text"])
    return lines
