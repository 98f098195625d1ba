"""Are shares of requests by pattern those that a small stream has by its definition?"""

import numpy as np
import pytest

import gpucoh
from gpucoh.results import sharing
from gpucoh.results.trace.records import RECORD

LOAD, STORE, ATOMIC = range(3)


def stream(*requests):
    """Records of (core, kind, line, mask), in this order."""
    records = np.zeros(len(requests), RECORD)
    for place, (core, kind, line, mask) in enumerate(requests):
        records[place]["node"], records[place]["type"] = core, kind
        records[place]["line"], records[place]["mask"] = line * 128, mask
    return records


@pytest.mark.parametrize(
    ("pattern", "requests"),
    [
        ("private", [(0, LOAD, 0, 1), (0, STORE, 0, 2), (1, STORE, 1, 1)]),
        ("read-shared", [(0, LOAD, 0, 1), (1, LOAD, 0, 1), (2, LOAD, 0, 6)]),
        ("producer-consumer", [(0, STORE, 0, 1), (1, LOAD, 0, 1), (0, STORE, 0, 1)]),
        ("migratory", [(0, LOAD, 0, 1), (0, STORE, 0, 1), (1, LOAD, 0, 1), (1, STORE, 0, 1)]),
        ("migratory", [(0, ATOMIC, 0, 1), (1, ATOMIC, 0, 1)]),
        ("false-shared", [(0, STORE, 0, 1), (1, STORE, 0, 2), (2, LOAD, 0, 4)]),
    ],
)
def test_a_stream_of_one_pattern(pattern, requests):
    shares = sharing.shares_of(stream(*requests))
    assert shares == {name: float(name == pattern) for name in sharing.PATTERNS}
    assert sharing.class_of(shares) == pattern


def test_a_request_counts_once_divided_among_its_words():
    # The load of core 1 reads a word that core 0 writes and three that no core writes.
    shares = sharing.shares_of(stream((0, STORE, 0, 1), (1, LOAD, 0, 15)))
    assert shares["producer-consumer"] == pytest.approx(1.25 / 2)
    assert shares["false-shared"] == pytest.approx(0.75 / 2)


def test_chunks_give_the_shares_of_the_whole(monkeypatch):
    draw = np.random.default_rng(3)
    requests = [
        (core, kind, line, 1 << word)
        for core, kind, line, word in zip(
            draw.integers(0, 3, 400),
            draw.integers(0, 3, 400),
            draw.integers(0, 40, 400),
            draw.integers(0, 4, 400),
            strict=True,
        )
    ]
    whole = sharing.shares_of(stream(*requests))
    monkeypatch.setattr(sharing, "_CHUNK", 7)
    assert sharing.shares_of(stream(*requests)) == pytest.approx(whole)


def test_no_request_has_no_share():
    assert set(sharing.shares_of(stream()).values()) == {0.0}


@pytest.mark.parametrize(("workload", "named"), [("vec-cpy", "private"), ("fg-share", "migratory")])
def test_workloads_whose_pattern_their_code_shows(workload, named):
    found = gpucoh.run(workload, scale="tiny", trace={"kinds": ["misses"]})
    assert sharing.class_of(sharing.shares_of(found.trace.records)) == named
