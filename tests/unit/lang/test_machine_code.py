"""The compiler's copy of the instruction set is the header's."""

import re
from pathlib import Path

import pytest

from gpucoh.lang import isa

CSRC = Path(__file__).parents[3] / "csrc"
HEADER = CSRC / "core" / "isa.h"
HEADERS = (HEADER, CSRC / "base" / "rules.h", CSRC / "base" / "atomics.h")


def names(macro: str) -> list[str]:
    text = "\n".join(header.read_text() for header in HEADERS)
    body = re.search(rf"#define {macro}\(X\)((?:.*\\\n)*.*)", text).group(1)
    return re.findall(r"\bX\((\w+)", re.sub(r'"[^"]*"', '""', body))


@pytest.mark.parametrize(
    ("macro", "mine"),
    [
        ("GPC_OPCODES", isa.OPCODE_NAMES),
        ("GPC_TYPES", isa.TYPE_NAMES),
        ("GPC_ATOMICS", isa.ATOMIC_NAMES),
        ("GPC_SPECIALS", isa.SPECIAL_NAMES),
        ("GPC_ORDERS", isa.ORDER_NAMES),
        ("GPC_SCOPES", isa.SCOPE_NAMES),
    ],
)
def test_names_are_those_of_the_header_in_order(macro, mine):
    assert mine == names(macro)


@pytest.mark.parametrize(
    "name",
    ["OPERAND_VECTOR", "OPERAND_UNIFORM", "OPERAND_CONSTANT", "OPERAND_KIND", "OPERAND_NUMBER", "OPERAND_NONE",
     "FLAG_TO_MASK", "FLAG_IF_ZERO", "FLAG_HIGH", "FLAG_FLAT", "FLAG_ATOMIC_SHIFT"],
)  # fmt: skip
def test_flags_are_those_of_the_header(name):
    value = re.search(rf"#define GPC_{name} (\w+?)u\b", HEADER.read_text()).group(1)
    assert getattr(isa, name) == int(value, 0)


def test_packing_is_that_of_the_header():
    assert f'"{isa.FORMAT}"' in HEADER.read_text()
    assert isa.SIZE == 32


def test_the_built_core_has_the_same_instruction_set():
    core = pytest.importorskip("gpucoh._core").isa()
    assert core["opcodes"] == isa.OPCODES
    assert core["specials"] == isa.SPECIALS
    assert core["orders"] == isa.ORDERS
    assert core["scopes"] == isa.SCOPES
    assert core["atomics"] == isa.ATOMICS
    assert core["format"] == isa.FORMAT
    assert core["size"] == isa.SIZE
