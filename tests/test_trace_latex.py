"""Steps as LaTeX: braces match, and the lines are read by a parser of mathematics where it knows them."""

import pytest
from matplotlib.mathtext import MathTextParser

import certifit as cf
from certifit import Trace
from certifit._trace import TraceRow
from certifit._trace_latex import vector, words


def test_a_table_of_what_is_not_known():
    text = Trace([TraceRow(0, 1.0, a_b="x & y"), TraceRow(1, 0.5, a_b="50%")]).latex()
    assert text.splitlines() == [
        r"\begin{tabular}{rrr}",
        r"$t$ & $J$ & a\_b \\ \hline",
        r"0 & 1 & x \& y \\",
        r"1 & 0.5 & 50\% \\",
        r"\end{tabular}",
    ]


def test_long_traces_are_cut():
    steps = cf.show_work("bayes", [1, 0] * 100, say=None).latex()
    assert r"\vdots" in steps
    assert steps.count("\n") < 70


@pytest.mark.parametrize("text", ["x[0] <= -1.5", "a_b != {c, d}", r"5 % of \x"])
def test_words_are_plain(text):
    said = words(text)
    parser = MathTextParser("agg")
    parser.parse(said.replace(r"\textbackslash ", "/").replace(r"\_", " ").replace(r"\le", r"\leq"))


def test_numbers():
    assert vector([-0.0, 1e-9]) == r"\begin{pmatrix} 0 \\ 1 \cdot 10^{-9} \end{pmatrix}"
