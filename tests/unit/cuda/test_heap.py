"""Memory that kernels allocate: ``malloc``, ``free``, ``new`` and ``delete``."""

from pathlib import Path

import numpy as np
import pytest

import gpucoh
from gpucoh.ptx import heap
from products import share
from registered import COHERENT
from unit.cuda.compiled import cuda, needs_nvcc

HEAD = """
.version 8.5
.target sm_75
.address_size 64
.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
.visible .entry k(.param .u64 o) {
.reg .b64 %rd<20>; .reg .b32 %r<20>; .reg .pred %p<4>;
mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r0, %r0, %r1, %r2;
ld.param.u64 %rd0, [o]; mul.wide.u32 %rd1, %r0, 8; add.u64 %rd0, %rd0, %rd1;
"""
ALLOCATE = "{ .param .b64 n; .param .b64 r; st.param.b64 [n], %rd2; call (r), malloc, (n); ld.param.b64 %rd3, [r]; }"
FREE = "{ .param .b64 p; st.param.b64 [p], %rd3; call free, (p); }"


def run(text: str, protocol: str = "denovo-drf", blocks: int = 4):
    """What each of 64 threads a block leaves in its element; the bytes that were taken from the heap's end."""
    with gpucoh.GPU(machine="fermi", protocol=protocol, check=True) as gpu:
        out = gpu.zeros(64 * blocks, np.uint64)
        module = gpucoh.cuda.Module(f"{HEAD}{text}\nret; }}")
        module["k"][blocks, 64](out)
        area = module.get_global(gpu, heap.AREA)
        used = int(module.get_global(gpu, "gpucoh_heap_used")[0])
        return out.numpy(), area.address, area.numpy(), used


@pytest.mark.parametrize("protocol", share(COHERENT, one_in=9))
def test_blocks_of_all_threads_are_apart_and_keep_what_is_written(protocol: str) -> None:
    # 1 to 256 bytes, the first and the last of which have the thread's number
    text = f"add.u32 %r3, %r0, 1; cvt.u64.u32 %rd2, %r3; {ALLOCATE} st.global.u64 [%rd0], %rd3; cvt.u16.u32 %rs, %r0;"
    text = (
        f".reg .b16 %rs; {text} st.u8 [%rd3], %rs; add.u64 %rd4, %rd3, %rd2; st.u8 [%rd4+-1], %rs;"
    )
    addresses, first, area, used = run(text, protocol)
    numbers = np.arange(len(addresses), dtype=np.uint64)
    assert (addresses % 16 == 0).all()
    order = np.argsort(addresses)
    ends = addresses + numbers + 1
    assert (ends[order][:-1] <= addresses[order][1:]).all()
    assert addresses.min() >= first
    assert ends.max() <= first + used
    for at in (addresses, ends - 1):
        np.testing.assert_array_equal(area[at - first], numbers.astype(np.uint8))


@pytest.mark.parametrize("protocol", share(COHERENT, one_in=9))
def test_freed_blocks_are_taken_again_and_no_two_threads_have_one(protocol: str) -> None:
    text = f"""
    mov.u64 %rd2, 24; mov.u32 %r4, 0; cvt.u64.u32 %rd5, %r0;
    AGAIN: {ALLOCATE} st.u64 [%rd3], %rd5; st.u64 [%rd3+16], %rd5;
    ld.u64 %rd6, [%rd3]; ld.u64 %rd7, [%rd3+16]; add.u64 %rd8, %rd6, %rd7; add.u64 %rd9, %rd9, %rd8;
    {FREE} add.u32 %r4, %r4, 1; setp.lt.u32 %p0, %r4, 5; @%p0 bra AGAIN; st.global.u64 [%rd0], %rd9;
    """
    sums, _, _, used = run(text, protocol, blocks=2)
    np.testing.assert_array_equal(sums, 10 * np.arange(len(sums), dtype=np.uint64))
    assert used <= 64 * len(sums)  # a block of 64 bytes each, however often


def test_what_does_not_fit_is_null_and_freeing_null_does_nothing() -> None:
    text = f"""
    setp.ne.u32 %p0, %r0, 0; @%p0 exit;
    mov.u64 %rd2, {heap.HEAP_BYTES}; {ALLOCATE} {FREE} mov.u64 %rd10, %rd3;
    mov.u64 %rd2, {heap.HEAP_BYTES // 2 - 16}; {ALLOCATE} mov.u64 %rd11, %rd3; {ALLOCATE} mov.u64 %rd12, %rd3;
    {ALLOCATE} mov.u64 %rd13, %rd3; mov.u64 %rd2, 1; {ALLOCATE} mov.u64 %rd14, %rd3; mov.u64 %rd3, %rd11; {FREE}
    mov.u64 %rd2, {heap.HEAP_BYTES // 2 - 80}; {ALLOCATE} sub.u64 %rd3, %rd3, %rd11;
    st.global.v2.u64 [%rd0], {{%rd10, %rd11}}; st.global.v2.u64 [%rd0+16], {{%rd12, %rd13}};
    st.global.v2.u64 [%rd0+32], {{%rd14, %rd3}};
    """
    found, first, _, used = run(text)
    half = heap.HEAP_BYTES // 2
    assert found[:6].tolist() == [0, first + 16, first + half + 16, 0, 0, 0]
    assert used == heap.HEAP_BYTES


PROGRAM = r"""
#include <cstdio>
struct Node { int value; Node *next; };
__device__ unsigned long long head;
__global__ void push() {
    Node *one = new Node{(int) (blockIdx.x * blockDim.x + threadIdx.x)};
    unsigned long long seen = 0, old;
    while ((one->next = (Node *) seen, __threadfence(), old = atomicCAS(&head, seen, (unsigned long long) one)) != seen)
        seen = old;
}
__global__ void sum(int *out) {
    for (Node *one = (Node *) head, *next; one; one = next) { *out += one->value; next = one->next; delete one; }
    head = 0;
}
__global__ void large(int *out) { *out = malloc(9 << 20) != nullptr; }
int main() {
    int *d, h; size_t bytes;
    cudaMalloc(&d, 4);
    printf("%d ", cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize);
    printf("%zu\n", bytes);
    for (int n = 0; n < 2; n++) {
        cudaMemset(d, 0, 4); push<<<2, 64>>>(); sum<<<1, 1>>>(d);
        cudaMemcpy(&h, d, 4, cudaMemcpyDefault); printf("%d\n", h);
    }
    large<<<1, 1>>>(d); cudaMemcpy(&h, d, 4, cudaMemcpyDefault);
    printf("%d %s\n", h, cudaGetErrorName(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20)));
}
"""


@needs_nvcc
def test_a_list_of_new_nodes_and_the_heap_s_limit(tmp_path: Path) -> None:
    source = tmp_path / "list.cu"
    source.write_text(PROGRAM, encoding="utf-8")
    ran = cuda(source, "-p", "tc-weak", "--check")
    expected = ["0 16777216", "8128", "8128", "1 cudaErrorInvalidValue"]
    assert ran.stdout.splitlines()[:4] == expected, ran.stderr
