"""Two nearly identical columns: the coefficients are unstable, the predictions are not.

The second column is the first plus a little noise of size ε. As ε falls, the condition number grows like 1/ε and with
it the spread of the coefficients over new samples of y, while predictions stay as they are: the data determine the
sum of both coefficients well and their difference badly. A small ridge penalty stabilises the coefficients at the
price of a negligible bias.
"""

from collections.abc import Callable

import numpy as np

from certifit._types import Figure, Record
from certifit.linear_model import LinearRegression, Ridge


def run(say: Callable[[str], object] = print) -> Record:
    """Spread of coefficients and predictions over samples of y, for smaller and smaller ε."""
    rng = np.random.default_rng(0)
    sizes = [1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001]
    a, noise = rng.normal(size=60), rng.normal(size=60)
    found: Record = {"sizes": sizes, "condition": [], "least squares": [], "ridge": [], "predictions": []}
    for eps in sizes:
        X = np.column_stack([a, a + eps * noise])
        draws = [X.sum(axis=1) + rng.normal(size=60) for _ in range(60)]
        plain = [LinearRegression().fit(X, y) for y in draws]
        found["condition"].append(float(plain[0].certificate_.condition))
        found["least squares"].append(float(np.std([m.coef_[0] for m in plain])))
        found["ridge"].append(float(np.std([Ridge(1.0).fit(X, y).coef_[0] for y in draws])))
        found["predictions"].append(float(np.mean(np.std([m.predict(X) for m in plain], axis=0))))
    worst = len(sizes) - 1
    say(f"ε = {sizes[worst]}: condition number {found['condition'][worst]:.0f}")
    say(
        f"a coefficient varies by {found['least squares'][worst]:.0f}, with a ridge of 1 by {found['ridge'][worst]:.2f}"
    )
    say(f"a prediction varies by {found['predictions'][worst]:.2f}, as it did at ε = 1 ({found['predictions'][0]:.2f})")
    return found


def draw(numbers: Record) -> Figure:
    """Spread against ε, on logarithmic axes."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6.4, 4))
    names = {
        "least squares": "a coefficient, least squares",
        "ridge": "a coefficient, ridge",
        "predictions": "a prediction",
    }
    for name, words in names.items():
        ax.loglog(numbers["sizes"], numbers[name], "o-", label=words)
    ax.set(xlabel="ε: how far the two columns are apart", ylabel="spread over samples of y")
    ax.legend()
    figure.tight_layout()
    return figure
