"""Density estimation: kernels with proved bounds, histograms, parametric families (`certifit.bayes.fit_density`)."""

import importlib
from typing import Any

from certifit.density._histogram import Histogram
from certifit.density._kde import BandwidthChoice, KernelDensity, choose_bandwidth

__all__ = ["BandwidthChoice", "Histogram", "KernelDensity", "choose_bandwidth", "fit_density"]


def __getattr__(name: str) -> Any:
    # Families do not import one another: the parametric estimate is looked up where it stands when it is asked for.
    if name == "fit_density":
        return importlib.import_module("certifit.bayes").fit_density
    raise AttributeError(f"module 'certifit.density' has no attribute {name!r}")
