"""Late imports: large packages are imported where a function first needs them, so that ``import gpucoh`` stays quick.

The packages are SciPy, matplotlib, pandas, pyarrow, Pillow and tqdm, the modules of gpucoh that import one of them at
their top, the workloads of the suite, and cloudpickle and distributed, which are optional. Every late import has this
form, which ``tools/source_rules.py`` checks::

    with LATE_IMPORT:
        import scipy.sparse

One lock for all of them, because two threads that import parts of one package at the same time can each find the other
part half initialised: Python breaks the deadlock of their module locks in this way. All other imports are at the top
of a module.
"""

from __future__ import annotations

import threading

LATE_IMPORT = threading.RLock()
