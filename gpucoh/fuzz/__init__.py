"""``gpucoh fuzz``: the autonomous random tester, after gem5's GPU protocol tester (Ta and others, IISWC 2019).

Random programs that are free of data races by construction run on the simulated machine, with random small and normal
caches, and the tester checks every value that a load or an atomic returns. A program consists of *episodes*: a warp
acquires from other warps by reading their flags, loads and stores data, and releases by setting its own flags. Flags,
racing counters and data share lines, so false sharing is frequent.

**Expected values.** The generator orders all episodes, and tracks for every location its last writer and its readers,
and for every warp its knowledge of the others (a vector clock). An episode that touches a location after another warp's
conflicting episode waits for that episode's flag, unless it knows of it through a third warp or a barrier of its block.
So each load has exactly one correct value in every execution. Racing atomics only add 1 to counters: the returned
values must be distinct and complete, and grow for every warp. At the end the host reads all of memory.

**Generated instruction streams, not a driver above the L1s.** The program is ordinary machine code on the simulated
cores, so coalescer, load-store queue, memory order, scopes, barriers and host accesses are tested together with the
tables, and every failure is one that a user's kernel can have. A program is written once and runs under every protocol
and on several machines, so the rate is the simulator's own: about a hundred thousand checked operations per second and
processor.

**What varies.** Consistency rule; orders (weak to sc) of every access; scopes by the location of the two warps; the
instructions of a wait and a release; lanes; caches, MSHRs, buffers, latencies, network and memory models; protocol
options. Warps are scheduled round robin, since greedy scheduling lets polling warps starve the warp they wait for.

:mod:`gpucoh.fuzz.shrinking` shrinks a failure, which is reported with the trace of its line. Coverage counts the cells
of the tables that were entered (:mod:`gpucoh.device.coverage`).
"""

from gpucoh.fuzz.campaigns import DEFAULT_OPS, all_protocols, fuzz, fuzz_many
from gpucoh.fuzz.reports import Report

__all__ = ["DEFAULT_OPS", "Report", "all_protocols", "fuzz", "fuzz_many"]
