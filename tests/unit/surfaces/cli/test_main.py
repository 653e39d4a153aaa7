"""The grammar of the command line: what every command has in common."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from outlast.kernel.cli.commands import LazyCommand
from outlast.surfaces.cli.main import build_command
from scripts.contract.cli_page import commands

ROOT: Any = build_command()
COMMANDS = dict(commands(ROOT))
OF_THE_SERVER = {"serve", "dev", "worker", "logs", "doctor", "check-config", "migrate", "backup", "restore", "verify"}
ALONE = OF_THE_SERVER | {"rebuild-search", "login", "logout", "status", "version"}


def _parse(line: str) -> Any:
    """The command that a line names, its arguments checked and nothing run."""
    group, *words = shlex.split(line)[1:]
    context: Any = ROOT.get_command(None, group).make_context(group, list(words), resilient_parsing=False)
    while (rest := [*context._protected_args, *context.args]) and hasattr(context.command, "commands"):
        name, command, rest = context.command.resolve_command(context, rest)
        context = command.make_context(name, rest, parent=context)
    return context.command


def test_a_command_is_a_plural_noun_with_a_verb_or_a_verb_alone() -> None:
    nouns = {path.split()[1] for path in COMMANDS if len(path.split()) == 3}
    assert {path.split()[1] for path in COMMANDS if len(path.split()) == 2} == ALONE
    assert [noun for noun in nouns if not noun.endswith("s")] == ["mcp"]  # a protocol, as other programs name it
    assert nouns.isdisjoint(ALONE)


@pytest.mark.parametrize("path", COMMANDS)
def test_the_example_of_a_command_can_be_called_as_it_is_written(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for file in ("handbook.pdf", "notes.md", "pdf-forms"):
        (tmp_path / file).touch()
    command = COMMANDS[path]
    example = command.epilog.split("  ", 1)[1].replace("\\[", "[")
    assert example.startswith(path)
    assert _parse(example).callback is not None


@pytest.mark.parametrize("path", COMMANDS)
def test_a_command_and_all_its_options_are_explained_in_whole_sentences(path: str) -> None:
    command = COMMANDS[path]
    assert command.help.split("\n\n")[0].endswith("."), command.help
    assert command.help[0].isupper()
    assert [one.name for one in command.params if not one.help] == []


@pytest.mark.parametrize(
    ("older", "now"),
    [
        ("outlast run cancel run_1", "outlast runs cancel run_1"),
        ("outlast sandbox kill sbx_1", "outlast sandboxes kill sbx_1"),
        ("outlast user plan Ada pro", "outlast users set-plan Ada pro"),
        ("outlast page new Issues", "outlast pages create Issues"),
        ("outlast search rebuild", "outlast rebuild-search"),
    ],
)
def test_older_spellings_still_work_and_are_not_listed(older: str, now: str) -> None:
    assert _parse(older).help == _parse(now).help
    assert " ".join(older.split()[:3]) not in COMMANDS


def test_help_lists_every_command_without_loading_one() -> None:
    listed = [command for command in ROOT.commands.values() if not command.hidden]
    assert all(isinstance(command, LazyCommand) for command in listed)
    assert {command.name for command in listed} == {path.split()[1] for path in COMMANDS}
    assert all(command.help and command.rich_help_panel for command in listed)


def test_starting_the_server_loads_the_code_of_no_other_command(tmp_path: Path) -> None:
    code = (
        "import sys, outlast.__main__\n"
        "from outlast.surfaces.cli.main import run_cli\n"
        "def started(*_):\n"
        "    found = [name for name in sys.modules if name.endswith('commands') or name.split('.')[0] == 'rich']\n"
        "    print(sorted(found))\n"
        "run_cli(started, ['serve', '--data-dir', sys.argv[1]])\n"
    )
    loaded = subprocess.check_output([sys.executable, "-c", code, str(tmp_path)], text=True).strip()
    assert loaded == "['outlast.kernel.cli.commands', 'outlast.surfaces.cli.serve_commands']"


def test_a_wrong_value_is_refused_in_the_words_of_a_command_line() -> None:
    with pytest.raises(typer.BadParameter) as refused:
        _parse("outlast runs list --limit many")
    assert refused.value.message == "The value must be a valid integer"
    with pytest.raises(typer.BadParameter) as refused:
        _parse("outlast runs list --status bogus")
    assert refused.value.message.startswith("'bogus' is not one of 'queued'")
