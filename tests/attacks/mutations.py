"""What a forger may write: changes of every field of the evidence, at every depth, and of everything else stated.

`evidence_changes` lists single changes in a fixed order; `draw` picks from them at random and combines two now
and then. Each change is a description and a function from evidence to evidence.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Change = tuple[str, Callable[[dict[str, Any]], dict[str, Any]]]
_GONE = object()


class LyingWord(str):
    """A word that equals every other."""

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return str.__hash__(self)

    def __str__(self) -> str:
        return "separable"


class LyingFloat(float):
    """A number that passes every comparison."""

    def __eq__(self, other: object) -> bool:
        return True

    def __le__(self, other: float) -> bool:
        return True

    __ge__ = __lt__ = __gt__ = __le__

    def __hash__(self) -> int:
        return 1


class LyingInt(int):
    """An integer that passes every comparison."""

    def __eq__(self, other: object) -> bool:
        return True

    def __le__(self, other: float) -> bool:
        return True

    __ge__ = __lt__ = __gt__ = __le__

    def __hash__(self) -> int:
        return 1


WORDS = ("", "separable", "touching", "overlapping", "l2", "l1", "none", "mean", "sum", "given", "uniform", "classes",
         "values", "log", "squared", "logistic", "hinge", "gini", "entropy", "squared_error", "absolute_error", "cosine",
         "euclidean", "manhattan", "chebyshev", "minkowski", "construction", "cholesky", "vector", "bernoulli",
         "multinomial", "categorical", "normal", "gamma", "poisson", "accuracy", "r2", "alpha", "lambda")  # fmt: skip


def _other_numbers(v: float) -> Iterator[tuple[str, Any]]:
    whole = isinstance(v, int)
    yield "sign", -v
    yield "zero", 0
    yield "minus zero", -0.0
    yield "one", 1
    yield "minus one", -1
    yield "a little more", v * (1 + 1e-7) + 1e-9
    yield "more", v * 1.5 + 0.1
    yield "less", v * 0.5 - 0.1
    yield "next", v + 1
    yield "previous", v - 1
    yield "scaled up", v * 1e6
    yield "scaled down", v * 1e-6
    yield "half", v + 0.5
    yield "nan", float("nan")
    yield "infinity", float("inf")
    yield "minus infinity", float("-inf")
    yield "huge", 1e308
    yield "minus huge", -1e308
    yield "tiny", 5e-324
    yield "2^63", 2**63
    yield "10^400", 10**400
    yield "lying", LyingInt(-7) if whole else LyingFloat(-7.0)
    yield "truth value", True
    yield "word", str(v)


def _other_types(v: Any) -> Iterator[tuple[str, Any]]:
    yield "none", None
    yield "list of it", [v]
    yield "empty list", []
    yield "empty dict", {}
    yield "empty word", ""
    yield "object array", np.array([None, "x"], dtype=object)


def _other_words(v: str) -> Iterator[tuple[str, Any]]:
    for word in WORDS:
        if word != v:
            yield f"word {word!r}", word
    yield "upper case", v.upper()
    yield "padded", v + " "
    yield "lying", LyingWord("no such word")
    yield "number", 1.0
    if v.startswith(("0x", "-0x")):
        yield "other hexadecimal", hex(-int(v, 16))
        yield "next hexadecimal", hex(int(v, 16) + 1)
        yield "huge hexadecimal", "0x" + "f" * 2000


def _other_arrays(v: np.ndarray) -> Iterator[tuple[str, Any]]:
    number = v.dtype.kind in "biuf"
    yield "empty", v[:0] if v.ndim else np.zeros(0)
    yield "flat", v.reshape(-1)
    yield "column", v.reshape(-1, 1)
    yield "deeper", v[None]
    yield "transposed", v.T
    yield "as list", v.tolist()
    yield "as words", v.astype(str)
    yield "as objects", v.astype(object)
    yield "scalar", v.reshape(-1)[0] if v.size else 0.0
    if v.ndim:
        yield "shorter", v[:-1]
        yield "longer", np.concatenate([v, v[-1:]])
        yield "reversed", v[::-1]
        yield "rolled", np.roll(v, 1)
        yield "sorted", np.sort(v, axis=None).reshape(v.shape) if number else v[::-1]
        yield "wider", np.concatenate([v, v[..., -1:]], axis=-1)
        yield "narrower", v[..., :-1]
    if number:
        f = v.astype(float)
        for name, factor in (
            ("sign", -1.0),
            ("double", 2.0),
            ("up", 1e6),
            ("down", 1e-6),
            ("near", 1 + 1e-6),
            ("huge", 1e300),
        ):
            yield f"all {name}", f * factor
        for name, value in (("nan", np.nan), ("inf", np.inf), ("zero", 0.0), ("one", 1.0), ("tiny", 5e-324)):
            yield f"all {name}", np.full(v.shape, value)
        yield "shifted", f + 1.0
        yield "shifted a little", f + 1e-6
        yield "as integers", np.nan_to_num(f, posinf=0, neginf=0).clip(-1e15, 1e15).astype(np.int64)
        yield "as complex", v.astype(complex)
        yield "as float32", v.astype(np.float32)
        yield "negated truth", f == 0


def _others(v: Any) -> Iterator[tuple[str, Any]]:
    """Other things that could stand where ``v`` stands."""
    if isinstance(v, np.ndarray):
        yield from _other_arrays(v)
    elif isinstance(v, bool):
        yield from (("negated", not v), ("two", 2), ("word", "no"), ("nan", float("nan")), ("list", [v]))
    elif isinstance(v, (int, float)):
        yield from _other_numbers(v)
    elif isinstance(v, str):
        yield from _other_words(v)
    elif isinstance(v, (list, tuple)):
        yield from (
            ("shorter", v[:-1]),
            ("longer", [*v, *v[-1:]]),
            ("reversed", list(v)[::-1]),
            ("nothings", [None] * len(v)),
        )
        yield "nested", [list(v)]
        yield "scrambled", list(v)[1:] + list(v)[:1]
    elif isinstance(v, dict):
        yield "more", {**v, "more": 1.0}
    yield from _other_types(v)


def _places(v: Any, at: tuple[Any, ...], rng: np.random.Generator) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every place below ``v`` (a few entries of each array), with what stands there."""
    yield at, v
    if isinstance(v, dict):
        for key, part in v.items():
            yield from _places(part, (*at, key), rng)
    elif isinstance(v, (list, tuple)):
        for i, part in enumerate(v):
            yield from _places(part, (*at, i), rng)
    elif isinstance(v, np.ndarray) and v.ndim and v.size:
        for flat in rng.choice(v.size, size=min(3, v.size), replace=False):
            index = tuple(int(i) for i in np.unravel_index(int(flat), v.shape))
            yield (*at, index), v[index].item() if hasattr(v[index], "item") else v[index]


def _put(root: Any, at: tuple[Any, ...], new: Any) -> Any:
    """A copy of ``root`` with something else at one place."""
    if not at:
        return new
    head, rest = at[0], at[1:]
    if isinstance(root, np.ndarray):
        try:
            out = np.array(root)
            with np.errstate(over="ignore"):  # 1e300 in an array of float32
                out[head] = new
            return out
        except (TypeError, ValueError, OverflowError):  # an array that can hold anything
            out = root.astype(object)
            out[head] = new if not isinstance(new, (list, dict, np.ndarray)) else None
            return out
    out = dict(root) if isinstance(root, dict) else list(root)
    if new is _GONE and not rest:
        del out[head]
    else:
        out[head] = _put(out[head], rest, new)
    return out


def _change(at: tuple[Any, ...], new: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda evidence: _put(evidence, at, copy.copy(new)) if at[0] in evidence else dict(evidence)


def evidence_changes(
    evidence: dict[str, Any], strangers: list[dict[str, Any]], rng: np.random.Generator
) -> list[Change]:
    """Single changes of evidence: values, shapes, types, missing and extra fields, fields of other certificates."""
    found: list[Change] = []
    for at, v in _places(dict(evidence), (), rng):
        if not at:
            continue
        where = ".".join(map(str, at))
        found += [(f"{where}: {name}", _change(at, new)) for name, new in _others(v)]
        if not isinstance(at[-1], tuple):
            found.append((f"{where}: gone", _change(at, _GONE)))
    for other in strangers:
        for key, value in other.items():
            found.append((f"{key}: another's", lambda e, key=key, value=value: {**e, key: value}))
        found.append(("all: another's", lambda e, other=other: dict(other)))
    return found


def draw(changes: list[Change], rng: np.random.Generator) -> Change:
    """One change, or two at once."""
    name, change = changes[rng.integers(len(changes))]
    if rng.random() < 0.3:
        more, second = changes[rng.integers(len(changes))]
        return f"{name}; {more}", lambda e: second(change(e))
    return name, change


def figure_changes(figures: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Other figures: each value in turn, one missing, one too many."""
    for key, v in figures.items():
        for name, new in _others(v):
            yield f"figure {key}: {name}", {**figures, key: new}
        yield f"figure {key}: gone", {k: w for k, w in figures.items() if k != key}
    yield "figure more", {**figures, "more": 1.0}
    yield "no figures", {}


def data_changes(X: Any, y: Any, w: Any, rng: np.random.Generator) -> Iterator[tuple[str, tuple[Any, Any, Any]]]:
    """Other data: rows moved, removed, repeated; values changed; labels permuted; weights changed."""
    rows = np.array(X, dtype=object if np.asarray(X).dtype == object else float)
    n = len(rows)
    order = rng.permutation(n)

    def take(index: Any) -> tuple[Any, Any, Any]:
        return rows[index], None if y is None else np.asarray(y)[index], None if w is None else w[index]

    yield "rows permuted", take(order)
    yield "row removed", take(np.arange(n - 1))
    yield "row repeated", take(np.append(np.arange(n), 0))
    yield "one row", take(np.arange(1))
    yield "no rows", take(np.arange(0))
    if rows.dtype != object:
        for name, new in (("nan", np.nan), ("inf", np.inf), ("huge", 1e308), ("tiny", 5e-324), ("zero", 0.0)):
            changed = rows.copy()
            changed[int(rng.integers(n)), 0] = new
            yield f"cell {name}", (changed, y, w)
        for name, changed in (("scaled", rows * 1e150), ("constant", np.ones_like(rows)), ("doubled", np.hstack([rows, rows])),
                              ("vast", rows * 1e300), ("minute", rows * 1e-300), ("narrow", rows[:, :0])):  # fmt: skip
            yield f"data {name}", (changed, y, w)
    if y is not None:
        labels = np.asarray(y)
        yield "labels permuted", (rows, labels[order], w)
        yield "labels one", (rows, np.full_like(labels, labels.flat[0]), w)
        yield "labels words", (rows, labels.astype(str), w)
        yield "labels missing", (rows, None, w)
        if labels.dtype.kind == "f":
            yield "labels huge", (rows, labels * 1e300, w)
    for name, new in (("ones", np.ones(n)), ("zeros", np.zeros(n)), ("negative", -np.ones(n)), ("uneven", rng.random(n)),
                      ("nan", np.full(n, np.nan)), ("huge", np.full(n, 1e300))):  # fmt: skip
        yield f"weights {name}", (rows, y, new)
