"""Networks, truth tables and isotonic fits with one known mistake are told what it was."""

import warnings
from itertools import product

import numpy as np
import pytest

from certifit.certificates import Data, issue
from certifit.neural import MLPClassifier, PerceptronNetwork

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = (X[:, 0] + 0.5 * RNG.normal(size=40) > 0).astype(int)
TABLE = np.array(list(product([0.0, 1.0], repeat=2)))


@pytest.fixture(scope="module")
def network():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"activation": "tanh", "solver": "lbfgs", "alpha": 1.0, "tol": 1e-12, "max_iter": 3000}
        return MLPClassifier((3,), random_state=0, **options).fit(X, Y).certificate_


@pytest.mark.parametrize(
    ("factor", "name"),
    [(2.0, "half the penalty"), (0.5, "twice the penalty"), (40.0, "sum for mean"), (1 / 40, "penalty times n")],
)
def test_a_network_of_another_penalty(network, factor, name):
    asked = issue(network.kind, Data.of(X, Y), {**network.evidence, "alpha": factor})
    found = asked.diagnose(X, Y)
    assert not found.right
    assert found[0].name == name
    assert found[0].certificate.holds
    assert network.diagnose(X, Y).right


def test_a_network_of_swapped_labels(network):
    found = issue(network.kind, Data.of(X, 1 - Y), network.evidence).diagnose(X, 1 - Y)
    assert [f.name for f in found] == ["labels swapped"]


def xor(kind, data, evidence):
    return issue(kind, data, evidence).diagnose(data.X, data.y)


def test_truth_tables_with_one_slip_each():
    y = np.array([0.0, 0.0, 1.0, 0.0])  # the first input and not the second
    right = PerceptronNetwork.from_truth_table(y).certify(y)
    e, layers = dict(right.evidence), range(int(right.evidence["layers"]))
    assert right.diagnose(TABLE, y).right
    assert "outputs inverted" in [f.name for f in xor(right.kind, Data.of(TABLE, 1 - y), e)]
    assert "inputs in reverse order" in [f.name for f in xor(right.kind, Data.of(TABLE, y[[0, 2, 1, 3]]), e)]
    turned = {**e, **{f"intercept_{i}": -np.asarray(e[f"intercept_{i}"]) for i in layers}}
    assert "sign of the thresholds" in [f.name for f in xor(right.kind, Data.of(TABLE, y), turned)]


def test_inputs_of_minus_one_and_one():
    y = np.array([0.0, 1.0, 1.0, 1.0])  # or: x₁ + x₂ > −1 for inputs −1 and +1
    e = {"layers": 1, "weights_0": np.ones((2, 1)), "intercept_0": np.array([1.0])}
    found = xor("truth-table", Data.of(TABLE, y), e)
    assert not found.right
    assert "inputs −1 and +1" in [f.name for f in found]


def isotonic(values, x, y, w=None):
    return issue("isotonic", Data.of(x[:, None], y, w), {"scores": np.unique(x), "values": values})


def test_isotonic_fits_with_one_slip_each():
    x, y = np.arange(6.0), np.array([1.0, 3.0, 2.0, 4.0, 3.5, 6.0])
    w = np.array([1.0, 5.0, 1.0, 1.0, 3.0, 1.0])
    plain = np.array([1.0, 2.5, 2.5, 3.75, 3.75, 6.0])
    assert isotonic(plain, x, y).diagnose(x[:, None], y).right
    assert [f.name for f in isotonic(plain, x, y, w).diagnose(x[:, None], y, w)] == ["weights forgotten"]
    assert [f.name for f in isotonic(plain, x, -y).diagnose(x[:, None], -y)] == ["targets of the other sign"]
    assert "decreasing for increasing" in [f.name for f in isotonic(-plain, x, -y).diagnose(x[:, None], -y)]
    assert [f.name for f in isotonic(y, x, y).diagnose(x[:, None], y)] == ["means of each score"]
    running = np.maximum.accumulate(y)
    assert [f.name for f in isotonic(running, x, y).diagnose(x[:, None], y)] == ["running maximum"]
