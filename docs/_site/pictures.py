"""The directive ``{picture}``: a drawing of these pages, made for light and for dark paper when the site is built.

``drawings.py`` and ``shown.py`` hold one function per picture; it returns axes, a figure or an animation. Files are
made again when a source of this folder or of ``certifit.plot`` is newer.
"""

from __future__ import annotations

import inspect
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

HERE = Path(__file__).resolve().parent
PICTURES = HERE.parent / "pictures"
PAPERS = ("light", "dark")
DPI = 144


def _modules() -> tuple[ModuleType, ...]:
    from _site import drawings, shown

    return drawings, shown


def find(name: str) -> Any:
    """The function that draws a picture."""
    for module in _modules():
        if callable(getattr(module, name, None)):
            return getattr(module, name)
    raise LookupError(f"There is no drawing called {name!r} in docs/_site.")


def _newest_source(name: str) -> float:
    import certifit

    package = Path(certifit.__file__).parent
    drawn = [*(package / "plot").glob("*.py"), package / "tree" / "_plot.py"]
    if name == "floors":  # drawn from the imports of the whole package
        drawn = [*package.rglob("*.py"), package.parent.parent / "pyproject.toml"]
    sources = [*drawn, *(Path(m.__file__ or "") for m in _modules())]
    return max(p.stat().st_mtime for p in sources)


def draw(name: str) -> dict[str, Path]:
    """Draw one picture for both papers, unless the files are there and newer than their sources."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.animation import Animation
    from matplotlib.figure import Figure

    from certifit import plot

    PICTURES.mkdir(exist_ok=True)
    made = {}
    for paper in PAPERS:
        known = [p for p in PICTURES.glob(f"{name}-{paper}.*") if p.stat().st_mtime > _newest_source(name)]
        if known:
            made[paper] = known[0]
            continue
        with plot.style(paper):
            thing = find(name)()
            moves = isinstance(thing, Animation)
            made[paper] = PICTURES / f"{name}-{paper}.{'gif' if moves else 'png'}"
            if moves:
                thing.save(made[paper], writer="pillow", dpi=80)
            else:
                picture: Any = thing if isinstance(thing, Figure) else thing.figure
                picture.savefig(made[paper], dpi=DPI)
    return made


def inches(path: Path) -> float:
    """How wide a picture was drawn."""
    from PIL import Image

    with Image.open(path) as image:
        return float(image.width / image.info.get("dpi", (80.0,))[0])


class Picture(SphinxDirective):
    """A picture by its name; the text below is the caption, ``:code:`` shows how it is drawn.

    ``:folder: gallery`` takes files that are there already instead of drawing.
    """

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[Any] = {
        "alt": directives.unchanged_required,
        "code": directives.flag,
        "folder": directives.path,
    }

    def run(self) -> list[nodes.Node]:
        """A figure with one image per paper; the theme shows the one that fits."""
        name = self.arguments[0]
        figure = nodes.figure(classes=["picture"])
        folder = HERE.parent / self.options.get("folder", PICTURES.name)
        files = {p: folder / f"{name}-{p}.png" for p in PAPERS} if "folder" in self.options else draw(name)
        for paper, path in files.items():
            uri = f"/{folder.name}/{path.name}"
            image = nodes.image(uri=uri, alt=self.options["alt"], classes=[f"only-{paper}"])
            image["width"] = f"{92 * inches(path):.0f}px"
            figure += image
        if inches(path) > 7:
            figure["classes"].append("wide")  # on a phone it scrolls sideways rather than shrinks
        if self.content:
            words = nodes.Element()
            self.state.nested_parse(self.content, self.content_offset, words)
            caption = nodes.caption()
            caption += words[0].children
            figure += caption
        out: list[nodes.Node] = [figure]
        if "code" in self.options:
            code = source(find(name))
            out.insert(0, nodes.literal_block(code, code, language="python"))
        return out


def source(function: Any) -> str:
    """The lines of a drawing function, as a reader would type them."""
    lines = inspect.getsource(function).splitlines()
    start = next(i for i, line in enumerate(lines) if line.lstrip().startswith('"""') and line.rstrip().endswith('"""'))
    return textwrap.dedent("\n".join(lines[start + 1 :])).replace("return ", "ax = ").strip()


def _trim(app: Any, doctree: nodes.document) -> None:
    """A blank line before a closing fence belongs to the doctest, not to the page."""
    for block in doctree.findall(nodes.literal_block):
        if len(block.children) == 1:
            text = block.astext().rstrip()
            block.rawsource = text
            block.children = [nodes.Text(text)]


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("picture", Picture)
    app.connect("doctree-read", _trim)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
