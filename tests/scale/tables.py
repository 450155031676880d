"""Tables, partitionings and comparisons that the tests of `certifit.scale` share."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import Phase, settings

from certifit import scale

PARTITIONINGS = (1, 2, 7, 64)
# Examples are whole fits on four partitionings: a failure is shown as it is found, not shrunk for minutes.
LAW = settings(max_examples=2, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])


def table(seed: int, rows: int = 90, columns: int = 4, target: str = "real") -> pa.Table:
    """Columns of unlike units, and a target that depends on them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) * 10.0 ** rng.integers(-2, 3, size=columns) + rng.normal(size=columns)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    score = Z @ rng.normal(size=columns)
    y = {
        "real": lambda: score + rng.normal(size=rows),
        "two": lambda: np.where(score + rng.logistic(size=rows) > 0, "yes", "no"),
        "three": lambda: np.digitize(score + rng.logistic(size=rows), [-1.0, 1.0]),
        "counts": lambda: rng.poisson(np.exp(0.3 * score)),
    }[target]()
    return pa.table({**{f"x{j}": X[:, j] for j in range(columns)}, "y": y})


def counted(seed: int) -> pa.Table:
    """Columns of small integers, and three classes."""
    rng = np.random.default_rng(seed)
    columns = {f"x{j}": rng.integers(0, 3 + j, 120) for j in range(3)}
    return pa.table({**columns, "y": rng.choice(["a", "b", "c"], 120)})


def shuffled(t: pa.Table, seed: int) -> pa.Table:
    """The same rows in another order."""
    return t.take(pa.array(np.random.default_rng(seed).permutation(t.num_rows)))


def partitioned(t: pa.Table, parts: int) -> scale.Source:
    return scale.Source.of(t, parts)


def frame(t: pa.Table, target: str = "y"):
    """The features as a data frame."""
    return t.drop([target]).to_pandas()


def arrays(t: pa.Table, target: str = "y") -> tuple[np.ndarray, np.ndarray]:
    names = [c for c in t.column_names if c != target]
    return np.column_stack([t[c].to_numpy() for c in names]), t[target].to_numpy()


def fitted_state(model) -> dict:
    """Everything a fit has learned, for comparison bit for bit."""
    skip = {"_promise", "_certificates", "_looked", "_withheld"}
    return {k: v for k, v in vars(model).items() if (k.endswith("_") or k.startswith("_")) and k not in skip}


def same_bits(a, b) -> bool:
    """Whether two values are equal bit for bit, through arrays, lists and records."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same_bits(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same_bits(x, y) for x, y in zip(a, b))
    if isinstance(a, np.ndarray):
        if a.dtype == object:
            return a.shape == b.shape and all(same_bits(x, y) for x, y in zip(a.ravel(), b.ravel()))
        return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, (float, np.floating)):
        return np.float64(a).tobytes() == np.float64(b).tobytes()
    if hasattr(a, "__dict__") and not isinstance(a, type):
        return type(a) is type(b) and same_bits(vars(a), vars(b))
    return bool(a == b)


def assert_same(fits) -> None:
    """Coefficients, claim, figures and evidence of all fits are equal bit for bit."""
    first, *others = fits
    for other in others:
        assert same_bits(fitted_state(first), fitted_state(other))
        for mine, its in zip(first.certificates_, other.certificates_, strict=True):
            assert mine.claim == its.claim
            assert same_bits(dict(mine.figures), dict(its.figures))
            assert same_bits(dict(mine.evidence), dict(its.evidence))
