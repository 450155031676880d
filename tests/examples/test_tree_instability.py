"""Instability: one label moves far more than its share of the plane, and the proofs hold both times."""

from __future__ import annotations

import numpy as np
import pytest

from certifit.examples import tree_instability


@pytest.fixture(scope="module")
def numbers():
    return tree_instability.run(say=lambda line: None)


def test_one_row_changes_much(numbers):
    assert numbers["certified"]
    assert numbers["roots"] > 0
    assert numbers["changed"].max() > 10 / len(numbers["y"])
    assert numbers["before"].tree_.feature[0] in (0, 1)
    assert int(np.argmax(numbers["changed"])) == numbers["row"]


def test_it_draws(numbers):
    assert len(tree_instability.draw(numbers).axes) == 2
