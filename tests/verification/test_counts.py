"""Do tables and papers agree? ``csrc/protocols/*/counts.toml`` has the states and transitions of every table."""

import tomllib
from pathlib import Path

import gpucoh
from registered import ALL

FILES = sorted((Path(__file__).parents[2] / "csrc" / "protocols").glob("*/counts.toml"))
KINDS = ("stable", "transient_cache", "transient_coherence")


def counts(table):
    """States of each kind, without those that the table leaves to a variant; transitions, and hardened ones."""
    entered = {row[0] for row in table["table"]}
    kinds = [state["kind"] for state in table["states"] if state["name"] in entered]
    return [*map(kinds.count, KINDS), table["transitions"], table["hardened"]]


def tables(protocol):
    """The tables of a protocol and their variants: (name, counts)."""
    for controller in protocol.json["controllers"]:
        yield from ((table["name"], counts(table)) for table in controller["tables"])
        for variant in controller["variants"]:
            table = variant["table"]
            yield f"{table['name']}[{variant['option']}]", counts(table)


def test_every_table_has_the_listed_states_and_transitions():
    listed = {}
    for file in FILES:
        listed |= tomllib.loads(file.read_text(encoding="utf-8"))
    known = gpucoh.protocols()
    found = {name: sorted(tables(known[name])) for name in ALL}
    wrong = [name for name in found if found[name] != sorted(listed.get(name, {}).items())]
    lines = [f'"{key}" = {row}' for name in wrong for key, row in found[name]]
    assert not wrong, "\n".join(["other than counts.toml has:", f"{wrong}", *lines])
    assert listed.keys() == found.keys()
