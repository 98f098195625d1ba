"""Do the models allow every test of the package what its .expected file says?"""

from pathlib import Path

import pytest

import gpucoh
from gpucoh.litmus import load, parse
from gpucoh.litmus.expected import expected
from products import share

PACKAGE = Path(gpucoh.__file__).parent
# Those whose executions take seconds to enumerate are long.
SLOW = {"CoRR+merged", "lock+three", "ticket-lock", "RMW+red"}
FILES = [
    pytest.param(file, marks=pytest.mark.long) if file.stem in SLOW else file
    for file in sorted(PACKAGE.rglob("*.litmus"))
]


@pytest.mark.parametrize(
    "file", share(FILES, one_in=8), ids=lambda file: f"{file.parent.name}/{file.stem}"
)
def test_the_models_allow_what_is_expected(file):
    """If the models are meant to have changed: tools/promote_litmus.py writes the files."""
    assert expected(load(file)) == file.with_suffix(".expected").read_text(encoding="utf-8")


def test_no_expected_file_is_left_over():
    assert {file.stem for file in PACKAGE.rglob("*.expected")} == {
        file.stem for file in PACKAGE.rglob("*.litmus")
    }


def test_the_text_names_models_for_condition_hang_race_and_states():
    text = (
        "PTX one\n{ x=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n st.weak x, 1 | ld.weak r0, x ;\n"
    )
    assert expected(parse(text + "exists (P1:r0 == 0)", "one")).splitlines() == [
        "exists (P1:r0 == 0): SC RC-MCA WO RCsc RCc RCpc",
        "hang:",
        "race: DRF-SC HRF-indirect",
        "P1:r0=0; x=1: SC RC-MCA WO RCsc RCc RCpc",
        "P1:r0=1; x=1: SC RC-MCA WO RCsc RCc RCpc",
    ]
