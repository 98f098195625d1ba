"""``nn``: distances of many records to a place, of which the host takes the nearest.

Original: nn of Rodinia (CUDA). As there: 256 threads a block, a record of two words (latitude, longitude) a
thread, loaded word by word with a stride of 8 bytes, so that the second load hits the first one's lines;
a distance stored; the host scans all distances. Paper scale is DeNovo's 171K records (171,056 in the
original's table), 669 blocks.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from gpucoh import lang
from gpucoh.suite.base import GpuLike, Outcome, blocks_for, combine, compare, whole
from gpucoh.suite.buffers import PLACEMENT_SEED, ReadOnlyF32, place
from gpucoh.suite.declaration import workload

BLOCK = 256
NEAREST = 10
PLACE = 30.0, 90.0


@lang.kernel
def distances(
    records: ReadOnlyF32,
    found: lang.Buffer[lang.f32],
    count: lang.i32,
    latitude: lang.f32,
    longitude: lang.f32,
) -> None:
    """The distance of a thread's record."""
    i = lang.global_id()
    if i < count:
        north = latitude - records[2 * i]
        east = longitude - records[2 * i + 1]
        found[i] = lang.sqrt(north * north + east * east)


@workload(id="nn", group="N", papers="DSQ", check="distances equal NumPy's within 1e-6")
def nearest_records(
    gpu: GpuLike,
    rng: Generator,
    records: int = whole("number of records, 8 bytes each", 1, 1 << 24, 2000, 40000, 171056),
    placement_seed: int = PLACEMENT_SEED,
) -> Outcome:
    """nearest neighbours: distance of every record, streaming

    Random places, 0 to 63 degrees of latitude and 0 to 358 of longitude. One launch.
    """
    places = (rng.random((records, 2)) * (63, 358)).astype(np.float32)
    zeros = records, np.float32
    given, found = place(gpu, placement_seed, places.ravel(), zeros)
    gpu.launch(
        distances,
        grid=blocks_for(records, BLOCK),
        block=BLOCK,
        args=(given, found, records, *PLACE),
    )
    result = found.numpy()
    offsets = np.asarray(PLACE, np.float32) - places
    expected = np.sqrt((offsets * offsets).sum(axis=1, dtype=np.float32))
    nearest = np.sort(np.partition(result, min(NEAREST, records) - 1)[:NEAREST])
    return combine(
        compare("distance", result, expected, tolerance=1e-6, details={"records": records}),
        compare("nearest", nearest, np.sort(expected)[:NEAREST], tolerance=1e-6),
    )
