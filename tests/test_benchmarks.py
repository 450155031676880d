"""The harness that measures: ratios within a case, nothing claimed on a busy machine, runs that can be compared."""

import dataclasses

import pytest

psutil = pytest.importorskip("psutil", reason="the harness needs the extra 'bench'")

from benchmarks import harness, history, machine  # noqa: E402


def rows(ours, others=0.0):
    def row(case, name, kind, seconds):
        return harness.Row("ols", case, name, kind, seconds, seconds, 1e-9, 1.0, seconds / 2, others, "")

    return [
        row("float64", "certifit", "ours", ours),
        row("float64", "peer", "peer", 2.0),
        row("float64", "slow peer", "peer", 9.0),
        row("float64", "read", "floor", 0.5),
        row("float32", "certifit", "ours", 1.0),
        row("float32", "peer", "peer", 0.5),
    ]


def test_ratios_are_to_the_best_of_the_same_case():
    found = rows(1.0)
    assert [harness.ratio(r, found, "peer") for r in found] == [2.0, 1.0, pytest.approx(2 / 9), 4.0, 0.5, 1.0]
    assert harness.ratio(found[0], found, "floor") == 0.5
    assert harness.ratio(found[4], found, "floor") is None


def test_a_busy_machine_gets_no_ratios_unless_asked():
    assert "2.50" in harness.table("ols", rows(0.8))
    busy = rows(0.8, others=0.4)
    silent, marked = harness.table("ols", busy), harness.table("ols", busy, anyway=True)
    assert "2.50" not in silent
    assert "busy" in silent
    assert "~2.50" in marked
    assert "40%" in marked


def test_runs_are_kept_and_compared(tmp_path, monkeypatch):
    monkeypatch.setattr(history, "RESULTS", tmp_path)
    monkeypatch.setattr(history, "LATEST", tmp_path / "results.json")
    run = history.Run({"cores": 2}, 0.01)
    run.add(rows(1.0), 0.02)
    assert run.path.exists()
    old = run.record
    new = {**old, "rows": [dataclasses.asdict(r) for r in rows(0.5)], "commit": "abc"}
    said = history.compare(old, new)
    assert "faster" in next(line for line in said.splitlines() if "float64" in line)
    assert "level" in next(line for line in said.splitlines() if "float32" in line)
    assert history.draw().exists()


def test_every_workload_says_what_and_how_good():
    for name in harness.names():
        module = harness.load(name)
        assert module.WHAT
        assert module.GOAL
        assert callable(getattr(module, "measure", None) or module.entries)


def test_the_machine_describes_itself_and_its_roofline():
    assert machine.describe()["cores"] >= 1
    assert 0.0 <= machine.Watch().others() <= 1.0  # at once, within one tick of the system's clock
    assert 0.0 <= machine.idle_for(0.05) <= 1.0
    assert machine.roofline(1e9, 0.0) > 0.0
