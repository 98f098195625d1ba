"""The binding: the C core as Python sees it. Only ``device/binding.py`` imports it.

Everything here takes and gives plain numbers, bytes, strings and NumPy arrays; names, units and friendliness are the
package's business. Errors: the exceptions of :mod:`gpucoh.base.errors`, made from ``csrc/base/errors.def``.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

VERSION: str

def use_exceptions(errors: ModuleType) -> None:
    """Raise the exceptions of this module, by the names of errors.def, from now on; before, built-in ones."""

def isa() -> dict[str, Any]:
    """The instruction set as the core has it.

    ``{"opcodes": {name: number}, "operands": {name: str}, "types": {...}, "atomics": {...}, "specials": {...},
    "orders": {...}, "scopes": {...}, "flags": {...}, "format": struct format of one instruction, "size": 32}``
    (enumerator names as in isa.h without their prefix).
    """

def machine_fields() -> dict[str, tuple[int, int, str]]:
    """Every machine field the core needs: name -> (smallest, largest, text)."""

def protocol_ids() -> list[str]:
    """The ids of all protocols; those that libraries have added come last."""

def library_protocols(path: str) -> list[str]:
    """The ids of the protocols of a library, which is loaded. Raises ConfigError if it has none, or one is not whole."""

def add_protocols(path: str) -> list[str]:
    """Adds the protocols of a library; a later one replaces one of its id for GPUs and explorations that begin then."""

def describe_protocol(id: str) -> str:
    """JSON of one protocol: see ``gpc_protocol_describe``. Raises ConfigError for an unknown id."""

def check_causes(id: str) -> None:
    """Executes classifications. Raises ConfigError if nothing brings a cause that the tables have events for."""

def explore(
    protocol: str,
    rule: str | None,
    options: dict[str, int],
    cores: int,
    variables: int,
    threads: Sequence[tuple[int, Sequence[tuple[int, ...]]]],
    warm: int,
    evictions: int,
    max_states: int,
    packed: bool = False,
    tight: bool = False,
    allowed: Sequence[tuple[int, ...]] | None = None,
    unwatched: bool = False,
    fields: dict[str, int] = ...,
    named: bool = False,
    every_order: bool = False,
    wide: int = 0,
) -> str:
    """JSON of one exploration: see ``gpc_explore``.

    ``threads`` are tuples ``(core, [(kind, order, scope, variable, value, read_only, source, adds)])``; an operation may
    go on with ``(.., atomic, word, replacement)``. ``wide`` has a bit for each variable of 64 bits. Kinds are 0 load,
    1 store, 2 atomic, 3 fence, 4 barrier of the core's threads, 5 end of the thread and 6 end of the kernel and begin of the next one.
    """

@final
class Snapshot: ...

@final
class GPU:
    """One simulated GPU. Not for two threads at once: a second one gets SimulationError, never a race."""

    def __new__(
        cls,
        machine: dict[str, int],
        protocol: str,
        rule: str | None,
        options: dict[str, int],
        seed: int,
        budget: int,
        check: int,
    ) -> GPU: ...
    @property
    def rule(self) -> str: ...
    def allocate(self, words: int, on_gpu: int = 0) -> int:
        """``on_gpu``, 1 + a GPU's number: in pages on its dies, if the machine's pages are not interleaved."""
    def allocate_from(self, address: int) -> None:
        """Later allocations begin at this address or behind it."""
    def release(self, address: int) -> None: ...
    def host_read(self, address: int, out: NDArray[np.uint32]) -> None:
        """Fills ``out`` (C-contiguous, uint32, any shape)."""
    def host_write(self, address: int, data: NDArray[np.uint32]) -> None: ...
    def host_write_places(
        self, address: int, places: NDArray[np.uint32], data: NDArray[np.uint32]
    ) -> None:
        """Writes ``data[i]`` to the word ``places[i]`` from ``address`` on, consecutive places as one write."""
    def launch(
        self,
        kernel: str,
        program: bytes,
        vector_registers: int,
        uniform_registers: int,
        shared_words: int,
        constants: NDArray[np.uint32],
        buffers: Sequence[tuple[int, int, bool, str] | tuple[int, int, bool, str, int]],
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        placement: int,
        files: tuple[tuple[str, int], ...] = (),
        reports: tuple[str, ...] = (),
        local_address: int = 0,
        local_bytes: int = 0,
        independent_lanes: bool = False,
        on_gpu: int = 0,
        after: int = 0,
        more: bool = False,
        functional: bool = False,
        spilled_registers: int = 0,
        barrier_words: int = 0,
    ) -> None:
        """Begins a launch. buffers: (address, elements, read_only, name[, bytes of an element: 1, 2 or 4, the default]).

        Messages quote ``files``, names and first lines by the instructions' ``file``, and ``reports``, the texts of
        assertions by number. Buffers behind those of the program name the arrays that accesses by address may reach.
        ``local_bytes`` of each thread of the grid are at ``local_address``, interleaved by words.
        ``on_gpu`` is 1 + a GPU's number, or 0: all, as one. With ``more`` the kernel begins with the next one that has
        none, on one GPU after those before it; bits of ``after`` are earlier ones that end before it begins. A
        ``functional`` launch computes values past the caches, which it leaves empty, and is not counted.
        ``spilled_registers`` of the vector registers do not count against a core's register file, and
        ``barrier_words`` of the shared words, 4 at most, not against its scratchpad.
        """
    def run(self, events: int) -> bool:
        """Carries out at most ``events`` events without the GIL; True when the launch has ended."""
    def deadlock_after(self, cycles: int) -> None: ...
    def pause_at(self, cycle: int) -> None:
        """The running launch pauses before this core cycle, as ``cycles`` counts: ``run`` returns False, once."""
    def paused(self) -> bool: ...
    def abort(self) -> None:
        """Ends the running launch, if any; waits while another thread uses the GPU."""
    def cycles(self) -> int: ...
    def clock(self) -> int: ...
    def instructions(self) -> int: ...
    def progress(self) -> tuple[int, int]:
        """(blocks done, blocks of the launch)."""
    def kernel_end(self, number: int) -> int:
        """Core cycles from the begin of the last launch to the end of one of its kernels; 0: it has not ended."""
    def printed(self) -> tuple[bytes, int]:
        """What the last launch printed: (records, lost).

        A record is four uint32: text, block, thread and word; ``lost`` words found no room.
        """
    def statistics(self) -> str: ...
    def core_statistics(self) -> str:
        """A JSON list: the groups ``l1``, ``core`` and ``stalls`` of each core."""
    def reset_statistics(self) -> None: ...
    def verify(self) -> None: ...
    def print_state(self) -> str: ...
    def trace(
        self, first: int, last: int, word: int, begin: int, end: int, kinds: int, records: int
    ) -> None:
        """Keep the last ``records`` records of these lines, cycles and kinds (bits); 0: end the trace."""
    def traced(self) -> tuple[bytes, int]:
        """(records that are kept, in the layout of csrc/check/trace/trace.h; number of all)."""
    def trace_names(self) -> str: ...
    def profile(self, on: bool) -> None: ...
    def print_profile(self) -> str: ...
    def snapshot(self) -> Snapshot: ...
    def restore(self, snapshot: Snapshot) -> None: ...
