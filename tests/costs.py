"""What each test costs: ``pytest --costs FILE`` writes processor seconds, most first, as CSV.

Processor time of the test's process and of the processes that it has waited for, with setup and
teardown. Unlike wall time it hardly depends on what else the machine does.
"""

import csv
import resource
from pathlib import Path

import pytest

_START = pytest.StashKey()
_NAME = "processor seconds"


def _seconds():
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


class Costs:
    """Measures in the process that runs a test, and collects in the one that reports it."""

    def __init__(self, path):
        self.path, self.seconds = Path(path), {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        item.stash[_START] = _seconds()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item):
        report = yield
        if report.when == "teardown":
            report.user_properties.append((_NAME, _seconds() - item.stash[_START]))
        return report

    def pytest_runtest_logreport(self, report):
        for name, value in report.user_properties:
            if report.when == "teardown" and name == _NAME:
                self.seconds[report.nodeid] = value

    def pytest_sessionfinish(self, session):
        if hasattr(session.config, "workerinput"):
            return
        with self.path.open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["seconds", "test"])
            for test, seconds in sorted(self.seconds.items(), key=lambda item: -item[1]):
                table.writerow([f"{seconds:.2f}", test])
