"""Output of commands: results to standard output, messages to standard error.  Text of people and agents is printed
literally: markup is not interpreted, and control characters are replaced. Colours come from `style=` and from `styled`.
"""

import re
import sys
import unicodedata
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

import orjson
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from outlast.base.errors import OutlastError
from outlast.kernel.cli.exits import Exit
from outlast.kernel.cli.session import wants_json
from outlast.kernel.cli.units import format_bytes

_COLOURS: Final = re.compile("\x1b\\[[0-9;]*m")


class Terminal(Console):
    """A console that prints strings as plain text, without control characters, markup or emoji codes."""

    def __init__(self, *, stderr: bool = False, width: int | None = None) -> None:
        super().__init__(stderr=stderr, width=width, highlight=False, soft_wrap=True, markup=False, emoji=False)

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*(printable(one) if isinstance(one, str) else one for one in objects), **options)


out = Terminal(width=None if sys.stdout.isatty() else 200)
err = Terminal(stderr=True)


def styled(*pieces: str | tuple[str, str]) -> Text:
    """A line of plain pieces and of (text, style) pieces."""
    return Text.assemble(*(printable(one) if isinstance(one, str) else (printable(one[0]), one[1]) for one in pieces))


def print_error(error: OutlastError) -> None:
    """Print the message and the hint, without a traceback."""
    err.print(styled(("error", "bold red"), " ", (error.code, "dim"), f": {error.message}"))
    if error.hint:
        err.print(f"  {error.hint}", style="yellow")


def print_result(value: Any, text: str) -> None:
    """Print the result of a command: as text for people, as JSON for programs."""
    if wants_json():
        print_json(value)
    else:
        out.print(text)


def print_list(
    found: Mapping[str, Any], columns: str, compute: Callable[[Any], Mapping[str, Any]] = dict, *, empty: str
) -> None:
    """Print a list `{items, next}`: as a table for people, as JSON for programs. `columns` names fields ("state") or
    headings with their fields ("changed=updated_at"); `compute` returns further fields of an item."""
    if wants_json():
        print_json(found)
        return
    if not found["items"]:
        err.print(empty, style="dim")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    chosen = [_column(word) for word in columns.split()]
    for number, (heading, _) in enumerate(chosen, 1):
        table.add_column(heading, no_wrap=number < len(chosen))
    for item in found["items"]:
        fields = {**item, **compute(item)}
        table.add_row(*(Text(one_line(_shown(name, fields[name]))) for _, name in chosen))
    out.print(table)
    if found.get("next"):
        err.print("There are more. Show them with --limit.", style="dim")


def print_fields(value: Mapping[str, Any], fields: str, computed: Mapping[str, Any] | None = None) -> None:
    """Print one object: a line for each field with a value for people, JSON for programs. `fields` as for lists."""
    if wants_json():
        print_json(value)
        return
    known = {**value, **(computed or {})}
    lines = [(heading.capitalize(), _shown(name, known.get(name))) for heading, name in map(_column, fields.split())]
    width = max(len(heading) for heading, text in lines if text)
    for heading, text in lines:
        if text:
            indented = f"\n{' ' * (width + 2)}".join(text.splitlines())
            out.print(styled((f"{heading:<{width}}  ", "bold"), indented))


def _column(word: str) -> tuple[str, str]:
    heading, _, name = word.partition("=")
    return heading.replace("_", " "), name or heading


def _shown(name: str, value: Any) -> str:
    """Format a field of the API for people: times to the minute, sizes in their unit, the length of a list."""
    if value is None or value is False:
        return ""
    if name == "at" or name.endswith("_at"):
        return local_time(value) or ""
    if name.endswith("_bytes"):
        return format_bytes(value) or ""
    if name.endswith("_s"):
        return f"{value:.1f} s"
    if value is True:
        return "yes"
    return str(len(value)) if isinstance(value, list) else str(value)


def print_json(value: Any) -> None:
    """Print one JSON document for programs."""
    sys.stdout.write(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() + "\n")


def print_json_line(value: Any) -> None:
    """Print one JSON document on one line, and flush it."""
    sys.stdout.write(orjson.dumps(value).decode() + "\n")
    sys.stdout.flush()


def print_bytes(content: bytes) -> None:
    """Print the raw bytes of a file, also if they are not text."""
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(content.decode("utf-8", "replace"))
    else:
        stream.write(content)
    sys.stdout.flush()


def printable(text: str) -> str:
    """Text of an agent or another user with line breaks and tabs, but without control sequences for the terminal."""
    if text.isprintable():
        return text
    text = _COLOURS.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return "".join(map(_printable, text))


def one_line(text: str) -> str:
    """The printable text on one line, with each run of spaces and line breaks as one space."""
    return printable(" ".join(text.split()))


def _printable(one: str) -> str:
    if one.isprintable() or one in "\t\n":
        return one
    return " " if unicodedata.category(one) == "Zs" else "\ufffd"  # a no-break space is a space


def local_time(moment: str | None) -> str | None:
    """A time of the API in local time, to the minute; None stays None."""
    if moment is None:
        return None
    return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M")


def confirm(question: str, *, yes: bool) -> None:
    """Ask for confirmation unless --yes was given. Ends the command if the answer is no or the terminal is not
    interactive."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise typer.BadParameter("The terminal is not interactive. Repeat the command with --yes.")
    if not typer.confirm(question, err=True):
        err.print("Nothing was changed.")
        raise typer.Exit(Exit.CANCELLED)


def can_ask() -> bool:
    """True if the terminal is interactive."""
    return sys.stdin.isatty() and sys.stdout.isatty()
