"""The registry, parameters and the comparison with references."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from gpucoh.base.errors import ConfigError
from gpucoh.suite import SCALES, workload, workloads
from gpucoh.suite.base import GROUPS, PAPERS, Parameter, combine, compare
from gpucoh.suite.registered import MODULES
from products import share


def test_an_alias_finds_the_main_id() -> None:
    assert workload("hs").id == "hsp"


def test_each_module_registers_the_names_that_are_listed() -> None:
    found: dict[str, set[str]] = {name: set() for name in MODULES}
    for known in workloads().values():
        found[known.function.__module__.rpartition(".")[2]] |= {known.id, *known.aliases}
    assert found == {name: set(names.split()) for name, names in MODULES.items()}


def test_one_workload_imports_its_own_module_alone() -> None:
    code = (
        "import sys, gpucoh; from gpucoh.suite.registered import MODULES; gpucoh.workload('hs'); "
        "print(*(name for name in MODULES if f'gpucoh.suite.{name}' in sys.modules))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == ["stencils"]


def test_an_unknown_workload_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'reduction'"):
        workload("reducton")


@pytest.mark.parametrize("name", share(workloads(), one_in=8))
def test_descriptions_are_complete_and_plain_data(name: str) -> None:
    described = workload(name)
    assert set(described.group) <= set(GROUPS)
    assert set(described.papers) <= set(PAPERS)
    assert described.needs_coherence or not set(described.group) & set("IGL")
    plain = json.loads(json.dumps(described.to_dict()))
    for parameter in plain["parameters"]:
        assert set(parameter["defaults"]) == set(SCALES)


@pytest.mark.parametrize("name", share(workloads(), one_in=8))
def test_every_default_is_an_allowed_value(name: str) -> None:
    for parameter in workload(name).parameters:
        for scale in SCALES:
            value = parameter.default(scale)
            if not (parameter.kind == "file" and value is None):
                assert parameter.parse(value, name) == value


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"grpah": "x"}, "did you mean 'graph'"),
        ({"levels": "many"}, "levels is 'many'; allowed: a whole number from 1 to 24"),
        ({"levels": 25}, "levels is 25"),
        ({"levels": 8.5}, "levels is 8.5"),
        ({"levels": True}, "levels is True"),
        ({"directed": "perhaps"}, "on or off"),
        ({"generator": "ring"}, "one of kronecker, grid"),
        ({"source": 512}, "source is 512; allowed: -1 to 511"),
        ({"graph": "no/such.mtx"}, "no/such.mtx: no such file"),
        ({"graph": "g.mtx", "levels": 5}, "allowed: levels or graph=g.mtx, not both"),
    ],
)
def test_bad_parameters_are_refused_with_what_is_allowed(
    params: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        workload("bfs").prepare("tiny", 0, params)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unknown_scale_and_bad_seed_are_refused() -> None:
    with pytest.raises(ConfigError, match="allowed: tiny, small, paper"):
        workload("bfs").prepare("huge")
    with pytest.raises(ConfigError, match="seed = -1"):
        workload("bfs").prepare("tiny", -1)


def test_values_from_a_command_line_are_parsed() -> None:
    setting = workload("bfs").setting(
        "tiny", 0, {"levels": "5", "directed": "on", "generator": "grid"}
    )
    given = [setting.params[name] for name in ("levels", "directed", "generator")]
    assert given == [5, True, "grid"]


def test_a_real_parameter_refuses_what_is_not_finite() -> None:
    parameter = Parameter(name="skew", kind="float", text="", defaults=1.0, minimum=0)
    assert parameter.parse("0.5", "w") == 0.5
    for bad in ("nan", "inf", "-1", ""):
        with pytest.raises(ConfigError):
            parameter.parse(bad, "w")


def test_compare_names_the_first_wrong_word() -> None:
    outcome = compare("grid", np.array([[1, 2], [3, 5]]), np.array([[1, 2], [3, 4]]))
    assert not outcome.correct
    assert outcome.mismatches == 1
    assert outcome.where == "grid[1, 1] is 5, expected 4 (1 of 4 words differ)"


def test_compare_never_takes_nan_for_right() -> None:
    got = np.array([1.0, np.nan], np.float32)
    assert compare("x", got, got).mismatches == 1
    assert compare("x", got, np.array([1.0, 1.0]), tolerance=0.5).mismatches == 1


def test_compare_with_tolerance_is_relative() -> None:
    assert compare("x", np.array([1001.0]), np.array([1000.0]), tolerance=1e-2).correct
    assert not compare("x", np.array([1.1]), np.array([1.0]), tolerance=1e-2).correct


def test_combine_tells_the_first_wrong_place() -> None:
    right, wrong = compare("a", [1], [1]), compare("b", [1, 2], [3, 4])
    both = combine(right, wrong, wrong)
    assert not both.correct
    assert both.mismatches == 4
    assert both.where.startswith("b[0]")
