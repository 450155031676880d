"""The worked example: exclusive or by three perceptrons, and by a learned network with proved squares."""

import numpy as np

from certifit.examples import network_of_perceptrons


def test_both_networks_compute_exclusive_or():
    r = network_of_perceptrons.run(lambda line: None)
    X, y = network_of_perceptrons.CORNERS, network_of_perceptrons.XOR
    assert r["proof"].holds
    assert (r["proof"].units, r["proof"].right) == (3, 4)
    assert np.array_equal(r["built"].predict(X), y)
    assert np.array_equal(r["learned"].predict(X), y)
    assert np.all((r["radius"] > 0.05) & (r["radius"] <= 0.5))
    assert network_of_perceptrons.draw(r).axes
