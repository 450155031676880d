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


def _newest_source() -> float:
    import certifit.plot

    sources = [*Path(certifit.plot.__file__).parent.glob("*.py"), *(Path(m.__file__ or "") for m in _modules())]
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
        known = [p for p in PICTURES.glob(f"{name}-{paper}.*") if p.stat().st_mtime > _newest_source()]
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


def width(path: Path) -> str:
    """How wide a picture wants to be on a page: its size in inches, at a little under a hundred dots each."""
    from PIL import Image

    with Image.open(path) as image:
        dots = image.width * 92 / (80 if path.suffix == ".gif" else DPI)
    return f"{dots:.0f}px"


class Picture(SphinxDirective):
    """A picture by its name; the text below is the caption, ``:code:`` shows how it is drawn."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[Any] = {"alt": directives.unchanged_required, "code": directives.flag}

    def run(self) -> list[nodes.Node]:
        """A figure with one image per paper; the theme shows the one that fits."""
        name = self.arguments[0]
        figure = nodes.figure(classes=["picture"])
        for paper, path in draw(name).items():
            image = nodes.image(uri=f"/pictures/{path.name}", alt=self.options["alt"], classes=[f"only-{paper}"])
            image["width"] = width(path)
            figure += image
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


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
