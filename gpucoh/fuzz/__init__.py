"""``gpucoh fuzz``: the autonomous random tester, after gem5's GPU protocol tester (Ta and others, IISWC 2019).

Random programs that are free of data races by construction run on the real simulated machine, on random small and
normal caches, and every value that a load or an atomic returns is checked. A program is made of *episodes*: a warp
waits for others by an acquire on their flags, loads and stores data, and releases by setting flags of its own; flags,
racing counters and data are mixed on the same lines, so that lines are falsely shared all the time.

**How a value is known.** The generator lays all episodes down in one order and keeps, for every location, its last
writer and its readers, and for every warp what it knows of the others (a vector clock). An episode that touches a
location after another warp's conflicting episode waits for that episode's flag, unless it knows of it already: through
a third warp or a barrier of its block. So each load has exactly one right value, whatever order the machine finds.
Racing atomics only add 1 to counters: what they return must be each number once, growing for every warp. At the end the
host reads all of memory.

**Why generated instruction streams and not a driver above the L1s.** The program is ordinary machine code on the real
cores: coalescer, load-store queue, memory order, scopes, barriers and host accesses are tested with the tables, and
nothing stands between a failure and the same failure in somebody's kernel. A program is written once and run under
every protocol and on several machines, so the rate is the simulator's own: about a hundred thousand checked operations
a second and processor.

**What it varies.** Core rule; orders (weak to sc) of every access; scopes by where the two warps sit; how a wait and a
release are spelled; lanes; caches, transaction entries, buffers, latencies, network and memory models; options of the
protocol. Warps are scheduled round robin: greedy scheduling lets polling warps starve the one they poll for.

A failure is shrunk (:mod:`gpucoh.fuzz.shrinking`) and told with the trace of its line. Coverage counts the cells of the
tables that were entered (:mod:`gpucoh.fuzz.coverage`).
"""

from gpucoh.fuzz.campaigns import DEFAULT_OPS, all_protocols, fuzz, fuzz_many
from gpucoh.fuzz.reports import Report

__all__ = ["DEFAULT_OPS", "Report", "all_protocols", "fuzz", "fuzz_many"]
