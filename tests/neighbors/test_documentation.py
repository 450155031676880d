"""The page about neighbours runs as written."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "families" / "neighbors.md"


def test_page():
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    outcome = doctest.testfile(str(PAGE), module_relative=False, optionflags=options)
    assert outcome.attempted > 10
    assert outcome.failed == 0
