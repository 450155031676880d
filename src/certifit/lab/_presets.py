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


def iris() -> Array:
    """Fisher's irises: petal length and width in centimetres, and the species.

    Examples
    --------
    >>> iris().shape
    (150, 3)
    """
    from certifit.datasets import load

    table = load("iris")
    columns = dict(table.columns)
    species = np.unique(columns[table.target], return_inverse=True)[1]
    return np.column_stack([columns["petal length (cm)"], columns["petal width (cm)"], species]).astype(float)
