"""``make monitors``: every workload under every protocol with ``check=True``, then random ``synthetic`` runs.

    python tools/monitors.py [--minutes 10] [--seed 0] [--scale tiny]

Every run must be correct (except under a protocol that promises nothing), violate no invariant, enter no impossible
cell and have no data race. The script prints each failure with the command that repeats it, and what was checked. Exit
status 1: a run failed.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator

import gpucoh
from gpucoh.runs.runner import Run


def protocols() -> list[str]:
    """Every protocol, and every one with the options that it declares for tests."""
    return [text for known in gpucoh.protocols().values() for text in known.with_variations()]


def matrix(scale: str) -> Iterator[Run]:
    """Every workload under every protocol, under the default rule and under `sc` if the protocol supports it."""
    for name in gpucoh.workloads():
        for protocol in protocols():
            yield Run(workload=name, protocol=protocol, scale=scale, check=True)
            base = gpucoh.protocols().get(protocol)
            if base is not None and "sc" in base.models:
                yield Run(
                    workload=name, protocol=protocol, scale=scale, consistency="sc", check=True
                )


def sweep(seed: int, until: float) -> Iterator[Run]:
    """`synthetic` with random parameters, machines and protocols, until the time limit."""
    draw = random.Random(seed)
    while time.monotonic() < until:
        scope, blocks = draw.choice(["gpu", "gpu", "cta", "cu"]), draw.choice([1, 2])
        params = {
            "working_set": draw.choice([1, 2, 4, 8, 16]),
            "scope": scope,
            "sharing": {"gpu": draw.choice([2, 4]), "cta": 1, "cu": blocks}[scope],
            "blocks_per_core": blocks,
            "warps_per_block": draw.choice([1, 2, 4]),
            "operations": draw.choice([16, 32, 64]),
            "period": draw.choice([0, 4, 8, 16]),
            "reads": draw.choice([0.2, 0.5, 0.7]),
            "atomics": draw.choice([0.0, 0.05, 0.2]),
            "reuse": draw.choice([0.0, 0.3, 0.8]),
            "zipf": draw.choice([0.0, 0.6, 1.2]),
            "false_sharing": draw.choice([1, 2, 4]),
        }
        machine = {
            "cores": draw.choice([4, 8, 16]),
            "l1_kib": draw.choice([4, 8, 32]),
            "l1_mshrs": draw.choice([1, 4, 128]),
            "l2_kib": draw.choice([2, 4, 16, 128]),
            "l2_ways": 2,
            "l2_mshrs": draw.choice([2, 4, 128]),
            "vc_flits": draw.choice([1, 8]),
            "timestamp_bits": draw.choice([17, 32]),
        }
        yield Run(
            workload="synthetic",
            protocol=draw.choice(protocols()),
            scale="tiny",
            seed=draw.randrange(1 << 30),
            params=params,
            check=True,
            set=machine,
        )


def command(run: Run) -> str:
    """The command line that repeats the run."""
    words = [
        "gpucoh run",
        run.workload,
        "-p",
        f"'{run.protocol}'",
        "--scale",
        run.scale,
        "--seed",
        str(run.seed),
    ]
    words += ["-c", run.consistency] if run.consistency else []
    for option, values in (("--param", run.params), ("--set", run.set)):
        words += [f"{option} {name}={value}" for name, value in (values or {}).items()]
    return " ".join([*words, "--check"])


def carry_out(run: Run, counts: Counter[str]) -> str:
    """The failure of the run, or an empty text. A configuration that is not valid is skipped."""
    try:
        result = run.carry_out(capture=True)
    except gpucoh.ConfigError as error:
        counts["refused"] += 1
        return "" if run.workload == "synthetic" else str(error)
    counts["runs"] += 1
    counts.update(result.stats.check.to_dict())
    excused = result.model == "none" and result.error != "ProtocolError"
    if excused or (not result.error and result.correct is not False):
        return ""
    return f"{result.verdict} {result.error or ''} {result.where}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--minutes", type=float, default=10.0, help="time limit of the synthetic runs"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scale", default="tiny", choices=("tiny", "small"))
    chosen = parser.parse_args()
    failed = 0
    for title in (
        "every workload under every protocol",
        f"synthetic at random, {chosen.minutes:g} minutes",
    ):
        counts: Counter[str] = Counter()
        runs = (
            matrix(chosen.scale)
            if title.startswith("every")
            else sweep(chosen.seed, time.monotonic() + 60 * chosen.minutes)
        )
        for run in runs:
            wrong = carry_out(run, counts)
            if wrong:
                failed += 1
                print(f"{command(run)}\n    {wrong}", flush=True)
        print(
            f"{title}: "
            + ", ".join(f"{name} {count:,}" for name, count in counts.items() if count),
            flush=True,
        )
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
