"""The project's own Tailwind: the script that queries it, and the parser of its answer. Pure."""

import re
import shlex
from itertools import islice
from typing import Any, Final

import orjson

from outlast.apps.screens.edits.styles import PROPERTIES, table_of
from outlast.base.data_files import read_text

MAX_CLASS_CHARS: Final = 200
MAX_ENTRIES: Final = 40_000
OUTPUT_BYTES: Final = 4_000_000
SHEETS: Final = ("app/globals.css", "src/app/globals.css", "src/index.css")
_SCRIPT: Final = read_text(__file__, "design_system.mjs")  # runs in the sandbox
_ANSWER: Final = re.compile(r"<<outlast (\{.*\}) outlast>>", re.DOTALL)
_CLASS: Final = re.compile(r"[!-~]+")
_UNSAFE: Final = re.compile(r"[\"\\`{}<]")

Said = dict[str, list[tuple[str, str]] | None]
"""The CSS of each class: its declarations (none for one with states or several rules), or None if there is no such
class."""


def table_command() -> str:
    """A shell command, run in the project's folder, whose output `read_table` understands."""
    return _command(["table", *PROPERTIES])


def classes_command(classes: list[str]) -> str:
    """The same for `read_classes`. Only for classes that pass `is_class`."""
    return _command(["css", *classes])


def is_class(text: str) -> bool:
    """True if the text could be a class."""
    return len(text) <= MAX_CLASS_CHARS and _CLASS.fullmatch(text) is not None and not _UNSAFE.search(text)


def read_table(output: str) -> dict[str, str] | None:
    """The table in the output of the command, or None if it did not answer. Code in a sandbox is not trusted:
    only possible classes are accepted, and at most `MAX_ENTRIES` entries."""
    said = _answer(output)
    if said is None:
        return None
    listed = (
        (declaration, names) for declaration, names in islice(said.items(), MAX_ENTRIES) if isinstance(names, list)
    )
    found = {key: [name for name in names if isinstance(name, str) and is_class(name)] for key, names in listed}
    return table_of({declaration: names for declaration, names in found.items() if names})


def read_classes(output: str, asked: list[str]) -> Said | None:
    """The answer for each requested class, or None if the command did not answer."""
    said = _answer(output)
    return None if said is None else {name: _declarations(said.get(name)) for name in asked}


def _command(arguments: list[str]) -> str:
    words = shlex.join(arguments)
    return f"node --no-warnings --input-type=module - {words} <<'OUTLAST_SCRIPT'\n{_SCRIPT}\nOUTLAST_SCRIPT"


def _answer(output: str) -> dict[str, Any] | None:
    found = _ANSWER.search(output)
    if found is None:
        return None
    try:
        said = orjson.loads(found[1])
    except orjson.JSONDecodeError:
        return None
    return said if isinstance(said, dict) else None


def _declarations(said: Any) -> list[tuple[str, str]] | None:
    if not isinstance(said, list):
        return None
    pairs = [pair for pair in said[:40] if isinstance(pair, list) and len(pair) == 2]
    return [(str(name)[:80], str(value)[:400]) for name, value in pairs]
