"""PTX's predefined identifiers (PTX ISA, sections 4.5 and 10): each has its value, or is refused by name and line."""

import numpy as np
import pytest

import gpucoh

HEAD = ".version 8.5\n.target sm_90\n.address_size 64\n"
GRID, BLOCK, SHARED = (2, 3, 2), (20, 2, 2), 77
THREADS = np.arange(80)
LANE = THREADS % 32


def vector(values: dict[str, list[object]]) -> dict[str, object]:
    """The components of vectors; the fourth is always 0."""
    return {
        f"%{name}.{axis}": value
        for name, parts in values.items()
        for axis, value in zip("xyzw", [*parts, 0], strict=True)
    }


#: Of the block (1, 2, 1) of the grid.
VALUES = vector({
    "tid": [THREADS % 20, THREADS // 20 % 2, THREADS // 40],
    "ntid": BLOCK, "nctaid": GRID, "nclusterid": GRID,
    "ctaid": [1, 2, 1], "clusterid": [1, 2, 1],
    "cluster_ctaid": [0, 0, 0], "cluster_nctaid": [1, 1, 1],
}) | {
    "%laneid": LANE, "%warpid": THREADS // 32, "%nwarpid": 32,
    "%lanemask_eq": 1 << LANE, "%lanemask_lt": (1 << LANE) - 1, "%lanemask_le": (2 << LANE) - 1,
    "%lanemask_ge": 2**32 - (1 << LANE), "%lanemask_gt": 2**32 - (2 << LANE),
    "%cluster_ctarank": 0, "%cluster_nctarank": 1, "%current_graph_exec": 0, "%dynamic_smem_size": SHARED,
    "%clock_hi": 0, "%globaltimer_hi": 0,
    "WARP_SZ": 32,
}  # fmt: skip
#: Names whose values differ from launch to launch, and where they must be.
RANGES = dict.fromkeys(("%clock", "%clock64", "%globaltimer", "%globaltimer_lo"), (1, 10**6)) | {
    "%smid": (0, 15), "%envreg1": (0, 2**32 - 1), "%envreg2": (0, 2**32 - 1),
}  # fmt: skip
REFUSED = [
    "%nsmid", "%gridid", "%total_smem_size", "%aggr_smem_size",
    *(f"%pm{k}{wide}" for k in range(8) for wide in ("", "_64")),
    *(f"%envreg{k}" for k in range(32) if k not in (1, 2)),
    *(f"%reserved_smem_offset_{name}" for name in ("begin", "end", "cap", "0", "1")),
]  # fmt: skip


def kernel(lines: list[str], declared: str = "") -> gpucoh.cuda.RawKernel:
    """A kernel of these lines, which the block (1, 2, 1) alone runs; `%a` is where its thread stores."""
    return gpucoh.cuda.RawKernel(
        f"{HEAD}{declared}.visible .entry k(.param .u64 out)\n{{\n"
        ".reg .b64 %a, %d; .reg .b32 %t, %u; .reg .pred %p; .shared .align 4 .b8 own[WARP_SZ];\n"
        "mov.u32 %t, %ctaid.x; mad.lo.u32 %t, %ctaid.y, 2, %t; mad.lo.u32 %t, %ctaid.z, 6, %t;\n"
        "setp.ne.u32 %p, %t, 11; @%p bra $end; mad.lo.u32 %t, %tid.y, 20, %tid.x; mad.lo.u32 %t, %tid.z, 40, %t;\n"
        "ld.param.u64 %a, [out]; mul.wide.u32 %d, %t, 4; add.u64 %a, %a, %d;\n"
        + "\n".join(lines)
        + "\n$end: ret;\n}\n",
        "k",
    )


def stored(lines: list[str], count: int, declared: str = "") -> np.ndarray:
    """What each thread stores, a row for each of ``count`` stores."""
    with gpucoh.GPU(machine="fermi", protocol="no-l1") as gpu:
        out = gpu.zeros(80 * count, np.uint32)
        gpu.launch(kernel(lines, declared), grid=GRID, block=BLOCK, args=(out,), shared=SHARED)
        return out.numpy().reshape(count, 80)


def test_each_predefined_identifier_has_its_value() -> None:
    names = [*VALUES, *RANGES]
    found = stored(
        [f"mov.u32 %u, {name}; st.global.u32 [%a + {320 * k}], %u;" for k, name in enumerate(names)],
        len(names),
    )  # fmt: skip
    for name, row in zip(names, found, strict=True):
        if name in VALUES:
            np.testing.assert_array_equal(row, np.broadcast_to(VALUES[name], 80), name)
        else:
            assert (RANGES[name][0] <= row).all(), name
            assert (row <= RANGES[name][1]).all(), name


def test_a_launch_without_clusters_is_not_one_of_clusters() -> None:
    text = "mov.pred %p, %is_explicit_cluster; selp.u32 %u, 1, 2, %p; st.global.u32 [%a], %u;"
    assert (stored([text], 1) == 2).all()


def test_the_size_of_a_warp_is_a_number_wherever_one_may_be() -> None:
    declared = ".global .align 4 .u32 many[WARP_SZ] = {5, WARP_SZ};\n"
    lines = [
        "ld.global.u32 %u, [many + 4]; st.global.u32 [%a], %u;",
        "st.global.u32 [%a + 320], WARP_SZ; shl.b64 %d, %a, WARP_SZ; shr.u64 %d, %d, WARP_SZ;",
        "sub.u64 %a, %a, WARP_SZ; st.global.u32 [%a+WARP_SZ], 7;",
    ]
    assert stored(lines, 2, declared).tolist() == [[7] * 80, [32] * 80]


def test_others_are_refused_by_name_and_line() -> None:
    for name in REFUSED:
        with pytest.raises(gpucoh.KernelError) as error:
            kernel([f"mov.u32 %u, {name};"]).disassemble()
        text = f"PTX 'mov.u32 %u, {name}': special register {name} is not supported"
        assert str(error.value) == f"<ptx>:10: kernel 'k': {text}"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ld.global.u32 %u, [%a+later];", "'later' is not an integer"),
        ("lop3.b32 %u, %u, %u, %u, %t;", "'%t' is not an integer"),
        (".shared .b8 more[size];", "the extent 'size' of 'more' is not supported"),
    ],
)
def test_a_name_where_a_number_must_be_is_refused(line: str, message: str) -> None:
    with pytest.raises(gpucoh.KernelError, match=message):
        kernel([line]).disassemble()
