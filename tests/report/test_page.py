"""The report: one file, nothing fetched, everything there."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
from matplotlib import pyplot

from certifit.report import render
from certifit.report._page import command
from certifit.report._pictures import _comparison
from certifit.study import run

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def regression():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    table = {"<b>x</b>": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y & z": X @ [2.0, -1.0, 0.0] + rng.normal(size=90)}
    return run(table, "y & z", models=["least squares"], folds=3).record


@pytest.fixture(scope="module")
def classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    table = {
        "a": X[:, 0],
        "b": X[:, 1],
        "c": X[:, 2],
        "y": np.where(X[:, 0] + 0.5 * rng.normal(size=90) > 0, "up", "down"),
    }
    return run(table, "y", models=["logistic regression"], folds=3).record


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    y = np.array(["p", "q", "r"])[np.argmax(np.c_[X, -X.sum(axis=1)] + 0.4 * rng.normal(size=(150, 3)), axis=1)]
    table = {"größe $": X[:, 0], "b": X[:, 1], "colour": rng.choice(["red", "blue"], 150), "y": y}
    return run(table, "y", models=["logistic regression", "naive Bayes"], folds=3).record


@pytest.fixture(scope="module")
def nothing():
    rng = np.random.default_rng(2)
    table = {"x": rng.normal(size=60), "y": rng.normal(size=60)}
    return run(table, "y", models=["least squares"], folds=3).record


class Page(HTMLParser):
    """Tags, their balance, and every address."""

    VOID = frozenset(("meta", "br", "img", "path", "use", "rect", "circle", "link", "input"))

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.addresses, self.ids, self.wrong = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "xlink:href", "action", "data"):
                self.addresses.append(value)
            if name == "id":
                self.ids.append(value)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag in self.VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


@pytest.mark.parametrize("kind", ["regression", "classes"])
def test_one_sound_file_that_asks_for_nothing(kind, request):
    text = render(request.getfixturevalue(kind))
    page = Page(text)
    assert page.wrong == []
    assert page.open == []
    assert "script" not in page.seen
    assert "link" not in page.seen
    assert "img" not in page.seen
    assert all(a.startswith("#") for a in page.addresses)
    outside = set(re.findall(r"https?://[^\s\"'<)]+", text)) - {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert outside == set()
    assert "@import" not in text
    assert "url(http" not in text
    assert len(page.ids) == len(set(page.ids))
    for address in page.addresses:
        assert address[1:] in page.ids


def test_every_part_is_there(regression, classes):
    parts = (
        "The data",
        "The comparison",
        "What is proved",
        "On held-out rows",
        "Where it fails",
        "What drives it",
        "Kinds of errors",
        "What would change",
        "reproduce this",
    )
    # comparison, coefficients, learning curve, importance and three dependences; and those of each task
    for record, drawings in ((regression, 7 + 3), (classes, 7 + 3)):
        text = render(record)
        assert all(p in text for p in parts)
        assert text.count("<svg ") == drawings
        assert record["verdict"]["text"][:40] in text
        assert "✓ proved" in text
    assert "Confusion" in render(classes)
    assert "1e-16" not in render(classes).partition("<nav>")[0]  # the summary is for who reads no exponents


def test_close_scores_leave_room_for_their_labels_and_repeated_folds_are_told(classes):
    scores = {"scores": [1.0] * 3, "mean": 0.9999, "interval": [0.9931, 1.0]}
    standings = [s | scores for s in classes["comparison"]["standings"]]
    close = classes | {
        "comparison": classes["comparison"] | {"standings": standings},
        "settings": classes["settings"] | {"repeats": 3},
    }
    figure, axes = pyplot.subplots(figsize=(4.5, 2.0))
    _comparison(axes, close)
    figure.canvas.draw()
    low, high = axes.get_xlim()
    boxes = [w.get_window_extent() for w in axes.get_xticklabels() if low <= w.get_position()[0] <= high]
    pyplot.close(figure)
    assert len(boxes) > 1
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))
    assert "the same 3 folds, drawn 3 times;" in render(close)


def test_a_tree_is_drawn_and_whole_numbers_are_whole(stepped):
    text = render(stepped)
    assert stepped["inside"]["drawn"][0]["text"].startswith("age")
    assert 'aria-label="The top of the tree: age' in text
    assert "1 to 9, median" in text
    assert max(node["depth"] for node in stepped["inside"]["drawn"]) <= 3


@pytest.fixture(scope="module")
def stepped():
    rng = np.random.default_rng(0)
    age, beds = rng.normal(50, 10, 150), rng.integers(1, 10, 150)
    table = {"age": age, "beds": beds, "y": np.where(age > 55, 9.0, 1.0) + beds // 4 + 0.1 * rng.normal(size=150)}
    return run(table, "y", models=["decision tree"], folds=3).record


def test_names_from_the_table_are_text_not_markup(regression):
    text = render(regression)
    assert "<b>x</b>" not in text
    assert "&lt;b&gt;x&lt;/b&gt;" in text
    assert "Predicting y &amp; z" in text


def test_pictures_follow_the_page_colours(regression):
    svg = re.search(r"<svg .*?</svg>", render(regression), re.DOTALL).group()
    assert "var(--ink)" in svg
    assert "var(--accent)" in svg
    assert not re.search(r"#(?!000000|ffffff)[0-9a-f]{6}", re.sub(r'(href="#|url\(#|id=")[^")]*', "", svg))


def test_the_page_can_be_made_again_from_the_record(regression):
    import json

    assert render(json.loads(json.dumps(regression))) == render(regression)


def numbers_of(record):
    """Every number of a record, and every number inside its sentences."""
    todo, found, words = [record], [], []
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            todo.extend(item.values())
            words.extend(str(k) for k in item)
        elif isinstance(item, (list, tuple)):
            todo.extend(item)
        elif isinstance(item, str):
            words.append(item)
        elif isinstance(item, (int, float)) and not isinstance(item, bool):
            found.append(item)
    return found, " ".join(words)


TOKEN = re.compile(r"(?<![\w.])\d[\d\u202f]*(?:\.\d+)?(?:e[-−+]?\d+)?(?![\w])")


def tokens(text):
    return {t.replace("\u202f", "").replace("−", "-") for t in TOKEN.findall(text)}


class Words(HTMLParser):
    """What a person reads: no styles, no pictures, no figures that only set the type."""

    def __init__(self, text):
        super().__init__()
        self.hidden, self.said = 0, []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.hidden += tag in ("style", "svg", "head")

    def handle_endtag(self, tag):
        self.hidden -= tag in ("style", "svg", "head")

    def handle_data(self, text):
        if not self.hidden:
            self.said.append(text)


@pytest.mark.parametrize("kind", ["regression", "classes", "many", "nothing"])
def test_every_number_on_the_page_is_in_the_record(kind, request):
    """Rounded for people, but none that record.json does not hold."""
    record = request.getfixturevalue(kind)
    found, words = numbers_of(record)
    allowed = tokens(words) | {"95", "100", "1e-16", "0.001", "0", "256"}
    for v in found:
        for x in {v, abs(v), 100 * v}:
            allowed |= {f"{x:.{d}f}" for d in range(5)} | {f"{x:.{d}g}" for d in range(1, 8)}
            allowed |= {f"{x:.{d}e}" for d in range(4)} | {f"{abs(x):.0f}"}
    said = tokens(" ".join(Words(render(record)).said))
    assert len(said) > 20
    assert said - allowed == set()


def test_pictures_and_tables_have_words_for_who_cannot_see_them(regression, classes, many):
    for record in (regression, classes, many):
        text = render(record)
        for svg in re.findall(r"<svg [^>]*>", text):
            label = re.search(r'aria-label="([^"]*)"', svg).group(1)
            assert 'role="img"' in svg
            assert len(label) > 20
        for table in re.findall(r"<table[^>]*>", text):
            assert "aria-label" in table
        assert '<html lang="en">' in text
        assert text.count("<h1>") == 1
    assert f"logistic regression {classes['comparison']['standings'][0]['mean']:.3f}" in render(classes)


def test_many_classes_have_their_curves_and_a_baseline_its_proof(many, nothing):
    assert [c["positive"] for c in many["classes"]["rocs"]] == ["p", "q", "r"]
    assert "each class against all others" in render(many)
    assert nothing["verdict"]["winner"] == "baseline"
    assert nothing["proofs"]["certificates"][0]["holds"]
    assert "No prediction that ignores the columns" in render(nothing)


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine (apt-get install chromium)")
@pytest.mark.parametrize("width", [390, 1200])
def test_in_a_browser_nothing_leaves_and_nothing_overflows(tmp_path, regression, classes, width):
    """Headless Chromium lays the page out: no error, no request, no sideways scrolling, every picture has a size."""
    for name, record in (("regression", regression), ("classes", classes)):
        page = tmp_path / f"{name}.html"
        # The probe is put in by the test; the page itself runs nothing (its policy forbids it).
        text = render(record).replace("default-src 'none';", "default-src 'none'; script-src 'unsafe-inline';")
        probe = (
            "<script>addEventListener('load', () => { const d = document.documentElement; const s = [...document.querySelectorAll('svg')];"
            "document.title = JSON.stringify({wide: d.scrollWidth - d.clientWidth, drawn: s.filter(v => v.getBoundingClientRect().width > 200"
            " && v.getBoundingClientRect().height > 60).length, all: s.length,"
            " requests: performance.getEntriesByType('resource').length}); })</script></body>"
        )
        page.write_text(text.replace("</body>", probe))
        # Chromium's own window is never narrower than 500 pixels: a frame gives the page the width of a phone.
        frame = tmp_path / f"{name}-frame.html"
        frame.write_text(
            f"<iframe src='{page.as_uri()}' width='{width}' height='4000'></iframe>"
            if width < 500
            else f"<meta http-equiv='refresh' content='0;url={page.as_uri()}'>"
        )
        told = subprocess.run(
            [
                CHROMIUM,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-sync",
                "--enable-logging=stderr",
            ]
            + ["--disable-background-networking", "--disable-component-update", "--allow-file-access-from-files"]
            + [
                f"--user-data-dir={tmp_path / 'profile'}",
                f"--window-size={max(width, 500)},4000",
                "--virtual-time-budget=4000",
            ]
            + ["--dump-dom", page.as_uri() if width >= 500 else _framed(frame, page)],
            capture_output=True,
            text=True,
            timeout=120,
        )
        found = re.search(r"\{&quot;wide.*?\}|\{\"wide.*?\}", told.stdout)
        assert found, told.stdout[-500:] + told.stderr[-500:]
        import json

        seen = json.loads(found.group().replace("&quot;", '"'))
        assert seen["wide"] <= 0
        assert seen["drawn"] == seen["all"] > 3
        assert seen["requests"] == 0
        assert "CONSOLE" not in told.stderr


def _framed(frame, page):
    """A page whose title repeats that of the framed page once it is known."""
    frame.write_text(
        f"<iframe id='f' src='{page.as_uri()}' width='390' height='4000'></iframe><script>"
        "document.getElementById('f').addEventListener('load', () => setTimeout(() =>"
        " document.title = document.getElementById('f').contentDocument.title, 500))</script>"
    )
    return frame.as_uri()


def test_the_command_repeats_the_study_without_yardsticks_where_there_were_none(classes):
    """Where models are named there are none to leave out."""
    settings = classes["settings"] | {"models": None}
    assert classes["settings"]["yardstick"]
    assert "--no-yardstick" not in command(classes)
    assert "--no-yardstick" not in command(classes | {"settings": settings})
    assert "--no-yardstick" in command(classes | {"settings": settings | {"yardstick": False}})
    older = {name: value for name, value in settings.items() if name != "yardstick"}
    assert "--no-yardstick" not in command(classes | {"settings": older})
