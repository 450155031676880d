"""The library's quick `verify` and the exact checker about the same proof files, true and forged, of every kind.

Both ways: where the library proves the stated figures, so does the checker; where the checker proves them, so does the
library, in floats or in rationals, or every step of its proof holds and only its bound is a billionth too wide (`left_open`),
or a figure is not one that it states of such evidence (an unpruned tree has no shortfall of a pruning).
The exceptions have names: fields that the checker does not read (`UNREAD`), evidence that the library declines to read because
it is not in its form, what only the library knows (`UNEQUAL`), and sums that it knows less exactly (`SUMS`). Neither ever ends
in anything but an answer.
"""

from __future__ import annotations

import copy
import math
import random

import numpy as np
import pytest

from certifit import checker
from certifit.certificates import Data
from certifit.certificates._kinds import known
from certifit.certificates._proof_file import _certificate, decoded, encoded
from certifit.certificates._record import KINDS, _prove
from certifit.certificates.sums import SumKind
from tests.proof_cases import CASES

NUMBERS = (0.0, -1.0, 1.0, 0.5, 1e-300, 1e300, math.inf, -math.inf, math.nan, 7)
WORDS = ("perfect", "", "inf", "mean", "sum", "l1", "squared")
UPPER = ("gap", "excess", "relative_gap", "mean_error", "variance_error", "shortfall", "pruning_shortfall", "sum_error",
         "error", "reassignment_gain", "centre_gain", "move_gain", "loss", "width", "residual", "gradient", "slope",
         "sigma_error", "high")  # fmt: skip
LOWER = ("bound", "margin", "low")
ABOVE = (
    "hard-margin",
    "kernel-perceptron",
    "no-margin",
    "perceptron",
    "principal-components",
    "component-sums",
)  # kinds whose bound is an upper one


def leaves(tree, path=()):
    """Every number and word in a record, by its path."""
    if isinstance(tree, (dict, list)):
        for key, inner in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from leaves(inner, (*path, key))
    else:
        yield path, tree


def put(record, path, value):
    forged = copy.deepcopy(record)
    place = forged
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return forged


def by_checker(record, table):
    try:
        checker.check(record, table, say=lambda text: None)
    except checker.Refused:
        return False
    except Exception:  # main() says NOT PROVED: not well-formed
        return False
    return True


def proofs(record, data):
    """What the library proves from the evidence of a proof file, in floats and in rationals; nothing where it is malformed."""
    certificate = _certificate(record)
    for rigor in dict.fromkeys((certificate.rigor, "exact")):
        with np.errstate(all="ignore"):
            yield _prove(KINDS[certificate.kind], data, certificate.evidence, rigor)


def by_library(record, data):
    """Whether the library proves the same figures from the same evidence."""
    try:
        proof = next(proofs(record, data))
        stated = {k: decoded(v) for k, v in record["figures"].items()}
    except Exception:
        return False
    return proof.holds and all(k in proof.figures and proof.figures[k].supports(v) for k, v in stated.items())


def left_open(figure, stated, value):
    """Whether the library's bound is off the stated one by rounding alone: by a billionth of itself, of the value, or of 1."""
    if figure.sense not in ("upper", "lower"):
        return False
    size = max(1.0, abs(figure.proved), abs(value.proved) if value else 0.0)
    return abs(figure.proved - stated) <= 1e-9 * size < math.inf


def word_of_library(record, data):
    """What the library says of the stated figures: "proved"; "open" where all steps hold, but a bound is a little wider, or a figure
    is not one that it states of such evidence; "refused"; or "declined" where it does not read the evidence."""
    words = {"refused"}
    try:
        stated = {k: decoded(v) for k, v in record["figures"].items()}
        for proof in proofs(record, data):
            if any(c.name.startswith("the evidence is complete") for c in proof.checks):
                return "declined"
            found, value = proof.figures, proof.figures.get("value")
            missed = [k for k, v in stated.items() if k in found and not found[k].supports(v)]
            if proof.holds and all(left_open(found[k], stated[k], value) for k in missed):
                words.add("open" if missed or stated.keys() - found.keys() else "proved")
    except Exception:
        return "declined"
    return next(word for word in ("proved", "open", "refused") if word in words)


GROWN = ("missing_left", "max_depth", "min_samples_split", "max_leaf_nodes", "min_impurity_decrease")
UNREAD = {
    "evidence-maximum": ("centre",),
    "finite-bayes": ("log_evidence",),
    "gaussian-counts": ("class_count",),
    "principal-components": ("mean",),
    "tree": GROWN,
    "tree-general": GROWN,
}
"""Fields of the evidence that are no part of what the checker proves: it does not read them."""

SUMS = {name for name, kind in known().items() if isinstance(kind, SumKind)}
"""Kinds of tables in partitions. The library knows their sums up to the rounding of a grid, which a checker that has the rows does not
need: it proves all that the library does, and more."""

UNEQUAL = {"perceptron": ("start_", "class_weights_")}
"""What the library proves beyond the checker, by the beginnings of the fields: perceptrons with class weights or from another start
than zero."""


def mutated(rng, record):
    """One field of the evidence, or one figure, changed; and what it was changed to."""
    found = [(p, v) for part in ("evidence", "figures") for p, v in leaves(record[part], (part,))]
    path, old = rng.choice(found)
    if isinstance(old, str) and not old.startswith(("0x", "-0x", "inf", "-inf", "nan")):
        value = rng.choice(WORDS)
    elif isinstance(old, bool) or old is None:
        value = rng.choice([True, False, None, 3])
    else:
        number = float.fromhex(old) if isinstance(old, str) else float(old)
        nearby = (-number, number * 1.001, number * 2.0, number + 1.0, np.nextafter(number, math.inf).item())
        value = rng.choice([*nearby, *NUMBERS])
        if isinstance(old, int) and math.isfinite(value):
            value = int(value)
    return put(record, path, encoded(value)), path, value


def disagreements(name, seed, forgeries, folder):
    """Where they differ about the true file, or about one changed in one place: the path, the new value, and who proves it."""
    case, rng = CASES[name](np.random.default_rng(seed)), random.Random(seed)
    record, table = case.proof(folder)
    rows, kind = Data.of(*case.data), record["kind"]
    assert by_library(record, rows)
    assert by_checker(record, table)
    for _ in range(forgeries):
        forged, path, value = mutated(rng, record)
        if path[1] in UNREAD.get(kind, ()):
            continue
        if by_checker(forged, table):
            if kind not in SUMS and word_of_library(forged, rows) == "refused":
                yield path, value, "checker"
        elif not path[1].startswith(UNEQUAL.get(kind, ())) and by_library(forged, rows):
            yield path, value, "library"


@pytest.mark.parametrize("name", CASES)
def test_the_library_and_the_checker_say_the_same(name, tmp_path):
    assert list(disagreements(name, 0, 12, tmp_path)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_library_and_the_checker_say_the_same_many_times(name, tmp_path):
    for seed in range(1, 30):
        assert list(disagreements(name, seed, 60, tmp_path)) == [], seed


@pytest.mark.parametrize("name", CASES)
def test_figures_that_say_more_than_the_truth_are_refused_by_both(name, tmp_path):
    for seed in range(1):
        case = CASES[name](np.random.default_rng(seed))
        record, table = case.proof(tmp_path)
        rows = Data.of(*case.data)
        for figure, text in record["figures"].items():
            if isinstance(text, str) and text.startswith(("0x", "-0x")):
                true = float.fromhex(text)
                above = record["kind"] in ABOVE and figure == "bound"
                above = above or (record["kind"] == "clustering" and figure == "value")
                better = -abs(true) - 1.0 if figure in UPPER or above else 2.0 * abs(true) + 1.0
                forged = put(record, ("figures", figure), better.hex())
                if figure in (*UPPER, *LOWER, "value"):
                    assert not by_checker(forged, table), (seed, figure)
                    assert not by_library(forged, rows), (seed, figure)
            elif isinstance(text, int) and not isinstance(text, bool):
                forged = put(record, ("figures", figure), text + 1)
                assert not by_checker(forged, table), (seed, figure)
                assert not by_library(forged, rows), (seed, figure)
