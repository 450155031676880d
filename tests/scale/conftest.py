"""Engines that are started once for all tests of `certifit.scale`."""

import pytest

from certifit.scale import Local


@pytest.fixture(scope="session")
def processes():
    """Two processes of this machine."""
    engine = Local(2)
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def client():
    """A Dask cluster of two processes on this machine."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found
