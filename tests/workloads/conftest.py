"""Fixtures of the workload tests."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # plain_gpu


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests marked ``core`` need the built core."""
    try:
        importlib.import_module("gpucoh._core")
        return
    except ImportError:
        pass
    skip = pytest.mark.skip(reason="gpucoh._core is not built")
    for item in items:
        if item.get_closest_marker("core") is not None:
            item.add_marker(skip)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "core: needs the built core (gpucoh._core)")
