"""NIST's certified values, R's printed output and statsmodels."""

import numpy as np
import pytest

from certifit.linear_model import LinearRegression


def digits(got, certified):
    got, certified = np.asarray(got, dtype=float), np.asarray(certified, dtype=float)
    scale = np.where(certified == 0, 1.0, np.abs(certified))
    with np.errstate(divide="ignore"):
        return -np.log10(np.abs(got - certified) / scale)


def powers(x, degree):
    return np.column_stack([x**k for k in range(1, degree + 1)])


WAMPLER_NOISE = [759, -2048, 2048, -2048, 2523, -2048, 2048, -2048, 1838, -2048, 2048, -2048]
WAMPLER_NOISE += [1838, -2048, 2048, -2048, 2523, -2048, 2048, -2048, 759]


@pytest.mark.parametrize(
    ("coefficients", "noise"),
    [([1, 1, 1, 1, 1, 1], 0), ([1, 0.1, 0.01, 1e-3, 1e-4, 1e-5], 0)]
    + [([1, 1, 1, 1, 1, 1], size) for size in (1, 100, 10_000)],
    ids=["Wampler1", "Wampler2", "Wampler3", "Wampler4", "Wampler5"],
)
def test_wampler_by_formula(coefficients, noise):
    x = np.arange(21.0)
    X = powers(x, 5)
    y = coefficients[0] + X @ coefficients[1:] + noise * np.array(WAMPLER_NOISE)
    model = LinearRegression().fit(X, y)
    limit = 12 if coefficients[1] == 1 else 11  # decimals of Wampler2 are rounded before they reach us
    assert digits([model.intercept_, *model.coef_], coefficients).min() >= limit
    s = model.summary()
    if noise:
        assert s.r_squared == pytest.approx(
            1 - noise**2 * np.sum(np.square(WAMPLER_NOISE)) / s.null_deviance, abs=1e-10
        )
    else:
        assert s.r_squared == pytest.approx(1.0, abs=1e-10)
        assert np.abs(s.standard_errors).max() < 1e-8


@pytest.mark.parametrize("case", ["longley", "noint1", "norris", "wampler1", "wampler3"])
def test_nist(reference, case):
    record, table = reference(f"nist_linear/{case}")
    expected, model = record["expected"], record["model"]
    y = table[record["data"]["target"]].to_numpy(float)
    X = table[record["data"]["features"]].to_numpy(float)
    if case.startswith("wampler") and X.shape[1] == 1:
        X = powers(X[:, 0], 5)
    intercept = case != "noint1"
    fit = LinearRegression(fit_intercept=intercept).fit(X, y)
    s = fit.summary()
    certified = dict(zip(expected["param_names"], expected["params"])) if "param_names" in expected else {}
    assert len(s.params) == len(expected["params"]), (model, certified)
    assert digits(s.params, expected["params"]).min() >= 12
    assert digits(s.standard_errors, expected["std_errors"]).min() >= (10 if case != "wampler1" else 8)
    assert digits(s.r_squared, expected["r_squared"]).min() >= 10


def test_rounded_columns_keep_seven_digits_and_the_certificate_says_so():
    """Degree-10 powers of decimals, as in NIST's Filip: the columns themselves are rounded."""
    rng = np.random.default_rng(0)
    x = np.round(np.sort(rng.uniform(-9, -3, 82)), 6)
    X = powers(x, 10)
    truth = np.array([(-1.0) ** k * 10.0 ** (3 - k) for k in range(11)])
    y = truth[0] + X @ truth[1:]
    model = LinearRegression().fit(X, y)
    c = model.certificate_
    assert c.digits_if_rounded < 9
    assert digits(model.coef_, truth[1:]).min() >= c.digits_if_rounded - 1.5
    assert "are to be had" in str(c)


@pytest.mark.parametrize("case", ["stackloss", "swiss"])
def test_r_output(reference, case):
    record, table = reference(f"r_ols/{case}")
    expected = record["expected"]
    y = table[record["data"]["target"]].to_numpy(float)
    s = LinearRegression().fit(table[record["data"]["features"]], y).summary()

    def agrees(got, printed):
        text = str(printed)
        places = len(text.split(".")[1]) if "." in text and "e" not in text else 0
        return abs(got - float(printed)) <= 0.51 * 10.0**-places

    params, errors = expected["params"], expected["std_errors"]
    params = list(params.values()) if isinstance(params, dict) else params
    errors = list(errors.values()) if isinstance(errors, dict) else errors
    assert all(agrees(a, b) for a, b in zip(s.params, params))
    assert all(agrees(a, b) for a, b in zip(s.standard_errors, errors))
    assert agrees(s.r_squared, expected["r_squared"])
    assert agrees(s.adj_r_squared, expected["adj_r_squared"])
    assert agrees(s.residual_standard_error, expected["residual_standard_error"])


@pytest.mark.parametrize("weighted", [False, True])
def test_statsmodels(weighted):
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    y = X @ [1, 0, -1] + 2 + rng.normal(size=50)
    w = rng.uniform(0.5, 3, 50) if weighted else np.ones(50)
    theirs = sm.WLS(y, sm.add_constant(X), weights=w).fit()
    s = LinearRegression().fit(X, y, w).summary()
    assert np.allclose(s.params, theirs.params)
    assert np.allclose(s.standard_errors, theirs.bse)
    assert np.allclose(s.p_values, theirs.pvalues)
    assert np.allclose(s.interval(0.9), theirs.conf_int(0.1))
    assert s.log_likelihood == pytest.approx(theirs.llf)
    assert s.f_statistic == pytest.approx(theirs.fvalue)
    assert s.aic == pytest.approx(theirs.aic + 2)  # R counts the variance as a parameter too
    assert "intercept" in str(s)
