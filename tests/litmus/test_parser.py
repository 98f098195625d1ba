"""Are litmus files read as they are meant, and refused by name and line where they ask for what is not modelled?"""

import pytest

from gpucoh.litmus import UnsupportedError, builtin, builtins, load, parse
from products import rows

FRAME = """PTX frame
"{about}"
{{ {initial} }}
{program}
{condition}
"""


def read(program, condition="exists (x == 0)", initial="x=0; y=0;", about="text"):
    text = FRAME.format(about=about, initial=initial, program=program, condition=condition)
    return parse(text, "frame")


def one(instruction, **more):
    """The instruction of a thread that has only this one."""
    return read(f"P0@cta 0,gpu 0 ;\n {instruction} ;", **more).threads[0].code[0]


def test_every_builtin_is_read_and_says_what_it_is_about():
    assert len(builtins()) > 100
    for name in builtins():
        test = builtin(name)
        assert (test.name, test.title) == (name, name)
        assert test.text


def test_header_brackets_comments_and_layout_do_not_matter():
    text = (
        '\ufeff(* a comment *)\r\nPTX  odd name+1\r\n"see https://example.org/{not}"'.replace("{not}", "")
        + "\r\n{ x = 0x10; P0:r1=-1;\r\n 1:r2=3 }\r\n"
        " P0 @ cta 0 , gpu 0|P1@cta 1,gpu 1;\r\nld.weak r1, [x] (* here *)|st.weak x, 2 // there\r\n;"
        "\r\nexists (0:r1=-0x1/\\~(x=2\\/1:r2 != 3))"
    )  # fmt: skip
    test = parse(text, "odd")
    assert test.title == "odd name+1"
    assert test.initial == {"x": 16}
    assert [thread.initial for thread in test.threads] == [{"r1": -1}, {"r2": 3}]
    assert [thread.gpu for thread in test.threads] == [0, 1]
    assert str(test.condition) == "exists (P0:r1 == -1 /\\ ~(x == 2 \\/ P1:r2 != 3))"
    assert test.condition.matches({"P0:r1": -1, "P1:r2": 3, "x": 0})
    assert not test.condition.matches({"P0:r1": -1, "P1:r2": 3, "x": 2})


@pytest.mark.parametrize(
    ("text", "op", "order", "scope"),
    rows(
        [
            ("ld.weak r0, x", "ld", "WEAK", "SYS"),
            ("ld r0, x", "ld", "WEAK", "SYS"),
            ("ld.acquire.cta r0, x", "ld", "ACQUIRE", "CTA"),
            ("ld.volatile r0, x", "ld", "RELAXED", "SYS"),
            ("ld.relaxed.gpu.global.u32 r0, [x]", "ld", "RELAXED", "GPU"),
            ("ld.sc.sys r0, x", "ld", "SC", "SYS"),
            ("st.release.cu x, 1", "st", "RELEASE", "CU"),
            ("st.weak x, r0", "st", "WEAK", "SYS"),
            ("atom.acq_rel.gpu.add r0, x, 1", "atom", "ACQ_REL", "GPU"),
            ("atom.cas.b32 r0, x, 0, 1", "atom", "RELAXED", "GPU"),
            ("red.release.sys.max x, 3", "atom", "RELEASE", "SYS"),
            ("fence.sc.cta", "fence", "SC", "CTA"),
            ("fence.gpu", "fence", "ACQ_REL", "GPU"),
            ("membar.gl", "fence", "SC", "GPU"),
            ("membar.cta", "fence", "SC", "CTA"),
            ("membar.sys", "fence", "SC", "SYS"),
        ],
        one_in=4,
    ),
)
def test_orders_and_scopes_of_every_spelling(text, op, order, scope):
    found = one(text)
    assert (found.op, found.order, found.scope) == (op, order, scope)


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    rows(
        [
            ("bar.cta.sync 3", "sync", (3,)),
            ("bar.cta.arrive 1, 2", "arrive", (2,)),
            ("bar.cta.sync 7, 1, 2", "sync", (1, 2)),
            ("bar.cta.sync 1, r2", "sync", ("r2",)),
            ("barrier.cta.sync.aligned 4", "sync", (4,)),
            ("bar.sync 5", "sync", (5,)),
        ],
        one_in=4,
    ),
)
def test_barriers_take_label_barrier_and_count(text, kind, values):
    found = one(text)
    assert (found.op, found.function, found.values) == ("bar", kind, values)


def test_ld_of_a_number_or_register_moves():
    assert one("ld r2, 5").op == one("mov.u32 r2, r3").op == one("ld r1, r0").op == "move"


def test_labels_and_branches_meet():
    test = read(
        "P0@cta 0,gpu 0 ;\n LC00: ;\n ld.weak r0, x ;\n bne r0, 1, LC00 ;\n goto LC01 ;\n st.weak y, 1 ;\n LC01: ;"
    )
    assert [(item.op, item.target) for item in test.threads[0].code] == [
        ("ld", -1), ("branch", 0), ("jump", 4), ("st", -1),
    ]  # fmt: skip


def test_locations_are_shown_beside_the_condition():
    test = read("P0@cta 0,gpu 0 ;\n st.weak x, 1 ;", "locations [y; 0:r3;] exists (x == 1)")
    assert test.shown == ("x", "y", "P0:r3")


def test_a_condition_without_names_shows_everything():
    test = read("P0@cta 0,gpu 0 ;\n ld.weak r0, x ;", "exists 0==0")
    assert test.shown == ("P0:r0", "x", "y")
    assert test.condition.matches({})


@pytest.mark.parametrize(
    ("program", "line", "what"),
    [
        ("P0@cta 0,gpu 0 ;\n tld.weak r0, x ;", 5, "texture proxy"),
        ("P0@cta 0,gpu 0 ;\n st.weak x, 1 ;\n fence.proxy.constant ;", 6, "proxies"),
        ("P0@cta 0,gpu 0 ;\n ld.weak.v2 r0, x ;", 5, ".v2"),
        ("P0@cta 0,gpu 0 ;\n ld.release.gpu r0, x ;", 5, "does not fit ld"),
        ("P0@cta 0,gpu 0 ;\n atom.relaxed.gpu.inc r0, x, 1 ;", 5, "operation"),
        ("P0@cta 0,gpu 0 ;\n st.weak r1, 1 ;", 5, "addresses in registers"),
        ("P0@cta 0,gpu 0 ;\n bar.sync 1, 64 ;", 5, "number of threads"),
        ("P0@cta 0,gpu 0 ;\n\n goto LC7 ;", 6, "no label 'LC7'"),
        ("P0@cta 0,gpu 0 ;\n frobnicate r0 ;", 5, "unsupported instruction"),
        ("P0@cta 0,gpu 0 ;\n cp.async x, y ;", 5, "asynchronous"),
        ("P0@cta 0,gpu 0 ;\n st.weak x, 1 | st.weak y, 1 ;", 5, "2 columns, but 1 threads"),
        ("P0@block 0 ;\n st.weak x, 1 ;", 4, "is not a thread"),
    ],
)
def test_what_is_not_modelled_is_refused_with_its_line(program, line, what):
    with pytest.raises(UnsupportedError, match=what) as caught:
        read(program)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "the file is empty"),
        ("(* x *) VULKAN Y", "line 1: the test is VULKAN: only PTX tests are read"),
        ("C MP", "the test is C: only PTX tests are read"),
        ("{ x=0; }", "the first word is '{', not PTX"),
        ("X86 SB\n{ x=0; }", "X86: only PTX"),
        ("PTX a\n no braces", "no {"),
        ("PTX a\n{ x=0; \n P0@cta 0,gpu 0 ;\nexists (x=1)", "not closed"),
        ("PTX a\n{ x=0; }\n P0@cta 0,gpu 0 ;\n st.weak x, 1 ;\n", "no exists"),
        ("PTX a\n{ x=0; }\n P0@cta 0,gpu 0 ;\nexists (x=", "condition"),
        ("PTX a\n{ x=0; }\n P0@cta 0,gpu 0 ;\nexists (" + "(" * 5000, "nested too deeply"),
        ("PTX a\n{ x=0; }\n P0@cta 0,gpu 0 ;\nexists (q == 1)", "no location 'q'"),
        ("PTX a\n{ x=0; }\n P0@cta 0,gpu 0 ;\nexists (P4:r0 == 1)", "no thread P4"),
        (
            "PTX a\n{ x=0; }\n P0@cta 0,gpu 0 ;\nfilter (x=1) exists (x=1)",
            "'filter' is not supported",
        ),
        ("PTX a\n{ y @ constant aliases x; }\n P0@cta 0,gpu 0 ;\nexists (0=0)", "aliases"),
        ("PTX a\n{ P0:r0=x; }\n P0@cta 0,gpu 0 ;\nexists (0=0)", "only numbers"),
        ("PTX a\n{ P3:r0=1; }\n P0@cta 0,gpu 0 ;\nexists (0=0)", "P3"),
        ("PTX a\n{ x=0; }\n P0@cta 0,gpu 0 | P0@cta 1,gpu 0 ;\nexists (x=1)", "one number"),
    ],
)
def test_garbage_is_one_clear_error(text, what):
    with pytest.raises(UnsupportedError, match=what) as caught:
        parse(text, "garbage")
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read_are_unsupported(tmp_path):
    (tmp_path / "binary.litmus").write_bytes(b"PTX\xff\xfe")
    for name in ("none.litmus", "binary.litmus", ""):
        with pytest.raises(UnsupportedError):
            load(tmp_path / name)


@pytest.mark.parametrize("number", ["4294967296", "-2147483649", "0x1ffffffff", "9" * 5000])
def test_a_number_of_more_than_32_bits_is_refused_with_its_line(number):
    store = "P0@cta 0,gpu 0 ;\n st.weak x, {} ;"
    for program, line, more in (
        (store.format(number), 5, {}),
        (store.format(1), 3, {"initial": f"x={number};"}),
        (store.format(1), 6, {"condition": f"exists (x == {number})"}),
    ):
        with pytest.raises(UnsupportedError, match="more than 32 bits") as raised:
            read(program, **more)
        assert raised.value.line == line
        assert len(str(raised.value)) < 160


@pytest.mark.parametrize(
    "number", ["4294967295", "-1", "0xffffffff", "0000000000000000000004294967295U"]
)
def test_the_largest_word_is_minus_one(number):
    assert one(f"st.weak x, {number}").values == (-1,)


@pytest.mark.parametrize("initial", ["x=0; x=1;", "x=0;\n x=0;", "P0:r1=0; 0:r1=1;"])
def test_a_second_initial_value_is_refused(initial):
    with pytest.raises(UnsupportedError, match=r"line [34]: '.*': a second initial value"):
        read("P0@cta 0,gpu 0 ;\n ld.weak r1, x ;", initial=initial)


WIDE = "P0@cta 0,gpu 0 ;\n st.weak.b64 x, {} ;"


@pytest.mark.parametrize(
    ("number", "value"), [("0x100000000", 1 << 32), ("-1", -1), ("0xffffffffffffffff", -1)]
)
def test_a_type_of_64_bits_makes_its_location_wide(number, value):
    test = read(WIDE.format(number))
    assert test.wide == {"x"}
    assert test.threads[0].code[0].values == (value,)
    assert test.threads[0].code[0].wide


def test_an_access_without_a_type_has_the_width_of_its_location():
    test = read("P0@cta 0,gpu 0 ;\n ld.weak r1, x ;\n mov r2, r1 ;", initial="uint64_t x=5;")
    assert test.threads[0].wide == {"r1", "r2"}
    assert test.initial == {"x": 5}


def test_words_of_a_wide_location_are_cells():
    text = "P0@cta 0,gpu 0 ;\n ld.weak.b32 r1, [x+4] ;\n ld.weak.b32 r2, [x] ;"
    test = read(text, initial="uint64_t x=0x700000009;")
    assert [item.word for item in test.threads[0].code] == [1, 0]
    assert test.cells == {"x": 9, "x+4": 7}


@pytest.mark.parametrize(
    ("cell", "initial", "message"),
    [
        ("st.weak.b64 x, 0x10000000000000000", "x=0;", "more than 64 bits"),
        ("st.weak.b64 x, 1", "int32_t x=0;", "an access of 64 bits to x, which has 32"),
        ("ld.weak.b64 r1, [x+4]", "uint64_t x;", "an access of 64 bits is aligned"),
        ("ld.weak.b32 r1, [x+2]", "uint64_t x;", "at offset 0"),
        ("ld.weak r1, [x+4]", "x=0;", "x has 32 bits"),
        ("ld.weak.b32 r1, [x] ;\n add.u64 r1, r1, 1", "uint64_t x;", "'r1' has 64 bits"),
        ("bar.cta.sync 1, r1 ;\n mov.b64 r1, 1", "x=0;", "'r1' has 64 bits"),
    ],
)
def test_widths_that_contradict_each_other_are_refused(cell, initial, message):
    with pytest.raises(UnsupportedError, match=message):
        read(f"P0@cta 0,gpu 0 ;\n {cell} ;", initial=initial)
