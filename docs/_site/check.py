"""After a build: every link of the site leads somewhere, and no page asks a network for anything.

What is wrong becomes a Sphinx warning, so that ``make docs`` fails on it.
"""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urlsplit

from sphinx.util import logging

# What a browser fetches by itself, as against a link that somebody has to follow.
FETCHED = {
    "img": "src",
    "script": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "use": "href",
}


class Page(HTMLParser):
    """The names, links, fetched files and pieces of unset mathematics of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.raw: list[str] = []
        self._inside: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what the tag names, links and fetches."""
        given = {k: v or "" for k, v in attrs}
        self.names |= {given[k] for k in ("id", "name") if k in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in FETCHED and FETCHED[tag] in given and given.get("rel") not in ("index", "search", "next", "prev"):
            self.fetched.append(given[FETCHED[tag]])
        if tag in ("pre", "code", "script", "style", "math", "annotation"):
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Leave code and mathematics."""
        if tag in self._inside:
            self._inside.remove(tag)

    def handle_data(self, data: str) -> None:
        """TeX in running words was not set as mathematics."""
        if not self._inside and ("\\frac" in data or "$$" in data or "\\lVert" in data):
            self.raw.append(data.strip()[:60])


def problems(root: Path) -> list[str]:
    """Sentences about broken links, files from a network and mathematics left as TeX, for all pages below a folder."""
    pages = {p.resolve(): Page(p.read_text(encoding="utf-8")) for p in sorted(root.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        where = path.relative_to(root.resolve())
        found += [f"{where}: fetches {url}" for url in page.fetched if urlsplit(url).netloc]
        found += [f"{where}: mathematics is not set: {words}" for words in page.raw]
        for link in [*page.links, *page.fetched]:
            if urlsplit(link).scheme or urlsplit(link).netloc:
                continue
            file, name = urldefrag(link)
            target = (path.parent / unquote(urlsplit(file).path)).resolve() if file else path
            if not target.exists():
                found.append(f"{where}: leads to {link}, which is not there")
            elif name and target in pages and unquote(name) not in pages[target].names:
                found.append(f"{where}: leads to {link}, but that page has no such place")
    return found


def _check(app: Any, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        for sentence in problems(Path(app.outdir)):
            logging.getLogger(__name__).warning(sentence)


def setup(app: Any) -> dict[str, bool]:
    """Look at the pages when they are written."""
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
