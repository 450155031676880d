"""The house itself: public names, lazy imports, no paths of a machine."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import certifit
from certifit.families import FAMILIES

DOCS = Path(__file__).parent.parent / "docs"


def test_public_names_are_importable():
    for name in certifit.__all__:
        assert getattr(certifit, name) is not None
    assert set(certifit.__all__) <= set(dir(certifit))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = certifit.nothing


@pytest.mark.parametrize("family", sorted(certifit._FAMILIES))
def test_families_export_what_they_say(family):
    module = importlib.import_module(f"certifit.{family}")
    assert module.__all__, family
    assert sorted(set(module.__all__)) == sorted(module.__all__)
    for name in module.__all__:
        assert getattr(module, name) is not None
        assert getattr(module, name).__doc__, f"{family}.{name} has no docstring"


def test_every_module_can_be_imported_alone():
    names = [m.name for m in pkgutil.walk_packages(certifit.__path__, "certifit.") if "__main__" not in m.name]
    assert len(names) > 30
    for name in names:
        importlib.import_module(name)


def test_import_loads_nothing_heavy():
    heavy = ["numba", "sklearn", "scipy", "numpy", "matplotlib"]
    code = f"import sys, certifit; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_least_squares_needs_no_compiler():
    code = "import sys, certifit.linear_model as m; m.LinearRegression(); print('numba' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "False"


@pytest.fixture(scope="module")
def package():
    """The floors of the contract and the imports of the source, as the page about the architecture draws them."""
    sys.path.insert(0, str(DOCS))
    try:
        return importlib.import_module("_site.floors")
    finally:
        sys.path.remove(str(DOCS))


def test_every_folder_stands_on_one_floor_and_imports_only_from_lower_ones(package):
    plan = package.contract()
    assert [f for f in plan if f != "basics"] == list(package.ABOUT)
    floor = {room: name for name, rooms in plan.items() for room in rooms}
    assert len(floor) == sum(map(len, plan.values()))
    for family in FAMILIES:  # a new family needs no line in the contract
        floor.setdefault(family.folder, "families")
    order, imports = list(plan), package.imports()
    assert set(imports) - {"__init__"} <= set(floor)
    for room, targets in imports.items():
        for target in targets if room != "__init__" else ():
            down = order.index(floor[target]) - order.index(floor[room])
            strangers = floor[room] in ("services", "families", "questions")
            assert down > 0 or (down == 0 and not strangers), f"{room} imports {target}"


def test_the_pages_list_the_floors_as_the_contract_does(package):
    names = [f for f in package.contract() if f != "basics"]
    for page in (DOCS / "architecture.md", DOCS.parent / "CONTRIBUTING.md"):
        table = re.findall(r"^\| \*\*(\w+)\*\* \| (.*?) \|", page.read_text(), re.M)
        assert [name for name, _ in table] == names, page
        for name, rooms in table:
            there = {r for r in package.contract()[name] if r in package.rooms() and not r.startswith("_")}
            listed = set(re.findall(r"`(\w+)`", rooms))
            assert there == listed, (page.name, name, there ^ listed)


def test_contributing_names_files_that_exist():
    text = (DOCS.parent / "CONTRIBUTING.md").read_text()
    for name in re.findall(r"`((?:src|tests|docs|certifit|[a-z_]+)/[\w./]*)`", text):
        homes = (DOCS.parent, DOCS.parent / "src", DOCS.parent / "src" / "certifit")
        assert any((home / name).exists() for home in homes), name


SOURCE = DOCS.parent / "src" / "certifit"
FILES = {str(p.relative_to(SOURCE)): p.read_text() for p in sorted(SOURCE.rglob("*.py"))}

LONG_FILES = {
    "checker.py": "at most 700 lines (tests/test_checker.py), in one file that can be copied anywhere and read whole",
    "loops/tree_growing.py": "a cached loop calls only its own file, and growing a tree is one call graph",
}
LONG_FUNCTIONS = {
    "loops/neighbors_tree.py _search_group": "compiled: one pass over a group with its bounds in registers",
    "loops/smo.py solve_block": "compiled: the whole iteration of a block, in which calls would cost more than the work",
    "loops/tree_growing.py _scan_classes": "compiled: one scan that keeps its counts in registers",
}
WIDE_FUNCTIONS = {
    "cli/_app.py study": "the options of a command are the parameters of its function",
}


def _functions():
    for name, text in FILES.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                yield name, node


def test_files_are_a_few_hundred_lines():
    """About 500 at most; a reason that is no longer needed has to go."""
    assert {name for name, text in FILES.items() if len(text.splitlines()) > 550} == set(LONG_FILES)


def test_functions_fit_a_screen():
    """At most 60 lines without the docstring; a reason that is no longer needed has to go."""
    long = set()
    for name, node in _functions():
        first = node.body[0]
        said = first.end_lineno - first.lineno + 1 if ast.get_docstring(node) is not None else 0
        if node.end_lineno - node.lineno + 1 - said > 60:
            long.add(f"{name} {node.name}")
    assert long == set(LONG_FUNCTIONS)


def test_functions_of_many_parameters_take_a_record():
    """At most 10, but for compiled loops and for public signatures, which follow scikit-learn's."""
    wide = set()
    for name, node in _functions():
        a = node.args
        names = [x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs) if x.arg not in ("self", "cls")]
        public = node.name == "__init__" or node.name in _public(name)
        if len(names) > 10 and not name.startswith("loops/") and not public:
            wide.add(f"{name} {node.name}")
    assert wide == set(WIDE_FUNCTIONS)


def _public(name):
    module = "certifit." + name.split("/")[0] if "/" in name else "certifit"
    return getattr(importlib.import_module(module), "__all__", ())


def test_private_names_of_scikit_learn_are_used_in_one_file():
    for name, text in FILES.items():
        for node in ast.walk(ast.parse(text)) if name != "_sklearn.py" else ():
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sklearn":
                private = [n.name for n in node.names if n.name.startswith("_")]
                assert not private, (name, private)
                assert "._" not in node.module, (name, node.module)


def test_threads_and_processes_are_started_in_one_file():
    ours = {"parallel.py"}
    for name, text in FILES.items():
        for word in ("ThreadPoolExecutor", "ProcessPoolExecutor", "os.cpu_count", "sched_getaffinity"):
            assert word not in text or name in ours, (name, word)


def test_the_checker_imports_nothing_of_ours():
    for name, text in FILES.items():
        for node in ast.walk(ast.parse(text)) if name.startswith("checker") else ():
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [n.name for n in node.names]
                for module in modules:
                    assert module.split(".")[0] in sys.stdlib_module_names, (name, module)
