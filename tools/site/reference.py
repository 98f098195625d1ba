"""Pages of the site that follow from the code: protocols, machines, commands, Python's names."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pages
from generated import table

import gpucoh
from gpucoh.device import outside
from gpucoh.machines.fields import DECLARED, core_name
from gpucoh.machines.model import FIELDS
from gpucoh.machines.presets import DESCRIPTIONS

#: In the order of the contents.
PAGES = tuple(
    f"reference/{name}" for name in ("python", "commands", "machines", "workloads", "protocol-api")
)
#: Points of the site's column: wider drawings are shrunk to it, and their texts with them.
COLUMN = 540
_SAME = "[`gpucoh protocols ID`](../commands.md) prints the same tables."


def write(source: Path) -> None:
    """Write all pages but that of the protocols' interface to source/reference."""
    folder = source / "reference"
    (folder / "protocols").mkdir(parents=True)
    texts = {
        "python": python(),
        "commands": commands(),
        "machines": machines(),
        "workloads": workloads(),
        "protocols": protocol_index(folder),
    }
    for name in known():
        texts[f"protocols/{name}"] = protocol(folder / "protocols", name)
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def known() -> dict[str, Any]:
    """The protocols of the package."""
    return {name: one for name, one in gpucoh.protocols().items() if name not in outside.codes()}


def entries(*names: str) -> str:
    """Main entries of the index: the site's search ranks a name that it equals above every text."""
    lines = "\n".join(f"   !single: {name}" for name in names)
    return f"```{{eval-rst}}\n.. index::\n{lines}\n```\n"


# ---- protocols


def protocol_index(folder: Path) -> str:
    """The protocols by family, with a link to each page."""
    text = pages.families(folder)
    text = re.sub(r"\]\([^)]*?(csrc/protocols/\w+/README\.md)\)", r"](../\1)", text)
    text = re.sub(r"^\| `([\w-]+)` \|", r"| [`\1`](protocols/\1.md) |", text, flags=re.MULTILINE)
    listed = "\n".join(f"protocols/{name}" for name in known())
    return f"{text}\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n"


def protocol(folder: Path, name: str) -> str:
    """One protocol: rules, options, messages, the states, table and diagram of each controller."""
    one = gpucoh.protocols()[name].to_dict()
    lines = [
        f"# `{name}`: {one['name']}\n",
        entries(name),
        f"{sentence(gpucoh.protocols()[name].json['text'])} ({one['paper']}.) {_SAME}\n",
    ]
    models = [(f"`{rule}`", model) for rule, model in one["models"].items()]
    lines += ["| rule | memory model |", "|---|---|", *(f"| {a} | {b} |" for a, b in models), ""]
    if one["options"]:
        rows = [
            (f"`{o['name']}`", named(o, o["default"]), allowed(o), o["text"])
            for o in one["options"]
        ]
        lines += ["## Options\n", table(("option", "default", "allowed", "meaning"), rows), ""]
    for title, unit in one["controllers"].items():
        lines += [f"## {title}\n", diagram(folder, name, title), ""]
        cells = [[escape(cell) for cell in row] for row in unit["table"]]
        lines += [table(("state", "event", "actions", "next state"), cells), ""]
    return "\n".join(lines)


def sentence(text: str) -> str:
    """The text as a sentence."""
    return f"{text[:1].upper()}{text[1:]}."


def named(option: dict[str, Any], value: int) -> str:
    """An option's value by its name."""
    names, place = option["choices"].split(), value - option["smallest"]
    return f"`{names[place]}`" if place < len(names) else str(value)


def allowed(option: dict[str, Any]) -> str:
    """What an option may be."""
    names = option["choices"].split()
    first = option["smallest"] + len(names)
    numbers = [f"{first} to {option['largest']}"] if first <= option["largest"] else []
    return ", ".join([*(f"`{name}`" for name in names), *numbers])


def escape(text: Any) -> str:
    """A cell of a table."""
    return str(text).replace("|", "\\|") or " "


def diagram(folder: Path, name: str, title: str) -> str:
    """The states of a controller as a picture beside the page; a note where Graphviz is not installed."""
    dot = shutil.which("dot")
    if dot is None:
        return f"*A drawing needs Graphviz: `gpucoh protocols {name} --dot`.*"
    picture = folder / f"{name}-{title}.svg"
    drawn = [
        subprocess.run(
            [dot, "-Tsvg", f"-Grankdir={way}"],
            input=graph(name, title),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
        for way in ("LR", "TB")
    ]
    picture.write_text(min(drawn, key=lambda svg: max(width(svg), COLUMN)), encoding="utf-8")
    return f"![States of {title} of {name}]({picture.name})"


def width(svg: str) -> int:
    """The width of a drawing in points."""
    found = re.search(r'<svg width="(\d+)pt"', svg)
    return int(found[1]) if found else 0


_GRAPHS: dict[str, dict[str, str]] = {}


def graph(name: str, title: str) -> str:
    """The DOT text of one controller."""
    if name not in _GRAPHS:
        found = re.findall(
            r'subgraph cluster_\d+ \{\n\s*label="([^"]*)";\n(.*?)\n  \}',
            gpucoh.protocols()[name].dot(),
            re.DOTALL,
        )
        _GRAPHS[name] = dict(found)
    head = (
        "bgcolor=transparent; nodesep=0.15; ranksep=0.3; node [shape=ellipse, fontname=Helvetica]; "
    )
    head += "edge [fontsize=9, fontname=Helvetica];"
    return f'digraph "{name} {title}" {{\n{head}\n{_GRAPHS[name][title]}\n}}'


# ---- machines


def machines() -> str:
    """Every field of a machine, and its value and source in every preset."""
    presets = gpucoh.machines()
    rows = []
    for field in FIELDS:
        declared = DECLARED.get(core_name(field))
        if declared is None:
            continue
        smallest, largest, unit, text = declared
        rows.append((f"`{field}`", unit or "-", f"{smallest} to {largest}", escape(text)))
    lines = [
        "# Machines\n",
        "A machine is a preset, or a TOML file of changes to one: [how](../docs/how-to/add-a-machine.md).\n",
        "## Fields\n",
        entries(*(field for field in FIELDS if core_name(field) in DECLARED)),
        "Sizes are given to the core in bytes; names that end with `_kib` take KiB.\n",
        table(("field", "unit", "allowed", "meaning"), rows),
        "",
    ]
    for name, machine in presets.items():
        cells = [
            (f"`{field}`", f"{value} {unit}".strip(), escape(source))
            for field, value, unit, _, source in machine.rows()
        ]
        lines += [f"## `{name}`\n", entries(name), sentence(DESCRIPTIONS[name]), ""]
        lines += [table(("field", "value", "source"), cells), ""]
    return "\n".join(lines)


# ---- workloads, commands and Python


def workloads() -> str:
    """Every workload with its check, and the papers that evaluate with it."""
    known = gpucoh.workloads()
    rows = [
        (f"`{name}`", escape(sentence(one.title)), escape(one.check), ", ".join(one.papers) or "-")
        for name, one in known.items()
    ]
    lines = ["# Workloads\n", entries(*known), "`gpucoh workloads ID` prints the parameters.\n"]
    return "\n".join([*lines, table(("id", "algorithm", "check", "papers"), rows), ""])


def commands() -> str:
    """The command line, as typer describes it."""
    command = [
        sys.executable,
        "-m",
        "typer",
        "--app",
        "app",
        "gpucoh.cli.application",
        "utils",
        "docs",
        "--name",
        "gpucoh",
    ]
    made = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "NO_COLOR": "1"}
    )
    text = re.sub(r"^# `gpucoh`", "# Commands", made.stdout, count=1, flags=re.MULTILINE)
    heading = r"^## `gpucoh ([\w-]+)`$"
    return re.sub(
        heading, lambda found: f"{found[0]}\n\n{entries(found[1])}", text, flags=re.MULTILINE
    )


def python() -> str:
    """Public names with their docstrings."""
    public = [name for name in sorted(gpucoh.__all__) if not name.startswith("_")]
    classes = [n for n in public if inspect.isclass(getattr(gpucoh, n)) and not _is_error(n)]
    errors = [n for n in public if _is_error(n)]
    functions = [n for n in public if inspect.isroutine(getattr(gpucoh, n))]
    language = [n for n in functions if _module(n).startswith("gpucoh.lang")]
    groups = {
        "Functions": [n for n in functions if n not in language],
        "Classes": classes,
        "Errors": errors,
        "The kernel language": language,
    }
    lines = [
        "# Python\n",
        "The public names of `gpucoh`; [the kernel language](../docs/reference/language.md) has a page.\n",
    ]
    for title, names in groups.items():
        lines.append(f"## {title}\n")
        for name in names:
            kind = "function" if inspect.isroutine(getattr(gpucoh, name)) else "class"
            lines += [entries(name), "```{eval-rst}", f".. auto{kind}:: gpucoh.{name}"]
            lines += ["   :members:", "   :show-inheritance:"] if kind == "class" else []
            lines += ["```", ""]
    lines += [
        "## Drawing\n",
        "```{eval-rst}",
        ".. automodule:: gpucoh.plot",
        "   :members:",
        "```",
        "",
    ]
    lines += [
        "## CUDA\n",
        "```{eval-rst}",
        ".. automodule:: gpucoh.cuda",
        "   :members: Module, RawKernel",
        "```",
        "",
    ]
    return "\n".join(lines)


def _is_error(name: str) -> bool:
    one = getattr(gpucoh, name)
    return inspect.isclass(one) and issubclass(one, Exception)


def _module(name: str) -> str:
    return getattr(getattr(gpucoh, name), "__module__", "") or ""
