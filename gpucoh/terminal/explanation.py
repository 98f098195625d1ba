"""The origin of a run's numbers: what ``gpucoh run --explain`` prints, as plain data."""

from __future__ import annotations

from typing import Any

from gpucoh.device.choices import Choice
from gpucoh.machines import DERIVED, Machine


def derived_numbers(machine: Machine) -> dict[str, dict[str, Any]]:
    """Numbers that follow from a machine's fields: name -> value, unit and rule."""
    return {
        name: {"value": value, "unit": DERIVED[name][0], "rule": DERIVED[name][1]}
        for name, value in machine.derived.items()
    }


def explanation(machine: Machine, choice: Choice, given: str | None) -> dict[str, Any]:
    """How the defaults of a run were derived.

    Parameters
    ----------
    machine : Machine
        The machine of the run, with its changes.
    choice : Choice
        The protocol with its given options.
    given : str or None
        The consistency rule that was given besides the protocol.

    Returns
    -------
    dict
        ``machine``; ``changes`` from its preset; ``sources`` of all fields; ``derived`` numbers with unit and rule;
        ``protocol``; ``consistency`` with ``asked_for`` (whether it was given) and ``kept`` (the supported rules);
        ``options`` of the protocol with value, ``asked_for``, allowed values and description.
    """
    return {
        "machine": machine.name,
        "changes": machine.changes,
        "sources": {field: machine.source(field) for field in machine.numbers()},
        "derived": derived_numbers(machine),
        "protocol": choice.text,
        "consistency": {
            "value": choice.rule(given),
            "asked_for": bool(given or choice.consistency),
            "kept": list(choice.protocol.models),
        },
        "options": {
            name: {
                "value": option.word(choice.options.get(name, option.default)),
                "asked_for": name in choice.options,
                "allowed": option.allowed(),
                "text": option.text,
            }
            for name, option in choice.protocol.options.items()
        },
    }
