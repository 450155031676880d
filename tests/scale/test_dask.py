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
