"""Names for the types of read-only buffers, which type checkers see as plain buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from gpucoh import lang

if TYPE_CHECKING:
    ReadOnlyF32: TypeAlias = lang.Buffer[float]
    ReadOnlyI32: TypeAlias = lang.Buffer[int]
else:
    ReadOnlyF32 = lang.Buffer[lang.f32, "readonly"]
    ReadOnlyI32 = lang.Buffer[lang.i32, "readonly"]
