"""One objective: its encoding, its duality, and its way to evidence and back from anybody's hands."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifit._objective import Objective
from certifit.certificates import Ball
from certifit.losses import Binomial, Hinge, Logistic, Poisson, Softmax, Squared, get_loss, loss_names
from certifit.regularizers import L1, ColumnNorms, ElasticMix, NonNegative, SquaredL2, Zero

NAMED = Objective(Logistic(), L1(), 0.5, classes=("no", "yes"), class_weight=(1.0, 2.0))
MANY = [
    NAMED,
    Objective(Squared(0.5), SquaredL2(0.5, (1.0, -2.0)), 3.0, False),
    Objective(Hinge(), SquaredL2(0.5), 1.0, classes=(0, 1, 2), layout="pairs", stated="sum", padding=2.0),
    Objective(Softmax(), ElasticMix(0.3), 0.1, classes=(2**60, 2**60 + 1, 5)),
    Objective(Squared(0.5), ColumnNorms(0.5), 0.1),
    Objective(Poisson(), NonNegative(Zero()), 1.0, offset=True),
]


@pytest.mark.parametrize("objective", MANY, ids=str)
def test_evidence_and_back(objective):
    assert Objective.from_dict(json.loads(json.dumps(objective.to_dict()))) == objective


class Lying(str):
    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


@pytest.mark.parametrize(
    "change",
    [
        {"strength": -1.0}, {"strength": math.nan}, {"strength": math.inf}, {"strength": "1"}, {"strength": True},
        {"padding": 0.0}, {"padding": -1e6}, {"padding": 1.0, "fit_intercept": False}, {"fit_intercept": 1},
        {"classes": ["a"]}, {"classes": ["a", "a"]}, {"classes": ["a", Lying("b")]}, {"classes": [[], []]},
        {"class_weight": [1.0, -1.0]}, {"class_weight": [1.0]}, {"class_weight": [math.inf, 1.0]}, {"classes": None},
        {"class_weight": "12"}, {"layout": "round"}, {"stated": "max"}, {"offset": None}, {"extra": 1},
        {"loss": "hinge"}, {"loss": {"name": "hinge", "params": {"depth": 3}}}, {"loss": {"name": "unheard"}},
        {"loss": {"name": "squared", "params": {"factor": -1.0}}}, {"regularizer": {"params": {}}},
        {"regularizer": {"name": "l2", "params": {"factor": 0.0}}}, {"regularizer": None}, {"loss": {"name": "softmax"}, "classes": None},
    ],
    ids=str,
)  # fmt: skip
def test_an_enemys_record_is_refused(change):
    with pytest.raises(ValueError):
        Objective.from_dict(NAMED.to_dict() | change)


def test_encoding_of_labels():
    y, s = np.array(["c", "a", "b", "a"]), np.array([1.0, 2.0, 0.5, 0.0])
    classes, factors = ("a", "b", "c"), (1.0, 3.0, 2.0)
    weights = [2.0, 2.0, 1.5, 0.0]
    rest = Objective(Hinge(), SquaredL2(0.5), 1.0, classes=classes, class_weight=factors).encode(y, s)
    assert [t.y.tolist() for t in rest] == [[-1, 1, -1, 1], [-1, -1, 1, -1], [1, -1, -1, -1]]
    assert all(t.weights.tolist() == weights for t in rest)
    pairs = Objective(Hinge(), SquaredL2(0.5), 1.0, classes=classes, class_weight=factors, layout="pairs").encode(y, s)
    assert [t.weights.tolist() for t in pairs] == [[0, 2, 1.5, 0], [2, 2, 0, 0], [2, 0, 1.5, 0]]
    (joint,) = Objective(Softmax(), L1(), 1.0, classes=classes).encode(y)
    assert joint.y.tolist() == [2, 0, 1, 0]
    assert joint.outputs == 3
    with pytest.raises(ValueError, match="does not name"):
        Objective(Softmax(), L1(), 1.0, classes=("a", "b")).encode(y)


def test_encoding_of_numbers():
    Y = np.array([[1.0, 2.0], [3.0, 4.0]])
    apart = Objective(Squared(), L1(), 1.0).encode(Y)
    assert [t.y.tolist() for t in apart] == [[1.0, 3.0], [2.0, 4.0]]
    (joint,) = Objective(Squared(), ColumnNorms(), 1.0).encode(Y)
    assert joint.y.tolist() == Y.tolist()
    assert joint.outputs == 2


POINTWISE = [n for n in loss_names() if n not in ("family", "tweedie_log", "softmax", "multiclass_hinge")]


@pytest.mark.parametrize("name", POINTWISE)
@given(z=st.floats(-20, 20), t=st.floats(0, 1), y=st.floats(1e-3, 1 - 1e-3), s=st.floats(1e-3, 1e3))
def test_the_gap_of_a_row_is_never_negative(name, z, t, y, s):
    loss = get_loss(name)
    y, s, z = np.array([y if loss.targets != "sign" else -1.0]), np.array([s]), np.array([z])
    objective = Objective(loss, L1(), 1.0)
    low, high = (np.clip(end, -1e3, 1e3) for end in objective.box(y, s))
    beta = np.clip((1 - t) * low + t * high, low, high)
    assert objective.admits(beta, y, s)
    term = objective.fenchel_young(Ball(z), Ball(beta) / s, Ball(y), s)
    assert float(term.upper) >= 0.0
    plain = float(objective.fenchel_young(z, beta / s, y, s))
    assert abs(plain - float(term.mid)) <= 1e-6 * (1 + abs(plain))
    direct = float(np.sum(s * (loss.value(z, y) + loss.conjugate(beta / s, y) - z * beta / s)))
    assert abs(plain - direct) <= 1e-6 * (1 + abs(direct))


def test_the_box_stays_inside_where_floats_round():
    y, s = np.array([0.1, 1e-20, 1 / 3]), np.array([1 / 3, 3.0, 0.1])
    low, high = Objective(Binomial(), L1(), 1.0).box(y, s)
    for lo, hi, a, b in zip(low, high, y, s):
        assert -Fraction(b) * Fraction(a) <= Fraction(lo) <= Fraction(hi) <= Fraction(b) * (1 - Fraction(a))


def test_softmax_domain_is_the_simplex():
    objective = Objective(Softmax(), L1(), 1.0, classes=(0, 1, 2))
    y, s = np.array([0, 2]), np.array([1.0, 2.0])
    good = np.array([[-0.75, 0.25, 0.5], [1.0, 0.0, -1.0]])
    assert objective.admits(good, y, s)
    for row, column, value in ((0, 1, -0.25), (0, 0, -0.75 + 1e-16), (1, 2, -2.5), (1, 0, math.nan)):
        bad = good.copy()
        bad[row, column] = value
        assert not objective.admits(bad, y, s)
    z = np.array([[0.3, -1.0, 2.0], [0.0, 0.5, 1.0]])
    beta = objective.slope(z, y, s)
    term = objective.fenchel_young(Ball(z), Ball(beta) / s[:, None], y, s)
    assert term.contains(0.0)
    assert float(term.rad) < 1e-13
