"""Every >>> block of README and of the pages runs and prints what it says."""

import doctest
import re
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


WORDS = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "families").glob("*.md")]


def fences(text: str) -> list[tuple[str, str]]:
    return re.findall(r"^```([\w{}]*)[^\n]*\n(.*?)^```", text, re.S | re.M)


@pytest.mark.parametrize("page", WORDS, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_code_stands_outside_the_tests(page):
    """Python is a doctest; what is typed into a shell is a command of ours or of make, with options that exist."""
    from certifit.cli._app import app

    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    typed = []
    for language, body in fences(page.read_text()):
        assert language != "python" or ">>>" in body, body
        typed += [line for line in body.split("\n") if language in ("", "text", "bash", "console")]
    typed += re.findall(r"`((?:certifit|make) [^`\n]+)`", page.read_text())
    for line in typed:
        words = line.strip().removeprefix("$ ").partition("#")[0].partition("&&")[0].replace(".venv/bin/", "").split()
        if words[:1] == ["make"]:
            assert words[1] in targets, line
        if words[:1] == ["certifit"] and len(words) > 2:  # the bare name of a command is a word of the sentence
            given = [w.strip("[]") for w in words[1:] if w != "..."]
            command, bound, _ = app.parse_args(given, print_error=False, exit_on_error=False)
            assert command.__name__.strip("_") == given[0], (line, bound)


def test_the_search_scorer_may_be_declared_again():
    """The site's searchtools.js says ``var Scorer`` after ours; a ``const`` there stops every search."""
    assert "\nvar Scorer = {" in (ROOT / "docs" / "_static" / "scorer.js").read_text()
