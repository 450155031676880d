"""The house itself: public names, lazy imports, no paths of a machine."""

import ast
import builtins
import collections
import functools
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


MODELS = {  # what importing a model must not load: what other models, searches and proofs need comes when it is used
    "linear_model.Ridge": ["numba", "sklearn.metrics", "sklearn.linear_model", "certifit.geometry"],
    "linear_model.Lasso": ["numba", "sklearn.metrics", "sklearn.linear_model", "certifit.solvers.logistic_folds"],
    "linear_model.LogisticRegression": ["numba", "sklearn.metrics", "certifit.linear_model._perceptron"],
    "decomposition.PCA": ["numba", "sklearn.metrics", "sklearn.decomposition", "certifit.certificates.tree"],
    "cluster.KMeans": ["numba", "sklearn.metrics", "sklearn.cluster"],
    "svm.SVC": ["sklearn.svm", "sklearn.metrics"],
    "naive_bayes.GaussianNB": ["sklearn.naive_bayes", "sklearn.metrics", "sklearn.preprocessing"],
}


@pytest.mark.parametrize("model", MODELS)
def test_one_model_loads_its_own_parts_only(model):
    """Importing it takes about half of what scikit-learn's takes: no pandas, statistics, linear programs or plots."""
    others = ["pandas", "scipy.stats", "scipy.optimize", "scipy.spatial", "matplotlib", *MODELS[model]]
    module, name = model.split(".")
    code = f"import sys; from certifit.{module} import {name}; print([m for m in {others} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


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
            there = {r for r in package.contract()[name] if r in package.rooms()}
            listed = set(re.findall(r"`(\w+)`", rooms))
            assert {r for r in there if not r.startswith("_")} <= listed <= there, (page.name, name, there ^ listed)


def test_contributing_names_files_that_exist():
    text = (DOCS.parent / "CONTRIBUTING.md").read_text()
    for name in re.findall(r"`((?:src|tests|docs|certifit|[a-z_]+)/[\w./]*)`", text):
        homes = (DOCS.parent, DOCS.parent / "src", DOCS.parent / "src" / "certifit")
        assert any((home / name).exists() for home in homes), name


SOURCE = DOCS.parent / "src" / "certifit"
FILES = {str(p.relative_to(SOURCE)): p.read_text() for p in sorted(SOURCE.rglob("*.py"))}

LONG_FILES = {
    "checker.py": "at most 700 lines (tests/test_checker.py), in one file that can be copied anywhere and read whole",
    "checker_families.py": "at most 700 lines, like checker.py",
    "loops/tree_growing.py": "a cached loop calls only its own file, and growing a tree is one call graph",
}
LONG_FUNCTIONS = {
    "loops/smo.py solve_block": "compiled: the whole iteration of a block, in which calls would cost more than the work",
    "loops/tree_growing.py _scan_classes": "compiled: one scan that keeps its counts in registers",
}
WIDE_FUNCTIONS = {
    "cli/_app.py fit": "the options of a command are the parameters of its function",
    "cli/_app.py study": "the options of a command are the parameters of its function",
}


@functools.cache
def _nodes():
    """Functions and imports of all files with the file's name: parsed and walked once for all tests."""
    kinds = (ast.FunctionDef, ast.Import, ast.ImportFrom)
    return [(n, node) for n, text in FILES.items() for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]


def _functions():
    return ((name, node) for name, node in _nodes() if isinstance(node, ast.FunctionDef))


def test_files_are_a_few_hundred_lines():
    """About 500 at most; a reason that is no longer needed has to go."""
    assert {name for name, text in FILES.items() if len(text.splitlines()) > 550} == set(LONG_FILES)
    assert len(FILES["certificates/optimality.py"].splitlines()) <= 400  # the one proof of optimality is read whole


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
    for name, node in _nodes():
        if (
            isinstance(node, ast.ImportFrom)
            and (node.module or "").split(".")[0] == "sklearn"
            and name != "_sklearn.py"
        ):
            private = [n.name for n in node.names if n.name.startswith("_")]
            assert not private, (name, private)
            assert "._" not in node.module, (name, node.module)


def test_names_with_an_underscore_stay_in_their_file():
    """What another file imports is part of what a file offers; modules with an underscore are a folder's own."""
    for path in sorted(Path(certifit.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("certifit"):
                folder = Path(certifit.__file__).parent.joinpath(*node.module.split(".")[1:])
                private = [a.name for a in node.names if a.name.startswith("_") and not a.name.startswith("__")]
                assert all((folder / f"{n}.py").exists() or (folder / n).is_dir() for n in private), (path, private)


def test_threads_and_processes_are_started_in_one_file():
    ours = {"parallel.py"}
    for name, text in FILES.items():
        for word in ("ThreadPoolExecutor", "ProcessPoolExecutor", "os.cpu_count", "sched_getaffinity"):
            assert word not in text or name in ours, (name, word)


def test_the_checker_imports_nothing_of_ours():
    for name, node in _nodes():
        if name.startswith("checker") and not isinstance(node, ast.FunctionDef):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [n.name for n in node.names]
            for module in modules:
                assert module.split(".")[0] in sys.stdlib_module_names, (name, module)


TESTED_ELSEWHERE = {  # a module, or the modules of a folder: the tests that hold it to account, and why not a file of its own
    "_certified.py": ["test_changed_data.py", "test_half_fitted.py"],
    "_dispatch.py": ["dropin/test_arrays.py"],
    "_errors.py": ["test_exceptions.py"],
    "_passing.py": ["dropin/test_names.py"],
    "_linear_scores.py": ["linear_model/test_perceptron.py", "svm/test_other_machines.py"],
    "_registry.py": ["test_registries.py"],
    "_sklearn.py": ["dropin/test_tools.py"],
    "_types.py": ["dropin/test_signatures.py"],  # names of types: mypy is their test
    "checker_families.py": ["test_checker.py", "test_checker_law.py"],
    "checker_partitions.py": ["test_checker.py", "test_checker_law.py"],
    "checker_variants.py": ["test_checker.py", "test_checker_law.py"],
    "families.py": ["files/test_families.py", "test_adding.py"],
    "neural_network.py": ["neural/test_pieces.py"],  # a second name
    "inference.py": ["linear_model/test_least_squares.py"],
    # A family's parts are tried through the estimator that users see.
    "bayes/": ["bayes/test_linear.py", "bayes/test_optimal.py"],
    "cluster/": ["cluster/test_kmeans.py"],
    "decomposition/": ["decomposition/test_pca.py"],
    "density/": ["density/test_density.py"],
    "kernel_ridge/": ["kernel_ridge/test_kernel_ridge.py"],
    "kernels/": ["kernels/test_kernels.py"],
    "linear_model/": ["linear_model/test_least_squares.py", "linear_model/test_linear_model.py"],
    "multiclass/": ["dropin/test_tools.py", "files/test_families.py"],
    "naive_bayes/": ["naive_bayes/test_contract.py", "naive_bayes/test_counts.py", "naive_bayes/test_mixed.py"],
    "nearest/": ["nearest/test_search.py", "nearest/test_exact.py"],
    "neighbors/": ["neighbors/test_knn.py", "neighbors/test_nearest.py"],
    "neural/": ["neural/test_mlp.py", "neural/test_contract.py"],
    "preprocessing/": ["preprocessing/test_contract.py"],
    "reinforcement/": ["reinforcement/test_planning.py"],
    "semi_supervised/": ["semi_supervised/test_labels.py"],
    "svm/": ["svm/test_svc.py", "svm/test_other_machines.py", "svm/test_contract.py"],
    "tree/": ["tree/test_export.py", "tree/test_folds.py"],
    # One law over every member of a registry.
    "exercises/": ["exercises/test_exercises.py"],
    "losses/": ["laws/test_losses.py"],
    "regularizers/": ["laws/test_regularizers.py"],
    # Proofs: parts of the language of certificates, and kinds that the attacks and their family's tests try.
    "certificates/": ["certificates/test_record.py", "attacks/test_siege.py", "soundness/test_convex.py"],
    "design/": ["design/test_design.py", "design/test_products.py"],
    "loops/": ["loops/test_svm_loops.py", "loops/test_neighbors.py", "loops/test_tree_growing.py"],
    "solvers/": ["solvers/test_task.py", "solvers/test_driver.py", "soundness/test_hard_fits.py"],
    "metrics/": ["metrics/test_values.py", "metrics/test_coverage.py"],
    "model_selection/": ["model_selection/test_judgements.py", "model_selection/test_sharing.py"],
    "judge/": ["judge/test_certify.py"],
    "files/": ["files/test_save.py", "files/test_onnx.py"],
    "plot/": ["plot/test_models.py"],
    "report/": ["report/test_page.py"],
    "scale/": ["scale/test_moments.py", "scale/test_engines.py"],
    "study/": ["study/test_run.py", "study/test_runner.py", "study/test_every_model.py"],
    "cli/": ["cli/test_cli.py"],
    "lab/": ["lab/test_scenes.py", "lab/test_requests.py", "lab/test_page.py"],
    "examples/": ["examples/test_catalogue.py"],  # runs every example and checks what it says
}
# Modules with mathematics of their own, each with a plain reference.
OWN_FILE = """
certificates/bayes certificates/constant certificates/counts certificates/definiteness certificates/evaluation
certificates/least_squares certificates/maps certificates/neighbors certificates/optimality certificates/perceptron
certificates/region certificates/separation certificates/spectrum certificates/tree certificates/_ball
certificates/_integers certificates/_proof_file certificates/_record
tree/_classes tree/_columns tree/_export tree/_folds tree/_growing tree/_information tree/_pruning tree/_structure
tree/_target nearest/_exact nearest/_metrics nearest/_search neighbors/_folds neighbors/_knn neighbors/_reduce
neighbors/_votes naive_bayes/_base naive_bayes/_mixed naive_bayes/_statistics decomposition/_dimension
decomposition/_pca decomposition/_spectrum glm/_folds glm/_glm glm/_regressors linear_model/_folds linear_model/_lasso
linear_model/_logistic linear_model/_perceptron solvers/balance solvers/coordinate solvers/dual solvers/existence
solvers/gradient_descent solvers/hulls solvers/interior_point solvers/kernel_ridge solvers/lasso_folds
solvers/least_squares solvers/linear_svc solvers/multitask solvers/newton solvers/pegasos solvers/perceptron
solvers/proximal solvers/proximal_newton solvers/ridge_folds solvers/smo solvers/smooth solvers/smooth_folds
"""


def test_the_tests_mirror_the_source():
    """Each module has tests/<folder>/test_<module>.py, or stands in the table above with those that try it."""
    tests, used = Path(__file__).parent, set()
    own = {m.removesuffix(".py") for m in FILES if _test_of(tests, m).exists()}
    assert not set(OWN_FILE.split()) - own, "a module lost its test file"
    for name in FILES:
        if Path(name).name not in ("__init__.py", "__main__.py") and name.removesuffix(".py") not in own:
            entry = name if name in TESTED_ELSEWHERE else name.split("/")[0] + "/"
            assert entry in TESTED_ELSEWHERE, f"{name} has no test file"
            used.add(entry)
    idle = {entry for entry in set(TESTED_ELSEWHERE) - used if not entry.endswith("/")}
    assert not idle, "an entry that is no longer needed has to go"
    for files in TESTED_ELSEWHERE.values():
        assert all((tests / f).exists() for f in files), files


def _test_of(tests, module):
    path = Path(module)
    return tests / path.parent / f"test_{path.stem.lstrip('_')}.py"


ANY = 0.072  # fraction of annotated parameters and results that say Any; it was 0.288 before the redesign


def test_signatures_say_what_they_take():
    """`Any` is for what has no type of its own (a fitted model, a plain JSON value); `certifit._types` names the rest."""
    said = []
    for name, node in _functions():
        a = node.args
        given = (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg)
        notes = [x.annotation for x in given if x is not None and x.annotation is not None]
        notes += [node.returns] if node.returns is not None else []
        if name != "checker.py":  # it reads what an enemy may have written
            said += map(_says_any, notes)
    for text in FILES.values():  # the parameters of estimators are fields
        for owner in ast.walk(ast.parse(text)):
            if isinstance(owner, ast.ClassDef) and any("eq=False" in ast.unparse(d) for d in owner.decorator_list):
                notes = [x.annotation for x in owner.body if isinstance(x, ast.AnnAssign)]
                said += [_says_any(note) for note in notes if "ClassVar" not in ast.unparse(note)]
    assert sum(said) <= ANY * len(said), f"{sum(said)} of {len(said)}"


def _says_any(note):
    return any(isinstance(x, ast.Name) and x.id == "Any" for x in ast.walk(note))


ALIKE = {  # functions that share five lines of statements, alike but for names and words: read, and why they stay
    "loops/perceptron.py dense_pass, loops/perceptron.py shrinking_pass": "compiled: the step inside the loop differs",
    "loops/tree_growing.py _scan_classes, loops/tree_growing.py _scan_variance": "compiled: their counts differ",
    "loops/coordinate.py cd_dense, loops/coordinate.py cd_sparse": "compiled: how a column is read differs",
}
NO_LOGIC = ("checker", "exercises/")  # repeats every proof on purpose; every exercise returns the same four things
_KNOWN = {*dir(builtins), "np", "scipy", "self", "math", "warnings"}


def _shape(statement):
    """A statement without the names, strings and annotations in it."""
    for x in ast.walk(statement):
        if isinstance(x, ast.Name) and x.id not in _KNOWN:
            x.id = "name"
        elif isinstance(x, ast.arg):
            x.arg, x.annotation = "name", None
        elif isinstance(x, ast.Constant) and isinstance(x.value, str):
            x.value = "words"
    return ast.dump(statement)


def _runs(function):
    """Every run of statements in a function that covers at least five lines, as short as it can be."""
    for x in ast.walk(function):
        for block in (getattr(x, "body", None), getattr(x, "orelse", None)):
            if isinstance(block, list):
                lines = [s for s in block if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
                spans, shapes = [(s.lineno, s.end_lineno) for s in lines], [_shape(s) for s in lines]
                for i in range(len(lines)):
                    end = next((j for j in range(i, len(lines)) if spans[j][1] - spans[i][0] >= 4), None)
                    if end is not None and end > i:  # one statement alone is one call, not logic
                        yield tuple(shapes[i : end + 1])


def test_no_logic_stands_twice():
    homes = collections.defaultdict(set)
    for name, text in FILES.items():
        tree = ast.parse(text) if not name.startswith(NO_LOGIC) else ast.Module([], [])
        for owner in (tree, *(n for n in ast.walk(tree) if isinstance(n, ast.ClassDef))):
            for node in owner.body:
                if isinstance(node, ast.FunctionDef) and node.name != "__init__":
                    for run in _runs(node):
                        homes[run].add(f"{name} {node.name}")
    found = {", ".join(sorted(places)) for places in homes.values() if len(places) > 1}
    assert found == set(ALIKE)
