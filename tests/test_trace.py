"""The one trace: a sequence of rows, a table, a data frame; the same shape from every estimator that keeps one."""

import copy
import pickle
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import certifit
from certifit._errors import MissingExtraError
from certifit._trace import COLUMNS, Trace, TraceRow, continued, joined

number = st.floats(allow_nan=False, width=32)
row = st.builds(lambda i, f, g, own: TraceRow(i, f, g, 1.0, 0.5, **own), st.integers(0, 99), number, number,
                st.dictionaries(st.sampled_from(["row", "pair", "machine"]), st.integers(0, 9)))  # fmt: skip
rows = st.lists(row, max_size=8)


@given(rows)
def test_what_went_in_comes_out_by_row_and_by_column(given_rows):
    trace = Trace(given_rows)
    assert len(trace) == len(given_rows)
    assert trace.columns[:5] == COLUMNS
    for i, expected in enumerate(given_rows):
        got = trace[i]._asdict()
        assert {k: v for k, v in got.items() if v is not None} == expected._asdict()
        assert trace[i - len(given_rows)] == trace[i]
        assert all(got[name] == column[i] for name, column in trace.to_dict().items())
    assert [r.gap for r in trace] == [r.gap for r in given_rows] == trace["gap"]
    assert list(trace[1:]) == [trace[i] for i in range(1, len(trace))]


@given(rows)
def test_the_printed_table_is_aligned_and_has_every_row(given_rows):
    trace = Trace(given_rows)
    lines = str(trace).split("\n")
    if not given_rows:
        assert "trace=True" in lines[0]
        return
    assert len(lines) == len(given_rows) + 1
    assert len({len(line) for line in lines}) == 1
    assert trace._repr_html_().count("<tr>") == len(lines)
    assert "seconds" in lines[0]


def test_long_traces_show_their_ends_and_silent_columns_are_left_out():
    text = str(Trace(TraceRow(i, 1.0 / (i + 1)) for i in range(1000)))
    assert "999" in text
    assert "…" in text
    assert len(text.split("\n")) < 30
    assert "gap" not in text
    assert "objective" in text


def test_rows_are_records():
    r = TraceRow(1, 2.0, 3.0, 4.0, 5.0, row=6, after=np.array([1.0, 2.0]))
    iteration, objective, *_ = r
    assert (iteration, objective, r.row, r["row"], r[-2]) == (1, 2.0, 6, 6, 6)
    assert r._replace(gap=0.5).gap == 0.5
    assert "row=6" in repr(r)
    with pytest.raises(AttributeError, match="no column 'colour'"):
        _ = r.colour
    for other in (pickle.loads(pickle.dumps(r)), copy.deepcopy(r)):
        assert other.row == 6
        np.testing.assert_array_equal(other.after, r.after)


@given(rows, rows)
def test_joined_and_continued(first, second):
    both = joined([first, second], "machine")
    assert len(both) == len(first) + len(second)
    assert both.to_dict().get("machine", []) == [0] * len(first) + [1] * len(second)
    more = continued(Trace(first), second)
    assert len(more) == len(both)
    if first and second:
        assert more[len(first)].iteration == first[-1].iteration + second[0].iteration


def test_frames(monkeypatch):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    trace = Trace([TraceRow(0, 2.0), TraceRow(1, 1.0, 0.5, after=np.ones(2))])
    assert isinstance(trace.frame(), pandas.DataFrame)
    assert trace.frame()["objective"].tolist() == [2.0, 1.0]
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert isinstance(trace.frame(), polars.DataFrame)
    assert trace.frame()["iteration"].to_list() == [0, 1]
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtraError, match="pandas or polars"):
        trace.frame()


def test_it_is_a_public_name():
    assert certifit.Trace is Trace
    assert repr(Trace([TraceRow(0)])).startswith("Trace(1 rows: iteration, objective")
