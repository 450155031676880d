"""The worked examples in the terminal."""

from __future__ import annotations

import json
from pathlib import Path

from certifit import examples as worked
from certifit.cli._errors import UsageError


def examples(name: str | None, out: Path, names: bool, notebook: bool = False) -> int:
    """List the examples, or run one (or all) and draw it to a folder."""
    if names:
        width = max(map(len, worked.names()))
        for group, members in worked.GROUPS.items():
            print(group)
            for known in members:
                print(f"  {known:<{width}}  {worked.told(known)[0]}")
            print()
        print("certifit examples NAME runs and draws one, certifit examples all; --notebook writes a notebook instead.")
        return 0
    chosen = worked.names() if name is None or name == "all" else [name]
    for each in chosen:
        (_notebook if notebook else _one)(each, out)
    return 0


def _notebook(name: str, out: Path) -> None:
    try:
        book = worked.notebook(name)
    except ValueError as error:
        raise UsageError(str(error)) from None
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name.replace('-', '_')}.ipynb"
    path.write_text(json.dumps(book, indent=1, ensure_ascii=False))
    print(f"wrote {path}")


def _one(name: str, out: Path) -> None:
    try:
        title, story = worked.told(name)
    except ValueError as error:
        raise UsageError(str(error)) from None
    print(f"{title}\n\n{story}\n")
    numbers = worked.run(name)
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name.replace('-', '_')}.png"
    import matplotlib as mpl

    mpl.use("Agg")  # a terminal may have no screen
    picture = worked.draw(name, numbers)
    picture.savefig(path, dpi=130, bbox_inches="tight")
    print(f"\nwrote {path}\n")
