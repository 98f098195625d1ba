"""The workloads of the suite by module. A module, imported when one of them is asked for, registers its own."""

from __future__ import annotations

import importlib

from gpucoh.base.late import LATE_IMPORT
from gpucoh.suite.base import REGISTRY, Registry

#: Module -> the ids and aliases of its workloads.
MODULES = {
    "alignment": "ndl nw nw-qr",
    "barriers": "tb_lg tbex_lg",
    "centrality": "bc",
    "cloth": "cl",
    "clustering": "kmn kmn-qr",
    "copies": "vec-cpy",
    "diffusion": "sr srad srad-qr",
    "factorisation": "lud lud-qr",
    "graphs": "bfs bfs-mask",
    "heat": "st",
    "histograms": "histogram",
    "hydrodynamics": "lulesh",
    "images": "rg",
    "independent_sets": "mis",
    "ledger": "fg-share",
    "matrices": "sgemm dgemm matrixmul",
    "maxflow": "cc",
    "microbenchmarks": "mb-chase mb-bandwidth mb-atomics mb-fence mb-flag mb-barrier",
    "multigrid": "hpgmg",
    "mutexes": "spm_g spm_l spmbo_g spmbo_l fam_g fam_l slm_g slm_l",
    "neighbours": "nn",
    "networks": "bp",
    "octrees": "bh",
    "particles": "lava",
    "paths": "pf",
    "placement": "vpr",
    "reductions": "reduction",
    "reuse": "cache-reuse",
    "semaphores": "ss_l ssbo_l",
    "shortest_paths": "fw apsp",
    "sorting": "sort",
    "sparse": "spmv",
    "stealing": "dlb dlb-rcc",
    "stencils": "hsp hs hsp-rcc",
    "synthetic": "synthetic",
    "transforms": "fft dct",
    "transport": "snapc",
    "treesearch": "uts",
    "volumes": "lps stn",
}
_MODULE = {name: module for module, names in MODULES.items() for name in names.split()}


def registry(name: object = None) -> Registry:
    """The registry, with the workload of an id or alias; with all if the suite has none of this name."""
    known = isinstance(name, str) and name in _MODULE
    for module in [_MODULE[str(name)]] if known else MODULES:
        with LATE_IMPORT:
            importlib.import_module(f"gpucoh.suite.{module}")
    return REGISTRY
