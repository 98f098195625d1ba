"""Does a test that reaches its time limit leave the session, and the failures before it, whole?"""

import os
import subprocess
import sys
from pathlib import Path

TESTS = """
import time

def test_before(): assert 0
def test_that_is_slow(): time.sleep(5)
def test_whose_report_is_slow(hooked): assert 0
def test_after(): pass
"""
# Another plugin that takes its time while a report is written.
CONFTEST = """
import time
import pytest

@pytest.fixture
def hooked(): pass

@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    if "hooked" in item.fixturenames:
        time.sleep(0.6)
    return (yield)
"""


def test_a_limit_that_runs_out_in_a_report_does_not_end_the_session(tmp_path):
    (tmp_path / "test_slow.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "limits", "-p", "no:xdist"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    ended = subprocess.run(
        [*command, "-p", "no:cacheprovider", "--timeout", "1", "--rootdir", tmp_path, tmp_path],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert "INTERNALERROR" not in ended.stdout
    assert "3 failed, 1 passed" in ended.stdout
    assert "Timeout (>1.0s)" in ended.stdout
