"""Which fences an all-reduce needs: ``tests/verification/all_reduce.toml`` and ``docs/all-reduce.md``.

    python tools/all_reduce.py --run --explore [WHAT ...]   run and explore all rows or these; note what is found
    python tools/all_reduce.py --run --explore -p NAME,..   the same under these protocols alone, beside what is noted
    python tools/all_reduce.py --docs                       write the table of docs/all-reduce.md

A row is a change of ``examples/cuda/all_reduce.cu`` or ``low_latency.cu``. It is run in each form on two and four GPUs,
those of ``low_latency.cu`` also over narrow links, joined and split, and a model of it, two blocks on two GPUs, is
explored completely, both under every protocol with a memory model; PTX's model judges the same test.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import generated
import numpy as np
import tomli_w
from generated import Maker
from real_bugs import coherent

import gpucoh
from gpucoh import litmus
from gpucoh.litmus import Test
from gpucoh.verify.chosen import in_settings
from gpucoh.verify.explorer import explore, small_choice
from gpucoh.verify.programs import Program, parse

ROOT = Path(__file__).resolve().parents[1]
FACTS = ROOT / "tests" / "verification" / "all_reduce.toml"
PAGE = ROOT / "docs" / "all-reduce.md"
EXAMPLES = ROOT / "examples" / "cuda"
NARROW = {"gpu_bytes": 4}  # a core cycle: messages wait for each other
#: What is run: a preset, and the fields that differ.
MACHINES: dict[str, tuple[str, dict[str, Any]]] = {
    "two-gpus": ("two-gpus", {}),
    "four-gpus": ("four-gpus", {}),
    "narrow": ("two-gpus", NARROW),
    "split": ("two-gpus", NARROW | {"links": "split"}),
}
BOTH = ("two-gpus", "four-gpus")
#: The columns of a program's runs: their heads, the form's and the machines.
COLUMNS: dict[str, dict[str, tuple[str, tuple[str, ...]]]] = {
    "all_reduce": {
        form.lower().replace("_", "-"): (form, BOTH) for form in ("ONE_SHOT", "TWO_SHOT", "PUT")
    },
    "low_latency": {
        "runs": ("", BOTH),
        "4 bytes a cycle": ("", ("narrow",)),
        "the same, `links=split`": ("", ("split",)),
    },
}
STATES = 1_000_000
DEADLOCK_AFTER = 2_000_000  # core cycles
CHECKED_UNDER, CHECKED_ON = "mesi", "two-gpus"
SHARED_WORDS = 1 << 14  # of a GPU, at least those of the programs' `Shared`
#: How a model ends if not right: where some executions are wrong and others hang, it is wrong. Another end is an error.
ENDS = ("wrong", "hangs", "bounded")
#: Of a small machine: loads that poll renew their copies, each time. By default they do not, and never end alone.
OPTIONS = {"rcc-sc": "rcc-sc[polls=0]", "rcc-wo": "rcc-wo[polls=0]"}

Row = dict[str, Any]
Finder = Callable[[Row, Sequence[str]], None]  # notes in a row what it finds under these protocols

# Two blocks on two GPUs, in "tile" on two dies: the program, as gpucoh.verify.programs writes it, and what its load of
# x (of the word of two, of both words) must not read. {store} and {load} are the row's, of the flag y.
MODELS = {
    "start": ("0: st x 1; {fence}{store} y 1 | 1@1: {load} y 1; {fence}ld x", (0,)),
    "tile": ("0: st x 1; {fence}{store} y 1 | 1: {load} y 1; {fence}ld x", (0,)),
    "end": ("0: ld x; st z r0; {store} y 1 | 1@1: {load} y 1; st x 1", (1,)),
    "no end": ("0: st x 1; {store} y 1; st x 2 | 1@1: {load} y 1; ld x", (0, 2)),
    "two buffers": ("0: st x 1; {store} y 1; st z 2 | 1@1: {load} y 1; ld x", (0, 2)),
    "pair": ("0: st.relaxed.sys.b64 x 4294967297 | 1@1: ld.relaxed.sys.b64 x", (1 << 32,)),
    "halves": ("0: st.relaxed.sys x+0 1; st.relaxed.sys x+4 1 | 1@1: ld.relaxed.sys.b64 x", (1 << 32,)),
    "number first": ("0: st.relaxed.sys x+4 1; st.relaxed.sys x+0 1 | 1@1: ld.relaxed.sys.b64 x", (1 << 32,)),
}  # fmt: skip


def read_rows(facts: Path = FACTS) -> list[Row]:
    """The rows, in the page's order."""
    rows: list[Row] = tomllib.loads(facts.read_text(encoding="utf-8"))["row"]
    return rows


def model_of(row: Row) -> tuple[Program, tuple[int, ...]] | None:
    """The program of a row and the values that are wrong; None: its change has no model."""
    if not (name := row.get("model", "start")):
        return None
    text, wrong = MODELS[name]
    orders = {"store": "st.release.sys", "load": "await.acquire.sys", "fence": ""} | row
    return parse(text.format_map(orders), "model"), wrong


def placed(program: Program, places: Sequence[str]) -> Program:
    """The program with its variables x, y and z in these places."""
    text = re.sub(r"\b[xyz]\b", lambda found: places["xyz".index(found[0])], str(program))
    return parse(text, program.name)


def read_of(program: Program, outcome: Sequence[int]) -> int:
    """What the load of x read."""
    place = 0
    for op in (op for thread in program.threads for op in thread.operations if op.reads):
        is_wide = op.variable in program.wide
        if op.kind == "ld":
            return outcome[place] + (outcome[place + 1] << 32 if is_wide else 0)
        place += 1 + is_wide
    raise ValueError(f"no load in {program}")


def explored(row: Row, protocol: str) -> str:
    """``wrong`` if an execution of the model reads a wrong value, ``hangs`` if one never ends, ``right`` if none does.

    ``bounded``: none was seen, in as many states as are allowed.
    """
    choice, model = small_choice(OPTIONS.get(protocol, protocol)), model_of(row)
    assert model
    program, wrong = model
    ends = set()
    several = choice.protocol.dies > 1  # lines have several homes
    for places in itertools.permutations("xyz") if several else ["xyz"]:
        moved = placed(program, places)
        for setting in in_settings([[moved]], choice.protocol.has_l1):
            found = explore(choice, setting, max_states=STATES)
            kinds = {one["kind"] for one in found["violations"]}
            ends |= {"hangs" if kind in ("deadlock", "livelock") else kind for kind in kinds}
            ends |= {"wrong" for outcome in found["outcomes"] if read_of(moved, outcome) in wrong}
            ends |= set() if found["complete"] or kinds else {"bounded"}
    if errors := ends - set(ENDS):
        return ", ".join(sorted(errors))
    return min(ends, key=ENDS.index, default="right")


def litmus_of(program: Program, wrong: Sequence[int]) -> Test:
    """The model as a litmus test: is a wrong value read?"""
    codes: list[list[str]] = []
    condition = []
    for number, thread in enumerate(program.threads):
        code = [f"P{number}@cta {number},gpu {thread.gpu}"]
        for place, op in enumerate(thread.operations):
            order = "weak" if op.order == "WEAK" else f"{op.order}.{op.scope}".lower()
            width = ".b64" if op.bits == 64 else ""
            name = (
                "xyz"[op.variable] if op.word is None else f"[{'xyz'[op.variable]}+{4 * op.word}]"
            )
            if op.kind == "F":
                code.append(f"fence.{order}")
            elif op.kind == "st":
                value = op.value if op.source is None else f"r{op.source}"
                code.append(f"st.{order}{width} {name}, {value}")
            else:
                code.append(f"ld.{order}{width} r{place}, {name}")
                if op.kind == "await":
                    code.append(f"bne r{place}, {op.value}, LC{number}")
                    condition.append(f"P{number}:r{place} == {op.value}")
                else:
                    values = " \\/ ".join(f"P{number}:r{place} == {value}" for value in wrong)
                    condition.append(f"({values})")
        codes.append([*code, f"LC{number}:"])
    rows = itertools.zip_longest(*codes, fillvalue="")
    wide = "uint64_t " if program.wide else ""
    lines = ["PTX model", f"{{ {wide}x=0; y=0; z=0; }}", *(" | ".join(row) + " ;" for row in rows)]
    return litmus.parse("\n".join([*lines, "exists (" + " /\\ ".join(condition) + ")"]), name="model")  # fmt: skip


def promised(row: Row) -> bool | None:
    """Whether PTX forbids the wrong values of the row's model."""
    model = model_of(row)
    return None if model is None else not litmus.allowed(litmus_of(*model), "PTX")


@functools.cache
def kernel_of(program: str, options: tuple[str, ...]) -> Any:
    return gpucoh.cuda.Module(EXAMPLES / f"{program}.cu", options=options)["all_reduce"]


def ran(row: Row, form: str, protocol: str, machine: str, check: bool = False) -> str:
    """``right``, ``wrong`` (an old or a new word), ``hangs``, ``race`` or an error: what becomes of it, in a word."""
    options = (*row.get("options", ()), *([f"-DFORM={form}"] if form else ()))
    kernel = kernel_of(row.get("program", "all_reduce"), options)
    preset, fields = MACHINES[machine]
    with gpucoh.GPU(
        machine=preset, set=fields, protocol=protocol, deadlock_after=DEADLOCK_AFTER, check=check
    ) as gpu:
        devices = range(gpu.machine.gpus)
        shared = [gpu.zeros(SHARED_WORDS, np.uint32, device=one) for one in devices]
        faults = [gpu.zeros(6, np.int32, device=one) for one in devices]
        peers = np.zeros((), [("of", "u8", 4), ("count", "i8")])
        peers["of"][: len(devices)] = [one.address for one in shared]
        peers["count"] = len(devices)
        try:
            with gpu.concurrent():
                for one in devices:
                    gpu.launch(kernel, grid=4, block=64, args=(peers, one, faults[one]), device=one)
        except gpucoh.DeadlockError:
            return "hangs"
        except gpucoh.SimulationError as error:
            return "race" if "data race" in str(error) else str(error)
        return ("right", "wrong", "hangs")[max(int(fault.numpy()[0]) for fault in faults)]


def run_row(row: Row, names: Sequence[str]) -> None:
    """Note how the program ends: form and machine -> end if not right -> protocols; and form -> end with checks."""
    noted = row.setdefault("ran", {})
    for form, machines in COLUMNS[row.get("program", "all_reduce")].values():
        for machine in machines:
            case = f"{form or 'LOW_LATENCY'} {machine}"
            ends = {name: ran(row, form, name, machine) for name in names}
            noted[case] = grouped(ungrouped(noted.get(case, {})) | ends)
    row["check"] = {
        form or "LOW_LATENCY": ran(row, form, CHECKED_UNDER, CHECKED_ON, check=True)
        for form in dict(COLUMNS[row.get("program", "all_reduce")].values())
    }
    print(row["what"], row["ran"], flush=True)


def explore_row(row: Row, names: Sequence[str]) -> None:
    """Note what PTX promises of the row's model, and how exploring it ends where not well: end -> protocols."""
    if (promise := promised(row)) is not None:
        row["ptx"] = promise
        ends = {name: explored(row, name) for name in names}
        row["explored"] = grouped(ungrouped(row.get("explored", {})) | ends)
        print(row["what"], row["explored"], flush=True)


def grouped(ends: dict[str, str]) -> dict[str, str]:
    bad = dict.fromkeys(end for end in ends.values() if end != "right")
    return {end: " ".join(name for name in ends if ends[name] == end) for end in bad}


def ungrouped(found: dict[str, str]) -> dict[str, str]:
    """How each protocol ends, in their order."""
    bad = {name: end for end, names in found.items() for name in names.split()}
    return {name: bad.get(name, "right") for name in coherent()}


def find(facts: Path, wanted: list[str], names: Sequence[str], parts: Sequence[Finder]) -> int:
    """Do these parts for the rows under these protocols, and note what is found."""
    rows = read_rows(facts)
    if unknown := set(wanted) - {row["what"] for row in rows}:
        print(f"unknown row {min(unknown)!r}: {facts.name} has the known ones")
        return 2
    for row, part in itertools.product(rows, parts):
        if not wanted or row["what"] in wanted:
            part(row, names)
    comments = [
        line for line in facts.read_text(encoding="utf-8").splitlines() if line.startswith("#")
    ]
    facts.write_text("\n".join(comments) + "\n\n" + tomli_w.dumps({"row": rows}), encoding="utf-8")
    return 0


def _those(names: Sequence[str]) -> str:
    """Protocols by name, families as ``denovo-*``, or which are not among them."""
    rest = [name for name in coherent() if name not in names]
    if not rest:
        return "all"
    few = rest if len(rest) < len(names) else names
    text = " ".join(few)
    for family in ("denovo", "stc", "rcc", "tc"):
        every = " ".join(name for name in coherent() if name.startswith(f"{family}-"))
        text = text.replace(every, f"{family}-*")
    return ("all but " if few is rest else "") + ", ".join(f"`{name}`" for name in text.split())


def ends_of(found: dict[str, str]) -> str:
    return "; ".join(f"{end}: {_those(names.split())}" for end, names in found.items()) or "right"


def _of_form(row: Row, form: str, machines: Sequence[str]) -> str:
    """How the runs of a form end on these machines together."""
    ends: dict[str, str] = {}
    for machine in machines:
        for end, names in row["ran"][f"{form or 'LOW_LATENCY'} {machine}"].items():
            known = {*ends.get(end, "").split(), *names.split()}
            ends[end] = " ".join(name for name in coherent() if name in known)
    return ends_of(ends)


def _checked(ends: dict[str, str]) -> str:
    """How the runs with checks end, by form if they differ."""
    if len(different := dict.fromkeys(ends.values())) == 1:
        return next(iter(different))
    names = {form: form.lower().replace("_", "-") for form in ends}
    return "; ".join(
        f"{end} ({', '.join(names[form] for form in ends if ends[form] == end)})"
        for end in different
        if end != "right"
    )


def table_of(program: str) -> str:
    """The rows of a program."""
    columns = COLUMNS[program]
    lines = [
        "| | PTX promises it | every execution of the model | `--check` | "
        + " | ".join(columns)
        + " |",
        "|---" * (4 + len(columns)) + "|",
    ]
    for row in read_rows():
        if row.get("program", "all_reduce") != program:
            continue
        promise = "" if "ptx" not in row else "yes" if row["ptx"] else "no"
        seen = "no model" if "explored" not in row else ends_of(row["explored"])
        checked = _checked(row["check"])
        cells = [row["what"], promise, seen, checked]
        cells += [_of_form(row, form, machines) for form, machines in columns.values()]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


PARTS = {
    f"fences of {program}": functools.partial(table_of, program) for program in COLUMNS
}  # fmt: skip


def command(text: str, facts: Path, run: Finder, page: Path, parts: Mapping[str, Maker]) -> int:
    """The command line of a tool that finds the rows of a file of facts, and writes a page with them."""
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--explore", action="store_true")
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("-p", "--protocols", help="by default all that promise a memory model")
    parser.add_argument("what", nargs="*")
    given = parser.parse_args()
    names = given.protocols.split(",") if given.protocols else coherent()
    if unknown := set(names) - set(coherent()):
        parser.error(f"{min(unknown)!r} is no protocol with a memory model")
    finders = [
        finder for finder, asked in ((run, given.run), (explore_row, given.explore)) if asked
    ]
    status = find(facts, given.what, names, finders) if finders else 0
    if given.docs:
        generated.rewrite_named(page, parts)
    return status


def main() -> int:
    return command(__doc__, FACTS, run_row, PAGE, PARTS)


if __name__ == "__main__":
    raise SystemExit(main())
