"""Are arguments of a wrong kind rejected by name, before they cause an error deep inside?"""

import numpy as np
import pytest

import gpucoh
from products import share

NO_NAMES = [None, 3, 1.5, b"ideal", [], {}, np.int64(3), object()]


def refusal(function, *arguments, **named):
    with pytest.raises(gpucoh.ConfigError) as error:
        function(*arguments, **named)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("value", share(NO_NAMES, one_in=4))
def test_what_is_no_name_names_nothing(value):
    assert "machine" in refusal(gpucoh.machine, value)
    assert "machine" in refusal(gpucoh.GPU, machine=value)
    assert "protocol" in refusal(gpucoh.GPU, protocol=value)
    assert "protocol" in refusal(gpucoh.run, "vec-cpy", protocol=value)
    assert "scale" in refusal(gpucoh.run, "vec-cpy", protocol="ideal", scale=value)
    if value is not None:  # the default
        assert "workload" in refusal(gpucoh.workload, value)
        assert "consistency" in refusal(gpucoh.GPU, protocol="ideal", consistency=value)


@pytest.mark.parametrize(
    ("field", "value"),
    share(["params", "set"], [3, "words=3", b"x", [("words", 3)], {3: 4}], one_in=4),
)
def test_what_is_no_dictionary_of_names_is_refused(field, value):
    assert field in refusal(gpucoh.run, "vec-cpy", protocol="ideal", scale="tiny", **{field: value})


@pytest.mark.parametrize("value", [None, 3, object()])
def test_what_is_no_list_of_names_is_refused(value):
    assert "workloads" in refusal(gpucoh.compare, value, ["ideal"])
    assert "protocols" in refusal(gpucoh.compare, ["vec-cpy"], value)
    assert "protocols" in refusal(gpucoh.compare, ["vec-cpy"], ["ideal", value])


@pytest.mark.parametrize(
    "runs", share([None, 3, "bfs", {"workload": "bfs"}, [3], ["bfs"], [None]], one_in=4)
)
def test_what_is_no_list_of_runs_is_refused(runs):
    refusal(gpucoh.sweep, runs)


def test_what_is_no_executor_is_refused():
    assert "executor" in refusal(gpucoh.sweep, [{"workload": "vec-cpy"}], 4)


@pytest.mark.parametrize(
    "value",
    share(
        ["2.0", "2.", "1_0", "\N{ARABIC-INDIC DIGIT THREE}", "0x2", "", "2.5", 2.5, 1j], one_in=4
    ),
)
def test_text_that_is_no_whole_number_is_refused(value):
    bfs = gpucoh.workload("bfs")
    assert "levels" in refusal(bfs.setting, "tiny", params={"levels": value})
    assert "cores" in refusal(gpucoh.machine("fermi").replace, cores=value)
    assert "budget" in refusal(gpucoh.run, "vec-cpy", scale="tiny", set={"budget": value})


@pytest.mark.parametrize(
    "value", share([9, 9.0, np.int32(9), np.float64(9), "9", " 9 ", "+9", "0.9e1", "9e0"], one_in=4)
)
def test_a_whole_number_is_read_in_every_form(value):
    assert gpucoh.workload("bfs").setting("tiny", params={"levels": value}).params["levels"] == 9
    assert gpucoh.machine("fermi").replace(cores=value).cores == 9


@pytest.mark.parametrize(
    "value",
    share(["1_0", "\N{ARABIC-INDIC DIGIT THREE}", "nan", "x", None, [], object()], one_in=4),
)
def test_text_that_is_no_number_is_refused(value):
    rg = gpucoh.workload("rg")
    if value is not None:  # the default
        assert "sigma" in refusal(rg.setting, "tiny", params={"sigma": value})


BAD = [
    None,
    True,
    3,
    1.5,
    float("nan"),
    1j,
    b"x",
    [],
    {},
    set(),
    object(),
    np.zeros(2),
    "\ud800",
    "\0",
    10**400,
]


@pytest.mark.parametrize(
    ("field", "value"),
    share(["name", "scheduler", "placement", "l1_kib", "core_mhz", "cores"], BAD, one_in=8),
)
def test_a_bad_value_of_a_field_names_the_field(field, value):
    if field in ("cores", "core_mhz") and value is BAD[2]:
        return
    if field == "l1_kib" and (value is BAD[2] or value is BAD[3]):
        return  # 6 and 3 sets
    assert field in refusal(gpucoh.machine("fermi").replace, **{field: value})


@pytest.mark.parametrize("value", share(BAD, one_in=4))
def test_what_is_no_check_is_refused(value):
    if value is not True:
        assert "check" in refusal(gpucoh.GPU, check=value)


def test_a_machine_that_cannot_be_written_is_reported(tmp_path):
    assert str(tmp_path) in refusal(gpucoh.machine("fermi").to_toml, tmp_path)


def test_a_machine_of_any_name_is_written_and_read_back(tmp_path):
    odd = gpucoh.machine("fermi").replace(name='a "b" \\ c\N{SNOWMAN}', cores=3)
    odd.to_toml(tmp_path / "odd.toml")
    assert gpucoh.Machine.from_toml(tmp_path / "odd.toml") == odd
