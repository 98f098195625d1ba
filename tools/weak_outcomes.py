"""Check that protocols show the weak outcomes that they declare: a harness that shows none proves nothing.

python tools/weak_outcomes.py            a table; exit status 1: an outcome was not seen, or a forbidden one was
"""

from __future__ import annotations

import sys
import threading

import gpucoh
from gpucoh.litmus import Verdicts, builtin
from gpucoh.litmus.harness import names, observe

MOST_RUNS = 60_000
A_SEED = 3000


def search(test_id: str, protocol: str) -> tuple[int, int, bool]:
    """Number of runs, observations, and whether all observed states are allowed; ends at the first observation."""
    test = builtin(test_id)
    machine = gpucoh.machine("fermi")
    item = gpucoh.protocols()[protocol]
    verdicts = Verdicts(test, item.model(item.default_rule))
    listed = names(test)
    runs = seen = 0
    fine = True
    for seed in range(MOST_RUNS // A_SEED):
        found = observe(
            test, protocol, item.default_rule, machine, A_SEED, seed, stop=threading.Event()
        )
        runs += found.runs
        fine &= not found.error
        for final, count in found.states.items():
            fine &= verdicts.allows(final)
            if test.condition.matches(dict(zip(listed, final, strict=True))):
                seen += count
        if seen:
            break
    return runs, seen, fine


def meant() -> list[tuple[str, str]]:
    """Every protocol with each test whose allowed weak state has to be seen."""
    known = gpucoh.protocols().items()
    return [(name, test) for name, protocol in known for test in protocol.weak_outcomes]


def main() -> int:
    missing = 0
    for protocol, test in meant():
        runs, seen, fine = search(test, protocol)
        verdict = "seen" if seen else "NOT SEEN"
        verdict += "" if fine else ", and FORBIDDEN states"
        sys.stdout.write(f"{protocol:10} {test:14} {seen:6} of {runs:6} runs  {verdict}\n")
        sys.stdout.flush()
        missing += not seen or not fine
    return int(missing > 0)


if __name__ == "__main__":
    sys.exit(main())
