"""Worked examples 4 and 6, and strong duality with the KKT table."""

from __future__ import annotations

import math

import pytest

from certifit.examples import circle_multiplier, quadratic_kernel, svm_duality


def test_circle_multiplier():
    n = circle_multiplier.run(say=lambda text: None)
    root = math.sqrt(0.5)
    assert n["x"] == pytest.approx(-root, abs=1e-6)
    assert n["y"] == pytest.approx(-root, abs=1e-6)
    assert n["walked"] == pytest.approx(-root, abs=1e-6)
    assert n["multiplier"] == pytest.approx(root, abs=1e-6)
    assert n["primal"] == pytest.approx(-math.sqrt(2), abs=1e-6)
    assert n["dual"] == pytest.approx(n["primal"], abs=1e-6)
    assert circle_multiplier.draw(n).axes


def test_quadratic_kernel():
    n = quadratic_kernel.run(say=lambda text: None)
    assert n["difference"] < 1e-12
    assert n["verdict"] == "mercer"
    assert n["work"][-1] == (201, 120000)
    assert quadratic_kernel.draw(n).axes


def test_svm_duality():
    n = svm_duality.run(say=lambda text: None)
    assert 0 <= n["gap"] < 1e-7
    assert n["primal"] == pytest.approx(n["dual"], abs=1e-7)
    assert n["balance"] == pytest.approx(0.0, abs=1e-12)
    count, low, high = n["table"]["0 < α < C"]
    assert count >= 2
    assert low == pytest.approx(1.0, abs=1e-3)
    assert high == pytest.approx(1.0, abs=1e-3)
    assert n["table"]["α = 0"][1] >= 1 - 1e-3
    assert n["table"]["α = C"][2] <= 1 + 1e-3
    assert sum(row[0] for row in n["table"].values()) == 60
    assert svm_duality.draw(n).axes
