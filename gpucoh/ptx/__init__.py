"""PTX, the assembly language of NVIDIA's compilers: parsed, and lowered to the form that the kernel language has.

The grammar and the meaning of statements are those of the PTX ISA manual. A statement that is not supported is refused
by name and line when a kernel is translated.
"""
