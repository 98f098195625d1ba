"""A test's time limit fails that test alone.

pytest-timeout raises wherever the test's process is. Inside a test, its set-up or its end pytest reports that as a
failure; while pytest writes a report, as of a long comparison, it would end the session with INTERNALERROR and lose the
failures so far. So the limit does not run while a report is written.
"""

import signal

import pytest

#: Seconds that a test has at least after a report, so that its limit does not run out between its phases.
LEFT = 1


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport():
    left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        return (yield)
    finally:
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(left, LEFT))
