"""The posterior closes in on the line, and its mean is the ridge line."""

import numpy as np

from certifit.examples import bayesian_line


def test_numbers_and_picture():
    import matplotlib.pyplot as plt

    numbers = bayesian_line.run(lambda text: None)
    doubt = [np.linalg.norm(s["std"]) for s in numbers["stages"].values()]
    assert doubt[0] > doubt[1] > doubt[2]
    last = numbers["stages"][20]
    assert np.all(np.abs(last["mean"] - bayesian_line.TRUE) < 3 * last["std"])
    assert numbers["ridge_distance"] < 1e-12
    assert 0.12 < numbers["noise_found"] < 0.28
    assert numbers["certificate"].holds
    width = numbers["stages"][1]["high"] - numbers["stages"][1]["low"]
    near = np.argmin(np.abs(numbers["grid"] - numbers["x"][0]))
    assert width[near] < width.max()
    figure = bayesian_line.draw(numbers)
    assert len(figure.axes) == 3
    plt.close(figure)
