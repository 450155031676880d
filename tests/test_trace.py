"""The one trace: a sequence of rows, a table, a data frame; the same shape from every estimator that keeps one."""

import copy
import pickle
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import certifit
from certifit import plot
from certifit._trace import COLUMNS, Trace, TraceRow, continued, joined
from certifit.bayes import BayesianLinearRegression
from certifit.exceptions import MissingExtraError
from certifit.glm import GLM
from certifit.kernel_ridge import KernelRidge
from certifit.linear_model import (
    AveragedPerceptron,
    ElasticNet,
    Lasso,
    LinearModel,
    LogisticRegression,
    Perceptron,
    Ridge,
    VotedPerceptron,
)
from certifit.svm import SVC, HardMarginSVC, KernelPerceptron, LinearSVC, PegasosSVC

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


MODELS = [
    Ridge(solver="gradient_descent"),
    Lasso(alpha=0.1),
    ElasticNet(alpha=0.1),
    LogisticRegression(),
    LinearModel(loss="squared", regularizer="l2", lam=0.1, solver="gradient_descent"),
    GLM("poisson"),
    BayesianLinearRegression(),
    KernelRidge(solver="lms"),
    SVC(tol=1e-4),
    LinearSVC(loss="hinge"),
    LinearSVC(),
    HardMarginSVC(kernel="rbf"),
    PegasosSVC(alpha=0.1, random_state=0),
    KernelPerceptron(),
    Perceptron(),
    AveragedPerceptron(),
    VotedPerceptron(),
]
WALKS = (Perceptron, AveragedPerceptron, VotedPerceptron, KernelPerceptron, PegasosSVC, LinearSVC)  # may go up and down


def _falling(model, values, gaps):
    """What theory says never rises."""
    if isinstance(model, BayesianLinearRegression):
        return -values  # the evidence is maximised
    if isinstance(model, SVC):
        return gaps - values  # minus the dual
    if isinstance(model, HardMarginSVC):
        return values + gaps  # half the distance of the hulls
    return values


def _fitted(model, **params):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 2))
    score = X @ [1.0, -0.5] + 0.5 * rng.normal(size=40)
    regressor = isinstance(model, (Ridge, Lasso, ElasticNet, LinearModel, BayesianLinearRegression, KernelRidge))
    y = score if regressor else np.round(np.exp(score)) if isinstance(model, GLM) else (score > 0).astype(int)
    return type(model)(**{**model.get_params(deep=False), **params}).fit(X, y)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_every_estimator_keeps_one_shape(model):
    told, plain = _fitted(model, trace=True), _fitted(model)
    trace = told.trace_
    assert isinstance(trace, Trace)
    assert trace.columns[:5] == COLUMNS
    assert len(trace) >= 1
    assert len(plain.trace_) == 0
    for name in ("coef_", "dual_coef_", "intercept_"):
        if hasattr(told, name):
            np.testing.assert_array_equal(getattr(told, name), getattr(plain, name))
    values, gaps = [np.array(trace[c], dtype=float) for c in ("objective", "gap")]
    assert not np.any(gaps < -1e-9)
    if not isinstance(model, WALKS):
        falling = _falling(model, values, gaps)
        assert np.all(np.diff(falling) <= 1e-9 * np.abs(values).max())
    assert plot.trace(told).get_yscale() == ("log" if np.isfinite(gaps).any() else "linear")
    assert pickle.loads(pickle.dumps(told)).trace_.to_dict().keys() == trace.to_dict().keys()
    if hasattr(told, "status_"):
        assert told.status_ in certifit.solvers.STATUS


@pytest.mark.parametrize("model", [SVC(tol=1e-4), LinearSVC(loss="hinge"), LinearSVC(), KernelRidge(solver="lms")])
def test_the_last_gap_is_the_certificate_s(model):
    told = _fitted(model, trace=True)
    c = told.certificate_
    assert c.gap <= told.trace_[-1].gap + 1e-9 * (1.0 + abs(c.value))


def test_pair_steps_of_several_machines_name_rows_of_the_table():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 3
    model = SVC(trace=True).fit(X, y)
    for r in model.trace_:
        if r.i is not None:
            pair = [(0, 1), (0, 2), (1, 2)][r.machine]
            assert y[r.i] in pair
            assert y[r.j] in pair
    assert set(model.trace_["machine"]) == {0, 1, 2}
