"""Litmus tests: small racing programs that show which memory model a protocol keeps.

>>> import gpucoh.litmus
>>> result = gpucoh.litmus.run_test("SB", "mesi", runs=2000)
>>> result.model, result.allowed, result.ok
('RC-MCA', True, True)

:func:`run_test` runs one under varied timing and reports the outcomes and what the promised model allows;
:func:`allowed` queries a model alone; :func:`load` reads files in the format of the public PTX suites; :func:`builtins`
lists the built-in tests. docs/litmus.md describes the format, the models and how runs differ.
"""

from gpucoh.litmus.parser import load, parse
from gpucoh.litmus.places import PLACES, placed
from gpucoh.litmus.results import Outcome, Result
from gpucoh.litmus.runner import allowed, builtin, builtins, find, run_test
from gpucoh.litmus.syntax import Test, UnsupportedError
from gpucoh.litmus.verdict import Verdicts

__all__ = [
    "PLACES",
    "Outcome",
    "Result",
    "Test",
    "UnsupportedError",
    "Verdicts",
    "allowed",
    "builtin",
    "builtins",
    "find",
    "load",
    "parse",
    "placed",
    "run_test",
]
