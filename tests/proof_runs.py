"""A claim with its data, as a proof file and a table, and what the checker says of them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from certifit import checker
from certifit.certificates import Certificate, write_table


@dataclass
class Case:
    """A claim, and the data that it is about."""

    certificate: Certificate
    X: Any
    y: Any = None
    weight: Any = None
    offset: Any = None

    @property
    def data(self) -> tuple[Any, ...]:
        return self.X, self.y, self.weight, self.offset

    def write(self, folder: Path, name: str = "fit") -> tuple[Path, Path]:
        """The proof file and its table."""
        proof, table = folder / f"{name}.proof", folder / f"{name}.csv"
        self.certificate.save(proof)
        write_table(table, *self.data)
        return proof, table

    def proof(self, folder: Path) -> tuple[dict[str, Any], checker.Table]:
        """The proof file and the table as the checker reads them."""
        proof, table = self.write(folder)
        return json.loads(proof.read_text(encoding="utf-8")), checker.read_table([str(table)])


def outcome(proof: Any, table: checker.Table) -> str:
    """What the checker says, in this process; whatever is not refused in words is a bug here."""
    try:
        checker.check(proof, table, say=lambda text: None)
    except checker.Refused as why:
        return f"NOT PROVED: {why}"
    return "PROVED"


def run_checker(*paths: Path, timeout: float = 120.0, script: Path | None = None) -> tuple[str, str, int]:
    """The last line, the rest and the exit code of ``python -I -S checker.py`` on these files."""
    command = [sys.executable, "-I", "-S", str(script or checker.__file__), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False, encoding="utf-8")
    assert not done.stderr, done.stderr
    *steps, last = done.stdout.rstrip("\n").split("\n")
    return last, "\n".join(steps), done.returncode
