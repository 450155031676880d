"""Decision threshold to say "yes": by the costs of the two mistakes, or by what must be reached.

Costs: the threshold of smallest total cost on held-out answers. What it will cost is judged fold by fold, with the
threshold that the other folds choose, and the interval is corrected for overlapping training rows.

``recall >= r`` (or ``specificity``): let the threshold be the k-th smallest probability of n positive rows. Then the
recall on new rows has the law Beta(n − k + 1, k), whatever the law of the probabilities; k is the largest with
P(recall ≥ r) ≥ 0.95. ``precision >= r``: the lowest of twenty thresholds whose precision has a lower limit of at least
r, the limits holding together with 95 %.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.stats

from certifit import metrics
from certifit._limits import corrected_limits
from certifit._types import Array, Record
from certifit.exceptions import TableError

_RULE = re.compile(r"\s*(recall|specificity|precision)\s*(?:>=|≥)\s*(0?\.\d+|1(?:\.0*)?|\d+(?:\.\d*)?\s*%)\s*")
_SURE = 0.95


@dataclass(frozen=True)
class Rule:
    """What must be reached: a figure and its least value.

    Examples
    --------
    >>> Rule.read("recall >= 0.95")
    Rule(figure='recall', least=0.95)
    """

    figure: str
    least: float

    @classmethod
    def read(cls, text: str) -> Rule:
        """The rule that a text such as ``recall >= 0.95`` names."""
        found = _RULE.fullmatch(text)
        if found is None:
            raise TableError(f"A rule reads like 'recall >= 0.95' (or precision, specificity), not {text!r}.")
        value = found[2].rstrip()
        least = float(value[:-1]) / 100 if value.endswith("%") else float(value)
        if not 0.0 < least < 1.0:
            raise TableError(f"The value in {text!r} must lie between 0 and 1.")
        return cls(found[1], least)


def read_costs(text: str) -> tuple[float, float]:
    """The costs of a false alarm and of a miss, from a text such as ``1,20``."""
    try:
        parts = [float(part) for part in text.split(",")]
    except ValueError:
        parts = []
    if len(parts) != 2 or not all(np.isfinite(v) and v > 0 for v in parts):
        raise TableError(
            f"--costs takes the costs of a false positive and of a false negative, such as 1,20, not {text!r}."
        )
    return parts[0], parts[1]


def by_costs(p: Array, happened: Array, fold: Array, costs: tuple[float, float], held_out: float) -> Record:
    """The threshold of smallest cost on held-out answers, and what it costs per row with its interval."""
    threshold = _cheapest(p, happened, costs)
    each = [
        _cost(p[fold == k], happened[fold == k], _cheapest(p[fold != k], happened[fold != k], costs), costs)
        for k in np.unique(fold)
    ]
    low, high, _ = corrected_limits(np.array(each), held_out, 0.95)
    never, always = costs[1] * float(happened.mean()), costs[0] * float(1 - happened.mean())
    return {
        "by": "costs", "costs": list(costs), "threshold": threshold, "cost": float(np.mean(each)),
        "interval": [max(low, 0.0), high], "never": never, "always": always, **_figures(p, happened, threshold),
    }  # fmt: skip


def _cost(p: Array, happened: Array, threshold: float, costs: tuple[float, float]) -> float:
    alarms, misses = np.mean((p >= threshold) & ~happened), np.mean((p < threshold) & happened)
    return float(costs[0] * alarms + costs[1] * misses)


def _cheapest(p: Array, happened: Array, costs: tuple[float, float]) -> float:
    """The threshold of least cost, in the middle of the gap below it: all thresholds in one pass over sorted rows."""
    order = np.argsort(-p, kind="stable")
    value, hit = p[order], happened[order]
    flagged = np.concatenate([[0.0], np.cumsum(np.where(hit, -costs[1], costs[0]))])  # of saying yes to the first k
    ends = np.concatenate([[True], value[1:] < value[:-1], [True]])  # equal probabilities are never parted
    k = int(np.argmin(np.where(ends, flagged, np.inf)))
    above = value[k - 1] if k > 0 else max(1.0, float(np.nextafter(value[0], np.inf)))
    below = value[k] if k < len(value) else 0.0
    middle = (above + below) / 2
    return float(middle if middle > below else above)


def by_rule(p: Array, happened: Array, rule: Rule) -> Record:
    """The threshold that reaches what must be reached with 95 % confidence, and what it reaches."""
    out: dict[str, Any] = {"by": "rule", "figure": rule.figure, "least": rule.least}
    if rule.figure == "precision":
        found = _precise(p, happened, rule.least)
    elif rule.figure == "recall":
        found = _ordered(np.sort(p[happened]), rule.least)
    else:  # specificity: of the rows in which it did not happen, those below the threshold
        found = _ordered(np.sort(-p[~happened]), rule.least)
        found = None if found is None else (float(np.nextafter(-found[0], np.inf)), found[1])
    if found is None:
        few = "too few held-out rows show it"
        return out | {"threshold": None, "why_not": f"no threshold reaches {rule.figure} ≥ {rule.least:g}: {few}"}
    threshold, interval = found
    return out | {"threshold": threshold, "interval": interval} | _figures(p, happened, threshold)


def _ordered(values: Array, least: float) -> tuple[float, list[float]] | None:
    """The largest order statistic above (or at) which new values lie with share ≥ least, 95 % sure; its interval."""
    n = len(values)
    k = np.arange(1, n + 1)
    sure = scipy.stats.beta.sf(least, n - k + 1, k) >= _SURE
    if not sure.any():
        return None
    best = int(k[sure].max())
    interval = [float(scipy.stats.beta.ppf(q, n - best + 1, best)) for q in (0.025, 0.975)]
    return float(values[best - 1]), interval


def _precise(p: Array, happened: Array, least: float) -> tuple[float, list[float]] | None:
    grid = np.unique(np.quantile(p, np.linspace(0, 0.95, 20)))
    for t in grid:
        flagged = p >= t
        figure = metrics.share(int(happened[flagged].sum()), int(flagged.sum()))
        limits = figure.interval(1.0 - 0.05 / len(grid))
        if limits.low >= least:
            return float(t), [limits.low, limits.high]
    return None


def _figures(p: Array, happened: Array, threshold: float) -> Record:
    """Recall, precision, fraction of alarms and confusion matrix (the positive class last) on the held-out rows."""
    flagged = p >= threshold
    hits = int((flagged & happened).sum())
    matrix = [[int((flagged[happened == true] == said).sum()) for said in (False, True)] for true in (False, True)]
    return {
        "matrix": matrix,
        "recall": hits / max(int(happened.sum()), 1),
        "precision": hits / max(int(flagged.sum()), 1),
        "alarms": float(flagged.mean()),
        "rows": len(p),
    }


def in_words(found: Record, positive: str) -> str:
    """The threshold in one sentence or two."""
    if found.get("threshold") is None:
        return f"{found['why_not'][0].upper()}{found['why_not'][1:]}."
    text = f"Predict {positive} when its probability is at least {found['threshold']:.3f}: "
    text += (
        f"{100 * found['alarms']:.1f} % of rows are flagged, {100 * found['recall']:.1f} % of {positive} are found, "
        f"and {100 * found['precision']:.1f} % of those flagged are {positive} (held-out rows)."
    )
    low, high = found["interval"]
    if found["by"] == "costs":
        text += (
            f" A row costs {found['cost']:.3g} on average ({low:.3g} to {high:.3g}, 95 %); never flagging costs "
            f"{found['never']:.3g}, always flagging {found['always']:.3g}."
        )
        plain = "always" if found["always"] <= found["never"] else "never"
        return text + (f" With these costs {plain} flagging costs no more." if found[plain] <= found["cost"] else "")
    return text + f" On new rows {found['figure']} lies between {100 * low:.1f} and {100 * high:.1f} % (95 %)."
