"""Names for types of parameters: read-only buffers, and texts of device functions, such as a scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from gpucoh import lang

ReadOnlyF32: TypeAlias = lang.Buffer[lang.f32, Literal["readonly"]]
ReadOnlyI32: TypeAlias = lang.Buffer[lang.i32, Literal["readonly"]]
# The kernel language takes a text for an argument without annotation.
if TYPE_CHECKING:
    Text: TypeAlias = str
else:
    Text = None
