"""A Dask cluster on this machine, for tests."""

import contextlib

import pytest


@contextlib.contextmanager
def dask_cluster(workers=1):
    """A cluster of processes with one thread each, and its client.

    Each has ports of its own, so that tests of other processes may run beside it. Tests of it are marked
    ``filterwarnings("ignore")``: a worker that dies leaves sockets open in Dask, and the collector says so.
    """
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield cluster, client
