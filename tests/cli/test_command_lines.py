"""Does every documented option of the commands with many runs work in the command that make writes?"""

import pytest
import typer

from gpucoh.cli.application import application
from scripts import script

tool = script("tools/command_lines.py")


@pytest.mark.parametrize("command", tool.LINES)
def test_every_option_has_a_line(command):
    parameters = typer.main.get_command(application()).commands[command].params
    documented = [
        item for item in parameters if item.param_type_name == "option" and not item.hidden
    ]
    missing = [item.opts for item in documented if not tool.used(command) & set(item.opts)]
    assert missing == []


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("command", tool.LINES)
@pytest.mark.filterwarnings("ignore")
def test_every_line_runs(command):
    """The command lacked a guard of __main__, without which each process of a study runs it again."""
    with tool.folder() as where, tool.scheduler() as available:
        for line in tool.LINES[command]:
            if (one := tool.ready(line, available)) is not None:
                assert tool.failure(one, where) == ""
