"""Names for the types of read-only buffers."""

from __future__ import annotations

from typing import Literal, TypeAlias

from gpucoh import lang

ReadOnlyF32: TypeAlias = lang.Buffer[lang.f32, Literal["readonly"]]
ReadOnlyI32: TypeAlias = lang.Buffer[lang.i32, Literal["readonly"]]
