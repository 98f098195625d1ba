"""What all tests share.

Helpers of tests are imported by their path below ``tests/`` (pytest's ``pythonpath``), as in
``from core_api.programs import Assembler``. Random tests are seeded in CI: the same commit gives
the same verdict.
"""

import os

import matplotlib
import pytest
from hypothesis import settings

import limits
from costs import Costs
from scripts import script

matplotlib.use("Agg")

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


def pytest_addoption(parser):
    parser.addoption("--costs", metavar="FILE", help="write each test's processor seconds as CSV")


def pytest_configure(config):
    config.pluginmanager.register(limits)
    if config.getoption("--costs"):
        config.pluginmanager.register(Costs(config.getoption("--costs")))


def pytest_collection_modifyitems(items):
    items[:] = [
        item
        for item in items
        if not any(mark.kwargs.get("left_out") for mark in item.iter_markers("product"))
    ]


@pytest.fixture
def mutant_gpucoh():
    """A copy of the package in which planted bugs are protocols too: ``gpucoh.GPU(protocol="tc-weak!h1")``."""
    with script("tools/mutants.py").loaded() as package:
        yield package


@pytest.fixture
def counted(monkeypatch):
    """The runs of a sweep that were really carried out."""
    from gpucoh.runs import sweeps

    seen, original = [], sweeps.carry_out

    def count(run, key, stop=None, **options):
        seen.append(run)
        return original(run, key, stop, **options)

    monkeypatch.setattr(sweeps, "carry_out", count)
    return seen


@pytest.fixture
def cli(capsys, tmp_path, monkeypatch):
    """Carry out a command line in an empty folder: (status, standard output, standard error)."""
    from gpucoh.cli import call

    monkeypatch.chdir(tmp_path)

    def carry_out(*arguments):
        status = call([str(item) for item in arguments])
        out = capsys.readouterr()
        return status, out.out, out.err

    return carry_out


@pytest.fixture
def refused(cli):
    """Carry out a command line that must be refused, and leave no file: what it says."""

    def files():  # Python keeps what it has compiled of a user's file beside it
        return sorted(set(os.listdir()) - {"__pycache__"})

    def carry_out(*arguments):
        before = files()
        status, out, message = cli(*arguments)
        assert (status, out) == (2, "")
        assert message.startswith("gpucoh: ")
        assert message.count("\n") == 1
        assert files() == before
        return message

    return carry_out
