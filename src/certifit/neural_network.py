"""Networks under the name of scikit-learn's module: the classes of `certifit.neural`; the rest is passed on."""

from certifit._passing import pass_on

_OURS = {"MLPClassifier": "certifit.neural", "MLPRegressor": "certifit.neural"}

__all__ = list(_OURS)

__getattr__, __dir__ = pass_on(__name__, "sklearn.neural_network", _OURS)
