"""The columns of tables of runs: statistics as one flat row, and what differs between the runs of a study."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpucoh.base.errors import ConfigError
from gpucoh.base.late import LATE_IMPORT
from gpucoh.base.wording import unknown
from gpucoh.results.stats import Group, Stats

if TYPE_CHECKING:
    import pandas as pd

# Which statistics are columns: those of nearly every study, or all.
COUNTERS = ("usual", "all")
# Columns of what a study varies begin so, with the name of the machine field, option or parameter.
VARIED = ("set_", "option_", "param_")

# Counters of the whole GPU, in order; those of the usual columns, and the rest.
_TOTALS = ("cycles", "instructions", "thread_instructions", "memory_instructions", "rollovers")
# Groups whose counters are usual columns, and with what these begin.
_GROUPS = {name: name for name in ("l1", "l2", "dram", "cpu", "stalls")} | {"energy": "energy_j"}


def counters_of(given: str) -> bool:
    """Whether all statistics are wanted.

    Raises
    ------
    ConfigError
        If the word is not one of :data:`COUNTERS`.
    """
    if given not in COUNTERS:
        raise ConfigError(unknown("value of counters", given, COUNTERS))
    return given == "all"


def statistics(stats: Stats, counters: str = "usual") -> dict[str, Any]:
    """Statistics as one flat row.

    Parameters
    ----------
    stats : Stats
    counters : {"usual", "all"}
        ``"all"`` adds every statistic that the usual columns leave out, under the names of its groups
        (``core_load_latency_cycles``, ``traffic_READ_flits``); histograms and transitions are lists.
    """
    every = counters_of(counters)
    row: dict[str, Any] = {name: int(stats.get(name, 0)) for name in _TOTALS}
    row["flits"] = stats.flits()
    row |= {f"flits_{name}": flits for name, flits in stats.flits_by_class().items()}
    for name, prefix in _GROUPS.items():
        row |= dict(_leaves(stats.get(name) or {}, prefix))
    busiest = stats.busiest or {}
    row |= {"busiest": busiest.get("part"), "busiest_share": busiest.get("share")}
    if every:
        left_out = (*_TOTALS, *_GROUPS, "busy")  # of the units of a part the busiest counts
        others = {name: value for name, value in stats.items() if name not in left_out}
        row |= dict(_leaves(others, ""))
    return row


def _leaves(values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """Column and value of every counter below; a column's name is an identifier of Python."""
    for key, value in values.items():
        name = re.sub(r"\W", "_", f"{prefix}_{key}" if prefix else key)
        if isinstance(value, Group):
            yield from _leaves(value, name)
        else:
            yield name, list(value) if isinstance(value, list) else value


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What a run of a study is made of.

    Attributes
    ----------
    protocol : str
        With the options in brackets.
    options : dict
        Every option of the protocol, with its value.
    fields : dict
        Every field of the machine and limit of a launch, with its value.
    changed : collection of str
        Those that differ from the preset, and those that the run sets.
    own : bool
        Whether the machine has no preset.
    params : dict
        Every parameter of the workload, with its value.
    """

    protocol: str
    options: Mapping[str, Any]
    fields: Mapping[str, Any]
    changed: Collection[str]
    own: bool
    params: Mapping[str, Any]


def varied(setups: Sequence[Setup]) -> list[dict[str, Any]]:
    """The columns of what a study varies, for each of its runs.

    A field or option that one run changes is a column of all, with the value that each has: ``set_cores``,
    ``option_lifetime`` (None under protocols without that option). Every parameter of a workload is a column.
    Of machines without a preset the fields are columns in which they differ from each other.
    """
    own = [setup.fields for setup in setups if setup.own]
    differing = [name for name in (own[0] if own else ()) if len({one[name] for one in own}) > 1]
    fields = dict.fromkeys([*(name for setup in setups for name in setup.changed), *differing])
    options = dict.fromkeys(name for setup in setups for name in _given(setup.protocol))
    return [
        {f"set_{name}": setup.fields.get(name) for name in fields}
        | {f"option_{name}": setup.options.get(name) for name in options}
        | {f"param_{name}": value for name, value in setup.params.items()}
        for setup in setups
    ]


def with_types(frame: pd.DataFrame, values: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """A table whose columns of what a study varies keep their types where a run has no value."""
    with LATE_IMPORT:
        import pandas as pd

    kinds = {frozenset({int}): "Int64", frozenset({bool}): "boolean"}
    for name, column in values.items():
        found = frozenset(type(value) for value in column if value is not None)
        if name.startswith(VARIED) and None in column and found in kinds:
            frame[name] = pd.array(list(column), dtype=kinds[found])  # type: ignore[call-overload]
    return frame


def _given(protocol: str) -> list[str]:
    """The names of the options in a protocol's brackets; the consistency rule has a column of its own.

    Examples
    --------
    >>> _given("tc-strong[lifetime=800, consistency=sc]")
    ['lifetime']
    """
    named = re.findall(r"[\[,]\s*(\w+)\s*=", protocol)
    return [name for name in named if name != "consistency"]
