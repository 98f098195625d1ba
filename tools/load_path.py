"""Check that a missing load walks each file once on its way down and once on its way up, and print the way.

``python tools/load_path.py build/release/load_path``: the executable is ``csrc/tests/load_path.c``, which the meson
test load_path builds. A file on the stack of
calls that is entered again from another file would be walked twice. Only callbacks may do that: the machine's
ports, the function that answers a pending request, and the network's look at an arrived message.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator

SKIPPED = 77  # meson's status of a test that cannot run
#: (file entered again, file that calls back); the ports in machine/ are callbacks of every layer.
CALLBACKS = {
    ("protocols/baseline/baseline.c", "controller/pending.c"),
    ("fabric/network.c", "machine/queues.c"),
}
CONTROLLER = ("controller/controller.c", "controller/fsm.c", "protocols/baseline/baseline.c")
SENDING = (*CONTROLLER, "controller/messages.c", "machine/queues.c", "fabric/network.c")
ARRIVING = ("fabric/arbiter.c", "fabric/network.c", "machine/queues.c")
#: The way of the load, down and up again: (part of the way, files in the order in which they are entered).
WAY = (
    (
        "core to L1 to network",
        (
            *("core/frontend/scheduler.c", "core/memory/load_store.c", "machine/queues.c"),
            *SENDING,
        ),
    ),
    (
        "network to L2 to DRAM",
        (*ARRIVING, *CONTROLLER, "controller/messages.c", "machine/ports.c", "fabric/dram.c"),
    ),
    ("DRAM to L2 to network", ("fabric/dram.c", "machine/queues.c", *SENDING)),
    (
        "network to L1 to core",
        (
            *(*ARRIVING, *CONTROLLER, "controller/requests.c", "controller/messages.c"),
            *("machine/ports.c", "core/memory/completion.c"),
            *("core/waking.c", "core/frontend/scheduler.c"),
        ),
    ),
)


def calls(executable: str) -> Iterator[list[str]]:
    """After every entry of a function: the files on the stack of calls, equal neighbours as one."""
    lines = subprocess.run(
        [executable], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    offsets = sorted({line[1:] for line in lines if line[0] == "+"})
    places = subprocess.run(
        ["addr2line", "-e", executable, *offsets], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    file_of = {
        offset: found[1] if (found := re.search(r"csrc/(.*\.[ch]):", place)) else place
        for offset, place in zip(offsets, places, strict=True)
    }
    stack: list[str] = []
    for line in lines:
        if line == "-":
            stack.pop()
            continue
        stack.append(file_of[line[1:]])
        sources = [name for name in stack if name.endswith(".c")]
        yield [name for i, name in enumerate(sources) if i == 0 or name != sources[i - 1]]


def main() -> int:
    """Print the path; 1 if a file is entered twice, or the order of the files is another one."""
    if shutil.which("addr2line") is None:
        return SKIPPED
    again: set[tuple[str, str]] = set()
    path: list[str] = []
    for files in calls(sys.argv[1]):
        again |= {
            (name, files[i - 1])
            for i, name in enumerate(files)
            if name in files[:i] and not name.startswith("machine/")
        }
        if not path or path[-1] != files[-1]:
            path.append(files[-1])
    print("\n".join(path))
    for name, caller in sorted(again - CALLBACKS):
        print(f"{name}: entered again, from {caller}", file=sys.stderr)
    rest = iter(path)
    missing = [name for _, files in WAY for name in files if name not in rest]  # a subsequence
    if missing:
        print(f"not in the order of the load's way: {missing[0]}", file=sys.stderr)
    return 1 if missing or again - CALLBACKS else 0


if __name__ == "__main__":
    sys.exit(main())
