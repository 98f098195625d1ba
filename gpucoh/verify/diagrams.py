"""A violation's execution as a diagram: cores, L2 and memory as columns, messages as arrows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gpucoh.verify.programs import VARIABLES, Program

WIDTH = 22  # characters of a column
#: Steps that one node takes by itself.
_BOXES = {
    "replay": "retries a request",
    "end": "launch ends",
    "timer": "timer",
    "background": "background timer",
}


def _line(program: Program, number: int) -> str:
    """The name of a line: its variables; empty for an address beyond them."""
    each = 2 if program.packed else 1
    return VARIABLES[each * number : each * (number + 1)]


def _detail(program: Program, text: str) -> str:
    """``"timestamp=3 gwct=0 data=1,0"`` as ``"ts 3 =1"``: nonzero fields, and the words."""
    parts = []
    for item in text.split():
        key, _, value = item.partition("=")
        if key == "data":
            words = value.split(",")
            parts.append("=" + (",".join(words) if program.packed else words[0]))
        elif value not in ("0", "{}", "[0]"):
            parts.append(f"{'ts' if key == 'timestamp' else key} {value}")
    return " ".join(parts)


class _Canvas:
    """One row of the diagram: lifelines, overwritten by boxes and arrows."""

    def __init__(self, columns: int) -> None:
        self.centres = [WIDTH // 2 + WIDTH * column for column in range(columns)]
        self.cells = [" "] * (WIDTH * columns)
        for centre in self.centres:
            self.cells[centre] = "|"

    def write(self, start: int, text: str) -> None:
        for place, letter in enumerate(text, start):
            if 0 <= place < len(self.cells):
                self.cells[place] = letter

    def box(self, column: int, text: str) -> None:
        text = f"[{text[: WIDTH - 3]}]"
        self.write(self.centres[column] - len(text) // 2, text)

    def arrow(self, source: int, target: int, text: str) -> None:
        left, right = sorted((self.centres[source], self.centres[target]))
        room = right - left - 1
        label = f" {text} " if text else ""
        self.write(left + 1, label[: room - 2].center(room, "-"))
        self.write(right - 1 if target > source else left + 1, ">" if target > source else "<")

    def across(self, text: str) -> None:
        self.write(0, f" {text} ".center(len(self.cells), "."))

    def __str__(self) -> str:
        return "".join(self.cells).rstrip()


class _Drawing:
    def __init__(self, program: Program, nodes: Sequence[str]) -> None:
        self.program = program
        self.nodes = list(nodes)
        self.columns = [*nodes, "memory"]
        self.rows: list[str] = []
        self.step = 0

    def canvas(self) -> _Canvas:
        return _Canvas(len(self.columns))

    def add(self, canvas: _Canvas, note: str) -> None:
        self.step += 1
        width = WIDTH * len(self.columns)
        self.rows.append(f"{self.step:>3} {canvas!s:<{width}} {note}".rstrip())

    def head(self) -> None:
        names = "".join(name.center(WIDTH) for name in self.columns)
        self.rows.append(f"    {names}".rstrip())

    def changes(self, step: Mapping[str, Any]) -> list[str]:
        notes = []
        for change in step.get("changes", ()):
            where = self.nodes[change["node"]]
            detail = _detail(self.program, change["detail"])
            line = _line(self.program, change["line"])
            notes.append(
                f"{where}: {line} {change['was']} -> {change['state']}"
                + (f" ({detail})" if detail else "")
            )
        return notes

    def completed(self, step: Mapping[str, Any], before: list[list[int]]) -> list[str]:
        """The values of the loads and atomics that this step completes."""
        notes = []
        for thread in step["completed"]:
            operations = self.program.threads[thread].operations
            hit = step["op"] if step["kind"] == "issue" and step["thread"] == thread else None
            read = [
                f"{VARIABLES[op.variable]} = {value}"
                for number, (op, value, old) in enumerate(
                    zip(operations, step["values"][thread], before[thread], strict=True)
                )
                if op.reads and (value != old or number == hit)
            ]
            if read:
                notes.append(f"thread {thread} reads {', '.join(read)}")
        return notes

    def draw_step(self, step: Mapping[str, Any]) -> None:
        canvas, notes = self.canvas(), self.changes(step)
        kind = step["kind"]
        if kind == "issue":
            op = self.program.threads[step["thread"]].operations[step["op"]]
            canvas.box(step["to"], f"{step['thread']}: {op}")
        elif kind in ("deliver", "memory"):
            source = step["from"] if kind == "deliver" else len(self.columns) - 1
            line = _line(self.program, step["line"]) if "line" in step else ""
            label = f"{step['message']} {line} {_detail(self.program, step['detail'])}".rstrip()
            if source == step["to"]:
                canvas.box(source, label)
            else:
                canvas.arrow(source, step["to"], label)
        elif kind == "evict":
            canvas.box(step["to"], f"evicts {_line(self.program, step['line'])}")
        elif kind == "entry":
            line = _line(self.program, step["line"])
            canvas.box(step["to"], f"{step['part']} {line}".rstrip())
        elif kind == "kernel":
            canvas.across("next launch")
        else:
            canvas.box(step["to"], _BOXES[kind])
        self.add(canvas, "; ".join(notes))

    def draw_time(self, now: int) -> None:
        width = WIDTH * len(self.columns)
        self.rows.append("    " + f" time is {now} ".center(width, ".").rstrip())


def node_names(found: Mapping[str, Any], program: Program) -> list[str]:
    """Names of the nodes of a violation: cores, banks by their lines, others by their controller."""
    lines = [_line(program, number) for number in range(len(VARIABLES))]
    banks = sum(position == "bank" for _, position, _ in found["nodes"])
    names = []
    for controller, position, index in found["nodes"]:
        if position == "core":
            names.append(f"core {index}")
        elif position == "bank" and banks > 1:
            names.append(f"{controller} of {lines[index]}")
        else:
            names.append(controller)
    return names


def draw(program: Program, nodes: Sequence[str], trace: Sequence[Mapping[str, Any]]) -> str:
    """The execution as text, one step per row: the step, and at the right what it changes.

    Parameters
    ----------
    program : Program
    nodes : sequence of str
        Names of cores and L2 banks, in the order of the explorer's node numbers.
    trace : sequence of dict
        Steps as the core's ``explore`` returns them.
    """
    drawing = _Drawing(program, nodes)
    drawing.head()
    before = [[0] * len(thread.operations) for thread in program.threads]
    for number, step in enumerate(trace):
        if step["kind"] == "time":
            following = trace[number + 1]["kind"] if number + 1 < len(trace) else ""
            if following != "time":
                drawing.draw_time(step["now"])
            continue
        drawing.draw_step(step)
        reads = drawing.completed(step, before) if "values" in step else []
        if reads:
            drawing.rows[-1] += ("; " if drawing.changes(step) else " ") + "; ".join(reads)
        before = [list(values) for values in step.get("values", before)]
    return "\n".join(re.sub(r"\s+$", "", row) for row in drawing.rows)
