"""A cache of the translations of large PTX modules, which take longer than to read them back."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from gpucoh.base.caches import cache_folder, read_entry, write_entry
from gpucoh.ptx.module import Variable
from gpucoh.ptx.translate import Translation

#: Characters of a module from which on its kernels are kept: a kernel of 300 instructions is translated in 50 ms.
KEPT_FROM = 40_000
#: A translation, and the variables that its launches address.
_Kept: TypeAlias = tuple[Translation, dict[str, Variable]]
_PACKAGE = Path(__file__).parents[1]


def kept(
    of: tuple[str, str, str], variables: dict[str, Variable], translate: Callable[[], Translation]
) -> Translation:
    """The translation of a kernel, from the cache if it is there and of this code.

    ``of`` is the module's name, the kernel's and the module's text; ``variables`` are the module's, to which a
    translation may add its own.
    """
    if len(of[-1]) < KEPT_FROM:
        return translate()
    key = hashlib.sha256("\0".join((_code(), *of)).encode(errors="surrogateescape"))
    try:
        entry = cache_folder("translations") / key.hexdigest()[:32]
    except OSError:  # a cache that cannot be written only costs time
        return translate()
    data = read_entry(entry)
    if data is None:
        translation = translate()
        used = {name: variables[name] for name in translation.layout.symbols if name in variables}
        with contextlib.suppress(OSError):
            write_entry(entry, pickle.dumps((translation, used)))
        return translation
    found: _Kept = pickle.loads(data)
    translation, used = found
    for name, variable in used.items():
        variables.setdefault(name, variable)
    return translation


@functools.cache
def _code() -> str:
    """A hash of what translates, and of what an entry is."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for folder in ("base", "lang", "ptx"):
        for path in sorted((_PACKAGE / folder).rglob("*")):
            if path.suffix in (".py", ".def"):
                digest.update(path.read_bytes())
    return digest.hexdigest()
