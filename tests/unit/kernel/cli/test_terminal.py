"""What reaches a terminal is what was written, as plain characters."""

from __future__ import annotations

from io import StringIO

import pytest

from outlast.kernel.cli import terminal as cli_terminal
from outlast.kernel.cli.terminal import Terminal, one_line, print_fields, print_list, printable, styled

HOSTILE = "[/b] [bold red]x[/] [link=https://evil.example]y[/link] :warning: \\[/z] \\"


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> StringIO:
    paper = StringIO()
    made = Terminal(width=400)
    made.file = paper
    monkeypatch.setattr(cli_terminal, "out", made)
    return paper


def test_square_brackets_in_a_cell_are_shown_as_they_are(terminal: StringIO) -> None:
    print_list({"items": [{"id": "run_1", "title": HOSTILE}]}, "id title", empty="")
    assert HOSTILE in terminal.getvalue()


def test_square_brackets_in_a_line_are_shown_as_they_are(terminal: StringIO) -> None:
    cli_terminal.out.print(HOSTILE)
    cli_terminal.out.print(styled("a ", (HOSTILE, "bold")))
    assert terminal.getvalue() == f"{HOSTILE}\na {HOSTILE}\n"


def test_control_characters_never_reach_the_terminal(terminal: StringIO) -> None:
    cli_terminal.out.print("\x1b]0;title\x07 \x9b31m\u202e")
    cli_terminal.out.print(styled(("\x1b[31m", "bold")))
    print_list({"items": [{"title": "\x1b[2J"}]}, "title", empty="")
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(terminal.getvalue())


def test_line_breaks_and_tabs_of_a_text_are_kept() -> None:
    assert printable("one\r\ntwo\n\tthree\r40 %\r90 %") == "one\ntwo\n\tthree\n40 %\n90 %"


def test_colours_that_a_program_asked_for_are_left_out() -> None:
    assert printable("\x1b[1;32mok\x1b[0m \x1b[2J") == "ok \ufffd[2J"


def test_a_cell_is_one_line() -> None:
    assert one_line("one\r\n two\u00a0three\n") == "one two three"


def test_fields_are_shown_in_the_units_of_people(terminal: StringIO) -> None:
    item = {"id": "run_1", "size_bytes": 2048, "duration_s": 1.25, "last": None, "files": ["a", "b"], "is_admin": True}
    columns = "run=id size=size_bytes took=duration_s last files admin=is_admin"
    print_list({"items": [item], "next": None}, columns, empty="")
    heading, line = terminal.getvalue().splitlines()
    assert heading.split() == ["run", "size", "took", "last", "files", "admin"]
    assert line.split() == ["run_1", "2", "KiB", "1.2", "s", "2", "yes"]


def test_one_thing_has_a_line_for_each_field_with_a_value(terminal: StringIO) -> None:
    print_fields({"id": "run_1", "error": None, "set_aside": 2}, "run=id error set_aside text", {"text": "one\ntwo"})
    assert terminal.getvalue().splitlines() == ["Run        run_1", "Set aside  2", "Text       one", "           two"]
