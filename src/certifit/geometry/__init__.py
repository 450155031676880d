"""Points and hyperplanes: can one separate the classes (`separability`), how many points must it get wrong
(`fewest_mistakes`), and how far are they from it (`margins`)?
"""

from certifit.geometry._margins import Margins, margins
from certifit.geometry._mistakes import FewestMistakes, fewest_mistakes
from certifit.geometry._separability import Separability, separability

__all__ = ["FewestMistakes", "Margins", "Separability", "fewest_mistakes", "margins", "separability"]
