"""Information content, entropy and gain: definitions, laws, published numbers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from certifit.tree import entropy, gini, information_content, information_gain

counts = st.lists(st.integers(0, 50), min_size=1, max_size=6).filter(lambda v: sum(v) > 0)


@given(counts)
def test_entropy_is_scipys_and_lies_between_0_and_log2_k(v):
    assert entropy(v) == pytest.approx(scipy.stats.entropy(v, base=2), abs=1e-12)
    assert -1e-12 <= entropy(v) <= np.log2(len(v)) + 1e-12
    assert -1e-12 <= gini(v) <= 1 - 1 / len(v) + 1e-12


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz")), min_size=1, max_size=30))
def test_gain_is_the_mutual_information(pairs):
    y, groups = [p[0] for p in pairs], [p[1] for p in pairs]
    joint = entropy([a + b for a, b in pairs])
    assert information_gain(y, groups) == pytest.approx(entropy(y) + entropy(groups) - joint, abs=1e-12)
    assert information_gain(y, groups) >= -1e-12


def test_weight_k_equals_k_copies():
    y, groups, w = ["a", "b", "a", "c"], [1, 1, 2, 3], [2, 1, 3, 0]
    repeated = information_gain(np.repeat(y, w), np.repeat(groups, w))
    assert information_gain(y, groups, sample_weight=w) == pytest.approx(repeated)


def test_the_published_gains_of_play_tennis(reference):
    record, table = reference("tree/play_tennis")
    expected = record["expected"]
    assert entropy(table["play"]) == pytest.approx(expected["entropy_root_bits"], abs=5e-4)
    for name, gain in expected["information_gain_root_full_precision"].items():
        assert information_gain(table["play"], table[name]) == pytest.approx(gain, abs=1e-12)
    sunny = table[table["outlook"] == "sunny"]
    for name, gain in expected["information_gain_within_sunny"].items():
        assert information_gain(sunny["play"], sunny[name]) == pytest.approx(gain, abs=5e-4)


def test_information_content_in_bits():
    assert information_content([1.0, 0.5, 0.25]).tolist() == [0.0, 1.0, 2.0]
    assert information_content(0.0) == np.inf


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: entropy([]), "non-empty"),
        (lambda: entropy([-1, 2]), "≥ 0"),
        (lambda: entropy([0, 0]), "not all zero"),
        (lambda: information_content(1.5), "between 0 and 1"),
        (lambda: information_gain([1, 2], [1]), "one entry per row"),
        (lambda: information_gain([1, 2], [1, 2], criterion="mse"), "criterion"),
        (lambda: information_gain([1, 2], [1, 2], sample_weight=[0, 0]), "sample_weight"),
    ],
)
def test_bad_input_is_named(call, word):
    with pytest.raises(ValueError, match=word):
        call()
