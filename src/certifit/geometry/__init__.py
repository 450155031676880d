"""Points and hyperplanes: can one separate the classes (`separability`), and how far are they from it (`margins`)?"""

from certifit.geometry._margins import Margins, margins
from certifit.geometry._separability import Separability, separability

__all__ = ["Margins", "Separability", "margins", "separability"]
