"""Bars with rows, rows a second and time left."""

import io

import pyarrow.parquet as pq

from certifit import scale
from certifit.linear_model import LogisticRegression
from certifit.scale._progress import Bar, Bars
from tests.scale.tables import partitioned, table


def test_a_bar_tells_rows_speed_and_time_left():
    bar = Bar("moments", 1000, io.StringIO())
    bar(250)
    bar(250)
    task = bar.bars.tasks[0]
    assert (task.completed, task.total) == (500, 1000)
    assert "500 rows" in task.fields["speed"]
    assert "a second" in task.fields["speed"]
    assert task.time_remaining is not None
    bar.close()


def test_every_pass_over_files_knows_its_rows_and_hears_of_all(tmp_path):
    t = table(0, 120, 3, "two")
    for k in range(3):
        pq.write_table(t.slice(40 * k, 40), tmp_path / f"{k}.parquet")
    heard = []

    def watch(task, rows):
        heard.append([task, rows, 0])

        def one(count):
            heard[-1][2] += count

        return one

    where = str(tmp_path / "*.parquet")
    model = scale.fit(LogisticRegression(), where, target="y", engine="serial", progress=watch)
    scale.evaluate(model, where, target="y", engine="serial", progress=watch)
    assert len(scale.predict(model, where, engine="serial", progress=watch)) == 120
    assert heard[-1][0] == "predicting"
    assert len(heard) >= 5
    assert [h for h in heard if h[1:] != [120, 120]] == []


def test_true_draws_bars(capsys):
    scale.fit(LogisticRegression(), partitioned(table(1, 60, 2, "two"), 2), target="y", engine="serial", progress=True)
    assert isinstance(Bars()("reading", None), Bar)
    assert capsys.readouterr().err == ""  # not a terminal
