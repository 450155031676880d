"""Losses L(z, y): how much a score z costs when the truth is y.

Conventions, used throughout certifit:

- A loss is pointwise: arrays in, an array of the same length out; it never sees X.
- Binary labels are y = −1 or +1; ``a = −u·y`` below is the dual variable of a margin loss.
- ``slope`` is dL/dz and ``curvature`` d²L/dz². At a kink ``slope`` is the value from the side of larger z for
  absolute loss at 0 (slope 0), and 0 at the corner of hinge-like losses counts as a mistake: the perceptron
  and hinge take the active side, so that z = 0 still moves w = 0.
- ``conjugate(u, y)`` = sup_z (u z − L(z, y)); ``domain(y)`` is the interval of u where it is finite.
- ``fenchel_young(z, u, y)`` = L(z) + L*(u) − u z ≥ 0: what a pair (z, u) adds to a duality gap.

All formulas use NumPy ufuncs only, so the same lines run on floats and on the error-bounded numbers
(`certifit.certificates.Ball`) with which certificates are checked.
"""

from certifit._registry import discover
from certifit.losses._base import EvaluationLoss, Loss
from certifit.losses._classification import Exponential, Hinge, Logistic, PerceptronLoss, SquaredHinge
from certifit.losses._evaluation import Asymmetric, ZeroOne
from certifit.losses._families import BUILT_IN, FAMILIES, LINKS, ExponentialFamily, Link
from certifit.losses._glm import Binomial, FamilyLoss, GammaLog, Poisson, TweedieLog
from certifit.losses._offset import best_offset
from certifit.losses._registry import LOSSES, get_loss, loss_names, loss_spec, register
from certifit.losses._regression import Absolute, Squared
from certifit.losses._softmax import ClassScores, MulticlassHinge, Softmax
from certifit.losses._tube import EpsilonInsensitive, SquaredEpsilonInsensitive

__all__ = [
    "Absolute",
    "BUILT_IN",
    "Binomial",
    "ExponentialFamily",
    "FAMILIES",
    "FamilyLoss",
    "GammaLog",
    "LINKS",
    "Link",
    "Poisson",
    "TweedieLog",
    "Asymmetric",
    "ClassScores",
    "EpsilonInsensitive",
    "EvaluationLoss",
    "Exponential",
    "Hinge",
    "Logistic",
    "Loss",
    "MulticlassHinge",
    "PerceptronLoss",
    "Softmax",
    "Squared",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "ZeroOne",
    "best_offset",
    "get_loss",
    "loss_names",
    "loss_spec",
    "register",
]

# A loss in a file of its own in this folder is known, and public, without being named here.
discover(__name__, __path__)
_own = {cls.__name__: cls for cls in LOSSES.classes()}
globals().update(_own)
__all__ += sorted(set(_own) - set(__all__))
