"""Mathematics as MathML in the page itself: browsers set it without a script or a font from elsewhere."""

from __future__ import annotations

from typing import Any, NoReturn

from latex2mathml import converter


def convert(formula: str, display: str = "inline") -> str:
    """MathML of a formula; latex2mathml would print the name of the operator arg with its backslash."""
    return converter.convert(formula.replace(r"\arg", r"\operatorname{arg}\,"), display=display)


def _inline(self: Any, node: Any) -> None:
    self.body.append(convert(node.astext()))
    _nothing_more()


def _block(self: Any, node: Any) -> None:
    self.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    _nothing_more()


def _nothing_more() -> NoReturn:
    """Tell docutils, which only a build of the site has, that the node is written."""
    from docutils.nodes import SkipNode

    raise SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer under the name "mathml"."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
