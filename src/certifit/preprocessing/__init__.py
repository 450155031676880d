"""Features: bases, encodings, scalings, and choosing columns inside each fold.

All are scikit-learn transformers: they take arrays and data frames, know the names of their output columns
(``get_feature_names_out``) and return data frames when asked (``set_output``). Transformers carry no certificate.
"""

from certifit._passing import pass_on
from certifit.preprocessing._additive import AdditiveBasis
from certifit.preprocessing._correlation_filter import CorrelationFilter
from certifit.preprocessing._encodings import Factored, OneHot, Thermometer
from certifit.preprocessing._nystroem import NystroemBasis
from certifit.preprocessing._polynomial import PolynomialBasis
from certifit.preprocessing._polynomial_features import PolynomialFeatures
from certifit.preprocessing._scaler import StandardScaler
from certifit.preprocessing._scaling import ColumnTransforms, PadOnes, Standardizer

__all__ = [
    "AdditiveBasis",
    "ColumnTransforms",
    "CorrelationFilter",
    "Factored",
    "NystroemBasis",
    "OneHot",
    "PadOnes",
    "PolynomialBasis",
    "PolynomialFeatures",
    "StandardScaler",
    "Standardizer",
    "Thermometer",
]

__getattr__, __dir__ = pass_on(__name__, "sklearn.preprocessing")
