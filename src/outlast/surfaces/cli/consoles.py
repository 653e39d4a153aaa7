"""Where commands write: results to standard output, everything about them to standard error."""

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from rich.console import Console
from rich.table import Table

from outlast.base.errors import OutlastError

out = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 200)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def tell_error(error: OutlastError) -> None:
    """The message and what to do, without a traceback."""
    err.print(f"[bold red]error[/] [dim]{error.code}[/]: ", end="")
    err.print(error.message, markup=False)
    if error.hint:
        err.print(f"  {error.hint}", markup=False, style="yellow")


def tell_rows(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, empty: str) -> None:
    """A table for people."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, no_wrap=number < len(columns) - 1)
    for row in rows:
        table.add_row(*("" if value is None else str(value) for value in row))
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


def harmless(line: str) -> str:
    """What an agent or another person wrote, without what would command the terminal."""
    return "".join(one if one.isprintable() or one == "\t" else "\ufffd" for one in line)


def can_ask() -> bool:
    """Whether a person sits at the terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()
