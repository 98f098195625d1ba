"""Are sizes, clocks and switches read as written, and other texts rejected?"""

import pytest

from gpucoh.base.units import format_kib, parse_bool, parse_bytes, parse_mhz
from gpucoh.base.wording import nearest
from products import share


@pytest.mark.parametrize(
    ("text", "expected"),
    [("32KiB", 32768), ("48 kb", 49152), ("1MiB", 2**20), ("512B", 512), (128, 128), ("1e3", 1000)],
)
def test_sizes_are_read(text, expected):
    assert parse_bytes(text) == expected


def test_a_plain_size_counts_in_the_unit_of_the_field():
    assert parse_bytes(32, plain=1024) == 32768
    assert parse_bytes("32", plain=1024) == 32768
    assert parse_bytes("512B", plain=1024) == 512


@pytest.mark.parametrize(
    ("text", "expected"), [("1.4GHz", 1400), ("700 MHz", 700), (1400, 1400), ("2e9Hz", 2000)]
)
def test_clocks_are_read(text, expected):
    assert parse_mhz(text) == expected


@pytest.mark.parametrize(
    "text", share(["fast", "1.4THz", "-3", "", None, True, 1.5, "0.5kHz"], one_in=4)
)
def test_what_is_no_clock_is_refused(text):
    with pytest.raises(ValueError):
        parse_mhz(text)


@pytest.mark.parametrize("text", ["big", "3 parsecs", "-3KiB", None, False])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ValueError):
        parse_bytes(text)


def test_switches_are_read():
    assert [parse_bool(word) for word in ("on", "1", "true", "off", "0", False)] == [True] * 3 + [
        False
    ] * 3
    with pytest.raises(ValueError, match="on or off"):
        parse_bool("perhaps")


def test_sizes_are_printed_in_the_largest_whole_unit():
    assert [format_kib(kib) for kib in (32, 1024, 0.5, 1.5)] == [
        "32 KiB",
        "1 MiB",
        "512 B",
        "1536 B",
    ]


def test_the_nearest_word_is_named_and_a_far_one_is_not():
    assert nearest("tc-wek", ["mesi", "tc-weak"]) == "; did you mean 'tc-weak'?"
    assert nearest("zzz", ["mesi", "tc-weak"]) == ""
