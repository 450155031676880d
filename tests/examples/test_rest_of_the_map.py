"""The worked examples on clusters, densities and few labels come out as told."""

from __future__ import annotations

import numpy as np

from certifit.examples import clusters_and_bound, density_bandwidth, few_labels
from tests.examples.telling import told


def test_the_best_start_is_proved_optimal_and_the_worst_is_not():
    n = told(clusters_and_bound)
    assert n["bound"] <= n["costs"].min()
    assert n["excess"] < 1e-6
    assert n["costs"].max() > 1.5 * n["bound"]


def test_the_chosen_bandwidth_is_nearest_to_the_truth():
    n = told(density_bandwidth)
    narrow, chosen, wide = n["errors"]
    assert 2 * chosen < min(narrow, wide)
    assert n["peaks"][0] > 10
    assert n["peaks"][2] == 1
    assert n["width"] < 1e-9
    assert n["best"] == n["bandwidths"][np.argmax(n["likelihood"])]


def test_labels_walk_along_the_crescents():
    n = told(few_labels)
    walked, alone = n["right"]
    assert walked > 0.98 > 0.93 > alone
    assert n["certain"].mean() > 0.98
