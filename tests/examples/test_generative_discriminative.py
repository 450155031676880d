"""Naive Bayes leads with few rows; with dependent columns logistic regression overtakes it."""

import pytest

from certifit.examples import generative_discriminative as example


@pytest.fixture(scope="module")
def numbers():
    return example.run(lambda text: None)


def test_few_rows_favour_naive_bayes(numbers):
    for name in ("independent", "correlated"):
        curves = numbers[name]
        assert curves["naive Bayes"][1] < curves["logistic regression"][1]


def test_many_rows(numbers):
    alone = numbers["independent"]
    for model in ("naive Bayes", "logistic regression"):
        assert alone[model][-1] == pytest.approx(alone["Bayes error"], abs=0.008)
    together = numbers["correlated"]
    assert together["logistic regression"][-1] == pytest.approx(together["Bayes error"], abs=0.008)
    assert together["naive Bayes"][-1] > together["logistic regression"][-1] + 0.005


def test_picture(numbers):
    import matplotlib.pyplot as plt

    figure = example.draw(numbers)
    assert len(figure.axes) == 2
    plt.close(figure)
