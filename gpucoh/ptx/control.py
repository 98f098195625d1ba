"""Bodies of functions: labels, branches, predicated statements, calls of functions, the end of a thread."""

from __future__ import annotations

from collections.abc import Sequence

from gpucoh.lang import ir
from gpucoh.lang.ir import Block, Constant
from gpucoh.lang.types import U32
from gpucoh.ptx import copies, parameters, printf
from gpucoh.ptx.constants import WARP_SZ, wide_constant
from gpucoh.ptx.declarations import split_list
from gpucoh.ptx.forms import refused_part
from gpucoh.ptx.lowering import HANDLERS, Frame, Lowering, Words, lowers
from gpucoh.ptx.module import Function, Label, Statement

#: Lanes of a warp, which PTX assumes.
_MAX_DEPTH = 16  # of inlined calls
_REFUSED = {
    "textures are not supported": "tex tld4 txq",
    "surfaces are not supported": "suld sust sured suq",
    "tensor cores are not supported": "wgmma tcgen05 stmatrix movmatrix",
    "clusters of blocks are not supported": "mapa getctarank",
    "memory of several GPUs is not supported": "multimem",
    "a stack of variable size is not supported": "stacksave alloca",
    "dependent launches are not supported": "griddepcontrol",
    "setmaxnreg is not supported": "setmaxnreg",
}
_REASONS = {name: reason for reason, names in _REFUSED.items() for name in names.split()}


def lower_body(x: Lowering) -> None:
    """Lower the statements of the frame's function."""
    body = x.frame.function.body
    labels = {item.name: x.new_block() for item in body if isinstance(item, Label)}
    x.frame.labels = labels
    k = 0
    while k < len(body):
        item = body[k]
        if isinstance(item, Label):
            copies.store_before(x, None)
            x.start(labels[item.name])
            k += 1
            continue
        run = _guarded_run(body, k)
        _lower_run(x, run)
        k += len(run)
    x.statement = None
    copies.store_before(x, None)
    _end(x)


def _guarded_run(body: Sequence[Statement | Label], k: int) -> list[Statement]:
    """The statements from ``k`` that one predicate guards, and that do not change it; without a guard one."""
    first = body[k]
    assert isinstance(first, Statement)
    run = [first]
    if first.guard is None or first.op in ("bra", "ret", "exit"):
        return run
    for item in body[k + 1 :]:
        changed = run[-1].operands[0].split("|") if run[-1].operands else []
        if (
            not isinstance(item, Statement)
            or item.guard != first.guard
            or item.negated != first.negated
            or item.op in ("bra", "ret", "exit")
            or first.guard in (name.strip() for name in changed)
        ):
            break
        run.append(item)
    return run


def _lower_run(x: Lowering, run: list[Statement]) -> None:
    first = run[0]
    copies.store_before(x, first if first.guard is None else None)
    _begin(x, first)
    if first.op == "bra":
        _branch(x, first)
    elif first.guard is None:
        lower(x, first)
    else:
        with x.when(x.predicate(first.guard), first.negated):
            for statement in run:
                copies.store_before(x, statement)
                _begin(x, statement)
                lower(x, statement)
            copies.store_before(x, None)


def _begin(x: Lowering, s: Statement) -> None:
    x.statement = s
    x.place = x.place_of(s.place)


def lower(x: Lowering, s: Statement) -> None:
    """Lower one statement without its guard."""
    handler = HANDLERS.get(s.op)
    if handler is None:
        raise x.refuse(_REASONS.get(s.op, "the instruction is not supported"))
    if part := refused_part(s.op, s.modifiers, len(s.operands)):
        raise x.unsupported(part)
    handler(x, s)


def _branch(x: Lowering, s: Statement) -> None:
    target = _labelled(x, s.operands[0])
    if s.guard is None:
        x.jump(target)
        return
    after = x.new_block()
    targets = (after, target) if s.negated else (target, after)
    x.split(x.predicate(s.guard), *targets)
    x.resume(after)


def _labelled(x: Lowering, name: str) -> Block:
    target = x.frame.labels.get(name)
    if target is None:
        raise x.refuse(f"label '{name}' is not declared")
    return target


@lowers("brx")
def branch_by_number(x: Lowering, s: Statement) -> None:
    """``brx.idx number, table``: a tree of comparisons, since the core branches by conditions alone."""
    names = x.frame.function.targets.get(s.operands[1])
    if names is None:
        raise x.refuse(f"'{s.operands[1]}' lists no targets")
    number = x.value(s.operands[0], "u32")
    beyond = x.core("GE", U32, number, (Constant(len(names)),))
    with x.when(beyond[0], negated=False):
        printf.report(x, "ASSERT", ["a branch by a number beyond its table"], [Constant(0)])
        x.exit()
    _choose(x, number, [_labelled(x, name) for name in names], 0)


def _choose(x: Lowering, number: Words, targets: list[Block], first: int) -> None:
    """Go to the target of the number; the first one's number is ``first``."""
    if all(target is targets[0] for target in targets):
        x.jump(targets[0])
        return
    half = len(targets) // 2
    below = x.core("LT", U32, number, (Constant(first + half),))
    lower_half, upper_half = x.new_block(), x.new_block()
    x.split(below[0], lower_half, upper_half)
    for block, part, at in (
        (lower_half, targets[:half], first),
        (upper_half, targets[half:], first + half),
    ):
        x.resume(block)
        _choose(x, number, part, at)


def _end(x: Lowering) -> None:
    """The end of a function's text, or its ``ret``."""
    end = x.frame.end
    if end is None:
        x.exit()
    else:
        x.jump(end)


@lowers("ret")
def leave(x: Lowering, s: Statement) -> None:
    """The end of the function."""
    _end(x)


@lowers("exit")
def end_thread(x: Lowering, s: Statement) -> None:
    """The end of the thread."""
    x.exit()


@lowers("trap")
def trap(x: Lowering, s: Statement) -> None:
    """An error that ends the launch."""
    printf.report(x, "ASSERT", ["trap"], [Constant(0)])
    x.exit()


@lowers("brkpt", "pmevent")
def ignored(x: Lowering, s: Statement) -> None:
    """For debuggers and profilers."""


# ---- calls ---------------------------------------------------------------------------------------


@lowers("call")
def call(x: Lowering, s: Statement) -> None:
    """``call (result), name, (arguments)``: the function is inlined."""
    operands = list(s.operands)
    results = split_list(operands.pop(0)[1:-1]) if operands[0].startswith("(") else []
    name = operands.pop(0)
    arguments = split_list(operands[0][1:-1]) if operands and operands[0].startswith("(") else []
    if name == "vprintf":
        printf.lower(x, arguments, results)
        return
    if name == "__assertfail":
        printf.fail_assertion(x, arguments)
        return
    if x.registers_of(name) is not None:
        _call_by_pointer(x, name, operands[-1], arguments, results)
        return
    function = x.module.functions.get(name)
    if name.startswith(("cudaLaunchDevice", "cudaGetParameterBuffer", "cudaCGGetIntrinsicHandle")):
        raise x.refuse(f"function '{name}': dynamic parallelism is not supported")
    if function is None or not function.is_defined:
        raise x.refuse(f"function '{name}' has no body in this module")
    if any(frame.function is function for frame in x.frames):
        raise x.refuse(f"function '{name}' is recursive, which is not supported")
    _inline(x, function, arguments, results)


def _call_by_pointer(
    x: Lowering, name: str, table: str, arguments: list[str], results: list[str]
) -> None:
    """Compare with the address of each function that it may be, and inline these."""
    pointer = x.value(name, "u64")
    after = x.new_block()
    for function in _callable(x, table):
        this = wide_constant(x.module.addresses[function.name])
        equal = x.row("EQ_B64", pointer, this)
        inside, other = x.new_block(), x.new_block()
        x.split(equal[0], inside, other)
        x.resume(inside)
        _inline(x, function, arguments, results)
        x.block.terminator = ir.Jump(after, x.place)
        x.resume(other)
    why = "a call by a pointer that is the address of no such function, or of one that is running"
    printf.report(x, "ASSERT", [why], [Constant(0)])
    x.exit()
    x.start(after)


def _callable(x: Lowering, table: str) -> list[Function]:
    """The functions that a call by a pointer may reach, by its list of targets or its prototype."""
    names = x.frame.function.targets.get(table)
    prototype = x.frame.function.prototypes.get(table)
    if names is None and prototype is None:
        raise x.refuse(f"'{table}' lists no functions and is no prototype")
    taken = [x.module.functions[one] for one in x.module.addresses if names is None or one in names]
    running = [frame.function for frame in x.frames]
    return [
        one
        for one in taken
        if one.is_defined
        and one not in running
        and (prototype is None or one.shape == prototype.shape)
    ]


def _inline(x: Lowering, function: Function, arguments: list[str], results: list[str]) -> None:
    if len(x.frames) > _MAX_DEPTH:
        raise x.refuse(f"more than {_MAX_DEPTH} nested calls")
    given = [parameters.declared(x, name) for name in arguments]
    taken = [parameters.declared(x, name) for name in results]
    frame = Frame(function, end=x.new_block(), local_at=x.layout.add_local(function))
    place = x.place
    x.frames.append(frame)
    for variable, words in zip(function.parameters, given, strict=True):
        frame.parameters[variable.name] = [x.copied((word,))[0] for word in words]
    for variable in function.returns:
        frame.parameters[variable.name] = parameters.fresh(x, variable)
    lower_body(x)
    x.frames.pop()
    assert frame.end is not None
    x.start(frame.end)
    x.place = place
    for variable, to in zip(function.returns, taken, strict=True):
        x.move(to, tuple(frame.parameters[variable.name]))


def finish(x: Lowering) -> ir.Function:
    """The function in the intermediate form, with numbered blocks."""
    for number, block in enumerate(x.function.blocks):
        block.number = number
    x.function.shared_words = x.layout.shared_bytes // 4
    x.function.lanes_needed = WARP_SZ
    x.function.independent_lanes = True
    return x.function
