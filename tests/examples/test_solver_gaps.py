"""The table of solvers: certifit proves its optimum, sag and saga stop far above it on raw columns."""

from certifit.examples import solver_gaps


def test_numbers():
    said = []
    numbers = solver_gaps.run(said.append)
    raw, scaled = numbers["raw"], numbers["standardised"]
    assert raw["certifit"][0] < 1e-9
    assert scaled["certifit"][0] < 1e-9
    assert 0.30 < raw["lbfgs"][0] < 0.32  # of the smallest objective; of the null model's loss it is 4 %
    assert raw["saga"][0] > 2.0
    assert raw["saga"][1] > 10
    assert scaled["lbfgs"][0] < 1e-3
    assert any("569 of 569 labels are proved" in line for line in said)
    figure = solver_gaps.draw(numbers)
    assert len(figure.axes) == 2
