"""Every public name says what it does, what it takes and within which limits, and shows it in an example that runs.

Examples of docstrings are run by pytest itself (``--doctest-modules``).
"""

from __future__ import annotations

import importlib
import inspect
import re
from functools import cached_property
from pathlib import Path

import pytest

import certifit

# Methods that scikit-learn defines, with the arguments whose meaning it fixes.
GIVEN = {
    "predict": {"X"},
    "predict_proba": {"X"},
    "predict_log_proba": {"X"},
    "decision_function": {"X"},
    "transform": {"X"},
    "inverse_transform": {"X"},
    "fit": {"X", "y", "sample_weight"},
    "fit_transform": {"X", "y", "sample_weight"},
    "partial_fit": {"X", "y", "sample_weight", "classes"},
    "score": {"X", "y", "sample_weight"},
    "score_samples": {"X"},
    "get_feature_names_out": {"input_features"},
}
# Numbers that may be any number.
MORE = ["geometry", "inference", "report", "examples"]
FREE = ["random_state", "seed", "coef0", "location", "value", "offset", "binarize", "axis", "error_score", "pos_label"]
RANGE = re.compile(r"[<>≤≥{]|\bin [\[(]|without effect|[Aa]ccepted|[Aa]s in")


def public():
    """Every public name once: families, the public modules inside them, the top of the package, the worked examples."""
    seen = {}

    def walk(module):
        for name in getattr(module, "__all__", ()):  # modules of certificates hold kinds, which have no names outside
            thing = getattr(module, name)
            if inspect.ismodule(thing) and not callable(thing):
                walk(thing)
            else:
                seen.setdefault(id(thing), (f"{module.__name__}.{name}", thing))

    for family in (*certifit._FAMILIES, *MORE):
        walk(importlib.import_module(f"certifit.{family}"))
    for name in certifit._NAMES:
        seen.setdefault(id(getattr(certifit, name)), (f"certifit.{name}", getattr(certifit, name)))
    return list(seen.values())


CALLABLE = [pytest.param(n, t, id=n) for n, t in public() if callable(t)]
CLASSES = [pytest.param(n, t, id=n) for n, t in public() if inspect.isclass(t)]


def described(text: str) -> dict[str, str]:
    """What a docstring says about each parameter."""
    found: dict[str, str] = {}
    for title in ("Parameters", "Attributes"):
        body = re.search(rf"^{title}\n-+\n(.*?)(?=^\S[^\n]*\n-{{3,}}|\Z)", text, re.S | re.M)
        names: list[str] = []
        for line in body.group(1).split("\n") if body else []:
            if line and not line.startswith(" "):
                head, _, rest = line.partition(" :")
                names = [n.strip().strip("*`") for n in head.split(",")]
                found.update(dict.fromkeys(names, rest))
            else:
                found.update({n: f"{found[n]} {line.strip()}" for n in names})
    return found


def takes(thing):
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return {}
    try:
        parameters = inspect.signature(thing).parameters
    except (TypeError, ValueError):
        return {}
    skip = ("self", "cls", "args", "kwargs")
    return {n: p for n, p in parameters.items() if n not in skip and not n.startswith("_")}


@pytest.mark.parametrize(("name", "thing"), CALLABLE)
def test_every_public_name_is_described(name, thing):
    text = inspect.getdoc(thing) or ""
    if inspect.ismodule(thing):  # a module that can be called: its function speaks for it
        thing = getattr(thing, name.rsplit(".", 1)[1])
        text = inspect.getdoc(thing) or ""
    assert len(text.split()) > 3
    assert ">>>" in text, f"{name} shows no example"
    told = described(text)
    for parameter, how in takes(thing).items():
        assert parameter in told, f"{name} does not describe {parameter}"
        assert told[parameter].strip(), f"{name} says nothing about {parameter}"
        number = isinstance(how.default, (int, float)) and not isinstance(how.default, bool)
        if number and parameter not in FREE and "igmoid" not in name:
            assert RANGE.search(told[parameter]), f"{name} states no range for {parameter}: {told[parameter]}"


# Names whose subject is a formula; the others hold, read, write or look things up.
FORMULA = re.compile(r":math:|\.\. math::|[Σ√‖²∫∏≤≥≠]|\S = \S|/ ?\(|\bk₁|exp\(|log\(|becomes|\bP\(")
HOLDERS = re.compile(
    r"\.(EvaluationLoss|get_\w+|\w+_names|\w+_spec|Arithmetic|Blocks|Function|Kernel|Precomputed|Proof|blocks|choose|"
    r"rebuild|register|rows|evidence_of|\w+_evidence_of|machine_evidence|Bound)$"
)
SUBJECTS = [
    "losses",
    "regularizers",
    "kernels",
    "linear_model",
    "svm",
    "glm",
    "kernel_ridge",
    "bounds",
    "decomposition",
]


OTHERS = re.compile(r"metrics\.\w+_(score|loss|error|corrcoef)$|conjugate\.(?!Conjugate)[A-Z]")


def is_formula(name: str) -> bool:
    return bool(OTHERS.search(name)) or (name.split(".")[1] in SUBJECTS and not HOLDERS.search(name))


@pytest.mark.parametrize(("name", "thing"), [p for p in CALLABLE if is_formula(p.values[0])])
def test_formulas_are_written_down(name, thing):
    text = re.split(r"\n(?:Parameters|Attributes|Examples)\n", inspect.getdoc(thing) or "")[0]
    assert FORMULA.search(text), f"{name}: {text}"


def methods(thing):
    for name, value in vars(thing).items():
        plain = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        if not name.startswith("_") and (inspect.isfunction(plain) or isinstance(plain, (property, cached_property))):
            yield name, plain


@pytest.mark.parametrize(("name", "thing"), CLASSES)
def test_every_public_method_is_described(name, thing):
    """A method of an interface is described there; scikit-learn's arguments are described by scikit-learn."""
    for method, plain in methods(thing):
        homes = [vars(k)[method] for k in thing.__mro__ if method in vars(k)]
        text = "\n".join(inspect.getdoc(h) or "" for h in homes)
        assert len(text) > 8, f"{name}.{method} has no docstring"
        for parameter in takes(plain) if inspect.isfunction(plain) else ():
            if parameter not in GIVEN.get(method, ()):
                assert re.search(rf"(?<!\w){parameter}(?!\w)", text), f"{name}.{method} does not speak of {parameter}"


def shared():
    """Names that scikit-learn has too, with both things."""
    for family in (*certifit._FAMILIES, "kernel_ridge"):
        try:
            theirs = importlib.import_module(f"sklearn.{family}")
        except ImportError:
            continue
        ours = importlib.import_module(f"certifit.{family}")
        for name in ours.__all__:
            mine, other = getattr(ours, name), getattr(theirs, name, None)
            if inspect.isclass(mine) and issubclass(mine, BaseException):
                continue  # an exception takes a message
            if callable(other) and callable(mine):
                yield pytest.param(name, getattr(ours, name), getattr(theirs, name), id=f"{family}.{name}")


@pytest.mark.parametrize(("name", "ours", "theirs"), list(shared()))
def test_every_difference_from_scikit_learn_is_on_the_page(name, ours, theirs):
    page = (Path(__file__).parent.parent / "docs" / "from_sklearn.md").read_text()
    rows = [r for r in page[page.index("## Differences") :].split("\n") if r.startswith("|")]
    mine = " ".join(r for r in rows if f"`{name}`" in r.split("|")[1])
    here, there = inspect.signature(ours).parameters, inspect.signature(theirs).parameters
    options = any(p.kind is p.VAR_KEYWORD for p in here.values())
    for parameter, how in there.items():
        if parameter not in here:
            known = options and parameter != "params"  # handed on
            assert known or f"`{parameter}`" in mine, f"{name} has no {parameter}, and the page does not say so"
        elif how.default is not how.empty and repr(how.default) != repr(here[parameter].default):
            same = how.default == here[parameter].default if not hasattr(how.default, "shape") else False
            assert same or f"`{parameter}`" in mine, f"{name}: another default of {parameter} is not on the page"
