"""What an exercise is, how answers are marked, and how exercises are found.

An exercise is a function of a random generator in a file of its own: the docstring is its title and statement, and it
returns data, a marker and a hint. Two markers cover most needs: `numbers` compares figures with their definition and
knows the values that usual mistakes lead to; `judged` asks for a certificate, so that no solution has to be
written down.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from certifit import _notebook
from certifit._types import Array
from certifit.certificates import Certificate
from certifit.judge import Diagnosis


@dataclass(frozen=True)
class Verdict:
    """What `Exercise.check` says.

    Attributes
    ----------
    right : bool
    sentence : str
        The verdict in words.
    hint : str
        What to look at; empty for a right answer.
    diagnosis : Diagnosis or None
        For answers that a certificate judges: slips under which the answer would be optimal.

    Examples
    --------
    >>> print(Verdict(True, "All figures are right."))
    Right. All figures are right.
    """

    right: bool
    sentence: str
    hint: str = ""
    diagnosis: Diagnosis | None = None

    def __bool__(self) -> bool:
        return self.right

    def __str__(self) -> str:
        head = f"{'Right' if self.right else 'Not yet'}. {self.sentence}"
        return f"{head}\nHint: {self.hint}" if self.hint else head

    def _repr_html_(self) -> str:
        colour = "#2e9e5b" if self.right else "#d1493f"
        mark = f'<b style="color:{colour}">{"✓" if self.right else "✗"}</b> '
        return mark + _notebook.card(str(self))


Answer = Mapping[str, Any]
Marker = Callable[[Answer], Verdict]


@dataclass(frozen=True)
class Exercise:
    """Data, statement and marker of one exercise for one student.

    Attributes
    ----------
    name, topic, title, statement : str
    data : dict
        What is given, by the symbols of the statement.
    asks : dict
        The parts of the answer and what each of them is.
    hint : str
        The hint for a wrong answer that no common mistake explains.
    mark : callable
        From the parts of an answer to a `Verdict`; `check` calls it.
    seed : int
        The student's number: data differ from seed to seed.

    Examples
    --------
    >>> task = load("information-gain", seed=7)
    >>> sorted(task.asks)
    ['entropy', 'gain']
    >>> task.check(entropy=0.0, gain=0.0).right
    False
    """

    name: str
    topic: str
    title: str
    statement: str
    data: dict[str, Any]
    asks: dict[str, str]
    hint: str
    seed: int = 0
    mark: Marker = field(repr=False, default_factory=lambda: numbers({}))

    def check(self, answer: Answer | None = None, **parts: Any) -> Verdict:
        """Mark an answer.

        Parameters
        ----------
        answer : mapping, default=None
            The parts of the answer by name.
        **parts :
            The same, as arguments.

        Returns
        -------
        Verdict
        """
        given = {**(answer or {}), **parts}
        missing = [name for name in self.asks if name not in given]
        unknown = [name for name in given if name not in self.asks]
        if missing or unknown:
            wanted = ", ".join(f"{name} ({what})" for name, what in self.asks.items())
            return Verdict(False, f"The answer has these parts: {wanted}.", self.hint)
        try:
            verdict = self.mark(given)
        except (ValueError, TypeError) as error:
            return Verdict(False, f"The answer cannot be read: {error}", self.hint)
        if verdict.right or verdict.hint:
            return verdict
        return Verdict(False, verdict.sentence, self.hint, verdict.diagnosis)

    def __str__(self) -> str:
        lines = [f"{self.title} ({self.topic})", "", self.statement, "", "Given:"]
        lines += [f"  {name} = {shown(value)}" for name, value in self.data.items()]
        lines += ["", "Answer with:", *(f"  {name}: {what}" for name, what in self.asks.items())]
        return "\n".join(lines)


def shown(value: object) -> str:
    """A given as Python would read it back."""
    return repr(value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value)


# markers


def numbers(expected: Answer, slips: Mapping[str, Answer] | None = None, rtol: float = 2e-3) -> Marker:
    """A marker that compares figures with what they should be, part by part.

    Parameters
    ----------
    expected : mapping
        The right value of every part: numbers, arrays or words.
    slips : mapping, default=None
        What to say, and the parts as they come out after that slip.
    rtol : float > 0, default=2e-3
        Rounding that is allowed: three digits are enough.

    Examples
    --------
    >>> mark = numbers({"mean": 2.5}, {"Did you divide by n − 1?": {"mean": 3.333}})
    >>> mark({"mean": 2.501}).right, mark({"mean": 3.33}).hint
    (True, 'Did you divide by n − 1?')
    """

    def mark(answer: Answer) -> Verdict:
        wrong = [name for name, value in expected.items() if not same(answer[name], value, rtol)]
        if not wrong:
            return Verdict(True, "All parts are right.")
        for question, values in (slips or {}).items():
            if all(same(answer[name], value, rtol) for name, value in values.items()):
                return Verdict(False, f"{_listed(wrong)} not right.", question)
        return Verdict(False, f"{_listed(wrong)} not right.")

    return mark


def _listed(names: list[str]) -> str:
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'}"


def same(given: object, value: object, rtol: float = 2e-3) -> bool:
    """Whether a part of an answer agrees: words and labels exactly, numbers up to rounding."""
    if isinstance(value, str):
        return str(given).strip().lower() == value.lower()
    try:
        a, b = np.asarray(given, dtype=float), np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return False
    scale = float(np.max(np.abs(b), initial=0.0)) or 1.0
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= rtol * scale))


def judged(certify: Callable[..., Certificate], X: Array, y: Array | None = None, tol: float = 1e-4) -> Marker:
    """A marker that proves how far an answer is from the best possible one; no solution is needed.

    Parameters
    ----------
    certify : callable
        From the parts of the answer, as arguments, to a certificate.
    X, y : array
        What the certificate speaks about.
    tol : float > 0, default=1e-4
        The relative gap up to which an answer is right.

    Examples
    --------
    >>> import certifit as cf
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0])
    >>> mark = judged(lambda w, b: cf.certify_coefficients(w, b, X, y, loss="squared", lam=0.0), X, y)
    >>> mark({"w": [2.0], "b": 1.0}).right, mark({"w": [1.0], "b": 1.0}).right
    (True, False)
    """

    def mark(answer: Answer) -> Verdict:
        certificate = certify(**answer)
        found = certificate.diagnose(X, y, tol=tol)
        if found.right:
            return Verdict(True, certificate.claim, diagnosis=found)
        hint = found[0].sentence if found else ""
        return Verdict(False, certificate.claim, hint, found)

    return mark


# finding exercises

_Maker = Callable[[np.random.Generator], dict[str, Any]]
_MAKERS: dict[str, tuple[str, _Maker]] = {}


def exercise(name: str, topic: str) -> Callable[[_Maker], _Maker]:
    """Decorator: make a function known as an exercise.

    The function takes a random generator and returns ``data``, ``asks``, ``mark`` and ``hint``; its docstring is the
    title and, after an empty line, the statement.

    Parameters
    ----------
    name, topic : str

    Examples
    --------
    >>> @exercise("twice", "arithmetic")
    ... def twice(rng):
    ...     '''Twice a number.
    ...
    ...     What is 2x?
    ...     '''
    ...     x = int(rng.integers(1, 10))
    ...     mark = numbers({"y": 2 * x})
    ...     return {"data": {"x": x}, "asks": {"y": "a number"}, "mark": mark, "hint": "Add x to itself."}
    >>> load("twice").check(y=0).hint
    'Add x to itself.'
    >>> _ = _MAKERS.pop("twice")
    """

    def known(make: _Maker) -> _Maker:
        if not make.__doc__:
            raise ValueError(f"The exercise {name!r} needs a docstring: a title, an empty line and a statement.")
        _MAKERS[name] = (topic, make)
        return make

    return known


def names() -> list[str]:
    """Names of all exercises, topic by topic.

    Examples
    --------
    >>> "ridge-by-hand" in names()
    True
    """
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if not module.name.startswith("_"):
            importlib.import_module(f"certifit.exercises.{module.name}")
    return sorted(_MAKERS, key=lambda n: (_MAKERS[n][0], n))


def load(name: str, seed: int = 0) -> Exercise:
    """An exercise by its name, or from a file of your own.

    Parameters
    ----------
    name : str
        One of `names`, or the path of a Python file that defines one exercise.
    seed : int, default=0
        Data differ from seed to seed: give each student one.

    Returns
    -------
    Exercise

    Examples
    --------
    >>> print(load("confusion-figures", seed=1).title)
    Figures of a confusion matrix
    """
    if name.endswith(".py"):
        name = _own(Path(name))
    if name not in names():
        raise ValueError(f"There is no exercise {name!r}; there are: {', '.join(names())}.")
    topic, make = _MAKERS[name]
    title, _, statement = inspect.cleandoc(make.__doc__ or "").partition("\n")
    made = make(np.random.default_rng([seed, zlib.crc32(name.encode())]))
    return Exercise(name, topic, title.rstrip("."), statement.strip(), seed=seed, **made)


def _own(path: Path) -> str:
    """Run a lecturer's file and return the name of the exercise that it defines."""
    spec = importlib.util.spec_from_file_location(f"exercise_{path.stem}", path)
    if spec is None or spec.loader is None or not path.exists():
        raise ValueError(f"There is no file {path}.")
    before = dict(_MAKERS)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    new = [name for name, maker in _MAKERS.items() if before.get(name) is not maker]
    if len(new) != 1:
        raise ValueError(f"{path} must define one exercise, and defines {len(new)}.")
    return new[0]
