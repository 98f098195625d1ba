"""The exceptions of gpucoh. Every error that a user can cause is one of these, with a message of one line."""

from __future__ import annotations

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


class Error(Exception):
    """Base class of all gpucoh errors."""


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

    def __init__(self, message: str, filename: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.filename = filename
        self.line = line


class SimulationError(Error):
    """A run that cannot continue."""


class ProtocolError(SimulationError):
    """A protocol entered an impossible cell of a table, or violated one of its invariants."""


class DeadlockError(SimulationError):
    """A launch makes no progress: no event is left although warps wait, or nothing has changed for a long time.

    The message names the warps, what each waits for or polls, and the blocks that have not started.
    """


class BudgetError(SimulationError):
    """A launch exceeded its budget of core cycles."""
