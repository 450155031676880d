"""Large products by ranges equal the product at once."""

import numpy as np
import pytest

from certifit.design import _products


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("columns", [(), (3,)])
@pytest.mark.parametrize("limit", ["_LARGE", "_LONG"])
def test_transposed_products_by_ranges(monkeypatch, order, columns, limit):
    rng = np.random.default_rng(0)
    A, B = np.array(rng.normal(size=(700, 300)), order=order), rng.normal(size=(700, *columns))
    small = _products.transposed_product(A, B)
    monkeypatch.setattr(_products, limit, 0)
    np.testing.assert_allclose(_products.transposed_product(A, B), small, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(small, A.T @ B, rtol=1e-10, atol=1e-10)
