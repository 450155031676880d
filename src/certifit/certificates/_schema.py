"""What evidence must look like before a proof is tried: each kind lists its fields, and the form of each.

Evidence comes from anybody. A word where a number belongs, a fraction where a row number belongs, a field that the kind
does not know: each is rejected here, once for all kinds, so that the proofs can rely on types. What the values *mean*
is for the proofs to check.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from certifit._types import Array
from certifit.certificates._data import Evidence

# "sklearn LogisticRegression(lbfgs)": a library, a class and its solver, not a sentence.
_MODEL = re.compile(r"[\w.+-]+( [\w.+-]+){0,2}(\([\w-]+\))?( by its own objective, which penalises the offset)?")
_NUMBERED = re.compile(r"(.+_)\d+")


@dataclass(frozen=True)
class Form:
    """A form of a field: a description for the refusal, and the test."""

    says: str
    fits: Callable[[Any], bool]


def _real(v: object) -> Array | None:
    """Real numbers (in any nesting of lists, or one alone) as an array; None for anything else."""
    if isinstance(v, (bool, str, Mapping)) or v is None:
        return None
    try:
        array = np.asarray(v)
    except ValueError:  # lists of unequal lengths
        return None
    if array.size == 0 and array.dtype.kind == "f":
        return array
    return array if array.dtype.kind in "iuf" and not _has_truth(v) else None


def _has_truth(v: object) -> bool:
    """Whether a list holds true or false, which NumPy counts as one and zero."""
    return isinstance(v, bool) or (isinstance(v, (list, tuple)) and any(map(_has_truth, v)))


def _all(test: Callable[[Array], Any]) -> Callable[[Any], bool]:
    def fits(v: object) -> bool:
        array = _real(v)
        return array is not None and bool(np.all(test(array)))

    return fits


def _is_flags(v: object) -> bool:
    array = np.asarray(v)
    return array.dtype.kind == "b" or (array.dtype.kind in "iuf" and bool(np.all((array == 0) | (array == 1))))


def _is_labels(v: object) -> bool:
    """Class names or answers: numbers or words, one after another."""
    if not isinstance(v, (list, tuple, np.ndarray)):
        return False
    flat = v.ravel().tolist() if isinstance(v, np.ndarray) else list(v)
    return all(isinstance(x, (bool, int, float, str)) for x in flat)


FINITE = Form("finite numbers", _all(np.isfinite))
NUMBERS = Form("numbers", _all(lambda a: ~np.isnan(a)))
LOGARITHMS = Form("logarithms of probabilities", _all(lambda a: a <= 0.0))
WHOLE = Form("integers", _all(lambda a: np.isfinite(a) & (a == np.rint(a))))
NUMBER = Form("a finite number", lambda v: isinstance(v, (int, float)) and FINITE.fits(v))
FLAG = Form("true or false", lambda v: isinstance(v, bool))
FLAGS = Form("truth values", _is_flags)
TRUTHS = Form("true or false for each", lambda v: np.asarray(v).dtype.kind == "b")
LABELS = Form("names of classes or answers", _is_labels)
TEXT = Form("a word", lambda v: isinstance(v, str))
MODEL = Form("the name of a model", lambda v: isinstance(v, str) and len(v) <= 120 and bool(_MODEL.fullmatch(v)))
RECORD = Form("a record", lambda v: isinstance(v, (list, Mapping)))
LISTS = Form("lists", lambda v: isinstance(v, list))
INTEGERS = Form("numbers, or integers as hexadecimal words",
                lambda v: FINITE.fits(v) or (isinstance(v, list) and all(isinstance(x, str) for x in v)))  # fmt: skip


def word(*known: str) -> Form:
    """One of these words."""
    return Form(f"one of {', '.join(known)}", lambda v: isinstance(v, str) and v in known)


def check_form(evidence: Evidence, needs: Mapping[str, Form], may: Mapping[str, Form]) -> None:
    """ValueError unless every needed field is there and every field is known and of its form.

    A name that ends in ``_*`` stands for numbered fields (``weights_0``, ``weights_1``).

    Examples
    --------
    >>> check_form({"level": 0.95}, {"level": NUMBER}, {})
    >>> check_form({"level": "0.95"}, {"level": NUMBER}, {})
    Traceback (most recent call last):
    ValueError: the field 'level' holds a finite number, not '0.95'
    """
    missing = [name for name in needs if not name.endswith("*") and name not in evidence]
    if missing:
        raise ValueError(f"the field {missing[0]!r} is missing")
    known = {**needs, **may}
    for name, value in evidence.items():
        numbered = _NUMBERED.fullmatch(name)
        form = known.get(name) or (known.get(f"{numbered[1]}*") if numbered else None)
        if form is None:
            raise ValueError(f"the field {name!r} is not known to this kind")
        if not form.fits(value):
            raise ValueError(f"the field {name!r} holds {form.says}, not {str(value)[:40]!r}")
