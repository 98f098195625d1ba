"""Dask clusters, as executors of a sweep."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from concurrent.futures import Executor

from gpucoh.base.errors import ConfigError
from gpucoh.base.late import LATE_IMPORT

_PATIENCE_S = 10.0


@contextlib.contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """An executor that runs on the workers of a Dask scheduler.

    Parameters
    ----------
    address : str
        Address of the scheduler, for example ``"tcp://10.0.0.1:8786"``.

    Raises
    ------
    ConfigError
        If the package distributed is missing, or no scheduler answers within 10 seconds.
    """
    try:
        with LATE_IMPORT:
            import distributed
    except ImportError:
        raise ConfigError(
            "a Dask scheduler needs the package distributed: install gpucoh[dask]"
        ) from None
    # The exception below states the reason; Dask's log repeats it with a traceback.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(address, timeout=_PATIENCE_S)
    except (OSError, ValueError, RuntimeError):
        raise ConfigError(
            f"no Dask scheduler answers at {address} (allowed: the address that dask scheduler prints, as "
            "tcp://HOST:8786)"
        ) from None
    with client:
        yield client.get_executor()
