"""The study on one page, in sentences that need no statistics: how good, how it errs, what matters, where it fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Line = dict[str, str]
_NAMED = 3  # columns that are named as the ones that matter


def summary(record: Mapping[str, Any]) -> list[Line]:
    """Headed sentences, most important first; each speaks of held-out rows."""
    lines = [*_errors(record), *_threshold(record), *_test(record), *_sure(record), *_matters(record), *_fails(record)]
    return [*lines, *_price(record), *_proved(record)]


def _percent(v: float) -> str:
    return f"{100 * v:.1f} %"


def _share(v: Mapping[str, Any]) -> str:
    low, high = v["interval"]
    return f"{_percent(v['value'])} ({100 * low:.1f} to {100 * high:.1f})"


def _errors(record: Mapping[str, Any]) -> list[Line]:
    head = "Kinds of errors"
    if "values" in record:
        v, target = record["values"], record["data"]["target"]
        low, high = v["within"]
        return [
            {
                "head": head,
                "text": f"Predictions of {target} are off by {_number(v['mae'])} on average; nine errors in ten lie "
                f"between {_number(low)} and {_number(high)} (the standard deviation of the target is "
                f"{_number(v['spread'])}).",
            }
        ]
    c = record["classes"]
    text = "By the larger probability, " if record.get("threshold") else ""  # the decision has a line of its own
    text += f"{_share(c['accuracy'])} of rows are classified correctly; always predicting {c['commonest']['label']} "
    text += f"would be right for {_percent(c['commonest']['share'])}."
    named = _positive(record)
    row = next((r for r in c["classes"] if r["label"] == named), None)
    if row is not None and row["precision"]["value"] is not None:
        text += f" It finds {_share(row['recall'])} of the rows of class {named} (recall); of the rows predicted to be "
        text += f"{named}, {_share(row['precision'])} are (precision)."
    return [{"head": head, "text": text}]


def _number(v: float) -> str:
    shown = f"{v:.3g}" if abs(v) < 1_000 else f"{v:.0f}"
    return shown.replace("-", "−")


def _positive(record: Mapping[str, Any]) -> str | None:
    """The class to find, of two."""
    return (record.get("classes", {}).get("roc") or {}).get("positive")


def _threshold(record: Mapping[str, Any]) -> list[Line]:
    found = record.get("threshold")
    return [{"head": "Threshold", "text": found["text"]}] if found else []


def _test(record: Mapping[str, Any]) -> list[Line]:
    """The first figures; of two classes the one to find, and what becomes of it with the threshold asked for."""
    test, named = record.get("test"), _positive(record)
    if not test:
        return []
    others = [f"{c['label']}: " for c in record.get("classes", {}).get("classes", ()) if c["label"] != named]
    lines = test["lines"] if named is None else [v for v in test["lines"] if not v.startswith(tuple(others))]
    return [{"head": "On the test table", "text": "; ".join(lines[: 5 if record.get("threshold") else 4]) + "."}]


def _sure(record: Mapping[str, Any]) -> list[Line]:
    calibration = record.get("calibration")
    if not calibration:
        return []
    text = calibration["text"]
    if calibration.get("advice"):
        text += f" A {calibration['advice']} map learned from held-out rows corrects them: certifit predict gives both."
    return [{"head": "Its probabilities", "text": text}]


def _matters(record: Mapping[str, Any]) -> list[Line]:
    found = record.get("drivers", {}).get("importance", [])
    sure = [row for row in found if row["interval"][0] > 0]
    if not found:
        return []
    if not sure:
        return [{"head": "What matters", "text": "No single column matters significantly on its own."}]
    listed = "; ".join(_together(row["columns"]) for row in sure[:_NAMED])
    rest = f" Significant: {len(sure)} of {len(found)} columns or groups of columns." if len(found) > 1 else ""
    return [{"head": "What matters most", "text": f"{listed}.{rest}"}]  # names stay as they are written in the table


def _together(columns: Sequence[str]) -> str:
    """A column; or columns that say nearly the same."""
    shown = ", ".join(columns[:3]) + (f" and {len(columns) - 3} more" if len(columns) > 3 else "")
    return shown if len(columns) == 1 else f"{shown} (strongly correlated)"


def _fails(record: Mapping[str, Any]) -> list[Line]:
    found = record.get("slices")
    if not found or not found["slices"]:
        return []
    worse = [s for s in found["slices"] if s["differs"] and s["share"] > found["overall"]]
    what = "wrong" if found["bar"] is None else f"off by more than {_number(found['bar'])}"
    if not worse:
        text = f"None of {len(found['slices'])} slices of the table is clearly worse than the rest."
    else:
        s = worse[0]
        low, high = s["interval"]
        text = (
            f"Where {s['name']}, {_percent(s['share'])} of rows ({100 * low:.1f} to {100 * high:.1f}) are {what}, "
            f"against {_percent(found['overall'])} overall."
        )
    return [{"head": "Where it fails", "text": text}]


def _price(record: Mapping[str, Any]) -> list[Line]:
    found = record["comparison"].get("yardsticks") or []
    best = max(found, key=lambda y: y["mean"], default=None)
    return [] if best is None else [{"head": "Against a black box", "text": best["text"]}]


def _proved(record: Mapping[str, Any]) -> list[Line]:
    found = record["proofs"]["certificates"]
    if "none" in record["proofs"]:
        return [
            {"head": "Proof", "text": record["proofs"]["none"] + " It was chosen because black boxes were allowed."}
        ]
    if not found or record["verdict"]["winner"] == "baseline":
        return []
    held = "is proved, and anyone can check it" if found[0]["holds"] else "could not be proved"
    return [{"head": "Proof", "text": f"What this report claims about the fit itself {held}: see below."}]
