"""The text of a PTX module as statements: declarations, functions, scopes, source places.

The grammar is that of the PTX ISA manual, sections 4 to 6. A name that is declared in a nested block `{ .. }` gets a
suffix, so that a function has one space of names.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gpucoh.ptx import heap
from gpucoh.ptx.declarations import declared_registers, is_declaration, split_list, variable_of
from gpucoh.ptx.module import Function, Label, Module, Place, Statement, refuse

__all__ = ["parse"]

_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LINKAGE = r"(?:\.(?:visible|extern|weak|common)\s+)*"
_FUNCTION = re.compile(_LINKAGE + r"\.(entry|func)\b")
_DIRECTIVE = re.compile(r"\.(version|target|address_size|file|loc|alias)\b([^\n;]*);?")
_SECTION = re.compile(r"\.section\b[^{]*\{[^}]*\}")
_SPACE = re.compile(r"\s*")
_LABEL = re.compile(r"([A-Za-z_$%][\w$]*)\s*:(?!:)")
_STATEMENT = re.compile(r"[^;{}]*(?:\{[^{};]*\}[^;{}]*)*;")
_INSTRUCTION = re.compile(
    r"(?:@(!?)(%?[\w$]+)\s+)?([a-z]\w*)((?:\.[\w]+(?:::\w+)*)*)\s*(.*)$", re.DOTALL
)
_LOC = re.compile(r"\s*(\d+)\s+(\d+)\s+\d+(?:.*\binlined_at\s+(\d+)\s+(\d+))?")
_FILE = re.compile(r'\s*(\d+)\s+"((?:[^"\\]|\\.)*)"')
_TABLE = re.compile(r"\.(branchtargets|calltargets|callprototype)\b\s*(.*)$", re.DOTALL)
_NAME = re.compile(r"[%$\w][\w$]*(?:\.\w+)?")


@dataclass
class _Scope:
    """A block of a function: its names that were declared in an outer one too, or may be."""

    renamed: dict[str, str] = field(default_factory=dict)


class _Parser:
    def __init__(self, text: str, name: str) -> None:
        self.text = _COMMENT.sub(_blank, text)
        self.module = Module(name)
        self.files: dict[int, str] = {}
        self.at = 0
        self.place: Place | None = None  # of the last .loc
        self._suffixes = itertools.count(1)
        for number, path in _FILE.findall(self.text):
            self.files[int(number)] = path

    # ---- the text --------------------------------------------------------------------------------

    def here(self) -> Place:
        """The place of the next statement: that of the last .loc, else its line of the text."""
        return self.place or Place(self.module.name, self.text.count("\n", 0, self.at) + 1)

    def fail(self, what: str) -> Exception:
        line = self.text.count("\n", 0, self.at) + 1
        found = " ".join(self.text[self.at : self.at + 60].split())
        return refuse(Place(self.module.name, line), f"{what}, found '{found}'")

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def skip_space(self) -> bool:
        """Skip blanks. Returns whether text is left."""
        self.take(_SPACE)
        return self.at < len(self.text)

    # ---- the module ------------------------------------------------------------------------------

    def parse(self) -> Module:
        while self.skip_space():
            if self.directive() or self.take(_SECTION):
                continue
            found = self.take(_FUNCTION)
            if found:
                self.function(found[1] == "entry")
                continue
            statement = self.take(_STATEMENT)
            if statement is None:
                raise self.fail("PTX: a declaration or a function is expected")
            text = statement[0][:-1].strip()
            if is_declaration(text):
                variable = variable_of(text, self.here())
                self.module.variables[variable.name] = variable
            elif text and not text.startswith(".pragma"):
                raise refuse(self.here(), f"PTX: a declaration is expected, found '{text[:60]}'")
        if not self.module.version:
            raise refuse(
                Place(self.module.name, 1), "this is not PTX: it has no .version directive"
            )
        return self.module

    def directive(self) -> bool:
        found = self.take(_DIRECTIVE)
        if found is None:
            return False
        name, rest = found[1], found[2].strip()
        if name == "version":
            self.module.version = rest
        elif name == "target":
            self.module.target = rest
        elif name == "address_size" and rest != "64":
            raise refuse(self.here(), f".address_size {rest} (allowed: 64)")
        elif name == "loc":
            self.locate(rest)
        return True

    def locate(self, text: str) -> None:
        """Note a .loc. Of a function that was inlined from another file, the place of the call counts."""
        found = _LOC.match(text)
        if found is None:
            return
        file, line = int(found[1]), int(found[2])
        if found[3] and file != min(self.files, default=file):
            file, line = int(found[3]), int(found[4])
        self.place = Place(self.files.get(file, self.module.name), line)

    def function(self, is_kernel: bool) -> None:
        self.place = None
        place = self.here()
        end = min(
            (k for k in (self.text.find("{", self.at), self.text.find(";", self.at)) if k >= 0),
            default=-1,
        )
        if end < 0:
            raise self.fail("PTX: the body of a function is expected")
        function = _header(self.text[self.at : end], is_kernel, place)
        self.at = end + 1
        if self.text[end] == "{":
            self.body(function)
            self.module.functions[function.name] = function
        else:
            function.is_defined = False
            self.module.functions.setdefault(function.name, function)

    # ---- functions -------------------------------------------------------------------------------

    def body(self, function: Function) -> None:
        scopes = [_Scope()]
        while self.skip_space():
            if self.directive():
                continue
            if self.text[self.at] == "}":
                self.at += 1
                scopes.pop()
                if not scopes:
                    return
            elif self.text[self.at] == "{":
                self.at += 1
                scopes.append(self.scope())
            elif label := self.take(_LABEL):
                function.body.append(Label(_renamed(label[1], scopes)))
            else:
                self.statement(function, scopes)
        raise refuse(function.place, f"PTX: function '{function.name}' has no end")

    def scope(self) -> _Scope:
        """A nested block; its labels may be used before they are declared."""
        end, depth = self.at, 1
        while depth and end < len(self.text):
            depth += {"{": 1, "}": -1}.get(self.text[end], 0)
            end += 1
        suffix = f"@{next(self._suffixes)}"
        inside = self.text[self.at : end]
        labels = re.findall(r"(?:^|[;{}\n])\s*([A-Za-z_$%][\w$]*)\s*:(?!:)", inside)
        return _Scope({name: name + suffix for name in labels})

    def statement(self, function: Function, scopes: list[_Scope]) -> None:
        place = self.here()
        found = self.take(_STATEMENT)
        if found is None:
            raise self.fail("PTX: a statement that ends with ';' is expected")
        text = " ".join(found[0][:-1].split())
        if not text or text.startswith(".pragma"):
            return
        if table := _TABLE.match(text):
            self.table(table[1], table[2], function, scopes, place)
            return
        if text.startswith("."):
            self.declare(text, function, scopes, place)
            return
        parts = _INSTRUCTION.match(text)
        if parts is None:
            raise refuse(place, f"PTX: '{text[:60]}' is not an instruction")
        negated, guard, op, modifiers, rest = parts.groups()
        operands = split_list(rest)
        if len(scopes) > 1:
            operands = [
                _NAME.sub(lambda name: _renamed(name[0], scopes), text) for text in operands
            ]
            guard = guard and _renamed(guard, scopes)
        function.body.append(
            Statement(
                op,
                tuple(modifiers.split(".")[1:]),
                operands,
                place,
                text,
                guard,
                bool(negated),
            )
        )

    def declare(self, text: str, function: Function, scopes: list[_Scope], place: Place) -> None:
        if text.startswith(".reg"):
            for name, type in declared_registers(text, place):
                function.registers[self.own(name, scopes)] = type
        elif is_declaration(text):
            variable = variable_of(text, place)
            variable.name = self.own(variable.name, scopes)
            function.variables[variable.name] = variable
        else:
            raise refuse(place, f"PTX directive '{text.split()[0]}' is not supported")

    def table(
        self, kind: str, rest: str, function: Function, scopes: list[_Scope], place: Place
    ) -> None:
        """What a branch or a call by a number or pointer may reach: the label before names it."""
        label = function.body.pop() if function.body else None
        if not isinstance(label, Label):
            raise refuse(place, f"PTX: a label before .{kind} is expected")
        if kind == "callprototype":
            function.prototypes[label.name] = _header(rest, False, place)
        else:
            function.targets[label.name] = [_renamed(name, scopes) for name in split_list(rest)]

    def own(self, name: str, scopes: list[_Scope]) -> str:
        """The name of a declaration of the innermost block."""
        if len(scopes) == 1:
            return name
        return scopes[-1].renamed.setdefault(name, f"{name}@{next(self._suffixes)}")


def _blank(found: re.Match[str]) -> str:
    """Comments become blanks, lines stay; strings are kept."""
    text = found[0]
    return text if text.startswith('"') else "\n" * text.count("\n") or " "


def _renamed(name: str, scopes: list[_Scope]) -> str:
    for scope in reversed(scopes):
        if name in scope.renamed:
            return scope.renamed[name]
    return name


def _header(text: str, is_kernel: bool, place: Place) -> Function:
    """``(.param .b32 r) name (.param .b64 a, ..) .maxntid 256 ..``."""
    found = re.match(r"\s*(?:\(([^)]*)\))?\s*([\w$%]+)\s*(?:\((.*?)\))?", text, re.DOTALL)
    if found is None:
        raise refuse(place, f"PTX: '{' '.join(text.split())[:60]}' is not the head of a function")
    returns, name, parameters = found.groups()
    function = Function(name, is_kernel, place)
    function.has_clusters = re.search(r"\.(reqnctapercluster|explicitcluster)\b", text) is not None
    if least := re.search(r"\.minnctapersm\s+(\d+)", text):
        function.least_blocks = max(int(least[1]), 1)
    function.returns = [variable_of(one, place) for one in _items(returns)]
    function.parameters = [variable_of(one, place) for one in _items(parameters)]
    return function


def _items(text: str | None) -> Iterator[str]:
    for item in split_list(text or ""):
        if item:
            yield item


def parse(text: str, name: str = "<ptx>") -> Module:
    """Parse a module.

    Raises
    ------
    KernelError
        For text that is not PTX, with its line.
    """
    module = _Parser(text, name).parse()
    if heap.is_called(module):
        heap.add(module, _Parser(heap.TEXT, "malloc").parse())
    return module
