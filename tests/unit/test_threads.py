"""Concurrent use by several threads."""

import subprocess
import sys

# Both ways to matplotlib at once, in a fresh interpreter: imported in the functions, one of them finds it half made.
PROGRAM = """
import sys
from concurrent.futures import ThreadPoolExecutor
from gpucoh.suite import inputs

def image_or_figures(i):
    if i % 2:
        return inputs.read_image(None)
    from gpucoh.report import plots
    return plots

sys.setswitchinterval(1e-5)
with ThreadPoolExecutor(8) as pool:
    list(pool.map(image_or_figures, range(8)))
"""


def test_images_and_figures_may_be_wanted_first_by_eight_threads():
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
