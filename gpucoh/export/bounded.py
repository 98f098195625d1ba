"""A protocol's tables as a model of bounded size: what the models of its parts define, and what its tables generate."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from gpucoh.base.errors import ConfigError
from gpucoh.device.choices import Choice
from gpucoh.export.syntax import (
    NETWORKS,
    OPTIONS,
    PARTS,
    RANGES,
    WITHOUT,
    WORLD,
    Definitions,
    is_array,
    number_of,
    text_of,
)
from gpucoh.verify.oracle import allowed_outcomes
from gpucoh.verify.programs import Program

CORES = 2
#: Kinds of messages that are no protocol's own.
_CORE_KINDS = ("NOTHING", "LOAD", "STORE", "ATOMIC", "EVICT", "FILL", "TIMER")
#: Which channels a network has, as its model says.
_WAYS = {
    "up": "to == CORES",
    "down": "source == CORES",
    "across": "source < CORES and to < CORES",
}
_KINDS = {"ld": "LOAD", "st": "STORE", "add": "ATOMIC"}
#: The number of an access's order; a model without release and acquire parts has the first two only.
_ORDERS = {"WEAK": 1, "RELAXED": 2, "ACQUIRE": 3, "RELEASE": 4, "ACQ_REL": 5}
_PLAIN = ("WEAK", "RELAXED")


@dataclass
class Bounded:
    """A model for the printers.

    Attributes
    ----------
    definitions : Definitions
        Records, functions and rules, generated ones included.
    enums, ranges, constants : dict
        Enumerations, and the least and largest values of numbers.
    programs : sequence of Program
    name : str
        A module's name.
    header : list of str
        What the file says of itself.
    """

    definitions: Definitions
    programs: Sequence[Program]
    name: str = "model"
    header: list[str] = field(default_factory=list)
    enums: dict[str, list[str]] = field(default_factory=dict)
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    constants: dict[str, int] = field(default_factory=dict)

    def records(self) -> list[str]:
        """Names of the records but the state."""
        no_type = (WORLD, NETWORKS, OPTIONS, RANGES, WITHOUT, PARTS)
        return [name for name in self.definitions.records if name not in no_type]

    def world(self) -> dict[str, ast.expr]:
        """The state: names and types."""
        return self.definitions.records[WORLD]

    def functions(self) -> list[ast.FunctionDef]:
        """The functions that the rules need, in order of their calls."""
        settle = ["settle"] if "settle" in self.definitions.functions else []
        needed = [item.name for item in self.definitions.rules()]
        needed += [*settle, "at_rest", "is_allowed", "initial_state", "is_ordered"]
        return self.definitions.reachable(iter(needed))


# ---- the tables


def kind_name(message: str) -> str:
    """The name of a protocol's message; a core's requests have theirs already."""
    return f"{message}_REQUEST" if message in _CORE_KINDS else message


def _action(definitions: Definitions, controller: str, name: str) -> str | None:
    """The model of an action: the controller's own, or a shared one."""
    for candidate in (f"{controller}_act_{name}", f"act_{name}"):
        if candidate in definitions.functions:
            return candidate
    return None


@dataclass
class _Table:
    """A table over lines or words: its controller's name, and its cells in order of state."""

    controller: str
    json: dict[str, Any]
    definitions: Definitions
    missing: list[str] = field(default_factory=list)

    def cells(self) -> Iterator[str]:
        """Procedures: one for each state, and one for the table."""
        name = self.controller
        states = [item["name"] for item in self.json["states"]]
        for state in states:
            yield from self._state(state)
        yield f"def {name}_cell(x: Step):"
        yield "    match x.state:"
        for state in states:
            yield f"        case {name}_{state}:"
            yield f"            {name}_in_{state}(x)"
        yield "        case _:"
        yield "            impossible(x)"

    def _state(self, state: str) -> Iterator[str]:
        name = self.controller
        text = next(item["text"] for item in self.json["states"] if item["name"] == state)
        yield f"def {name}_in_{state}(x: Step):"
        yield f"    {text!r}"
        yield "    match x.event:"
        for at, event, actions, following in self.json["table"]:
            if at == state:
                yield f"        case {name}_{event}:"
                yield from (f"            {line}" for line in self._cell(state, actions, following))
        yield "        case _:"
        yield "            impossible(x)"

    def _opens(self, state: str, following: str) -> Iterator[str]:
        if state in self.json["stable"] and following not in self.json["stable"]:
            yield f"open_transaction(x, {self.controller}_{following})"

    def _ends(self, following: str) -> Iterator[str]:
        yield f"x.next = {self.controller}_{following}"

    def _cell(self, state: str, actions: str, following: str | None) -> Iterator[str]:
        names = [item for item in actions.split(", ") if item]
        if following is None:
            kind = names.pop()
            yield from self._actions(names)
            yield f"x.status = {'HELD_LINE' if kind == 'HOLD_LINE' else 'HELD_QUEUE'}"
            return
        yield from self._opens(state, following)
        yield from self._actions(names)
        yield from self._ends(following)

    def _actions(self, names: list[str]) -> Iterator[str]:
        for name in names:
            model = _action(self.definitions, self.controller, name)
            if model is None:
                self.missing.append(name)
            else:
                yield f"{model}(x)"


class _PartTable(_Table):
    """A table over the entries of a part: a procedure for each event.

    A cell over lines may cause some of its events, and others may cause a cell over lines: no procedure calls itself.
    """

    def cells(self) -> Iterator[str]:
        for event in self.json["events"]:
            yield f"def {self.controller}_on_{event['name']}(x: Step):"
            yield f"    {event['text']!r}"
            yield "    match entry[x.unit].state:"
            for state, at, actions, following in self.json["table"]:
                if at == event["name"]:
                    yield f"        case {self.controller}_{state}:"
                    yield from (
                        f"            {line}" for line in self._cell(state, actions, following)
                    )
            yield "        case _:"
            yield "            impossible(x)"

    def _opens(self, state: str, following: str) -> Iterator[str]:
        yield from ()

    def _ends(self, following: str) -> Iterator[str]:
        """An action may hold the entry instead."""
        yield "if x.status == DONE:"
        yield f"    enter(x, {self.controller}_{following})"


def _choice(
    name: str, parameters: str, result: str, cases: Mapping[Any, str], default: str
) -> list[str]:
    """A function that maps its first parameter's value."""
    subject = parameters.split(":", maxsplit=1)[0]
    lines = [f"def {name}({parameters}) -> {result}:", f"    match {subject}:"]
    for value, out in cases.items():
        lines += [f"        case {value}:", f"            return {out}"]
    return [*lines, "        case _:", f"            return {default}"]


class _Generator:
    """Generates what depends on the tables, the messages and the programs, in the language of the models."""

    def __init__(
        self, choice: Choice, rule: str, programs: Sequence[Program], definitions: Definitions
    ) -> None:
        self.json, self.rule, self.programs, self.definitions = (
            choice.protocol.json,
            rule,
            programs,
            definitions,
        )
        self.messages = {kind_name(item["name"]): item for item in self.json["messages"]}
        self.tables = {item["name"]: item["tables"][0] for item in self.json["controllers"]}
        self.operations = max(
            len(thread.operations) for item in programs for thread in item.threads
        )
        further = {
            table["name"].replace(".", "_"): table
            for controller in self.json["controllers"]
            for table in controller["tables"][1:]
        }
        without = definitions.records.get(WITHOUT, {})
        self.parts = {
            name: table
            for name, table in further.items()
            if name in definitions.records.get(PARTS, {})
        }
        self.missing = [
            f"table {table['name']}"
            for name, table in further.items()
            if name not in without and name not in self.parts
        ]
        self.channels = 0

    def all_tables(self) -> dict[str, dict[str, Any]]:
        """The tables of controllers, then those of their parts."""
        return {**self.tables, **self.parts}

    def lines(self, model: str) -> Iterator[str]:
        yield from self._messages()
        yield from self._channels()
        yield from self._states()
        for name, table in self.all_tables().items():
            kind = _PartTable if name in self.parts else _Table
            cells = kind(name, table, self.definitions)
            yield from cells.cells()
            self.missing += [f"{name}: {action}" for action in cells.missing]
            self._describe(name, table["actions"])
        yield from self._programs(model)
        yield from self._order_of_messages()

    def _describe(self, controller: str, actions: Sequence[Mapping[str, str]]) -> None:
        """Give the models of actions the text of the actions."""
        for item in actions:
            name = _action(self.definitions, controller, item["name"])
            if name and ast.get_docstring(self.definitions.functions[name]) is None:
                text = ast.Expr(ast.Constant(item["text"]))
                self.definitions.functions[name].body.insert(0, text)

    def _messages(self) -> Iterator[str]:
        networks = self.json["networks"]
        of = {name: str(item["network"]) for name, item in self.messages.items()}
        yield from _choice("network_of", "kind: Kind", "Network", of, "0")
        words = {
            n: "True"
            for n, item in self.messages.items()
            if item["whole_line"] or item["bytes_per_word"]
        }
        yield from _choice("carries_words", "kind: Kind", "bool", words, "False")
        requests = {
            n: "True" for n, item in self.messages.items() if networks[item["network"]]["requests"]
        }
        yield from _choice("is_of_requests", "kind: Kind", "bool", requests, "False")
        ordered = {str(i): str(item["order"] != "none") for i, item in enumerate(networks)}
        yield from _choice("is_ordered", "network: Network", "bool", ordered, "False")
        if all(
            item["order"] != "none" for item in networks
        ):  # a smaller model: checkers expand calls
            yield "def queued(list: List, network: Network, m: Message) -> List:"
            yield "    return appended(list, m)"

    def _channels(self) -> Iterator[str]:
        """The channels that a protocol's networks have: from each core up to the bank, down to each core, across."""
        at: list[str] = []
        network: list[int] = []
        target: list[str] = []
        for i, item in enumerate(self.json["networks"]):
            ways = ast.unparse(
                self.definitions.records[NETWORKS][item["name"].replace("-", "_")]
            ).split(" | ")
            for way in ways:
                at.append(f"    if network == {i} and {_WAYS[way]}:")
                at.append(f"        return {'to' if way == 'down' else 'source'} + {len(network)}")
                target += {"up": ["CORES"] * CORES, "down": ["0", "1"], "across": ["1", "0"]}[way]
                network += [i] * CORES
        self.channels = len(network)
        yield "def channel_at(source: Node, to: Node, network: Network) -> Channel:"
        yield from (*at, "    return 0")
        cases = {str(c): str(i) for c, i in enumerate(network)}
        yield from _choice("network_at", "c: Channel", "Network", cases, "0")
        yield from _choice("target_at", "c: Channel", "Node", dict(enumerate(target)), "0")

    def _states(self) -> Iterator[str]:
        transient = {
            f"{controller}_{state['name']}": "True"
            for controller, table in self.tables.items()
            for state in table["states"]
            if state["kind"] != "stable"
        }
        yield from _choice("is_transient", "s: State", "bool", transient, "False")
        l1, l2 = (f"{name}_{table['states'][0]['name']}" for name, table in self.tables.items())
        first, second = self.tables
        for name, table in self.parts.items():
            yield "def initial_entry_state() -> State:"
            yield f"    return {name}_{table['states'][0]['name']}"
        yield from (
            "def initial_state(n: Node) -> State:",
            f"    return {l1} if n < CORES else {l2}",
        )
        yield from ("def event_of(x: Step) -> Event:", "    if x.unit < CORES:")
        yield from (f"        return {first}_event(x)", f"    return {second}_event(x)")
        yield from ("def take_cell(x: Step):", "    if x.unit < CORES:", f"        {first}_cell(x)")
        yield from ("    else:", f"        {second}_cell(x)")

    def _programs(self, model: str) -> Iterator[str]:
        """Requests are numbered from 1 on: thread by thread."""
        numbers = range(1, 1 + CORES * self.operations)
        where = {n: divmod(n - 1, self.operations) for n in numbers}
        yield from _choice(
            "thread_of", "r: Request", "Core", {str(n): str(t) for n, (t, _) in where.items()}, "0"
        )
        yield from _choice(
            "operation_of",
            "r: Request",
            "Operation",
            {str(n): str(i) for n, (_, i) in where.items()},
            "0",
        )
        yield from (
            "def request_at(t: Core, i: Operation) -> Request:",
            "    match t:",
            "        case 0:",
        )
        yield from (
            "            return i + 1",
            "        case _:",
            f"            return i + {1 + self.operations}",
        )
        yield from self._per_operation("kind_of", "Kind", lambda op: _KINDS[op.kind], "NOTHING")
        yield from self._per_operation("operand_of", "Value", lambda op: str(op.value), "0")
        yield from self._per_operation("how_of", "How", lambda op: str(_ORDERS[op.order]), "0")
        yield from ("def length_of(t: Core) -> Position:", "    match test:")
        for number, program in enumerate(self.programs):
            one, two = (len(thread.operations) for thread in program.threads)
            yield from (f"        case {number}:", f"            return {one} if t == 0 else {two}")
        yield from ("        case _:", "            return 0")
        if "may_issue" not in self.definitions.functions:
            yield "def may_issue(t: Core) -> bool:"
            yield (
                "    return thread[t].outstanding == 0" if self.rule == "sc" else "    return True"
            )
        yield from self._allowed(model)

    def _per_operation(self, name: str, result: str, value: Any, default: str) -> Iterator[str]:
        yield from (f"def {name}(r: Request) -> {result}:", "    match test:")
        for number, program in enumerate(self.programs):
            yield from (f"        case {number}:", "            match r:")
            for t, thread in enumerate(program.threads):
                for i, op in enumerate(thread.operations):
                    yield f"                case {1 + t * self.operations + i}:"
                    yield f"                    return {value(op)}"
            yield from ("                case _:", f"                    return {default}")
        yield from ("        case _:", f"            return {default}")

    def _allowed(self, model: str) -> Iterator[str]:
        """Whether the values read and the final one are among the outcomes that the memory model allows."""
        yield from ("def is_allowed() -> bool:", "    match test:")
        for number, program in enumerate(self.programs):
            places = [
                f"thread[{t}].read[{i}]"
                for t, thread in enumerate(program.threads)
                for i, op in enumerate(thread.operations)
                if op.reads
            ]
            places.append("final_value()")
            rows = allowed_outcomes(program, model)
            tests = " or ".join(
                "(" + " and ".join(f"{p} == {v}" for p, v in zip(places, row, strict=True)) + ")"
                for row in sorted(rows or ())
            )
            tests = "True" if rows is None else tests  # the model allows everything
            yield from (f"        case {number}:", f"            return {tests}")
        yield from ("        case _:", "            return False")

    def _order_of_messages(self) -> Iterator[str]:
        """A total order, for lists whose order does not matter."""
        ranks = {name: str(i) for i, name in enumerate((*_CORE_KINDS, *self.messages))}
        yield from _choice("rank_of", "kind: Kind", "Rank", ranks, "0")
        yield "def is_before(a: Message, b: Message) -> bool:"
        for name, kind in self.definitions.records["Message"].items():
            array = is_array(kind)
            places = range(1 + CORES * self.operations) if array else ()  # by request
            for part in [f"{name}[{i}]" for i in places] or [name]:
                yield f"    if a.{part} != b.{part}:"
                match ast.unparse(array[1] if array else kind):
                    case "Kind":
                        yield f"        return rank_of(a.{part}) < rank_of(b.{part})"
                    case "bool":
                        yield f"        return b.{part}"
                    case _:
                        yield f"        return a.{part} < b.{part}"
        yield "    return False"


def _check_options(choice: Choice, definitions: Definitions) -> None:
    """An option that changes the protocol and that its model does not know would give a model of another protocol."""
    known = definitions.records.get(OPTIONS, {})
    for name, value in choice.options.items():
        allowed = choice.protocol.options[name].default
        if name in known:
            allowed = value if ast.unparse(known[name]) == "int" else number_of(known[name], {})
        if value != allowed:
            raise ConfigError(
                f"protocol {choice.protocol.id}: option {name} = {value} has no model for other checkers "
                f"(allowed: {allowed})"
            )


def _check(programs: Sequence[Program], definitions: Definitions) -> None:
    orders = tuple(_ORDERS) if "begin_release" in definitions.functions else _PLAIN
    for program in programs:
        if len(program.threads) != CORES or [thread.core for thread in program.threads] != [0, 1]:
            raise ConfigError(f"program {program}: must have one thread on each of {CORES} cores")
        if program.variables > 1:
            raise ConfigError(f"program {program}: must use one variable, x")
        for thread in program.threads:
            for op in thread.operations:
                usual = op.scope == "GPU" and not op.read_only and op.source is None
                usual = usual and op.bits == 32 and op.word is None
                if op.kind not in _KINDS or op.order not in orders or not usual:
                    raise ConfigError(f"program {program}: {op}: must be ld x, st x N or add x N")


def bounded(choice: Choice, rule: str, programs: Sequence[Program], evictions: int) -> Bounded:
    """The protocol's model.

    Raises
    ------
    ConfigError
        If a part of the protocol has no translation, or a program does not fit.
    """
    protocol = choice.protocol
    base = protocol.id.split("!")[0]
    if text_of(base) is None:
        raise ConfigError(
            f"protocol {protocol.id} has no model for other checkers (allowed: {', '.join(exportable())})"
        )
    definitions = Definitions()
    definitions.read("machine")
    definitions.read(base)
    _check(programs, definitions)
    _check_options(choice, definitions)
    generator = _Generator(choice, rule, programs, definitions)
    definitions.add(ast.parse("\n".join(generator.lines(choice.model(rule)))))
    if generator.missing:
        raise ConfigError(f"protocol {protocol.id}: no model of {', '.join(generator.missing)}")
    model = Bounded(definitions, programs, protocol.id.replace("-", "_").replace("!", "_"))
    _bound(model, generator, evictions)
    _bound_by_options(model, choice)
    return model


def _bound_by_options(model: Bounded, choice: Choice) -> None:
    for name, kind in model.definitions.records.get(OPTIONS, {}).items():
        if ast.unparse(kind) == "int":
            default = choice.protocol.options[name].default
            model.constants[name.upper()] = choice.options.get(name, default)
    for name, most in model.definitions.records.get(RANGES, {}).items():
        model.ranges[name] = (0, number_of(most, model.constants))


def _bound(model: Bounded, generator: _Generator, evictions: int) -> None:
    operations = generator.operations
    places = max(4, 2 * operations)
    values = max(
        sum(op.value for t in item.threads for op in t.operations) for item in model.programs
    )
    model.enums |= {
        "Kind": [*_CORE_KINDS, *generator.messages],
        "State": [
            f"{c}_{s['name']}" for c, t in generator.all_tables().items() for s in t["states"]
        ],
        "Event": [
            "NO_EVENT",
            *(f"{c}_{e['name']}" for c, t in generator.all_tables().items() for e in t["events"]),
        ],
        "Origin": ["ISSUE", "DELIVER", "MEMORY", "REPLAY", "SPONTANEOUS", "DUE"],
        "Status": ["DONE", "HELD_LINE", "HELD_QUEUE"],
    }
    networks = len(generator.json["networks"])
    model.constants |= {
        "CORES": CORES,
        "NODES": CORES + 1,
        "CHANNELS": generator.channels,
        "PLACES": places,
        "REQUESTS": 1 + CORES * operations,
        "EVICTIONS": evictions,
        "UNFILLED": values + 1,  # no program writes it
    }
    model.ranges |= {
        "Core": (0, CORES - 1),
        "Node": (0, CORES),
        "Network": (0, networks - 1),
        "Index": (0, max(generator.channels, CORES + 1) - 1),
        "Channel": (0, generator.channels - 1),
        "Request": (0, CORES * operations),
        "How": (
            0,
            max(
                _ORDERS[op.order]
                for item in model.programs
                for t in item.threads
                for op in t.operations
            ),
        ),
        "Value": (0, values + 1),
        "Length": (0, places),
        "Place": (0, places - 1),
        "Position": (0, max(operations, 1) * 2),
        "Operation": (0, operations - 1),
        "Evictions": (0, max(evictions, 1)),
        "Test": (0, len(model.programs) - 1),
        "Rank": (0, len(model.enums["Kind"])),
        "Acknowledgements": (0, CORES),
    }


def exportable() -> list[str]:
    """Ids of the protocols that have a model."""
    parts = {"machine", "baseline", "sharers", "time", "words", "parts", "store_buffer"}
    folder = resources.files("gpucoh.export").joinpath("models")
    return sorted(
        p.name.removesuffix(".model")
        for p in folder.iterdir()
        if p.name.removesuffix(".model") not in parts
    )
