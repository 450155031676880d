"""Points that several scenes begin with. All are drawn from fixed seeds and rounded, so that addresses stay short."""

from __future__ import annotations

import numpy as np

from certifit._types import Array


def labelled(X: Array, y: Array, digits: int = 2) -> Array:
    """Points with labels, rounded.

    Examples
    --------
    >>> labelled(np.array([[0.123, 1.0]]), np.array([1])).tolist()
    [[0.12, 1.0, 1.0]]
    """
    return np.column_stack([np.round(X, digits), y]).astype(float)


def clouds(centres: list[tuple[float, float]], size: int, spread: float, seed: int) -> Array:
    """Round clouds, one a class.

    Examples
    --------
    >>> clouds([(0, 0), (4, 4)], 5, 1.0, 0).shape
    (10, 3)
    """
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(c, spread, size=(size, 2)) for c in centres])
    return labelled(X, np.repeat(np.arange(len(centres)), size))


def bells(size: int, seed: int) -> Array:
    """A narrow upright cloud and a wide flat one.

    Examples
    --------
    >>> bells(5, 0).shape
    (10, 3)
    """
    rng = np.random.default_rng(seed)
    narrow = rng.normal((-1.2, 0.2), (0.4, 1.0), size=(size, 2))
    wide = rng.normal((1.0, 0.0), (1.1, 0.5), size=(size, 2))
    return labelled(np.concatenate([narrow, wide]), np.repeat([0, 1], size))


def moons(size: int, noise: float, seed: int) -> Array:
    """Two half moons that reach into each other.

    Examples
    --------
    >>> moons(10, 0.1, 0).shape
    (20, 3)
    """
    rng = np.random.default_rng(seed)
    t = np.pi * (np.arange(size) + 0.5) / size
    upper = np.column_stack([np.cos(t), np.sin(t)])
    lower = np.column_stack([1 - np.cos(t), 0.5 - np.sin(t)])
    X = np.concatenate([upper, lower]) + noise * rng.normal(size=(2 * size, 2))
    return labelled(X, np.repeat([0, 1], size))


def rings(size: int, noise: float, seed: int) -> Array:
    """A disc inside a ring.

    Examples
    --------
    >>> rings(10, 0.1, 0).shape
    (20, 3)
    """
    rng = np.random.default_rng(seed)
    t = 2 * np.pi * np.arange(size) / size
    circle = np.column_stack([np.cos(t), np.sin(t)])
    X = np.concatenate([0.7 * circle * np.sqrt(rng.uniform(size=(size, 1))), 1.8 * circle])
    return labelled(X + noise * rng.normal(size=X.shape), np.repeat([0, 1], size))


def corners(size: int, noise: float, seed: int) -> Array:
    """Exclusive or: four clouds at the corners of a square, opposite ones of one class.

    Examples
    --------
    >>> corners(1, 0.0, 0).tolist()[0]
    [-1.0, -1.0, 0.0]
    """
    rng = np.random.default_rng(seed)
    at = np.array([(-1, -1), (1, 1), (-1, 1), (1, -1)], dtype=float)
    X = np.repeat(at, size, axis=0) + noise * rng.normal(size=(4 * size, 2))
    return labelled(X, np.repeat([0, 0, 1, 1], size))


def wave(size: int, noise: float, seed: int) -> Array:
    """A noisy sine, for regression.

    Examples
    --------
    >>> wave(12, 0.1, 0).shape
    (12, 3)
    """
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-3, 3, size=size))
    return labelled(np.column_stack([x, np.sin(x) + noise * rng.normal(size=size)]), np.zeros(size))


def trend(size: int, noise: float, seed: int) -> Array:
    """A noisy straight line, for regression.

    Examples
    --------
    >>> trend(12, 0.1, 0).shape
    (12, 3)
    """
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, size=size)
    return labelled(np.column_stack([x, 0.8 * x - 0.3 + noise * rng.normal(size=size)]), np.zeros(size))


def tilted(size: int, ratio: float, angle: float, seed: int) -> Array:
    """A cloud of standard deviations 1.3 and 1.3 times the ratio, turned by an angle.

    Examples
    --------
    >>> tilted(5, 0.5, 0.3, 0).shape
    (5, 3)
    """
    rng = np.random.default_rng(seed)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return labelled(rng.normal(size=(size, 2)) * [1.3, 1.3 * ratio] @ turn, np.zeros(size))


def curve(size: int) -> Array:
    """Points of a sine, without noise.

    Examples
    --------
    >>> curve(3).tolist()
    [[-3.0, -0.14, 0.0], [0.0, 0.0, 0.0], [3.0, 0.14, 0.0]]
    """
    x = np.linspace(-3, 3, size)
    return labelled(np.column_stack([x, np.sin(x)]), np.zeros(size))


def uneven(many: int, few: int, seed: int) -> Array:
    """A large class and a small one that overlap.

    Examples
    --------
    >>> uneven(6, 2, 0)[:, 2].sum()
    np.float64(2.0)
    """
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal((-0.6, -0.2), 1.0, size=(many, 2)), rng.normal((1.2, 0.6), 0.8, size=(few, 2))])
    return labelled(X, np.repeat([0, 1], [many, few]))


def unlabelled(centres: list[tuple[float, float]], size: int, spread: float, seed: int) -> Array:
    """Round clouds whose labels say nothing.

    Examples
    --------
    >>> unlabelled([(0, 0), (4, 4)], 5, 1.0, 0)[:, 2].max()
    np.float64(0.0)
    """
    return clouds(centres, size, spread, seed) * [1.0, 1.0, 0.0]


# Petal length and width in millimetres, fifty flowers of each species in turn (Fisher 1936). Written here because
# loading scikit-learn's copy would take longer than everything else before the first picture.
_PETALS = """
14:2 14:2 13:2 15:2 14:2 17:4 14:3 15:2 14:2 15:1 15:2 16:2 14:1 11:1 12:2 15:4 13:4 14:3 17:3 15:3
17:2 15:4 10:2 17:5 19:2 16:2 16:4 15:2 14:2 16:2 16:2 15:4 15:1 14:2 15:2 12:2 13:2 14:1 13:2 15:2
13:3 13:3 13:2 16:6 19:4 14:3 16:2 14:2 15:2 14:2 47:14 45:15 49:15 40:13 46:15 45:13 47:16 33:10
46:13 39:14 35:10 42:15 40:10 47:14 36:13 44:14 45:15 41:10 45:15 39:11 48:18 40:13 49:15 47:12
43:13 44:14 48:14 50:17 45:15 35:10 38:11 37:10 39:12 51:16 45:15 45:16 47:15 44:13 41:13 40:13
44:12 46:14 40:12 33:10 42:13 42:12 42:13 43:13 30:11 41:13 60:25 51:19 59:21 56:18 58:22 66:21
45:17 63:18 58:18 61:25 51:20 53:19 55:21 50:20 51:24 53:23 55:18 67:22 69:23 50:15 57:23 49:20
67:20 49:18 57:21 60:18 48:18 49:18 56:21 58:16 61:19 64:20 56:22 51:15 56:14 61:23 56:24 55:18
48:18 54:21 56:24 51:23 51:19 59:23 57:25 52:23 50:19 52:20 54:23 51:18
"""


def iris() -> Array:
    """Fisher's irises: petal length and width in centimetres, and the species.

    Examples
    --------
    >>> from certifit.datasets import load
    >>> columns = dict(load("iris").columns)
    >>> bool(np.array_equal(iris()[:, 0], columns["petal length (cm)"]))
    True
    """
    petals = np.array([[int(v) / 10 for v in pair.split(":")] for pair in _PETALS.split()])
    return np.column_stack([petals, np.repeat([0, 1, 2], 50)])
