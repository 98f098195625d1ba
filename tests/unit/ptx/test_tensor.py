"""``mma.sync`` by the layouts of the PTX manual, and ``wmma`` by matrices in memory, against NumPy."""

import numpy as np
import pytest

import gpucoh
from products import share

#: Type -> its NumPy type in memory, and bits.
TYPES = {
    "f16": (np.float16, 16), "bf16": (np.uint16, 16), "tf32": (np.float32, 32), "s8": (np.int8, 8), "u8": (np.uint8, 8),
    "f64": (np.float64, 64), "f32": (np.float32, 32), "s32": (np.int32, 32),
}  # fmt: skip
MMA = [
    ("m16n8k16", "f32", "f16", "f16"), ("m16n8k8", "f32", "f16", "f16"), ("m16n8k16", "f16", "f16", "f16"),
    ("m16n8k16", "f32", "bf16", "bf16"), ("m16n8k8", "f32", "bf16", "bf16"), ("m16n8k8", "f32", "tf32", "tf32"),
    ("m16n8k4", "f32", "tf32", "tf32"), ("m8n8k16", "s32", "s8", "s8"), ("m16n8k16", "s32", "u8", "s8"),
    ("m16n8k32", "s32", "s8", "u8"), ("m8n8k4", "f64", "f64", "f64"), ("m16n8k8", "f64", "f64", "f64"),
]  # fmt: skip
WMMA = [
    (shape, result, type)
    for shape in ("m16n16k16", "m32n8k16", "m8n32k16")
    for result, type in (("f32", "f16"), ("f16", "f16"), ("f32", "bf16"), ("s32", "s8"), ("s32", "u8"))
] + [("m16n16k8", "f32", "tf32"), ("m8n8k4", "f64", "f64")]  # fmt: skip


def sizes(shape: str) -> tuple[int, int, int]:
    m, rest = shape[1:].split("n")
    n, k = rest.split("k")
    return int(m), int(n), int(k)


def matrix(rows: int, columns: int, type: str, seed: int) -> np.ndarray:
    """Values of the type, as numbers of 64 bits."""
    drawn = np.random.default_rng(seed)
    if type in ("s8", "u8", "s32"):
        bounds = {"s8": (-128, 128), "u8": (0, 256), "s32": (-(10**6), 10**6)}[type]
        return drawn.integers(*bounds, (rows, columns)).astype(np.int64)
    values = drawn.normal(size=(rows, columns))
    return stored(values, type)[1]


def stored(values: np.ndarray, type: str) -> tuple[np.ndarray, np.ndarray]:
    """What memory holds for the values, and which numbers these are."""
    if type in ("bf16", "tf32"):
        keep = {"bf16": 0xFFFF0000, "tf32": 0xFFFFE000}[type]
        words = values.astype(np.float32).view(np.uint32) & np.uint32(keep)
        exact = words.view(np.float32).astype(np.float64)
        return (
            (words >> 16).astype(np.uint16) if type == "bf16" else words.view(np.float32)
        ), exact
    held = values.astype(TYPES[type][0])
    return held, held.astype(np.float64 if held.dtype.kind == "f" else np.int64)


def near(found: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, type: str) -> None:
    """Within a rounding of every sum, and of the result."""
    if type == "s32":
        np.testing.assert_array_equal(found, a @ b + c)
        return
    unit = {"f16": 2.0**-24, "f32": 2.0**-24, "f64": 2.0**-53}[type]
    bound = 2 * unit * (a.shape[1] + 1) * (np.abs(a) @ np.abs(b) + np.abs(c))
    if type == "f16":
        bound = bound + 2.0**-10 * np.abs(a @ b + c) + 2.0**-24
    assert (np.abs(found - (a @ b + c)) <= bound).all()


def words(values: np.ndarray) -> np.ndarray:
    """Rows of values as rows of 32-bit words."""
    return np.ascontiguousarray(values).view(np.uint32).reshape(len(values), -1)


def launch(text: str, arrays: list[np.ndarray], out: np.ndarray) -> np.ndarray:
    """What a warp's kernel leaves in its first array."""
    names = [f"p{k}" for k in range(len(arrays) + 1)]
    head = [".version 8.5", ".target sm_90", ".address_size 64"]
    head += [f".visible .entry k({', '.join(f'.param .u64 {name}' for name in names)}) {{"]
    head += [".reg .b64 %rd<20>; .reg .b32 %r<90>; .reg .f64 %g<20>; mov.u32 %r0, %tid.x;"]
    head += [f"ld.param.u64 %rd{k}, [{name}];" for k, name in enumerate(names)]
    dtypes = [np.uint16 if item.dtype == np.float16 else item.dtype for item in (out, *arrays)]
    with gpucoh.GPU(machine="fermi", protocol="no-l1") as gpu:
        given = [
            gpu.array(item.reshape(-1).view(dtype))
            for item, dtype in zip((out, *arrays), dtypes, strict=True)
        ]
        gpucoh.cuda.RawKernel("\n".join([*head, text, "ret; }"]), "k")[1, 32](*given)
        return np.asarray(given[0].numpy()).view(out.dtype).reshape(out.shape)


def registers(first: int, count: int, is_wide: bool) -> str:
    return (
        f"{{{', '.join(f'%g{first + k}' if is_wide else f'%r{first + k}' for k in range(count))}}}"
    )


def fragment(values: np.ndarray, which: str, type: str) -> np.ndarray:
    """Elements of each lane, in the order of the manual's a0, a1 .., b0 .. or c0 ..: [lane][element]."""
    lanes = []
    elements = max(1, 32 // TYPES[type][1])
    for lane in range(32):
        group, thread = lane >> 2, lane & 3
        if which == "c":
            rows = [group, group, group + 8, group + 8][: len(values) // 4]
            lanes.append([values[row, 2 * thread + (k & 1)] for k, row in enumerate(rows)])
        elif which == "a":
            inner, tiles = values.shape[1], len(values) // 8
            lanes.append(
                [
                    values[group + 8 * tile, at + thread * elements + e]
                    for at in range(0, inner, 4 * elements)
                    for tile in range(tiles)
                    for e in range(elements)
                ]
            )
        else:
            lanes.append(
                [
                    values[at + thread * elements + e, group]
                    for at in range(0, len(values), 4 * elements)
                    for e in range(elements)
                ]
            )
    return np.array(lanes)


@pytest.mark.parametrize(("shape", "result", "left", "right"), MMA)
def test_mma_has_the_layouts_of_the_manual(shape: str, result: str, left: str, right: str) -> None:
    m, n, k = sizes(shape)
    a, b, c = matrix(m, k, left, 1), matrix(k, n, right, 2), matrix(m, n, result, 3)
    given = [
        words(stored(fragment(values, which, type), type)[0])
        for values, which, type in ((c, "c", result), (a, "a", left), (b, "b", right))
    ]
    wide = result == "f64"
    lines = []
    first = {0: 10, 1: 30, 2: 60} if not wide else {0: 4, 1: 8, 2: 16}
    for array, item in enumerate(given):
        count = item.shape[1] // (2 if wide else 1)
        size = 8 if wide else 4
        lines += [f"mul.wide.u32 %rd10, %r0, {size * count}; add.u64 %rd11, %rd{array + 1}, %rd10;"]
        register, kind = ("%g", "f64") if wide else ("%r", "u32")
        lines += [
            f"ld.global.{kind} {register}{first[array] + k}, [%rd11+{size * k}];"
            for k in range(count)
        ]
    counts = [item.shape[1] // (2 if wide else 1) for item in given]
    d, x, y = (registers(first[at], counts[at], wide) for at in range(3))
    lines += [
        f"mma.sync.aligned.{shape}.row.col.{result}.{left}.{right}.{result} {d}, {x}, {y}, {d};"
    ]
    size = 8 if wide else 4
    lines += [f"mul.wide.u32 %rd10, %r0, {size * counts[0]}; add.u64 %rd11, %rd0, %rd10;"]
    register, kind = ("%g", "f64") if wide else ("%r", "u32")
    lines += [
        f"st.global.{kind} [%rd11+{size * k}], {register}{first[0] + k};" for k in range(counts[0])
    ]
    found = launch("\n".join(lines), given, np.zeros_like(given[0])).view(TYPES[result][0])
    whole = np.zeros((m, n))
    places = fragment(np.arange(m * n).reshape(m, n), "c", result)
    whole.reshape(-1)[places.reshape(-1)] = found.reshape(-1)
    near(whole, a, b, c, result)


@pytest.mark.parametrize(
    ("case", "rows", "columns", "space"),
    share(WMMA, ("row", "col"), ("row", "col"), ("global", "shared", ""), one_in=8),
)
def test_wmma_multiplies_matrices_in_memory(
    case: tuple[str, str, str], rows: str, columns: str, space: str
) -> None:
    shape, result, type = case
    m, n, k = sizes(shape)
    a, b, c = matrix(m, k, type, 1), matrix(k, n, type, 2), matrix(m, n, result, 3)
    given = []
    pads = []
    for values, order, kind in ((c, columns, result), (a, rows, type), (b, columns, type)):
        laid = values if order == "row" else values.T
        padded = np.zeros((len(laid), laid.shape[1] + 8), laid.dtype)
        padded[:, : laid.shape[1]] = laid
        given.append(stored(padded, kind)[0])
        pads.append(padded.shape[1])
    wide = result == "f64"
    per = {"f16": (8, 8), "f64": (1, 1)}.get(type)
    elements = max(1, 32 // TYPES[type][1])
    left, right = per or (m * k // 32 // elements, n * k // 32 // elements)
    if shape == "m16n16k8":
        left = right = 4
    held = m * n // 32 // (2 if result == "f16" else 1)
    d, x, y = (
        registers(first, count, wide)
        for first, count in zip(
            (4, 8, 12) if wide else (10, 30, 50), (held, left, right), strict=True
        )
    )
    at = f".{space}" if space else ""
    copies = []
    if space == "shared":  # every array is copied to shared memory at 4096 k, by bytes
        copies = [".shared .align 16 .b8 s[16384]; mov.u64 %rd12, s;"]
        for array, item in enumerate(given):
            copies += [
                f"mov.u32 %r1, %r0; l{array}: setp.ge.u32 %p0, %r1, {item.nbytes}; @%p0 bra e{array};"
            ]
            copies += [
                f"cvt.u64.u32 %rd10, %r1; add.u64 %rd11, %rd{array + 1}, %rd10; ld.global.u8 %h0, [%rd11];"
            ]
            copies += [f"add.u64 %rd11, %rd12, %rd10; st.shared.u8 [%rd11+{4096 * array}], %h0;"]
            copies += [f"add.u32 %r1, %r1, 32; bra l{array}; e{array}:"]
        copies += [f"add.u64 %rd{array + 1}, %rd12, {4096 * array};" for array in range(3)]
        copies += ["bar.warp.sync -1;"]
        copies.insert(0, ".reg .pred %p0; .reg .b16 %h0;")
    lines = [
        *copies,
        *(f"mov.u32 %r{2 + k}, {pad};" for k, pad in enumerate(pads)),
        f"wmma.load.c.sync.aligned.{columns}.{shape}{at}.{result} {d}, [%rd1], %r2;",
        f"wmma.load.a.sync.aligned.{rows}.{shape}{at}.{type} {x}, [%rd2], %r3;",
        f"wmma.load.b.sync.aligned.{columns}.{shape}{at}.{type} {y}, [%rd3], %r4;",
        f"wmma.mma.sync.aligned.{rows}.{columns}.{shape}."
        + (f"{result}.{result}" if type == "f16" else f"{result}.{type}.{type}.{result}")
        + f" {d}, {x}, {y}, {d};",
        f"wmma.store.d.sync.aligned.{columns}.{shape}.global.{result} [%rd0], {d}, %r2;",
    ]
    found = launch("\n".join(lines), given, np.zeros_like(given[0]))
    held_rows = found[:, : n if columns == "row" else m].astype(np.float64)
    near(held_rows if columns == "row" else held_rows.T, a, b, c, result)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%r1}, {%r2}, {%r3}, {%r4};", "of this shape"),
        ("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%r1}, {%r2}, {%r3}, {%r4};", "m16n8k256"),
        ("wmma.load.a.sync.aligned.row.m16n16k16.global.f16.f16 {%r1}, [%rd1], %r2;", "not supported"),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16 {%r1}, {%r2}, {%r3}, {%r4};", "these types"),
        ("mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32 {%r1}, {%r2}, {%r3}, {%r4};", "modifier .s4"),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1}, {%r2}, {%r3}, {%r4};", "1 registers for a"),
        ("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1}, {%r2}, {%r3}, {%r4};", ".sp"),
    ],
)  # fmt: skip
def test_other_fragments_are_refused(text: str, why: str) -> None:
    with pytest.raises(gpucoh.KernelError, match=why):
        launch(text, [np.zeros(1, np.uint32)], np.zeros(32, np.uint32))


def test_sums_saturate_if_asked() -> None:
    ones = np.full((16, 32), 127, np.int8)
    a, b = (
        words(fragment(ones, "a", "s8").astype(np.int8)),
        words(fragment(ones.T[:, :8], "b", "s8").astype(np.int8)),
    )
    for modifier, expected in (
        ("", (2**31 - 1 + 32 * 127 * 127) - 2**32),
        (".satfinite", 2**31 - 1),
    ):
        lines = ["mul.wide.u32 %rd10, %r0, 16; add.u64 %rd11, %rd1, %rd10;"]
        lines += [
            f"ld.global.u32 %r{30 + k}, [%rd11+{4 * k}]; mov.u32 %r{10 + k}, 0x7fffffff;"
            for k in range(4)
        ]
        lines += ["mul.wide.u32 %rd10, %r0, 8; add.u64 %rd11, %rd2, %rd10;"]
        lines += [f"ld.global.u32 %r{60 + k}, [%rd11+{4 * k}];" for k in range(2)]
        d, x, y = registers(10, 4, False), registers(30, 4, False), registers(60, 2, False)
        lines += [f"mma.sync.aligned.m16n8k32.row.col{modifier}.s32.s8.s8.s32 {d}, {x}, {y}, {d};"]
        lines += [
            "mul.wide.u32 %rd10, %r0, 4; add.u64 %rd11, %rd0, %rd10; st.global.u32 [%rd11], %r10;"
        ]
        found = launch("\n".join(lines), [a, b], np.zeros(32, np.int32))
        assert (found == expected).all()
