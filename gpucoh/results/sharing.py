"""How the cores of a run share its data: shares of its requests by pattern, and the class of the workload.

The measurement is of the requests that reach the L1s of a protocol without copies, in the order in which they complete.
It changes no statistic of the run, and is made by a trace, which ordinary runs do not have.

A word's *visit* is a sequence of requests of one core to the word between requests of other cores. A request counts 1,
divided evenly among its words; a word's part counts in one of five patterns:

private
    Its line is used by one core.
read-shared
    Its line is used by several cores, and no request writes it.
false-shared
    Its line is used by several cores and written; the word itself is used by one core, or is never written.
migratory
    The word is used by several cores and written; the visit reads and writes it (an atomic does both).
producer-consumer
    Likewise; the visit only reads or only writes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

PATTERNS = ("private", "read-shared", "producer-consumer", "migratory", "false-shared")
COMMUNICATING = PATTERNS[2:]
# Pattern -> its column in a study's rows.
SHARES = {name: f"share_{name.replace('-', '_')}" for name in PATTERNS}

# The rule that names a workload's class, in shares of requests.
# From this share of the three communicating patterns on, the largest of them is the class;
COMMUNICATES = 0.05
# otherwise "read-shared" from this share of read-shared requests on, and "private" below.
READ_SHARED = 0.25

# Bytes of a word, and records that are expanded into words at a time.
_WORD = 4
_CHUNK = 1 << 17
_LOAD, _STORE, _ATOMIC = range(3)


def class_of(shares: Mapping[str, float], thresholds: float = 1.0) -> str:
    """The class of a workload by the shares of its requests; ``thresholds`` multiplies both thresholds of the rule.

    Examples
    --------
    >>> class_of({"private": 0.6, "read-shared": 0.3, "migratory": 0.07, "false-shared": 0.03})
    'migratory'
    >>> class_of({"private": 0.7, "read-shared": 0.3}), class_of({"private": 0.8, "read-shared": 0.2})
    ('read-shared', 'private')
    """
    moving = {name: shares.get(name, 0.0) for name in COMMUNICATING}
    if sum(moving.values()) >= thresholds * COMMUNICATES:
        return max(moving, key=lambda name: moving[name])
    shared = shares.get("read-shared", 0.0) >= thresholds * READ_SHARED
    return "read-shared" if shared else "private"


def shares_of(records: NDArray[Any]) -> dict[str, float]:
    """The shares of requests by pattern.

    Parameters
    ----------
    records : structured array
        Completed requests in order of time, as :mod:`gpucoh.results.trace.records` describes them: the line's address,
        the mask of its words, the kind in ``type``, the core's L1 in ``node``.

    Returns
    -------
    dict
        Pattern -> share; all 0 without a request.
    """
    order = np.argsort(records["line"], kind="stable")
    lines = records["line"][order]
    starts = (
        np.flatnonzero(np.r_[True, lines[1:] != lines[:-1]]) if len(lines) else np.zeros(0, int)
    )
    total = np.zeros(len(PATTERNS))
    begin = 0
    while begin < len(lines):
        # A chunk ends where a line ends; a line of more records is a chunk of its own.
        after = starts[np.searchsorted(starts, begin + _CHUNK) :]
        end = int(after[0]) if len(after) else len(lines)
        total += _of_lines(records[order[begin:end]])
        begin = end
    every = total.sum()
    return dict(zip(PATTERNS, (total / every if every else total).tolist(), strict=True))


def _of_lines(records: NDArray[Any]) -> NDArray[Any]:
    """Requests by pattern, of records sorted by line and, within a line, by time."""
    bits = np.unpackbits(
        records["mask"].astype("<u4").view(np.uint8).reshape(-1, 4), axis=1, bitorder="little"
    )
    row, bit = np.nonzero(bits)
    weight = (1 / np.maximum(bits.sum(axis=1), 1))[row]
    core, kind = records["node"][row].astype(np.int64), records["type"][row]
    line = _numbered(records["line"])[row]
    writes, reads = kind != _LOAD, kind != _STORE
    shared_line, written_line = _several(line, core), _any(line, writes)
    word = _numbered(line * 32 + bit)
    shared_word, written_word = _several(word, core), _any(word, writes)

    by_word = np.argsort(word, kind="stable")  # keeps the order of time within a word
    new = np.r_[True, (np.diff(word[by_word]) != 0) | (np.diff(core[by_word]) != 0)]
    visit = np.empty(len(word), np.int64)
    visit[by_word] = np.cumsum(new) - 1
    both = _any(visit, writes) & _any(visit, reads)

    pattern = np.where(both, 3, 2)
    pattern = np.where(shared_word & written_word, pattern, 4)
    pattern = np.where(written_line, pattern, 1)
    pattern = np.where(shared_line, pattern, 0)
    return np.bincount(pattern, weights=weight, minlength=len(PATTERNS))


def _numbered(values: NDArray[Any]) -> NDArray[Any]:
    """Values numbered from 0 on."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64).reshape(-1)


def _any(group: NDArray[Any], flags: NDArray[Any]) -> NDArray[Any]:
    """For each element whether one of its group has the flag."""
    found: NDArray[Any] = np.bincount(group, weights=flags) > 0
    return np.take(found, group)


def _several(group: NDArray[Any], core: NDArray[Any]) -> NDArray[Any]:
    """For each element whether its group has more than one core."""
    size = int(group.max(initial=0)) + 1
    least, most = np.full(size, np.iinfo(np.int64).max), np.full(size, -1)
    np.minimum.at(least, group, core)
    np.maximum.at(most, group, core)
    found: NDArray[Any] = np.not_equal(least, most)
    return np.take(found, group)
