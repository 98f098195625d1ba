"""What identifies a row of a result file: the run that was described, and the code that has run it.

A row's key is ``RUN-CODE``. Rows of one run that differ in CODE are of other code: a sweep that continues a file runs
them again.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpucoh.device import outside
from gpucoh.device.choices import split_options
from gpucoh.device.gpu import DEFAULT_DEADLOCK_AFTER, resolve
from gpucoh.machines import machine, machines
from gpucoh.runs.runner import Run
from gpucoh.suite import Workload
from gpucoh.suite.references import files_of, place_of

_PACKAGE = Path(__file__).parents[1]
_CORE = importlib.util.find_spec("gpucoh._core")  # the one that this package has imported
# Parts of the package that do not change a run, and the files of one of them that do.
_OTHER_PARTS = {
    *("cli", "export", "figures", "fuzz", "hardware", "litmus", "papers", "plot.py", "runs"),
    *("studies", "terminal", "verify"),
}
_RUNNING = ("runs/inputs.py", "runs/runner.py")


@functools.cache
def code_digest(*also: str) -> str:
    """A hash of the built core and of the Python modules that a run uses, and of further parts of the package."""
    core = Path(_CORE.origin).read_bytes() if _CORE and _CORE.origin else b""  # not built: no runs
    return digest_of(_PACKAGE, core, *also)


def digest_of(package: Path, core: bytes, *also: str) -> str:
    """:func:`code_digest` of a folder of the package and the content of a built core."""
    digest, others = hashlib.sha256(core), _OTHER_PARTS.difference(also)
    for path in sorted(package.rglob("*")):
        name = path.relative_to(package)
        used = name.parts[0] not in others or name.as_posix() in _RUNNING
        if used and path.suffix in (".py", ".toml"):
            digest.update(f"{name}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def code_of(found: Workload, protocol: str = "") -> str:
    """A hash of the code that runs a workload.

    Of a user's workload also its file, the modules of the file's folder that it imports, and the constants that its
    function refers to; ``protocol`` is the code of a protocol outside the package.
    """
    ours = found.built_in or found.function is None
    if ours and not protocol:
        return code_digest()
    digest = hashlib.sha256(f"{code_digest()}{protocol}".encode())
    if not ours:
        digest.update(str(found.code).encode())
        for path in files_of(found.function):
            digest.update(f"{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def key_of(run: Run) -> str:
    """The key of a run without its code: a hash of its description and of the content of its input files.

    What has the value of the preset or the default is left out, so that a field or parameter that a later version adds
    does not change the key.
    """
    built, budget = run.machine_and_budget()
    found, choice = run.found, resolve(run.protocol)
    brackets = choice.text[
        len(split_options(choice.text)[0]) :
    ]  # a file's folder and name do not count
    setting = found.setting(run.scale, run.seed, run.params)
    preset = machine(built.name if built.name in machines() else "fermi")
    what = {
        "workload": found.id,
        "protocol": f"{choice.protocol.id}{brackets}" if choice.outside else run.protocol,
        "consistency": choice.rule(run.consistency),
        "machine": built.name,
        "fields": {
            name: value for name, value in built.numbers().items() if value != getattr(preset, name)
        },
        "budget": budget,
        "scale": run.scale,
        "seed": run.seed,
        "params": {
            parameter.name: _content(setting.params[parameter.name])
            for parameter in found.parameters
            if setting.params[parameter.name] != parameter.default(run.scale)
        },
        "check": run.check,
    }
    if found.function is not None and not found.built_in:
        file = Path(place_of(found.function)[0])  # none for a cell of a notebook
        what["file"] = file.name if file.is_file() else ""
    if run.deadlock_after != DEFAULT_DEADLOCK_AFTER:
        what["deadlock_after"] = run.deadlock_after
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:24]


def _content(value: Any) -> str:
    """A parameter's value; of a file its name and the hash of what it holds, but not its folder."""
    try:
        state = Path(value).stat() if isinstance(value, str) else None
    except (OSError, ValueError):  # no file, or no name of one
        return str(value)
    if state is None or not Path(str(value)).is_file():
        return str(value)
    path = Path(str(value)).absolute()
    return f"{path.name} sha256:{_hash(path, state.st_ino, state.st_mtime_ns, state.st_size)}"


@functools.lru_cache(1024)
def _hash(path: Path, *state: int) -> str:
    """The hash of a file's content; ``state`` is another one when the file has changed."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def keys_of(runs: Sequence[Run]) -> list[str]:
    """The key of each run, with its code."""
    codes: dict[tuple[int, str], str] = {}
    keys = []
    for run in runs:
        protocol = resolve(run.protocol).protocol.id  # which loads its file
        made_of = id(run.found), outside.codes().get(protocol, "")
        if made_of not in codes:
            codes[made_of] = code_of(run.found, made_of[1])
        keys.append(f"{key_of(run)}-{codes[made_of]}")
    return keys


def parts_of(key: str) -> tuple[str, str]:
    """A key without its code, and the code."""
    run, _, code = key.partition("-")
    return run, code
