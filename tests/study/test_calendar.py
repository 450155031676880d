"""Parts of dates against the standard library, and as features."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from certifit.study import examine, run
from certifit.study._calendar import parts_of
from certifit.study._encoder import TableEncoder


@given(st.integers(-(10**9), 4 * 10**9))
def test_parts_are_those_of_the_standard_library(seconds):
    found = {name: int(v[0]) for name, v in parts_of(np.array([seconds / 86_400.0])).items()}
    when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    assert found == {"year": when.year, "month": when.month - 1, "weekday": when.weekday(), "hour": when.hour}


def test_a_date_becomes_numbers_or_categories():
    days = np.arange(0.0, 400.0, 0.25)[:, None]
    names = TableEncoder(("day",), ("date",), ((),)).fit(days).get_feature_names_out().tolist()
    assert {"day", "day (year)", "day (month) = Dec", "day (weekday) = Sun", "day (hour) = 18"} <= set(names)
    plain = TableEncoder(("day",), ("date",), ((),), standardize=False).fit(days)
    assert plain.get_feature_names_out().tolist() == [
        "day",
        "day (year)",
        "day (month)",
        "day (weekday)",
        "day (hour)",
    ]
    gaps = plain.transform(np.array([[np.nan]]))
    assert np.all(np.isfinite(gaps))


def test_iso_times_with_fractions_and_zones_are_dates():
    cells = [
        f"2024-0{1 + k % 9}-1{k % 7}T{k % 24:02d}:30:00{z}" for k, z in enumerate(["Z", "+02:00", ".250Z", ""] * 10)
    ]
    facts = examine({"when": cells, "y": np.sin(np.arange(40.0))}, "y")
    assert [c.kind for c in facts.schema.columns] == ["date"]
    assert parts_of(facts.X[:, 0])["hour"].tolist() == [k % 24 for k in range(40)]


def test_a_weekly_rhythm_is_found():
    rng = np.random.default_rng(0)
    start = datetime(2023, 1, 1, tzinfo=UTC)
    days = [start + timedelta(days=int(k)) for k in rng.permutation(300)]
    y = [10.0 * (d.weekday() < 5) + rng.normal() for d in days]
    table = {"day": [d.date().isoformat() for d in days], "riders": y}
    study = run(table, "riders", models=["ridge"], folds=3)
    assert study.record["comparison"]["standings"][0]["mean"] > 0.9
