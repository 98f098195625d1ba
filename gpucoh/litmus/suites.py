"""A folder of litmus tests with stored verdicts, and how a memory model's verdicts differ from them.

The verdicts are lines ``path,0|1`` of the folder's ``expected.csv``. 1 says that the last clause of the test is true of
the executions that the model allows: one reaches a state that satisfies the condition (``exists``), none does
(``~exists``), or all do (``forall``). The public PTX suites state their verdicts in this form.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.litmus.models import model_name
from gpucoh.litmus.parser import load
from gpucoh.litmus.runner import verdicts
from gpucoh.litmus.syntax import Test, UnsupportedError

EXPECTED = "expected.csv"


@dataclass
class Agreement:
    """How a memory model's verdicts on the tests of a folder compare with the stored ones.

    Attributes
    ----------
    model : str
    agree : list of str
        Paths of the tests, as the stored verdicts name them.
    differ : dict
        Path -> the stored verdict, and the model's.
    unsupported : dict
        Path -> why the test is not judged.
    missing : list of str
        Paths that the stored verdicts name and the folder does not have.
    unlisted : list of str
        Tests of the folder without a stored verdict.
    """

    model: str
    agree: list[str] = field(default_factory=list)
    differ: dict[str, tuple[bool, bool]] = field(default_factory=dict)
    unsupported: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)


def clause_holds(test: Test, model: str) -> bool:
    """Whether the last clause of a test is true of the executions that a model allows."""
    return verdicts(test, model).allowed() == (test.condition.quantifier == "exists")


def read_expected(path: Path) -> dict[str, bool | None]:
    """Path of a test -> the stored verdict, None where the field is empty.

    Raises
    ------
    ConfigError
        If the file cannot be read, with the line.
    """
    out: dict[str, bool | None] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, strict=True)
            for row in rows:
                if not row:
                    continue
                name, verdict = row if len(row) == 2 else ("", "")
                verdict = verdict.strip()
                if not name or verdict not in ("0", "1", ""):
                    given = quoted(",".join(row))
                    raise ConfigError(f"{path}:{rows.line_num}: {given} is not a line path,0|1")
                if name in out:
                    raise ConfigError(
                        f"{path}:{rows.line_num}: {quoted(name)} has a verdict already"
                    )
                out[name] = verdict == "1" if verdict else None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not text in UTF-8") from None
    except csv.Error as error:
        raise ConfigError(f"{path}:{rows.line_num}: {error}") from None
    return out


def check_folder(
    folder: Path,
    listed: Mapping[str, bool | None],
    model: str,
    progress: Callable[[str], None] = lambda name: None,
) -> Agreement:
    """Judge the tests of a folder by a memory model, and compare with its stored verdicts.

    Parameters
    ----------
    folder : Path
    listed : dict
        The stored verdicts, as :func:`read_expected` gives them.
    model : str
    progress : callable
        Called with the path of each judged test.

    Raises
    ------
    ConfigError
        If the model is unknown.
    """
    out = Agreement(model_name(model))
    present = {str(path.relative_to(folder)) for path in folder.rglob("*.litmus")}
    wanted = {name: verdict for name, verdict in listed.items() if verdict is not None}
    out.unlisted = sorted(present - {str(Path(name)) for name in wanted})
    for name, verdict in wanted.items():
        if not (folder / name).is_file():
            out.missing.append(name)
            continue
        try:
            found = clause_holds(load(folder / name), out.model)
        except UnsupportedError as error:
            out.unsupported[name] = str(error)
        else:
            if found == verdict:
                out.agree.append(name)
            else:
                out.differ[name] = (verdict, found)
        progress(name)
    return out
