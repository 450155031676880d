"""What a table is found to be: kinds, leaks, twins, tasks, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from certifit.files import TableError
from certifit.study import examine
from certifit.study._leaks import alone

N = 60


def table(**columns):
    rng = np.random.default_rng(0)
    return {"x": rng.normal(size=N), "y": rng.normal(size=N)} | columns


def kind_of(values, name="c", target="y", **options):
    facts = examine(table(**{name: values}), target, **options)
    return next(f for f in facts.found if f.name == name)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([str(i % 7 + 0.5) for i in range(N)], "number"),
        ([f"{i % 5},5" for i in range(N)], "number"),
        ([f"{i},{i % 9}00" for i in range(1, N + 1)], "number"),
        (["yes", "no"] * 30, "boolean"),
        ([True, False, None] * 20, "boolean"),
        (["red", "green", "NA"] * 20, "category"),
        ([f"0{1000 + i % 9}" for i in range(N)], "category"),
        ([f"2024-0{1 + i % 9}-1{i % 9}" for i in range(N)], "date"),
        ([f"1{i % 9}.0{1 + i % 9}.2024" for i in range(N)], "date"),
        (np.arange("2024-01-01", "2024-03-01", dtype="datetime64[D]").astype("datetime64[us]"), "date"),
        ([f"{i % 8}" for i in range(N - 1)] + ["-"], "number"),
    ],
)
def test_kinds(values, kind):
    assert kind_of(values).kind == kind


@pytest.mark.parametrize(
    ("values", "name", "why"),
    [
        (np.arange(N), "c", "identifier"),
        (np.random.default_rng(0).permutation(N) + 1000, "patient_id", "identifier"),
        ([f"user{i}" for i in range(N)], "c", "identifier"),
        ([f"the patient number {i} felt quite well today" for i in range(N)], "c", "free text without words that some"),
        ([f"Ms No {i}" for i in range(N)], "c", "free text of a few words"),
        (["same"] * N, "c", "constant"),
        ([None] * N, "c", "empty"),
        ([""] * N, "c", "empty"),
    ],
)
def test_what_is_not_used_is_said_with_the_reason(values, name, why):
    found = kind_of(values, name)
    assert found.column is None
    assert why in found.why


def test_numbers_that_merely_are_all_different_are_no_identifiers():
    values = np.random.default_rng(0).permutation(N) * 10
    assert kind_of(values, "income").kind == "number"


def test_words_among_numbers_are_counted_and_named():
    values = [str(i % 17) for i in range(199)] + ["unknown"]
    rng = np.random.default_rng(0)
    facts = examine({"c": values, "y": rng.normal(size=200)}, "y")
    assert facts.found[0].kind == "number"
    assert facts.found[0].missing == 1
    assert any("'unknown'" in n for n in facts.notes)


def test_money_per_cent_and_infinities_are_said():
    rng = np.random.default_rng(0)
    price = [f"${v:,.2f}" for v in np.exp(8 + rng.normal(size=N))]
    share = [f"{v:.1f}%" for v in rng.normal(50, 9, N)]
    wide = ["inf" if i % 20 == 0 else f"{v:.3f}" for i, v in enumerate(rng.normal(size=N))]
    facts = examine({"price": price, "share": share, "wide": wide, "y": rng.normal(size=N)}, "y")
    assert [c.kind for c in facts.schema.columns] == ["number"] * 3
    assert any("'price' contain '$'" in n for n in facts.notes)
    assert any("'share' contain '%'" in n for n in facts.notes)
    assert any("3 cells of 'wide' are infinite" in n for n in facts.notes)
    assert facts.missing == 3


def test_huge_and_tiny_values_are_judged_without_a_warning():
    rng = np.random.default_rng(0)
    x = rng.normal(size=N)
    noise = rng.normal(size=N)
    for scale in (1e300, 1e-300):
        facts = examine({"x": x * scale, "z": noise, "y": (x + noise) * (1e140 if scale > 1 else 1e-140)}, "y")
        assert facts.leaks == ()
        assert len(facts.schema.columns) == 2


def test_targets_whose_squares_are_no_floats_are_refused():
    y = np.random.default_rng(0).normal(size=N)
    for scale, words in ((1e307, "reaches"), (1e-300, "varies by")):
        with pytest.raises(TableError, match=rf"{words} .*rescale it"):
            examine({"x": np.arange(N) % 7, "y": y * scale}, "y")


def test_zip_codes_stay_categories_with_their_zeros():
    facts = examine(table(zip=["01234", "98765", "00501"] * 20), "y")
    column = next(c for c in facts.schema.columns if c.name == "zip")
    assert column.categories == ("00501", "01234", "98765")


def test_options_overrule():
    assert kind_of(np.arange(N) % 5, categories=["c"]).kind == "category"
    assert kind_of(np.arange(N), keep=["c"]).kind == "number"
    assert kind_of(np.arange(N) % 5, drop=["c"]).why == "dropped as asked"


@pytest.mark.parametrize(
    ("target", "task"),
    [
        (["a", "b"] * 30, "classification"),
        ([0, 1] * 30, "classification"),
        ([0, 1, 2] * 20, "classification"),
        ([True, False] * 30, "classification"),
        (np.random.default_rng(0).poisson(3, N), "counts"),
        (np.random.default_rng(0).normal(size=N), "regression"),
        (np.random.default_rng(0).integers(1000, 9000, N), "regression"),
        (["01", "02"] * 30, "classification"),
    ],
)
def test_task_is_found_from_the_target(target, task):
    facts = examine({"x": np.random.default_rng(1).normal(size=N), "y": target}, "y")
    assert facts.task == task


def test_text_labels_stay_as_they_are():
    facts = examine({"x": np.random.default_rng(1).normal(size=N), "y": ["Ja", "nein", "vielleicht"] * 20}, "y")
    assert facts.target.classes == ("Ja", "nein", "vielleicht")
    assert set(facts.y) == {"Ja", "nein", "vielleicht"}


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"y": ["a"] * N}, "only one class"),
        ({"y": [1.5] * N}, "only one class"),
        ({"y": ["a"] * (N - 1) + ["b"]}, "has 1 row"),
        ({"y": [None] * N}, "empty"),
        ({"y": [f"w{i}" for i in range(N)]}, "60 classes"),
        ({"y": [f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(N)]}, "holds dates"),
    ],
)
def test_hopeless_targets_are_refused(columns, words):
    with pytest.raises(TableError, match=words):
        examine({"x": np.random.default_rng(0).normal(size=N)} | columns, "y")


def test_wrong_names_and_tiny_tables_are_refused():
    with pytest.raises(TableError, match=r"no column 'z'; the table has 'x', 'y'"):
        examine(table(), "z")
    with pytest.raises(TableError, match="only one column"):
        examine({"y": [1, 2] * 30}, "y")
    with pytest.raises(TableError, match="Only 4 rows"):
        examine({"x": [1.0, 2.0, 3.0, 4.0], "y": [1.0, 2.5, 3.5, 4.5]}, "y")
    y = np.random.default_rng(0).normal(size=N)
    with pytest.raises(TableError, match=r"x: leaks the target \(--keep COLUMN"):
        examine({"x": 2 * y, "y": y}, "y")
    with pytest.raises(TableError, match="No column is left"):
        examine({"x": ["same"] * N, "y": np.random.default_rng(0).normal(size=N)}, "y")


def test_rows_without_a_target_are_left_out_and_counted():
    y = np.random.default_rng(5).normal(size=N)
    y[:3] = np.nan
    facts = examine(table(y=y), "y")
    assert len(facts.y) == N - 3
    assert any("3 rows without a target" in n for n in facts.notes)


def leaking(kind):
    rng = np.random.default_rng(0)
    n = 400
    y = np.where(rng.random(n) < 0.4, "sick", "well")
    hidden = {
        "copy": y,
        "code": np.where(y == "sick", 17.0, 3.0),
        "noisy": np.where(y == "sick", 17.0, 3.0) + rng.normal(size=n),
        "missing": [None if v == "sick" else float(rng.normal()) for v in y],
        "levels": np.where(y == "sick", rng.choice(["a", "b"], n), rng.choice(["c", "d"], n)),
    }
    return {"x": rng.normal(size=n), "z": rng.normal(size=n), "leak": hidden[kind], "y": y}


@pytest.mark.parametrize("kind", ["copy", "code", "noisy", "missing", "levels"])
def test_a_column_that_gives_the_answer_away_is_named(kind):
    facts = examine(leaking(kind), "y")
    assert [name for name, _ in facts.leaks] == ["leak"]
    assert "leak" not in facts.schema.names
    assert ("leak", "leaks the target") in facts.schema.dropped
    assert "leak" in examine(leaking(kind), "y", keep=["leak"]).schema.names


def test_a_leak_of_numbers_is_named():
    rng = np.random.default_rng(0)
    y = rng.normal(size=500)
    facts = examine({"x": rng.normal(size=500), "leak": 3 * y - 1, "y": y}, "y")
    assert [name for name, _ in facts.leaks] == ["leak"]


def test_good_predictors_are_no_leaks():
    rng = np.random.default_rng(0)
    y = rng.normal(size=500)
    assert examine({"good": y + 0.1 * rng.normal(size=500), "y": y}, "y").leaks == ()
    from certifit.datasets import load, names

    for name in names():
        example = load(name)
        assert examine(dict(example.columns), example.target).leaks == ()


def test_one_column_alone_scores_chance_on_noise():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    assert abs(alone(rng.normal(size=2000), y, False, True) - 0.5) < 0.05
    assert alone(rng.normal(size=2000), rng.normal(size=2000), False, False) < 0.1


def test_twins_are_counted():
    rng = np.random.default_rng(0)
    x = rng.normal(size=N)
    x[10:14] = x[9]
    y = rng.normal(size=N)
    y[10:13] = y[9]
    facts = examine({"x": x, "y": y}, "y")
    assert facts.duplicates == 3
    assert facts.twins[10:14].tolist() == [9, 9, 9, 13]


def test_twins_agree_in_every_column_of_the_file_also_in_those_not_used():
    rng = np.random.default_rng(0)
    x = np.repeat(rng.normal(size=N // 2), 2)
    y = np.repeat(rng.normal(size=N // 2), 2)
    names = [f"person {i}" for i in range(N)]
    assert examine({"x": x, "y": y}, "y").duplicates == N // 2
    told_apart = examine({"name": names, "x": x, "y": y}, "y")
    assert "name" not in told_apart.schema.names
    assert told_apart.duplicates == 0


def test_keep_uses_identifiers_of_words_and_numbers():
    rng = np.random.default_rng(0)
    table = {
        "id": np.arange(N) + 7,
        "tag": [f"t{i}" for i in range(N)],
        "x": rng.normal(size=N),
        "y": rng.normal(size=N),
    }
    assert examine(table, "y").schema.names == ("x",)
    kept = examine(table, "y", keep=["id", "tag"])
    assert {c.name: c.kind for c in kept.schema.columns} == {"id": "number", "tag": "category", "x": "number"}
