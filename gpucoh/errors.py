"""The exceptions of gpucoh. Everything that can go wrong for a user is one of these, with one clear line of text."""

from __future__ import annotations

__all__ = [
    "BudgetError",
    "ConfigError",
    "DeadlockError",
    "Error",
    "KernelError",
    "ProtocolError",
    "SimulationError",
]


class Error(Exception):
    """Base of all gpucoh errors."""


class ConfigError(Error, ValueError):
    """Bad input: an unknown name, a number out of range, a machine that does not fit."""


class KernelError(Error):
    """A kernel that cannot be compiled, or that did something illegal as it ran.

    Parameters
    ----------
    message : str
        One line; starts with ``file:line:`` where the place is known.
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
    """A run that could not go on."""


class ProtocolError(SimulationError):
    """A protocol entered an impossible cell, or broke one of its invariants."""


class DeadlockError(SimulationError):
    """Nothing can move any more; the message names the warps and what each waits for."""


class BudgetError(SimulationError):
    """The launch took more core cycles than its budget."""
