"""The exceptions of gpucoh. Every error that a user can cause is one of these, with a message of one line.

The message names the user's mistake, so a traceback shows the user's frames and leaves out those of this package: the
public functions are decorated with :func:`short_traceback`. ``GPUCOH_FULL_TRACEBACK=1`` in the environment shows all.
"""

from __future__ import annotations

import functools
import os
import sys
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import ParamSpec, TypeVar

from gpucoh.base.quoting import one_line

__all__ = [
    "BudgetError",
    "ConfigError",
    "DeadlockError",
    "Error",
    "KernelError",
    "ProtocolError",
    "SimulationError",
    "WorkloadError",
]

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

# Packages without users' code: this one, the modules by which it calls itself in threads, and the shell of notebooks.
_LEFT_OUT = {"gpucoh", "concurrent", "contextlib", "functools", "threading", "IPython"}


def _shortened(frames: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of ``_LEFT_OUT``."""
    if os.environ.get("GPUCOH_FULL_TRACEBACK"):
        return frames
    kept = []
    while frames is not None:
        module = str(frames.tb_frame.f_globals.get("__name__"))
        if module.partition(".")[0] not in _LEFT_OUT:
            kept.append(frames)
        frames = frames.tb_next
    short = None
    for item in reversed(kept):
        short = TracebackType(short, item.tb_frame, item.tb_lasti, item.tb_lineno)
    return short


def short_traceback(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Decorate a function that users call: an :class:`Error` leaves it without the frames of this package."""

    @functools.wraps(function)
    def call(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        try:
            return function(*args, **kwargs)
        except Error as error:
            error.__traceback__ = _shortened(error.__traceback__)
            raise

    return call


def _origin(error: BaseException) -> list[traceback.FrameSummary]:
    """The frame of an error's cause at the place that the error names, if any."""
    cause = error.__cause__
    place = getattr(error, "filename", None), getattr(error, "line", None)
    frames = traceback.extract_tb(cause.__traceback__) if cause else []
    return [frame for frame in frames if (frame.filename, frame.lineno) == place][-1:]


def shown_file(filename: str) -> str:
    """A file as messages name it: a cell of a notebook by its number, ``cell In[3]``."""
    ipython = sys.modules.get("IPython.core.getipython")
    shell = ipython.get_ipython() if ipython else None
    cell = shell.compile.format_code_name(filename) if shell else None
    return f"cell {cell[1]}" if cell else filename


class Error(Exception):
    """Base class of all gpucoh errors. Its message is one line, whatever a user's file or value holds."""

    def __init__(self, *args: object) -> None:
        super().__init__(*(one_line(item) if isinstance(item, str) else item for item in args))

    def _render_traceback_(self) -> list[str]:
        """The lines that IPython and Jupyter print, instead of ten lines of source around each frame."""
        if os.environ.get("GPUCOH_FULL_TRACEBACK"):
            return "".join(traceback.format_exception(self)).splitlines()
        shown = traceback.extract_tb(_shortened(self.__traceback__))
        shown.extend(_origin(self))
        text = ["Traceback (most recent call last):\n", *shown.format()]
        return "".join([*text, *traceback.format_exception_only(self)]).splitlines()


class Note(UserWarning):
    """What a user should know of a command that goes on; the command line prints it as one line."""


class ConfigError(Error, ValueError):
    """Bad input: an unknown name, a number out of range, values that contradict each other."""


class WorkloadError(ConfigError):
    """An exception in a user's workload; ``__cause__`` is the exception itself.

    Parameters
    ----------
    message : str
        One line; starts with ``file:line:``.
    filename : str, optional
        The user's file.
    line : int, optional
        Line in that file, from 1.
    """

    def __init__(self, message: str, filename: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.filename = filename
        self.line = line


class KernelError(Error):
    """A kernel that cannot be compiled, or an illegal operation of a running kernel.

    Parameters
    ----------
    message : str
        One line; starts with ``file:line:`` if the location is known.
    filename : str, optional
        Source file of the kernel.
    line : int, optional
        Line in that file, from 1.
    """

    #: The core's place of the failed instruction: number of its file, and line from 0 at the file's first line.
    place: tuple[int, int] | None = None

    def __init__(self, message: str, filename: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.filename = filename
        self.line = line


class SimulationError(Error):
    """A run that cannot continue.

    Attributes
    ----------
    address : int or None
        Address of the line that the error concerns, if it concerns one.
    """

    address: int | None = None


class ProtocolError(SimulationError):
    """A protocol entered an impossible cell of a table, or violated one of its invariants."""


class DeadlockError(SimulationError):
    """A launch makes no progress: no event is left although warps wait, or nothing has changed for a long time.

    The message names the warps, what each waits for or polls, and the blocks that have not started.
    """


class BudgetError(SimulationError):
    """A launch exceeded its budget of core cycles."""


for _name in __all__:
    globals()[_name].__module__ = "gpucoh"  # the name by which users know it, in tracebacks
