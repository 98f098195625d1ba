"""Names for types that the kernel language and type checkers see differently: read-only buffers are plain
buffers to a type checker, and a constant text is an argument without annotation to the kernel language.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from gpucoh import lang

if TYPE_CHECKING:
    ReadOnlyF32: TypeAlias = lang.Buffer[float]
    ReadOnlyI32: TypeAlias = lang.Buffer[int]
    Text: TypeAlias = str
else:
    ReadOnlyF32 = lang.Buffer[lang.f32, "readonly"]
    ReadOnlyI32 = lang.Buffer[lang.i32, "readonly"]
    Text = None
