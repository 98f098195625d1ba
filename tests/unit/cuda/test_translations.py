"""The cache of translations."""

from pathlib import Path

import pytest

from gpucoh.cuda import module, translations
from gpucoh.cuda.module import Module
from unit.cuda.oracles import FOLDER

PTX = FOLDER / "arithmetic.ptx"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a cache that keeps every kernel."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(translations, "KEPT_FROM", 0)
    return tmp_path / "gpucoh" / "translations"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of kernels that are translated from now on."""
    found: list[str] = []
    translate = module.translate
    monkeypatch.setattr(
        module, "translate", lambda *given: (found.append(given[1]), translate(*given))[1]
    )
    return found


def test_a_kernel_is_translated_once(folder: Path, calls: list[str]) -> None:
    name = Module(PTX).kernels[0]
    first, second = (Module(PTX).translation(name) for _ in range(2))
    assert calls == [name]
    assert first.program.code == second.program.code
    assert first.layout.__getstate__() == second.layout.__getstate__()
    assert len(list(folder.iterdir())) == 1


def test_a_variable_that_a_translation_makes_is_kept_with_it(
    folder: Path, calls: list[str]
) -> None:
    text = """.version 8.0
.target sm_75
.address_size 64
.visible .entry f(.param .u64 p)
{
    .reg .b32 %r<2>;
    .reg .b64 %d<2>;
    mov.u32 %r1, %envreg1;
    ld.param.u64 %d1, [p];
    st.global.u32 [%d1], %r1;
    ret;
}
"""
    made = []
    for _ in range(2):
        one = Module(text)
        before = set(one.variables)
        symbols = one.translation("f").layout.symbols
        made.append(set(one.variables) - before)
        assert set(symbols) <= set(one.variables)
    assert made[0] == made[1] == {"grid workspace"}
    assert calls == ["f"]


@pytest.mark.parametrize("content", [b"", b"x" * 40])
def test_a_damaged_entry_is_made_again(folder: Path, calls: list[str], content: bytes) -> None:
    name = Module(PTX).kernels[0]
    Module(PTX).translation(name)
    (entry,) = folder.iterdir()
    whole = entry.read_bytes()
    entry.write_bytes(content)
    Module(PTX).translation(name)
    assert calls == [name, name]
    assert entry.read_bytes() == whole


def test_other_code_translates_again(
    folder: Path, calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = Module(PTX).kernels[0]
    Module(PTX).translation(name)
    monkeypatch.setattr(translations, "_code", lambda: "other")
    Module(PTX).translation(name)
    assert len(calls) == len(list(folder.iterdir())) == 2


def test_a_small_module_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    small = Module(FOLDER / "pointers.ptx")
    small.translation(small.kernels[0])
    assert not (tmp_path / "gpucoh" / "translations").exists()
