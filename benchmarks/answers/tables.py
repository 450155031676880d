"""About thirty small data sets, most of them odd in one way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

__all__ = ["Table", "tables"]


@dataclass(frozen=True)
class Table:
    """Rows and targets. ``task``: "numbers", "targets" (several), "counts", "two" or "many" classes, "codes"."""

    name: str
    task: str
    X: Any
    y: Any
    weight: Any = None


def _line(X: Any, seed: int, noise: float = 0.5) -> Any:
    """A linear target with noise."""
    rng = np.random.default_rng(seed)
    return X @ rng.normal(size=X.shape[1]) + 2.0 + noise * rng.normal(size=len(X))


def _regression() -> list[Table]:
    rng = np.random.default_rng(1)
    tall = rng.normal(size=(80, 4))
    wide = rng.normal(size=(20, 35))
    low = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 7))
    twin = np.column_stack([tall[:, 0], tall[:, 0] * (1 + 1e-9), tall[:, 1]])
    flat = np.column_stack([tall[:, :2], np.full(80, 3.0), np.zeros(80)])
    again = np.repeat(tall[:20], 3, axis=0)
    scales = tall * np.array([1e-8, 1.0, 1e8, 1e3])
    whole = rng.integers(-5, 6, size=(50, 4))
    holes = scipy.sparse.random(60, 12, density=0.2, random_state=3, format="csr")
    weight = rng.uniform(0.0, 3.0, 80)
    weight[:5] = 0.0
    counts = rng.poisson(np.exp(0.5 * tall[:, 0] - 0.3 * tall[:, 1] + 0.4)).astype(float)
    two = np.column_stack([_line(tall, 5), _line(tall, 6)])
    tail = tall.copy()
    tail[0] *= 40.0
    return [
        Table("tall", "numbers", tall, _line(tall, 2)),
        Table("wide", "numbers", wide, _line(wide, 3)),
        Table("rank-deficient", "numbers", low, _line(low, 4)),
        Table("collinear", "numbers", twin, _line(twin, 5)),
        Table("constant-columns", "numbers", flat, _line(flat, 6)),
        Table("duplicate-rows", "numbers", again, _line(again, 7)),
        Table("unlike-scales", "numbers", scales, _line(tall, 8)),
        Table("tiny", "numbers", tall * 1e-8, _line(tall, 9)),
        Table("huge", "numbers", tall * 1e8, _line(tall, 10) * 1e8),
        Table("far-from-zero", "numbers", tall + 1e5, _line(tall, 11)),
        Table("float32", "numbers", tall.astype(np.float32), _line(tall, 12).astype(np.float32)),
        Table("integers", "numbers", whole, np.round(_line(whole, 13)).astype(int)),
        Table("sparse", "numbers", holes, _line(holes.toarray(), 14)),
        Table("weighted", "numbers", tall, _line(tall, 15), weight),
        Table("exact-line", "numbers", tall, _line(tall, 16, noise=0.0)),
        Table("constant-target", "numbers", tall, np.full(80, 1.5)),
        Table("outlier", "numbers", tail, _line(tail, 17)),
        Table("one-column", "numbers", tall[:12, :1], _line(tall[:12, :1], 18)),
        Table("two-targets", "targets", tall, two),
        Table("counts", "counts", tall, counts),
        Table("counts-weighted", "counts", tall, counts, weight),
    ]


def _classification() -> list[Table]:
    rng = np.random.default_rng(20)
    X = rng.normal(size=(60, 3))
    noisy = (X[:, 0] + 0.8 * rng.normal(size=60) > 0).astype(int)
    apart = (X[:, 0] > 0).astype(int)
    gap = X.copy()
    gap[:, 0] += np.where(apart == 1, 1.0, -1.0)
    touch = np.array([[0, 0], [1, 0], [2, 0], [1, 0], [3, 0], [0, 1], [2, 1], [1, -1.0]] * 3)
    touched = np.array([0, 0, 1, 1, 1, 0, 1, 0] * 3)
    xor = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]] * 5)
    wide = rng.normal(size=(24, 40))
    three = np.argmax(X + 0.7 * rng.normal(size=X.shape), axis=1)
    words = np.array(["elm", "oak", "ash"])[three]
    rare = (X[:, 0] > 1.3).astype(int)
    whole = rng.integers(0, 4, size=(50, 4))
    holes = scipy.sparse.random(60, 10, density=0.3, random_state=3, format="csr")
    weight = rng.uniform(0.0, 3.0, 60)
    weight[:4] = 0.0
    return [
        Table("overlapping", "two", X, noisy),
        Table("separable", "two", gap, apart),
        Table("touching", "two", touch, touched),
        Table("xor", "two", xor, np.array([0, 1, 1, 0] * 5)),
        Table("wide-classes", "two", wide, (wide[:, 0] > 0).astype(int)),
        Table("string-labels", "two", X, np.array(["no", "yes"])[noisy]),
        Table("rare", "two", X, rare),
        Table("weighted-classes", "two", X, noisy, weight),
        Table("float32-classes", "two", X.astype(np.float32), noisy),
        Table("tiny-classes", "two", X * 1e-8, noisy),
        Table("huge-classes", "two", X * 1e8, noisy),
        Table("integer-classes", "two", whole, (whole[:, 0] + whole[:, 1] > 3).astype(int)),
        Table("sparse-classes", "two", holes, (holes[:, 0].toarray()[:, 0] + 0.3 * X[:, 0] > 0.1).astype(int)),
        Table("three-classes", "many", X, three),
        Table("three-words", "many", X, words),
        Table("three-weighted", "many", X, three, weight),
        Table("codes", "codes", whole, (whole[:, 0] + rng.integers(0, 3, 50) > 3).astype(int)),
        Table("codes-three", "codes", whole, whole[:, 0] % 3),
    ]


def _frames() -> list[Table]:
    """A table of mixed types, as a data frame, for the models that take one."""
    import pandas as pd

    rng = np.random.default_rng(30)
    colour = rng.choice(["red", "green", "blue"], 60)
    size = rng.normal(size=60)
    frame = pd.DataFrame({"size": size, "colour": pd.Categorical(colour), "old": rng.random(60) > 0.5})
    return [Table("mixed", "mixed", frame, ((colour == "red") ^ (size > 0.4)).astype(int))]


def tables(tasks: tuple[str, ...], among: tuple[str, ...] = ()) -> list[Table]:
    """The data sets of these tasks (and of these names, if any are given), made anew at each call."""
    made = [*_regression(), *_classification(), *_frames()]
    return [t for t in made if t.task in tasks and (not among or t.name in among)]
