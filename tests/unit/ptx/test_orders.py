"""Orders and scopes of PTX's accesses and fences."""

import pytest

import gpucoh

# Statement -> the order and scope of the access or fence that it becomes.
ORDERS = {
    "ld.global.u32 %r1, [%rd1];": "weak",
    "ld.global.cv.u32 %r1, [%rd1];": "weak",
    "ld.volatile.global.u32 %r1, [%rd1];": "relaxed.sys",
    "ld.volatile.global.v2.u32 {%r1, %r2}, [%rd1];": "relaxed.sys",
    "ld.volatile.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];": "relaxed.sys",
    "ld.volatile.global.v2.u64 {%rd2, %rd3}, [%rd1];": "relaxed.sys",
    "ld.volatile.u64 %rd2, [%rd1];": "relaxed.sys",
    "ld.relaxed.sys.global.u32 %r1, [%rd1];": "relaxed.sys",
    "ld.relaxed.sys.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];": "relaxed.sys",
    "ld.relaxed.gpu.global.u64 %rd2, [%rd1];": "relaxed.gpu",
    "ld.acquire.sys.global.u32 %r1, [%rd1];": "acquire.sys",
    "ld.acquire.gpu.global.u64 %rd2, [%rd1];": "acquire.gpu",
    "st.global.wt.u32 [%rd1], %r1;": "weak",
    "st.volatile.global.u32 [%rd1], %r1;": "relaxed.sys",
    "st.volatile.global.v2.u32 [%rd1], {%r1, %r2};": "relaxed.sys",
    "st.volatile.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};": "relaxed.sys",
    "st.volatile.global.v2.u64 [%rd1], {%rd2, %rd3};": "relaxed.sys",
    "st.relaxed.sys.global.u64 [%rd1], %rd2;": "relaxed.sys",
    "st.relaxed.sys.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};": "relaxed.sys",
    "st.release.sys.global.u32 [%rd1], %r1;": "release.sys",
    "st.release.gpu.global.u64 [%rd1], %rd2;": "release.gpu",
    "atom.sys.global.add.u32 %r2, [%rd1], %r1;": "relaxed.sys",
    "atom.release.sys.global.exch.b32 %r2, [%rd1], %r1;": "release.sys",
    "atom.acq_rel.sys.global.cas.b64 %rd2, [%rd1], %rd3, %rd4;": "acq_rel.sys",
    "red.release.sys.global.add.u32 [%rd1], %r1;": "release.sys",
    "fence.acq_rel.sys;": "acq_rel.sys",
    "fence.sc.sys;": "sc.sys",
    "membar.sys;": "sc.sys",
    "membar.gl;": "sc.gpu",
    "fence.acq_rel.gpu;": "acq_rel.gpu",
}  # fmt: skip
KERNEL = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p) {{
.reg .b64 %rd<5>; .reg .b32 %r<5>;
ld.param.u64 %rd1, [p];
{}
ret; }}
"""


@pytest.mark.parametrize(("statement", "order"), ORDERS.items())
def test_an_access_has_the_order_and_scope_of_the_statement(statement: str, order: str) -> None:
    code = gpucoh.cuda.RawKernel(KERNEL.format(statement), "k").disassemble()
    found = [line for line in code.splitlines() if " LOAD" in line or " STORE" in line]
    found += [line for line in code.splitlines() if " ATOMIC" in line or " FENCE" in line]
    assert len(found) == 1
    assert f" {order}" in found[0]
