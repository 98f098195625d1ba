"""Command lines that together use every documented option of study, sweep, compare and cuda, and what they need.

``command_lines.py COMMAND..`` runs those of some commands with the ``gpucoh`` beside this Python, in an empty folder; a
test runs them with the command that ``make`` writes, ``tools/installed.py`` with an installed one.
"""

from __future__ import annotations

import contextlib
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

FILES = {
    "study.toml": """
limit_s = 100
limit_gib = 2
sharing = {measure = false}
[[matrix]]
name = "one"
protocols = ["mesi"]
workloads = ["vec-cpy"]
scale = "tiny"
""",
    "sweep.toml": 'workload = "vec-cpy"\nprotocols = ["no-l1", "mesi"]\nscale = "tiny"\nlimit_s = 100\nlimit_gib = 2\n',
    "double.cu": """
#include "times.h"
__global__ void times(int *p) { p[threadIdx.x] *= TIMES; }
int main()
{
    int *p;
    cudaMallocManaged(&p, 128);
    times<<<1, 32>>>(p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
""",
    "include/times.h": "#ifdef TWO\n#define TIMES 2\n#endif\n",
}
# SCHEDULER: the address of a Dask scheduler, for which the package distributed is needed; for cuda a compiler is.
LINES = {
    "study": (
        "study study.toml --jobs 1 --processes --limit-s 60 --limit-gib 1.5 --part 1/1 --matrix one --json",
        "study study.toml --store study.parquet --keep-old --retry failed",
        "study study.toml --store other.parquet --sample 1",
        "study study.toml --show speedup --show gaps --matrix one -m fermi --energy 2024",
        "study study.toml --figures figures",
        "study study.toml --store dask.parquet --scheduler SCHEDULER",
    ),
    "sweep": (
        "sweep sweep.toml --out sweep.parquet -j 1 --processes --limit-s 60 --limit-gib 1.5 --part 1/2",
        "sweep sweep.toml --out sweep.parquet --resume --keep-old --retry failed --json",
        "sweep sweep.toml --out cluster.parquet --scheduler SCHEDULER",
    ),
    "compare": (
        "compare -w vec-cpy -p no-l1,mesi -m fermi -c rc --baseline mesi --scale tiny --seed 1 --seeds 2 --json",
        "compare -w vec-cpy -p mesi --scale tiny -j 1 --processes --limit-s 60 --limit-gib 1.5 --json",
        "compare -w vec-cpy -p mesi --scale tiny --set cores=4 --param words=256 --check --store runs.parquet --json",
        "compare -w vec-cpy -p no-l1,mesi --scale tiny --out compared",
    ),
    "cuda": (
        "cuda double.cu -p mesi -m fermi -c rc --seed 1 --check --set cores=4 -D TWO -I include --nvcc=-lineinfo",
        "cuda double.cu --hip -p mesi -D TWO -I include --limit-s 60 --limit-gib 1.5 --profile --trace trace.html",
        "cuda double.cu -p no-l1,mesi -D TWO -I include -j 1 --out compared --launches 0-1 --until 3 --json",
    ),
}


def used(command: str) -> set[str]:
    """The options that the lines of a command use."""
    words = [word for line in LINES[command] for word in shlex.split(line)]
    return {word.partition("=")[0] for word in words if word.startswith("-")}


def ready(line: str, available: Mapping[str, str]) -> str | None:
    """A line with the address of a scheduler; None if what it needs is not available."""
    for name, value in available.items():
        line = line.replace(name, value)
    lacks_compiler = line.startswith("cuda ") and not shutil.which("nvcc")
    return None if "SCHEDULER" in line or lacks_compiler else line


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A folder with the files."""
    with tempfile.TemporaryDirectory() as made:
        for name, text in FILES.items():
            (path := Path(made, name)).parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        yield Path(made)


def failure(line: str, where: Path) -> str:
    """What a line that fails with the ``gpucoh`` beside this Python prints; empty: it does not fail."""
    program = Path(sys.executable).with_name("gpucoh")
    done = subprocess.run(
        [program, *shlex.split(line)], cwd=where, capture_output=True, text=True, check=False
    )
    return f"$ gpucoh {line}\nstatus {done.returncode}\n{done.stdout}{done.stderr}" * bool(
        done.returncode
    )


@contextlib.contextmanager
def scheduler() -> Iterator[dict[str, str]]:
    """A Dask scheduler with a worker, if the package distributed is there."""
    try:
        import distributed
    except ImportError:
        yield {}
        return
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        yield {"SCHEDULER": cluster.scheduler_address}


def main(commands: list[str]) -> int:
    failed = False
    with folder() as where, scheduler() as available:
        for command in commands or LINES:
            for line in LINES[command]:
                if (one := ready(line, available)) is None:
                    print(f"what it needs is not installed: gpucoh {line}")
                    continue
                print(f"$ gpucoh {one}", flush=True)
                if text := failure(one, where):
                    failed = True
                    print(text)
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
