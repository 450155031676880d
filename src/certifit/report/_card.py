"""The model card of a study: what the model is for, how good it is and where it is not, in Markdown."""

from __future__ import annotations

from certifit._types import Named, Record
from certifit.report._page import command


def card(record: Named) -> str:
    """The model card of a study's record, in Markdown.

    Parameters
    ----------
    record : mapping
        What ``certifit.study.run(...).record`` holds, or ``json.load`` of a ``record.json``.

    Returns
    -------
    str

    Examples
    --------
    >>> from certifit.study import run
    >>> x = np.sin(np.arange(60.0))
    >>> study = run({"x": x, "y": 2 * x + 0.1 * np.cos(7 * np.arange(60.0))}, "y", models=["least squares"], folds=3)
    >>> print(card(study.record).partition("\\n")[0])
    # Model card: y by least squares
    """
    data, verdict = record["data"], record["verdict"]
    parts = [
        f"# Model card: {_text(data['target'])} by {_text(verdict['winner'])}",
        _section("Verdict", [verdict["text"]]),
        _section("Summary", [f"- **{line['head']}.** {_text(line['text'])}" for line in record.get("summary", [])]),
        _section("Data", [_text(data["summary"]) + ".", *(f"- {_text(r)}" for r in data["remarks"])]),
        _section("Columns used", [_columns(record)]),
        _section("Evaluation", [_evaluation(record)]),
        _section("Proved", [f"- {_text(c['claim'])}" for c in record["proofs"]["certificates"] if c["holds"]]),
        _section("Not proved", [record["proofs"]["none"]] if "none" in record["proofs"] else []),
        _section("What would change this", [f"- {_text(c)}" for c in record["changes"]]),
        _section(
            "How to reproduce this",
            [f"```\n{command(record)}\n```", f"certifit {record['certifit']}, {record['made'][:10]}."],
        ),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _section(title: str, lines: list[str]) -> str:
    return f"## {title}\n\n" + "\n".join(lines) if lines else ""


def _text(text: str) -> str:
    """Words from a table are text, not markup."""
    for sign in "\\`*_[]<>#|":
        text = text.replace(sign, "\\" + sign)
    return " ".join(text.split())


def _columns(record: Named) -> str:
    rows: list[Record] = [c for c in record["data"]["columns"] if c["used"]]
    lines = ["| column | kind | missing |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {_text(c['name'])} | {c['kind']} | {c['missing']} |" for c in rows)])


def _evaluation(record: Named) -> str:
    s, best = record["settings"], record["verdict"]["winner"]
    standing = next(row for row in record["comparison"]["standings"] if row["name"] == best)
    low, high = standing["interval"]
    how = "held out at random"
    if s.get("groups"):
        how = f"rows with the same {_text(s['groups'])} in the same fold"
    elif s.get("time"):
        how = f"each predicted from earlier rows only (by {_text(s['time'])})"
    return (
        f"Nested cross-validation, {s['folds']} folds, {how}: {record['measure']['name']} "
        f"{standing['mean']:.3f} ({low:.3f} to {high:.3f}, 95 %), {record['measure']['words']}."
    )
