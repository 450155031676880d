"""What goes wrong on the way: killed workers, truncated files, other schemas, changed partitions, lost schedulers."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from certifit import scale
from certifit.certificates.sums import Statistic
from certifit.cluster import KMeans
from certifit.exceptions import ChangedDataError, TableError
from certifit.linear_model import LogisticRegression, Ridge
from certifit.naive_bayes import BernoulliNB, GaussianNB
from certifit.scale._engine import Counted, Local
from certifit.scale._source import NamedColumns, Source
from tests.scale.tables import assert_same, partitioned, same_bits, table


def written(t, folder, parts=4):
    for k, piece in enumerate(np.array_split(np.arange(t.num_rows), parts)):
        pq.write_table(t.take(pa.array(piece)), folder / f"part-{k}.parquet")
    return sorted(str(p) for p in folder.glob("*.parquet"))


class DiesOnce(Statistic):
    """Kills its own process when it first meets a partition, unless a file says that this was done; counts rows."""

    def __init__(self, folder, always=False):
        self.folder, self.always, self.rows = str(folder), always, 0

    def add(self, block):
        mark = Path(self.folder, "done-" + block.part.replace("/", "_").replace(" ", "_"))
        if self.always or not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        self.rows += block.rows

    def merge(self, other):
        self.rows += other.rows
        return self

    def finish(self):
        return self.rows


@pytest.mark.slow
def test_a_partition_that_always_kills_its_worker_is_named(tmp_path):
    source = partitioned(table(0, 60), 2)
    engine = Local(2)
    try:
        with pytest.raises(scale.EngineError, match="partition 1: the process that worked on it ended 3 times"):
            engine.run(
                Counted(DiesOnce(tmp_path, always=True)),
                source.parts[1:],
                source.plan(NamedColumns("y")),
                lambda n: None,
            )
    finally:
        engine.close()


def test_a_killed_worker_is_replaced(tmp_path):
    t = table(0, 60)
    source = partitioned(t, 2)
    plan = source.plan(NamedColumns("y"))
    engine = Local(2)
    try:
        seen = []
        found = engine.run(Counted(DiesOnce(tmp_path)), source.parts[:1], plan, seen.append)
        assert found.finish() == (30,)
        assert seen == [30]
        # The same engine still works, and gives the bits of one process.
        fits = [scale.fit(Ridge(), source, target="y", engine=e) for e in (engine, "serial")]
        assert_same(fits)
    finally:
        engine.close()


def test_a_truncated_file_is_named_and_nothing_is_fitted(tmp_path):
    files = written(table(1, 4000), tmp_path)
    whole = Path(files[2]).read_bytes()
    Path(files[2]).write_bytes(whole[: len(whole) // 2])
    model = Ridge()
    with pytest.raises(TableError, match=r"part-2\.parquet cannot be read"):
        scale.fit(model, files, target="y", engine="serial")
    assert not hasattr(model, "coef_")


def test_another_schema_is_named(tmp_path):
    t = table(2)
    files = written(t, tmp_path)
    other = t.set_column(1, "x1", [t["x1"].to_numpy().astype(str)])
    pq.write_table(other, files[1])
    with pytest.raises(TableError, match=r"part-1\.parquet: column 'x1' contains strings"):
        scale.fit(Ridge(), files, target="y", engine="serial")
    pq.write_table(t.drop(["x2"]), files[1])
    with pytest.raises(TableError, match=r"part-1\.parquet has no column 'x2'"):
        scale.fit(Ridge(), files, target="y", engine="serial")
    pq.write_table(t.set_column(0, "x0", [np.where(np.arange(90) == 5, np.nan, 1.0)]), files[1])
    with pytest.raises(TableError, match=r"part-1\.parquet: column 'x0' holds a value that is missing"):
        scale.fit(Ridge(), files, target="y", engine="serial")


def test_files_that_change_between_fit_and_proof_or_verification(tmp_path):
    t = table(3)
    files = written(t, tmp_path)
    model = scale.fit(Ridge(), files, target="y", engine="serial")
    certificate = scale.fit(Ridge(), files, target="y", engine="serial").certificate_
    column = t["x3"].to_numpy().copy()
    column[-1] = np.nextafter(column[-1], np.inf)
    written(t.set_column(3, "x3", [column]), tmp_path)
    with pytest.raises(ChangedDataError):
        _ = model.certificate_
    answer = scale.verify(certificate, files, target="y", features=["x0", "x1", "x2", "x3"], engine="serial")
    assert not answer.same_data
    assert f"{files[3]} was changed" in str(answer)
    assert files[2] not in str(answer)
    os.unlink(files[0])
    answer = scale.verify(certificate, files[1:], target="y", features=["x0", "x1", "x2", "x3"], engine="serial")
    assert f"{files[0]} is missing" in str(answer)


def test_order_and_cut_of_large_files_do_not_matter(tmp_path, monkeypatch):
    t = table(4, 300, 3, "two")
    pq.write_table(t, tmp_path / "one.parquet", row_group_size=40)
    whole = scale.fit(LogisticRegression(), str(tmp_path / "one.parquet"), target="y", engine="serial")
    monkeypatch.setattr("certifit.scale._source._LARGE", 1 << 11)
    source = Source.of(str(tmp_path / "one.parquet"))
    assert len(source.parts) > 3
    assert_same([whole, scale.fit(LogisticRegression(), source, target="y", engine="serial")])


SCHEDULER = """
import sys, distributed
with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
    print(cluster.scheduler_address, flush=True)
    sys.stdin.readline()
"""


@pytest.mark.slow
def test_a_lost_scheduler_is_one_sentence():
    pytest.importorskip("distributed")
    with subprocess.Popen(
        [sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    ) as running:
        try:
            address = running.stdout.readline().strip()
            source = partitioned(table(5, 20_000), 40)

            def watch(task, rows):
                def one(count):
                    os.kill(running.pid, signal.SIGKILL)
                    time.sleep(0.2)

                return one

            with pytest.raises(scale.EngineError, match=r"scheduler"):
                scale.fit(Ridge(), source, target="y", engine=address, progress=watch)
        finally:
            running.kill()
            running.wait()
    with pytest.raises(scale.EngineError, match="No scheduler answers"):
        scale.fit(Ridge(), partitioned(table(5), 2), target="y", engine="tcp://127.0.0.1:9")


class Killer:
    """Watches the passes, and kills a worker by its process id at the first answer of one of them."""

    def __init__(self, phase, pids):
        self.phase, self.pids, self.killed = phase, pids, []

    def __call__(self, task, rows):
        def one(count):
            if self.phase in task and not self.killed:
                self.killed = self.pids()[:1]
                os.kill(self.killed[0], signal.SIGKILL)

        return one


PHASES = ["looking", "pass", "proving", "verifying", "counting"]


def survived(phase, engine, pids, folder):
    """Everything there is to do on files, with a worker killed in one of the phases; the fit, and the figures."""
    t = table(6, 600, 3, "two")
    files = written(t, folder, 6)
    killer = Killer(phase, pids)
    fit = scale.fit(LogisticRegression(), files, target="y", engine=engine, progress=killer)
    certificate = fit.certificate_
    assert scale.verify(certificate, files, engine=engine, progress=killer).holds
    found = scale.evaluate(fit, files, target="y", engine=engine, progress=killer)
    assert killer.killed, "nobody was killed"
    here = scale.fit(LogisticRegression(), files, target="y", engine="serial")
    assert_same([here, fit])
    assert same_bits(vars(found), vars(scale.evaluate(here, files, target="y", engine="serial")))


@pytest.mark.slow
@pytest.mark.parametrize("phase", PHASES)
def test_a_worker_killed_in_any_phase_changes_nothing(phase, tmp_path):
    engine = Local(2)
    try:
        survived(phase, engine, lambda: list(engine._pool._processes), tmp_path)
    finally:
        engine.close()


@pytest.mark.slow
@pytest.mark.parametrize("phase", PHASES)
def test_a_dask_worker_killed_in_any_phase_changes_nothing(phase, tmp_path):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        survived(phase, client, lambda: list(client.run(os.getpid).values()), tmp_path)


@pytest.mark.slow
def test_a_worker_killed_while_predictions_are_written(tmp_path):
    """Predictions are made by `map`, which gives a lost partition to another worker as `run` does."""
    t = table(7, 200, 3, "two")
    fit = scale.fit(LogisticRegression(), t, target="y", engine="serial")
    source, engine = partitioned(t, 4), Local(1)
    mark = DiesOnce(tmp_path)
    try:
        plan = source.plan(NamedColumns(None, ["x0", "x1", "x2"]))
        found = list(engine.map(partial(_dying, mark), source.parts, plan))
    finally:
        engine.close()
    assert found == [50, 50, 50, 50]
    assert len(scale.predict(fit, source, engine="serial")) == 200


def _dying(mark, part, plan):
    """Rows of a partition; the first one to be asked takes its process along, once."""
    done = Path(mark.folder, "once")
    if not done.exists():
        done.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return sum(block.rows for block in part.blocks(plan))


def refused(model, t, sentence, target="y", **how):
    """One sentence, for a table of two partitions."""
    files = t if isinstance(t, list) else partitioned(t, 2)
    with pytest.raises((TableError, ValueError), match=sentence) as told:
        scale.fit(model, files, target=target, engine="serial", **how)
    assert "\n" not in str(told.value)


def test_odd_tables_are_refused_in_one_sentence(tmp_path):
    t = table(8, 60)
    for model in (Ridge(), LogisticRegression()):
        refused(model, t, "predicts a column: name it with target=", target=None)
        refused(model, t.select(["y"]), "no column to learn from")
    words = t.set_column(4, "y", [np.where(np.arange(60) % 2, "a", "b")])
    refused(Ridge(), words, "Column 'y' contains strings")
    huge = t.set_column(1, "x1", [np.where(np.arange(60) == 7, 1e300, 1.0)])
    labels = huge.set_column(4, "y", [np.arange(60) % 2])
    for model, rows in ((Ridge(), huge), (LogisticRegression(), labels), (GaussianNB(), labels), (KMeans(2), huge)):
        refused(model, rows, "Column 'x1' holds numbers beyond 1e.145, too large to square")
    assert scale.fit(BernoulliNB(), labels, target="y", engine="serial").certificate_.holds  # squares nothing
    twice = pa.Table.from_arrays([t["x0"], t["x1"], t["x1"], t["y"]], names=["x0", "x1", "x1", "y"])
    pq.write_table(twice, tmp_path / "twice.parquet")
    refused(Ridge(), [str(tmp_path / "twice.parquet")], r"twice\.parquet has more than one column 'x1'")
    gap = t.set_column(1, "x1", [np.where(np.arange(60) == 7, np.nan, 1.0)])
    files = written(gap, tmp_path)
    refused(KMeans(2), files, r"part-0\.parquet: column 'x1' holds a value that is missing")


def test_odd_tables_that_are_none(tmp_path):
    """Empty partitions, columns in another order, one class a partition, labels of other widths: the same fit."""
    t = table(9, 80, 3, "two").sort_by("y")
    here = scale.fit(LogisticRegression(), t, target="y", engine="serial")
    odd = [t.slice(0, 30), t.slice(0, 0), t.slice(30, 50).select(["y", "x2", "x0", "x1"])]
    for k, piece in enumerate(odd):
        pq.write_table(piece, tmp_path / f"{k}.parquet")
    files = sorted(str(p) for p in tmp_path.glob("*.parquet"))
    assert_same([here, scale.fit(LogisticRegression(), files, target="y", engine="serial")])
    for k, piece in enumerate(odd):
        csv.write_csv(piece.select(t.column_names), tmp_path / f"{k}.csv")
        if piece.num_rows:  # without the end of the last line
            whole = Path(tmp_path / f"{k}.csv").read_bytes()
            Path(tmp_path / f"{k}.csv").write_bytes(whole.rstrip(b"\n"))
    files = sorted(str(p) for p in tmp_path.glob("*.csv"))
    assert_same([here, scale.fit(LogisticRegression(), files, target="y", engine="serial")])
