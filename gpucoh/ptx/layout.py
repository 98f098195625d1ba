"""Where a kernel's parameters and its variables in shared and local memory are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gpucoh.ptx.module import Function, Module, Statement, Variable

#: Alignment of the arrays in shared memory whose size the launch gives, and of the local variables of a function.
ALIGNMENT = 16


def placed(variables: list[Variable], first: int = 0) -> tuple[dict[str, int], int]:
    """The byte offset of each variable, each at a multiple of its alignment, and the end."""
    places: dict[str, int] = {}
    end = first
    for variable in variables:
        end = -(-end // variable.align) * variable.align
        places[variable.name] = end
        end += variable.size
    return places, end


@dataclass
class Layout:
    """Offsets in bytes.

    Attributes
    ----------
    parameter_at : dict
        Of the kernel's parameters.
    parameter_bytes : int
        Of all parameters.
    shared_at : dict
        Of variables in shared memory; those of external size begin behind the others.
    shared_bytes : int
        Of shared memory, without the part whose size the launch gives.
    reduction_at : int
        Of two words of shared memory for reductions at barriers.
    reduction_bytes : int
        Bytes of shared memory that these add.
    local_bytes : int
        Of local memory, a thread; grows as functions are inlined.
    symbols : dict
        Names of the variables in global memory that the kernel uses.
    """

    module: Module
    kernel: Function
    local_bytes: int = 0
    needs_parameters_in_memory: bool = False
    symbols: dict[str, None] = field(default_factory=dict)
    most_warps: int = 32
    reduction_at: int = 0
    reduction_bytes: int = 0

    def __getstate__(self) -> dict[str, object]:
        """What launches need: not the module, of which translations alone have need."""
        return vars(self) | {"module": None, "kernel": None}

    def __post_init__(self) -> None:
        self.parameter_at, self.parameter_bytes = placed(self.kernel.parameters)
        shared = _named_by(self.module, self.kernel)
        for function in _reachable(self.module, self.kernel):
            shared += [one for one in function.variables.values() if one.space == "shared"]
        sized = [one for one in shared if not _has_open_size(one)]
        self.shared_at, end = placed(sized)
        self.shared_bytes = counted = -(-end // ALIGNMENT) * ALIGNMENT
        self.reduces_at_barriers = _reduces_at_barriers(self.module, self.kernel)
        if self.reduces_at_barriers:
            self.reduction_at = -(-end // 4) * 4
            self.shared_bytes = -(-(self.reduction_at + 8) // ALIGNMENT) * ALIGNMENT
        self.reduction_bytes = self.shared_bytes - counted
        self.has_dynamic_shared = len(sized) < len(shared)
        for variable in shared:
            self.shared_at.setdefault(variable.name, self.shared_bytes)

    def add_local(self, function: Function) -> dict[str, int]:
        """Room for the local variables of a function that is inlined."""
        own = [one for one in function.variables.values() if one.space == "local"]
        first = -(-self.local_bytes // ALIGNMENT) * ALIGNMENT
        places, end = placed(own, first)
        if own:
            self.local_bytes = end
        return places


def _reachable(module: Module, kernel: Function) -> list[Function]:
    """The kernel and all functions of the device, which it may call."""
    return [one for one in module.functions.values() if one is kernel or not one.is_kernel]


def _statements(module: Module, kernel: Function) -> Iterator[Statement]:
    for function in _reachable(module, kernel):
        yield from (item for item in function.body if isinstance(item, Statement))


def _named_by(module: Module, kernel: Function) -> list[Variable]:
    """The module's variables in shared memory that a kernel has: those it may use, and all whose size launches give."""
    shared = [one for one in module.variables.values() if one.space == "shared"]
    if not shared:
        return []
    operands = " ".join(text for item in _statements(module, kernel) for text in item.operands)
    names = set(re.findall(r"[\w$]+", operands))
    return [one for one in shared if _has_open_size(one) or one.name in names]


def _reduces_at_barriers(module: Module, kernel: Function) -> bool:
    return any(
        item.op in ("bar", "barrier") and item.has("red") for item in _statements(module, kernel)
    )


def _has_open_size(variable: Variable) -> bool:
    return variable.is_external or variable.size == 0


def symbol_words(name: str) -> tuple[str, str]:
    """The names, in a program's constants, of the words of a symbol's address; "" is that of the parameters."""
    return f"&{name}", f"&{name} >> 32"


def parameter_word(number: int) -> str:
    """The name, in a program's constants, of a word of the kernel's parameters."""
    return f"param[{number}]"


def takes_local_addresses(module: Module, kernel: Function) -> bool:
    """Whether addresses of local memory become generic ones in the kernel, or in what it may call."""
    return any(s.op == "cvta" and s.has("local") for s in _statements(module, kernel))
