"""The STC paper's figures, the sensitivity of its section 7.2, its table of states and its hardware cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpucoh.papers.descriptions import state_rows, structure_rows
from gpucoh.papers.drawing import by_workload
from gpucoh.papers.panels import Draw, FigureSpec, Spec, TableSpec

_SRC, _KEPT = "src", "src[acquire=off]"
_TURNS = ("stc-nv", "stc-es", "stc-ab", "stc-mb")
_EPOCH_CYCLES = (50, 100, 150, 300, 450)
_EPOCHS = (8, 16, 32)
_QUEUES = (64, 128, 256)

_time = by_workload(time="execution time relative to {base}")
_hits = by_workload(l1_hit_rate="L1 hit rate")
_cycles = by_workload(
    idle_change_cycles="core cycles of a change\nwithout stores outstanding",
    change_cycles="core cycles of a change",
)


def _swept(option: str, values: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"stc-mb[{option}={value}]" for value in values)


def _figures() -> tuple[Spec, ...]:
    lengths, numbers = _swept("epoch", _EPOCH_CYCLES), _swept("epochs", _EPOCHS)
    queues = _swept("bsq", _QUEUES)
    changes = by_workload(epoch_changes="changes of epochs relative to {base}")
    bandwidth = by_workload(bandwidth="bandwidth relative to {base}")
    queued = by_workload(
        queued="mean entries",
        queued_at_changes="mean entries\nwhen an epoch begins",
        queued_most="most entries",
    )
    prior = by_workload(
        time="execution time relative to {base}", bandwidth="bandwidth relative to {base}"
    )
    cycles, entries = "idle_change_cycles change_cycles", "queued queued_at_changes queued_most"
    every: Mapping[str, object] = {}
    pair, all_five = (_SRC, "stc-mb"), (_SRC, *_TURNS)
    rows: list[
        tuple[str, str, str, tuple[str, ...], str, str, Draw, Mapping[str, object]]
    ] = [
        ("1", "Impact of the acquire operation", "all", (_SRC, _KEPT), "", "l1_hit_rate", _hits, every),
        ("7.1", "Change of epochs", "all", _TURNS, "", cycles, _cycles, every),
        ("8", "Execution time", "all", all_five, _SRC, "time", _time, every),
        ("9", "L1 hit rate", "all", (_SRC, "stc-ab", _KEPT), "", "l1_hit_rate", _hits, every),
        ("10", "Changes of epochs", "all", _TURNS[:3], _TURNS[0], "epoch_changes", changes, every),
        ("7.2a", "Length of epochs", "all", lengths, lengths[1], "time", _time, every),
        ("7.2b", "Number of epochs", "all", numbers, numbers[1], "time", _time, every),
        ("7.2c", "Size of the blocked-store queue", "all", queues, queues[2], "time", _time, every),
        ("7.2d", "L1s of 16 KiB", "all", pair, _SRC, "time", _time, {"l1_kib": 16}),
        ("7.2e", "Blocked-store queue of a CU", "all", _TURNS, "", entries, queued, every),
        ("11", "Bandwidth", "all", (_SRC, *_TURNS), _SRC, "bandwidth", bandwidth, every),
        ("12a", "8 CUs", "scaling reuse_scaling", pair, _SRC, "time", _time, every),
        ("12b", "16 CUs", "scaling reuse_scaling", pair, _SRC, "time", _time, {"cores": 16}),
        ("12c", "32 CUs", "scaling reuse_scaling", pair, _SRC, "time", _time, {"cores": 32}),
        ("7.4", "Change of epochs, 32 CUs", "scaling", _TURNS, "", cycles, _cycles, {"cores": 32}),
        ("7.5", "TC-Strong", "all", (*pair, "tc-strong"), _SRC, "time bandwidth", prior, every),
    ]  # fmt: skip
    return (
        *(
            FigureSpec(
                id=i,
                title=title,
                groups=tuple(groups.split()),
                protocols=names,
                baseline=baseline,
                measures=tuple(measures.split()),
                draw=draw,
                machine=fields,
            )
            for i, title, groups, names, baseline, measures, draw, fields in rows
        ),
        TableSpec(id="table-1", title="States of a line at the L1 (table 1)", rows=state_rows),
        TableSpec(id="table-4", title="Hardware cost (table 4, section 7.5)", rows=structure_rows),
    )


FIGURES = _figures()
