"""Declarations of PTX: registers, and variables of the state spaces with their initial values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from gpucoh.ptx.constants import integer_of
from gpucoh.ptx.module import Place, Variable, refuse
from gpucoh.ptx.types import SIZES

_DECLARATION = re.compile(
    r"(?P<linkage>(?:\.(?:extern|visible|weak|common)\s+)*)\.(?P<space>global|const|shared|local|param|reg)\s+"
    r"(?P<rest>.*)$",
    re.DOTALL,
)
_NOISE = re.compile(
    r"\.ptr\b(?:\s*\.(?:global|const|shared|local))?(?:\s*\.align\s+\d+)?|\.attribute\s*\([^)]*\)|\.managed\b"
)
_ALIGN = re.compile(r"\.align\s+(\d+)\s*")
_VECTOR = re.compile(r"\.v([248])\s+")
_VARIABLE = re.compile(r"\.(\w+)\s*([\w$%.]*)\s*((?:\[[^\]]*\]\s*)*)(?:=\s*(.*))?$", re.DOTALL)
_ADDRESS = re.compile(r"(?:generic\(\s*)?([A-Za-z_$%][\w$%.]*)\s*\)?(?:\s*\+\s*(\d+))?$")


def is_declaration(text: str) -> bool:
    """Whether the text declares registers or a variable."""
    return _DECLARATION.match(text) is not None


def split_list(text: str) -> list[str]:
    """Items between commas that are in no brackets."""
    items, depth, begin = [], 0, 0
    for k, character in enumerate(text):
        if character in "[{(":
            depth += 1
        elif character in "]})":
            depth -= 1
        elif character == "," and depth == 0:
            items.append(text[begin:k].strip())
            begin = k + 1
    last = text[begin:].strip()
    return [*items, last] if last else items


def declared_registers(text: str, place: Place) -> Iterator[tuple[str, str]]:
    """Names and types of ``.reg .b32 %r<5>, %tmp``."""
    found = re.match(r"\.reg\s*(?:\.v[24]\s*)?\.(\w+)\s+(.*)$", text, re.DOTALL)
    if found is None or found[1] not in SIZES:
        raise refuse(place, f"PTX: '{text[:60]}' does not declare registers")
    for item in split_list(found[2]):
        counted = re.match(r"(%?[\w$]+)<(\d+)>$", item)
        if counted is None:
            yield item, found[1]
            continue
        for number in range(int(counted[2])):
            yield f"{counted[1]}{number}", found[1]


def variable_of(text: str, place: Place) -> Variable:
    """The variable that ``.global .align 4 .b8 name[16] = {..}`` declares."""
    found = _DECLARATION.match(text.strip())
    if found is None:
        raise refuse(place, f"PTX: '{text[:60]}' is not a declaration")
    rest = _NOISE.sub(" ", found["rest"]).strip()
    align, lanes = 0, 1
    if given := _ALIGN.match(rest):
        align, rest = int(given[1]), rest[given.end() :]
    if vector := _VECTOR.match(rest):
        lanes, rest = int(vector[1]), rest[vector.end() :]
    # The alignment of a pointer's target may follow the type: `.param .u64 .ptr .global .align 4 name`.
    parts = _VARIABLE.match(rest)
    if parts is not None and parts[1] in ("texref", "surfref", "samplerref"):
        raise refuse(place, f"'{parts[2]}': textures are not supported")
    if parts is None or parts[1] not in SIZES:
        raise refuse(place, f"PTX: the type of '{' '.join(text.split())[:60]}' is not supported")
    type, name, extents, initial = parts.groups()
    sizes = []
    for extent in re.findall(r"\[([^\]]*)\]", extents):
        number = integer_of(extent.strip() or "0")
        if number is None:
            raise refuse(place, f"PTX: the extent '{extent[:40]}' of '{name}' is not supported")
        sizes.append(number)
    size = SIZES[type] * lanes
    variable = Variable(
        found["space"],
        name,
        type,
        max(align, size if lanes > 1 else SIZES[type]),
        size * math.prod(sizes),
        is_external="extern" in found["linkage"],
    )
    if initial:
        _initialise(variable, initial, place)
    return variable


def _initialise(variable: Variable, text: str, place: Place) -> None:
    size = SIZES[variable.type]
    data = bytearray()
    for item in split_list(re.sub(r"[{}]", " ", text)):
        word = _number(item, size)
        if word is None:
            address = _ADDRESS.match(item)
            if address is None or size != 8:
                raise refuse(place, f"PTX: the initial value '{item[:40]}' is not supported")
            variable.addresses[len(data)] = address[1]
            word = int(address[2] or 0)
        data += word.to_bytes(size, "little")
    variable.initial = bytes(data)
    variable.size = max(variable.size, len(data))


def _number(text: str, size: int) -> int | None:
    """The bits of a number; None: an address."""
    if re.match(r"0[fFdD][0-9a-fA-F]+$", text):
        return int(text[2:], 16)
    number = integer_of(text)
    return None if number is None else number & ((1 << 8 * size) - 1)
