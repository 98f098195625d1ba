"""Concurrent use by several threads."""

import subprocess
import sys

import pytest

# Every late import first needed at once, in a fresh interpreter: without their lock a thread finds a package half made.
PROGRAM = """
import sys
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from gpucoh.base.late import LATE_IMPORT
from gpucoh.suite import inputs

def figures():
    with LATE_IMPORT:
        from gpucoh.figures import plots

def results():
    with LATE_IMPORT:
        from gpucoh.runs.store import Store

def image():
    inputs.read_image(None)

def matrix():
    inputs.Graph(np.array([0, 1, 2], np.int32), np.array([1, 0], np.int32), "pair").matrix()

sys.setswitchinterval(1e-5)
with ThreadPoolExecutor(8) as pool:
    for done in [pool.submit(call) for call in (figures, results, image, matrix) * 2]:
        done.result()
"""


@pytest.mark.long
def test_eight_threads_may_be_the_first_to_need_large_packages():
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
