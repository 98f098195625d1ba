"""The folders of compiled code that a process loads."""

import os
from pathlib import Path

import pytest

import gpucoh
from gpucoh.base.caches import built, cache_folder


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize("name", ["", "gpucoh", "gpucoh/cuda", "gpucoh/cuda/key"])
def test_a_folder_that_others_may_write_is_refused_by_name(home: Path, name: str) -> None:
    cache_folder("cuda", "key")
    (home / name).chmod(0o777)
    with pytest.raises(gpucoh.ConfigError) as error:
        cache_folder("cuda", "key")
    assert str(error.value) == (
        f"the cache folder {home / name} is writable by others (mode 777), and code in it would run with your "
        "rights: remove it, or name another one by XDG_CACHE_HOME"
    )


def test_folders_are_made_for_their_user_alone(home: Path) -> None:
    mask = os.umask(0)
    try:
        home.mkdir(mode=0o1777)  # as /tmp
        place = cache_folder("protocols")
    finally:
        os.umask(mask)
    assert {one.stat().st_mode & 0o777 for one in (place, place.parent)} == {0o700}


def test_a_folder_of_another_user_is_refused_by_name(home: Path, monkeypatch) -> None:
    owner = cache_folder("protocols").stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    wanted = rf"folder {home}.* belongs to another user \({owner}\)"
    with pytest.raises(gpucoh.ConfigError, match=wanted):
        cache_folder("protocols")


def test_a_file_in_place_of_a_folder_is_said(home: Path) -> None:
    cache_folder()
    (home / "gpucoh" / "cuda").write_text("")
    with pytest.raises(NotADirectoryError) as error:
        cache_folder("cuda")
    assert error.value.filename == home / "gpucoh" / "cuda"


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "a").write_bytes(b"one"),
        lambda folder: (folder / "b").unlink(),
        lambda folder: (folder / "all").write_bytes(b""),
        lambda folder: (folder / "all").write_bytes(b"\xff\0"),
        lambda folder: (folder / "all").unlink(),
    ],
)
def test_files_are_made_again_if_one_is_damaged(tmp_path: Path, damage) -> None:
    made = []

    def make():
        made.append(1)
        for name in "ab":
            (tmp_path / name).write_text(name)
        return [tmp_path / name for name in "ab"]

    for _ in range(2):
        built(tmp_path / "all", make)
    assert len(made) == 1
    damage(tmp_path)
    for _ in range(2):
        built(tmp_path / "all", make)
    assert len(made) == 2
    assert (tmp_path / "a").read_text() == "a"
