"""What a profile-guided build is trained on: suite workloads at scale tiny under every protocol; see ``pgo.sh``."""

from __future__ import annotations

import sys

import gpucoh

#: Loads and stores of several kinds, atomics, barriers and synchronisation. What ``benchmarks/`` runs is left out,
#: so that they measure what the profile does for kernels that it does not know.
WORKLOADS = ("bh", "bp", "cl", "fam_g", "fft", "lps", "lud", "reduction", "spmv")


def main() -> int:
    for protocol in gpucoh.protocols():
        for workload in WORKLOADS:
            result = gpucoh.run(workload, protocol=protocol, scale="tiny")
            if not result.correct and protocol != "no-coh":
                print(f"{workload} under {protocol} is wrong: {result.error}")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
