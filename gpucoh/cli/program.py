"""The process of the command line: exit status, errors on standard error, closed pipes, signals.

Exit status: 0 success; 1 a wrong result or a violated invariant; 2 bad input, or output that cannot be written, with
one line on standard error.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import typer

from gpucoh.base.errors import Error, Note
from gpucoh.base.starting import HUNG_UP, INTERRUPTED, TERMINATED, not_loaded, ready
from gpucoh.cli.apart import in_a_child
from gpucoh.cli.application import application
from gpucoh.cli.options import BAD_INPUT, OK
from gpucoh.runs.interrupts import Terminated, terminable


def _fail(message: str) -> int:
    _say(message)
    return BAD_INPUT


def _say(message: str) -> None:
    with contextlib.suppress(OSError):  # standard error may be full, too: the exit status remains
        sys.stderr.write("gpucoh: " + " ".join(message.split()) + "\n")


@contextlib.contextmanager
def _notes() -> Iterator[None]:
    """Print each note as one line on standard error; other warnings as Python does."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", Note)
        other = warnings.showwarning

        def show(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, Note):
                _say(str(message))
            else:
                other(message, category, *place, **more)

        warnings.showwarning = show
        yield


def call(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        Arguments without the program's name. Default: those of the process.
    """
    if sys.stderr is None:  # closed (2>&-): discard messages
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115  # for the rest of the process
    if sys.stdout is None:
        return _fail("standard output is closed")
    try:
        status = _carry_out(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()  # here, since an error at interpreter exit would be lost
    except BrokenPipeError:
        # The reader has closed the pipe (| head): print nothing more.
        _drop_output()
        return 128 + signal.SIGPIPE
    except OSError as error:
        if (
            error.filename is not None
        ):  # an error of a file: whoever opened it should have reported it
            raise
        _drop_output()
        return _fail(f"standard output cannot be written: {error.strerror or error}")
    return status


def _drop_output() -> None:
    """Redirect standard output to the null device, so that buffered text cannot fail again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _carry_out(arguments: list[str]) -> int:
    """Run a command line, print errors on standard error; the caller handles errors of standard output."""
    completes = "_GPUCOH_COMPLETE" in os.environ
    try:
        app = application("" if completes else next(iter(arguments), ""))
        command = typer.main.get_command(app)
        if completes:  # a shell asks for completions, and gets them
            command.main(arguments, "gpucoh")
        # Not command.main: on a closed pipe it ends the process with status 1, which means a wrong result.
        with _notes(), command.make_context("gpucoh", arguments) as context:
            command.invoke(context)
    except typer.Exit as wanted:
        return wanted.exit_code
    except SystemExit as error:
        # rich, too, ends the process with status 1 on a closed pipe.
        if isinstance(error.__context__, BrokenPipeError):
            raise error.__context__ from None
        if isinstance(error.code, int) and completes:
            return error.code
        raise
    except Error as error:
        return _fail(str(error))
    except (KeyboardInterrupt, typer.Abort) as ended:
        for note in getattr(ended, "__notes__", ()):
            _say(note)
        return ended.status if isinstance(ended, Terminated) else INTERRUPTED
    except MemoryError:
        return _fail("out of memory")
    except ImportError as error:
        return _fail(not_loaded(error))
    except Exception as error:
        # Usage errors: typer's exception classes differ between its versions; all have format_message.
        usage = getattr(error, "format_message", None)
        if isinstance(error, RuntimeError) and "start new thread" in str(error):
            return _fail(f"out of threads or memory: {error}")
        if usage is None:
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            return BAD_INPUT
        return _fail(f"{usage()} (see gpucoh --help)")
    return OK


def main() -> NoReturn:
    """Run the ``gpucoh`` program."""
    try:
        ready()
        done = in_a_child(sys.argv[1:])
        if done is None:
            with terminable():
                status = call()
        else:
            status = done
    except KeyboardInterrupt:
        status = INTERRUPTED
    if status in (INTERRUPTED, TERMINATED, HUNG_UP):
        # Exit at once: an orderly interpreter shutdown takes longer than ending the run.
        with contextlib.suppress(OSError):  # after SIGHUP the terminal is gone
            sys.stdout.flush()
        os._exit(status)
    sys.exit(status)
