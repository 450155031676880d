"""The harness that measures: ratios within a case, nothing claimed on a busy machine, runs that can be compared."""

import dataclasses
import os
import time

import pytest

psutil = pytest.importorskip("psutil", reason="the harness needs the extra 'bench'")

from benchmarks import harness, history, machine  # noqa: E402
from benchmarks.jobs import JOBS  # noqa: E402

from certifit.loops._tiers import Switch  # noqa: E402


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


def test_a_run_is_resumed_and_printed_as_a_table(tmp_path, monkeypatch):
    monkeypatch.setattr(history, "RESULTS", tmp_path)
    monkeypatch.setattr(history, "LATEST", tmp_path / "results.json")
    about = {"processor": "a processor", "cores": 2, "blas": ["a BLAS"]}
    run = history.Run.resumed(about, 0.01)
    assert run.done == set()
    run.add(rows(1.0), 0.02)
    again = history.Run.resumed(about, 0.5)
    assert again.path == run.path
    assert again.done == {"ols"}
    said = history.markdown(again.record)
    double, single = said.splitlines()[-2:]
    assert "| peer | 2 |" in double
    assert "1 s | 2 s | 2.00 | 1e-09 |" in double
    assert "| peer | **0.5** |" in single
    busy = {**again.record, "rows": [dataclasses.asdict(r) for r in rows(1.0, others=0.4)]}
    assert "**0.5**" not in history.markdown(busy)


def test_first_calls_are_a_table_the_slowest_first():
    def call(case, name, seconds, note):
        return {"workload": "first-call", "case": case, "name": name, "seconds": seconds, "note": note}

    found = [
        call(f"folder.{name}", which, seconds, "import 0.70 s, compiling 0.31 s")
        for name, cold in (("Quick", 0.5), ("Slow", 2.0))
        for which, seconds in (("nothing compiled", cold), ("next process", 0.2))
    ]
    lines = history.first_calls({"rows": found}).splitlines()
    assert lines[2:] == ["| `Slow` | 2.00 | 0.31 | 0.20 |", "| `Quick` | 0.50 | 0.31 | 0.20 |"]
    assert history.first_calls({"rows": []}) == ""


@pytest.mark.parametrize(
    ("goal", "case", "least"),
    [
        ("fit ≥ 5× and predict ≥ 3× the best peer", "predict", 3.0),
        ("≥ 1.5× the best peer; ≤ 1.3× one XᵀX", "float32", 1.5),
        ("3 times scikit-learn", "", 3.0),
        ("at least as fast as scikit-learn", "", 1.0),
        ("≤ 3 s with nothing compiled", "", None),
    ],
)
def test_a_goal_names_the_least_ratio(goal, case, least):
    assert history._wanted(goal, case) == least


def test_a_peer_that_fails_or_needs_long_does_not_hold_up_the_race(monkeypatch, capsys):
    runs = []

    def entry(name, kind="peer", **more):
        def run():
            assert Switch.always, os.environ["CERTIFIT_COMPILE"]  # what is timed was compiled in the warm-up
            runs.append(name)
            return len(runs)

        return harness.Entry(name, run, kind=kind, repeats=2, **more)

    def broken():
        raise ValueError("no such solver")

    class Module:
        WHAT, GOAL = "work", "2 times the best peer"

        @staticmethod
        def entries():
            slow = entry("slow", known=("found before", 60.0))
            return [entry("certifit", "ours"), harness.Entry("broken", broken), slow, entry("quick")]

    monkeypatch.setattr(harness, "load", lambda name: Module)
    monkeypatch.setattr(harness, "_PAUSE", 0.0)
    before = Switch.always, os.environ.get("CERTIFIT_COMPILE")
    found = harness.measure("some")
    assert (Switch.always, os.environ.get("CERTIFIT_COMPILE")) == before
    assert [r.name for r in found] == ["certifit", "slow", "quick"]
    assert (found[1].seconds, found[1].note, found[1].memory_mb) == (60.0, "one run", None)
    assert "slow" not in runs
    assert "no such solver" in capsys.readouterr().out
    assert "one run" in harness.table("some", found)


def test_a_peer_that_needs_minutes_is_stopped(monkeypatch):
    class Workload:
        @staticmethod
        def entries():
            ours = harness.Entry("certifit", lambda: 1, kind="ours", repeats=1)
            return [ours, harness.Entry("slow", lambda: time.sleep(60.0), gap=lambda result: 1 / result)]

    for name, value in (("load", lambda name: Workload), ("_LONG", 0.05), ("_ENOUGH", 0.1), ("_PAUSE", 0.0)):
        monkeypatch.setattr(harness, name, value)
    slow = harness.measure("any")[1]
    assert 0.1 <= slow.seconds < 30.0
    assert "stopped" in slow.note
    assert slow.gap is None


@pytest.mark.parametrize("name", JOBS)
def test_curves_begin_where_a_family_can_be_fitted(name):
    job = JOBS[name]
    for size, values in job.grows.items():
        sizes = job.usual | {"rows": min(1_000, job.usual["rows"])} | {size: values[0]}
        assert job.fit(*job.data(sizes), sizes) is not None


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
