"""Calls and protocols that misbehave, for the tests of processes of runs."""

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

from gpucoh.device import outside

LIBC = ctypes.CDLL(None)


def own_id():
    return os.getpid()


def segfault():
    ctypes.string_at(8)


def loop(seconds=60.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def take(gib):
    kept = [bytearray(b"x") * (1 << 24) for _ in range(gib * 64)]
    time.sleep(60)
    return len(kept)


def leave(status):
    os._exit(status)


def exit_by_an_exception(status):
    sys.exit(status)


def write_and_abort():
    sys.stderr.write("a line\n")
    os.write(2, b"free(): invalid pointer\n")
    os.abort()


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def close_all():
    os.closerange(3, 100)
    time.sleep(60)


class Odd(Exception):
    """An exception that cannot be unpickled."""

    def __init__(self, one, other):
        super().__init__(f"{one} and {other}")


def fail(odd):
    raise Odd(1, 2) if odd else ValueError("wrong")


def talk():
    print("printed")
    LIBC.printf(b"printed by C\n")
    sys.stderr.write("reported\n")


def folder():
    return os.getcwd()


# What an L1 does at a load of the run that is not its first ones.
FAULTS = {
    "crash": "*(volatile int *) 8 = 1;",
    "spin": "for (volatile int i_ = 0;;) i_++;",
    "take": "for (int i_ = 0; i_ < 20; i_++) { volatile char *p_ = malloc(1u << 30); "
    "for (size_t j_ = 0; j_ < (1u << 30); j_ += 4096) p_[j_] = 1; }",
    "overwrite": "memset(x->msg, 0x41, 4096);",
}


def elsewhere(fault):
    """The fault, in other processes than this one: its protocols stay known here, and tests run all that are known."""
    return f"if (getpid() != {os.getpid()}) {{ {fault} }}"


def write_protocol(name, fault=""):
    """Write ``NAME.c``: a new protocol, with a fault."""
    text = outside.skeleton(name)
    include, action = '#include "controller/outside.h"\n', "    gpc_count(x, load_misses);\n"
    assert include in text
    assert action in text
    text = text.replace(
        include, f"{include}#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n"
    )
    text = text.replace(
        action, f"    static int n_; if (++n_ == 20) {{ {elsewhere(fault)} }}\n{action}"
    )
    path = Path(f"{name}.c")
    path.write_text(text, encoding="utf-8")
    return path
