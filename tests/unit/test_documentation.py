"""Does the documentation agree with the program?"""

import doctest
import importlib
import pkgutil
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import gpucoh
from gpucoh.cli.application import application

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *(
        ROOT / "docs" / f"{name}.md"
        for name in ("tutorial", "start", "coming-from", "troubleshooting")
    ),
    ROOT / "docs" / "how-to" / "clusters.md",
]


def modules():
    """Every module of the package but the program and the extension."""
    below = (item.name for item in pkgutil.walk_packages(gpucoh.__path__, "gpucoh."))
    return ["gpucoh", *(name for name in below if not name.endswith((".__main__", "._core")))]


@pytest.mark.long
def test_examples_in_docstrings_are_right():
    report = {name: doctest.testmod(importlib.import_module(name)) for name in modules()}
    assert {name: found for name, found in report.items() if found.failed} == {}
    for name in (
        "gpucoh",
        "gpucoh.device.gpu",
        "gpucoh.machines.model",
        "gpucoh.runs.runner",
    ):
        assert report[name].attempted > 0


def test_the_first_kernel_of_the_readme_runs(tmp_path):
    text = PAGES[0].read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / "first.py").write_text(block)
    done = subprocess.run(
        [sys.executable, "first.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    first, second = done.stdout.splitlines()
    assert first == re.search(r"print\(y\[:4\]\) +# (.*)", block)[1]
    assert int(second.split()[0]) > 0


@pytest.mark.long
def test_the_tutorial_s_python_runs(tmp_path, monkeypatch):
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    (tmp_path / "tutorial.py").write_text(
        "".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    )
    monkeypatch.chdir(tmp_path)
    found = runpy.run_path("tutorial.py")
    assert found["c"].table.correct.all()
    assert found["counts"].tolist() == [256] * 16
    assert gpucoh.machine("mine.toml").cores == 32


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_and_option_that_a_page_shows_exists(page):
    commands = typer.main.get_command(application()).commands
    text = page.read_text(encoding="utf-8")
    lines = re.findall(r"(?:^    |`)gpucoh ([a-z][^`\n]*)", text, re.MULTILINE)
    assert lines
    for line in lines:
        name, *rest = line.split("#")[0].split()
        known = {option for parameter in commands[name].params for option in parameter.opts}
        used = {word for word in rest if re.match(r"--?[a-z]", word)}
        if "|" not in rest:
            assert used <= known, line


def prose(page):
    """A page without code."""
    return re.sub(r"```.*?```|`[^`]+`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def anchors(page):
    """What links to a page may name behind `#`."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    }


def test_every_file_and_heading_that_a_page_links_to_is_there():
    links = [
        (page, target)
        for page in (
            *ROOT.glob("*.md"),
            *(ROOT / "docs").rglob("*.md"),
            *(ROOT / "csrc" / "protocols").rglob("*.md"),
        )
        for target in re.findall(r"\]\((?!https?:)([^)]+)\)", prose(page))
    ]
    assert len(links) > 180
    for page, target in links:
        name, _, heading = target.partition("#")
        linked = page.parent / name if name else page
        assert linked.exists(), f"{page}: {target}"
        assert not heading or heading in anchors(linked), f"{page}: {target}"


def test_every_protocol_is_on_the_page_of_its_family(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    pages = importlib.import_module("pages")
    assert pages.main([str(tmp_path)]) == 0
    text = (tmp_path / "protocols.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([^`]+)`", text, re.MULTILINE) == [
        name for _, ids in pages.titles().values() for name in ids
    ]
    for link in re.findall(r"^## \[.*\]\((.*)\)$", text, re.MULTILINE):
        assert (tmp_path / link).is_file(), link


def section(page, heading):
    """The text of a page below a heading."""
    return re.split(r"^#+ ", page.partition(f"# {heading}\n")[2], flags=re.MULTILINE)[0]


def test_the_architecture_page_names_folders_headers_and_ports_as_they_are():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    folders = [path for name in ("csrc", "gpucoh") for path in (ROOT / name).iterdir()]
    listed = [
        f"{path.parent.name}/{path.name}/"
        for path in folders
        if path.is_dir() and path.name != "__pycache__"
    ]
    assert [name for name in listed if f"`{name}`" not in section(page, "Layout")] == []
    for header in re.findall(r"^\* `([^`]+\.h)`", section(page, "Interfaces"), re.MULTILINE):
        assert (ROOT / "csrc" / header).is_file(), header
    declared = (ROOT / "csrc" / "controller" / "ports.h").read_text(encoding="utf-8")
    struct = declared.partition("} gpc_ports_t;")[0].rpartition("typedef struct")[2]
    rows = re.findall(r"^\| (`.*?) \|", section(page, "Ports"), re.MULTILINE)
    ports = re.findall(r"^    [\w ]+\(\*(\w+)\)\(", struct, re.MULTILINE)
    assert ports == re.findall(r"`(\w+)`", " ".join(rows))


def test_the_page_on_statistics_names_every_key():
    named = set(
        re.findall(r"`(\w+)`", (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8"))
    )
    machine = gpucoh.machine("fermi").replace(cpu_kib=1024)
    found = gpucoh.run(
        "vec-cpy", protocol="gpu-vini", machine=machine, scale="tiny", check=True
    ).to_dict()
    keys = set(found).union(
        *(found[name] for name in ("l1", "l2", "core", "stalls", "dram", "cpu", "check"))
    )
    keys |= {key for kind in found["traffic"].values() for key in kind}
    keys |= {key for table in found["storage"]["L2"].values() for key in table}
    assert keys - named == set()
