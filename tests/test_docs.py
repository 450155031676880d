"""Every >>> block of README and of the pages runs and prints what it says."""

import doctest
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
PAGES = [p for p in PAGES if not {"_build", "gallery"} & set(p.parts) and ">>>" in p.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_blocks_run(page):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    text = page.read_text().replace("\n```", "\n\n```")  # a fence ends the expected output
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=flags, verbose=False)
    assert test.examples
    out = []
    runner.run(test, out=out.append)
    assert runner.failures == 0, "".join(out)
