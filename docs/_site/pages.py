"""Pages that are written when the site is built: the gallery, the reference, the tables of measurements."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import joblib

DOCS = Path(__file__).resolve().parent.parent
GALLERY = DOCS / "gallery"
REFERENCE = DOCS / "reference" / "generated"
EXTRA = DOCS / "extra"
RESULTS = DOCS.parent / "benchmarks" / "results" / "results.json"


_SPAN = re.compile(r"(``.*?``|:\w+:`.*?`|`.*?`)")


def plain(lines: list[str]) -> list[str]:
    """Docstrings are written for people: a bar is an absolute value, ``coef_`` ends in an underscore."""
    out, block = [], ""
    for line in lines:
        if block == "code" and not line.strip():
            block = ""
        if block == "math" and line.strip() and not line.startswith(" "):
            block = ""
        if line.lstrip().startswith(">>>"):
            block = "code"
        elif ".. math::" in line:
            block = "math"
        if not block:
            parts = _SPAN.split(line)
            parts[::2] = [re.sub(r"(?<!\\)(\||(?<=\w)_(?!\w))", r"\\\1", p) for p in parts[::2]]
            line = "".join(parts)
        out.append(line)
    return out


def _process(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = plain(lines)


def _skip(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """scikit-learn's routing machinery is documented there."""
    return True if name.endswith("_request") or name == "get_metadata_routing" else None


def _write(path: Path, text: str) -> None:
    """Write only what changed, so that a second build is quick."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def gallery() -> None:
    """One page per worked example, with what it says and what it draws."""
    from certifit import examples

    GALLERY.mkdir(parents=True, exist_ok=True)
    titles = {name: examples.told(name)[0] for name in examples.names()}
    stale = [name for name in titles if not _fresh(name)]
    if stale:
        joblib.Parallel(n_jobs=-1)(joblib.delayed(_write_example)(name) for name in stale)
    lines = ["# Gallery", "", "Worked examples with numbers and a figure. `certifit examples NAME` runs one"]
    lines += ["in a terminal, and tests check the numbers. The functions of `certifit.plot` are shown, with the"]
    lines += ["code that draws each figure, on the page about [plots](../families/plot.md).", ""]
    for group, members in examples.GROUPS.items():
        lines += [f"## {group}", "", "::::{container} gallery"]
        for name in members:
            lines += [":::{container} card"]
            lines += [f"[![{titles[name]}]({name}-{p}.png){{.only-{p}}}]({name}.md)" for p in ("light", "dark")]
            lines += ["", f"[{titles[name]}]({name}.md)", ":::"]
        lines += ["::::", ""]
    lines += ["```{toctree}", ":hidden:", "", *titles, "```", ""]
    _write(GALLERY / "index.md", "\n".join(lines))


def _fresh(name: str) -> bool:
    """Whether the page of an example is newer than its source."""
    page = GALLERY / f"{name}.md"
    module = Path(inspect.getfile(importlib.import_module(f"certifit.examples.{name}")))
    return page.exists() and page.stat().st_mtime > module.stat().st_mtime


def _write_example(name: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    _write(GALLERY / f"{name}.md", _example(name))
    (GALLERY / f"{name}.md").touch()  # fresh, even where the text is the same as before


def _example(name: str) -> str:
    from certifit import examples

    title, story = examples.told(name)
    said: list[str] = []
    numbers = examples.run(name, said.append)
    for paper in ("light", "dark"):
        picture = examples.draw(name, numbers, paper)
        picture.savefig(GALLERY / f"{name}-{paper}.png", dpi=120, bbox_inches="tight")
    _write(GALLERY / f"{name}.ipynb", json.dumps(examples.notebook(name), indent=1, ensure_ascii=False))
    return "\n".join(
        [
            f"# {title}", "", story, "",
            f"```{{picture}} {name}\n:folder: gallery\n:alt: {title}\n```", "",
            f"```text\n$ certifit examples {name}\n" + "\n".join(said) + "\n```", "",
            "## The script", "", f"Copy and run it, or download the notebook: {{download}}`{name}.ipynb`.", "",
            f"```python\n{examples.script(name)}\n```", "",
        ]
    )  # fmt: skip


def top_of(page: Path) -> dict[str, str]:
    """What a page says at its top about itself: group in the index, short title, what it is about."""
    head = re.match(r"---\n(.*?)\n---\n", page.read_text(), re.S)
    lines = head.group(1).split("\n") if head else []
    return {key: value.strip().strip('"') for key, value in (line.split(":", 1) for line in lines)}


def index() -> str:
    """The first page with its two lists of family pages, which follow the table of families."""
    from certifit.families import FAMILIES

    files = [page for family in FAMILIES for page in family.pages]
    tops = {file: top_of(DOCS / "families" / f"{file}.md") for file in files}
    listed: list[str] = []
    for group in dict.fromkeys(top["group"] for top in tops.values()):
        listed += [f"**{group}**", ""]
        listed += [f"- [{t['short']}](families/{f}.md): {t['about']}" for f, t in tops.items() if t["group"] == group]
        listed.append("")
    groups = list(dict.fromkeys(top["group"] for top in tops.values()))
    ordered = sorted(files, key=lambda f: groups.index(tops[f]["group"]))
    contents = ["```{toctree}", ":hidden:", ":caption: Families", "", *(f"families/{f}" for f in ordered), "```"]
    text = (DOCS / "index.md").read_text()
    text = text.replace("<!-- families: list -->\n", "\n".join(listed))
    return text.replace("<!-- families: contents -->", "\n".join(contents))


def _fill(app: Any, name: str, source: list[str]) -> None:
    if name == "index":
        source[0] = index()


def reference() -> None:
    """One page per family, with a table of its names and its functions, and one per class."""
    import certifit

    families = list(certifit._FAMILIES)
    for family in families:
        _write(REFERENCE / f"{family}.rst", _family(importlib.import_module(f"certifit.{family}")))
    top = ["certifit", "========", "", ".. currentmodule:: certifit", ""]
    top += ["Names at the top level of the package.", ""]
    for name, home in certifit._NAMES.items():
        thing = getattr(importlib.import_module(home), name)
        top += _entry(f"{home}.{name}", thing, f"certifit.{name}")
    _write(REFERENCE / "certifit.rst", "\n".join(top))
    table = [
        "# Reference",
        "",
        "Every public name, by module. Names, meanings and defaults follow scikit-learn where it",
    ]
    table += ["has them.", "", "| module | contents |", "|---|---|"]
    table += [
        "| [`certifit`](generated/certifit.rst) | `certify`, `objective`, `separability`, `margins`, "
        "`save`, `load`, `verify` |"
    ]
    for family in families:
        about = (
            (importlib.import_module(f"certifit.{family}").__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")
        )
        table.append(f"| [`certifit.{family}`](generated/{family}.rst) | {about.replace('``', '`')} |")
    table += [
        "",
        "```{toctree}",
        ":hidden:",
        "",
        "generated/certifit",
        *(f"generated/{f}" for f in families),
        "```",
        "",
    ]
    _write(DOCS / "reference" / "index.md", "\n".join(table))


def _family(module: ModuleType) -> str:
    name = module.__name__
    lines = [
        name,
        "=" * len(name),
        "",
        f".. currentmodule:: {name}",
        "",
        *plain((inspect.getdoc(module) or "").split("\n")),
        "",
    ]
    public = list(module.__all__)
    things = {n: getattr(module, n) for n in public}
    described = [n for n in public if not inspect.ismodule(things[n])]
    lines += [".. autosummary::", "", *(f"   {n}" for n in described), ""]
    family = name.removeprefix("certifit.")
    alone = [n for n in described if inspect.isclass(things[n])]  # a class has a page of its own
    for n in described:
        if n in alone:
            page = [n, "=" * len(n), "", f".. currentmodule:: {name}", "", *_entry(n, things[n], f"{name}.{n}")]
            _write(REFERENCE / f"{family}.{n}.rst", "\n".join(page))
        else:
            lines += _entry(n, things[n], f"{name}.{n}")
    lines += [".. toctree::", "   :hidden:", "", *(f"   {family}.{n}" for n in alone), ""] if alone else []
    for n in public:
        if inspect.ismodule(things[n]):
            lines += _part(things[n])
    return "\n".join(lines)


_HOMES: dict[int, str] = {}  # where a thing that several families name is indexed: the first of them


def _entry(name: str, thing: Any, full: str) -> list[str]:
    if not (inspect.isclass(thing) or callable(thing)):
        return [f".. autodata:: {name}", "   :no-value:", ""]
    again = ["   :no-index:"] if _HOMES.setdefault(id(thing), full) != full else []
    return [f".. {'autoclass' if inspect.isclass(thing) else 'autofunction'}:: {name}", *again, ""]


def _part(module: ModuleType) -> list[str]:
    """A public module inside a family: its docstring, and its classes where it names them."""
    title = module.__name__
    lines = [title, "-" * len(title), "", f".. automodule:: {title}", "   :no-members:", ""]
    public = getattr(module, "__all__", [])
    if public:
        lines += [f".. currentmodule:: {title}", "", ".. autosummary::", "", *(f"   {n}" for n in public), ""]
        for n in public:
            lines += _entry(n, getattr(module, n), f"{title}.{n}")
    return lines


def report() -> None:
    """An example of what a study writes, as it is written."""
    import certifit.report

    page = EXTRA / "example-report.html"
    newest = max(p.stat().st_mtime for p in Path(certifit.report.__file__).parent.iterdir() if p.is_file())
    if page.exists() and page.stat().st_mtime > newest:
        return
    from sklearn.datasets import load_breast_cancer

    from certifit.study import run

    data = load_breast_cancer()
    table = {str(n): data.data[:, j] for j, n in enumerate(data.feature_names) if j in (0, 1, 2, 3, 6, 20, 21, 27)}
    table["diagnosis"] = data.target_names[data.target]
    models = ["logistic regression", "decision tree", "naive Bayes", "nearest neighbours"]
    _write(page, certifit.report.render(run(table, "diagnosis", models=models, folds=5).record))


def measurements() -> None:
    """Tables of benchmarks/results, or a sentence that there are none."""
    page = DOCS / "reference" / "generated" / "measurements.md"
    what = ["# Measured here", "", "## The workloads", "", "| `make bench W=` | what | goal |", "|---|---|---|"]
    for file in sorted((DOCS.parent / "benchmarks" / "workloads").glob("[a-z]*.py")):
        module = importlib.import_module(f"benchmarks.workloads.{file.stem}")
        what.append(f"| `{file.stem.replace('_', '-')}` | {module.WHAT} | {module.GOAL} |")
    if not RESULTS.exists():
        none = "There are no measurements yet: run `make bench`, and the next `make docs` shows the tables."
        _write(page, "\n".join([*what, "", none]) + "\n")
        return
    rows: list[dict[str, Any]] = json.loads(RESULTS.read_text())
    text = [*what, "", "Medians on this machine. *Times as fast* compares with the fastest other library."]
    for workload in sorted({r["workload"] for r in rows}):
        mine = [r for r in rows if r["workload"] == workload]
        text += ["", f"## {workload}", ""]
        with contextlib.suppress(ImportError):
            module = importlib.import_module(f"benchmarks.workloads.{workload.replace('-', '_')}")
            text += [f"{module.WHAT}. Goal: {module.GOAL}.", ""]
        text += ["| library | seconds | times as fast | proved gap | peak MB |", "|---|---|---|---|---|"]
        for r in mine:
            peers = [p["seconds"] for p in mine if p["kind"] == "peer" and p["case"] == r["case"]]
            ratio = f"{min(peers) / r['seconds']:.2f}" if peers else ""
            name = f"{r['case']}: {r['name']}" if r["case"] else r["name"]
            gap = "" if r["gap"] is None else f"{r['gap']:.1e}"
            text.append(f"| {name} | {r['seconds']:.4g} | {ratio} | {gap} | {r['memory_mb'] or 0:.0f} |")
    _write(page, "\n".join(text) + "\n")


def origins() -> None:
    """Who wrote which name of scikit-learn's public modules, as `certifit.origin` tells."""
    text = [
        "# Names from scikit-learn",
        "",
        "Every public name of these modules of scikit-learn can be imported from `certifit`.",
    ]
    text += [
        "Names in the second column are implemented by certifit and, where they fit a model, have a certificate; the"
    ]
    text += [
        "others are scikit-learn's own, re-exported unchanged. `certifit.origin(thing)` tells them apart.",
        "",
    ]
    text += ["| module | implemented by certifit | re-exported from scikit-learn |", "|---|---|---|"]
    for module, wrote in origin_table().items():
        columns = [", ".join(f"`{n}`" for n in wrote[who]) or "none" for who in ("certifit", "scikit-learn")]
        text.append(f"| `{module}` | {columns[0]} | {columns[1]} |")
    _write(REFERENCE / "origins.md", "\n".join(text) + "\n")


def origin_table() -> dict[str, dict[str, list[str]]]:
    """For each public module of scikit-learn the names by who wrote what `certifit` has under them."""
    import sklearn

    import certifit
    from certifit._passing import public_names

    table: dict[str, dict[str, list[str]]] = {}
    for module in sorted({*sklearn.__all__, "base", "utils"} - {"externals", "experimental", *certifit._passing.TOP}):
        theirs, ours = (importlib.import_module(f"{p}.{module}") for p in ("sklearn", "certifit"))
        wrote: dict[str, list[str]] = {"certifit": [], "scikit-learn": []}
        for name in sorted(public_names(theirs), key=str.lower):
            with contextlib.suppress(ImportError):  # experimental names that have to be enabled
                same = getattr(ours, name) is getattr(theirs, name)
                wrote["scikit-learn" if same else certifit.origin(getattr(ours, name))].append(name)
        table[module] = wrote
    return table


def setup(app: Any) -> dict[str, bool]:
    """Write the pages before Sphinx looks for sources."""
    app.connect("autodoc-process-docstring", _process, priority=900)  # after numpydoc
    app.connect("autodoc-skip-member", _skip)
    app.connect("source-read", _fill)
    gallery()
    reference()
    origins()
    measurements()
    report()
    return {"parallel_read_safe": True, "parallel_write_safe": True}
