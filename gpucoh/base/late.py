"""Late imports: large packages are imported where a function first needs them, so that ``import gpucoh`` stays quick.

The packages are SciPy, matplotlib, pandas, pyarrow, Pillow and tqdm, the modules of gpucoh that import one of them at
their top, those that most runs do not use, the workloads of the suite, and cloudpickle and distributed, which are
optional. Every late import has this
form; ruff checks what is imported (``pyproject.toml``), ``tools/source_rules.py`` the lock::

    with LATE_IMPORT:
        import scipy.sparse

One lock for all of them, because two threads that import parts of one package at the same time can each find the other
part half initialised: Python breaks the deadlock of their module locks in this way. It still does in Python 3.11, with
SciPy 1.17, matplotlib 3.11 and pandas 3.1: of 20 runs of this script four failed, three with ``KeyError: 'scipy'`` and
one with ``ImportError: cannot import name 'PytestTester' from partially initialized module 'scipy._lib._testutils'``::

    import importlib, threading
    from concurrent.futures import ThreadPoolExecutor

    packages = "pandas", "scipy.io", "scipy.sparse", "scipy.sparse.csgraph", "matplotlib.pyplot"
    start = threading.Barrier(len(packages))

    def first_use(package):
        start.wait()
        importlib.import_module(package)

    with ThreadPoolExecutor(len(packages)) as pool:
        list(pool.map(first_use, packages))

All other imports are at the top of a module.
"""

from __future__ import annotations

import threading

LATE_IMPORT = threading.RLock()
