"""Are programs of a collection built and run as their Makefiles say, with smaller numbers, and classed?"""

from pathlib import Path

import pytest

from scripts import script
from unit.cuda.compiled import needs_nvcc

collection = script("tools/cuda_collection.py")

PROGRAM = """#include <cstdio>
#include <cstdlib>
__global__ void fill(int *x, int n) { if (threadIdx.x < n) x[threadIdx.x] = n; }
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), *x, last;
    cudaMallocManaged(&x, 4 * n);
    fill<<<1, n>>>(x, n);
    cudaDeviceSynchronize();
    last = x[n - 1];
    printf("%s %d %d\\n", last == n ? WORD : "FAIL", n, SIZE);
}
"""
RACES = """#include <cstdio>
__global__ void last(long long *x)
{
    for (int k = 0; k < 20; k++)
        ((volatile long long *)x)[threadIdx.x % 2 + 1];
    x[0] = clock64();
}
int main()
{
    long long *x;
    cudaMallocManaged(&x, 24);
    last<<<2, 64>>>(x);
    cudaDeviceSynchronize();
    printf("%lld\\n", *x);
}
"""
MAKEFILE = """main: main.o
	nvcc main.o -o main
main.o: main.cu
	nvcc -O3 -DSIZE=70000 '-DWORD="PASS"' -c main.cu -o main.o
run: main
	./main {arguments}
"""


def made(root: Path, name: str, arguments: str, program: str = PROGRAM) -> None:
    (root / name).mkdir()
    (root / name / "Makefile").write_text(MAKEFILE.format(arguments=arguments))
    (root / name / "main.cu").write_text(program)


@needs_nvcc
def test_programs_are_drawn_run_and_classed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection, "BUDGET", 100_000)
    made(tmp_path, "large-cuda", "100000")
    blocks = PROGRAM.replace("1, n>>>", "n / 1024, 64>>>").replace("x[n - 1]", "x[0]")
    made(tmp_path, "blocks-cuda", "100000", blocks)  # none for 256
    waits = "long t = clock64(); while (clock64() - t < 2000L * n); if ("
    made(tmp_path, "waits-cuda", "9000", PROGRAM.replace("if (", waits))
    made(tmp_path, "fft-cuda", "1", "#include <cufft.h>\n")
    made(tmp_path, "wrong-cuda", "8", PROGRAM.replace("last == n", "last == 9"))
    made(tmp_path, "races-cuda", "8", RACES)
    made(tmp_path, "idle-cuda", "8", '#include <cstdio>\nint main() { puts("PASS"); }\n')
    made(tmp_path, "reads-cuda", "8", '#include "absent.h"\n')
    drawn = {
        one.name: one
        for one in collection.examined(collection.draw(tmp_path, 10, 1), ["mesi", "tc-weak"])
    }
    right = drawn["large-cuda"]
    assert (right.verdict, right.arguments, right.check) == ("right", "256", "own")
    assert set(right.cycles) == {"mesi", "tc-weak"}
    others = {"blocks-cuda": "2048", "waits-cuda": "32"}
    assert {name: drawn[name].arguments for name in others} == others
    ends = {name: one.verdict for name, one in drawn.items() if one.verdict != "right"}
    assert ends == {
        "fft-cuda": "library: cufft",
        "wrong-cuda": "wrong",
        "races-cuda": "race",
        "reads-cuda": "compiler",
        "idle-cuda": "no launch",
    }
    assert "- right: 3\n" in collection.table(list(drawn.values()), ["mesi", "tc-weak"])


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("the launch exceeds its budget of 3 core cycles", "size"),
        ("kernel 'k': texture references are not supported", "feature: texture references"),
        ("exit status 1: cannot open file x.txt", "data"),
        ('bad.cu(3): error: identifier "cublasCgemm" is undefined', "library: cublasCgemm"),
        ("SIGSEGV", "crash: SIGSEGV"),
        (
            "the program calls cudaGraphLaunch, which gpucoh's CUDA runtime does not have",
            "feature: cudaGraphLaunch",
        ),
        ("exit status 1 Usage: main num_clusters file: file not found", "data"),
        ("something else", "other"),
    ],
)
def test_a_failure_has_a_class(message: str, wanted: str) -> None:
    assert collection.classed(message) == wanted


def test_large_constants_of_a_source_are_cut() -> None:
    kept = (
        "#define BLOCK 1024",
        "#define F(x) 5000",
        "float x = 5000;",
        "int n = 5000 + m;",
        "#define KEY 123456789012",
        "if (n == 5000);",
        "const int k[] = {5000, 6000};",
    )
    assert collection.cut("\n".join(kept), 1024, 256) == "\n".join(kept)
    given = {
        "#define SIZE (1 << 20) // words": "#define SIZE 256 // words",
        "#define SIDE 4096": "#define SIDE 256",
        "  const int n = 1024*1024;": "  const int n = 256;",
        "static const size_t count = 100000UL;": "static const size_t count = 256;",
        "constexpr unsigned int N(2048);": "constexpr unsigned int N(256);",
        "  int n = 5000, m = 64;": "  int n = 256, m = 64;",
        "p->particles = 2048;": "p->particles = 256;",
        "params p = {128,3,480,5000,9};": "params p = {128,3,480,256,9};",
        "for (int i = 0; i < 5000; i++)": "for (int i = 0; i < 256; i++)",
    }
    assert {text: collection.cut(text, 1024, 256) for text in given} == given
    assert collection.cut("#define SIDE 400", 256, 64) == "#define SIDE 64"


def test_numbers_become_small_where_they_end_an_argument() -> None:
    given = ("100", "5000", "-n=536870912", "file2000.txt", "0.3000", "x1024")
    assert [collection.scaled(one, 256) for one in given] == ["100", "256", "-n=256", *given[3:]]


def test_what_is_too_large_in_every_step_gets_more_time_for_the_smallest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path, "long-cuda", "5000", "int main() { const int n = 70000; }\n")
    tried: list[tuple[int, int, str, bool]] = []

    def examine(folder: Path, _: object, largest: int, last: int, seconds: float) -> object:
        text = (folder / "main.cu").read_text().split("n = ")[1].split(";")[0]
        tried.append((largest, last, text, seconds == collection.PATIENT))
        right = tried[-1] == (1, 1, "64", True)
        return collection.Drawn(folder.name, verdict="right" if right else "size", check="own")

    monkeypatch.setattr(collection, "_examine", examine)
    drawn = collection.examine(tmp_path / "long-cuda", ["mesi"])
    assert (drawn.verdict, drawn.check) == ("right", "own, source cut")
    assert tried[0] == (256, 256, "70000", False)
    assert (1 << 20, 2, "70000", False) in tried
    assert (4, 4, "16", False) not in tried  # since (1, 1) is too large
    assert tried[-2:] == [(1, 1, "16", True), (1, 1, "64", True)]
    assert len(tried) == len(set(tried))
