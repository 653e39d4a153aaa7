"""Where commands write: results to standard output, everything about them to standard error.

Text of people and agents reaches a terminal as the characters that it shows: nothing here reads markup, and control
characters are replaced. Colours come from `style=` and from `styled`.
"""

import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, Final

import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

from outlast.base.errors import OutlastError

_COLOURS: Final = re.compile("\x1b\\[[0-9;]*m")


class Terminal(Console):
    """A console that prints strings as plain text, without control characters, markup or emoji codes."""

    def __init__(self, *, stderr: bool = False, width: int | None = None) -> None:
        super().__init__(
            stderr=stderr, width=width, highlight=False, soft_wrap=True, markup=False, emoji=False
        )

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*(harmless(one) if isinstance(one, str) else one for one in objects), **options)


out = Terminal(width=None if sys.stdout.isatty() else 200)
err = Terminal(stderr=True)


def styled(*pieces: str | tuple[str, str]) -> Text:
    """A line of plain pieces; of (text, style), each in its style."""
    return Text.assemble(
        *(harmless(one) if isinstance(one, str) else (harmless(one[0]), one[1]) for one in pieces)
    )


def tell_error(error: OutlastError) -> None:
    """The message and what to do, without a traceback."""
    err.print(styled(("error", "bold red"), " ", (error.code, "dim"), f": {error.message}"))
    if error.hint:
        err.print(f"  {error.hint}", style="yellow")


def tell_rows(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, empty: str) -> None:
    """A table for people. Each cell is one line of plain text."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, no_wrap=number < len(columns) - 1)
    for row in rows:
        table.add_row(*(Text("" if value is None else one_line(str(value))) for value in row))
    if table.row_count:
        out.print(table)
    else:
        err.print(empty, style="dim")


def tell_json(value: Any) -> None:
    """One JSON document for programs."""
    sys.stdout.write(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() + "\n")


def tell_line(value: Any) -> None:
    """One JSON document on a line of its own, at once."""
    sys.stdout.write(orjson.dumps(value).decode() + "\n")
    sys.stdout.flush()


def tell_bytes(content: bytes) -> None:
    """A file as it is, also where its bytes are no text."""
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(content.decode("utf-8", "replace"))
    else:
        stream.write(content)
    sys.stdout.flush()


def harmless(text: str) -> str:
    """What an agent or another person wrote, with its line breaks and tabs, without what would command the terminal."""
    if text.isprintable():
        return text
    text = _COLOURS.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return "".join(map(_harmless, text))


def one_line(text: str) -> str:
    """The same with each run of spaces and line breaks as one space."""
    return harmless(" ".join(text.split()))


def _harmless(one: str) -> str:
    if one.isprintable() or one in "\t\n":
        return one
    return " " if unicodedata.category(one) == "Zs" else "\ufffd"  # a no-break space is a space


def can_ask() -> bool:
    """Whether a person sits at the terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()
