"""Models for other checkers: do they contain the tables, and refuse what they cannot express?"""

import ast
import re

import pytest

import gpucoh
from gpucoh.base.errors import ConfigError
from gpucoh.export.bounded import bounded, exportable
from gpucoh.export.exporting import DEFAULT_PROGRAMS, export, programs_of
from gpucoh.export.syntax import Definitions, ModelError
from gpucoh.verify.explorer import small_choice
from products import share

#: Metadata that only decide which way or message is served first, or count: no part of a state of one line.
NOT_MODELLED = {"STATISTIC"}
#: Fields of options that are off in the model, which refuses other values, and of order points and accesses of 64 bits,
#: which no program of a model has.
OFF = {"rcc-sc": {"polls", "weak_polls"}, "src": {"passed"}, "denovo-drf": {"granted"}}


def model_of(protocol):
    choice = small_choice(protocol)
    return choice.protocol, bounded(choice, choice.rule(None), programs_of(DEFAULT_PROGRAMS), 1)


def texts(function):
    return [ast.unparse(node) for node in ast.walk(function)]


@pytest.mark.parametrize("protocol", share(exportable(), one_in=4))
def test_every_cell_of_the_tables_is_in_the_model(protocol):
    described, model = model_of(protocol)
    for controller in described.json["controllers"]:
        name = controller["name"]
        for state, event, actions, following in controller["tables"][0]["table"]:
            cells = model.definitions.functions[f"{name}_in_{state}"].body[-1].cases
            cell = next(c for c in cells if ast.unparse(c.pattern) == f"{name}_{event}")
            lines = [ast.unparse(item) for item in cell.body]
            if following is not None:
                assert lines[-1] == f"x.next = {name}_{following}"
                called = [line for line in lines if re.match(r"(\w+_)?act_", line)]
                assert len(called) == len([item for item in actions.split(", ") if item])
            else:
                assert lines[-1].startswith("x.status = HELD")


@pytest.mark.parametrize("protocol", share(exportable(), one_in=4))
def test_every_field_of_the_protocol_is_in_the_model(protocol):
    described, model = model_of(protocol)
    records = model.definitions.records
    for controller in described.json["controllers"]:
        for part, record in (("tags", "Line"), ("mshr", "Transaction")):
            for item in controller["metadata"].get(part, ()):
                if item["kind"] not in NOT_MODELLED and item["name"] not in OFF.get(protocol, ()):
                    assert item["name"] in records[record], (controller["name"], item["name"])


@pytest.mark.parametrize(
    ("protocol", "part"),
    [
        ("denovo-drf", "store buffer"),
        ("gpu-drf", "store buffer"),
        ("src", "coalescing buffer"),
    ],
)
def test_every_cell_and_field_of_a_part_is_in_the_model(protocol, part):
    described, model = model_of(protocol)
    controller = described.json["controllers"][0]
    table = controller["tables"][1]
    name = table["name"].replace(".", "_")
    for state, event, _, following in table["table"]:
        cells = model.definitions.functions[f"{name}_on_{event}"].body[-1].cases
        cell = next(c for c in cells if ast.unparse(c.pattern) == f"{name}_{state}")
        last = f"enter(x, {name}_{following})" if following else "HELD_LINE"
        assert last in ast.unparse(cell.body[-1])
    for item in controller["metadata"][part]:
        if item["kind"] not in NOT_MODELLED:
            assert item["name"] in model.definitions.records["Entry"]


@pytest.mark.parametrize("protocol", share(exportable(), one_in=4))
def test_a_model_bears_the_texts_of_the_actions(protocol):
    text = export(protocol, programs=["ld x | st x 1"], evictions=0).text
    described = gpucoh.protocols()[protocol]
    for controller in described.json["controllers"]:
        for action in controller["tables"][0]["actions"]:
            assert re.search(rf"procedure (\w+_)?act_{action['name']}\(var x: Step\);", text)
    assert '"the memory model allows the values"' in text


def test_an_option_without_a_model_is_refused(monkeypatch):
    monkeypatch.setattr("gpucoh.export.bounded.text_of", lambda name: name)
    monkeypatch.setattr(Definitions, "read", lambda self, name: None)
    with pytest.raises(ConfigError, match="option clean_put = 0 has no model"):
        bounded(small_choice("mesi[clean_put=header]"), "rc", programs_of(["ld x | st x 1"]), 0)


def test_a_model_says_what_gpucoh_counts():
    found = export("gpu-vi", programs=["ld x | st x 1"], evictions=0)
    assert [item.states for item in found.counted] == [34]
    assert "--   0: ld x | 1: st x 1: 34" in found.text


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"protocol": "stc-es"}, "protocol stc-es has no model for other checkers"),
        ({"programs": ["ld y | ld x"]}, "must use one variable"),
        ({"programs": ["ld x"]}, "one thread on each of 2 cores"),
        ({"programs": ["ld.acquire x | st x 1"]}, "must be ld x, st x N or add x N"),
        ({"programs": ["st.b64 x 1 | ld.b64 x"]}, "must be ld x, st x N or add x N"),
        ({"programs": ["st x+0 1 | ld x"]}, "must be ld x, st x N or add x N"),
        ({"programs": ["load x | st x 1"]}, "no program"),
        ({"evictions": 9}, "must be from 0 to 3"),
    ],
)
def test_what_has_no_model_is_refused_in_one_line(arguments, named):
    with pytest.raises(ConfigError, match=re.escape(named)) as caught:
        export(**{"protocol": "gpu-vi", **arguments})
    assert "\n" not in str(caught.value)


def test_an_action_without_a_model_is_named(monkeypatch):
    read = Definitions.read

    def without(self, name):
        read(self, name)
        self.functions.pop("act_recall", None)

    monkeypatch.setattr(Definitions, "read", without)
    with pytest.raises(ConfigError, match="no model of L2: recall"):
        export("gpu-vi")


def test_a_model_that_calls_what_is_not_there_is_a_fault():
    definitions = Definitions()
    definitions.add(ast.parse("def one(x: Step):\n    two(x)"))
    with pytest.raises(ModelError, match="one calls two"):
        definitions.reachable(iter(["one"]))
