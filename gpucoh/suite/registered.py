"""The modules with the suite's workloads; each registers its own when it is imported."""

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
    "hashtables": "ht",
    "heat": "st",
    "histograms": "histogram",
    "hydrodynamics": "lulesh",
    "images": "rg",
    "independent_sets": "mis",
    "ledger": "fg-share",
    "matrices": "dgemm matrixmul sgemm",
    "maxflow": "cc",
    "microbenchmarks": "mb-atomics mb-bandwidth mb-barrier mb-chase mb-fence mb-flag",
    "multigrid": "hpgmg",
    "mutexes": "fam_g fam_l slm_g slm_l spm_g spm_l spmbo_g spmbo_l",
    "neighbours": "nn",
    "networks": "bp",
    "octrees": "bh",
    "particles": "lava",
    "paths": "pf",
    "placement": "vpr",
    "ranking": "pr",
    "reductions": "reduction",
    "reuse": "cache-reuse",
    "semaphores": "ss_l ssbo_l",
    "shortest_paths": "apsp fw",
    "sorting": "sort",
    "spanning": "mst",
    "sparse": "spmv",
    "stealing": "dlb dlb-rcc",
    "stencils": "hs hsp hsp-rcc",
    "synthetic": "synthetic",
    "transforms": "dct fft",
    "transport": "snapc",
    "treesearch": "uts",
    "volumes": "lps stn",
}
_OWNERS = {name: module for module, names in MODULES.items() for name in names.split()}


def registry(name: object = None) -> Registry:
    """The registry with the workload of an id or alias, or with all."""
    with LATE_IMPORT:
        known = isinstance(name, str) and name in _OWNERS
        for module in [_OWNERS[str(name)]] if known else MODULES:
            importlib.import_module(f"gpucoh.suite.{module}")
    return REGISTRY
