"""The state of a lowering from PTX to the intermediate form: what operands of the text mean.

The handlers of the instructions are in the modules that :mod:`gpucoh.ptx.translate` imports.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from gpucoh.lang.builder import Registers
from gpucoh.lang.ir import Argument, Constant, Operand
from gpucoh.lang.types import U32
from gpucoh.ptx.constants import constant_bits, integer_of, wide_constant
from gpucoh.ptx.emission import Emission, Frame, Words
from gpucoh.ptx.layout import symbol_words
from gpucoh.ptx.module import Statement
from gpucoh.ptx.specials import special_register
from gpucoh.ptx.types import words_of

__all__ = ["HANDLERS", "Frame", "Lowering", "Registers", "Words", "lowers"]

Handler: TypeAlias = "Callable[[Lowering, Statement], None]"

#: Operation -> the function that lowers it.
HANDLERS: dict[str, Handler] = {}

_SYMBOL = re.compile(r"([A-Za-z_$%][\w$%.@]*)(?:\s*\+\s*(-?\w+))?$")
_ADDRESS = re.compile(r"\[\s*([^\s+\]]+)\s*(?:\+\s*(-?\w+))?\s*\]$")


def lowers(*operations: str) -> Callable[[Handler], Handler]:
    """Register a function as the handler of these operations."""

    def register(handler: Handler) -> Handler:
        HANDLERS.update(dict.fromkeys(operations, handler))
        return handler

    return register


class Lowering(Emission):
    """Turns one kernel of a module into a :class:`gpucoh.lang.ir.Function`."""

    def registers_of(self, name: str) -> Registers | None:
        """The registers of a PTX register; None: no such one."""
        frame = self.frame
        if name in frame.registers:
            return frame.registers[name]
        type = frame.function.registers.get(name)
        if type is None:
            return None
        return frame.registers.setdefault(name, self.new(words_of(type)))

    def to(self, name: str) -> Registers:
        """The registers that an instruction writes; ``_`` discards."""
        if name == "_":
            return self.new(2)
        found = self.registers_of(name)
        if found is None:
            raise self.refuse(f"'{name}' is not a register")
        for register in found:
            if register in self._assigned:
                self.origins.pop(register, None)
                self._variables.add(register)
            self._assigned.add(register)
        return found

    def value(self, text: str, type: str) -> Words:
        """An operand: a register, a number, a special register, or a symbol's address."""
        words = words_of(type)
        found = self.registers_of(text)
        if found is not None:
            padded: Words = (*found, Constant(0))
            return padded[:words] if len(found) < words else found[:words]
        number = constant_bits(text, type)
        if number is not None:
            number = int(number != 0) if type == "pred" else number  # -1 is true as 1 is
            return tuple(Constant(number >> 32 * k & 0xFFFFFFFF) for k in range(words))
        if text.startswith("%") and text not in self.frame.function.variables:
            return (*special_register(self, text), Constant(0))[:words]
        symbol = _SYMBOL.match(text)
        if symbol is None:
            raise self.refuse(f"operand '{text}' is not supported")
        return self.added(self.address_of(symbol[1]), self.integer(symbol[2] or "0"))[:words]

    def integer(self, text: str) -> int:
        """An integer that the program's text must have here."""
        number = integer_of(text)
        if number is None:
            raise self.refuse(f"'{text}' is not an integer")
        return number

    def added(self, address: Words, offset: int) -> Words:
        """A 64-bit value plus a constant."""
        if offset == 0:
            return address
        if all(isinstance(word, Constant) for word in address):
            number = sum(w.bits << 32 * k for k, w in enumerate(address) if isinstance(w, Constant))
            return wide_constant(number + offset)
        return self.row("ADD_B64", address, wide_constant(offset))

    def address_of(self, name: str) -> Words:
        """The address of a variable in its state space."""
        frame = self.frame
        if name in frame.local_at:
            return wide_constant(frame.local_at[name])
        if name in self.layout.shared_at:
            return wide_constant(self.layout.shared_at[name])
        if name in frame.function.variables or name in self.module.variables:
            variable = frame.function.variables.get(name) or self.module.variables[name]
            if variable.space in ("global", "const"):
                return self.global_address(variable)
        if name in self.layout.parameter_at:
            return self.added(self.parameters_address(), self.layout.parameter_at[name])
        if name in self.module.addresses:
            return wide_constant(self.module.addresses[name])
        raise self.refuse(f"symbol '{name}' is not declared")

    def parameters_address(self) -> Words:
        """The address of the kernel's parameters, which the launch then copies to memory."""
        self.layout.needs_parameters_in_memory = True
        return tuple(Argument(name) for name in symbol_words(""))

    def address(self, text: str) -> tuple[str, int]:
        """Base and offset of ``[base+offset]``."""
        found = _ADDRESS.match(text)
        if found is None:
            raise self.refuse(f"address '{text}' is not supported")
        return found[1], self.integer(found[2] or "0")

    def predicate(self, text: str) -> Operand:
        """A predicate operand, ``%p`` or ``!%p``."""
        value = self.value(text.lstrip("!"), "pred")
        if text.startswith("!"):
            value = self.core("XOR", U32, value, (Constant(1),))
        return value[0]
