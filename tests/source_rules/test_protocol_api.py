"""Does the extension export what the headers mark for protocols outside the tree, and does each have a description?"""

import shutil
import subprocess
from pathlib import Path

import pytest

import gpucoh._core
from scripts import script

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tool():
    return script("tools/protocol_api.py")


@pytest.mark.skipif(not shutil.which("nm"), reason="nm lists what a library exports")
def test_the_extension_exports_what_is_marked_and_nothing_else(tool):
    command = ["nm", "-D", "--defined-only", "--format=posix", gpucoh._core.__file__]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    exported = [line.split()[0] for line in done.stdout.splitlines()]
    assert sorted(exported) == sorted(["PyInit__core", *(one.name for one in tool.marked())])


def test_everything_marked_is_described(tool):
    assert [one.name for one in tool.marked() if not one.text] == []


def test_the_page_has_every_declaration_once(tool):
    lines = tool.page().splitlines()
    for one in tool.marked():
        assert lines.count(f"| `{one.signature}` | {one.text} |") == 1, one.name


def test_a_header_is_read(tool, tmp_path, monkeypatch):
    monkeypatch.setattr(tool, "CSRC", tmp_path)
    header = tmp_path / "one.h"
    header.write_text(
        """/* Returns the
 * first. */
GPC_API GPC_MUST_CHECK int gpc_first(gpc_step_t *x,
                                     int y);
GPC_API int gpc_second(void);

int gpc_hidden(void);
GPC_API int gpc_bare(void);
GPC_API extern const gpc_table_t gpc_behind; /* a table */
GPC_API_ACTION(act_one);
"""
    )
    assert [(one.signature, one.text) for one in tool.marked_in(header, {"act_one": "does"})] == [
        ("int gpc_first(gpc_step_t *x, int y)", "Returns the first."),
        ("int gpc_second(void)", "Returns the first."),
        ("int gpc_bare(void)", ""),
        ("extern const gpc_table_t gpc_behind", "A table"),
        ("act_one", "does"),
    ]
