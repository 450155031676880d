"""Parts of dates by floors and sums: equal to NumPy's calendar, and to a model's answers in exported code."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifit.files import to_code, to_onnx
from certifit.files._dates import parts
from certifit.study import fit
from certifit.study._calendar import parts_of

SIGNS = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "//": lambda a, b: np.floor(a / b),
    "<=": lambda a, b, yes, no: np.where(a <= b, yes, no),
}


def numbers(sign, *parts):
    """The arithmetic on arrays."""
    return SIGNS[sign](*parts)


@given(st.lists(st.floats(-800_000.0, 3_000_000.0), min_size=1, max_size=20))
def test_the_calendar_is_numpys(days):
    days = np.array(days)
    own, peer = parts(numbers, days), parts_of(days)
    for name in peer:
        np.testing.assert_array_equal(own[name], peer[name])


def test_every_day_of_four_centuries():
    days = np.arange(-150_000.0, 10_000.0)
    own, peer = parts(numbers, days), parts_of(days)
    for name in peer:
        np.testing.assert_array_equal(own[name], peer[name])


def dated(n=300):
    rng = np.random.default_rng(0)
    days = rng.integers(0, 1_500, n) + rng.integers(0, 24, n) / 24.0
    stamps = np.array(
        [f"{np.datetime64('2019-01-01T00:00:00') + np.timedelta64(round(d * 86_400), 's')}" for d in days]
    )
    stamps = np.where(rng.random(n) < 0.05, "", stamps)
    known = parts_of(days)
    signal = (known["weekday"] >= 5) + 0.1 * known["month"] + 0.05 * known["hour"]
    return {"when": stamps, "x": rng.normal(size=n), "y": signal + 0.2 * rng.normal(size=n)}


@pytest.mark.parametrize("name", ["ridge", "additive model"])
def test_models_of_dates_can_be_exported(name, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    table = dated()
    model = fit(table, "y", name)
    said = model.predict(table)
    X = model.schema.read(_table(table)).X
    cells = [[None if np.isnan(v) else float(v) for v in row] for row in X]
    names = list(model.schema.names)

    scope: dict = {}
    exec(to_code(model, "python"), scope)
    found = [scope["predict"](dict(zip(names, row)))["prediction"] for row in cells]
    np.testing.assert_allclose(found, said, rtol=1e-9, atol=1e-9)

    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE data ({})".format(", ".join(f'"{n}" REAL' for n in names)))
    base.executemany(f"INSERT INTO data VALUES ({', '.join('?' * len(names))})", cells)
    rows = base.execute(to_code(model, "sql")).fetchall()
    np.testing.assert_allclose([r[len(names)] for r in rows], said, rtol=1e-9, atol=1e-9)
    assert "floor(" in to_code(model, "c")

    session = runtime.InferenceSession(to_onnx(model).SerializeToString())
    given = {n: X[:, [j]] for j, n in enumerate(names)}
    (answer,) = session.run(["variable"], given) if _has(session, "variable") else session.run(None, given)[:1]
    np.testing.assert_allclose(np.ravel(answer), said, rtol=1e-9, atol=1e-9)


def _has(session, name):
    return name in {o.name for o in session.get_outputs()}


def _table(columns):
    from certifit.files import Table

    return Table.of(columns)
