"""Prints a model in Murphi, as rumur and CMurphi read it."""

from __future__ import annotations

import ast

from gpucoh.export.bounded import Bounded
from gpucoh.export.syntax import (
    ModelError,
    body_of,
    guard_of,
    is_array,
    locals_of,
    parameters,
)

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Eq: "=",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.And: "&",
    ast.Or: "|",
    ast.Add: "+",
    ast.Sub: "-",
}
#: Words of Murphi that a model may use as names.
_RESERVED = frozenset(
    (
        "alias",
        "array",
        "assert",
        "assume",
        "begin",
        "by",
        "case",
        "clear",
        "const",
        "cover",
        "do",
        "else",
        "elsif",
        "end",
        "error",
        "exists",
        "for",
        "forall",
        "function",
        "if",
        "in",
        "invariant",
        "liveness",
        "of",
        "procedure",
        "program",
        "property",
        "put",
        "record",
        "return",
        "rule",
        "ruleset",
        "start",
        "startstate",
        "switch",
        "then",
        "to",
        "type",
        "undefine",
        "union",
        "until",
        "var",
        "while",
    )
)
_CONSTANTS = {True: "true", False: "false"}


def _type(annotation: ast.expr) -> str:
    array = is_array(annotation)
    if array:
        return f"array [{_type(array[0])}] of {_type(array[1])}"
    name = ast.unparse(annotation)
    return {"bool": "boolean"}.get(name, name)


def _name(name: str) -> str:
    return f"{name}_" if name in _RESERVED else name


def _expression(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=bool() as value):
            return _CONSTANTS[value]
        case ast.Constant(value=int() as number):
            return str(number)
        case ast.Name(id=name):
            return _name(name)
        case ast.Attribute(value=value, attr=attr):
            return f"{_expression(value)}.{_name(attr)}"
        case ast.Subscript(value=value, slice=index):
            return f"{_expression(value)}[{_expression(index)}]"
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return f"({_expression(left)} {_OPERATORS[type(op)]} {_expression(right)})"
        case ast.BoolOp(op=op, values=values):
            return "(" + f" {_OPERATORS[type(op)]} ".join(map(_expression, values)) + ")"
        case ast.BinOp(left=left, op=op, right=right):
            return f"({_expression(left)} {_OPERATORS[type(op)]} {_expression(right)})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"!{_expression(operand)}"
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return f"({_expression(test)} ? {_expression(body)} : {_expression(orelse)})"
        case ast.Call(func=ast.Name(id="blank"), args=[record]):
            return f"blank_{ast.unparse(record)}()"
        case ast.Call(func=ast.Name(id=name), args=args):
            return f"{_name(name)}({', '.join(map(_expression, args))})"
    raise ModelError(f"no expression of the language: {ast.unparse(node)}")


def _bare(node: ast.expr) -> str:
    """The expression without its outermost brackets."""
    text = _expression(node)
    return text[1:-1] if isinstance(node, ast.Compare | ast.BinOp | ast.BoolOp) else text


def _block(body: list[ast.stmt], depth: int) -> list[str]:
    return [line for item in body for line in _statement(item, depth)]


def _if(node: ast.If, depth: int, word: str) -> list[str]:
    pad = "  " * depth
    lines = [f"{pad}{word} {_bare(node.test)} then", *_block(node.body, depth + 1)]
    match node.orelse:
        case []:
            pass
        case [ast.If() as other]:
            return [*lines, *_if(other, depth, "elsif")]
        case other:
            lines += [f"{pad}else", *_block(other, depth + 1)]
    return [*lines, f"{pad}end;"]


def _call(node: ast.Call, pad: str) -> list[str]:
    match node:
        case ast.Call(func=ast.Name(id="require"), args=[test, ast.Constant(value=str() as text)]):
            return [f'{pad}assert {_expression(test)} "{text}";']
        case ast.Call(func=ast.Name(id="impossible")):
            return [f'{pad}error "impossible transition";']
    return [f"{pad}{_expression(node)};"]


def _statement(node: ast.stmt, depth: int) -> list[str]:
    pad = "  " * depth
    match node:
        case ast.Pass():
            return []
        case (
            ast.Assign(targets=[target], value=value)
            | ast.AnnAssign(target=target, value=ast.expr() as value)
        ):
            return [f"{pad}{_expression(target)} := {_bare(value)};"]
        case ast.If():
            return _if(node, depth, "if")
        case ast.For(target=ast.Name(id=name), iter=ast.Call(args=[end]), body=body):
            head = f"{pad}for {_name(name)} := 0 to {_bare(end)} - 1 do"
            return [head, *_block(body, depth + 1), f"{pad}end;"]
        case ast.While(test=test, body=body):
            return [f"{pad}while {_bare(test)} do", *_block(body, depth + 1), f"{pad}end;"]
        case ast.Match(subject=subject, cases=cases):
            lines = [f"{pad}switch {_expression(subject)}"]
            for case in cases:
                label = ast.unparse(case.pattern)
                lines.append(f"{pad}else" if label == "_" else f"{pad}case {label}:")
                lines += _block(case.body, depth + 1)
            return [*lines, f"{pad}end;"]
        case ast.Return(value=ast.expr() as value):
            return [f"{pad}return {_bare(value)};"]
        case ast.Expr(value=ast.Call() as call):
            return _call(call, pad)
        case ast.Expr(value=ast.Constant(value=str() as text)):
            return [f"{pad}-- {text}"]
    raise ModelError(f"no statement of the language: {ast.unparse(node)}")


def _signature(item: ast.FunctionDef) -> str:
    procedure = item.returns is None
    given = [
        ("var " if procedure and name == "x" else "") + f"{_name(name)}: {_type(kind)}"
        for name, kind in parameters(item)
    ]
    word, result = (
        ("procedure", "") if item.returns is None else ("function", f": {_type(item.returns)}")
    )
    return f"{word} {_name(item.name)}({'; '.join(given)}){result};"


def _declared(names: dict[str, ast.expr]) -> list[str]:
    return [f"  {_name(name)}: {_type(kind)};" for name, kind in names.items()]


def _function(item: ast.FunctionDef) -> list[str]:
    text = ast.get_docstring(item)
    own = _declared(locals_of(item))
    return [
        *([f"-- {line}" for line in text.splitlines()] if text else []),
        _signature(item),
        *(["var", *own] if own else []),
        "begin",
        *_block(body_of(item), 1),
        "end;",
        "",
    ]


def _zero(model: Bounded, kind: ast.expr, place: str, depth: int) -> list[str]:
    """Statements that give a place of the type its first value."""
    pad = "  " * depth
    array, name = is_array(kind), ast.unparse(kind)
    if array:
        index = f"i{depth}"
        inner = _zero(model, array[1], f"{place}[{index}]", depth + 1)
        return [f"{pad}for {index}: {_type(array[0])} do", *inner, f"{pad}end;"]
    if name == "bool":
        return [f"{pad}{place} := false;"]
    if name in model.enums:
        return [f"{pad}{place} := {model.enums[name][0]};"]
    if name in model.definitions.records:
        return [f"{pad}{place} := blank_{name}();"]
    return [f"{pad}{place} := 0;"]


def _blank(model: Bounded, record: str) -> list[str]:
    fields = model.definitions.records[record].items()
    zeros = [line for name, kind in fields for line in _zero(model, kind, f"out.{_name(name)}", 1)]
    return [
        f"function blank_{record}(): {record};",
        "var",
        f"  out: {record};",
        "begin",
        *zeros,
        "  return out;",
        "end;",
        "",
    ]


def _rule(item: ast.FunctionDef, settles: bool) -> list[str]:
    bound = [(name, kind) for name, kind in parameters(item) if name != "x"]
    given = "; ".join(f"{_name(name)}: {_type(kind)}" for name, kind in bound)
    guard = guard_of(item)
    assert guard is not None
    pad = "  " if bound else ""
    passed = ", ".join(["x", *(_name(name) for name, _ in bound)])
    return [
        *([f"ruleset {given} do"] if bound else []),
        f'{pad}rule "{item.name}" {_bare(guard)} ==>',
        f"{pad}var x: Step;",
        f"{pad}begin",
        f"{pad}  x := blank_Step();",
        f"{pad}  {_name(item.name)}({passed});",
        *([f"{pad}  settle();"] if settles else []),
        f"{pad}end;",
        *(["end;"] if bound else []),
        "",
    ]


def _types(model: Bounded) -> list[str]:
    lines = ["type"]
    for name, values in model.enums.items():
        lines.append(f"  {name}: enum {{{', '.join(values)}}};")
    lines += [f"  {name}: {least}..{most};" for name, (least, most) in model.ranges.items()]
    for record in model.records():
        lines += [
            f"  {record}: record",
            *(f"  {line}" for line in _declared(model.definitions.records[record])),
            "  end;",
        ]
    return lines


def murphi(model: Bounded) -> str:
    """The model in Murphi."""
    settles = "settle" in model.definitions.functions
    lines = [f"-- {line}".rstrip() for line in model.header]
    lines += ["", "const", *(f"  {name}: {value};" for name, value in model.constants.items()), ""]
    lines += [*_types(model), "", "var", *_declared(model.world()), ""]
    for record in model.records():
        lines += _blank(model, record)
    for item in model.functions():
        lines += _function(item)
    lines += ["procedure start_with(number: Test);", "begin"]
    lines += [line for name, kind in model.world().items() for line in _zero(model, kind, name, 1)]
    lines += ["  for n: Node do state[n] := initial_state(n); end;"]
    lines += ["  test := number;", "  evictions := EVICTIONS;", "end;", ""]
    for number, program in enumerate(model.programs):
        lines += [f'startstate "{program}" begin start_with({number}); end;']
    lines.append("")
    for item in model.definitions.rules():
        lines += _rule(item, settles)
    lines += ['invariant "the memory model allows the values"', "  !at_rest() | is_allowed();", ""]
    lines += ['liveness "the programs can end" at_rest();', ""]
    return "\n".join(lines)
