"""Networks of perceptrons: every Boolean function of three inputs, proved by its truth table."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from certifit.certificates import Data, issue
from certifit.neural import PerceptronNetwork
from certifit.neural._perceptrons import inputs_of
from tests.certificates.tampering import forged, refuses_everything, reissued


@pytest.mark.parametrize("d", [1, 2, 3])
def test_every_boolean_function(d):
    for table in product([0, 1], repeat=2**d):
        network = PerceptronNetwork.from_truth_table(table)
        assert network.predict(inputs_of(d)).tolist() == list(table)
        assert network.certify(table).holds
        other = np.array(table)
        other[0] = 1 - other[0]
        assert not network.certify(other).holds


def test_parity_of_eight_inputs():
    parity = PerceptronNetwork.from_function(lambda *bits: sum(bits) % 2, 8)
    c = parity.certify(lambda *bits: sum(bits) % 2)
    assert c.holds
    assert (c.rows, c.units) == (256, 129)


def test_xor_needs_two_hidden_units_and_refuses_tampering():
    xor = PerceptronNetwork.from_truth_table([0, 1, 1, 0])
    c = xor.certify([0, 1, 1, 0])
    refuses_everything(c, inputs_of(2), np.array([0.0, 1, 1, 0]))
    assert c.units == 3
    assert [a.tolist() for a in xor.layers([[1, 0]])] == [[[0, 1]], [[1]]]
    assert not forged(c, weights_1=-np.array(c.evidence["weights_1"])).verify(inputs_of(2), [0, 1, 1, 0]).holds
    part = Data.of(inputs_of(2)[:3], np.array([0, 1, 1]))
    assert not reissued(c, part).holds  # a table with a row missing
    twice = Data.of(inputs_of(2)[[0, 1, 1, 2]], np.array([0, 1, 1, 1]))
    assert not reissued(c, twice).holds


def test_a_score_on_the_threshold_is_decided_only_without_rounding():
    """0.1 + 0.2 − 0.3 is not 0 in floats; whether the unit fires there is a matter of rounding: not proved."""
    network = PerceptronNetwork([[[0.1], [0.2]]], [[-0.3]])
    assert not network.certify([0, 0, 0, 0]).holds
    assert not network.certify([0, 0, 0, 1]).holds
    # Without rounding the three floats add up to a little more than 0.
    table, evidence = network.certify([0, 0, 0, 1]), dict(network.certify([0, 0, 0, 1]).evidence)
    inputs = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    assert table.kind == "truth-table"
    assert issue("truth-table", Data.of(inputs, [0.0, 0.0, 0.0, 1.0]), evidence, "exact").holds
    assert not issue("truth-table", Data.of(inputs, [0.0, 0.0, 0.0, 0.0]), evidence, "exact").holds


def test_clear_errors():
    with pytest.raises(ValueError, match="2ᵈ outputs"):
        PerceptronNetwork.from_truth_table([0, 1, 1])
    with pytest.raises(ValueError, match="Layer 1 does not fit"):
        PerceptronNetwork([np.ones((2, 3)), np.ones((2, 1))], [np.ones(3), np.ones(1)])
    with pytest.raises(ValueError, match="has 2 inputs"):
        PerceptronNetwork.from_truth_table([0, 1, 1, 0]).predict([[1, 0, 1]])
