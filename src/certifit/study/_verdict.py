"""Which model, and which differences are significant.

Fold scores of overlapping training sets vary less than independent ones would: the variance of a mean (of
scores, or of paired differences) is s²(1/K + n_test/n_train) (Nadeau and Bengio, 2003). Once any candidate is
significantly better than the baseline, the choice is the simplest one within one such standard error of the best, and
at most 0.02 behind it.
A candidate without probabilities is chosen only when it is significantly better than the best that has them; one that
diverges on a fold is not compared.
Claims about differences to the chosen one hold all together with 95 % (Holm); a difference is called significant when
its interval excludes zero. Beside these stand the scores with intervals that hold together, too: where two of them are
disjoint the difference is significant, as a difference varies no more than both scores together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.stats

from certifit._limits import corrected_limits, held_out_share
from certifit._types import Array, Named, Record
from certifit.study._black_box import NOTHING
from certifit.study._judge import Measure
from certifit.study._plan import Fold
from certifit.study._runner import Result

_BEST = "the model with the best mean score"
_GIVEN_AWAY = 0.02  # of the best mean score, at most: where scores vary much, a standard error is no small thing
_SIMPLEST = f"the simplest model within one standard error of the best and at most {_GIVEN_AWAY} behind it"
_SURE = " that gives probabilities"
_DIVERGED = 10.0  # below the baseline's score


@dataclass(frozen=True)
class Standing:
    """One candidate in the comparison."""

    name: str
    mean: float
    low: float
    high: float
    difference: float  # winner − this one, mean over folds
    half: float  # half the interval of that difference, wide enough for all claims to hold together
    p_value: float  # adjusted for the number of comparisons (Holm)
    real: bool
    seconds: float
    scores: Array
    joint: tuple[float, float]  # the interval of the score, wide enough for those of all candidates to hold together


@dataclass(frozen=True)
class Verdict:
    """The chosen candidate and how the others stand to it (best mean first)."""

    winner: Result
    standings: tuple[Standing, ...]
    rule: str
    beats_baseline: bool

    def of(self, name: str) -> Standing:
        return next(s for s in self.standings if s.name == name)


def corrected(values: Array, held_out: float, level: float = 0.95) -> tuple[float, float, float]:
    """Mean over the folds, half-width of its interval and standard error, corrected for overlapping folds.

    ``held_out`` is the number of test rows per training row.

    Examples
    --------
    >>> mean, half, se = corrected(np.array([0.8, 0.9, 0.85, 0.95]), 1 / 3)
    >>> round(mean, 3), round(half, 3), round(se, 4)
    (0.875, 0.157, 0.0493)
    """
    low, high, error = corrected_limits(values, held_out, level)
    return float(np.mean(values)), (high - low) / 2.0, error


def decide(results: Sequence[Result], folds: Sequence[Fold], measure: Measure) -> Verdict:
    """Choose, and say how every other candidate stands to the choice."""
    complete = comparable(results, len(folds))
    if not complete:
        errors = "; ".join(f"{r.name}: {r.error}" for r in results if r.error)
        raise RuntimeError(f"No model could be compared: {errors or 'the time budget was too short'}.")
    held_out = held_out_share(folds)
    baseline = next((r for r in complete if r.name == "baseline"), None)
    models = [r for r in complete if r is not baseline]
    if baseline is not None:
        # One model that is significantly better shows that the columns tell something; then all compete on equal terms.
        # With m models each is given an m-th of the 5 % chance of a false alarm.
        tells = any(_beats(r, baseline, held_out, 1.0 - 0.1 / len(models)) for r in models)
        models = [r for r in models if tells and r.scores.mean() > baseline.scores.mean()]
    if not models:
        rule = "nothing is significantly better than a prediction that ignores the columns"
        return Verdict(baseline or complete[0], _standings(complete, baseline or complete[0], held_out), rule, False)
    winner, rule = _choice(models, held_out)
    return Verdict(winner, _standings(complete, winner, held_out), rule, True)


def comparable(results: Sequence[Result], folds: int) -> list[Result]:
    """Candidates that finished with a score on every fold and diverged on none."""
    finished = [r for r in results if r.complete(folds) and np.all(np.isfinite(r.scores))]
    return [r for r in finished if diverged(r, results) is None]


def diverged(r: Result, results: Sequence[Result]) -> int | None:
    """The fold on which a candidate's predictions left all bounds: far worse than the baseline's; None if on none.

    A score below the baseline's by 10 (of R², say) means errors of more than three times the target's own spread.
    """
    baseline = next((b for b in results if b.name == "baseline"), None)
    if baseline is None or r is baseline or len(baseline.scores) != len(r.scores):
        return None
    worst = int(np.argmin(r.scores - baseline.scores))
    return worst if r.scores[worst] < baseline.scores[worst] - _DIVERGED else None


def _choice(models: Sequence[Result], held_out: float) -> tuple[Result, str]:
    """The simplest within one standard error of the best, among models with probabilities where that costs nothing."""
    best = max(models, key=_mean)
    usable = [r for r in models if r.has_probabilities]
    if usable and not best.has_probabilities:
        first = max(usable, key=_mean)
        if not _beats(best, first, held_out):
            chosen = _simplest(usable, first, held_out)
            return chosen, (_BEST if chosen is first else _SIMPLEST) + _SURE
    chosen = _simplest(usable if usable and best.has_probabilities else models, best, held_out)
    return chosen, _BEST if chosen is best else _SIMPLEST


def _simplest(models: Sequence[Result], best: Result, held_out: float) -> Result:
    """The first (the table has simple ones first) within one standard error of the best that gives little away."""
    for r in models:
        gap, _, se = corrected(best.scores - r.scores, held_out)
        if r is best or gap <= min(se, _GIVEN_AWAY):
            return r
    return best


def _mean(r: Result) -> float:
    return float(r.scores.mean())


def _beats(r: Result, other: Result, held_out: float, level: float = 0.95) -> bool:
    gain, half, _ = corrected(r.scores - other.scores, held_out, level)
    return bool(gain - half > 0.0)


def _standings(complete: Sequence[Result], winner: Result, held_out: float) -> tuple[Standing, ...]:
    raw = _step_down([r for r in complete if r is not winner], winner, held_out)
    found = []
    for r in complete:
        mean, half, _ = corrected(r.scores, held_out)
        joint = corrected(r.scores, held_out, 1.0 - 0.05 / len(complete))[1]
        gap, width, p = raw.get(r.name, (0.0, 0.0, 1.0))
        found.append(
            Standing(
                r.name,
                mean,
                mean - half,
                min(mean + half, 1.0),  # no score goes beyond 1
                gap,
                width,
                p,
                p < 0.05,
                r.seconds,
                r.scores,
                (mean - joint, min(mean + joint, 1.0)),
            )
        )
    return tuple(sorted(found, key=lambda s: -s.mean))


def _step_down(rivals: Sequence[Result], winner: Result, held_out: float) -> dict[str, tuple[float, float, float]]:
    """Difference, half its interval and adjusted p of each rival, by Holm's procedure.

    The clearest difference is judged at 5 % over the number of all rivals, the next one at 5 % over the number of the
    others, and so on until one is not significant. All claims hold together with 95 %; the intervals have the levels
    at which their claims were judged, so that they exclude zero exactly when the difference is significant.
    """
    plain = []
    for r in rivals:
        gap, _, se = corrected(winner.scores - r.scores, held_out)
        p = 2.0 * scipy.stats.t.sf(abs(gap) / se, len(r.scores) - 1) if se > 0 else float(gap == 0.0)
        plain.append((float(p), r))
    found, worst, left = {}, 0.0, len(plain)
    for p, r in sorted(plain, key=lambda item: item[0]):
        gap, half, _ = corrected(winner.scores - r.scores, held_out, 1.0 - 0.05 / left)
        worst = max(worst, min(1.0, left * p))
        found[r.name] = (gap, half, worst)
        if worst < 0.05:
            left -= 1
    return found


def yardsticks(results: Sequence[Result], verdict: Verdict, folds: Sequence[Fold]) -> list[Record]:
    """How models that are never chosen compare with the choice, in words and figures (95 % intervals)."""
    held_out = held_out_share(folds)
    found = []
    for r in results:
        if not r.candidate.yardstick or not r.complete(len(folds)) or not np.all(np.isfinite(r.scores)):
            continue
        gain, half, _ = corrected(r.scores - verdict.winner.scores, held_out)
        mean, width, _ = corrected(r.scores, held_out)
        what = f"{_capital(r.name)} scores {_number(mean)}, {signed(gain)} ± {_number(half)} against the chosen model"
        if gain - half > 0.0:
            what += ": the cost of a model that is proved and interpretable"
        elif gain + half < 0.0:
            what += ": significantly worse"
        else:
            what += ": not a significant difference"
        found.append(
            {
                "name": r.name, "text": what + ".", "mean": mean, "interval": [mean - width, min(mean + width, 1.0)],
                "minus_winner": gain, "half_width": half, "fold_scores": [float(v) for v in r.scores],
            }
        )  # fmt: skip
    return found


def in_words(verdict: Verdict, measure: Measure, missing: Sequence[str] = (), beside: Sequence[Named] = ()) -> str:
    """The verdict in one paragraph; models that usually matter and are missing from it come first.

    Where no model beats the baseline but a yardstick (``beside``) does, it is not said that the columns tell nothing.
    """
    text = _in_words(verdict, measure, [y for y in beside if y["minus_winner"] > y["half_width"]])
    if verdict.winner.candidate.black_box:
        text += f" {NOTHING}"
    if not missing:
        return text
    names, verb = _listed(list(missing)), "was" if len(missing) == 1 else "were"
    return f"{_capital(names)}, which often {'wins' if len(missing) == 1 else 'win'}, {verb} not compared. {text}"


def ended_early(names: Sequence[str], seconds: float) -> str:
    """The first sentence of a verdict that a clock has cut short.

    Examples
    --------
    >>> ended_early(["ridge"], 1502.3)
    'Ended by the clock after 1 502 s, on a machine too slow or too busy for this budget, before ridge was compared.'
    """
    verb = "was" if len(names) == 1 else "were"
    return (
        f"Ended by the clock after {f'{seconds:,.0f}'.replace(',', ' ')} s, on a machine too slow or too busy for this "
        f"budget, before {_listed(list(names))} {verb} compared."
    )


def _in_words(verdict: Verdict, measure: Measure, better: Sequence[Named]) -> str:
    chosen = verdict.of(verdict.winner.name)
    if len(verdict.standings) == 1 and chosen.name == "baseline":
        return f"Only the baseline was compared ({measure.name} {_number(chosen.mean)}): there is no verdict."
    if not verdict.beats_baseline:
        text = f"No model is significantly better than the baseline ({measure.name} {_number(chosen.mean)}): "
        if better:
            names = _listed([f"{y['name']} ({_number(y['mean'])})" for y in better])
            verb = "predicts" if len(better) == 1 else "predict"
            text += f"only {names}, about which nothing is proved, {verb} the target from these columns."
        else:
            text += "these columns do not predict the target, or there are too few rows to tell."
        best = verdict.standings[0]
        if best.name != chosen.name:
            text += f" The best mean, {_number(best.mean)} by {best.name}, is not significantly better"
            text += f" ({difference(best)})."
        return text
    text = (
        f"{_capital(chosen.name)}, {measure.name} {_number(chosen.mean)} "
        f"({_number(chosen.low)} to {_number(chosen.high)}, 95 %), is {verdict.rule}."
    )
    others = [s for s in verdict.standings if s.name not in (chosen.name, "baseline")]
    first = others[0] if others else None  # best mean among the others
    if first is not None and verdict.rule not in (_BEST, _BEST + _SURE):
        real = "significantly better" if first.real else "not significantly better"
        text += f" {_capital(first.name)} scores {_number(first.mean)}, which is {real} ({difference(first)})."
    elif first is not None and not first.real:
        text += f" The runner-up, {first.name}, is not significantly worse ({difference(first)})."
    same = [s.name for s in others if not s.real and s is not first]
    worse = [s.name for s in others if s.real and s.difference > 0]
    if same:
        text += f" Statistically indistinguishable from it on this data: {_listed(same)}."
    if worse:
        text += f" Significantly worse: {_listed(worse)}."
    base = next((s for s in verdict.standings if s.name == "baseline"), None)
    if base is not None:
        text += f" The baseline, which ignores the columns, reaches {_number(base.mean)}."
    return text


def difference(s: Standing) -> str:
    """This one minus the chosen one, with half its interval."""
    return f"{signed(-s.difference)} ± {_number(s.half)}"


def signed(v: float) -> str:
    """Three decimals with a sign; none for what rounds to zero."""
    shown = _number(abs(v))
    return shown if float(shown) == 0.0 else ("−" if v < 0 else "+") + shown


def _listed(names: Sequence[str], most: int = 4) -> str:
    shown = list(names) if len(names) <= most + 1 else [*names[:most], f"{len(names) - most} more"]
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]


def _number(v: float) -> str:
    return f"{v:.3f}".replace("-", "−") if abs(v) < 100 else f"{v:.1e}".replace("-", "−")


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def to_record(verdict: Verdict) -> list[Record]:
    """The comparison as JSON holds it."""
    return [
        {
            "name": s.name,
            "mean": s.mean,
            "interval": [s.low, s.high],
            "joint_interval": list(s.joint),
            "winner_minus_this": s.difference,
            "half_width": s.half,
            "p_adjusted": s.p_value,
            "real": s.real,
            "seconds": round(s.seconds, 3),
            "fold_scores": [float(v) for v in s.scores],
        }
        for s in verdict.standings
    ]
