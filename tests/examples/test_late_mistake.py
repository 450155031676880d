"""A late mistake turns the plain perceptron more than the averaged one."""

from certifit.examples import late_mistake


def test_the_averaged_perceptron_hardly_moves():
    found = late_mistake.run(lambda line: None)
    assert found["plain"]["turned"] > 3 * found["averaged"]["turned"]
    assert found["averaged"]["after"].score(found["X"][:-1], found["y"][:-1]) > 0.97
