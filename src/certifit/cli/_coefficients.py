"""certifit certify --coefficients: numbers found by hand, judged at the command line."""

from __future__ import annotations

import contextlib
import csv
from pathlib import Path

import certifit as cf
from certifit.cli._commands import read, say, with_target
from certifit.cli._errors import UsageError


def judge_file(data: str, target: str | None, file: Path, asked: tuple[str, str, float]) -> int:
    """certifit certify --coefficients."""
    import numpy as np

    given = _coefficients(file)
    if target is None:
        target = _left_over(data, given)
    table, chosen = with_target(data, target)
    names = [name for name in table.columns if name != chosen]
    if isinstance(given, list):  # numbers without names, in the order of the columns, an offset last
        given = dict(zip([*names, "intercept"], given)) if len(given) in (len(names), len(names) + 1) else {}
    b = given.pop("intercept", None)
    if set(given) != set(names):
        odd = sorted(set(given) ^ set(names))
        raise UsageError(
            f"{file} must have one line for each column but {chosen}, and intercept: {odd[0]!r} does not match."
        )
    try:
        X = np.column_stack([np.asarray(table.arrow[name].to_pylist(), dtype=float) for name in names])
    except (TypeError, ValueError):
        raise UsageError("The columns must be numeric, without missing values.") from None
    y = np.asarray(table.arrow[chosen].to_pylist())
    with contextlib.suppress(ValueError):  # labels may be words
        y = y.astype(float)
    loss, regularizer, lam = asked
    try:
        certificate = cf.certify_coefficients([given[name] for name in names], b, X, y, loss, regularizer, lam)
        found = certificate.diagnose(X, y)
    except ValueError as error:
        raise UsageError(str(error)) from None
    say(str(certificate))
    for finding in found:
        say(f"  {finding}")
    return 0 if certificate.holds else 1


def _left_over(data: str, given: dict[str, float] | list[float]) -> str | None:
    """The target that nobody named: the one column without a coefficient, or the last one of numbers without names."""
    table, own = read(data)
    columns = list(table.columns)
    if own is not None:
        return own
    if isinstance(given, list):
        return columns[-1] if len(given) in (len(columns), len(columns) - 1) else None
    left = [name for name in columns if name not in given]
    return left[0] if len(left) == 1 else None


def _coefficients(file: Path) -> dict[str, float] | list[float]:
    """Numbers by the names of their columns, or without names in their order."""
    try:
        lines = [row for row in csv.reader(file.read_text(encoding="utf-8").splitlines()) if row]
        if len(lines) == 1 or all(len(row) == 1 for row in lines):
            with contextlib.suppress(ValueError):
                return [float(value) for row in lines for value in row]
        return {name.strip(): float(value) for name, value in lines}
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise UsageError(f"{file} must contain lines NAME,VALUE, or numbers in the order of the columns.") from None
