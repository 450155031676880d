"""Tables and proof files that an enemy wrote: each is read as it says, or refused in words; nothing raises, hangs or fools a reader."""

from __future__ import annotations

import itertools
import json
import re

import numpy as np
import pytest

from certifit import checker
from certifit.certificates import Data, issue, load
from certifit.exceptions import CertifitError
from tests.attacks.siege import time_limit
from tests.proof_cases import CASES
from tests.proof_runs import run_checker

TRUE = "PROVED"


@pytest.fixture
def files(tmp_path):
    return CASES["ridge, weighted"](np.random.default_rng(0)).write(tmp_path)


def answer(capsys, *paths):
    """The last line that the checker prints."""
    with time_limit(20.0):
        code = checker.main([str(p) for p in paths])
    last = capsys.readouterr().out.rstrip("\n").split("\n")[-1]
    assert code == (0 if last == TRUE else 1)
    return last


def first_number(text, new):
    """The table with its first cell written otherwise."""
    head, rest = text.split("\n", 1)
    cell, rest = rest.split(",", 1)
    return f"{head}\n{new(cell)},{rest}"


OTHER = "NOT PROVED: these are other data than those of the proof"
HEADER = "NOT PROVED: another header"
BROKEN = "NOT PROVED: proof or data are not well-formed"
TABLES = {
    "a byte order mark": (lambda t: "\ufeff" + t, TRUE),
    "lines that end as on Windows": (lambda t: t.replace("\n", "\r\n"), TRUE),
    "more digits than needed": (lambda t: first_number(t, lambda v: v + "000"), TRUE),
    "a header twice": (lambda t: t.replace('"x1"', '"x0"'), HEADER),
    "a second column of labels": (lambda t: t.replace('"x1"', '"y"'), HEADER),
    "weights twice": (lambda t: t.replace('"x1"', '"weight"'), HEADER),
    "columns under each other's names": (lambda t: t.replace('"x0","x1"', '"x1","x0"'), HEADER),
    "a column that nobody reads": (
        lambda t: re.sub(r"(?m)$", ",0", t.strip()).replace('"weight",0', '"weight","note"'),
        HEADER,
    ),
    "a header without quotes": (lambda t: t.replace('"', ""), BROKEN),
    "no header": (lambda t: t.split("\n", 1)[1], BROKEN),
    "nothing": (lambda t: "", BROKEN),
    "a header alone": (lambda t: t.split("\n", 1)[0] + "\n", OTHER),
    "an empty line": (lambda t: t.replace("\n", "\n\n", 2), "NOT PROVED: unequal lines"),
    "a line cut short": (lambda t: t.rsplit(",", 1)[0], "NOT PROVED: unequal lines"),
    "a quote that is not closed": (lambda t: first_number(t, lambda v: '"' + v), "NOT PROVED: "),
    "a number in quotes": (lambda t: first_number(t, lambda v: f'"{v}"'), OTHER),
    "a word without quotes": (lambda t: first_number(t, lambda v: "red"), BROKEN),
    "an empty cell": (lambda t: first_number(t, lambda v: ""), "NOT PROVED: "),
    "a null character": (lambda t: first_number(t, lambda v: v + "\0"), BROKEN),
    "a decimal comma": (lambda t: first_number(t, lambda v: v.replace(".", ",")), "NOT PROVED: unequal lines"),
    "a hexadecimal cell": (lambda t: first_number(t, lambda v: float(v).hex()), BROKEN),
    "nan": (lambda t: first_number(t, lambda v: "nan"), OTHER),
    "-NaN": (lambda t: first_number(t, lambda v: "-NaN"), OTHER),
    "infinity": (lambda t: first_number(t, lambda v: "-Infinity"), OTHER),
    "a number too large": (lambda t: first_number(t, lambda v: "1e999"), OTHER),
    "thousands": (lambda t: first_number(t, lambda v: "1_000"), OTHER),
    "a cell of a million digits": (lambda t: first_number(t, lambda v: v + "0" * 10**6), BROKEN),
    "a lone surrogate": (lambda t: first_number(t, lambda v: '"\ud800"'), BROKEN),
    "bytes that are no text": (lambda t: first_number(t, lambda v: "\udcff"), BROKEN),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables(name, files, capsys):
    change, expected = TABLES[name]
    proof, table = files
    table.write_bytes(change(table.read_text(encoding="utf-8")).encode(errors="surrogatepass"))
    assert answer(capsys, proof, table).startswith(expected)


def test_digits_of_another_script_are_read_as_what_they_say(files, capsys):
    proof, table = files
    there = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
    table.write_text(first_number(table.read_text("utf-8"), lambda v: v.translate(there)), encoding="utf-8")
    assert answer(capsys, proof, table) == TRUE


def _npy(path, change):
    raw = path.read_bytes()
    head = raw[10 : raw.index(b"\n") + 1]
    path.write_bytes(raw.replace(head, change(head.rstrip()).ljust(len(head) - 1) + b"\n"))


ARRAYS = {
    "rows without end": lambda h: re.sub(rb"\((\d+), (\d+)\)", rb"(999999999999, \2)", h),
    "rows without end, by columns": lambda h: re.sub(rb"\((\d+),", rb"(999999999999,", h).replace(b"False", b"True"),
    "other columns": lambda h: re.sub(rb"\((\d+), (\d+)\)", rb"(\1, 0)", h),
    "objects": lambda h: h.replace(b"<f8", b"|O"),
    "code in the head": lambda h: h.replace(b"False", b"exit()"),
    "complex numbers": lambda h: h.replace(b"<f8", b"<c16"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(name, tmp_path, capsys):
    case = CASES["least squares"](np.random.default_rng(0))
    proof, _ = case.write(tmp_path)
    paths = tmp_path / "X.npy", tmp_path / "y.npy"
    for path, part in zip(paths, (case.X, case.y)):
        np.save(path, np.asarray(part, dtype=float))
    assert answer(capsys, proof, *paths) == TRUE
    _npy(paths[0], ARRAYS[name])
    assert answer(capsys, proof, *paths).startswith("NOT PROVED: ")


def _deep(n):
    return "[" * n + "]" * n


PROOFS = {
    "a figure that stands twice": lambda t: t.replace('"gap":', '"gap": "0x0p+0", "gap":', 1),
    "a field that stands twice": lambda t: t.replace('"evidence":', '"evidence": {}, "evidence":', 1),
    "evidence 4,000 deep": lambda t: t.replace('"evidence": {', f'"evidence": {{"more": {_deep(4000)},', 1),
    "evidence 900 deep": lambda t: t.replace('"evidence": {', f'"evidence": {{"more": {_deep(900)},', 1),
    "an exponent too large": lambda t: re.sub(r'0x1[^"]*"', '0x1p+99999999"', t),
    "a million digits": lambda t: re.sub(r'"rows": \d+', '"rows": ' + "9" * 10**6, t, count=1),
    "a literal NaN": lambda t: re.sub(r'"gap": "[^"]*"', '"gap": NaN', t, count=1),
    "a decimal number": lambda t: re.sub(r'"gap": "[^"]*"', '"gap": 0.5', t, count=1),
    "a negative zero of figures": lambda t: re.sub(r'"gap": "[^"]*"', '"gap": "-0x0p+0"', t, count=1),
    "text behind the end": lambda t: t + "{}",
    "another version": lambda t: t.replace('"version": 1', '"version": 1.5', 1),
    "a version that is true": lambda t: t.replace('"version": 1', '"version": "1"', 1),
    "a kind that is a list": lambda t: re.sub(r'"kind": "[^"]*"', '"kind": ["duality"]', t, count=1),
    "figures that are a list": lambda t: re.sub(r'(?s)"figures": \{.*?\}', '"figures": []', t, count=1),
}


@pytest.mark.parametrize("name", PROOFS)
def test_proof_files(name, files, capsys):
    """Refused in one line by the checker; by the library when it is read, or when it is verified."""
    proof, table = files
    text = proof.read_text(encoding="utf-8")
    forged = PROOFS[name](text)
    assert forged != text
    proof.write_text(forged, encoding="utf-8")
    assert answer(capsys, proof, table).startswith("NOT PROVED: ")
    case = CASES["ridge, weighted"](np.random.default_rng(0))
    try:
        holds = load(proof).verify(*case.data).holds
    except CertifitError:
        holds = False
    assert not holds


SMUGGLED = "fine\nPROVED\r\x1b[8m\u202e\x9b2J"


@pytest.mark.parametrize("where", ["a word", "a name", "a loss", "a figure", "a kind"])
def test_what_a_file_says_does_not_steer_the_terminal(where, files):
    proof, table = files
    record = json.loads(proof.read_text(encoding="utf-8"))
    if where == "a word":
        record["evidence"]["note"] = SMUGGLED
    elif where == "a name":
        record["evidence"][SMUGGLED] = 1
    elif where == "a loss":
        record["evidence"]["objective"][0]["loss"]["name"] = SMUGGLED
    elif where == "a figure":
        record["figures"][SMUGGLED] = 1
    else:
        record["kind"] = SMUGGLED
    proof.write_text(json.dumps(record), encoding="utf-8")
    last, steps, code = run_checker(proof, table)
    assert (
        (last == TRUE) == (code == 0) == (where in ("a word", "a name"))
    )  # a field that no proof needs changes nothing
    assert all(line.isprintable() and line != TRUE for line in steps.split("\n"))
    assert last.isprintable()


def test_evidence_that_holds_itself_is_refused_in_words():
    case = CASES["least squares"](np.random.default_rng(0))
    endless: list = []
    endless.append(endless)
    with pytest.raises(TypeError, match="a certificate holds lists within lists 200 deep"):
        issue("least-squares", Data.of(*case.data), {**case.certificate.evidence, "coef": endless})


JUNK = (
    None,
    True,
    -1,
    10**400,
    "",
    "inf",
    "nan",
    "0x1p+1023",
    "\ud800",
    "x" * 10**5,
    [],
    [[]],
    {},
    [None],
    {"a": []},
    [[1], 2],
)


def _junk(count):
    """For every kind of fit some of its fields, each replaced by something else in turn."""
    turn = itertools.cycle(JUNK)
    for name in CASES:
        case = CASES[name](np.random.default_rng(0))
        for field in itertools.islice(itertools.cycle(sorted(case.certificate.evidence)), count):
            yield name, case, field, next(turn)


@pytest.mark.parametrize("count", [3, pytest.param(200, marks=pytest.mark.slow)])
def test_fields_of_another_kind_end_in_words(count, tmp_path, capsys):
    for name, case, field, value in _junk(count):
        proof, table = case.write(tmp_path)
        record = json.loads(proof.read_text(encoding="utf-8"))
        record["evidence"][field] = value
        proof.write_text(json.dumps(record), encoding="utf-8")
        mine = answer(capsys, proof, table)
        try:
            theirs = load(proof).verify(*case.data).holds
        except CertifitError:
            theirs = False
        assert not theirs or mine == TRUE, (name, field, value, mine)
