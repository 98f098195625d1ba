"""Names for the types of read-only buffers, which type checkers see as plain buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import gpucoh

if TYPE_CHECKING:
    ReadOnlyF32: TypeAlias = gpucoh.Buffer[float]
    ReadOnlyI32: TypeAlias = gpucoh.Buffer[int]
else:
    ReadOnlyF32 = gpucoh.Buffer[gpucoh.f32, "readonly"]
    ReadOnlyI32 = gpucoh.Buffer[gpucoh.i32, "readonly"]
