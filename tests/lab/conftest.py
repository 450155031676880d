"""A running lab and a browser for it; tests that need one that is not there skip and say which."""

import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "src" / "certifit" / "lab" / "page"
AXE = ROOT / "lab" / "node_modules" / "axe-core" / "axe.min.js"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def start(port=0, *more):
    """A server of its own process, and the address that it prints."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "certifit", "lab", "--no-browser", "--port", str(port), *more]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    line = server.stdout.readline()
    return server, re.search(r"http\S+", line).group()


def stop(server):
    server.terminate()
    server.wait(20)
    server.stdout.close()


@pytest.fixture(scope="session")
def chromium():
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no browser found: make test installs Debian's chromium as root")
    if not (PAGE / "index.html").exists():
        pytest.skip("the lab's page is not built: make test builds it where it finds Node and a browser")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def lab(chromium):
    server, address = start()
    yield address
    stop(server)


class Page:
    """A page of the lab that notes every error and every request."""

    def __init__(self, browser, address, width=1280, height=860, **options):
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, accept_downloads=True, **options
        )
        self.context.set_default_timeout(120_000)  # the machine may be busy
        self.page = self.context.new_page()
        self.errors, self.requests = [], []
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda e: self.errors.append(str(e)))
        self.page.on("request", lambda r: self.requests.append(r.url))
        self.page.on("websocket", lambda w: self.requests.append(w.url))
        self.origin = address.split("/#")[0]
        self.page.goto(address)
        self.settle()

    def settle(self):
        """Wait until the newest request is answered and drawn."""
        self.page.wait_for_selector("body[data-busy=false]", timeout=120_000)

    def choose(self, box, value):
        self.page.select_option(box, value)
        self.settle()

    def state(self):
        return self.page.evaluate("() => structuredClone(window.certifitLab.app.state)")

    def shown(self):
        return self.page.evaluate("() => ({...window.certifitLab.app.shown, ground: null})")

    def numbers(self):
        rows = self.page.eval_on_selector_all(
            "#results tr", "rows => rows.map(r => [...r.cells].map(c => c.textContent))"
        )
        return dict(rows)

    def at(self, x, y):
        """Where a place of the plane is on the screen."""
        x0, x1, y0, y1 = self.state()["view"]
        box = self.page.locator("#canvas").bounding_box()
        return box["x"] + (x - x0) / (x1 - x0) * box["width"], box["y"] + (1 - (y - y0) / (y1 - y0)) * box["height"]

    def click(self, selector):
        self.page.click(selector)
        self.settle()

    def close(self):
        """No error in the console, no request to anywhere else."""
        self.context.close()
        ours = (self.origin, self.origin.replace("http", "ws"), "blob:", "data:")
        assert not self.errors, self.errors
        assert not [r for r in self.requests if not r.startswith(ours)], self.requests


@pytest.fixture
def page(chromium, lab):
    opened = Page(chromium, lab)
    yield opened
    opened.close()


@pytest.fixture(params=[(1280, 860), (390, 844)], ids=["desktop", "phone"])
def sized(request, chromium, lab):
    """A page at desktop and at phone width."""
    width, height = request.param
    opened = Page(chromium, lab, width, height, has_touch=width < 500)
    yield opened
    opened.close()


@pytest.fixture
def gallery():
    """Takes a picture of a scene for the documentation, where CERTIFIT_LAB_PICTURES names a folder."""

    def take(page, name):
        folder = os.environ.get("CERTIFIT_LAB_PICTURES")
        if folder:
            from PIL import Image

            Path(folder).mkdir(parents=True, exist_ok=True)
            taken = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            taken.quantize(256, kmeans=1, dither=Image.Dither.NONE).save(Path(folder) / f"{name}.png", optimize=True)

    return take
