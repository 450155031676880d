"""The Dask engine on two processes: the bits of one process, for files, data frames and arrays."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from certifit import scale
from certifit.linear_model import Ridge
from tests.scale.tables import arrays, assert_same, partitioned, table

distributed = pytest.importorskip("distributed")


def files(t: pa.Table, folder, parts: int) -> list[str]:
    """The table in so many Parquet files, listed in another order."""
    paths = []
    for k, piece in enumerate(np.array_split(np.arange(t.num_rows), parts)):
        paths.append(str(folder / f"part-{k}.parquet"))
        pq.write_table(t.take(pa.array(piece)), paths[-1])
    return paths[::-1]


def test_files_frames_and_arrays_give_the_bits_of_one_process(client, tmp_path):
    import dask.array
    import dask.dataframe

    t = table(5)
    X, y = arrays(t)
    here = scale.fit(Ridge(), partitioned(t, 3), target="y", engine="serial")
    there = scale.fit(Ridge(), files(t, tmp_path, 7), target="y", engine=client)
    frame = scale.fit(Ridge(), dask.dataframe.from_pandas(t.to_pandas(), npartitions=4), target="y", engine=client)
    assert_same([here, there, frame])
    array = dask.array.from_array(np.column_stack([X, y]), chunks=(20, 2))
    model = scale.fit(Ridge(), array, target="x4", engine=client)
    assert np.array_equal(model.coef_, here.coef_)
    assert scale.verify(there, files(t, tmp_path, 7), target="y", engine=client).holds


def test_a_changed_partition_is_named_there_too(client, tmp_path):
    t = table(6)
    paths = files(t, tmp_path, 5)
    model = scale.fit(Ridge(), paths, target="y", engine=client)
    assert model.certificate_.holds
    pq.write_table(pq.read_table(paths[1]).slice(1), paths[1])
    answer = scale.verify(model, paths, engine=client)
    assert not answer.holds
    assert answer.checks[0].figure == f"{paths[1]} was changed"


def test_predictions_and_samples_of_collections_are_those_of_the_table(client):
    import dask.dataframe

    t = table(7)
    model = scale.fit(Ridge(), t, target="y", engine="serial")
    there = dask.dataframe.from_pandas(t.to_pandas(), npartitions=4)
    assert np.array_equal(scale.predict(model, there, engine=client), scale.predict(model, t, engine="serial"))
    drawn = [scale.sample(source, rows=9, engine=engine) for source, engine in ((there, client), (t, "serial"))]
    assert drawn[0].equals(drawn[1])
