"""Every row of the table of candidates: fitted to a mixed table, saved, verified, refused after a change, explained."""

from __future__ import annotations

import numpy as np
import pytest

import certifit as cf
from certifit.study import TABLE, explain, fit

N = 120
RNG = np.random.default_rng(0)
A, B = RNG.normal(size=N), RNG.normal(size=N)
COLUMNS = {
    "a": A,
    "b": B,
    "c": RNG.choice(["u", "v", "w"], N),
    "d": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(size=N)),
}
TARGETS = {
    "classification": np.where(A + 0.5 * B + 0.7 * RNG.normal(size=N) > 0, "yes", "no"),
    "regression": np.exp(0.3 * A + 0.2 * RNG.normal(size=N)),
    "counts": RNG.poisson(np.exp(0.5 + 0.5 * A)),
}
CASES = [
    pytest.param(c, c.tasks[0], id=f"{c.name}, {c.tasks[0]}") for c in TABLE if c.name != "baseline" and c.available()
]


@pytest.mark.parametrize(("candidate", "task"), CASES)
def test_fit_save_verify_explain(tmp_path, candidate, task):
    table = COLUMNS | {"y": TARGETS[task]}
    model = fit(table, "y", candidate.name, task=task)
    cf.save(model, tmp_path / "m")
    outcome = cf.verify(tmp_path / "m", table)
    assert outcome.holds, outcome.reason
    changed = table | {"a": np.concatenate([A[:5], [A[5] + 1.0], A[6:]])}
    assert not cf.verify(tmp_path / "m", changed).holds
    told = explain(model, model.read(table).X[:1])
    assert told.prediction
    if told.probabilities:
        assert abs(sum(p for _, p in told.probabilities) - 1.0) < 1e-9


def test_a_tree_is_told_in_the_words_of_the_table():
    rng = np.random.default_rng(0)
    table = {"x0": rng.normal(size=200), "valve": rng.choice(["open", "shut"], 200)}
    table["y"] = np.where((table["valve"] == "open") & (table["x0"] > 0), "alarm", "fine")
    model = fit(table, "y", "decision tree", keep=["x0", "valve"])
    path = explain(model, model.read({"x0": [1.0], "valve": ["open"]}).X).path
    assert "x0 > " in path
    assert "valve = open  (" in path or "valve ≠ shut  (" in path
    assert "x[" not in path


def test_every_task_has_a_handful_of_models():
    for task in TARGETS:
        assert sum(t == task for _, t in (c.values for c in CASES)) >= (1 if task == "counts" else 8)
