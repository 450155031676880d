"""Worked example 1: the numbers of the page."""

import numpy as np

from certifit.examples import spam_perceptron


def test_four_updates_and_a_clean_pass():
    said = []
    r = spam_perceptron.run(said.append)
    assert r["w"].tolist() == [0, 2, 0, -1, 1]
    assert r["b"] == 0
    assert r["rows"] == [0, 1, 2, 3]
    expected = [[1, 1, 0, 1, 1, 1], [1, 1, -1, 0, 1, 0], [1, 2, 0, 0, 1, 1], [0, 2, 0, -1, 1, 0]]
    np.testing.assert_array_equal(r["history"], expected)
    assert (r["mistakes"], r["passes"]) == (4, 2)
    assert np.all(r["functional"] > 0)
    assert r["certificate"].verify(spam_perceptron.MAILS, spam_perceptron.SPAM).holds
    assert 4 <= r["bound"] < 16
    assert sum("mistake " in line for line in said) == 4
    assert spam_perceptron.draw(r).axes
