"""The fields of a machine: types that parse units, ranges, and the text of an error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from gpucoh.base.quoting import quoted
from gpucoh.base.units import parse_bytes, parse_mhz, parse_name, parse_whole
from gpucoh.base.wording import out_of_range

SCHEDULERS = ("loose_round_robin", "greedy_then_oldest")
TOPOLOGIES = ("crossbar", "mesh", "star")
DRAM_MODELS = ("fixed", "fr_fcfs", "closed")
PLACEMENTS = ("round_robin", "first_free", "static", "rotating")
# The core takes a word by its place.
WORDS = {"scheduler": SCHEDULERS, "topology": TOPOLOGIES, "dram_model": DRAM_MODELS}
_SHORT = {"lrr": "loose_round_robin", "gto": "greedy_then_oldest", "frfcfs": "fr_fcfs"}


def _bytes(value: object, plain: int = 1) -> int:
    size = parse_bytes(value, plain)
    if not size.is_integer():
        raise ValueError(f"{quoted(value)} is not a whole number of bytes")
    return int(size)


def _kib(value: object) -> float:
    size = _bytes(value, plain=1024) / 1024
    return int(size) if size.is_integer() else size


def _word(value: object) -> object:
    """A choice in canonical spelling; any other value unchanged, so that the error quotes it."""
    if not isinstance(value, str):
        return value
    word = value.strip().lower().replace("-", "_")
    word = _SHORT.get(word, word)
    return word if word in SCHEDULERS + TOPOLOGIES + DRAM_MODELS + PLACEMENTS else value


Name = Annotated[str, BeforeValidator(parse_name)]
Count = Annotated[int, BeforeValidator(parse_whole)]
Bytes = Annotated[int, BeforeValidator(_bytes)]
Kib = Annotated[float, BeforeValidator(_kib)]
Mhz = Annotated[int, BeforeValidator(parse_mhz)]
Scheduler = Annotated[Literal["loose_round_robin", "greedy_then_oldest"], BeforeValidator(_word)]
Topology = Annotated[Literal["crossbar", "mesh", "star"], BeforeValidator(_word)]
DramModel = Annotated[Literal["fixed", "fr_fcfs", "closed"], BeforeValidator(_word)]
Placement = Annotated[
    Literal["round_robin", "first_free", "static", "rotating"], BeforeValidator(_word)
]


# A field of fields.def, which the C core reads too.
_FIELD = re.compile(r'X\((\w+), (\d+), (\d+), "(.*?)", "(.*)"\)')
DECLARED: dict[str, tuple[int, int, str, str]] = {
    name: (int(smallest), int(largest), unit, text)
    for name, smallest, largest, unit, text in _FIELD.findall(
        Path(__file__).with_suffix(".def").read_text(encoding="utf-8")
    )
}


def core_name(name: str) -> str:
    """The core's name of a field: sizes in KiB here are in bytes there."""
    return name.removesuffix("_kib") + "_bytes" if name.endswith("_kib") else name


def field(name: str, default: object = PydanticUndefined) -> Any:
    """A field of the core, with its range, unit and description; with a default, older files need not name it."""
    low, high, unit, text = DECLARED[core_name(name)]
    if name in WORDS:
        return choice(text, default)
    scale, unit = (1024, "KiB") if name.endswith("_kib") else (1, unit)
    smallest, largest = (
        size // scale if size % scale == 0 else size / scale for size in (low, high)
    )
    return Field(
        default, ge=smallest, le=largest, description=text, json_schema_extra={"unit": unit}
    )


def choice(text: str, default: object = PydanticUndefined) -> Any:
    """A field that is one of a few words; with a default, older files need not name it."""
    return Field(default, description=text, json_schema_extra={"unit": ""})


def unit_of(info: FieldInfo) -> str:
    """The unit of a field's plain number; empty for a count or a word."""
    extra = info.json_schema_extra
    return str(extra.get("unit", "")) if isinstance(extra, dict) else ""


def first_error(error: ValidationError, fields: Mapping[str, FieldInfo]) -> str:
    """The first pydantic error as one line."""
    first = error.errors()[0]
    name = str(first["loc"][0]) if first["loc"] else ""
    if first["type"] == "missing":
        return f"field {quoted(name)} is missing ({fields[name].description})"
    value = first["input"]
    kind = first["type"]
    if kind in ("greater_than_equal", "less_than_equal"):
        bounds = {type(item).__name__: item for item in fields[name].metadata}
        low, high = getattr(bounds.get("Ge"), "ge", "-"), getattr(bounds.get("Le"), "le", "-")
        return out_of_range(name, value, f"{low} to {high} {unit_of(fields[name])}".rstrip())
    if kind == "literal_error":
        return f"{name} = {quoted(value)} is not one of {first['ctx']['expected'].replace(chr(39), '')}"
    if kind.startswith("string_"):
        return f"{name} = {quoted(value)} is not text"
    message = str(first["msg"]).removeprefix("Value error, ")
    return f"{name}: {message}"
