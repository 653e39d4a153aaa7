"""What reaches a terminal is what was written, as plain characters."""

from __future__ import annotations

from io import StringIO

import pytest

from outlast.kernel.cli import consoles
from outlast.kernel.cli.consoles import Terminal, harmless, one_line, styled, tell_rows

HOSTILE = "[/b] [bold red]x[/] [link=https://evil.example]y[/link] :warning: \\[/z] \\"


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> StringIO:
    paper = StringIO()
    made = Terminal(width=400)
    made.file = paper
    monkeypatch.setattr(consoles, "out", made)
    return paper


def test_square_brackets_in_a_cell_are_shown_as_they_are(terminal: StringIO) -> None:
    tell_rows(("id", "title"), [("run_1", HOSTILE)], empty="")
    assert HOSTILE in terminal.getvalue()


def test_square_brackets_in_a_line_are_shown_as_they_are(terminal: StringIO) -> None:
    consoles.out.print(HOSTILE)
    consoles.out.print(styled("a ", (HOSTILE, "bold")))
    assert terminal.getvalue() == f"{HOSTILE}\na {HOSTILE}\n"


def test_control_characters_never_reach_the_terminal(terminal: StringIO) -> None:
    consoles.out.print("\x1b]0;title\x07 \x9b31m\u202e")
    consoles.out.print(styled(("\x1b[31m", "bold")))
    tell_rows(("title",), [("\x1b[2J",)], empty="")
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(terminal.getvalue())


def test_line_breaks_and_tabs_of_a_text_are_kept() -> None:
    assert harmless("one\r\ntwo\n\tthree\r40 %\r90 %") == "one\ntwo\n\tthree\n40 %\n90 %"


def test_colours_that_a_program_asked_for_are_left_out() -> None:
    assert harmless("\x1b[1;32mok\x1b[0m \x1b[2J") == "ok \ufffd[2J"


def test_a_cell_is_one_line() -> None:
    assert one_line("one\r\n two\u00a0three\n") == "one two three"
