"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gpucoh.base.units import format_kib
from gpucoh.device.protocols import Option, Protocol, Uncovered
from gpucoh.device.protocols import Table as ProtocolTable
from gpucoh.machines import Machine, description
from gpucoh.results.dies import Dies, link_name
from gpucoh.results.matrix import Matrix
from gpucoh.results.runs import RunResult
from gpucoh.results.series import Series
from gpucoh.results.stats import STALL_SUMS
from gpucoh.suite import GROUPS, PAPERS, Workload
from gpucoh.terminal.explanation import derived_numbers


def plain_table(
    columns: Sequence[str], rows: Sequence[Sequence[object]], *, right: Sequence[int] = ()
) -> Table:
    """A table with a header line; the columns numbered in ``right`` are right-aligned."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else str(cell) for cell in row))
    return table


def verdict(run: RunResult) -> Text:
    """The verdict of a run, coloured if the terminal has colours."""
    word = run.verdict
    if run.correct is False and not run.error:
        word = f"WRONG ({run.mismatches:,} words)"
    elif run.error:
        word = word.upper()
    return Text(word, style={True: "green", None: "yellow"}.get(run.correct, "bold red"))


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _mean(row: Mapping[str, Any], name: str) -> str:
    """A mean, with its smallest and largest value over the seeds if there are several."""
    spread = row.get(f"{name}_spread")
    return _ratio(row[name]) + (f" ({spread[0]:.2f}-{spread[1]:.2f})" if spread else "")


def _energy(joules: Mapping[str, float]) -> str:
    """The total and the network's share; zero for a run that ended before its first cycle."""
    total = f"{joules['total'] * 1e3:.3g} mJ"
    if not joules["total"]:
        return total
    return f"{total} ({joules['noc_dynamic'] / joules['total']:.1%} network, dynamic)"


def checked(counts: Mapping[str, int], model: str) -> str:
    """What ``--check`` checked, in one line, so that a run that checked nothing is visible."""
    others = [
        f"{counts[name]:,} {text}"
        for name, text in (
            ("copies", "copies"),
            ("leases", "leases"),
            ("fences", "fences"),
            ("undecided", "words undecided"),
        )
        if counts[name]
    ]
    counted = [
        f"{counts['steps']:,} steps",
        f"{counts['writes']:,} writes",
        f"{counts['loads']:,} loaded words",
        *others,
    ]
    if model == "none":
        return ", ".join(counted) + "; races: not checked, since no model is promised"
    races = f"{counts['race_accesses']:,} plain and {counts['race_synchronising']:,} synchronising accesses to words"
    return ", ".join(counted) + "; races: " + races


def print_run(console: Console, run: RunResult, check: bool = False) -> None:
    """Print one run; with ``check`` also what was checked."""
    stats = run.stats
    loads, hits = stats.l1["loads"], stats.l1["load_hits"]
    console.print(
        f"[bold]{run.workload}[/] under [bold]{run.protocol.replace('[', chr(92) + '[')}[/] on {run.machine}: "
        f"consistency {run.consistency}, model {run.model}, scale {run.scale}, seed {run.seed}"
    )
    rows: list[tuple[str, object]] = [("result", verdict(run))]
    if run.where:
        rows.append(("where", Text(run.where)))
    rows += [
        ("core cycles", f"{run.cycles:,}"),
        (
            "warp instructions",
            f"{stats['instructions']:,} ({stats['memory_instructions']:,} to global memory)",
        ),
        ("L1 loads", f"{loads:,}, {hits / loads:.1%} hits" if loads else "0"),
        ("flits sent", f"{stats.flits():,}"),
        ("DRAM", f"{stats.dram['reads']:,} reads, {stats.dram['writes']:,} writes"),
    ]
    if busiest := stats.busiest:
        units = len(stats["busy"][busiest["part"]])
        unit = f"unit {busiest['unit']} of {units}{_where(run, busiest)}"
        rows.append(
            ("busiest part", f"{busiest['part']}, {busiest['share']:.0%} of the cycles ({unit})")
        )
    rows.append(("energy", _energy(stats.energy)))
    for kernel, fit in run.occupancy.items():
        rows.append(
            (
                "occupancy",
                (
                    f"{kernel}: {fit['blocks']} blocks, {fit['warps']} warps per core (limit: {fit['limit']}), "
                    f"{fit['registers']} registers per thread, {fit['scratchpad_bytes']} B scratchpad per block"
                ),
            )
        )
    if check:
        rows.append(("checked", checked(stats.check, run.model)))
    rows.append(("wall clock", f"{run.wall_s:.2f} s"))
    rows += [("note", Text(note)) for note in run.notes]
    grid = Table.grid(padding=(0, 2, 0, 0))
    for name, value in rows:
        grid.add_row("  " + name, value if isinstance(value, Text) else Text(str(value)))
    console.print(grid)


def _where(run: RunResult, busiest: Mapping[str, Any]) -> str:
    """The die of the busiest unit, or the link, on several dies."""
    part, unit, units = busiest["part"], busiest["unit"], len(run.stats.busy[busiest["part"]])
    dies = Dies.of_machine(run.configuration)
    if part == "links":
        return f": {link_name(list(run.stats.links)[unit])}"
    shared = dies.several and part != "network" and units % dies.count == 0
    return f": {dies.name(unit * dies.count // units)}" if shared else ""


def _counted(rows: Sequence[Mapping[str, Any]]) -> dict[str, object]:
    """A few counters of launches or intervals together."""
    whole = {
        name: sum(row[name] for row in rows)
        for name in ("cycles", "instructions", "l1_loads", "l1_load_hits", "flits")
    }
    loads, hits = whole["l1_loads"], whole["l1_load_hits"]
    return {
        "cycles": whole["cycles"],
        "instructions": whole["instructions"],
        "IPC": _ratio(whole["instructions"] / whole["cycles"] if whole["cycles"] else None),
        "L1 hits": f"{hits / loads:.0%}" if loads else "-",
        "flits": whole["flits"],
        "DRAM": sum(row["dram_reads"] + row["dram_writes"] for row in rows),
    }


def print_series(console: Console, series: Series) -> None:
    """Print a few counters by launch and by interval."""
    for name, rows in (("launch", series.launch_rows), ("interval", series.interval_rows)):
        lines = [
            {name: row.get("kernel", number), "begin": row["begin"]}
            | _counted([row])
            | {"largest stall": _stall(row)}
            for number, row in enumerate(rows)
        ]
        heads = [name, "begin", "cycles", "IPC", "L1 hits", "flits", "DRAM", "largest stall"]
        _print_counted(console, heads, lines)


def print_kernels(console: Console, series: Series) -> None:
    """Print a few counters by kernel, over its launches."""
    kernels: dict[str, list[Mapping[str, Any]]] = {}
    for row in series.launch_rows:
        kernels.setdefault(row["kernel"], []).append(row)
    lines = [
        {"kernel": name, "launches": len(rows)} | _counted(rows) for name, rows in kernels.items()
    ]
    heads = ["kernel", "launches", "cycles", "instructions", "IPC", "L1 hits", "flits", "DRAM"]
    _print_counted(console, heads, lines)


def _print_counted(
    console: Console, heads: Sequence[str], lines: Sequence[Mapping[str, object]]
) -> None:
    right = [place for place, name in enumerate(heads) if place and name != "largest stall"]
    console.print()
    console.print(
        plain_table(heads, [[line[name] for name in heads] for line in lines], right=right)
    )


def _stall(row: Mapping[str, Any]) -> str:
    """The largest cause of stalls, and its share of all stall cycles."""
    sums = [f"stalls_{name}" for name in STALL_SUMS]
    causes = {k: v for k, v in row.items() if k.startswith("stalls_") and k not in sums}
    largest = max(causes, key=lambda name: causes[name])
    whole = sum(causes.values())
    return f"{largest.removeprefix('stalls_')} {causes[largest] / whole:.0%}" if whole else "-"


def print_comparison(console: Console, comparison: Matrix) -> None:
    """Print the matrix, the means, and where answers are wrong."""
    rows: list[list[object]] = []
    last: tuple[str, ...] = ()
    for run, relative in zip(comparison.runs, comparison.summary, strict=True):
        loads, hits = run.stats.l1["loads"], run.stats.l1["load_hits"]
        rows.append(
            [
                run.machine if (run.machine,) != last[:1] else "",
                run.workload if (run.machine, run.workload) != last else "",
                Text(run.protocol),
                run.model,
                run.seed,
                f"{run.cycles:,}",
                _ratio(relative["speedup"]),
                f"{run.stats.flits():,}",
                _ratio(relative["traffic"]),
                _ratio(relative["energy"]),
                f"{hits / loads:.0%}" if loads else "-",
                verdict(run),
            ]
        )
        last = (run.machine, run.workload)
    columns = ["machine", "workload", "protocol", "model", "seed", "cycles", "speedup", "flits"]
    columns += ["traffic", "energy", "L1 hits", "answer"]
    # The full table does not fit into 80 columns.
    left_out = {"flits", "energy", "L1 hits"} if console.width < 100 else set()
    left_out |= {"seed"} if len(comparison.seeds) == 1 else set()
    left_out |= {"machine"} if len(comparison.machines) == 1 else set()
    kept = [number for number, column in enumerate(columns) if column not in left_out]
    console.print(
        plain_table(
            [columns[number] for number in kept],
            [[row[number] for number in kept] for row in rows],
            right=[place for place, number in enumerate(kept) if 4 <= number <= 10],
        )
    )
    console.print()
    several = len(comparison.machines) > 1
    means = [
        [
            Text(f"{row['machine']} {row['protocol']}" if several else row["protocol"]),
            row["model"],
            *(_mean(row, name) for name in ("speedup_harmonic", "speedup", "traffic", "energy")),
            f"{row['workloads']} of {len(comparison.workloads)}",
        ]
        for row in comparison.mean_rows()
    ]
    columns = ["means", "model", "speedup (harmonic)", "speedup", "traffic", "energy"]
    columns += ["correct runs"]
    console.print(plain_table(columns, means, right=(2, 3, 4, 5, 6)))
    console.print(
        f"model: the memory model promised; speedup, traffic and energy are relative to {comparison.baseline}; "
        "means are geometric unless stated"
        + (", averaged over the seeds (smallest-largest)" if len(comparison.seeds) > 1 else ""),
        markup=False,
        style="dim",
    )
    for run in comparison.runs:
        if run.correct is False:
            note = "" if run.counts_as_failure else " (not a failure: no model is promised)"
            seed = f", seed {run.seed}" if len(comparison.seeds) > 1 else ""
            seed = (f" on {run.machine}" if several else "") + seed
            console.print()
            console.print(
                f"{run.workload} under {run.protocol}{seed}{note}: {run.where}",
                markup=False,
                soft_wrap=True,
            )


def print_protocols(console: Console, protocols: dict[str, Protocol]) -> None:
    """Print all protocols, one line each."""
    rows = [
        [
            item.id,
            item.name,
            item.paper,
            ", ".join(f"{rule}: {model}" for rule, model in item.models.items()),
            ", ".join(
                f"{table.name} {len(table.states)} states" for table in item.controllers.values()
            ),
        ]
        for item in protocols.values()
    ]
    console.print(plain_table(["id", "name", "paper", "promises", "tables"], rows))


def print_protocol(console: Console, protocol: Protocol) -> None:
    """Print one protocol: its promises, options, messages and transition tables."""
    console.print(
        f"{protocol.id}: {protocol.name} ({protocol.paper}; family {protocol.family})", markup=False
    )
    if protocol.json.get("text"):
        console.print(str(protocol.json["text"]), markup=False)
    for rule, model in protocol.models.items():
        default = " (default)" if rule == protocol.default_rule else ""
        gpus = f", between GPUs {protocol.gpus_model}" if protocol.gpus_model else ""
        console.print(f"consistency {rule}{default}: model {model}{gpus}", markup=False)
    if protocol.options:
        options = [
            [o.name, o.word(o.default), o.allowed(), o.text + _small(o)]
            for o in protocol.options.values()
        ]
        console.print(plain_table(["option", "default", "allowed", "meaning"], options))
        for o in protocol.options.values():
            if o.analysis:
                warning = f"{o.name}: for analysis only: with another value than {o.word(o.default)}, {protocol.id}"
                console.print(f"{warning} promises no memory model: {o.analysis}", markup=False)
    if protocol.variations:
        varied = ", ".join(protocol.with_variations()[1:])
        console.print(f"variations that tests run: {varied}", markup=False)
    if protocol.weak_outcomes:
        weak = ", ".join(protocol.weak_outcomes)
        console.print(f"litmus tests whose weak outcome runs show: {weak}", markup=False)
    networks = [network["name"] for network in protocol.json.get("networks", ())]
    messages = [
        [m["name"], m["class"], networks[m["network"]], _size(m), m["text"]]
        for m in protocol.json.get("messages", ())
    ]
    console.print()
    console.print(plain_table(["message", "class", "network", "bytes", "meaning"], messages))
    for table in protocol.controllers.values():
        console.print()
        _print_transitions(console, table)
        for item in protocol.uncovered:
            if item.table == table.name:
                _print_uncovered(console, item)


def _small(option: Option) -> str:
    return "" if option.small is None else f" ({option.word(option.small)} in gpucoh verify)"


def _print_uncovered(console: Console, item: Uncovered) -> None:
    rules = f" under {', '.join(item.rules)}" if item.rules else ""
    cells = f"{', '.join(item.states)} at {', '.join(item.events)}"
    console.print(f"no program enters {cells}{rules}: {item.reason}", markup=False)


def _size(message: dict[str, object]) -> str:
    words = int(str(message["bytes_per_word"]))
    return f"{message['fixed_bytes']}" + (f" + {words} per word" if words else "")


def _print_transitions(console: Console, table: ProtocolTable) -> None:
    console.print(
        f"{table.name}: {len(table.states)} states ({len(table.stable)} stable), {len(table.events)} events, "
        f"{table.transitions} transitions, {table.hardened} hardened",
        style="bold",
        highlight=False,
        markup=False,
    )
    names = [[name, table.texts.get(name, "")] for name in table.states]
    console.print(plain_table(["state", ""], names))
    names = [[name, table.texts.get(name, "")] for name in table.events]
    console.print(plain_table(["event", ""], names))
    cells = [
        [
            "*" if cell.reason else "",
            cell.state,
            cell.event,
            cell.actions,
            cell.next + (" (hardened)" if cell.hardened else ""),
        ]
        for cell in table.cells()
    ]
    console.print(plain_table(["", "state", "event", "actions", "next state"], cells))
    if table.base:
        _print_patches(console, table)


def _print_patches(console: Console, table: ProtocolTable) -> None:
    """Print the cells that differ from the base's, by their reasons."""
    by_reason: dict[str, list[str]] = {}
    for state, event, reason in table.patches:
        by_reason.setdefault(reason, []).append(f"{state} at {event}")
    console.print(
        f"* differs from {table.base}'s {table.name} in {len(table.patches)} cells:", markup=False
    )
    for reason, changed in by_reason.items():
        console.print(f"  {', '.join(changed)}: {reason}", markup=False, highlight=False)


def print_machines(console: Console, machines: dict[str, Machine]) -> None:
    """Print all machines, one line each."""
    rows = [
        [
            name,
            description(name),
            f"{item.cores} x {item.core_mhz} MHz",
            format_kib(item.l1_kib),
            format_kib(float(item.derived["l2_total_kib"])),
        ]
        for name, item in machines.items()
    ]
    console.print(plain_table(["id", "description", "cores", "L1", "total L2"], rows))


def print_machine(console: Console, item: Machine) -> None:
    """Print one machine: every number with unit and source, and the derived numbers."""
    console.print(f"{item.name}: {description(item.name)}", markup=False)
    rows = [[name, value, unit, source] for name, value, unit, _, source in item.rows()]
    console.print(plain_table(["field", "value", "unit", "source"], rows, right=(1,)))
    console.print()
    _print_derived(console, derived_numbers(item))


def _print_derived(console: Console, derived: Mapping[str, Mapping[str, Any]]) -> None:
    rows = [
        [name, f"{number['value']:g}", number["unit"], number["rule"]]
        for name, number in derived.items()
    ]
    console.print(plain_table(["derived", "value", "unit", "rule"], rows, right=(1,)))


def print_workloads(console: Console, workloads: dict[str, Workload]) -> None:
    """Print all workloads, one line each."""
    rows = [
        [
            item.id,
            item.group,
            " ".join(item.papers),
            "yes" if item.needs_coherence else "no",
            item.title,
        ]
        for item in workloads.values()
    ]
    console.print(plain_table(["id", "group", "papers", "needs coherence", "description"], rows))
    for title, legend in (("group", GROUPS), ("papers whose evaluation uses it", PAPERS)):
        console.print(f"\n{title}", markup=False)
        for letter, meaning in legend.items():
            console.print(f"  {letter}  {meaning}", markup=False, soft_wrap=True)


def print_workload(console: Console, item: Workload) -> None:
    """Print one workload and its parameters."""
    console.print(f"{item.id}: {item.title}", markup=False, soft_wrap=True)
    for letter in item.group:
        console.print(f"group {letter} ({GROUPS[letter]})", markup=False, soft_wrap=True)
    if item.papers:
        papers = ", ".join(f"{letter} ({PAPERS[letter]})" for letter in item.papers)
        console.print(f"papers {papers}", markup=False, soft_wrap=True)
    console.print(f"check: {item.check}", markup=False, soft_wrap=True)
    if item.aliases:
        console.print(f"aliases: {', '.join(item.aliases)}", markup=False)
    rows = [
        [
            p.name,
            p.kind,
            *("-" if p.default(s) is None else p.default(s) for s in item.scales),
            p.text,
        ]
        for p in item.parameters
    ]
    if rows:
        console.print(plain_table(["parameter", "kind", *item.scales, "meaning"], rows))


def print_explanation(console: Console, given: Mapping[str, Any]) -> None:
    """Print where a run's numbers come from, as :func:`gpucoh.terminal.explanation.explanation` returns it."""
    console.print(
        f"machine {given['machine']}: 'gpucoh machines {given['machine']}' prints every number and its source",
        markup=False,
    )
    changes = list(given["changes"].items())
    if changes and len(changes) < 20:
        console.print(plain_table(["changed field", "value"], changes))
    _print_derived(console, given["derived"])
    consistency = given["consistency"]
    where = "given" if consistency["asked_for"] else "the paper's"
    console.print(
        f"protocol {given['protocol']}: consistency {consistency['value']} ({where}); "
        f"supported: {', '.join(consistency['kept'])}",
        markup=False,
        soft_wrap=True,
    )
    rows = [
        [
            name,
            option["value"],
            "given" if option["asked_for"] else "default",
            option["allowed"],
            option["text"],
        ]
        for name, option in given["options"].items()
    ]
    if rows:
        console.print(plain_table(["option", "value", "", "allowed", "meaning"], rows))
