"""The page in a browser, as a person uses it: with Debian's Chromium, at desktop and phone width."""

import csv
import io
import json
import subprocess
import sys

import pytest

from certifit.lab import catalogue
from tests.lab.conftest import AXE, Page, start, stop

SCENES = [scene.name for scene in catalogue()]
FAULTS = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
  .filter(v => ["serious", "critical"].includes(v.impact))
  .map(v => v.id + ": " + v.nodes.map(n => n.html.slice(0, 120)).join(" | "))"""


def test_points_are_drawn_moved_removed_undone_and_redone(sized):
    sized.click("#clear")
    assert sized.state()["points"] == []
    assert "at least one point" in sized.page.inner_text("#problem")
    for x, y, label in ((-1, -1, "A"), (-2, 0.5, "A"), (1, 1, "B")):
        sized.page.click(f"#labels button:has-text('{label}')")
        sized.page.locator("#canvas").scroll_into_view_if_needed()
        sized.page.mouse.click(*sized.at(x, y))
        sized.settle()
    points = sized.state()["points"]
    assert [p[2] for p in points] == [0, 0, 1]
    assert points[0][:2] == pytest.approx([-1, -1], abs=0.05)
    sized.page.mouse.move(*sized.at(1, 1))
    sized.page.mouse.down()
    sized.page.mouse.move(*sized.at(2, 1.5), steps=8)
    sized.page.mouse.up()
    sized.settle()
    assert sized.state()["points"][2][:2] == pytest.approx([2, 1.5], abs=0.05)
    assert not sized.shown()["quick"]
    sized.click("#undo")
    assert sized.state()["points"] == points
    sized.click("#redo")
    assert sized.state()["points"][2][0] == pytest.approx(2, abs=0.05)
    sized.page.click("#labels button:has-text('erase')")
    sized.page.mouse.click(*sized.at(2, 1.5))
    sized.settle()
    assert len(sized.state()["points"]) == 2
    sized.page.keyboard.press("Control+z")
    sized.settle()
    assert len(sized.state()["points"]) == 3


def test_step_back_run_reset_and_scrub(sized):
    sized.choose("#preset", "overlapping")
    last = sized.shown()["step"]
    assert last == sized.shown()["steps"] - 1 > 3
    sized.click("#back")
    assert sized.shown()["step"] == last - 1
    assert f"step {last - 1} of {last}" in sized.page.inner_text("#count")
    sized.click("#reset")
    assert sized.shown()["step"] == 0
    sized.click("#step")
    assert "Mistake 1" in sized.page.inner_text("#caption")
    sized.page.fill("#scrubber", "3")
    sized.settle()
    assert sized.shown()["step"] == 3
    sized.page.fill("#speed", "5")
    sized.page.click("#run")
    sized.page.wait_for_function("() => window.certifitLab.app.shown.step > 5", timeout=60_000)
    sized.page.click("#run")
    sized.settle()
    sized.click("#end")
    assert sized.shown()["step"] == last
    assert "never stop" in sized.page.inner_text("#stop")


def test_everything_works_from_the_keyboard(page):
    page.click("#clear")
    page.page.focus("#canvas")
    page.page.keyboard.press("Enter")
    for _ in range(10):
        page.page.keyboard.press("ArrowRight")
    page.page.keyboard.press("2")
    page.page.keyboard.press("Enter")
    page.settle()
    (a, b) = page.state()["points"]
    assert (a[2], b[2]) == (0, 1)
    assert b[0] - a[0] == pytest.approx(0.2 * 8, abs=0.05)
    page.page.keyboard.press("g")
    page.page.keyboard.press("Shift+ArrowUp")
    page.page.keyboard.press("g")
    page.settle()
    assert page.state()["points"][1][1] - b[1] == pytest.approx(0.6, abs=0.05)
    page.page.keyboard.press("Home")
    page.settle()
    assert page.shown()["step"] == 0
    page.page.keyboard.press("n")
    page.settle()
    assert page.shown()["step"] == 1
    page.page.keyboard.press("Delete")
    page.settle()
    assert len(page.state()["points"]) == 1
    page.page.keyboard.press("?")
    assert page.page.locator("#help[open]").is_visible()


def test_touch_draws_points(chromium, lab):
    phone = Page(chromium, lab, 390, 844, has_touch=True, is_mobile=True)
    phone.click("#clear")
    phone.page.locator("#canvas").scroll_into_view_if_needed()
    phone.page.touchscreen.tap(*phone.at(1, 1))
    phone.settle()
    assert len(phone.state()["points"]) == 1
    wide = phone.page.evaluate("() => document.documentElement.scrollWidth")
    assert wide <= 390, "the page must not scroll sideways"
    phone.close()


@pytest.fixture(scope="module")
def visited(chromium, lab):
    """One page for all scenes, one after the other."""
    opened = Page(chromium, lab)
    if AXE.exists():
        opened.page.evaluate(AXE.read_text() + "; undefined")
    yield opened
    opened.close()


@pytest.mark.parametrize("name", SCENES)
def test_every_scene_shows_and_obeys_its_controls_without_a_fault(visited, name, gallery):
    page = visited
    page.choose("#scene", name)
    assert page.page.inner_text("#problem") == ""
    assert page.page.inner_text("#caption")
    gallery(page.page, name)
    scene = next(s for s in catalogue() if s.name == name)
    before = page.state()
    for control in scene.controls:
        box = page.page.locator(f".control[data-name='{control.name}'] :is(input, select)").first
        if not box.is_visible():
            continue
        if control.kind == "choice":
            box.select_option(control.options[1])
        elif control.kind == "switch":
            box.click()
        else:
            box.focus()
            box.press("ArrowRight")
        page.settle()
        assert page.state()["params"][control.name] != before["params"][control.name], control.name
    if AXE.exists():
        assert page.page.evaluate(FAULTS) == []


def test_no_serious_accessibility_fault_in_the_dark_nor_in_dialogs(page):
    if not AXE.exists():
        pytest.skip("axe-core is not installed: make test installs it with the page")
    page.page.evaluate(AXE.read_text() + "; undefined")
    for button in ("help", "table", "export"):
        page.page.click(f"#open-{button}")
        assert page.page.evaluate(FAULTS) == []
        page.page.click(f"#{button} button:has-text('Close')")
    page.page.emulate_media(color_scheme="dark")
    page.page.wait_for_timeout(100)
    assert page.page.evaluate(FAULTS) == []


RUN_ALL = """
import contextlib, io, json, pathlib, runpy, sys
for script in sorted(pathlib.Path(sys.argv[1]).glob("*.py")):
    out = io.StringIO()
    with contextlib.redirect_stdout(out): runpy.run_path(str(script), run_name="__main__")
    print(json.dumps([script.stem, out.getvalue()]))
"""


def test_the_exported_scripts_print_what_the_page_shows(page, tmp_path):
    shown = {}
    for name in SCENES:
        page.choose("#scene", name)
        page.page.click("#open-export")
        with page.page.expect_download() as waiting:
            page.page.click("#export button:has-text('Python')")
        waiting.value.save_as(tmp_path / f"{name}.py")
        page.page.click("#export button:has-text('Close')")
        shown[name] = page.numbers()
    ran = subprocess.run(
        [sys.executable, "-c", RUN_ALL, str(tmp_path)], capture_output=True, text=True, check=True, timeout=300
    )
    printed = dict(json.loads(line) for line in ran.stdout.splitlines())
    found = {name: dict(line.split(": ", 1) for line in text.splitlines()) for name, text in printed.items()}
    assert found == shown


def test_a_link_makes_the_page_again_exactly(page, chromium, lab):
    page.choose("#scene", "logistic")
    page.page.fill(".control[data-name='C'] input", "1.2")
    page.page.mouse.click(*page.at(2.5, -2))
    page.settle()
    page.click("#back")
    page.page.wait_for_timeout(300)
    link = page.page.url
    assert "token" not in link
    other = Page(chromium, lab)
    other.page.wait_for_timeout(1000)  # it writes its own state into the address a little later
    other.page.goto(link)
    other.page.reload()
    other.settle()
    assert other.state() == page.state()
    assert other.numbers() == page.numbers()
    assert other.page.inner_text("#caption") == page.page.inner_text("#caption")
    other.close()


def test_hovering_tells_place_labels_and_what_is_proved(page):
    page.choose("#scene", "logistic")
    x, y, label = page.state()["points"][0]
    page.page.mouse.move(*page.at(x, y))
    page.page.wait_for_selector("#tip:not([hidden])")
    said = page.page.inner_text("#tip").replace("−", "-")
    assert f"{x:g}" in said
    assert f"label: {'AB'[int(label)]}" in said
    assert "predicted:" in said
    assert "proved" in said
    page.page.mouse.move(*page.at(3, 2.5))
    page.page.wait_for_selector("#tip:has-text('probability of B')")


def test_pictures_and_points_are_exported(page, tmp_path):
    page.page.click("#open-export")

    def saved(words):
        with page.page.expect_download() as waiting:
            page.page.click(f"#export button:has-text('{words}')")
        target = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(target)
        return target.read_bytes()

    assert saved("PNG")[:8] == b"\x89PNG\r\n\x1a\n"
    drawing = saved("SVG").decode()
    assert drawing.startswith("<svg")
    assert "<script" not in drawing
    assert drawing.count("<path") > len(page.state()["points"])
    rows = list(csv.reader(io.StringIO(saved("CSV").decode())))
    assert rows[0] == ["x", "y", "label"]
    assert [[float(r[0]), float(r[1]), "AB".index(r[2])] for r in rows[1:]] == page.state()["points"]


def test_a_table_is_pasted_and_shown_in_its_own_units(page):
    page.choose("#scene", "any_model")
    page.page.click("#open-table")
    rows = "\n".join(f"{20 + i},{1000 * i},2024-01-{i % 28 + 1:02d},{'ill' if i > 15 else 'well'}" for i in range(30))
    page.page.fill("#table textarea", f"age,income,seen,health\n{rows}\n")
    page.page.click("#table button:has-text('Read pasted text')")
    page.page.wait_for_selector("#table .choice select")
    page.page.click("#table button:has-text('Show')")
    page.page.wait_for_selector("#table", state="hidden")
    page.settle()
    state = page.state()
    assert state["axes"] == ["age", "income"]
    assert state["classes"] == ["ill", "well"]
    assert state["points"][0] == [20, 0, 1]
    assert len(state["points"]) == 30
    page.page.click("#open-table")
    page.page.fill("#table textarea", "a,b\nx,y\n")
    page.page.click("#table button:has-text('Read pasted text')")
    page.page.wait_for_selector("#table .said:has-text('1 rows')")


def test_a_table_of_the_command_line_is_offered(chromium, tmp_path):
    file = tmp_path / "flowers.csv"
    file.write_text("size,height,kind\n1,2,a\n2,1,b\n3,3,a\n4,1,b\n")
    server, address = start(0, str(file), "--target", "kind")
    try:
        opened = Page(chromium, address)
        opened.page.wait_for_selector("#table .choice select")
        opened.page.click("#table button:has-text('Show')")
        opened.page.wait_for_selector("#table", state="hidden")
        opened.settle()
        assert opened.state()["classes"] == ["a", "b"]
        assert opened.state()["points"][0] == [1, 2, 0]
        opened.close()
    finally:
        stop(server)


def test_a_restarted_server_finds_the_points_again(chromium):
    server, address = start()
    port = int(address.split(":")[2].split("/")[0])
    opened = Page(chromium, address)
    opened.page.mouse.click(*opened.at(3, -2.5))
    opened.settle()
    opened.page.wait_for_timeout(300)
    mine = opened.state()["points"]
    stop(server)
    opened.page.wait_for_selector("body[data-connected=false]")
    opened.page.wait_for_selector("#problem:has-text('your points are kept')")
    assert opened.state()["points"] == mine
    server, address = start(port)
    try:
        assert f":{port}/" in address
        opened.page.goto("about:blank")
        opened.page.goto(address)
        opened.settle()
        assert opened.state()["points"] == mine
        opened.context.close()  # its console holds the lost connection
    finally:
        stop(server)


def test_without_the_token_the_page_says_what_is_missing(chromium, lab):
    context = chromium.new_context()
    page = context.new_page()
    page.goto(lab.split("#")[0])
    page.wait_for_selector("#problem:has-text('it holds a token')")
    context.close()


def test_help_explains_the_scene_and_links_to_its_page(page):
    page.page.click("#open-help")
    said = page.page.inner_text("#help")
    assert catalogue()[0].about in said
    link = page.page.get_attribute("#help a", "href")
    answer = page.page.request.get(page.origin + "/" + link.removeprefix("./"))
    assert answer.ok
    assert "<h1>Perceptrons</h1>" in answer.text()


def test_dragging_two_hundred_points_keeps_one_request_in_flight(page):
    page.page.evaluate(
        """() => { const app = window.certifitLab.app; app.state.points = Array.from({length: 200},
        (_, i) => [Math.cos(i) * (1 + i % 3) , Math.sin(2 * i) * 2, i % 2]); app.request(false); }"""
    )
    page.settle()
    x, y, _ = page.state()["points"][7]
    page.page.mouse.move(*page.at(x, y))
    page.page.mouse.down()
    page.page.mouse.move(*page.at(x + 0.5, y + 0.5), steps=30)
    page.page.mouse.up()
    page.settle()
    sent = page.page.evaluate("() => window.certifitLab.app.latencies")
    assert 1 <= len(sent) <= 31
    assert not page.shown()["quick"]
    assert page.shown()["numbers"]
