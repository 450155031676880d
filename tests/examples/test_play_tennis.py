"""The gains of play tennis, against the published ones."""

from __future__ import annotations

import pytest

from certifit.examples import play_tennis


def test_the_numbers_of_the_story():
    said = []
    numbers = play_tennis.run(say=said.append)
    assert numbers["gains"] == pytest.approx(
        {"outlook": 0.247, "humidity": 0.152, "wind": 0.048, "temperature": 0.029}, abs=5e-4
    )
    assert numbers["entropy"] == pytest.approx(0.940, abs=5e-4)
    assert numbers["errors"] == 0
    assert numbers["prediction"] == "no"
    assert numbers["certified"]
    assert any("0.247" in line for line in said)


def test_the_table_is_quinlans(reference):
    _, table = reference("tree/play_tennis")
    X, y = play_tennis.table()
    assert y.tolist() == table["play"].tolist()
    assert X[:, 0].tolist() == [v.replace("rainy", "rain") for v in table["outlook"]]
    assert X[:, 1].tolist() == table["temperature"].tolist()
    assert X[:, 2].tolist() == table["humidity"].tolist()
    assert [v == "strong" for v in X[:, 3]] == table["windy"].tolist()


def test_it_draws():
    assert len(play_tennis.draw(play_tennis.run(say=lambda line: None)).axes) == 2
