"""Where a run's cycles, hits, misses and flits go: by source line, array and warp, and the waits that end a launch."""

from __future__ import annotations

import linecache
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from gpucoh.base.doors import door
from gpucoh.base.errors import ConfigError
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.wording import unknown
from gpucoh.results.dies import Dies
from gpucoh.results.stats import STALL_SUMS, Cache, Stalls

if TYPE_CHECKING:
    import pandas as pd

VIEWS = ("line", "buffer", "warp")
OF_SEVERAL_DIES = "die"  # a further view
CAUSES = tuple(name for name in Stalls.__annotations__ if name not in STALL_SUMS)
_NAMES_OF_WARP = ("die", "core", "warp")
_CACHES = ("l1", "l2")
_COUNTERS = tuple(f"{cache}_{name}" for cache in _CACHES for name in Cache.__annotations__)
# Counts that the statistics of a run lack.
ONLY_PROFILED = ("owner_changes", "bank_cycles")
# Likewise, on several dies: requests of L1s to the L2; those of another die's lines; those that take a link.
REQUESTS = ("requests", "remote_requests", "link_requests")
OF_DIES = (*REQUESTS, "link_bytes")
HELD = ("l1_held_line", "l2_held_line")  # requests that waited for a line
NO_LINE = "(none)"
NO_BUFFER = "(none)"
NO_DIE = "(none)"
# What a warp waits for, in words; the text precedes an array's name.
PHRASES = {
    "issue": "instructions on",
    "scoreboard": "waits for loads and atomics on",
    "poll": "polls of",
    "lock": "attempts to take locks in",
    "memory_order_load": "accesses that wait for older loads of",
    "memory_order_store": "accesses that wait for older stores to",
    "memory_order_atomic": "accesses that wait for older atomics on",
    "memory_order_same_line": "accesses that wait for older ones to their line, on",
    "fence_load": "fences that wait for loads of",
    "fence_store": "fences that wait for stores to",
    "fence_atomic": "fences that wait for atomics on",
    "fence_release": "fences that wait for the protocol, after stores to",
    "time": "waits until leases of copies expire, after stores to",
    "load_store_queue": "waits for the load-store queue, with accesses to",
    "barrier": "waits at barriers",
    "sleep": "sleep",
    "unit": "waits for a busy unit",
    "drain": "ends of warps that wait for accesses to",
    "launch": "no block to run",
}


@dataclass(frozen=True)
class Place:
    """An instruction of a kernel, or none, with what is charged to it."""

    kernel: str
    file: str
    line: int
    buffer: str
    counts: Mapping[str, Any]


def collected(data: Mapping[str, Any]) -> Profile:
    """The profile that the core prints, with the text of its source lines.

    Parameters
    ----------
    data : dict
        The core's JSON.
    """
    for program in (*data["programs"], data["critical"]):
        where = [place for place in program.get("places", ()) if place["file"] >= 0]
        program["texts"] = {
            f"{place['file']}:{place['line']}": text
            for place in where
            if (text := linecache.getline(program["files"][place["file"]], place["line"]).strip())
        }
    return Profile(data)


class Profile:
    """Where a run's cycles, hits, misses and flits go.

    Each view is a table whose sums are the run's: ``stalls_*`` those of ``stats.stalls``, ``issue_cycles``,
    ``l1_*`` and ``l2_*`` those of ``stats.l1`` and ``stats.l2``, ``flits`` all flits. ``cycles`` is the sum of the
    row's ``issue_cycles`` and ``stalls_*``.

    Parameters
    ----------
    data : dict
        As :meth:`to_dict` returns it.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self.dies = Dies.of_data(data)

    def to_dict(self) -> dict[str, Any]:
        """The profile as plain dictionaries, lists and numbers."""
        return dict(self._data)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Profile) and self._data == other._data

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        kernels = ", ".join(dict.fromkeys(program["kernel"] for program in self._data["programs"]))
        return f"<gpucoh.Profile of {kernels or 'no launch'}: by({', '.join(map(repr, self.views))}), critical()>"

    # ---- views

    @property
    def views(self) -> tuple[str, ...]:
        """The views of :meth:`by`."""
        return (*VIEWS, OF_SEVERAL_DIES) if self.dies.several else VIEWS

    @door
    def by(self, view: str) -> pd.DataFrame:
        """One view of the run.

        Parameters
        ----------
        view : {"line", "buffer", "warp", "die"}
            ``"line"``: by kernel and source line. A wait for a register is charged to the line of the load or atomic
            that writes it, another wait to the line that waits; a count of a cache to the access that caused it.
            ``"buffer"``: by array, as the kernel's parameter or ``gpu.array(..., name=)`` names it. A wait is charged
            to the array whose access is awaited, counts and flits to the array of the line.
            ``"warp"``: by core and warp slot. ``stalls_*`` and ``issue_cycles`` are the cycles that the core charges
            to the warp; ``waits_*`` are the warp's own life, including ``waits_barrier`` at barriers that others hold
            up and ``waits_not_selected``, ready beside a warp that issues: their sum is the time that it is resident.
            ``"die"``, on several dies: the warps and requests of each die's cores; :meth:`homes` has them by array.

        Returns
        -------
        pandas.DataFrame
            The largest number of cycles first. A row without an array or line holds what belongs to none: cores
            without a block, evictions of other arrays.

        Raises
        ------
        ConfigError
            For another name.
        """
        if view not in self.views:
            raise ConfigError(unknown("view", view, self.views))
        rows = {"line": self._lines, "buffer": self._buffers, "warp": self._warps}
        return _table((rows | {OF_SEVERAL_DIES: self._dies})[view]())

    def places(self) -> Iterator[Place]:
        """Every instruction to which something is charged."""
        for program in self._data["programs"]:
            for place in program["places"]:
                file = program["files"][place["file"]] if place["file"] >= 0 else ""
                buffer = program["buffers"][place["slot"]]["name"] or NO_BUFFER
                yield Place(program["kernel"], file, place["line"], buffer, place)

    @door
    def text(self, file: str, line: int) -> str:
        """The text of a source line of the kernels; empty if it was not known when the run ended."""
        for program in self._data["programs"]:
            for number, name in enumerate(program["files"]):  # once for each function of the file
                found = program["texts"].get(f"{number}:{line}", "") if name == file else ""
                if found:
                    return str(found)
        return ""

    def _lines(self) -> Iterator[dict[str, Any]]:
        found: dict[tuple[str, str, int], Counter[str]] = {}
        for place in self.places():
            key = (place.kernel, place.file, place.line) if place.file else ("", NO_LINE, 0)
            counts = found.setdefault(key, Counter())
            counts["instructions"] += place.counts["instructions"]
            counts.update(_cycles(place.counts["cycles"]))
            counts.update(self._caches(place.counts))
        for (kernel, file, line), counts in found.items():
            yield {
                "kernel": kernel,
                "file": file,
                "line": line,
                "source": self.text(file, line),
                **counts,
            }

    def _buffers(self) -> Iterator[dict[str, Any]]:
        found: dict[str, Counter[str]] = {}
        for place in self.places():
            counts = found.setdefault(place.buffer, Counter())
            counts["instructions"] += place.counts["instructions"]
            counts.update(_cycles(place.counts["awaited"]))
        for program in self._data["programs"]:
            for buffer in program["buffers"]:
                counts = found.setdefault(buffer["name"] or NO_BUFFER, Counter())
                counts.update(self._caches(buffer))
        for name, counts in found.items():
            yield {"buffer": name, **counts}

    def _warps(self) -> Iterator[dict[str, Any]]:
        charged: Counter[str] = Counter()
        for warp in self._data["warps"]:
            yield {
                **self._die_of(warp["core"]),
                "core": warp["core"],
                "warp": warp["warp"],
                "instructions": warp["instructions"],
                **_cycles(warp["cycles"]),
                **{f"waits_{cause}": cycles for cause, cycles in warp["waits"].items()},
            }
        for place in self.places():
            charged["launch"] += place.counts["cycles"].get("launch", 0)
        for warp in self._data["warps"]:
            charged["launch"] -= warp["cycles"].get("launch", 0)
        if charged["launch"]:  # cores without a block
            none = {"die": NO_DIE} if self.dies.several else {}
            yield {**none, "core": -1, "warp": -1, "instructions": 0, **_cycles(charged)}

    def _dies(self) -> Iterator[dict[str, Any]]:
        found: dict[str, Counter[str]] = {}
        for warp in self._warps():
            counts = found.setdefault(warp["die"], Counter())
            counts.update({name: n for name, n in warp.items() if name not in _NAMES_OF_WARP})
        for row in self._homes():
            found.setdefault(row["die"], Counter()).update({name: row[name] for name in REQUESTS})
        for die, counts in found.items():
            yield {"die": die, **counts}

    def homes(self) -> pd.DataFrame:
        """Where the arrays are that the cores of each die access: one row for each array and die, on several dies.

        ``requests`` are those of the die's L1s to the L2 for the array's lines, ``remote_requests`` those of them whose
        line has its home on another die, ``link_requests`` those that take a link: all remote ones, but for those that
        a near L2 answers. ``at_home``, ``near`` and ``over_link`` are their shares of the requests. An array with a
        small share ``at_home`` on each die but one is on that die alone.
        """
        with LATE_IMPORT:
            import pandas as pd

        columns = ["buffer", "die", *REQUESTS, "at_home", "near", "over_link"]
        table = pd.DataFrame(list(self._homes()), columns=columns)
        return table.sort_values("link_requests", ascending=False, kind="stable", ignore_index=True)

    def _homes(self) -> Iterator[dict[str, Any]]:
        found: dict[tuple[str, int], Counter[str]] = {}
        for program in self._data["programs"]:
            for buffer in program["buffers"]:
                for die, counts in enumerate(buffer.get("by_die", ())):
                    name = buffer["name"] or NO_BUFFER
                    found.setdefault((name, die), Counter()).update(counts)
        for (name, die), counts in found.items():
            if counts["requests"]:
                yield {"buffer": name, "die": self.dies.name(die), **counts, **shares(counts)}

    def critical(self) -> pd.DataFrame:
        """The chain of waits that ends the longest launch, from its end back to its begin.

        Each row is the part of the chain in one warp: the core cycles ``begin`` to ``end`` of the launch; ``after``,
        the wait that this part ended: ``barrier``, ``poll`` or ``lock`` (``launch``: the first part), with ``what`` and
        ``where``; and the warp's longest single wait in it.
        """
        return _table(self.links(), sort=False)

    def links(self) -> Iterator[dict[str, Any]]:
        """The rows of :meth:`critical`."""
        critical = self._data["critical"]
        for link in critical["links"]:
            longest = link.get("longest")
            what = f"{link['buffer']}[{link['element']}]" if "buffer" in link else ""
            yield {
                "begin": link["from"],
                "end": link["to"],
                "cycles": link["to"] - link["from"],
                **self._die_of(link["core"]),
                "core": link["core"],
                "warp": link["warp"],
                "block": link["block"],
                "after": link["after"],
                "what": what,
                "where": self._where(critical, link["place"]),
                "longest_wait": longest["cause"] if longest else "",
                "longest_cycles": longest["cycles"] if longest else 0,
                "longest_where": self._where(critical, longest) if longest else "",
            }

    def _caches(self, counts: Mapping[str, Any]) -> dict[str, int]:
        """The columns of caches, flits and, on several dies, requests."""
        columns = {
            f"{cache}_{name}": value
            for cache in _CACHES
            for name, value in counts.get(cache, {}).items()
        }
        others = ("flits", *ONLY_PROFILED, *(OF_DIES if self.dies.several else ()))
        return columns | {name: counts.get(name, 0) for name in others}

    def _die_of(self, core: int) -> dict[str, str]:
        return {"die": self.dies.name_of(core)} if self.dies.several else {}

    @staticmethod
    def _where(critical: Mapping[str, Any], place: Mapping[str, Any]) -> str:
        if place["file"] < 0:
            return ""
        return f"{PurePath(critical['files'][place['file']]).name}:{place['line']}"


def _cycles(by_cause: Mapping[str, int]) -> dict[str, int]:
    """The columns of charged cycles."""
    columns = {
        "issue_cycles" if cause == "issue" else f"stalls_{cause}": cycles
        for cause, cycles in by_cause.items()
    }
    return {"cycles": sum(columns.values())} | columns


def shares(counts: Mapping[str, int]) -> dict[str, float]:
    """The shares of an array's or line's requests: at home, answered by a near L2, over a link."""
    requests, remote, over = (counts[name] for name in REQUESTS)
    return {
        "at_home": (requests - remote) / requests,
        "near": max(0, remote - over) / requests,
        "over_link": over / requests,
    }


def _table(rows: Iterable[Mapping[str, Any]], *, sort: bool = True) -> pd.DataFrame:
    """A table with every column of the view, 0 where a row has none."""
    with LATE_IMPORT:
        import pandas as pd

    given = list(rows)
    usual = ("issue_cycles", *(f"stalls_{cause}" for cause in CAUSES)) if sort else ()
    names = dict.fromkeys(name for row in given for name in row)
    caches = _COUNTERS if "flits" in names else ()
    order = dict.fromkeys(
        [
            *(name for name in names if not name.startswith(("stalls_", "l1_", "l2_", "waits_"))),
            *usual,
            *caches,
            *(name for name in names if name.startswith("waits_")),
        ]
    )
    table = pd.DataFrame([{name: row.get(name, 0) for name in order} for row in given])
    if not sort or table.empty:
        return table
    return table.sort_values("cycles", ascending=False, kind="stable", ignore_index=True)
