"""Are arguments of a wrong kind rejected by name, before they cause an error deep inside?"""

import numpy as np
import pytest

import gpucoh

NO_NAMES = [None, 3, 1.5, b"ideal", [], {}, np.int64(3), object()]


def refusal(function, *arguments, **named):
    with pytest.raises(gpucoh.ConfigError) as error:
        function(*arguments, **named)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("value", NO_NAMES)
def test_what_is_no_name_names_nothing(value):
    assert "machine" in refusal(gpucoh.machine, value)
    assert "machine" in refusal(gpucoh.GPU, machine=value)
    assert "protocol" in refusal(gpucoh.GPU, protocol=value)
    assert "protocol" in refusal(gpucoh.run, "vec-cpy", protocol=value)
    assert "scale" in refusal(gpucoh.run, "vec-cpy", protocol="ideal", scale=value)
    if value is not None:  # the default
        assert "workload" in refusal(gpucoh.workload, value)
        assert "consistency" in refusal(gpucoh.GPU, protocol="ideal", consistency=value)


@pytest.mark.parametrize("value", [3, "words=3", b"x", [("words", 3)], {3: 4}])
@pytest.mark.parametrize("field", ["params", "set"])
def test_what_is_no_dictionary_of_names_is_refused(field, value):
    assert field in refusal(gpucoh.run, "vec-cpy", protocol="ideal", scale="tiny", **{field: value})


@pytest.mark.parametrize("value", [None, 3, object()])
def test_what_is_no_list_of_names_is_refused(value):
    assert "workloads" in refusal(gpucoh.compare, value, ["ideal"])
    assert "protocols" in refusal(gpucoh.compare, ["vec-cpy"], value)
    assert "protocols" in refusal(gpucoh.compare, ["vec-cpy"], ["ideal", value])


@pytest.mark.parametrize("runs", [None, 3, "bfs", {"workload": "bfs"}, [3], ["bfs"], [None]])
def test_what_is_no_list_of_runs_is_refused(runs):
    refusal(gpucoh.sweep, runs)


def test_what_is_no_executor_is_refused():
    assert "executor" in refusal(gpucoh.sweep, [{"workload": "vec-cpy"}], 4)


def test_a_machine_that_cannot_be_written_is_reported(tmp_path):
    assert str(tmp_path) in refusal(gpucoh.machine("fermi").to_toml, tmp_path)


def test_a_machine_of_any_name_is_written_and_read_back(tmp_path):
    odd = gpucoh.machine("fermi").replace(name='a "b" \\ c\N{SNOWMAN}', cores=3)
    odd.to_toml(tmp_path / "odd.toml")
    assert gpucoh.Machine.from_toml(tmp_path / "odd.toml") == odd
