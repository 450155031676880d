"""Model files: what comes back is what went in; what is not sound is refused and runs nothing."""

from __future__ import annotations

import io
import json
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.pipeline import Pipeline

import certifit as cf
from certifit.files import Column, ModelFileError, Schema, TableModel, Target, from_bytes, load_foreign, to_bytes
from certifit.files._container import pack, unpack
from certifit.linear_model import LinearRegression, Ridge
from certifit.study._encoder import TableEncoder


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 5))
    return X, X @ [1.0, 2.0, 0.0, -1.0, 0.5] + rng.normal(size=40)


@pytest.fixture
def table_model(data):
    X, y = data
    names = tuple("abcde")
    schema = Schema(tuple(Column(n, "number") for n in names), Target("y", "regression"))
    encoder = TableEncoder(names, ("number",) * 5, ((),) * 5)
    pipeline = Pipeline([("table", encoder), ("model", Ridge(alpha=0.7))]).fit(X, y)
    table = {n: X[:, j] for j, n in enumerate(names)} | {"y": y}
    return TableModel(pipeline, schema, {"name": "ridge"}), table


FRESH = """
import sys, pathlib, numpy as np, certifit as cf
folder = pathlib.Path(sys.argv[1])
X = np.load(folder / "X.npy")
for path in folder.glob("*.certifit"):
    np.save(path.with_suffix(".npy"), cf.load(path).predict(X))
"""


def test_bit_for_bit_in_a_fresh_process(tmp_path, data):
    X, y = data
    np.save(tmp_path / "X.npy", X)
    models = {"ridge": Ridge(alpha=0.3), "line": LinearRegression()}
    for name, model in models.items():
        cf.save(model.fit(X, y), tmp_path / f"{name}.certifit")
    subprocess.run([sys.executable, "-c", FRESH, str(tmp_path)], check=True)
    for name, model in models.items():
        assert np.load(tmp_path / f"{name}.npy").tobytes() == model.predict(X).tobytes()


def test_certificates_travel_and_verify(tmp_path, data):
    X, y = data
    model = Ridge(alpha=0.3).fit(X, y)
    cf.save(model, tmp_path / "m")
    again = cf.load(tmp_path / "m")
    assert [c.to_dict() for c in again.certificates_] == [c.to_dict() for c in model.certificates_]
    assert cf.verify(tmp_path / "m", X, y).holds
    assert hasattr(model, "certificates_")  # saving takes nothing away from the model


def test_verify_refuses_one_changed_number_in_the_data(tmp_path, data):
    X, y = data
    cf.save(Ridge().fit(X, y), tmp_path / "m")
    for change in ("X", "y"):
        other, labels = X.copy(), y.copy()
        if change == "X":
            other[7, 2] = np.nextafter(other[7, 2], 9.0)
        else:
            labels[7] = np.nextafter(labels[7], 9.0)
        outcome = cf.verify(tmp_path / "m", other, labels)
        assert not outcome.holds
        assert not outcome.same_data


def rewritten(data, **changes):
    """The file with members replaced and every digest made right again: a careful forger's work."""
    parts, manifest = unpack(data, "t")
    parts = {name: changes.get(name.split(".")[0], content) for name, content in parts.items()}
    return pack(parts, {k: v for k, v in manifest.items() if k not in ("digests", "format")})


def test_verify_refuses_changed_coefficients_even_with_right_digests(tmp_path, data):
    X, y = data
    model = Ridge().fit(X, y)
    whole = to_bytes(model)
    model.coef_ = model.coef_ * 1.001
    forged = rewritten(whole, model=unpack(to_bytes(model), "t")[0]["model.skops"])
    (tmp_path / "m").write_bytes(forged)
    outcome = cf.verify(tmp_path / "m", X, y)
    assert not outcome.holds
    assert "coef of the model" in outcome.reason


def test_verify_refuses_a_changed_claim_even_with_right_digests(tmp_path, data):
    X, y = data
    whole = to_bytes(Ridge().fit(X, y))
    record = json.loads(unpack(whole, "t")[0]["certificates.json"])
    record[0]["figures"]["gap"] = 0.0
    (tmp_path / "m").write_bytes(rewritten(whole, certificates=json.dumps(record).encode()))
    assert not cf.verify(tmp_path / "m", X, y).holds


def test_table_model_round_trip_and_verify(tmp_path, table_model):
    model, table = table_model
    cf.save(model, tmp_path / "m")
    again = cf.load(tmp_path / "m")
    assert again.schema == model.schema
    assert again.about == {"name": "ridge"}
    assert again.predict(table).tobytes() == model.predict(table).tobytes()
    assert cf.verify(tmp_path / "m", table).holds
    table["c"] = table["c"].copy()
    table["c"][0] += 1e-9
    assert not cf.verify(tmp_path / "m", table).holds


def test_truncated_or_damaged_files_are_refused(data):
    whole = to_bytes(Ridge().fit(*data))
    for cut in np.linspace(0, len(whole) - 1, 25).astype(int):
        with pytest.raises(ModelFileError):
            from_bytes(whole[:cut])
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(60):
        broken = bytearray(whole)
        broken[rng.integers(len(whole))] ^= 1 << rng.integers(8)
        try:
            model = from_bytes(bytes(broken))
        except ModelFileError:
            refused += 1
        else:  # a bit of the zip's own bookkeeping (a time stamp, a comment): the contents are as they were
            assert model.coef_.tobytes() == from_bytes(whole).coef_.tobytes()
    assert refused > 40


def test_newer_files_are_refused_with_advice(data):
    parts, manifest = unpack(to_bytes(Ridge().fit(*data)), "t")
    whole = pack(parts, manifest | {"certifit": "9.0"})
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "manifest.json":
                content = json.dumps(json.loads(content) | {"format": 2}).encode()
            new.writestr(name, content)
    with pytest.raises(ModelFileError, match=r"newer certifit \(9.0, format 2\).*upgrade"):
        from_bytes(buffer.getvalue())


class Bomb:
    """Unpickling it writes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


def hostile_nodes():
    """Schema nodes that would call or import something if they were ever built."""
    function = {"__class__": "system", "__module__": "os", "__loader__": "FunctionNode", "__id__": 1}
    text = {
        "__class__": "str",
        "__module__": "builtins",
        "__loader__": "JsonNode",
        "content": '"touch x"',
        "is_json": True,
    }
    arguments = {"__class__": "tuple", "__module__": "builtins", "__loader__": "TupleNode", "content": [text]}
    empty = {"__class__": "dict", "__module__": "builtins", "__loader__": "DictNode", "content": {}}
    kinds = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": []}
    return [
        function,
        {
            "__class__": "Popen",
            "__module__": "subprocess",
            "__loader__": "ConstructorFromReduceNode",
            "content": arguments,
        },
        {
            "__class__": "Popen",
            "__module__": "subprocess",
            "__loader__": "ObjectNode",
            "content": empty | {"key_types": kinds},
        },
        {"__class__": "Popen", "__module__": "subprocess", "__loader__": "TypeNode"},
        {"__class__": "attrgetter", "__module__": "operator", "__loader__": "OperatorFuncNode", "attrs": arguments},
        {
            "__class__": "Ridge",
            "__module__": "certifit.linear_model._ridge",
            "__loader__": "MethodNode",
            "content": {"func": "fit", "obj": text},
        },
        {"__class__": "Study", "__module__": "certifit.study._run", "__loader__": "ObjectNode"},
    ]


@pytest.mark.parametrize("node", hostile_nodes(), ids=lambda n: n["__loader__"])
def test_hostile_nodes_are_refused_before_anything_is_built(data, node, monkeypatch):
    whole = to_bytes(Ridge().fit(*data))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("schema.json", json.dumps(node | {"protocol": 2, "_skops_version": "0.16.0"}))
    built = []
    monkeypatch.setattr(skops.io, "loads", lambda *a, **k: built.append(a))
    with pytest.raises(ModelFileError, match="not on certifit's list"):
        from_bytes(rewritten(whole, model=buffer.getvalue()))
    assert built == []


def test_a_pickle_is_refused_and_does_not_go_off(tmp_path, data):
    flag = tmp_path / "went off"
    (tmp_path / "m").write_bytes(pickle.dumps(Bomb(str(flag))))
    with pytest.raises(ModelFileError, match="not a certifit model file"):
        cf.load(tmp_path / "m")
    whole = to_bytes(Ridge().fit(*data))
    with pytest.raises(ModelFileError):
        from_bytes(rewritten(whole, model=pickle.dumps(Bomb(str(flag)))))
    assert not flag.exists()


def test_strange_zips_are_refused(data):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("hello.txt", "hi")
    with pytest.raises(ModelFileError, match="no manifest"):
        from_bytes(buffer.getvalue())
    whole = io.BytesIO(to_bytes(Ridge().fit(*data)))
    with zipfile.ZipFile(whole, "a") as archive:
        archive.writestr("extra.py", "import os")
    with pytest.raises(ModelFileError, match="does not hold the members"):
        from_bytes(whole.getvalue())


def repacked(data, change=lambda name, content: content, how=zipfile.ZIP_STORED, extra=()):
    """An archive with its members changed, packed in another way, or joined by others."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", how) as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
        for name, content in extra:
            new.writestr(name, content)
    return buffer.getvalue()


def of_arrays(make):
    return lambda name, content: make() if name.endswith(".npy") else content


def of_schema(text):
    return lambda name, content: text if name == "schema.json" else content


def of_manifest(text):
    return lambda name, content: text if name == "manifest.json" else content


def huge_array():
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": "<f8", "fortran_order": False, "shape": (10**14,)})
    return buffer.getvalue() + bytes(64)


def array_of_objects():
    buffer = io.BytesIO()
    np.save(buffer, np.array([print], dtype=object), allow_pickle=True)
    return buffer.getvalue()


DEEP = b"[" * 100_000 + b"]" * 100_000
ZEROS = bytes(100 << 20)
ATTACKS = {
    "deeply nested model": lambda whole, inner: rewritten(whole, model=repacked(inner, of_schema(DEEP))),
    "deeply nested certificates": lambda whole, inner: rewritten(whole, certificates=DEEP),
    "deeply nested table": lambda whole, inner: rewritten(whole, schema=DEEP),
    "deeply nested manifest": lambda whole, inner: repacked(whole, of_manifest(DEEP)),
    "manifest of another shape": lambda whole, inner: repacked(whole, of_manifest(b"[]")),
    "manifest without digests": lambda whole, inner: repacked(whole, of_manifest(b'{"format": 1, "digests": {}}')),
    "format below one": lambda whole, inner: repacked(whole, of_manifest(b'{"format": 0, "digests": {}}')),
    "bomb": lambda whole, inner: repacked(whole, how=zipfile.ZIP_DEFLATED, extra=[("x", ZEROS)]),
    "bomb inside the model": lambda whole, inner: rewritten(
        whole, model=repacked(inner, how=zipfile.ZIP_DEFLATED, extra=[("x.npy", ZEROS)])
    ),
    "array larger than any memory": lambda whole, inner: rewritten(whole, model=repacked(inner, of_arrays(huge_array))),
    "pickle inside an array": lambda whole, inner: rewritten(whole, model=repacked(inner, of_arrays(array_of_objects))),
    "member outside the folder": lambda whole, inner: repacked(whole, extra=[("../../evil", b"x")]),
    "unusual packing": lambda whole, inner: repacked(whole, how=zipfile.ZIP_LZMA),
    "model that is a number": lambda whole, inner: rewritten(whole, model=repacked(inner, of_schema(b"42"))),
    "no list of certificates": lambda whole, inner: rewritten(whole, certificates=b"null"),
    "half a certificate": lambda whole, inner: rewritten(whole, certificates=b'[{"kind": "magic"}]'),
    "half a table": lambda whole, inner: rewritten(whole, schema=b'{"columns": [{"name": 1}]}'),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_are_refused_in_one_sentence(data, name):
    whole = to_bytes(Ridge().fit(*data))
    forged = ATTACKS[name](whole, unpack(whole, "t")[0]["model.skops"])
    with pytest.raises(ModelFileError) as caught:
        from_bytes(forged)
    assert "\n" not in str(caught.value)


def test_a_model_without_proof_or_with_an_unknown_one_does_not_verify(tmp_path, data):
    whole = to_bytes(Ridge().fit(*data))
    record = json.loads(unpack(whole, "t")[0]["certificates.json"])
    for claims in ([], [record[0] | {"kind": "magic"}]):
        (tmp_path / "m").write_bytes(rewritten(whole, certificates=json.dumps(claims).encode()))
        assert not cf.verify(tmp_path / "m", *data).holds


def test_what_shrinks_very_well_is_no_bomb():
    from certifit.neighbors import KNeighborsRegressor

    model = KNeighborsRegressor().fit(np.zeros((30_000, 300)), np.zeros(30_000))
    assert from_bytes(to_bytes(model)).predict(np.zeros((1, 300))).tolist() == [0.0]


def test_what_is_not_ours_cannot_be_saved(data):
    from sklearn.linear_model import Ridge as Theirs

    with pytest.raises(ModelFileError, match="not on certifit's list"):
        to_bytes(Theirs().fit(*data))


def test_a_skops_file_of_scikit_learns_can_be_judged(tmp_path, data):
    from sklearn.linear_model import Ridge as Theirs

    X, y = data
    skops.io.dump(Theirs(alpha=2.0).fit(X, y), tmp_path / "theirs.skops")
    assert cf.certify(load_foreign(tmp_path / "theirs.skops"), X, y).holds
    skops.io.dump(Bomb("x").__init__, tmp_path / "bad.skops")
    with pytest.raises(ModelFileError, match="nothing was run"):
        load_foreign(tmp_path / "bad.skops")


def test_equal_models_give_equal_files(data):
    assert to_bytes(Ridge().fit(*data)) != b""
    first, second = unpack(to_bytes(Ridge().fit(*data)), "a"), unpack(to_bytes(Ridge().fit(*data)), "b")
    assert first[0]["certificates.json"] == second[0]["certificates.json"]


LEAN = """
import sys
from certifit.files import to_bytes
from certifit.linear_model import Ridge
to_bytes(Ridge().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.5]))
assert not {"dask", "torch", "cupy"} & set(sys.modules)
assert None not in sys.modules.values()
from skops.io._trusted_types import SKLEARN_ESTIMATOR_TYPE_NAMES as names
assert len(names) > 150, len(names)
if __import__("importlib.util").util.find_spec("dask"):
    import sklearn.externals.array_api_compat.dask
"""


def test_saving_loads_no_other_array_library():
    """skops looks into all of scikit-learn, whose helpers for dask and torch would load these."""
    subprocess.run([sys.executable, "-c", LEAN], check=True)
