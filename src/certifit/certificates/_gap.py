"""A gap of optimality: its shares, and the sentence that states it."""

from __future__ import annotations

import math

import numpy as np

from certifit.certificates._ball import Ball, to_float
from certifit.certificates._data import Figures
from certifit.certificates._figures import ProvedNumber, upper

SMALLEST = "smallest possible training objective"


def share_of(gap: Ball, null: Ball) -> Ball:
    """gap / null, with 0/0 = 0 (where both are zero beyond doubt; two numbers lost to underflow have no quotient)."""
    if gap.mid == 0 and gap.rad == 0:
        return gap
    if not to_float(null.lower) > 0.0:
        return Ball(np.inf)
    return gap / null


def excess_of(gap: Ball, value: Ball) -> dict[str, ProvedNumber]:
    """gap / lower bound, the only figure that says how far above the smallest objective; none where that may be ≤ 0."""
    bound = value - gap
    if not to_float(bound.lower) > 0.0 or not math.isfinite(to_float(gap.upper)):
        return {}
    return {"excess": upper(gap / bound)}


def words(figures: Figures, theorem: str, model: str | None = None) -> str:
    """The claim about a gap in one sentence; ``model`` names somebody else's fit that was judged.

    Only `excess` may be called a share above the smallest objective; where that is not positive, the gap itself and its
    fraction of the null model's loss are stated.
    """
    if not figures or not math.isfinite(figures["gap"]):
        return f"No bound on the distance to the {SMALLEST} could be proved."
    if "excess" in figures:
        share = max(figures["excess"], 1e-16)  # below the last digit of a float it means nothing to a person
        size = f"{100 * share:.{3 if share >= 0.1 else 2}g} %"
        text = f"at most {size} above the {SMALLEST}"
        if share < 1e-4:
            text = f"within {share:.0e} (relative) of the {SMALLEST}"
    else:
        text = f"at most {figures['gap']:.1e} above the {SMALLEST}"
        if math.isfinite(figures["relative_gap"]):
            text += f", which is {max(figures['relative_gap'], 1e-16):.0e} of the null model's loss"
    text = f"{model}: {text}" if model is not None else f"{text[0].upper()}{text[1:]}"
    text += f", proved by {theorem}"
    if model is not None and "changed" in figures:
        text += f"; {figures['changed']} of {figures['rows']} training labels change there"
    return text + "."


def line(figures: Figures) -> str:
    """Objective, bound and gap in one line; below it, how many labels are certain."""
    if "gap" not in figures:
        return ""
    text = f"objective {figures['value']:.6g}   lower bound {figures['bound']:.6g}   gap {figures['gap']:.1e}"
    if math.isfinite(figures["relative_gap"]):
        text += f" ({figures['relative_gap']:.0e} of the null model's loss)"
    if "certain" in figures:
        text += f"\n  {figures['certain']} of {figures['rows']} training labels are provably those of the exact optimum"
    return text
