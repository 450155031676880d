"""scikit-learn's contract for every transformer."""

from certifit.preprocessing import (
    AdditiveBasis,
    ColumnTransforms,
    CorrelationFilter,
    Factored,
    NystroemBasis,
    OneHot,
    PadOnes,
    PolynomialBasis,
    Standardizer,
    Thermometer,
)
from tests.contract import contract


@contract(
    [
        AdditiveBasis(),
        AdditiveBasis(4, pairs=1),
        NystroemBasis(20, random_state=0),
        PolynomialBasis(),
        PolynomialBasis(3, interaction_only=True, include_one=False),
        Standardizer(),
        Standardizer(ddof=1),
        PadOnes(),
        ColumnTransforms("asinh"),
        ColumnTransforms(),
        OneHot(handle_unknown="ignore"),
        Thermometer(handle_unknown="ignore"),
        Factored(handle_unknown="ignore"),
        OneHot(),
        Thermometer(),
        Factored(),
        CorrelationFilter(),
        CorrelationFilter(k=1, threshold=0.5),
    ]
)
def test_contract(estimator, check):
    check(estimator)
