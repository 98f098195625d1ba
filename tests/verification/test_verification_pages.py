"""Does `make pages` write the pages of verification, and are the examples of docs/verification.md parts of them?"""

from pathlib import Path

import pytest

from scripts import script

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tool(mutant_gpucoh):
    return script("tools/verification_pages.py")


@pytest.mark.parametrize(
    "part",
    [
        "planted bug",
        "literal reading",
        pytest.param("explored states", marks=pytest.mark.long),
    ],
)
def test_an_example_of_the_page_is_what_the_command_writes(tool, part):
    shown = tool.generated.part_of(tool.PAGE, part)
    made = tool.EXAMPLES[part]()
    assert shown == made + "\n", "run `python tools/verification_pages.py`"


def test_the_command_writes_a_page_of_each_kind(tool, tmp_path):
    tool.main([str(tmp_path), tool.READING, tool.PROTOCOL, "--states", "500"])
    pages = {page.stem: page.read_text(encoding="utf-8") for page in tmp_path.iterdir()}
    assert pages.keys() == tool.INTRODUCTIONS.keys()
    assert tool.drawings([tool.READING]) in pages["literal-readings"]
    assert f"| `{tool.READING}` |" in pages["planted-bugs"]
    assert pages["explored-states"].count(f"| `{tool.PROTOCOL}` |") == 2


def test_an_unknown_id_is_refused_in_one_line(tool, tmp_path):
    with pytest.raises(SystemExit, match=r"^no-l2: neither a planted bug nor a protocol$"):
        tool.main([str(tmp_path), "no-l2"])
