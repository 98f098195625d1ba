"""The C core, or a placeholder where it is not built, so that the kernel language works without it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from gpucoh.base import errors
from gpucoh.base.errors import Error

try:
    from gpucoh._core import (
        GPU,
        VERSION,
        Snapshot,
        add_protocols,
        describe_protocol,
        explore,
        isa,
        library_protocols,
        protocol_ids,
        use_exceptions,
    )

    use_exceptions(errors)
    PATH = str(sys.modules[GPU.__module__].__file__)
except ImportError as error:
    VERSION = "not built"
    _reason = error

    def __getattr__(name: str) -> Any:
        place = Path(__file__).parents[1]
        if any(place.glob("_core*.so")) or any(place.glob("_core*.pyd")):
            raise Error(f"cannot load the simulator core in {place}: {_reason}") from None
        raise Error(
            f"the simulator core is not built in {place}: run make develop, or pip install . and run "
            "gpucoh, or python -m gpucoh from another folder"
        )


__all__ = [
    "GPU",
    "PATH",
    "VERSION",
    "Snapshot",
    "add_protocols",
    "describe_protocol",
    "explore",
    "isa",
    "library_protocols",
    "protocol_ids",
]
