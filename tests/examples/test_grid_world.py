"""The grid world: four prices of a step, four best policies."""

from certifit.examples.grid_world import run


def test_the_worked_example_is_proved():
    numbers = run(lambda line: None)
    assert all(numbers["proved"])
    assert len({tuple(p.policy) for p in numbers["plans"]}) == 4
