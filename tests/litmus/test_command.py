"""Does gpucoh litmus print what it promises, and end with the documented status 0, 1 or 2?"""

import functools
import json

import pytest

import gpucoh
from gpucoh.litmus import builtin, runner
from gpucoh.litmus.verdict import Verdicts
from products import rows

GOOD = "PTX good\n{ x=0; }\n P0@cta 0,gpu 0 ;\n st.weak x, 1 ;\nexists (x == 1)\n"
TEXTURE = "PTX texture\n{ x=0; }\n P0@cta 0,gpu 0 ;\n tld.weak r0, x ;\nexists (x == 1)\n"
KEYS = {
    "test", "file", "protocol", "consistency", "model", "status", "reason", "runs", "outcomes", "condition",
    "observed", "allowed", "ok",
}  # fmt: skip


@pytest.fixture
def cli(cli, tmp_path):
    """Carry out gpucoh litmus in a folder with some files: (status, standard output, standard error)."""
    (tmp_path / "good.litmus").write_text(GOOD)
    (tmp_path / "texture.litmus").write_text(TEXTURE)
    (tmp_path / "garbage.litmus").write_bytes(b"\x00\xff garbage {{{")
    (tmp_path / "empty").mkdir()
    return functools.partial(cli, "litmus")


def test_json_has_every_field_of_every_test_and_protocol(cli):
    status, out, err = cli("MP", "SB", "-p", "mesi,no-coh", "--runs", "40", "--json")
    results = json.loads(out)
    assert (status, err) == (0, "")
    assert [(item["test"], item["protocol"]) for item in results] == [
        ("MP", "mesi"), ("MP", "no-coh"), ("SB", "mesi"), ("SB", "no-coh"),
    ]  # fmt: skip
    for item in results:
        assert set(item) >= KEYS
        assert item["status"] == "ran"
        assert sum(outcome["count"] for outcome in item["outcomes"]) == item["runs"] == 40


def test_protocol_is_the_id_as_asked_for_and_the_rule_may_stand_in_brackets(cli):
    _, out, _ = cli("SB", "-p", "tc-strong[lifetime=99,consistency=sc]", "--runs", "20", "--json")
    item = json.loads(out)[0]
    assert item["protocol"] == "tc-strong[lifetime=99,consistency=sc]"
    assert (item["consistency"], item["model"], item["allowed"]) == ("sc", "SC", False)


def test_all_means_every_protocol_that_keeps_the_rule(cli):
    _, out, _ = cli("MP", "-p", "all", "-c", "sc", "--runs", "10", "--json")
    names = [item["protocol"] for item in json.loads(out)]
    assert names == [name for name, known in gpucoh.protocols().items() if "sc" in known.models]
    assert "tc-weak" not in names


def test_what_is_not_modelled_does_not_void_the_other_files(cli, tmp_path):
    status, out, _ = cli(tmp_path, "--runs", "10", "--json")
    found = {item["test"]: item for item in json.loads(out)}
    assert status == 0
    assert found["good"]["status"] == "ran"
    assert found["texture"]["status"] == found["garbage"]["status"] == "unsupported"
    assert found["texture"]["reason"].startswith("line 4: ")
    assert found["texture"]["ok"]


@pytest.mark.parametrize("names", [["texture.litmus"], ["garbage.litmus", "none.litmus"], ["MPP"]])
def test_nothing_but_unreadable_files_is_bad_input(cli, names):
    status, out, err = cli(*names, "--json")
    assert status == 2
    assert err.count("\n") == 1
    assert all(item["status"] == "unsupported" for item in json.loads(out))


def test_an_unknown_name_says_what_is_near(cli):
    assert "did you mean 'MP+rel+acq'" in cli("MP+rel+acqq")[2]


@pytest.mark.parametrize(
    ("arguments", "what"),
    rows(
        [
            (("-p", "mesy"), "unknown protocol 'mesy'"),
            (("-p", "tc-weak", "-c", "sc"), "does not support consistency 'sc'"),
            (("-m", "femi"), "unknown machine"),
            (("--runs", "0"), "runs = 0"),
            (("--seed", "-1"), "seed = -1"),
            (("--jobs", "0"), "jobs = 0"),
            (("-p", ","), "no protocol"),
            (("empty",), "holds no .litmus file"),
            (("--runs", "x"), "--runs"),
        ],
        one_in=4,
    ),
)
def test_bad_input_is_one_plain_line(refused, arguments, what):
    given = arguments if arguments == ("empty",) else ("SB", *arguments)
    assert what in refused(*given)


def test_few_results_are_histograms_many_a_table(cli):
    _, out, _ = cli("SB", "-p", "mesi", "--runs", "200")
    assert "P0:r0=0; P1:r0=1" in out
    assert "exists (P0:r0 == 0 /\\ P1:r0 == 0)" in out
    assert "allowed by RC-MCA" in out
    _, out, _ = cli("SB", "MP", "-p", "all", "--runs", "5")
    assert "observed" in out
    assert f"{2 * len(gpucoh.protocols())} run, 0 with forbidden outcomes" in out


def test_a_forbidden_outcome_ends_with_1(cli, monkeypatch):
    """A model that forbids every state of one thread's store: what is seen is called forbidden."""

    class Nothing(Verdicts):
        def allows(self, final):
            return False

    monkeypatch.setattr(runner, "verdicts", lambda test, model: Nothing(test, model))
    status, out, _ = cli("good.litmus", "-p", "mesi", "--runs", "5")
    assert status == 1
    assert "forbidden" in out


SPIN = """PTX spin
{ x=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 LC00:          | st.weak x, 1   ;
 ld.weak r0, x  |                ;
 bne r0, %d, LC00 |              ;
exists (x == 1)
"""


@pytest.mark.parametrize(("value", "status"), [(1, 1), (2, 0)])
def test_hung_runs_end_with_1_unless_the_program_can_hang(
    cli, tmp_path, monkeypatch, value, status
):
    """A spin for the value that is stored ends under every model; one for another value does not."""
    (tmp_path / "spin.litmus").write_text(SPIN % value)
    observe = runner.observe

    def hanging(*arguments):
        seen = observe(*arguments)
        seen.hung = max(seen.hung, 3)
        return seen

    monkeypatch.setattr(runner, "observe", hanging)
    ended, out, _ = cli("spin.litmus", "-p", "mesi", "--runs", "20", "--json")
    (result,) = json.loads(out)
    assert (ended, result["ok"]) == (status, status == 0)
    assert result["outcomes"][-1]["state"] == "hang"
    assert result["outcomes"][-1]["allowed"] == (status == 0)


def test_list_tells_every_test(cli):
    status, out, _ = cli("--list", "IRIW+fences", "MP")
    assert status == 0
    assert "IRIW+fences" in out
    assert builtin("IRIW+fences").text in " ".join(out.split())


def test_list_as_json_has_what_is_asked_and_what_cannot_be_read(cli):
    status, out, _ = cli("--list", "MP", "texture.litmus", "--json")
    first, second = json.loads(out)
    assert status == 0
    assert first == {
        "test": "MP",
        "file": "",
        "text": builtin("MP").text,
        "condition": str(builtin("MP").condition),
        "reason": "",
    }
    assert second["test"] == "texture.litmus"
    assert second["reason"].startswith("line 4: ")
    status, out, _ = cli("--list", "MP", "texture.litmus")
    assert "unsupported: line 4: " in " ".join(out.split())


@pytest.mark.parametrize(
    ("arguments", "what"),
    rows(
        [
            (
                ("--list", "xyz"),
                "'xyz' is neither a built-in litmus test nor a file; gpucoh litmus --list",
            ),
            (("--list", "none.litmus", "--json"), "none.litmus: No such file"),
            (("",), "a test's name is empty"),
            (("--list", "MP", ""), "a test's name is empty"),
        ],
        one_in=4,
    ),
)
def test_a_list_of_nothing_and_an_empty_name_are_refused(refused, arguments, what):
    assert what in refused(*arguments)


def test_help_teaches(cli):
    status, out, _ = cli("--help")
    assert status == 0
    for word in ("observed", "allowed", "ok", "gpucoh litmus -p all"):
        assert word in out


def test_a_suite_takes_patterns_and_another_model_judges(cli):
    status, out, _ = cli("--suite", "hardware", "wrc.012.cta.*acq+acq", "--model", "ptx", "--runs", "40",
                         "--json")  # fmt: skip
    assert (status, [item["model"] for item in json.loads(out)]) == (0, ["PTX"])
    for arguments, said in (
        (("--suite", "hard"), "'hard'"),
        (("--suite", "hardware", "zz*"), "matches 'zz*'"),
        (("SB", "--model", "tso"), "PTX-strong"),
    ):
        status, _, err = cli(*arguments)
        assert (status, said in err, err.count("\n")) == (2, True, 1)


def test_the_order_of_the_models_names_tests_that_tell(cli):
    status, out, _ = cli("SB", "CoRR", "--models", "--json")
    pairs = {(row["model"], row["other"]): row for row in json.loads(out)["pairs"]}
    assert (status, pairs["SC", "RC-MCA"]["only_model_forbids"]) == (0, ["SB"])


def test_two_tests_of_one_name_are_told_apart_by_their_paths(cli, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "T.litmus").write_text(GOOD)
    status, out, _ = cli("a", "b", "good.litmus", "-p", "mesi", "--runs", "5", "--json")
    assert status == 0
    assert [(item["test"], item["file"]) for item in json.loads(out)] == [
        ("T", "a/T.litmus"), ("T", "b/T.litmus"), ("good", "good.litmus"),
    ]  # fmt: skip
    for protocols in ("mesi", "all"):  # histograms, a table
        _, out, _ = cli("a", "b", "good.litmus", "-p", protocols, "--runs", "5")
        assert "a/T.litmus" in out
        assert "b/T.litmus" in out
        assert "good.litmus" not in out


EXISTS = "PTX t\n{{ x=0; }}\n P0@cta 0,gpu 0 ;\n st.weak x, 1 ;\n{} (x == {})\n"


@pytest.fixture
def suite(cli, tmp_path):
    """Carry out --expected on a folder with three tests and the given verdicts."""
    folder = tmp_path / "suite"
    (folder / "sub").mkdir(parents=True)
    for name, clause, value in (
        ("exists", "exists", 1), ("never", "~exists", 2), ("sub/forall", "forall", 1),
    ):  # fmt: skip
        (folder / f"{name}.litmus").write_text(EXISTS.format(clause, value))
    (folder / "texture.litmus").write_text(TEXTURE)

    def carry_out(verdicts, *arguments):
        (folder / "expected.csv").write_text(verdicts)
        return cli(folder, "--expected", *arguments)

    return carry_out


RIGHT = "exists.litmus,1\nnever.litmus,1\nsub/forall.litmus,1\n"


def test_verdicts_that_agree_end_with_0(suite):
    status, out, err = suite("\ufeff" + RIGHT)
    assert (status, err) == (0, "")
    assert out == "PTX: 3 agree, 0 differ, 1 without a line in expected.csv\n"


def test_verdicts_that_differ_are_listed_with_their_path_and_end_with_1(suite):
    status, out, _ = suite(RIGHT.replace("1", "0"), "--json")
    found = json.loads(out)
    assert (status, found["model"], found["agree"]) == (1, "PTX", [])
    assert found["differ"][2] == {"file": "sub/forall.litmus", "expected": 0, "found": 1}
    status, out, _ = suite("exists.litmus,1\nsub/forall.litmus,0\n", "--model", "sc")
    assert status == 1
    assert "sub/forall.litmus" in out
    assert "SC: 1 agree, 1 differ" in out


def test_unsupported_and_missing_tests_of_a_suite_are_counted_apart(suite):
    status, out, _ = suite(RIGHT + "texture.litmus,1\n")
    assert (status, out) == (0, "PTX: 3 agree, 0 differ, 1 unsupported\n")
    status, out, _ = suite(RIGHT + "gone.litmus,1\n")
    assert status == 1
    assert "gone.litmus" in out
    assert "1 missing" in out
    status, _, err = suite("texture.litmus,1\n")
    assert (status, err.count("\n")) == (2, 1)


def test_an_empty_verdict_is_not_compared(suite):
    assert suite(RIGHT + "texture.litmus,\n")[:2] == (
        0, "PTX: 3 agree, 0 differ, 1 without a line in expected.csv\n",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("verdicts", "what"),
    rows(
        [
            ("exists.litmus,1\nnever.litmus,2\n", "expected.csv:2: 'never.litmus,2' is not a line"),
            ("exists.litmus\n", "expected.csv:1:"),
            ("exists.litmus,1\nexists.litmus,0\n", "expected.csv:2: 'exists.litmus' has a verdict"),
            ('"exists.litmus', "expected.csv:1:"),
        ],
        one_in=4,
    ),
)
def test_an_unreadable_line_of_expected_verdicts_ends_with_2(suite, verdicts, what):
    status, out, err = suite(verdicts)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert what in err


@pytest.mark.parametrize(
    ("arguments", "what"),
    rows(
        [
            (("--expected",), "takes one folder"),
            (("--expected", "good.litmus"), "takes one folder"),
            (("--expected", "empty"), "expected.csv: No such file"),
            (("--expected", "empty", "-p", "mesi"), "leave --protocol out"),
        ],
        one_in=4,
    ),
)
def test_expected_takes_one_folder_and_no_protocol(refused, arguments, what):
    assert what in refused(*arguments)


@pytest.mark.parametrize(("cores", "says"), [(16, ""), (4, "dies = 8 does not divide cores = 4")])
def test_a_machine_of_more_dies_than_cores_of_a_test_runs_or_is_one_line(
    cli, tmp_path, cores, says
):
    """Tests run on at most 6 cores: each die has one at least."""
    file = tmp_path / "eight.toml"
    file.write_text(f'name = "eight"\nbase = "fermi"\ncores = {cores}\ndies = 8\npage_kib = 1\n')
    status, out, err = cli("MP", "-p", "mesi", "-m", str(file), "--runs", "40")
    assert (status, "Ok" in out) == ((2, False) if says else (0, True))
    assert says in err
    assert err.count("\n") == (1 if says else 0)
