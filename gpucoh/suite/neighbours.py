"""``nn``: distances of many records to a place, of which the host takes the nearest.

Original: nn of Rodinia (CUDA). As there: 256 threads a block, a record of two words (latitude, longitude) a
thread, loaded word by word with a stride of 8 bytes, so that the second load hits the first one's lines;
a distance stored; the host scans all distances. Paper scale is DeNovo's 171K records (171,056 in the
original's table), 669 blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpucoh import lang
from gpucoh.suite.base import (
    REGISTRY,
    GpuLike,
    Outcome,
    Parameter,
    Setting,
    blocks_for,
    combine,
    compare,
)
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


@dataclass(frozen=True)
class Records:
    """``nn`` on one input."""

    places: NDArray[np.float32]
    placement_seed: int

    @classmethod
    def prepare(cls, setting: Setting) -> Records:
        """Random places, 0 to 63 degrees of latitude and 0 to 358 of longitude."""
        places = setting.rng().random((setting.integer("records"), 2)) * (63, 358)
        return cls(places.astype(np.float32), setting.integer("placement_seed"))

    def run(self, gpu: GpuLike) -> Outcome:
        """One launch."""
        count = len(self.places)
        zeros = count, np.float32
        found, records = place(gpu, self.placement_seed, zeros, self.places.ravel())
        gpu.launch(
            distances,
            grid=blocks_for(count, BLOCK),
            block=BLOCK,
            args=(records, found, count, *PLACE),
        )
        result = found.numpy()
        offsets = np.asarray(PLACE, np.float32) - self.places
        expected = np.sqrt((offsets * offsets).sum(axis=1, dtype=np.float32))
        nearest = np.sort(np.partition(result, min(NEAREST, count) - 1)[:NEAREST])
        return combine(
            compare("distance", result, expected, tolerance=1e-6, details={"records": count}),
            compare("nearest", nearest, np.sort(expected)[:NEAREST], tolerance=1e-6),
        )


REGISTRY.add(
    workload(
        Records,
        id="nn",
        title="nearest neighbours: distance of every record, streaming",
        group="N",
        papers=("D", "S", "Q"),
        needs_coherence=False,
        check="distances equal NumPy's within 1e-6",
        parameters=(
            Parameter(
                name="records",
                kind="int",
                minimum=1,
                maximum=1 << 24,
                defaults={"tiny": 2000, "small": 40000, "paper": 171056},
                text="number of records, 8 bytes each",
            ),
            PLACEMENT_SEED,
        ),
    )
)
