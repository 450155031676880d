"""The model card: Markdown whose words from a table stay words."""

from __future__ import annotations

import numpy as np

from certifit.report import card
from certifit.study import run


def test_a_card_says_what_matters_and_escapes_names(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=90)
    study = run({"a_*x*": x, "y": 2 * x + rng.normal(size=90)}, "y", models=["least squares"], folds=3, out=tmp_path)
    text = (tmp_path / "card.md").read_text()
    assert text == card(study.record | {"proofs": study.record["proofs"] | {"files": []}})
    assert text.startswith("# Model card: y by least squares\n")
    assert "a\\_\\*x\\*" in text
    assert study.record["verdict"]["text"] in text
    for part in (
        "Summary",
        "Data",
        "Columns used",
        "Evaluation",
        "Proved",
        "What would change this",
        "How to reproduce this",
    ):
        assert f"## {part}\n" in text
