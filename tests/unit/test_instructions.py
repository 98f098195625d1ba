"""Does the table of host instructions name every part of the core, also of what link-time optimisation inlines?"""

from collections import Counter
from pathlib import Path

import pytest

from scripts import script

ROOT = Path(__file__).parents[2]

#: run_events, with inlined lines of the network and of DRAM, calls a function with a line of another library.
OUTPUT = """\
fl=(1) ../../csrc/engine/wheel.c
fn=(1) run_events
10 5
+2 3
fi=(2) ../../csrc/fabric/network.c
20 7
fe=(1)
14 1
fi=(3) ../../csrc/fabric/dram.c
30 2
cfi=(4) ../../csrc/core/frontend/scheduler.c
cfn=(2) select
calls=3 40
* 100
fe=(1)
-2 1
fl=(4)
fn=(2)
40 60
fi=(5) /usr/include/string.h
9 4
totals: 83
"""


@pytest.fixture
def tool():
    return script("benchmarks/instructions.py")


def test_inlined_lines_count_for_their_own_file(tool):
    assert tool.self_costs(OUTPUT) == {
        "engine/wheel.c": 10, "fabric/network.c": 7, "fabric/dram.c": 2, "core/frontend/scheduler.c": 60,
        "/usr/include/string.h": 4,
    }  # fmt: skip


def test_every_file_of_the_core_has_a_part_and_every_part_files(tool):
    files = [path.relative_to(tool.CORE).as_posix() for path in tool.CORE.rglob("*.[ch]")]
    files = [file for file in files if not file.startswith(("tests/", "python/"))]
    parts = {tool.part_of(file) for file in files}
    assert parts == set(tool.ORDER) - {"other"}
    for name in ("wheel", "issue", "coalescer", "controllers", "network", "DRAM"):
        assert name in parts


def test_the_table_has_the_share_of_each_part_and_refuses_a_core_without_them(tool, capsys):
    files = [
        f"{start.rstrip('/')}/x.c" if start.endswith("/") else f"{start}.c" for start in tool.PARTS
    ]
    tool.by_part({"a": Counter(dict.fromkeys(files, 10))})
    head, row, dearest = capsys.readouterr().out.splitlines()[1:]
    shares = dict(zip(head.split()[2:], map(float, row.split()[1:]), strict=True))
    assert shares.pop("other") == 0
    assert min(shares.values()) > 0
    assert dearest.startswith("dearest files: ")
    with pytest.raises(SystemExit, match=r"no instruction is attributed to .*wheel"):
        tool.by_part({"a": Counter({"": 10})})
