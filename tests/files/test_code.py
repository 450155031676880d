"""Exported code, compiled and run: SQLite, DuckDB, CPython and gcc give the model's own answers."""

from __future__ import annotations

import ctypes
import math
import shutil
import sqlite3
import subprocess

import numpy as np
import pytest

from certifit.files import ExportError, to_code
from certifit.study import fit, run

ROWS = 240


def table(kind):
    rng = np.random.default_rng(0)
    a, b = rng.normal(50, 10, ROWS), rng.normal(size=ROWS)
    a[rng.random(ROWS) < 0.1] = np.nan
    ward = rng.choice(["north's", 'the "old" one', "süd"], ROWS).astype(object)
    ward[rng.random(ROWS) < 0.1] = None
    z = 0.08 * (np.nan_to_num(a, nan=50) - 50) + b + (ward == "süd") + 0.3 * rng.normal(size=ROWS)
    y = {
        "value": 3 * z,
        "positive": np.exp(0.7 * z),
        "count": rng.poisson(np.exp(0.4 * z)),
        "two": np.where(z > 0, "it's", "no"),
        "three": np.array(["p", "q", "r"])[np.clip(np.round(z + 1), 0, 2).astype(int)],
    }[kind]
    sex = rng.random(ROWS) < 0.5
    return {"age at visit": a, "2b": b, "ward": ward.tolist(), "sex": sex, "y": y}


CASES = [
    ("least squares", "value", None),
    ("ridge", "value", None),
    ("lasso", "value", None),
    ("additive model", "value", None),
    ("additive model with interactions", "value", None),
    ("gamma regression", "positive", None),
    ("ridge on a log scale", "positive", None),
    ("Poisson regression", "count", "counts"),
    ("decision tree", "value", None),
    ("decision tree", "three", None),
    ("logistic regression", "two", None),
    ("logistic regression", "three", None),
    ("additive model", "two", None),
    ("naive Bayes", "two", None),
    ("naive Bayes", "three", None),
    ("linear SVM", "two", None),
]


@pytest.fixture(scope="module")
def models():
    return {(name, kind): (fit(table(kind), "y", name, task=task), table(kind)) for name, kind, task in CASES}


def expected(model, data):
    """Predictions as the model's own, in the words of the outputs."""
    out = {"prediction": model.predict(data)}
    if hasattr(model.pipeline, "predict_proba"):
        chances = model.predict_proba(data)
        out |= {f"probability {c}": chances[:, k] for k, c in enumerate(model.classes_)}
    return out


def agree(said, model, data):
    wanted = expected(model, data)
    assert set(said) == set(wanted)
    for name, values in wanted.items():
        if values.dtype.kind == "f":
            np.testing.assert_allclose(np.array(said[name], dtype=float), values, rtol=1e-9, atol=1e-12)
        else:
            assert [str(v) for v in said[name]] == [str(v) for v in values]


def cells(data):
    """Rows of Python cells, None where missing."""
    columns = {k: list(v) for k, v in data.items() if k != "y"}
    for i in range(ROWS):
        row = {k: (v[i].item() if hasattr(v[i], "item") else v[i]) for k, v in columns.items()}
        yield {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in row.items()}


@pytest.mark.parametrize(("name", "kind", "task"), CASES)
def test_python(models, name, kind, task):
    model, data = models[name, kind]
    scope = {}
    exec(compile(to_code(model, "python"), "model.py", "exec"), scope)
    rows = [scope["predict"](row) for row in cells(data)]
    agree({k: [r[k] for r in rows] for k in rows[0]}, model, data)


def test_python_imports_only_math(models):
    code = to_code(models["ridge", "value"][0], "python")
    assert [line for line in code.splitlines() if "import" in line and not line.startswith("#")] == ["import math"]


@pytest.mark.parametrize(("name", "kind", "task"), CASES)
def test_sqlite(models, name, kind, task):
    model, data = models[name, kind]
    connection = sqlite3.connect(":memory:")
    connection.create_function("exp", 1, math.exp)  # not every SQLite was built with it
    connection.execute('CREATE TABLE data ("age at visit" REAL, "2b" REAL, ward TEXT, sex INTEGER)')
    rows = [tuple(None if v is None else v for v in row.values()) for row in cells(data)]
    connection.executemany("INSERT INTO data VALUES (?, ?, ?, ?)", rows)
    cursor = connection.execute(to_code(model, "sql"))
    names = [d[0] for d in cursor.description]
    found = list(zip(*cursor.fetchall()))
    said = {n: v for n, v in zip(names, found) if n.startswith(("prediction", "probability"))}
    agree(said, model, data)
    connection.close()


@pytest.mark.parametrize(("name", "kind", "task"), CASES)
def test_duckdb(models, name, kind, task):
    duckdb = pytest.importorskip("duckdb")
    model, data = models[name, kind]
    connection = duckdb.connect()
    connection.execute('CREATE TABLE data ("age at visit" DOUBLE, "2b" DOUBLE, ward VARCHAR, sex INTEGER)')
    rows = [[None if v is None else int(v) if isinstance(v, bool) else v for v in row.values()] for row in cells(data)]
    connection.executemany("INSERT INTO data VALUES (?, ?, ?, ?)", rows)
    cursor = connection.execute(to_code(model, "sql"))
    names = [d[0] for d in cursor.description]
    found = list(zip(*cursor.fetchall()))
    agree({n: v for n, v in zip(names, found) if n.startswith(("prediction", "probability"))}, model, data)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on this machine")
@pytest.mark.parametrize(("name", "kind", "task"), CASES)
def test_c(models, name, kind, task, tmp_path):
    model, data = models[name, kind]
    (tmp_path / "model.c").write_text(to_code(model, "c"))
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, "model.c", "-o", "model.so", "-lm"], cwd=tmp_path, check=True)
    wanted = expected(model, data)
    numbers = [c.name for c in model.schema.columns if c.kind != "category"]
    words = [c.name for c in model.schema.columns if c.kind == "category"]
    fields = [(f"n{k}", ctypes.c_double) for k in range(len(numbers))]
    Row = type(
        "Row", (ctypes.Structure,), {"_fields_": [*fields, *((f"w{k}", ctypes.c_char_p) for k in range(len(words)))]}
    )
    kinds = [ctypes.c_double if v.dtype.kind == "f" else ctypes.c_char_p for v in wanted.values()]
    Answer = type("Answer", (ctypes.Structure,), {"_fields_": [(f"a{k}", t) for k, t in enumerate(kinds)]})
    predict = ctypes.CDLL(str(tmp_path / "model.so")).predict
    predict.argtypes, predict.restype = [ctypes.POINTER(Row)], Answer
    said = {n: [] for n in wanted}
    for row in cells(data):
        given = [math.nan if row[n] is None else float(row[n]) for n in numbers]
        texts = [None if row[n] is None else row[n].encode() for n in words]
        found = predict(ctypes.byref(Row(*given, *texts)))
        for k, n in enumerate(wanted):
            v = getattr(found, f"a{k}")
            said[n].append(v.decode() if isinstance(v, bytes) else v)
    agree(said, model, data)


def test_what_cannot_be_written_is_refused(models):
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    neighbours = fit({"x": x, "y": x}, "y", "nearest neighbours", keep=["x"])
    with pytest.raises(ExportError, match="export to ONNX"):
        to_code(neighbours, "sql")
    with pytest.raises(ExportError, match="no export to 'cobol'"):
        to_code(models["ridge", "value"][0], "cobol")


def test_a_baseline_can_be_exported_too():
    rng = np.random.default_rng(0)
    data = {"x": rng.normal(size=60), "y": rng.normal(size=60)}
    model = run(data, "y", models=["least squares"], folds=3).model
    scope = {}
    exec(to_code(model, "python"), scope)
    assert scope["predict"]({"x": 0.0})["prediction"] == pytest.approx(float(np.mean(data["y"])))
