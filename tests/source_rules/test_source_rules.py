"""Rules of the sources hold, and each of them can fail; tools/package_files.py names what is installed."""

import json
import subprocess
from pathlib import Path

import pytest

from scripts import script

ROOT = Path(__file__).parents[2]


rules, package, comments = (
    script("tools/source_rules.py"),
    script("tools/package_files.py"),
    script("tools/wrap_comments.py"),
)


@pytest.fixture
def tree(tmp_path):
    """An empty project, to plant a violation in."""
    for folder in ("csrc/base", "csrc/core", "csrc/tests", "gpucoh/lang", "gpucoh/base"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "csrc/core/warp.h").write_text("")
    (tmp_path / "meson.build").write_text("files('csrc/base/a.c')")
    return tmp_path


def test_an_include_that_points_up_is_found(tree):
    (tree / "csrc/base/a.c").write_text('\n#include "core/warp.h"\n')
    assert list(rules.check_includes(tree)) == [
        'csrc/base/a.c:2: "core/warp.h" is in a higher layer than this file: dependencies point down'
    ]


def test_planted_bugs_may_include_what_tests_have(tree):
    (tree / "csrc/protocols/family").mkdir(parents=True)
    (tree / "csrc/tests/mutants.h").write_text("")
    for name in ("planted.c", "shared.c"):
        (tree / "csrc/protocols/family" / name).write_text('#include "tests/mutants.h"\n')
    assert [line.partition(": ")[0] for line in rules.check_includes(tree)] == [
        "csrc/protocols/family/shared.c:1"
    ]


def test_the_subfolders_of_the_core_are_layers(tree):
    for name in ("memory/queue.h", "frontend/issue.c"):
        (tree / "csrc/core" / name).parent.mkdir()
        (tree / "csrc/core" / name).write_text("")
    (tree / "csrc/core/frontend/issue.c").write_text('#include "core/memory/queue.h"\n')
    assert not list(rules.check_includes(tree))
    (tree / "csrc/core/warp.h").write_text('#include "core/memory/queue.h"\n')
    assert len(list(rules.check_includes(tree))) == 1


def test_a_circle_of_includes_is_found(tree):
    (tree / "csrc/core/warp.h").write_text('#include "core/block.h"\n')
    (tree / "csrc/core/block.h").write_text('#include "core/grid.h"\n')
    (tree / "csrc/core/grid.h").write_text("")
    assert not list(rules.check_include_circles(tree))
    (tree / "csrc/core/grid.h").write_text('#include "core/warp.h"\n')
    assert len(list(rules.check_include_circles(tree))) == 1


def test_a_long_file_of_the_translation_is_found(tree):
    (tree / "gpucoh/ptx").mkdir()
    for name, lines in (("moves", 299), ("memory", 300)):
        (tree / f"gpucoh/ptx/{name}.py").write_text("\n" * lines)
    assert list(rules.check_file_lengths(tree)) == [
        "gpucoh/ptx/memory.py: 300 lines; 299 are allowed here"
    ]


@pytest.mark.parametrize(("lines", "found"), [(59, 0), (60, 1)])
def test_a_function_of_sixty_lines_is_found(tree, lines, found):
    body = "    i++;\n" * (lines - 3)
    table = "static const int table[] = {\n" + "    1,\n" * 80 + "};\n"
    (tree / "csrc/base/a.c").write_text(f"{table}\nint\nnext(int i)\n{{\n{body}}}\n")
    assert len(list(rules.check_function_lengths(tree))) == found


def test_python_outside_the_binding_is_found(tree):
    (tree / "csrc/base/a.c").write_text("#include <Python.h>\n")
    assert len(list(rules.check_includes(tree))) == 1


@pytest.mark.parametrize("name", ["csrc/base/b.c", "csrc/tests/test_b.c"])
def test_a_file_that_meson_does_not_know_is_found(tree, name):
    (tree / "csrc/base/a.c").write_text("")
    (tree / name).write_text("")
    assert [line.split(":")[0] for line in rules.check_listed(tree)] == [name]


@pytest.mark.parametrize(
    "first", ["", "/* b.c: what b is */\n", "/* a.c: */\n", '#include "b.h"\n']
)
def test_a_file_that_does_not_open_with_what_it_is_is_found(tree, first):
    (tree / "csrc/core/warp.h").write_text("/* warp.h: a warp.\n * More. */\n")
    (tree / "gpucoh/lang/a.def").write_text("/* a.def: a list. */\n")
    assert not list(rules.check_headers(tree))
    (tree / "csrc/base/a.c").write_text(f"{first}\n/* a.c: what a is */\n")
    assert list(rules.check_headers(tree)) == [
        "csrc/base/a.c:1: open with what the file is: /* a.c: ... */"
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"/* {'x' * 114} */", None),
        (f"/* {'x' * 115} */", 2),
        (f"int a;\n/* short\n * {'word ' * 25}*/", 3),
        (f"int a; /* {'word ' * 25}*/", 2),
        (f'const char *a = "/* {"word " * 25}*/";', None),
    ],
)
def test_a_comment_wider_than_code_is_found(tree, text, line):
    (tree / "csrc/base/a.c").write_text(f"\n{text}\n")
    assert list(rules.check_comments(tree)) == [
        f"csrc/base/a.c:{line}: a comment wider than 120 columns: tools/wrap_comments.py wraps it"
    ] * (line is not None)


def test_wide_comments_are_wrapped():
    many = "word " * 20
    text = f"""/* a.c: {many}and more words
 * go on here.
 *
 * Paper    {many}and more words
 *          below.
 * Inferred all */
/* ---- {many}--------------------------------------------------------- */
typedef enum {{ /* {many}{many}*/
    bool
        a; /* {many}and `a code span` more */
    int b; /* short */
"""
    assert (
        comments.wrapped(text)
        == f"""/* a.c: {many}and more
 * words go on here.
 *
 * Paper    {many}and more
 *          words below.
 * Inferred all */
/* ---- {many}--------- */
typedef enum {{
    /* {many}word word
     * {"word " * 18}*/
    /* {many}and
     * `a code span` more */
    bool a;
    int b; /* short */
"""
    )


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ('GPC_SHARED("tc/tc.c")\nGPC_PROTOCOL(tc, "tc/tc.c")\nGPC_PROTOCOL(tcw, "tc/tc.c")', None),
        ('GPC_PROTOCOL(tc, "tc/tcs.c")', "1: csrc/protocols/tc/tcs.c does not exist"),
        (
            'GPC_PROTOCOL(tcs, "tc/tc.c")',
            "1: csrc/protocols/tc/tc.c does not define gpc_protocol_tcs",
        ),
        ('GPC_PROTOCOL(tc, "tc/tc.c")\n\nGPC_PROTOCOL(tc, "tc/tc.c")', "3: tc is in line 1 too"),
        ('GPC_PROTOCOLS(tc, "tc/tc.c")', '1: write GPC_PROTOCOL(NAME, "FAMILY/FILE.c"), '),
        ('GPC_PLANTED(tc, "tc/tc.c")', "1: csrc/protocols/tc/tc.c does not define planted_tc"),
    ],
)
def test_a_wrong_row_of_the_registry_is_found(tree, rows, said):
    folder = tree / "csrc/protocols/tc"
    folder.mkdir(parents=True)
    (folder / "tc.c").write_text(
        "const gpc_protocol_t gpc_protocol_tc = {\n};\nconst gpc_protocol_t gpc_protocol_tcw = {\n};\n"
    )
    (folder.parent / "registry.def").write_text(f"{rows}\n")
    found = list(rules.check_registry(tree))
    assert len(found) == (said is not None)
    assert not said or found[0].startswith(f"csrc/protocols/registry.def:{said}")


def test_a_late_import_without_the_lock_is_found(tree):
    text = """
def draw():
    with LATE_IMPORT:
        import scipy.io
        from gpucoh import plots
    import pandas as pd
    from gpucoh.plots import draw
"""
    (tree / "gpucoh/lang/ir.py").write_text(text)
    assert [line.split(": ")[:2] for line in rules.check_late_imports(tree)] == [
        ["gpucoh/lang/ir.py:6", "a late import without its lock"],
        ["gpucoh/lang/ir.py:7", "a late import without its lock"],
    ]


def test_every_file_of_the_package_is_installed():
    """A new suffix has to be listed: without it a file is in the tree and in no wheel."""
    left = {path for path in (ROOT / "gpucoh").rglob("*") if path.is_file()}
    left -= {ROOT / name for name in package.package_files(ROOT)}
    made = {path for path in left if "__pycache__" in path.parts or path.suffix == ".so"}
    assert left - made == set()


def test_only_files_of_the_package_are_installed(tree):
    for name in ("ir.py", "ir.py~", ".#ir.py", "ir.cpython-311.pyc", "notes.txt", "_core.abi3.so"):
        (tree / "gpucoh/lang" / name).write_text("")
    (tree / "gpucoh/lang/MP.litmus").write_text("")
    (tree / "gpucoh/py.typed").write_text("")
    assert package.package_files(tree) == [
        "gpucoh/lang/MP.litmus",
        "gpucoh/lang/ir.py",
        "gpucoh/py.typed",
    ]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("int counter;", "counter is a global that can change"),
        (
            "static int last = 7; int next(void); int next(void) { return last++; }",
            "last is a global that can change",
        ),
        (
            "int next(void); int next(void) { static int n; return n++; }",
            "is a global that can change",
        ),
        ('#include <stdio.h>\nvoid say(int n);\nvoid say(int n) { printf("%d", n); }', "no I/O"),
        (
            "#include <math.h>\ndouble e(double x);\ndouble e(double x) { return exp(x); }",
            "no libm",
        ),
        ("#include <stdlib.h>\nvoid *get(void);\nvoid *get(void) { return malloc(8); }", "arena"),
        ('extern const char *const names[]; const char *const names[] = {"a", "b"};', ""),
    ],
)
def test_what_an_object_file_may_not_hold_is_found(tmp_path, source, said):
    (tmp_path / "a.c").write_text(source + "\n")
    library = tmp_path / "csrc_cache_a.c.o"
    subprocess.run(["cc", "-O0", "-fPIC", "-c", tmp_path / "a.c", "-o", library], check=True)
    found = list(rules.check_objects(library))
    assert (len(found) == 1 and said in found[0]) if said else not found


def library_of(folder, sources):
    """An archive of the sources, whose objects are named as meson names them."""
    objects = []
    for name, source in sources.items():
        objects.append(folder / f"csrc_base_{name}.c.o")
        (folder / f"{name}.c").write_text(source + "\n")
        subprocess.run(["cc", "-c", folder / f"{name}.c", "-o", objects[-1]], check=True)
    subprocess.run(["ar", "rcs", folder / "library.a", *objects], check=True)
    return folder / "library.a"


def test_a_circle_of_files_is_found(tmp_path):
    down = {"a": "void b(void); void a(void) { b(); }", "b": "void c(void); void b(void) { c(); }"}
    library = library_of(tmp_path, {**down, "c": "static void a(void) {} void c(void) { a(); }"})
    assert not list(rules.check_call_circles(library))
    library = library_of(tmp_path, {**down, "c": "void a(void); void c(void) { a(); }"})
    (found,) = rules.check_call_circles(library)
    assert "csrc_base_a.c -> csrc_base_b.c (b)" in found
    (found,) = rules.check_call_circles(tmp_path)  # the folder with the library's objects
    assert "csrc_base_a.c -> csrc_base_b.c (b)" in found


def test_an_install_compiles_the_extension_alone():
    built = ROOT.glob("build/*/meson-info/intro-targets.json")
    targets = json.loads(max(built, key=lambda path: path.stat().st_mtime).read_text())
    compiled = {target["name"].split(".")[0] for target in targets if target["build_by_default"]}
    assert compiled <= {"_core"}


def test_a_message_that_quotes_a_value_by_itself_is_found(tree):
    (tree / "gpucoh/base/a.py").write_text(
        "def f(x):\n    if x:\n        raise ValueError(f'{x!r} is bad')\n    return f'{x!r}'\n"
    )
    assert list(rules.check_quotes(tree)) == [
        "gpucoh/base/a.py:3: a message quotes a value by !r: use quoted() of gpucoh.base.quoting"
    ]


def test_a_turn_outside_stc_is_found(tree):
    (tree / "csrc/core/a.c").write_text(
        "/* returns: turned */\nint next_turn; /* of stc_turns */\n"
    )
    (tree / "csrc/protocols/spatiotemporal").mkdir(parents=True)
    (tree / "csrc/protocols/spatiotemporal/src.c").write_text("int next_turn;\n")
    assert list(rules.check_turns(tree)) == [
        "csrc/core/a.c:2: next_turn: a turn is STC's (docs/glossary.md): cycle, event, round, next"
    ]
