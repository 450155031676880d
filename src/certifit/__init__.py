"""certifit: classical machine learning that proves its answers.

Modules have scikit-learn's names (``certifit.linear_model``, ...), so that changing one word of an import line is
enough; what certifit does not implement itself is re-exported from scikit-learn (`certifit.origin` tells which).
Everything loads on first use: ``import certifit`` itself takes almost no time.
"""

from __future__ import annotations

import importlib
from typing import Any

from certifit._passing import MODULES, TOP, install
from certifit.families import FAMILIES

__version__ = "0.1.0"

_FAMILIES = tuple(family.folder for family in FAMILIES)

_NAMES = {
    "Certificate": "certifit.certificates",
    "Trace": "certifit._trace",
    "certify": "certifit.judge",
    "certify_clusters": "certifit.judge",
    "certify_policy": "certifit.reinforcement",
    "certify_coefficients": "certifit.judge",
    "certify_components": "certifit.judge",
    "certify_density": "certifit.judge",
    "certify_dual": "certifit.judge",
    "certify_naive_bayes": "certifit.judge",
    "certify_neighbors": "certifit.judge",
    "certify_perceptron": "certifit.judge",
    "certify_tree": "certifit.judge",
    "diagnose_votes": "certifit.judge",
    "objective": "certifit.judge",
    "show_work": "certifit.exercises",
    "origin": "certifit._passing",
    "progress": "certifit._progress",
    "separability": "certifit.geometry",
    "margins": "certifit.geometry",
    "fewest_mistakes": "certifit.geometry",
    "save": "certifit.files",
    "load": "certifit.files",
    "verify": "certifit.files",
    "to_onnx": "certifit.files",
}

__all__ = list(dict.fromkeys(["__version__", *_FAMILIES, *_NAMES]))

install()


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(importlib.import_module(_NAMES[name]), name)
    if name in _FAMILIES or name in MODULES:
        return importlib.import_module(f"certifit.{name}")
    if name in TOP:
        return getattr(importlib.import_module("sklearn"), name)
    raise AttributeError(f"module 'certifit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *MODULES, *TOP})
