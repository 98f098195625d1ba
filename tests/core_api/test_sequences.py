"""Hostile sequences of calls: in any order a GPU answers or raises an error, and keeps its data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from core_api.programs import endless, finish, increment, make_gpu
from gpucoh import _core
from gpucoh.base.errors import Error
from products import share
from registered import COHERENT

WORDS = 256
THREADS = 128  # of a launch of increment()
wild = st.one_of(
    st.integers(-1, 4096),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.none(),
    st.text(max_size=3),
    st.binary(max_size=40),
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)),
)
REFUSED = (Error, MemoryError, TypeError, OverflowError)


class Hostile(RuleBasedStateMachine):
    """A GPU and what its memory must hold."""

    arrays: Bundle[int] = Bundle("arrays")
    protocol = "no-l1"

    def __init__(self) -> None:
        super().__init__()
        self.gpu = make_gpu(protocol=self.protocol, budget=100_000)
        self.expected: dict[int, np.ndarray] = {}
        self.saved: tuple[_core.Snapshot, dict[int, np.ndarray]] | None = None
        self.running = False

    @rule(target=arrays)
    def allocate(self) -> int:
        address = self.gpu.allocate(WORDS)
        assert address not in self.expected
        self.expected[address] = np.zeros(WORDS, np.uint32)
        return address

    @rule(address=consumes(arrays))
    def release(self, address: int) -> None:
        if address in self.expected and not self.running:
            self.gpu.release(address)
            del self.expected[address]
        else:
            with pytest.raises(Error):
                self.gpu.release(address)

    @rule(address=arrays, value=st.integers(0, 2**32 - 1))
    def write(self, address: int, value: int) -> None:
        data = np.full(WORDS, value, np.uint32)
        if address in self.expected and not self.running:
            self.gpu.host_write(address, data)
            self.expected[address] = data
        else:
            with pytest.raises(Error):
                self.gpu.host_write(address, data)

    @rule(
        address=arrays,
        places=st.lists(st.integers(0, WORDS - 1), max_size=8),
        value=st.integers(0, 2**32 - 1),
    )
    def write_places(self, address: int, places: list[int], value: int) -> None:
        words, data = np.array(places, np.uint32), np.full(len(places), value, np.uint32)
        if address in self.expected and not self.running:
            self.gpu.host_write_places(address, words, data)
            self.expected[address] = self.expected[address].copy()
            self.expected[address][words] = value
        elif places:
            with pytest.raises(Error):
                self.gpu.host_write_places(address, words, data)

    @rule(address=arrays)
    def run_to_the_end(self, address: int) -> None:
        if address not in self.expected or self.running:
            with pytest.raises(Error):
                increment().launch(self.gpu, address, WORDS)
            return
        increment().launch(self.gpu, address, WORDS)
        finish(self.gpu, 1000)
        after = self.expected[address].copy()
        after[32 : 32 + THREADS] += np.uint32(1)
        after[:1] += np.uint32(THREADS)  # wraps; a scalar would warn
        self.expected[address] = after

    @rule(address=arrays, events=st.integers(0, 2000))
    def begin_what_never_ends(self, address: int, events: int) -> None:
        if address not in self.expected or self.running:
            with pytest.raises(Error):
                endless().launch(self.gpu, address, WORDS)
            return
        endless().launch(self.gpu, address, WORDS)
        assert not self.gpu.run(events)
        self.running = True

    @rule()
    def abort(self) -> None:
        self.gpu.abort()
        self.running = False

    @rule()
    def save(self) -> None:
        if self.running:
            with pytest.raises(Error):
                self.gpu.snapshot()
            return
        self.saved = (
            self.gpu.snapshot(),
            {address: data.copy() for address, data in self.expected.items()},
        )

    @rule()
    def bring_back(self) -> None:
        if self.saved is None or self.running:
            return
        self.gpu.restore(self.saved[0])
        self.expected = {address: data.copy() for address, data in self.saved[1].items()}

    @rule(name=st.sampled_from(["allocate", "release", "run", "restore"]), argument=wild)
    def call_with_anything(self, name: str, argument: object) -> None:
        if isinstance(argument, int):
            return  # the other rules' matter
        with pytest.raises(REFUSED):
            getattr(self.gpu, name)(argument)

    @rule(name=st.sampled_from(["host_read", "host_write"]), address=wild, array=wild)
    def copy_anything(self, name: str, address: object, array: object) -> None:
        with pytest.raises(REFUSED):
            getattr(self.gpu, name)(address, array)

    @rule(address=wild, places=wild, array=wild)
    def copy_anything_to_places(self, address: object, places: object, array: object) -> None:
        with pytest.raises(REFUSED):
            self.gpu.host_write_places(address, places, array)

    @rule(arguments=st.lists(wild, min_size=10, max_size=10))
    def launch_anything(self, arguments: list[object]) -> None:
        with pytest.raises(REFUSED):
            self.gpu.launch(*arguments)

    @rule()
    def look(self) -> None:
        assert self.gpu.statistics().startswith("{")
        assert self.gpu.print_state()
        self.gpu.cycles()
        self.gpu.instructions()
        self.gpu.progress()

    @invariant()
    def memory_holds_what_was_written(self) -> None:
        if self.running:
            return
        self.gpu.verify()
        out = np.empty(WORDS, np.uint32)
        for address, data in self.expected.items():
            self.gpu.host_read(address, out)
            assert np.array_equal(out, data)


@pytest.mark.parametrize("protocol", share(COHERENT, one_in=8))
@pytest.mark.long
def test_any_sequence_of_calls(protocol):
    machine = type(f"Hostile_{protocol}", (Hostile,), {"protocol": protocol})
    case = machine.TestCase
    case.settings = settings(max_examples=20, stateful_step_count=15, deadline=None)
    case().runTest()


@pytest.mark.parametrize("protocol", share(COHERENT, one_in=8))
def test_cached_lines_of_released_memory_are_known_after_a_restore(protocol):
    gpu, out = make_gpu(protocol=protocol), np.empty(WORDS, np.uint32)
    for _ in range(2):
        address = gpu.allocate(WORDS)
        increment().launch(gpu, address, WORDS)
        finish(gpu)
        gpu.host_read(address, out)
        assert (out[0], out[32]) == (THREADS, 1)
        gpu.release(address)
        gpu.restore(gpu.snapshot())
