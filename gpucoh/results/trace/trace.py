"""A trace as its user sees it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpucoh.base.doors import door
from gpucoh.base.errors import ConfigError
from gpucoh.base.files import whole_file
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.quoting import quoted
from gpucoh.base.wording import natural
from gpucoh.results.trace import life, page, perfetto
from gpucoh.results.trace.records import (
    ACCESSES,
    KIND_OF,
    NAMES,
    NO_LINE,
    NO_REQUESTER,
    RECORD,
    Names,
    is_step,
)
from gpucoh.results.trace.spans import Access, accesses
from gpucoh.results.trace.timeline import Timeline, timeline

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Source = Callable[[int, int], str]
PAGE, PERFETTO = (".html",), (".pftrace", ".perfetto-trace")


class Trace:
    """What happened to some lines in some cycles; :meth:`gpucoh.GPU.trace` and ``gpucoh.run(..., trace=)`` make one.

    It is complete after its with block. Cycles are those of the GPU's clock: the first launch begins at 0.

    Attributes
    ----------
    title : str
        What ran.
    lost : int
        Records that found no room: the oldest ones are missing.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.lost = 0
        self._records: NDArray[Any] | None = None
        self._names = Names((), (), {}, 1, ())
        self._source: Source = lambda pc, cycle: ""
        self._kinds: Collection[str] = ()

    def fill(
        self, records: NDArray[Any], lost: int, names: Names, source: Source, kinds: Collection[str]
    ) -> None:
        """Complete the trace."""
        self._records, self.lost, self._names, self._source = records, lost, names, source
        self._kinds = kinds

    @property
    def _all(self) -> NDArray[Any]:
        if self._records is None:
            raise ConfigError("the trace has not ended: read it after its with block")
        return self._records

    @property
    def note(self) -> str:
        """What the trace lacks; empty if it is whole."""
        if not self.lost:
            return ""
        kept = len(self._all)
        return (
            f"{self.lost:,} older records found no room: the last {kept:,} are shown; narrow array=, index=, cycles= "
            "or kinds=, or raise records="
        )

    @property
    def records(self) -> NDArray[Any]:
        """The records as the core made them (:mod:`gpucoh.results.trace.records`), in order of time."""
        return self._all

    def __repr__(self) -> str:
        if self._records is None:
            return f"<gpucoh.Trace {self.title}, not ended>"
        cut = f", {self.lost:,} cut" if self.lost else ""
        return f"<gpucoh.Trace {self.title}: {len(self._records):,} records{cut}>"

    def __len__(self) -> int:
        return len(self._all)

    def table(self) -> pd.DataFrame:
        """One row for each record, in order of time.

        Columns: ``cycle``, ``kind``, ``where`` (a core or controller), ``warp``, ``what`` (state and event of a step,
        message, access ..), ``next`` (state after a step), ``actions``, ``source`` and ``destination`` of the message,
        ``line``, ``array`` (its elements in the line), ``words`` (mask), ``copy`` and ``value`` (of the traced word).
        """
        with LATE_IMPORT:
            import pandas as pd

        rows = [self._row(record) for record in self._all]
        columns = [
            *("cycle", "kind", "where", "warp", "what", "next", "actions", "message", "source"),
            *("destination", "line", "array", "words", "copy", "value"),
        ]
        table = pd.DataFrame(rows, columns=columns)
        for name in ("warp", "line", "copy", "value"):
            table[name] = table[name].astype("UInt64")
        return table[[kind in self._kinds for kind in table["kind"]]].reset_index(drop=True)

    def _row(self, record: Any) -> dict[str, Any]:
        names, kind, line = self._names, NAMES[record["kind"]], int(record["line"])
        row: dict[str, Any] = {
            "cycle": int(record["cycle"]),
            "kind": KIND_OF[kind],
            "where": names.node(record["node"]),
            "warp": int(record["warp"]) if record["warp"] != NO_REQUESTER else None,
            **dict.fromkeys(("what", "next", "actions"), ""),
            "message": names.message(record["type"]),
            "source": names.node(record["source"]),
            "destination": names.node(record["destination"]),
            "line": line if line != NO_LINE else None,
            "array": names.place(line) if line != NO_LINE else "",
            "words": int(record["mask"]),
            "copy": int(record["copy"]) if record["has"] & 2 else None,
            "value": int(record["value"]) if record["has"] & 1 else None,
        }
        if is_step(record):
            row |= {
                "what": f"{names.state(record)} {names.event(record)}",
                "next": names.state(record, "next"),
                "actions": names.actions(record),
            }
        elif kind == "ACCESS":
            row |= {"where": names.core(record["node"]), "what": ACCESSES[record["state"]]}
        elif kind in ("BLOCK", "EXIT", "FENCE", "BARRIER", "FINISH"):
            row |= {"where": names.core(record["node"]), "what": kind.lower()}
        elif kind == "COMPLETE":
            row["what"] = "hit" if record["state"] else "miss"
        else:
            row["what"] = {"SEND": "send", "EPOCH": "send"}.get(kind, kind.lower())
        return row

    @cached_property
    def _accesses(self) -> list[Access]:
        return accesses(self._all, self._names)

    def requests(self) -> pd.DataFrame:
        """One row for each load, store and atomic of a warp: cycles of issue and end, latency, place in the source."""
        with LATE_IMPORT:
            import pandas as pd

        return pd.DataFrame(
            [
                {
                    "core": one.core,
                    "warp": one.warp,
                    "kind": one.kind,
                    "line": one.line,
                    "array": self._names.place(one.line),
                    "begin": one.begin,
                    "end": one.end,
                    "latency": one.latency,
                    "source": self._source(one.pc, one.begin),
                }
                for one in self._accesses
                if one.end >= 0
            ]
        )

    def spans(self) -> pd.DataFrame:
        """One row for each stage of a request of :meth:`requests` (``request``): they tile its life."""
        with LATE_IMPORT:
            import pandas as pd

        finished = (one for one in self._accesses if one.end >= 0)
        rows = [
            {"request": number, "stage": stage, "begin": begin, "end": end, "cycles": end - begin}
            for number, one in enumerate(finished)
            for stage, begin, end in one.spans()
        ]
        return pd.DataFrame(rows, columns=["request", "stage", "begin", "end", "cycles"])

    def lines(self) -> list[int]:
        """Addresses of the traced lines, those with most records first."""
        lines, counts = np.unique(self._all["line"], return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return [int(line) for line in lines[order] if int(line) != NO_LINE]

    @door
    def life(self, line: int | None = None) -> list[str]:
        """The steps, messages and memory requests of a line, or of all, as lines of text in columns."""
        shown = None if line is None else self._line_of(line)
        text = life.life(self._all, self._names, shown)
        return [*text, self.note] if self.note else text

    @door
    def draw(self, line: int | None = None, *, most: int = 40) -> Figure:
        """Draw the messages of a line as a sequence chart: controllers side by side, time downwards.

        Parameters
        ----------
        line : int, optional
            An address in the line; by default the line with most records.
        most : int
            Messages that are drawn, the first ones; a note counts the others.
        """
        with LATE_IMPORT:
            from gpucoh.results.trace import chart

        shown = self._line_of(next(iter(self.lines()), 0) if line is None else line)
        most = natural("most", most, smallest=1)
        return chart.sequence(self._all[self._all["line"] == shown], self._names, shown, most)

    def _line_of(self, address: int) -> int:
        """The address of a line."""
        return natural("line", address) // self._names.line_bytes * self._names.line_bytes

    @cached_property
    def timeline(self) -> Timeline:
        """Lanes of spans and moments."""
        return timeline(self._all, self._names, self._source, self.title, self.note)

    @door
    def save(self, path: str | Path) -> Path:
        """Write the timeline: ``.html`` is one page for a browser, ``.pftrace`` a file for ui.perfetto.dev.

        Raises
        ------
        ConfigError
            For another suffix, or a file that cannot be written.
        """
        path = timeline_path(path)
        data = (
            page.page(self.timeline).encode()
            if path.suffix in PAGE
            else perfetto.encode(self.timeline)
        )
        with whole_file(path) as part:
            part.write_bytes(data)
        return path


def timeline_path(given: str | Path) -> Path:
    """The path of a timeline.

    Raises
    ------
    ConfigError
        For an unknown suffix.
    """
    path = Path(given)
    if path.suffix not in (*PAGE, *PERFETTO):
        allowed = ", ".join((*PAGE, *PERFETTO))
        raise ConfigError(f"timeline {quoted(str(path))}: the suffix must be one of {allowed}")
    return path


__all__ = ["RECORD", "Trace", "timeline_path"]
