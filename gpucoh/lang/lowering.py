"""The state of a lowering from Python to the intermediate form, and the emission of instructions.

What lowers expressions, statements and calls are functions in the modules that :mod:`gpucoh.lang.statements` imports.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias, TypeVar

from gpucoh.lang import folding, intrinsics, isa, operations
from gpucoh.lang.builder import Builder, Registers
from gpucoh.lang.hints import REFUSED
from gpucoh.lang.ir import COMPARISONS, Constant, Instruction, Operand, Register
from gpucoh.lang.source import SourceUnit
from gpucoh.lang.types import BOOL, I32, U32, Element, Scalar, Wide
from gpucoh.lang.values import AnyValue, Frame, TupleValue, Value, Variable, WideValue

_SHUFFLES = (
    "; a shuffle spans the active threads of the warp, and has neither mask nor width: for segments of w lanes "
    "write shuffle(x, lane) with the lane computed"
)
#: Each call of a function asks for its signature.
_signature = functools.lru_cache(1024)(inspect.signature)
_Node = TypeVar("_Node", bound=ast.AST)
Handler: TypeAlias = "Callable[[Lowering, _Node], Any]"
CallHandler: TypeAlias = "Callable[[Lowering, Call], AnyValue | None]"

#: Class of Python's syntax tree -> the function that lowers its nodes: the value of an expression, None of a statement.
HANDLERS: dict[type[ast.AST], Handler[Any]] = {}
#: Intrinsic -> the function that lowers its calls; those of the table of operations have none.
CALLS: dict[str, CallHandler] = {}
#: Functions without memory access, which may be evaluated even if Python would not: they need no branch.
PLAIN_CALLS: set[Any] = {builtins.min, builtins.max, builtins.abs, builtins.len} | {
    getattr(operations, name) for name, row in operations.OPERATIONS.items() if not row.over_warp
}
#: Instructions of a kernel with unrolled loops and inlined calls; optimising them takes some ten seconds.
MAX_INSTRUCTIONS = 1 << 14


@dataclass(frozen=True)
class Call:
    """A call: the name of what it calls, its node, and the expressions of its arguments, defaults filled in."""

    name: str
    node: ast.Call
    arguments: dict[str, ast.expr]
    more: tuple[ast.expr, ...] = ()  # of ``*more``

    def __getitem__(self, parameter: str) -> ast.expr:
        return self.arguments[parameter]


def lowers(kind: type[_Node]) -> Callable[[Handler[_Node]], Handler[_Node]]:
    """Register a function as the handler of these nodes."""

    def register(handler: Handler[_Node]) -> Handler[_Node]:
        HANDLERS[kind] = handler
        return handler

    return register


def intrinsic(*names: str, plain: bool = False) -> Callable[[CallHandler], CallHandler]:
    """Register a function as the handler of these intrinsics, which are plain calls or not."""

    def register(handler: CallHandler) -> CallHandler:
        CALLS.update(dict.fromkeys(names, handler))
        PLAIN_CALLS.update(getattr(intrinsics, name) for name in names if plain)
        return handler

    return register


class Lowering(Builder):
    """Turns one kernel into a :class:`gpucoh.lang.ir.Function`.

    Attributes
    ----------
    units : list of SourceUnit
        The kernel and the device functions that it calls.
    dependencies : list
        The outside names that the program depends on: what gives the present value, and the value.
    """

    def __init__(self, unit: SourceUnit, lanes: int) -> None:
        super().__init__(unit.name)
        self.lanes = lanes
        self.units = [unit]
        self.frames = [Frame(unit, 0, copied_loop_names=unit.copied_loop_names)]
        self.at(unit.tree)
        self.dependencies: list[tuple[Callable[[], Any], Any]] = []
        self._depends_on: set[tuple[int, str]] = set()  # objects in the dependencies
        # What makes code several times, outermost first: unit, node, text; and how much there is.
        self._expansions: list[tuple[SourceUnit, ast.AST, str]] = []
        self._made = 0

    # ---- the source -----------------------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        """The function being lowered."""
        return self.frames[-1]

    def fail(self, node: ast.AST | None, message: str) -> NoReturn:
        """Raise a KernelError with the location of ``node``."""
        raise self.frame.unit.error(node, message)

    def line_of(self, node: ast.AST) -> int:
        """The line of ``node`` in its file."""
        line: int = getattr(node, "lineno", 1)
        return self.frame.unit.first_line + line - 1

    def at(self, node: ast.AST) -> None:
        """Assign instructions emitted from here on to the line of ``node``."""
        line = getattr(node, "lineno", None)
        if line is not None:
            self.place = (self.frame.file, line - 1)

    def value(self, node: ast.expr) -> AnyValue:
        """The value of an expression."""
        value: AnyValue = self._lower(node, "simple arithmetic")
        return value

    def body(self, statements: Sequence[ast.stmt]) -> None:
        """Statements in order."""
        for statement in statements:
            self._lower(statement, "simpler statements")

    def _lower(self, node: ast.AST, otherwise: str) -> Any:
        self.at(node)
        handler = HANDLERS.get(type(node))
        if handler is None:
            kind = type(node).__name__
            text = f"{kind} cannot be used in kernels: use {otherwise}"
            self.fail(node, REFUSED.get(kind, text))
        return handler(self, node)

    def depend(self, base: Any, name: str, current: Callable[[], Any], value: Any) -> None:
        """Record that the program depends on a name's value in ``base``, which ``current`` gives."""
        if (id(base), name) not in self._depends_on:
            self._depends_on.add((id(base), name))
            self.dependencies.append((current, value))

    @contextmanager
    def expansion(self, node: ast.AST, text: str) -> Iterator[None]:
        """While an unrolled loop or an inlined call is lowered."""
        self._expansions.append((self.frame.unit, node, text))
        yield
        self._expansions.pop()

    def count_made(self) -> None:
        """Count an instruction, or an iteration or call without one.

        Raises
        ------
        KernelError
            If there are too many; it names the outermost loop or call that makes them.
        """
        self._made += 1
        if self._made > MAX_INSTRUCTIONS:
            unit, node, text = (
                self._expansions[0] if self._expansions else (self.frame.unit, None, "the kernel")
            )
            raise unit.error(
                node,
                f"{text} makes more than {MAX_INSTRUCTIONS} instructions: use range(...), or split the kernel",
            )

    # ---- instructions ---------------------------------------------------------------------------

    def append(self, instruction: Instruction) -> None:
        """Append an instruction, and count it."""
        self.count_made()
        super().append(instruction)

    def add(
        self, op: str, type: Element, sources: Sequence[Operand | None], **fields: Any
    ) -> Value:
        """Append an instruction with a new destination. Comparisons give bool."""
        (register,) = self.emit(op, type, self.new(), sources, **fields)
        return Value(register, BOOL if op in COMPARISONS else type.loaded)

    def add_wide(self, op: str, type: Wide, sources: Sequence[Operand], **fields: Any) -> WideValue:
        """Append an instruction with a new destination of 64 bits."""
        low, high = self.emit(op, type, self.new(2), sources, **fields)
        return WideValue(low, high, type)

    def operate(self, op: str, type: Scalar, *operands: Value) -> Value:
        """Emit a pure operation; fold it if all sources are constants."""
        words = [v.operand.bits for v in operands if isinstance(v.operand, Constant)]
        if len(words) == len(operands):
            bits = folding.fold(op, type, words)
            if bits is not None:
                return Value(Constant(bits), BOOL if op in COMPARISONS else type)
        return self.add(op, type, [value.operand for value in operands])

    def operate_as(self, op: str, type: Scalar, *operands: Value) -> Value:
        """As :meth:`operate`, but the result has ``type``, bool included."""
        return Value(self.operate(op, U32 if type is U32 else I32, *operands).operand, type)

    def select(self, condition: Value, if_true: Value, if_false: Value) -> Value:
        """``if_true if condition else if_false``, both evaluated, of one type."""
        type = I32 if if_true.type is BOOL else if_true.type
        result = self.operate("SELECT", type, condition, if_true, if_false)
        return Value(result.operand, if_true.type)

    def special(self, name: str, positive: bool = False, type: Scalar = I32) -> Value:
        """A special register."""
        (register,) = self.emit("SPECIAL", type, self.new(), (), immediate=isa.SPECIALS[name])
        register.positive = positive
        return Value(register, type)

    def _row(self, name: str, values: Sequence[Value | WideValue], flags: int) -> Registers:
        """An extended operation."""
        row = isa.EXTENDED[name]
        sources: list[Operand] = []
        for value in values:
            sources += value.words
        to = self.new(row.d)
        return self.emit("EXTENDED", I32, to, sources, immediate=row.number, flags=flags)

    def wide(self, name: str, type: Wide, *values: Value | WideValue, flags: int = 0) -> WideValue:
        """An extended operation with a result of 64 bits."""
        low, high = self._row(name, values, flags)
        return WideValue(low, high, type)

    def narrow(self, name: str, type: Scalar, *values: Value | WideValue, flags: int = 0) -> Value:
        """An extended operation with a result of one word."""
        return Value(self._row(name, values, flags)[0], type)

    # ---- variables ------------------------------------------------------------------------------

    def variable(self, name: str, type: Scalar | Wide, line: int = 0) -> Variable:
        """A variable; that of a temporary value has no name."""
        words = 2 if isinstance(type, Wide) else 1
        return Variable(name, self.new(words, name or None), type, line)

    def move(self, register: Register, value: Value, retarget: bool = True) -> None:
        """Assign to a variable; a temporary just emitted becomes the variable itself."""
        last = self.block.instructions[-1] if self.block.instructions else None
        if (
            retarget
            and last is not None
            and isinstance(value.operand, Register)
            and last.dest is value.operand
            and not last.more
            and value.operand.name is None
        ):
            last.dest = register
            return
        self.emit("MOVE", value.type, (register,), [value.operand])

    def set(self, variable: Variable, value: Value | WideValue, retarget: bool = True) -> None:
        """Assign a value of the variable's type."""
        if isinstance(value, Value):
            self.move(variable.registers[0], value, retarget)
            return
        for register, word in zip(variable.registers, value.words, strict=True):
            self.emit("MOVE", I32, (register,), [word])

    def temporary(self, value: Value) -> Value:
        """A copy that later assignments to the variable do not change."""
        if isinstance(value.operand, Register) and value.operand.name is not None:
            return self.add("MOVE", value.type, [value.operand])
        return value

    def captured(self, value: AnyValue) -> AnyValue:
        """A value that later assignments to its variables, or to those of a tuple's elements, do not change."""
        if isinstance(value, TupleValue):
            return TupleValue(self.captured_items(value))
        if isinstance(value, WideValue) and any(
            isinstance(word, Register) and word.name is not None for word in value.words
        ):
            copy = self.variable("", value.type)
            self.set(copy, value)
            return copy.value
        return self.temporary(value) if isinstance(value, Value) else value

    def captured_items(self, value: TupleValue) -> tuple[AnyValue, ...]:
        """The elements of a tuple, unaffected by later assignments."""
        return tuple(self.captured(item) for item in value.items)


def bind(x: Lowering, function: Callable[..., Any], name: str, node: ast.Call) -> Call:
    """The call with its arguments by parameter."""
    keywords = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
    if len(keywords) != len(node.keywords) or any(isinstance(a, ast.Starred) for a in node.args):
        x.fail(node, "'*' arguments cannot be used: use each argument by name")
    signature = _signature(function)
    try:
        bound = signature.bind(*node.args, **keywords)
    except TypeError as error:
        x.fail(node, f"{name}(): {error}{_SHUFFLES if name.startswith('shuffle') else ''}")
    bound.apply_defaults()
    arguments: dict[str, ast.expr] = {}
    more: tuple[ast.expr, ...] = ()
    for parameter, given in bound.arguments.items():
        if signature.parameters[parameter].kind is inspect.Parameter.VAR_POSITIONAL:
            more = given
            continue
        if not isinstance(given, ast.AST):
            given = ast.copy_location(ast.Constant(given), node)
        arguments[parameter] = given
    return Call(name, node, arguments, more)
