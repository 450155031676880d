"""The lowest versions that pyproject.toml allows, as constraints for pip: ``python tests/oldest.py``."""

import re
import tomllib
from pathlib import Path


def constraints() -> list[str]:
    """``numpy==2.0.*`` and so on, one per dependency."""
    text = (Path(__file__).parent.parent / "pyproject.toml").read_text()
    needs = tomllib.loads(text)["project"]["dependencies"]
    return [re.sub(r"^([\w-]+)>=([\d.]+).*$", r"\1==\2.*", need) for need in needs]


if __name__ == "__main__":
    print("\n".join(constraints()))
