"""Boolean functions as trees: sizes that can be counted by hand."""

from __future__ import annotations

import pytest

from certifit.examples import boolean_tree


@pytest.mark.parametrize("inputs", [3, 4, 5])
def test_sizes(inputs):
    numbers = boolean_tree.run(say=lambda line: None, inputs=inputs)
    assert numbers["splits"]["and"] == numbers["splits"]["or"] == inputs
    assert numbers["splits"]["parity"] == 2**inputs - 1
    assert numbers["gains"]["parity"] == pytest.approx(0.0, abs=1e-12)
    assert numbers["splits"]["one input chooses"] > 3
    assert all(tree.certificate_.holds for tree in numbers["trees"].values())


def test_majority_of_three_needs_five_questions():
    assert boolean_tree.run(say=lambda line: None, inputs=3)["splits"]["majority"] == 5


def test_it_draws():
    assert len(boolean_tree.draw(boolean_tree.run(say=lambda line: None)).axes) == 3
