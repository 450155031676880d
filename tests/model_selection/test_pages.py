"""The pages on evaluation and model selection say what the code does."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs" / "families"


@pytest.mark.parametrize("page", ["evaluation.md", "model_selection.md"])
def test_examples_of_the_page(page):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    outcome = doctest.testfile(str(PAGES / page), module_relative=False, optionflags=flags)
    assert outcome.attempted > 10
    assert outcome.failed == 0
