"""Follow a load that misses, print the files that it enters, and check docs/architecture.md's list of them.

``python tools/load_path.py build/quick/load_path``: the executable is ``csrc/tests/load_path.c``, which the meson test
load_path builds; it prints every call. Four checks: the numbered list under *The path of a memory access* is the files
that carry the load from the scheduler to the L2's table, nine at most; the load and its answer enter files in the order
of ``ORDER``; the calls change the file fewer than ``MOST_CHANGES`` times; and no file on the stack of calls is entered
again from another file. Only callbacks may do that: the machine's ports, the function that answers a pending request,
and the network's look at an arrived message.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SKIPPED = 77  # meson's status of a test that cannot run
PAGE = Path(__file__).resolve().parents[1] / "docs/architecture.md"
MOST_FILES = 9  # of the list
MOST_CHANGES = 200  # of the file of a call, of the whole load and the program around it
DISPATCH = "machine/run.c"  # the loop over events
#: The functions that make the load's request, move it on, and look its event up. The files on the stack of calls of
#: one of them are those that a reader opens; other files of the record are look-ups and bookkeeping, which return.
MOVES = {"new_request", "enter", "pass_on", "arrive"}
LOOK_UP = {"core to L1 to network": "l1_classify", "network to L2 to DRAM": "l2_classify"}
#: (file entered again, file that calls back); the ports in machine/ are callbacks of every layer.
CALLBACKS = {
    ("protocols/baseline/baseline.c", "controller/pending.c"),
    ("fabric/network.c", "machine/serving.c"),
}
CONTROLLER = ("controller/controller.c", "controller/fsm.c", "protocols/baseline/baseline.c")
SENDING = (*CONTROLLER, "controller/messages.c", "machine/serving.c", "fabric/network.c")
ARRIVING = ("fabric/arbiter.c", "fabric/network.c", "machine/serving.c")
#: The load to memory and its answer to the core: (part of the path, files in the order in which they are entered).
ORDER = (
    (
        "core to L1 to network",
        (
            *("core/frontend/scheduler.c", "core/memory/load_store.c", "machine/serving.c"),
            *SENDING,
        ),
    ),
    (
        "network to L2 to DRAM",
        (*ARRIVING, *CONTROLLER, "controller/messages.c", "machine/ports.c", "fabric/dram.c"),
    ),
    ("DRAM to L2 to network", ("fabric/dram.c", "machine/serving.c", *SENDING)),
    (
        "network to L1 to core",
        (
            *(*ARRIVING, *CONTROLLER, "controller/requests.c", "controller/messages.c"),
            *("machine/ports.c", "core/memory/completion.c"),
            *("core/waking.c", "core/frontend/scheduler.c"),
        ),
    ),
)


def calls(executable: str) -> Iterator[tuple[str, list[str]]]:
    """After every entry of a function: its name, and the files on the stack of calls, equal neighbours as one."""
    lines = subprocess.run(
        [executable], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    offsets = sorted({line[1:] for line in lines if line[0] == "+"})
    found = subprocess.run(
        ["addr2line", "-f", "-e", executable, *offsets], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    place_of = {
        offset: (name, source[1] if (source := re.search(r"csrc/(.*\.[ch]):", place)) else place)
        for offset, name, place in zip(offsets, found[::2], found[1::2], strict=True)
    }
    stack: list[str] = []
    for line in lines:
        if line == "-":
            stack.pop()
            continue
        name, file = place_of[line[1:]]
        stack.append(file)
        sources = [one for one in stack if one.endswith(".c")]
        yield name, [one for i, one in enumerate(sources) if i == 0 or one != sources[i - 1]]


def carriers(entries: list[tuple[str, list[str]]]) -> list[str]:
    """The files that carry the load from the scheduler to the L2's table, in the order of their first use."""
    found: list[str] = []
    for name, files in entries:
        if name in MOVES or name in LOOK_UP.values():
            found += [file for file in files if file not in found and file != DISPATCH]
        if name == LOOK_UP["network to L2 to DRAM"]:
            return found
    raise SystemExit(
        "the load does not reach the L2's table: has a function of MOVES another name?"
    )


def listed(page: str) -> list[str]:
    """The files of the numbered list under *The path of a memory access* that begins with the scheduler's."""
    section = page.partition("## The path of a memory access")[2].partition("\n## ")[0]
    return re.findall(r"^\d+\. `([\w/]+\.c)`", section, re.MULTILINE)


def main() -> int:
    """Print the path; 1 if a file is entered twice, or the order of the files or the page's list is another one."""
    if shutil.which("addr2line") is None:
        return SKIPPED
    entries = list(calls(sys.argv[1]))
    again: set[tuple[str, str]] = set()
    path: list[str] = []
    for _, files in entries:
        again |= {
            (name, files[i - 1])
            for i, name in enumerate(files)
            if name in files[:i] and not name.startswith("machine/")
        }
        if not path or path[-1] != files[-1]:
            path.append(files[-1])
    opened, page = carriers(entries), listed(PAGE.read_text(encoding="utf-8"))
    print("from the scheduler to the L2's table:", *opened, sep="\n  ")
    print("entered:", *path, sep="\n  ")
    failures = [
        f"{name}: entered again, from {caller}" for name, caller in sorted(again - CALLBACKS)
    ]
    rest = iter(path)
    missing = [name for _, files in ORDER for name in files if name not in rest]  # a subsequence
    if missing:
        failures.append(f"not in the order of the load's path: {missing[0]}")
    if opened != page:
        failures.append(f"{PAGE.name} lists {', '.join(page) or 'no file'}")
    if len(opened) > MOST_FILES:
        failures.append(f"a reader opens {len(opened)} files, more than {MOST_FILES}")
    if len(path) > MOST_CHANGES:
        failures.append(f"{len(path) - 1} changes of file, {MOST_CHANGES - 1} are allowed")
    print(f"{len(path) - 1} changes of file among {len(set(path))}")
    print(*failures, sep="\n", end="\n" if failures else "", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
