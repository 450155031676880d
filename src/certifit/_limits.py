"""Confidence limits of shares and of cross-validated scores.

- `binomial_limits` (Clopper and Pearson 1934): the shares p for which neither tail of k successes in n
  trials has probability below (1 − level)/2. It covers at least as often as stated, for every n and p.
- `corrected_limits` (Nadeau and Bengio 2003): mean ± t · s · √(1/J + n_test/n_train) over J fold scores with
  J − 1 degrees of freedom. Training sets overlap, so fold scores are correlated and s/√J is too small; the
  second term takes the correlation to be the held-out share.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sized

import numpy as np
import numpy.typing as npt
import scipy.special


def binomial_limits(successes: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    """Exact (Clopper-Pearson) limits for a share; counts may be sums of weights.

    Examples
    --------
    >>> low, high = binomial_limits(0, 10)
    >>> round(low, 3), round(high, 4)
    (0.0, 0.3085)
    """
    if trials <= 0:
        return 0.0, 1.0
    tail = (1.0 - level) / 2.0
    k, n = float(successes), float(trials)
    low = 0.0 if k <= 0 else float(scipy.special.betaincinv(k, n - k + 1.0, tail))
    high = 1.0 if k >= n else float(scipy.special.betaincinv(k + 1.0, n - k, 1.0 - tail))
    return low, high


def held_out_share(folds: Iterable[tuple[Sized, Sized]]) -> float:
    """n_test/n_train, averaged over folds (train, test)."""
    return float(np.mean([len(test) / len(train) for train, test in folds]))


def corrected_limits(scores: npt.ArrayLike, held_out: float, level: float = 0.95) -> tuple[float, float, float]:
    """Mean's limits and standard error over fold scores, knowing that folds overlap.

    ``held_out`` is `held_out_share`.

    Examples
    --------
    >>> low, high, error = corrected_limits([0.8, 0.9, 0.85, 0.75, 0.95], held_out=0.25)
    >>> round(low, 3), round(high, 3)
    (0.703, 0.997)
    """
    values = np.asarray(scores, dtype=float)
    count = len(values)
    if count < 2:
        raise ValueError(f"An interval needs at least two folds; got {count}.")
    error = math.sqrt((1.0 / count + held_out) * float(np.var(values, ddof=1)))
    reach = -float(scipy.special.stdtrit(count - 1, (1.0 - level) / 2.0)) * error
    mean = float(np.mean(values))
    return mean - reach, mean + reach, error
