"""The candy bag comes out as the right formula says, not as the notes print it."""

import pytest

from certifit.bayes._hypotheses import as_column
from certifit.examples import candy_bag


def test_numbers():
    told = []
    numbers = candy_bag.run(told.append)
    assert numbers["evidence"] == pytest.approx(0.111654, abs=1e-6)
    assert numbers["posteriors"][-1]["h4"] == pytest.approx(0.100872, abs=1e-6)
    assert numbers["map"][:4] == ["h3", "h3", "h4", "h5"]
    assert numbers["ml_after_one"] == "h5"
    assert numbers["lime_next"] == sorted(numbers["lime_next"])
    assert numbers["certificate"].verify(as_column(["lime"] * 10)).holds
    assert any("0.11165" in line for line in told)


def test_picture():
    import matplotlib.pyplot as plt

    figure = candy_bag.draw(candy_bag.run(lambda text: None))
    assert len(figure.axes) == 2
    plt.close(figure)
