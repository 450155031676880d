"""The checker: exact arithmetic, every kind it knows, and that it refuses what is false, in words and without a traceback."""

from __future__ import annotations

import ast
import copy
import itertools
import json
import math
import os
import sys
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer

from certifit import checker
from certifit.certificates import kinds
from certifit.certificates._proof_file import PROVED, proof_of
from certifit.cluster import KMeans
from certifit.decomposition import PCA
from certifit.exceptions import ConvergenceWarning
from certifit.geometry import separability
from certifit.linear_model import Lasso, LinearRegression, LogisticRegression, Perceptron, Ridge
from certifit.naive_bayes import GaussianNB
from certifit.svm import SVC, LinearSVC
from certifit.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.proof_cases import CASES
from tests.proof_runs import Case, outcome, run_checker

FILES = [Path(checker.__file__), *(Path(checker.__file__).with_name(name) for name in checker.MORE)]
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
MODERATE = st.floats(-700.0, 700.0)


# -- one file ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_each_file_is_short_and_standard_python_for_3_9(path):
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    assert len(lines) <= 700
    assert max(map(len, lines)) <= 140
    for node in ast.walk(ast.parse(source, feature_version=(3, 9))):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [node.module] if isinstance(node, ast.ImportFrom) else [n.name for n in node.names]
            assert all(name.split(".")[0] in sys.stdlib_module_names for name in names), names


def test_it_knows_the_kinds_that_can_be_saved():
    for kind in PROVED:
        checker.check_of(kind)
    assert set(checker.KINDS) == set(PROVED) == set(kinds())


ALONE = ["lasso", "tree", "neighbours", "gaussian counts"]


def test_the_first_file_proves_its_kinds_alone_and_names_the_others(tmp_path):
    """The kinds that most courses have need one file; of the others it says in one sentence where they are."""
    script = tmp_path / "alone" / "checker.py"
    script.parent.mkdir()
    script.write_bytes(FILES[0].read_bytes())
    for name in ALONE:
        assert run_checker(*CASES[name](np.random.default_rng(0)).write(tmp_path), script=script)[0] == "PROVED"
    last, _, code = run_checker(*CASES["histogram"](np.random.default_rng(0)).write(tmp_path), script=script)
    assert code == 1
    assert last.endswith("are in checker_variants.py, checker_families.py and checker_partitions.py")


@pytest.mark.parametrize("name", ["tree", "histogram", "lasso in partitions", "lasso"])
@pytest.mark.parametrize("script", FILES, ids=lambda p: p.stem)
def test_any_of_the_files_can_be_run(name, script, tmp_path):
    assert run_checker(*CASES[name](np.random.default_rng(0)).write(tmp_path), script=script)[0] == "PROVED"


def test_partitions_come_as_one_table_or_as_files_in_their_order(tmp_path):
    case = CASES["ridge in partitions"](np.random.default_rng(0))
    proof, table = case.write(tmp_path)
    head, *lines = table.read_text(encoding="utf-8").splitlines(keepends=True)
    rows = [part[1] for part in json.loads(proof.read_text(encoding="utf-8"))["data"]["partitions"]]
    assert len(rows) == 3
    ends, parts = [0, *itertools.accumulate(rows)], []
    for k, (a, b) in enumerate(itertools.pairwise(ends)):
        parts.append(tmp_path / f"part{k}.csv")
        parts[-1].write_text(head + "".join(lines[a:b]), encoding="utf-8")
    assert run_checker(proof, *parts)[0] == "PROVED"
    wrong = "NOT PROVED: a partition that is not the one of the proof, or in another place"
    assert run_checker(proof, *parts[::-1])[0] == wrong
    assert run_checker(proof, *parts[:2])[0] == wrong
    assert run_checker(proof, *parts, parts[0])[0] == "NOT PROVED: rows that are in no partition"


def test_what_is_assumed_is_said(tmp_path):
    _, steps, _ = run_checker(*CASES["held-out rows"](np.random.default_rng(0)).write(tmp_path))
    assert "assumed: the predictions, which are given, are those of a model chosen without these rows" in steps


# -- arithmetic, against mpmath ---------------------------------------------------------------------------------------
def holds(interval, true, digits):
    """Whether the interval contains the number and is no wider than 10^-digits of it."""
    low, high = (mpmath.ldexp(mpmath.mpf(end), interval.e) for end in (interval.lo, interval.hi))
    return low <= true <= high and high - low <= mpmath.mpf(10) ** -digits * abs(true)


@given(MODERATE)
def test_exponential(x):
    with mpmath.workprec(400):
        assert holds(checker.exp(checker.n(x)), mpmath.exp(mpmath.mpf(x)), 50)


@given(st.integers(1, 2**3000), st.integers(-3000, 3000))
def test_logarithm(mantissa, exponent):
    with mpmath.workprec(4000):
        true = mpmath.log(mpmath.ldexp(mantissa, exponent))
        found = checker.log(checker.N(mantissa, None, exponent))
        low, high = (mpmath.ldexp(mpmath.mpf(end), found.e) for end in (found.lo, found.hi))
        assert low <= true <= high
        assert high - low <= mpmath.mpf(10) ** -55 * max(1, abs(true))


@pytest.mark.parametrize("bits", [768, 3072])
def test_more_bits_enclose_more_closely(bits, monkeypatch):
    monkeypatch.setattr(checker, "BITS", bits)
    with mpmath.workprec(2 * bits):
        for x in (1e-300, 0.3, 1.0 / 3.0, 1.0, 2.5, 700.0, 16383.0):
            for sign in (1.0, -1.0):
                assert holds(checker.exp(checker.n(sign * x)), mpmath.exp(sign * mpmath.mpf(x)), bits // 4)
            assert holds(checker.log(checker.n(x) + 1), mpmath.log(mpmath.mpf(x) + 1), bits // 4 - 300 * (x < 1e-9))
        assert holds(checker.N(1) / 3, mpmath.mpf(1) / 3, bits // 4)
        assert holds(checker.N(2).sqrt(), mpmath.sqrt(2), bits // 4)


def test_a_comparison_that_rounding_leaves_open_is_made_again_with_more_bits():
    tried = []

    def prove(table, e):  # 1/3·3 − 1 is at most what the bits leave
        tried.append(checker.BITS)
        return {"gap": checker.up(abs(checker.N(1) / 3 * 3 - 1))}

    table = checker.Table([[1.0]])
    checker.settled(prove, table, {}, {"gap": 1e-50})
    checker.settled(prove, table, {}, {"gap": 1e-200})
    assert tried == [192, 192, 768]
    checker.settled(prove, table, {}, {"gap": -1.0})  # decided: more bits would not help
    assert tried == [192, 192, 768, 192]


@given(FLOATS, FLOATS.filter(bool))
def test_sums_products_quotients_and_roots(x, y):
    a, b = checker.n(x), checker.n(y)
    with mpmath.workprec(9000):
        exact = mpmath.mpf(x), mpmath.mpf(y)
        for found, true in ((a + b, exact[0] + exact[1]), (a - b, exact[0] - exact[1]), (a * b, exact[0] * exact[1])):
            assert found.lo == found.hi
            assert mpmath.ldexp(found.lo, found.e) == true
        assert holds(a / b, exact[0] / exact[1], 55)
        assert holds(abs(a).sqrt(), mpmath.sqrt(abs(exact[0])), 55)


@given(st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=4), st.data())
def test_intervals_contain_what_their_members_give(ends, data):
    """Any number of each interval, put through a formula, lies in the interval that the formula gives."""
    intervals, members = [], []
    for x, y in ends:
        low, high = sorted((x, y))
        intervals.append(checker.join(checker.n(low), checker.n(high)))
        members.append(checker.n(data.draw(st.sampled_from([low, high]))))
    for formula in (
        checker.total,
        checker.largest,
        lambda v: checker.total(a**2 for a in v),
        lambda v: math.prod(v, start=checker.N(1)),
        lambda v: v[0].max0() - abs(v[-1]),
    ):
        wide, point = formula(intervals), formula(members)
        assert not wide < point
        assert not wide > point


@given(st.lists(st.lists(st.integers(-9, 9), min_size=3, max_size=3), min_size=1, max_size=5))
def test_elimination_is_exact(rows):
    R, d, pivots = checker.reduced(rows)
    assert len(pivots) == np.linalg.matrix_rank(np.array(rows))
    for k, row in enumerate(R):
        assert [row[p] for p in pivots] == [d if j == k else 0 for j in range(len(pivots))]
    for row in rows:  # each row is the mixture of reduced rows that its entries at the pivots say
        assert [v * d for v in row] == [sum(row[p] * r[j] for p, r in zip(pivots, R)) for j in range(3)]


def exact_form(A, x):
    """xᵀA⁻¹x in rationals."""
    m = len(A)
    R, d, _ = checker.reduced([[A[max(i, j)][min(i, j)] for j in range(m)] + [x[i]] for i in range(m)])
    return sum(Fraction(a) * Fraction(row[-1], d) for a, row in zip(x, R))


@given(st.lists(st.tuples(*[st.integers(-(2**70), 2**70)] * 3), min_size=3, max_size=6), st.integers(0, 2))
def test_the_reach_of_a_matrix_encloses_the_largest_form(rows, empty):
    """Also of columns of very different sizes, of negative numbers, and of a column of zeros."""
    rows = [[0 if j == empty else v >> 30 * j for j, v in enumerate(row)] for row in rows]
    A = [[sum(x[i] * x[j] for x in rows) + (i == j) for j in range(i + 1)] for i in range(3)]
    found = checker.Cholesky([[checker.N(v) for v in row] for row in A]).reach([checker.vec(x) for x in rows])
    true = max(exact_form(A, x) for x in rows)
    low, high = (Fraction(end) * Fraction(2) ** found.e for end in (found.lo, found.hi))
    assert low <= true <= high
    assert high - low <= true / 10**40


def test_the_reach_of_rows_that_are_intervals_is_refused():
    with pytest.raises(checker.Refused, match="single numbers"):
        checker.Cholesky([[checker.N(1)]]).reach([[checker.N(0, 1)]])


# -- every family -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", CASES)
def test_small_fits_are_proved(name, tmp_path):
    for seed in range(3):
        case = CASES[name](np.random.default_rng(seed))
        assert outcome(*case.proof(tmp_path)) == "PROVED", (seed, case.certificate)


@pytest.mark.parametrize("name", list(CASES)[::3])
def test_on_a_machine_with_nothing_but_python(name, tmp_path):
    last, steps, code = run_checker(*CASES[name](np.random.default_rng(0)).write(tmp_path))
    assert (last, code) == ("PROVED", 0)
    assert steps.startswith("ok  the data are those of the proof")


SINGLE = {
    "least squares": LinearRegression(),
    "non-negative": LinearRegression(positive=True),
    "ridge": Ridge(),
    "lasso": Lasso(alpha=0.1),
    "logistic": LogisticRegression(),
    "linear machine": LinearSVC(),
    "kernel machine": SVC(),
    "perceptron": Perceptron(max_iter=20),
    "gaussian counts": GaussianNB(),
    "tree": DecisionTreeClassifier(max_depth=2),
    "regression tree": DecisionTreeRegressor(max_depth=2),
    "clusters": KMeans(2, random_state=0),
    "components": PCA(2),
}


@pytest.mark.parametrize("name", SINGLE)
def test_fits_in_single_precision_are_proved_from_their_files(name, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)).astype(np.float32)
    numbers = name in ("least squares", "non-negative", "ridge", "lasso", "regression tree")
    y = (X[:, 0] + rng.normal(size=30)).astype(np.float32)
    y = None if name in ("clusters", "components") else y if numbers else (y > 0).astype(np.float32)
    certificate = SINGLE[name].fit(*((X,) if y is None else (X, y))).certificate_
    assert certificate.holds
    assert run_checker(*Case(certificate, X, y).write(tmp_path))[0] == "PROVED"


def test_a_long_table_is_bounded_as_closely_as_by_the_library(tmp_path):
    """With so many numbers the checker once took a bound in place of max xᵀH⁻¹x, and proved less than was stated."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1010, 100)).round(3)
    y = X[:, 0] + rng.normal(size=len(X)) > 0
    with pytest.warns(ConvergenceWarning):
        model = LogisticRegression(max_iter=2).fit(X, y)
    assert model.certificate_.kind == "local"
    assert model.certificate_.gap > 1e-6
    assert run_checker(*Case(model.certificate_, X, y * 1.0).write(tmp_path))[0] == "PROVED"


@pytest.mark.parametrize(("rows", "same"), [(150, False), (60, False), (150, True)], ids=["tall", "wide", "copies"])
def test_non_negative_least_squares_of_over_a_hundred_columns(rows, same):
    """Beyond 100 columns the checker works in intervals, which once needed independent columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 102)).round(3)
    X[:, 50] = X[:, 9] if same else X[:, 50]
    y = X @ np.maximum(rng.normal(size=102), 0.0) + rng.normal(size=rows)
    model = LinearRegression(positive=True).fit(X, y)
    table = checker.Table(X.tolist(), [y.tolist()])
    proof = json.loads(proof_of(model.certificate_))
    assert outcome(proof, table) == "PROVED"
    found = checker.prove_least_squares(table, checker.decoded(proof["evidence"]))
    value, gap = (found[k][1] for k in ("value", "gap"))
    assert gap <= value * 1e-20 or (rows < 102 and gap <= 1e-20)  # also where the library states the value itself


def test_the_bound_in_intervals_is_the_exact_one():
    rng = np.random.default_rng(1)
    for _ in range(20):
        X, r = rng.integers(-3, 4, size=(9, 5)), rng.integers(-9, 10, size=9)
        columns, held = [checker.vec(c) for c in X.T.tolist()], sorted(rng.choice(5, 2, replace=False).tolist())
        H, g = checker.scatter([checker.N(1)] * 9, columns), [checker.dot(c, checker.vec(r.tolist())) for c in columns]
        try:
            found = checker.excess_of_independent(H, g, held)
        except checker.Refused:
            assert np.linalg.matrix_rank(X) < 5
            continue
        exact = checker.excess(H, g, held)
        assert exact - 1e-40 <= found  # it may release several columns at once, where the exact one releases the first


def test_arrays_in_npy_files(tmp_path):
    case = CASES["ridge, weighted"](np.random.default_rng(0))
    proof, _ = case.write(tmp_path)
    for k, (X, y) in enumerate([(case.X, case.y), (np.asfortranarray(case.X), case.y)]):
        paths = [tmp_path / f"{name}{k}.npy" for name in "Xyw"]
        for path, part in zip(paths, (X, y, case.weight)):
            np.save(path, part)
        assert run_checker(proof, *paths)[0] == "PROVED"
    np.save(paths[1], case.y + 1.0)
    assert run_checker(proof, *paths)[0] == "NOT PROVED: these are other data than those of the proof"


def test_what_is_proved_about_is_shown(tmp_path):
    """A gap means little without its objective: the strength, the loss and the penalty stand in the output."""
    _, steps, _ = run_checker(*CASES["elastic net"](np.random.default_rng(0)).write(tmp_path))
    for word in ("'squared'", "'elastic'", "'strength'", "'fit_intercept': True"):
        assert word in steps


def breast_cancer(name):
    X, y = load_breast_cancer(return_X_y=True)
    models = {
        "least squares": LinearRegression(),
        "ridge": Ridge(),
        "lasso": Lasso(alpha=0.01),
        "logistic": LogisticRegression(),
        "linear machine": LinearSVC(),
        "kernel machine": SVC(),
        "perceptron": Perceptron(max_iter=20),
        "gaussian counts": GaussianNB(),
        "tree": DecisionTreeClassifier(max_depth=3),
    }
    if name == "components":
        return Case(PCA(2).fit(X).certificate_, X)
    if name == "separability":
        return Case(separability(X, y).certificate, X, y)
    return Case(models[name].fit(X, y).certificate_, X, y)


SOON = ["least squares", "ridge", "lasso", "linear machine", "components", "separability", "gaussian counts"]
LATER = [pytest.param(name, marks=pytest.mark.slow) for name in ("logistic", "kernel machine", "tree", "perceptron")]


@pytest.mark.parametrize("name", [*SOON, *LATER])
def test_breast_cancer_within_twenty_seconds(name, tmp_path):
    paths = breast_cancer(name).write(tmp_path)
    start = os.times().children_user  # what the checker itself used, however busy the machine is
    assert run_checker(*paths)[0] == "PROVED"
    assert os.times().children_user - start < 20.0


# -- forgeries --------------------------------------------------------------------------------------------------------
def at(tree, path):
    for step in path:
        tree = tree[step]
    return tree


def changed(proof, path, value):
    forged = copy.deepcopy(proof)
    at(forged, path[:-1])[path[-1]] = value
    return forged


FORGED = [
    ("lasso", ("evidence", "coef", 0, 0), (3.0).hex()),
    ("lasso", ("evidence", "dual", 0, 0), (3.0).hex()),
    ("lasso", ("evidence", "objective", "strength"), (-1.0).hex()),
    ("lasso", ("figures", "gap"), (0.0).hex()),
    ("lasso", ("figures", "gap"), "nan"),
    ("lasso", ("figures", "gap"), "inf"),
    ("lasso", ("figures", "bound"), (1e9).hex()),
    ("lasso", ("figures", "perfect"), 1),
    ("lasso", ("figures",), {}),
    ("lasso", ("kind",), "least-squares"),
    ("lasso", ("kind",), "perfection"),
    ("lasso", ("version",), 2),
    ("lasso", ("data", "rows"), 7),
    ("lasso", ("data", "sha256"), "0" * 64),
    ("lasso", ("evidence", "coef", 0, 0), 0.25),
    ("least squares", ("evidence", "coef", 0, 0), (9.0).hex()),
    ("least squares", ("evidence", "intercept", 0), "inf"),
    ("ridge, weighted", ("evidence", "objective", 0, "regularizer", "params", "factor"), (-1.0).hex()),
    ("logistic", ("evidence", "coef", 0, 1), (50.0).hex()),
    ("logistic", ("evidence", "objective", "classes"), [(0.0).hex(), (0.0).hex()]),
    ("linear machine", ("evidence", "objective", "padding"), (-1.0).hex()),
    ("kernel machine", ("evidence", "kernel"), ["rbf", (-0.5).hex()]),
    ("kernel machine", ("evidence", "kernel"), ["polynomial", (2.5).hex(), (1.0).hex(), (1.0).hex()]),
    ("kernel machine", ("evidence", "support", 0), -1),
    ("nu", ("evidence", "nu"), (0.3).hex()),
    ("one class", ("evidence", "nu"), "nan"),
    ("poisson", ("evidence", "objective", "fit_intercept"), False),
    ("poisson with offset", ("evidence", "objective", "offset"), False),
    ("hard margin", ("evidence", "intercept", 0), (99.0).hex()),
    ("perceptron", ("evidence", "times_0", 0), 10**9),
    ("perceptron", ("evidence", "eta0"), (-1.0).hex()),
    ("perceptron", ("figures", "value"), 0),
    ("overlapping", ("evidence", "verdict"), "separable"),
    ("overlapping", ("figures", "verdict"), "separable"),
    ("separable", ("figures", "margin"), (1e6).hex()),
    ("mercer", ("evidence", "shift"), (1.0).hex()),
    ("mercer", ("evidence", "method"), "this matrix is perfect"),
    ("not mercer", ("evidence", "vector", 0), (0.0).hex()),
    ("components", ("evidence", "components", 0, 0), (0.0).hex()),
    ("components", ("figures", "gap"), (-1.0).hex()),
    ("gaussian counts", ("evidence", "theta", 0, 0), (77.0).hex()),
    ("gaussian counts", ("evidence", "var", 0, 0), (-1.0).hex()),
    ("multinomial counts", ("evidence", "alpha"), (-1.0).hex()),
    ("multinomial counts", ("evidence", "feature_log_prob", 0, 0), (-0.5).hex()),
    ("categorical counts", ("evidence", "n_categories", 0), 2),
    ("neighbours", ("evidence", "indices", 0, 0), 24),
    ("neighbours", ("evidence", "indices", 0, 0), -1),
    ("neighbours", ("evidence", "metric"), "perfect"),
    ("neighbours by given distances", ("evidence", "distances", 0, 0), (9.0).hex()),
    ("neighbours by given distances", ("evidence", "distances", 0, 0), (-1.0).hex()),
    ("neighbours by given distances", ("evidence", "distances", 0), []),
    ("neighbours by given distances", ("evidence", "indices", 1, 1), 0.5),
    ("neighbours by given distances", ("kind",), "neighbors"),
    ("rows within a radius", ("evidence", "radius"), (9.0).hex()),
    ("rows within a radius", ("evidence", "radius"), (-1.5).hex()),
    ("rows within a radius", ("evidence", "radius"), "inf"),
    ("rows within a radius", ("evidence", "counts", 0), 0),
    ("rows within a radius", ("evidence", "counts"), []),
    ("rows within a radius", ("evidence", "indices"), []),
    ("rows within a radius", ("evidence", "own"), [0, 0, 0]),
    ("rows within a radius", ("evidence", "weights"), [(-1.0).hex()] * 3),
    ("rows within a radius", ("figures", "most"), 25),
    ("rows within a radius", ("figures", "radius"), (1.0).hex()),
    ("rows within an angle", ("evidence", "radius"), (0.0).hex()),
    ("rows within an angle", ("evidence", "metric"), "euclidean"),
    ("prototypes", ("evidence", "prototypes"), [0]),
    ("prototypes", ("evidence", "prototypes"), []),
    ("prototypes", ("evidence", "prototypes", 0), -1),
    ("prototypes", ("figures", "prototypes"), 1),
    ("prototypes, edited", ("evidence", "kept"), []),
    ("prototypes, edited", ("evidence", "kept", 0), -1),
    ("prototypes, edited", ("evidence", "neighbors", 0, 0), 0),
    ("prototypes, edited", ("figures", "kept"), 25),
    ("class centres", ("evidence", "centres", 0, 0), (77.0).hex()),
    ("class centres", ("evidence", "centres", 0), []),
    ("class centres", ("evidence", "distance"), "perfect"),
    ("class centres", ("figures", "gap"), (-1.0).hex()),
    ("class medians", ("evidence", "centres", 1, 1), (77.0).hex()),
    ("class medians", ("evidence", "distance"), "euclidean"),
    ("complement counts", ("evidence", "feature_weights", 0, 0), (0.9).hex()),
    ("complement counts", ("evidence", "feature_weights", 0), []),
    ("complement counts", ("evidence", "alpha"), (-1.0).hex()),
    ("complement counts", ("evidence", "norm"), False),
    ("complement counts", ("evidence", "norm"), 3),
    ("complement counts", ("figures", "error"), (-1.0).hex()),
    ("tree", ("evidence", "feature", 0), -1),
    ("tree", ("evidence", "value", 0, 0), (0.9).hex()),
    ("tree", ("evidence", "min_samples_leaf"), -1),
    ("tree", ("evidence", "class_weight"), [(-1.0).hex(), (1.0).hex(), (1.0).hex()]),
    ("tree", ("figures", "questions"), 1),
    ("constant", ("evidence", "value", 0), (99.0).hex()),
    ("hypotheses", ("evidence", "posterior", 0), (0.5).hex()),
    ("hypotheses", ("evidence", "outcomes"), ["lime", "lime"]),
    ("training errors", ("evidence", "coef"), []),
    ("training errors", ("evidence", "intercept", 0), (99.0).hex()),
    ("training errors", ("evidence", "intercept", 0), "inf"),
    ("training errors", ("figures", "value"), 0),
    ("training errors", ("figures", "error_rate"), (0.0).hex()),
    ("training errors of three classes", ("evidence", "coef", 2), [(0.0).hex()]),
    ("training errors of three classes", ("figures", "rows"), 19),
    ("stored rows", ("evidence", "rows"), "0" * 64),
    ("stored rows", ("evidence", "task"), "values"),
    ("stored rows", ("evidence", "task"), "none"),
    ("stored rows", ("figures", "unavoidable"), 0),
    ("stored rows", ("figures", "distinct"), 25),
    ("stored values", ("evidence", "task"), "classes"),
    ("stored values", ("figures", "unavoidable"), (0.0).hex()),
    ("network of thresholds", ("evidence", "intercept_0", 0), (99.0).hex()),
    ("network of thresholds", ("evidence", "weights_0"), []),
    ("network of thresholds", ("evidence", "intercept_1", 0), (99.0).hex()),
    ("network of thresholds", ("evidence", "layers"), 1),
    ("network of thresholds", ("evidence", "layers"), 0),
    ("network of thresholds", ("figures", "units"), 1),
    ("network of thresholds", ("figures", "inputs"), 4),
    ("kernel density", ("evidence", "upper", 0), (0.0).hex()),
    ("kernel density", ("evidence", "lower", 1), (1e9).hex()),
    ("kernel density", ("evidence", "lower"), []),
    ("kernel density", ("evidence", "points"), []),
    ("kernel density", ("evidence", "points", 0), [(0.0).hex()]),
    ("kernel density", ("evidence", "points", 0, 0), "nan"),
    ("kernel density", ("evidence", "bandwidth"), (-2.0).hex()),
    ("kernel density", ("evidence", "bandwidth"), (2.5).hex()),
    ("kernel density", ("evidence", "bandwidth"), (0.0).hex()),
    ("kernel density", ("evidence", "kernel"), "exponential"),
    ("kernel density", ("evidence", "metric"), "manhattan"),
    ("kernel density", ("figures", "width"), (0.0).hex()),
    ("kernel density", ("figures", "points"), 4),
    ("kernel density", ("figures", "kernel"), "tophat"),
    ("kernel density, within a radius", ("evidence", "metric"), "chebyshev"),
    ("kernel density, within a radius", ("evidence", "kernel"), "linear"),
    ("radii of a network", ("evidence", "radii", 3), (9.0).hex()),
    ("radii of a network", ("evidence", "radii", 3), (-1e-3).hex()),
    ("radii of a network", ("evidence", "radii", 3), "inf"),
    ("radii of a network", ("evidence", "radii"), []),
    ("radii of a network", ("evidence", "codes"), [0] * 24),
    ("radii of a network", ("evidence", "codes", 0), -1),
    ("radii of a network", ("evidence", "codes", 0), 2),
    ("radii of a network", ("evidence", "intercept_1", 0), (99.0).hex()),
    ("radii of a network", ("evidence", "coef_0", 0), []),
    ("radii of a network", ("evidence", "layers"), 1),
    ("radii of a network", ("evidence", "activation"), "sine"),
    ("radii of a network", ("figures", "certain"), 25),
    ("radii of a network", ("figures", "least"), (1.0).hex()),
    ("radii of a network for three classes", ("evidence", "codes"), [1] * 24),
    ("twins", ("evidence", "twins"), [2, 1]),
    ("twins", ("evidence", "twins"), [0, 0]),
    ("twins", ("evidence", "twins"), [0, -11]),
    ("twins", ("figures", "rows"), [1, 0]),
    ("twins", ("figures", "bound"), (-1.0).hex()),
    ("hulls that meet", ("evidence", "dual_coef", 0, 0), (0.5).hex()),
    ("hulls that meet", ("evidence", "dual_coef", 0), [(0.0).hex()] * 4),
    ("hulls that meet", ("evidence", "dual_coef", 0), [(v).hex() for v in (-1.0, 0.0, 0.5, 0.5)]),
    ("hulls that meet", ("evidence", "support"), [0, 0, 2, 3]),
    ("hulls that meet", ("evidence", "kernel"), ["rbf", (-1.0).hex()]),
    ("hulls that meet", ("figures", "radius"), (99.0).hex()),
    ("hulls that meet", ("figures", "bound"), (-1.0).hex()),
    ("plan", ("evidence", "values", 0), (50.0).hex()),
    ("plan", ("evidence", "values"), []),
    ("plan", ("evidence", "policy_values", 2), (-50.0).hex()),
    ("plan", ("evidence", "policy", 0), -1),
    ("plan", ("evidence", "policy", 0), 14),
    ("plan", ("evidence", "discount"), (1.0).hex()),
    ("plan", ("evidence", "discount"), (0.1).hex()),
    ("plan", ("figures", "loss"), (0.0).hex()),
    ("plan", ("figures", "width"), (0.0).hex()),
    ("plan", ("figures", "states"), 4),
    ("plan of four steps", ("evidence", "policy", 1, 1), 0),
    ("plan of four steps", ("evidence", "policy", 3), []),
    ("plan of four steps", ("evidence", "horizon"), 3),
    ("plan of four steps", ("evidence", "terminal", 0), "inf"),
    ("plan of four steps", ("figures", "loss"), (-1.0).hex()),
    ("machine of all classes", ("evidence", "coef", 2, 1), (0.5).hex()),
    ("machine of all classes", ("evidence", "intercept", 0), (3.0).hex()),
    ("machine of all classes", ("evidence", "dual", 0), [(0.0).hex()] * 2),
    ("machine of all classes", ("evidence", "dual", 0), [v.hex() for v in (9.0, -9.0, 0.0)]),
    ("machine of all classes", ("evidence", "dual", 0, 1), (0.125).hex()),
    ("machine of all classes", ("evidence", "objective", "loss", "name"), "softmax"),
    ("machine of all classes", ("evidence", "objective", "loss", "name"), "hinge"),
    ("machine of all classes", ("evidence", "objective", "padding"), (-1.0).hex()),
    ("machine of all classes", ("evidence", "objective", "padding"), None),
    ("machine of all classes", ("evidence", "objective", "strength"), (-1.0).hex()),
    ("machine of all classes", ("evidence", "objective", "class_weight", 0), (-1.0).hex()),
    ("machine of all classes", ("evidence", "kernel"), ["linear"]),
    ("machine of all classes", ("figures", "gap"), (0.0).hex()),
    ("tree of absolute errors", ("evidence", "value", 0, 0), (99.0).hex()),
    ("tree of absolute errors", ("evidence", "threshold", 0), (0.0).hex()),
    ("tree of absolute errors", ("evidence", "threshold", 0), "nan"),
    ("tree of absolute errors", ("evidence", "threshold", 0), "inf"),
    ("tree of absolute errors", ("evidence", "criterion"), "squared_error"),
    ("tree of absolute errors", ("evidence", "criterion"), "gini"),
    ("tree of absolute errors", ("evidence", "criterion"), "unheard of"),
    ("tree of counts", ("evidence", "criterion"), "squared_error"),
    ("tree of counts", ("evidence", "value", 1, 0, 0), (0.0).hex()),
    ("tree of counts", ("evidence", "splitter"), "random"),
    ("tree of counts", ("evidence", "drawn"), [[True, False, False]] * 15),
    ("tree of counts", ("evidence", "monotonic"), [1, 0, 0]),
    ("tree of counts", ("evidence", "alpha"), (-1.0).hex()),
    ("tree of counts", ("evidence", "alpha"), (9.0).hex()),
    ("tree of counts", ("evidence", "min_weight_leaf"), (9.0).hex()),
    ("tree of counts", ("figures", "shortfall"), (-1.0).hex()),
    ("tree with missing numbers", ("evidence", "missing_left", 0), "turn"),
    ("tree with missing numbers", ("evidence", "class_weight", 0), (-1.0).hex()),
    ("tree with missing numbers", ("evidence", "class_weight", 0), (9.0).hex()),
    ("tree with missing numbers", ("evidence", "class_weight"), [(1.0).hex()]),
    ("tree with missing numbers", ("evidence", "feature", 0), -1),
    ("tree with missing numbers", ("evidence", "categories", 0), [(1.0).hex()]),
    ("tree of words", ("evidence", "categories", 1, 0), "z"),
    ("tree of words", ("evidence", "categories", 1, 0), "None"),
    ("tree of words", ("evidence", "categories", 1, 1), "a"),
    ("tree of words", ("evidence", "categories", 1), None),
    ("tree of words", ("evidence", "categories"), []),
    ("tree of words", ("evidence", "sets", 0), "turn"),
    ("tree of words", ("evidence", "sets"), []),
    ("tree of words", ("evidence", "group"), "turn"),
    ("tree of words", ("evidence", "left"), "turn"),
    ("tree of words", ("figures", "questions"), 0),
    ("tree of words", ("figures", "impurity"), (0.0).hex()),
    ("tree of words for three classes", ("evidence", "criterion"), "absolute_error"),
    ("regression tree of words", ("evidence", "sets", 0), "turn"),
    ("regression tree of words", ("evidence", "value", 0, 0), (9.0).hex()),
    ("regression tree of words", ("evidence", "min_samples_leaf"), 30),
    ("tree pruned by validation rows", ("evidence", "validation"), []),
    ("tree pruned by validation rows", ("evidence", "validation", 0), "turn"),
    ("tree pruned by validation rows", ("evidence", "validation", 0), 40),
    ("tree pruned by validation rows", ("evidence", "asks", 0), "turn"),
    ("tree pruned by validation rows", ("figures", "validation_loss"), (0.0).hex()),
    ("tree pruned by validation rows", ("figures", "pruning_shortfall"), (0.0).hex()),
    ("regression tree pruned by validation rows", ("figures", "validation_loss"), (0.0).hex()),
    ("tree of drawn columns", ("evidence", "drawn", 0), [False, False, False]),
    ("tree of drawn columns", ("evidence", "drawn"), None),
    ("tree with missing numbers", ("figures", "questions"), 1),
    ("tree of two targets", ("evidence", "value", 0, 1, 0), (99.0).hex()),
    ("tree of two targets", ("evidence", "value", 0), [[(0.0).hex()]]),
    ("tree of two targets", ("evidence", "min_samples_leaf"), 12),
    ("tree of two targets", ("figures", "outputs"), 1),
    ("tree of two labels", ("evidence", "value", 0, 0, 2), (0.25).hex()),
    ("tree of two labels", ("evidence", "value", 0, 1, 0), (0.25).hex()),
    ("tree of two labels", ("evidence", "classes", 0), [(0.0).hex(), (1.0).hex(), (1.0).hex()]),
    ("tree of two labels", ("evidence", "classes"), [[(0.0).hex(), (1.0).hex()]]),
    ("tree of two labels", ("evidence", "asks", 0), False),
    ("posterior of zeros and ones", ("evidence", "posterior", 0), (2.0).hex()),
    ("posterior of zeros and ones", ("evidence", "posterior"), [(9.0).hex()] * 3),
    ("posterior of zeros and ones", ("evidence", "prior", 1), (-3.5).hex()),
    ("posterior of zeros and ones", ("evidence", "prior", 0), "nan"),
    ("posterior of zeros and ones", ("evidence", "family"), "gamma"),
    ("posterior of zeros and ones", ("evidence", "family"), "unheard of"),
    ("posterior of zeros and ones", ("figures", "observations"), 14),
    ("posterior of zeros and ones", ("figures", "error"), (-1.0).hex()),
    ("posterior of categories", ("evidence", "prior"), [(1.0).hex()] * 2),
    ("posterior of categories", ("evidence", "prior", 2), (0.0).hex()),
    ("posterior of categories", ("evidence", "posterior", 2), (99.0).hex()),
    ("posterior of counts", ("evidence", "family"), "beta"),
    ("posterior of counts", ("evidence", "posterior", 1), (15.0).hex()),
    ("posterior of a mean", ("evidence", "posterior", 0), (3.5).hex()),
    ("posterior of a mean", ("evidence", "prior", 1), (-10.0).hex()),
    ("posterior of a mean", ("evidence", "posterior", 2), (1.6).hex()),
    ("posterior of mean and variance", ("evidence", "posterior", 0), (1000.001).hex()),
    ("posterior of mean and variance", ("evidence", "posterior", 3), (1e6).hex()),
    ("posterior of mean and variance", ("evidence", "prior", 1), (0.0).hex()),
]


@pytest.mark.parametrize(("name", "path", "value"), FORGED, ids=lambda v: v if isinstance(v, str) else None)
def test_forgeries_are_refused(name, path, value, tmp_path):
    proof, table = CASES[name](np.random.default_rng(1)).proof(tmp_path)
    forged = changed(proof, path, value)
    assert forged != proof
    file = tmp_path / "forged.proof"
    file.write_text(json.dumps(forged), encoding="utf-8")
    code = checker.main([str(file), str(tmp_path / "fit.csv")])
    assert code == 1
    assert not outcome_or_failure(forged, table).startswith("PROVED")


def outcome_or_failure(proof, table):
    """What `checker.main` prints, without the files."""
    try:
        return outcome(proof, table)
    except Exception as error:  # main turns whatever goes wrong into words
        return f"NOT PROVED: not well-formed ({error})"


def test_a_changed_cell_is_other_data(tmp_path):
    case = CASES["lasso"](np.random.default_rng(0))
    proof, table = case.write(tmp_path)
    case.X[3, 1] = np.nextafter(case.X[3, 1], np.inf)
    Case(case.certificate, case.X, case.y).certificate.save(tmp_path / "same.proof")
    from certifit.certificates import write_table

    write_table(table, case.X, case.y)
    assert run_checker(proof, table)[0] == "NOT PROVED: these are other data than those of the proof"


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "3", "[" * 100_000, '{"format": "certifit-proof"}', "\x00\xff", '{"format": 1e999}'],
    ids=range(9),
)
def test_what_is_no_proof_is_refused_in_words(text, tmp_path):
    (tmp_path / "bad.proof").write_text(text, encoding="utf-8")
    (tmp_path / "data.csv").write_text('"x0"\n1.0\n', encoding="utf-8")
    last, _, code = run_checker(tmp_path / "bad.proof", tmp_path / "data.csv")
    assert last.startswith("NOT PROVED: ")
    assert code == 1


@pytest.mark.parametrize(
    "text", ["", "a,b\n", '"x0"\n1.0,2.0\n', '"x0"\nzero\n', '"x0"\nnan\n', '"x0","weight"\n1.0,-1.0\n']
)
def test_what_is_no_table_is_refused_in_words(text, tmp_path):
    proof, table = CASES["lasso"](np.random.default_rng(0)).write(tmp_path)
    table.write_text(text, encoding="utf-8")
    assert run_checker(proof, table)[0].startswith("NOT PROVED: ")
    assert run_checker(proof, tmp_path / "missing.csv")[0].startswith("NOT PROVED: ")


def test_the_files_own_sentence_is_not_repeated(tmp_path):
    proof, table = CASES["lasso"](np.random.default_rng(0)).write(tmp_path)
    record = json.loads(proof.read_text(encoding="utf-8"))
    record["claim"] = "This model is perfect."
    proof.write_text(json.dumps(record), encoding="utf-8")
    last, steps, _ = run_checker(proof, table)
    assert last == "PROVED"
    assert "perfect" not in steps


# -- proofs of earlier versions ---------------------------------------------------------------------------------------
STORED = sorted((Path(__file__).parent / "proofs").glob("*.proof"))


@pytest.mark.parametrize("path", STORED, ids=lambda p: p.stem)
def test_stored_proofs_are_still_proved(path):
    table = checker.read_table([str(path.with_suffix(".csv"))])
    assert outcome(json.loads(path.read_text(encoding="utf-8")), table) == "PROVED"


def test_proofs_of_ten_kinds_are_stored():
    assert len({json.loads(path.read_text(encoding="utf-8"))["kind"] for path in STORED}) >= 10


@pytest.mark.parametrize("name", ["tree", "regression tree"])
def test_a_tree_is_pruned_as_its_price_says(name, tmp_path):
    """Another price in the evidence, and no word of pruning among the figures."""
    proof, table = CASES[name](np.random.default_rng(0)).proof(tmp_path)
    del proof["library"]
    figures = {k: v for k, v in proof["figures"].items() if k != "pruning_shortfall"}
    dear = changed({**proof, "figures": figures}, ("evidence", "alpha"), (1e6).hex())
    assert outcome(dear, table) == "NOT PROVED: a better pruning exists"


# -- trees of categories, by brute force -------------------------------------------------------------------------------
def gain_of(left, y, w, classes):
    """By how much the impurity, times the weight, falls when these rows go left: Gini, or squared errors."""

    def impurity(rows):
        total = sum(w[i] for i in rows)
        if classes:
            return total - sum(sum(w[i] for i in rows if y[i] == c) ** 2 for c in range(classes)) / total
        return sum(w[i] * y[i] ** 2 for i in rows) - sum(w[i] * y[i] for i in rows) ** 2 / total

    rows = range(len(y))
    return impurity(rows) - impurity(left) - impurity([i for i in rows if i not in left])


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_groups_of_categories_are_compared_with_all_others(classes, tmp_path):
    """A stump is proved when no grouping, of all that there are, gains more; and no other stump is."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        words, w = rng.choice(list("abcde"), 14), rng.integers(1, 4, 14).astype(float)
        y = rng.integers(0, classes, 14) if classes else rng.integers(-5, 6, 14).astype(float)
        model = (DecisionTreeClassifier if classes else DecisionTreeRegressor)(max_depth=1, categorical_features=[0])
        X = words.astype(object)[:, None]
        case = Case(model.fit(X, y, sample_weight=w).certificate_, X, y, w)
        proof, table = case.proof(tmp_path)
        names = proof["evidence"]["categories"][0]
        exact = [Fraction(int(v)) for v in w], [Fraction(float(v)) for v in y]
        gains = {}
        for chosen in itertools.product([False, True], repeat=len(names)):
            left = [i for i, v in enumerate(words) if chosen[names.index(v)]]
            if 0 < len(left) < 14:
                gains[chosen] = gain_of(left, exact[1] if not classes else list(y), exact[0], classes)
        for chosen, gain in gains.items():
            evidence = proof["evidence"]
            forged = changed(proof, ("evidence", "sets"), [[int(v) for v in chosen]])
            sides = [[i for i, v in enumerate(words) if chosen[names.index(v)] == yes] for yes in (True, False)]
            for node, rows in zip((evidence["left"][0], evidence["right"][0]), sides):
                total = sum(w[i] for i in rows)
                if classes:
                    value = [sum(w[i] for i in rows if y[i] == c) / total for c in range(classes)]
                else:
                    value = [sum(w[i] * y[i] for i in rows) / total]
                forged["evidence"]["value"][node] = [float(v).hex() for v in value]
            forged["figures"] = {"questions": 1, "shortfall": (1e-3).hex()}
            assert (outcome(forged, table) == "PROVED") == (gain == max(gains.values())), (seed, chosen)
