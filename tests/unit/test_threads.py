"""Concurrent use by several threads."""

import ast
import contextlib
import gc
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gpucoh.base.parsing import parsed

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


# CPython 3.11 spoils a syntax tree where collections of garbage run Python code while another thread parses too.
def test_a_text_is_parsed_while_another_thread_parses():
    text = Path(ast.__file__).read_text()
    ended = threading.Event()

    def elsewhere():
        while not ended.is_set():
            with contextlib.suppress(SystemError):
                ast.parse(text)

    gc.callbacks.append(lambda *_: sum(range(100)))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    other = threading.Thread(target=elsewhere)
    other.start()
    try:
        for _ in range(20):
            parsed(text)
    finally:
        ended.set()
        other.join()
        gc.callbacks.pop()
        sys.setswitchinterval(interval)
