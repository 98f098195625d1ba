"""Prints a model in TLA+: each procedure as an operator from a state to the next one.

The state is one record `w`, which also holds the step `x` and, in `failed`, the text of a requirement that did not
hold. Statements become definitions of a LET; each gives its variable a new version. Loops have constant bounds and are
written out.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence

from gpucoh.export.bounded import Bounded
from gpucoh.export.syntax import (
    ModelError,
    body_of,
    calls,
    guard_of,
    is_array,
    number_of,
    parameters,
)

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Eq: "=",
    ast.NotEq: "#",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.And: "/\\",
    ast.Or: "\\/",
    ast.Add: "+",
    ast.Sub: "-",
}
_STATE = "w"
_Versions = dict[str, str]


def _base(target: ast.expr) -> str:
    while isinstance(target, ast.Attribute | ast.Subscript):
        target = target.value
    assert isinstance(target, ast.Name)
    return target.id


class _Printer:
    """Prints the functions of one model."""

    def __init__(self, model: Bounded) -> None:
        self.model = model
        self.words = {word for words in model.enums.values() for word in words}
        self.functions = {item.name: item for item in model.functions()}
        self.functions |= {item.name: item for item in model.definitions.rules()}
        self.stateful: dict[str, bool] = {}
        self.versions = 0

    # ---- what depends on the state

    def _needs_state(self, name: str) -> bool:
        """Whether an operator has the state as its first parameter."""
        if name not in self.stateful:
            item = self.functions[name]
            own = {arg for arg, _ in parameters(item)}
            names = {node.id for node in ast.walk(item) if isinstance(node, ast.Name)}
            direct = (
                "x" in own or item.returns is None or bool(names & set(self.model.world()) - own)
            )
            self.stateful[name] = direct or any(
                self._needs_state(other) for other in calls(item) if other in self.functions
            )
        return self.stateful[name]

    def _new(self, name: str) -> str:
        self.versions += 1
        return f"{name}_{self.versions}"

    # ---- expressions

    def _expression(self, node: ast.expr, at: _Versions) -> str:
        match node:
            case ast.Constant(value=bool() as value):
                return "TRUE" if value else "FALSE"
            case ast.Constant(value=int() as number):
                return str(number)
            case ast.Name(id=name):
                return self._named(name, at)
            case ast.Attribute(value=value, attr=attr):
                return f"{self._expression(value, at)}.{attr}"
            case ast.Subscript(value=value, slice=index):
                return f"{self._expression(value, at)}[{self._expression(index, at)}]"
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                sign = _OPERATORS[type(op)]
                return f"({self._expression(left, at)} {sign} {self._expression(right, at)})"
            case ast.BoolOp(op=op, values=values):
                sign = _OPERATORS[type(op)]
                return "(" + f" {sign} ".join(self._expression(item, at) for item in values) + ")"
            case ast.BinOp(left=left, op=op, right=right):
                sign = _OPERATORS[type(op)]
                return f"({self._expression(left, at)} {sign} {self._expression(right, at)})"
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return f"~{self._expression(operand, at)}"
            case ast.IfExp(test=test, body=body, orelse=orelse):
                parts = (self._expression(item, at) for item in (test, body, orelse))
                return "(IF {} THEN {} ELSE {})".format(*parts)
            case ast.Call(func=ast.Name(id="blank"), args=[record]):
                return f"blank_{ast.unparse(record)}"
            case ast.Call(func=ast.Name(id=name), args=args):
                return self._call(name, args, at)
        raise ModelError(f"no expression of the language: {ast.unparse(node)}")

    def _named(self, name: str, at: _Versions) -> str:
        if name in at:
            return at[name]
        if name in self.model.world() or name == "x":
            return f"{at[_STATE]}.{name}"
        return f'"{name}"' if name in self.words else name

    def _call(self, name: str, args: Sequence[ast.expr], at: _Versions) -> str:
        given = [self._expression(arg, at) for arg in args if ast.unparse(arg) != "x"]
        given = [at[_STATE], *given] if self._needs_state(name) else given
        return f"{name}({', '.join(given)})" if given else name

    # ---- statements

    def _assigned(self, body: Sequence[ast.stmt]) -> list[str]:
        """The variables, and the state, that statements give a new version."""
        out: list[str] = []
        for item in body:
            for node in ast.walk(item):
                if isinstance(node, ast.Assign | ast.AnnAssign):
                    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                    base = _base(target)
                    out.append(_STATE if base == "x" or base in self.model.world() else base)
                elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                    out.append(_STATE)
        return list(dict.fromkeys(out))

    def _block(self, body: Sequence[ast.stmt], at: _Versions) -> tuple[list[str], _Versions]:
        """Definitions for the statements, and the versions after them."""
        lines: list[str] = []
        for item in body:
            more, at = self._statement(item, at)
            lines += more
        return lines, at

    def _define(self, name: str, value: str, at: _Versions) -> tuple[list[str], _Versions]:
        new = self._new(name)
        value = f"\n{_indented(value)}" if "\n" in value else f" {value}"
        return [f"{new} =={value}"], {**at, name: new}

    def _assign(
        self, target: ast.expr, value: ast.expr, at: _Versions
    ) -> tuple[list[str], _Versions]:
        base, text = _base(target), self._expression(value, at)
        path = ""
        while isinstance(target, ast.Attribute | ast.Subscript):
            path = (
                f".{target.attr}{path}"
                if isinstance(target, ast.Attribute)
                else f"[{self._expression(target.slice, at)}]{path}"
            )
            target = target.value
        if base == "x" or base in self.model.world():
            base, path = _STATE, f".{base}{path}"
        return self._define(base, f"[{at[base]} EXCEPT !{path} = {text}]" if path else text, at)

    def _statement(self, node: ast.stmt, at: _Versions) -> tuple[list[str], _Versions]:
        match node:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return [], at
            case ast.Assign(targets=[target], value=value):
                return self._assign(target, value, at)
            case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value):
                return self._assign(target, value, at)
            case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=args)):
                return self._define(_STATE, self._procedure(name, args, at), at)
            case ast.For(target=ast.Name(id=name), iter=ast.Call(args=[end]), body=body):
                lines: list[str] = []
                for number in range(number_of(end, self.model.constants)):
                    more, at = self._block(body, {**at, name: str(number)})
                    lines += more
                return lines, {key: value for key, value in at.items() if key != name}
            case ast.If(test=test, body=body, orelse=orelse):
                condition = self._expression(test, at)
                return self._branches([(condition, body)], orelse, at)
            case ast.Match(subject=subject, cases=cases):
                named = [(self._case(subject, case, at), case.body) for case in cases]
                other = [body for condition, body in named if not condition]
                return self._branches(
                    [item for item in named if item[0]], other[0] if other else [], at
                )
        raise ModelError(f"no statement of the language: {ast.unparse(node)}")

    def _case(self, subject: ast.expr, case: ast.match_case, at: _Versions) -> str:
        label = ast.unparse(case.pattern)
        if label == "_":
            return ""
        value = self._expression(ast.parse(label, mode="eval").body, at)
        return f"{self._expression(subject, at)} = {value}"

    def _procedure(self, name: str, args: Sequence[ast.expr], at: _Versions) -> str:
        state = at[_STATE]
        if name == "require":
            text = ast.literal_eval(args[1])
            return f'IF {self._expression(args[0], at)} THEN {state} ELSE [{state} EXCEPT !.failed = "{text}"]'
        if name == "impossible":
            return f'[{state} EXCEPT !.failed = "impossible transition"]'
        return self._call(name, args, at)

    def _branches(
        self,
        branches: Sequence[tuple[str, Sequence[ast.stmt]]],
        other: Sequence[ast.stmt],
        at: _Versions,
    ) -> tuple[list[str], _Versions]:
        """One definition of what the branches assign: a variable, or a tuple."""
        bodies = [body for _, body in branches]
        assigned = [
            name
            for name in self._assigned([line for body in [*bodies, other] for line in body])
            if name in at
        ]
        if not assigned:
            return [], at
        given = [(condition, self._result(body, assigned, at)) for condition, body in branches]
        value = _if(given, self._result(other, assigned, at))
        if len(assigned) == 1:
            return self._define(assigned[0], value, at)
        both = self._new("both")
        lines = [f"{both} == {value}"]
        for number, name in enumerate(assigned, 1):
            more, at = self._define(name, f"{both}[{number}]", at)
            lines += more
        return lines, at

    def _result(self, body: Sequence[ast.stmt], names: Sequence[str], at: _Versions) -> str:
        lines, after = self._block(body, at)
        values = [after[name] for name in names]
        value = values[0] if len(values) == 1 else f"<<{', '.join(values)}>>"
        return _let(lines, value)

    def _value(self, body: Sequence[ast.stmt], at: _Versions) -> str:
        """The result of a function's statements."""
        lines: list[str] = []
        for number, item in enumerate(body):
            rest = body[number + 1 :]
            match item:
                case ast.Return(value=ast.expr() as value):
                    return _let(lines, self._expression(value, at))
                case ast.If() if _returns(item):
                    then = self._value([*item.body, *rest], at)
                    other = self._value([*item.orelse, *rest], at)
                    return _let(lines, _if([(self._expression(item.test, at), then)], other))
                case ast.Match() if _returns(item):
                    return _let(lines, self._match(item, rest, at))
            more, at = self._statement(item, at)
            lines += more
        raise ModelError("a function ends without a result")

    def _match(self, item: ast.Match, rest: Sequence[ast.stmt], at: _Versions) -> str:
        values = [
            (self._case(item.subject, case, at), self._value([*case.body, *rest], at))
            for case in item.cases
        ]
        return _if(values[:-1], values[-1][1])  # the last case is what remains

    # ---- definitions

    def operator(self, item: ast.FunctionDef) -> str:
        """A function or procedure as an operator."""
        self.versions = 0
        given = [name for name, _ in parameters(item) if name != "x"]
        at = {name: name for name in [_STATE, *given]}
        names = [_STATE, *given] if self._needs_state(item.name) else given
        if item.returns is None:
            lines, after = self._block(body_of(item), at)
            body = _let(lines, after[_STATE])
        else:
            body = self._value(body_of(item), at)
        text = ast.get_docstring(item)
        note = "".join(f"\\* {line}\n" for line in text.splitlines()) if text else ""
        return f"{note}{item.name}{'(' + ', '.join(names) + ')' if names else ''} ==\n{_indented(body)}\n"

    def zero(self, kind: ast.expr) -> str:
        """The first value of a type."""
        array, name = is_array(kind), ast.unparse(kind)
        if array:
            return f"[k \\in {ast.unparse(array[0])} |-> {self.zero(array[1])}]"
        if name == "bool":
            return "FALSE"
        if name in self.model.enums:
            return f'"{self.model.enums[name][0]}"'
        return f"blank_{name}" if name in self.model.definitions.records else "0"

    def rule(self, item: ast.FunctionDef) -> str:
        """A disjunct of Next."""
        guard = guard_of(item)
        assert guard is not None
        bound = [(name, ast.unparse(kind)) for name, kind in parameters(item) if name != "x"]
        at = {name: name for name in [_STATE, *(name for name, _ in bound)]}
        some = "".join(f"\\E {name} \\in {kind} : " for name, kind in bound)
        passed = ", ".join([_STATE, *(name for name, _ in bound)])
        after = f"{item.name}({passed})"
        if "settle" in self.functions:
            after = f"settle({after})"
        return f"{some}{self._expression(guard, at)} /\\ w' = [{after} EXCEPT !.x = blank_Step]"


def _returns(node: ast.AST) -> bool:
    return any(isinstance(item, ast.Return) for item in ast.walk(node))


def _let(lines: Sequence[str], value: str) -> str:
    return "LET\n" + _indented("\n".join(lines)) + f"\nIN {value}" if lines else value


def _indented(text: str) -> str:
    return textwrap.indent(text, "  ")


def _if(branches: Sequence[tuple[str, str]], other: str) -> str:
    """Branches of conditions and values, then the value of the others."""
    text = ""
    for condition, value in branches:
        text += f"IF {condition} THEN\n{_indented(value)}\nELSE "
    return text + (f"\n{_indented(other)}" if "\n" in other else other)


def tla(model: Bounded) -> str:
    """The model in TLA+."""
    printer = _Printer(model)
    lines = [f"---- MODULE {model.name} ----", "EXTENDS Naturals", ""]
    lines += [f"\\* {line}".rstrip() for line in model.header]
    lines += ["", "VARIABLE w", ""]
    lines += [f"{name} == {value}" for name, value in model.constants.items()]
    lines += [f"{name} == {least}..{most}" for name, (least, most) in model.ranges.items()]
    for name, words in model.enums.items():
        quoted = ", ".join(f'"{word}"' for word in words)
        lines.append(f"{name} == {{{quoted}}}")
    lines.append("")
    for record in model.records():
        fields = model.definitions.records[record].items()
        values = ", ".join(f"{name} |-> {printer.zero(kind)}" for name, kind in fields)
        lines.append(f"blank_{record} == [{values}]")
    lines += ["", *(printer.operator(item) for item in model.functions() if guard_of(item) is None)]
    lines += [printer.operator(item) for item in model.definitions.rules()]
    started = {name: printer.zero(kind) for name, kind in model.world().items()}
    started |= {
        "state": "[n \\in Node |-> initial_state(n)]",
        "test": "number",
        "evictions": "EVICTIONS",
        "x": "blank_Step",
        "failed": '""',
    }
    first = ", ".join(f"{name} |-> {value}" for name, value in started.items())
    lines += [f"Init == \\E number \\in Test : w = [{first}]", "", "Next =="]
    lines += [f"  \\/ {printer.rule(item)}" for item in model.definitions.rules()]
    lines += ["", "Spec == Init /\\ [][Next]_w", ""]
    lines += ['NothingFails == w.failed = ""']
    lines += ["Allowed == at_rest(w) => is_allowed(w)", "", "===="]
    return "\n".join(lines) + "\n"
