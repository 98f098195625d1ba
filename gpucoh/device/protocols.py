"""Protocols as Python objects: description, tables, options.

The core prints all of this as JSON from the tables that it executes, which are declared once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gpucoh.base import markup
from gpucoh.base.doors import reading
from gpucoh.base.errors import ConfigError
from gpucoh.base.quoting import quoted
from gpucoh.base.units import parse_bool
from gpucoh.base.wording import name_of, unknown


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One cell of a table: actions and next state for a state and an event.

    Attributes
    ----------
    state, event, actions, next : str
    hardened : bool
        Whether it is this project's addition to the paper's table.
    reason : str
        Why it differs from the cell of the table's base; empty: it does not.
    """

    state: str
    event: str
    actions: str
    next: str
    hardened: bool = False
    reason: str = ""


@dataclass(frozen=True, kw_only=True, repr=False)
class Table:
    """One transition table of a controller.

    Attributes
    ----------
    name : str
        ``"L1"``, or ``"L1.store_buffer"`` for an additional table of a controller.
    states, stable, events : tuple of str
        All states, the stable states, all events.
    transitions : int
        Number of cells (each printed outcome once) that are not impossible, hold, or hardened.
    hardened : int
        Number of hardened cells: not in the paper's table, added to make it safe or complete.
    base : str
        The protocol whose table of this name it is based on; empty: none.
    patches : tuple of (str, str, str)
        State, event and reason of every cell that differs from the base's; some are impossible here.
    texts : dict
        A one-line description of each state and event.
    """

    name: str
    states: tuple[str, ...]
    stable: tuple[str, ...]
    events: tuple[str, ...]
    transitions: int
    hardened: int
    base: str = ""
    patches: tuple[tuple[str, str, str], ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    _cells: tuple[Cell, ...] = ()

    def __repr__(self) -> str:
        return (
            f"<Table {self.name}: {len(self.states)} states, {len(self.events)} events, "
            f"{self.transitions} transitions>"
        )

    def _repr_html_(self) -> str:
        texts: dict[tuple[str, str], list[str]] = {}
        for cell in self._cells:
            target = f" / {cell.next}" if cell.next and cell.next != cell.state else ""
            mark = " *" if cell.reason else ""
            texts.setdefault((cell.event, cell.state), []).append(f"{cell.actions}{target}{mark}")
        events = [event for event in self.events if any(event == key[0] for key in texts)]
        rows = [
            (event, *("; ".join(texts.get((event, state), ())) for state in self.states))
            for event in events
        ]
        based = f"; * differs from {self.base}'s" if self.base else ""
        title = f"{self.name}: actions / next state{based}"
        return markup.table(("event", *self.states), rows, title)

    def cells(self) -> Iterator[Cell]:
        """Every possible cell, in the table's order."""
        return iter(self._cells)

    def to_dict(self) -> dict[str, Any]:
        """The table as ``gpucoh protocols --json`` prints it."""
        return {
            "states": list(self.states),
            "stable": list(self.stable),
            "events": list(self.events),
            "transitions": self.transitions,
            "hardened": self.hardened,
            "table": [[cell.state, cell.event, cell.actions, cell.next] for cell in self._cells],
            "base": self.base,
            "patches": [list(patch) for patch in self.patches],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Table:
        """Make a table from the core's description."""
        texts: dict[str, str] = {}
        names: dict[str, list[str]] = {"states": [], "events": [], "stable": []}
        for key, listed in names.items():
            for item in data.get(key, ()):
                listed.append(item["name"] if isinstance(item, Mapping) else str(item))
                if isinstance(item, Mapping):
                    texts[listed[-1]] = str(item.get("text", ""))
        hardened = {(state, event) for state, event in data.get("hardened_cells", ())}
        patches = tuple((state, event, reason) for state, event, reason in data.get("patches", ()))
        reasons = {(state, event): reason for state, event, reason in patches}
        cells = tuple(
            Cell(
                state=state,
                event=event,
                actions=actions,
                next=target or "",
                hardened=(state, event) in hardened,
                reason=reasons.get((state, event), ""),
            )
            for state, event, actions, target in data["table"]
        )
        return cls(
            name=str(data["name"]),
            states=tuple(names["states"]),
            stable=tuple(names["stable"]),
            events=tuple(names["events"]),
            transitions=int(data["transitions"]),
            hardened=int(data["hardened"]),
            base=str(data.get("base", "")),
            patches=patches,
            texts=texts,
            _cells=cells,
        )


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option of a protocol: a name and values allowed in the brackets of ``tc-weak[lifetime=3200]``.

    Attributes
    ----------
    name : str
    smallest, largest, default : int
    text : str
        Its meaning.
    words : dict
        Values that have a name.
    small : int or None
        The value on the explorer's small machine; None: the default.
    fuzz : tuple of (int, int) or None
        The smallest and largest value that the random tester draws; None: it does not vary the option.
    analysis : str or None
        Why any value but the default is for analysis only: no memory model is promised then. None: all values keep the
        protocol's promise.
    """

    name: str
    smallest: int
    largest: int
    default: int
    text: str
    words: Mapping[str, int] = field(default_factory=dict)
    small: int | None = None
    fuzz: tuple[int, int] | None = None
    analysis: str | None = None

    @property
    def is_switch(self) -> bool:
        """Whether the values are on and off."""
        return set(self.words) == {"off", "on"}

    @property
    def takes_numbers(self) -> bool:
        """Whether it takes numbers besides words."""
        return self.smallest + len(self.words) <= self.largest

    def parse(self, protocol: str, text: str) -> int:
        """The value of the option's text.

        Raises
        ------
        ConfigError
            If the option does not allow the value.
        """
        if text in self.words:
            return self.words[text]
        given: object = quoted(text)
        with contextlib.suppress(ValueError):
            value = int(parse_bool(text)) if self.is_switch else int(text, 0)
            # Words take the first values.
            first = self.smallest + (0 if self.is_switch else len(self.words))
            is_allowed = self.takes_numbers or self.is_switch
            if is_allowed and first <= value <= self.largest:
                return value
            given = value if is_allowed else given
        raise ConfigError(
            f"protocol {quoted(protocol)}: option {self.name} = {given} is not {self.allowed()}"
        )

    def word(self, value: int) -> str:
        """A value as written in brackets, the text that :meth:`parse` accepts.

        Examples
        --------
        >>> option = Option(name="l", smallest=-1, largest=9, default=-1, text="", words={"predicted": -1})
        >>> option.word(-1), option.word(3)
        ('predicted', '3')
        """
        return next((word for word, number in self.words.items() if number == value), str(value))

    def value(self, value: int) -> int | bool | str:
        """A value as tables of results have it: a number, its word, or true and false of a switch."""
        if self.is_switch:
            return bool(value)
        word = self.word(value)
        return word if word in self.words else value

    def allowed(self) -> str:
        """The allowed values, for display."""
        if self.is_switch:
            return "on or off"
        words = ", ".join(self.words)
        if not self.takes_numbers:
            return f"one of {words}"
        numbers = f"a whole number from {self.smallest + len(self.words)} to {self.largest}"
        return f"{words} or {numbers}" if words else numbers


@dataclass(frozen=True, kw_only=True)
class Uncovered:
    """Cells that no program enters on a machine: every pair of the states and events.

    Attributes
    ----------
    table : str
        The key of :attr:`Protocol.controllers`.
    states, events : tuple of str
    rules : tuple of str
        The core rules under which no program enters them; empty: all.
    reason : str
    """

    table: str
    states: tuple[str, ...]
    events: tuple[str, ...]
    rules: tuple[str, ...]
    reason: str


@dataclass(frozen=True, kw_only=True)
class Watched:
    """What the monitors of ``check=True`` hold a protocol to.

    Attributes
    ----------
    promise : str
        What a load may return: ``"NOTHING"`` (any value), ``"FRESH"``, ``"LEASED"``, ``"LOGICAL"``, ``"HELD"`` or
        ``"ACQUIRED"``.
    copies, banks, leases : bool
        Whether the monitors compare copies in L1s, lines in banks, and leases.
    """

    promise: str
    copies: bool
    banks: bool
    leases: bool


def _tables(controllers: Iterable[Mapping[str, Any]]) -> dict[str, Table]:
    tables = (table for controller in controllers for table in controller["tables"])
    return {table["name"]: Table.from_json(table) for table in tables}


@dataclass(frozen=True, kw_only=True, repr=False)
class Protocol:
    """One coherence protocol.

    Attributes
    ----------
    id, name, paper, family : str
        The id, the full name, the paper, the family of tables.
    models : dict
        Consistency rule -> the promised memory model (``none``: no promise).
    gpus_model : str or None
        The model promised between GPUs, where it is a weaker one.
    default_rule : str
        The paper's consistency rule for the protocol.
    controllers : dict
        ``"L1"``, ``"L2"``, ``"L1.store_buffer"`` .. -> :class:`Table`.
    options : dict
        Name -> :class:`Option`.
    keeps_time : bool
        Whether its messages and lines carry timestamps of the machine's ``timestamp_bits``.
    dies : int
        Dies of the machines on which the explorer and the random tester run it.
    gpus : int
        GPUs of the same.
    scopes : bool
        Whether it distinguishes scopes; else an access of scope cta is as one of scope gpu.
    release_travels : bool
        Whether what its releases wait for goes beyond the L2 by itself: ``fence_trip`` adds nothing to them.
    weak_outcomes : tuple of str
        Litmus tests whose weak state it allows and its runs must show.
    variations : tuple of str
        Options that tests run beside the defaults, as they are written in brackets.
    uncovered : tuple of Uncovered
        Cells of its tables that no program enters.
    watched : Watched or None
        What the monitors hold it to; None: nothing.
    json : dict
        The core's description, unchanged.
    """

    id: str
    name: str
    paper: str
    family: str
    models: Mapping[str, str]
    gpus_model: str | None
    default_rule: str
    controllers: Mapping[str, Table]
    options: Mapping[str, Option]
    keeps_time: bool
    dies: int
    gpus: int
    scopes: bool
    release_travels: bool
    weak_outcomes: tuple[str, ...]
    variations: tuple[str, ...]
    uncovered: tuple[Uncovered, ...]
    watched: Watched | None
    json: Mapping[str, Any] = field(repr=False)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Protocol:
        """Make a protocol from the core's ``describe_protocol``."""
        with reading("data is not a protocol's description"):
            return cls._read(data)

    @classmethod
    def _read(cls, data: Mapping[str, Any]) -> Protocol:
        models = dict(data["models"])
        declared = data["declared"]
        return cls(
            id=data["id"],
            name=data["name"],
            paper=data["paper"],
            family=data["family"],
            models=models,
            gpus_model=data.get("gpus_model") or None,
            default_rule=str(data["default_consistency"]),
            controllers=_tables(data["controllers"]),
            options={item["name"]: _option(item) for item in data["options"]},
            keeps_time=bool(data["keeps_time"]),
            dies=int(data.get("dies", 1)),
            gpus=int(data.get("gpus", 1)),
            scopes=bool(data["scopes"]),
            release_travels=bool(data["release_travels"]),
            weak_outcomes=tuple(declared["weak_outcomes"]),
            variations=tuple(declared["variations"]),
            uncovered=tuple(_uncovered(item) for item in declared["uncovered"]),
            watched=data["watched"] and Watched(**data["watched"]),
            json=data,
        )

    def __repr__(self) -> str:
        states = ", ".join(
            f"{name} {len(table.states)} states" for name, table in self.controllers.items()
        )
        return markup.shortened(
            f"<gpucoh.Protocol {self.id}: {self.name} ({self.paper}), {states}>"
        )

    def _repr_html_(self) -> str:
        promises = ", ".join(f"{rule}: {model}" for rule, model in self.models.items())
        rows = [("id", self.id), ("paper", self.paper), ("promises", promises)]
        tables = (table._repr_html_() for table in self.controllers.values())
        return markup.table(("", ""), rows, self.name) + "".join(tables)

    @property
    def has_l1(self) -> bool:
        """Whether the controllers at the cores store lines."""
        cores = (item for item in self.json["controllers"] if item["position"] == "core")
        return any(item["arrays"] for item in cores)

    @property
    def splits_pairs(self) -> bool:
        """Whether L1s split an access of 64 bits into its words, so that cores make it one access."""
        return bool(self.json["splits_pairs"])

    @property
    def virtual_networks(self) -> int:
        """Number of virtual networks between cores and banks."""
        return sum(not network["star"] for network in self.json["networks"])

    def with_variations(self) -> list[str]:
        """Its id, and its id with the options of each variation.

        Returns
        -------
        list of str
        """
        return [self.id, *(f"{self.id}[{options}]" for options in self.variations)]

    def model(self, rule: str) -> str:
        """The memory model promised under a consistency rule.

        Raises
        ------
        ConfigError
            If the protocol does not support the rule.
        """
        rule = rule_name(rule)
        if rule not in self.models:
            raise ConfigError(
                f"protocol {quoted(self.id)} does not support consistency {quoted(rule)} "
                f"(allowed: {', '.join(self.models)})"
            )
        return self.models[rule]

    def with_options(self, options: Mapping[str, int]) -> Protocol:
        """The protocol with the tables, messages and networks that option values select; the defaults select its own.

        Parameters
        ----------
        options : mapping of str to int
            Option -> value, as in :attr:`Choice.options`.

        Returns
        -------
        Protocol
        """
        instead = self.json.get("instead")
        if instead and options.get(instead["option"]) == instead["value"]:
            described = {name: instead[name] for name in ("networks", "messages", "controllers")}
            json = {**self.json, **described, "instead": None}
            other = replace(self, controllers=_tables(instead["controllers"]), json=json)
            return other.with_options(options)
        tables = {
            variant["table"]["name"]: Table.from_json(variant["table"])
            for controller in self.json["controllers"]
            for variant in controller.get("variants", ())
            if options.get(variant["option"]) == variant["value"]
        }
        return replace(self, controllers={**self.controllers, **tables}) if tables else self

    def to_dict(self) -> dict[str, Any]:
        """The protocol as ``gpucoh protocols --json`` prints it."""
        return {
            "id": self.id,
            "name": self.name,
            "paper": self.paper,
            "family": self.family,
            "models": dict(self.models),
            "gpus_model": self.gpus_model,
            "default_consistency": self.default_rule,
            "options": list(self.json["options"]),
            "keeps_time": self.keeps_time,
            "dies": self.dies,
            "gpus": self.gpus,
            "scopes": self.scopes,
            "release_travels": self.release_travels,
            "declared": dict(self.json["declared"]),
            "watched": self.json["watched"],
            "controllers": {name: table.to_dict() for name, table in self.controllers.items()},
        }

    def dot(self) -> str:
        """The state graphs of all tables in Graphviz' DOT language."""
        lines = [
            f'digraph "{self.id}" {{',
            "  rankdir=LR;",
            '  node [shape=ellipse, fontname="Helvetica"];',
        ]
        for number, (name, table) in enumerate(self.controllers.items()):
            lines += [f"  subgraph cluster_{number} {{", f'    label="{name}";']
            for state in table.states:
                shape = ", peripheries=2" if state in table.stable else ""
                lines.append(f'    "{name}.{state}" [label="{state}"{shape}];')
            edges: dict[tuple[str, str], list[str]] = {}
            for cell in table.cells():
                target = cell.next if cell.next in table.states else cell.state
                edges.setdefault((cell.state, target), []).append(cell.event)
            for (start, end), events in edges.items():
                label = "\\n".join(dict.fromkeys(events))
                lines.append(f'    "{name}.{start}" -> "{name}.{end}" [label="{label}"];')
            lines.append("  }")
        return "\n".join([*lines, "}"]) + "\n"


def _option(item: Mapping[str, Any]) -> Option:
    words = str(item["choices"] or "").split()
    return Option(
        name=item["name"],
        smallest=int(item["smallest"]),
        largest=int(item["largest"]),
        default=int(item["default"]),
        text=str(item["text"]),
        words={word: int(item["smallest"]) + number for number, word in enumerate(words)},
        small=item.get("small"),
        fuzz=tuple(item["fuzz"]) if "fuzz" in item else None,
        analysis=item.get("analysis"),
    )


def _uncovered(item: Mapping[str, Any]) -> Uncovered:
    return Uncovered(
        table=item["table"],
        states=tuple(item["states"]),
        events=tuple(item["events"]),
        rules=tuple(item["rules"]),
        reason=item["reason"],
    )


RULES = {"sc": "sc", "rc": "rc", "wo": "rc", "drf": "drf", "hrf": "hrf"}


def rule_name(rule: str) -> str:
    """The canonical name of a consistency rule (``wo`` is an alias of ``rc``).

    Raises
    ------
    ConfigError
        If the rule is unknown.
    """
    if name_of("consistency", rule).lower() not in RULES:
        raise ConfigError(unknown("consistency", rule, RULES))
    return RULES[rule.lower()]
