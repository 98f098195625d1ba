"""``malloc`` and ``free`` of kernels, as functions of PTX that a module gets which calls them.

Blocks have four sizes between two powers of two, and at least 64 bytes. A freed block is the first of its size's list;
``malloc`` takes it from there, else from the area's end, and returns 0 where neither has room. The first 16 bytes of a
block are its size's number and, in a list, the next block's address. The head of a list is a block's address and, in
its upper 16 bits, a count of the changes, so that a compare-and-swap fails if the list has changed meanwhile. Whoever
takes a block sees what was done before it was freed (acquire and release at scope gpu). All of this is done by accesses
of the simulated caches.

CUDA's manual (device memory allocation) says: the heap has 8 MB, is the device's, lives as long as the program, and an
address is a multiple of 16. How NVIDIA's allocator works is not published.
"""

from __future__ import annotations

from gpucoh.ptx.module import Module

#: Bytes of a heap by default, which is CUDA's.
HEAP_BYTES = 8 << 20
#: The variable that has the heap's bytes, and the one that has their number.
AREA, SIZE = "gpucoh_heap", "gpucoh_heap_bytes"

TEXT = f"""
.version 8.0
.target sm_75
.address_size 64
.global .align 16 .b8 {AREA}[{HEAP_BYTES}];
.global .align 8 .u64 {SIZE} = {HEAP_BYTES};
.global .align 8 .u64 gpucoh_heap_used;
.global .align 8 .u64 gpucoh_heap_free[256];

.func (.param .b64 result) malloc (.param .b64 bytes)
{{
    .reg .pred %fits, %none, %taken;
    .reg .b32 %class, %shift;
    .reg .b64 %bytes, %size, %limit, %list, %head, %count, %block, %next, %new, %old;

    ld.param.u64 %bytes, [bytes];
    ld.global.u64 %limit, [{SIZE}];
    mov.u64 %block, 0;
    setp.lt.u64 %fits, %bytes, %limit;
    @!%fits bra DONE;
    add.u64 %size, %bytes, 15;
    max.u64 %size, %size, 63;
    clz.b64 %class, %size;
    sub.u32 %shift, 61, %class;
    shr.u64 %size, %size, %shift;
    cvt.u32.u64 %class, %size;
    mad.lo.u32 %class, %shift, 4, %class;
    add.u64 %size, %size, 1;
    shl.b64 %size, %size, %shift;
    mov.u64 %list, gpucoh_heap_free;
    mad.wide.u32 %list, %class, 8, %list;
    ld.relaxed.gpu.global.u64 %head, [%list];
TAKE:
    and.b64 %block, %head, 0xFFFFFFFFFFFF;
    setp.eq.u64 %none, %block, 0;
    @%none bra GROW;
    ld.relaxed.gpu.global.u64 %next, [%block + 8];
    and.b64 %count, %head, 0xFFFF000000000000;
    add.u64 %count, %count, 0x1000000000000;
    or.b64 %new, %count, %next;
    atom.acquire.gpu.global.cas.b64 %old, [%list], %head, %new;
    setp.eq.u64 %taken, %old, %head;
    mov.u64 %head, %old;
    @!%taken bra TAKE;
    bra FOUND;
GROW:
    atom.relaxed.gpu.global.add.u64 %block, [gpucoh_heap_used], %size;
    add.u64 %next, %block, %size;
    setp.le.u64 %fits, %next, %limit;
    @%fits bra NEW;
    neg.s64 %size, %size;
    atom.relaxed.gpu.global.add.u64 %old, [gpucoh_heap_used], %size;
    mov.u64 %block, 0;
    bra DONE;
NEW:
    mov.u64 %next, {AREA};
    add.u64 %block, %block, %next;
    st.global.u32 [%block], %class;
FOUND:
    add.u64 %block, %block, 16;
DONE:
    st.param.b64 [result], %block;
    ret;
}}

.func free (.param .b64 address)
{{
    .reg .pred %none, %taken;
    .reg .b32 %class;
    .reg .b64 %block, %list, %head, %next, %count, %new, %old;

    ld.param.u64 %block, [address];
    setp.eq.u64 %none, %block, 0;
    @%none bra DONE;
    sub.u64 %block, %block, 16;
    ld.global.u32 %class, [%block];
    mov.u64 %list, gpucoh_heap_free;
    mad.wide.u32 %list, %class, 8, %list;
    ld.relaxed.gpu.global.u64 %head, [%list];
PUT:
    and.b64 %next, %head, 0xFFFFFFFFFFFF;
    st.relaxed.gpu.global.u64 [%block + 8], %next;
    and.b64 %count, %head, 0xFFFF000000000000;
    add.u64 %count, %count, 0x1000000000000;
    or.b64 %new, %count, %block;
    atom.release.gpu.global.cas.b64 %old, [%list], %head, %new;
    setp.eq.u64 %taken, %old, %head;
    mov.u64 %head, %old;
    @!%taken bra PUT;
DONE:
    ret;
}}
"""


def is_called(module: Module) -> bool:
    """Whether a module declares one of the functions without a body, as CUDA's compiler does where it is called."""
    declared = (module.functions.get(name) for name in ("malloc", "free"))
    return any(one is not None and not one.is_defined for one in declared)


def add(module: Module, heap: Module) -> None:
    """Give a module the parsed ``TEXT``."""
    module.variables |= heap.variables
    module.functions |= heap.functions
