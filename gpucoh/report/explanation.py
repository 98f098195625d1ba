"""Where the numbers of a run come from: what ``gpucoh run --explain`` tells, as plain data."""

from __future__ import annotations

from typing import Any

from gpucoh.machines import DERIVED, Machine
from gpucoh.protocols import Choice


def derived_numbers(machine: Machine) -> dict[str, dict[str, Any]]:
    """What follows from a machine's fields: name -> value, unit and rule."""
    return {
        name: {"value": value, "unit": DERIVED[name][0], "rule": DERIVED[name][1]}
        for name, value in machine.derived.items()
    }


def explanation(machine: Machine, choice: Choice, asked: str | None) -> dict[str, Any]:
    """How the defaults of a run were derived.

    Parameters
    ----------
    machine : Machine
        The machine of the run, its changes included.
    choice : Choice
        The protocol with the options that were given.
    asked : str or None
        The consistency that was asked for beside the protocol.

    Returns
    -------
    dict
        ``machine``; ``changes`` of its preset's fields; ``sources`` of all fields; ``derived`` numbers with unit
        and rule; ``protocol``; ``consistency`` with whether it was asked for and which ones the protocol keeps;
        ``options`` of the protocol with value, whether it was asked for, what is allowed and what it is.
    """
    return {
        "machine": machine.name,
        "changes": machine.changes,
        "sources": {field: machine.source(field) for field in machine.numbers()},
        "derived": derived_numbers(machine),
        "protocol": choice.text,
        "consistency": {
            "value": choice.rule(asked),
            "asked_for": bool(asked or choice.consistency),
            "kept": list(choice.protocol.models),
        },
        "options": {
            name: {
                "value": option.show(choice.options.get(name, option.default)),
                "asked_for": name in choice.options,
                "allowed": option.allowed(),
                "text": option.text,
            }
            for name, option in choice.protocol.options.items()
        },
    }
