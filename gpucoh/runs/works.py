"""Units of work that are no runs of workloads (explorations, microbenchmarks): each gives one row of a store."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Protocol, TypeVar

from gpucoh.device.gpu import VERSION, resolve
from gpucoh.runs.keys import code_digest
from gpucoh.runs.schedule import add_rows
from gpucoh.runs.store import Store


class Work(Protocol):
    """A unit of work."""

    @property
    def key(self) -> str:
        """The key of its row."""
        ...

    def carry_out(self, stop: threading.Event | None = None) -> dict[str, Any]:
        """The row."""
        ...


One = TypeVar("One", bound=Work)


def key_of(also: Iterable[str], *parts: object) -> str:
    """A key from what identifies a unit, its version and code, with further parts of the package."""
    text = json.dumps([VERSION, code_digest(*also), *parts])
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def row(
    work: Any, also: Iterable[str], rule: str | None, *, verdict: str, **found: Any
) -> dict[str, Any]:
    """The columns of every row for a unit with a protocol; what is found comes before the usual values."""
    choice = resolve(work.protocol)
    rule = choice.rule(rule)
    return {
        "key": work.key,
        "protocol": work.protocol,
        "protocol_id": choice.protocol.id,
        "consistency": rule,
        "model": choice.model(rule),
        "seed": 0,
        "verdict": verdict,
        "correct": verdict != "failed",
        "mismatches": 0,
        "where": "",
        "error": None,
        "version": VERSION,
        "code": code_digest(*also),
        **found,
    }


def _carry_out(work: Work, key: str, stop: threading.Event | None = None) -> dict[str, Any]:
    del key  # its own
    return work.carry_out(stop)


def rows_of(
    works: Iterable[One],
    store: Store,
    *,
    jobs: int,
    progress: bool,
    kind: Callable[[One], Hashable] = lambda _: None,
) -> dict[str, dict[str, Any]]:
    """The rows of units of work by key, of which those that the store lacks are carried out."""
    wanted = {work.key: work for work in works}
    add_rows(
        [(key, work) for key, work in wanted.items() if key not in store.rows],
        store,
        jobs=jobs,
        progress=progress,
        work=_carry_out,
        columns={key: {} for key in wanted},
        kind=kind,
    )
    return {key: store.rows[key] for key in wanted}
