"""The command line on tables in partitions: fit, verify, predict, and how it refuses."""

import pyarrow.parquet as pq
import pytest

from certifit.cli import main
from tests.scale.tables import frame, table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("big")
    t = table(0, 400, 3, "two")
    for k in range(3):
        pq.write_table(t.slice(k * 134, 134), where / f"part-{k}.parquet")
    files = [str(where / f"part-{k}.parquet") for k in (2, 0, 1)]
    options = ["--target", "y", "--model", "logistic", "--set", "C=2", "--out", str(where / "m.certifit")]
    assert main(["fit", *files, *options, "--memory", "2GB"]) == 0
    return where


def test_what_was_fitted_verifies_and_predicts(folder, capsys):
    import certifit as cf

    assert main(["verify", str(folder / "m.certifit"), str(folder / "*.parquet")]) == 0
    assert "every claim holds" in capsys.readouterr().out
    assert main(["predict", str(folder / "m.certifit"), str(folder / "*.parquet")]) == 0
    said = capsys.readouterr().out.split()[1:]
    model = cf.load(folder / "m.certifit")
    assert said == model.predict(frame(table(0, 400, 3, "two"))).tolist()[: len(said)]
    assert model.C == 2


def test_a_changed_partition_is_named_by_verify(folder, capsys):
    path = folder / "part-1.parquet"
    whole = path.read_bytes()
    pq.write_table(pq.read_table(path).slice(1), path)
    try:
        assert main(["verify", str(folder / "m.certifit"), str(folder / "*.parquet")]) == 1
        assert "part-1.parquet was changed" in capsys.readouterr().out
    finally:
        path.write_bytes(whole)


def test_refusals(folder, capsys):
    files = str(folder / "*.parquet")
    assert main(["fit", files, "--target", "y", "--model", "decision tree"]) == 2
    assert main(["fit", files, "--target", "z", "--model", "ridge"]) == 2
    assert main(["fit", files, "--model", "ridge"]) == 2
    assert main(["fit", str(folder / "none*.parquet"), "--target", "y", "--model", "ridge"]) == 1
    assert "There is no file" in capsys.readouterr().err


def test_a_model_file_is_replaced_and_a_folder_is_not(folder, capsys):
    options = [str(folder / "*.parquet"), "--target", "y", "--model", "logistic", "--memory", "2GB", "--out"]
    for _ in range(2):
        assert main(["fit", *options, str(folder / "again.certifit")]) == 0
    assert main(["fit", *options, str(folder)]) == 2
    assert "is a folder: name a file" in capsys.readouterr().err
