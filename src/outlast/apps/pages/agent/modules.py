"""Modules as announced by a page's agent and listed in its prompt: path, names, an import; about 200 tokens for
five. Pure.

`search_docs` finds more about each module. The list changes only when modules do, so that a provider's cache stays
valid.
"""

import re
from collections.abc import Sequence
from typing import Final

from outlast.apps.pages.agent.html_budget import CODE_CHARS_PER_TOKEN
from outlast.kernel.library.modules import ENDINGS, LIBRARY_FOLDER, Module

MAX_MODULES: Final = 40  # of one run
MAX_LISTED: Final = 12
ENTRY_TOKENS: Final = 36  # so that five of them, with the heading, stay below 200
ENTRY_BYTES: Final = int(ENTRY_TOKENS * CODE_CHARS_PER_TOKEN)
NAMES_BYTES: Final = 16  # of a module at least, before its import is shown
PATH_CHARS: Final = 80
HEADING: Final = "[SANDBOX MODULES]"
MORE: Final = "- and {rest} more: search_docs finds them"
_PATH: Final = re.compile(r"[\w.-]+(?:/[\w.-]+)*", re.ASCII)


def plain_path(path: str) -> str:
    """The path relative to the workspace, in normal form."""
    return path.strip().removeprefix("/workspace/").removeprefix("./")


def wrong_with(announced: str) -> str:
    """The reason why no module can have this path, for the agent; empty if it can. The path must be importable."""
    path = plain_path(announced)
    shown = path[:PATH_CHARS]
    if path.startswith(LIBRARY_FOLDER):
        return (
            f"The module {shown} is in {LIBRARY_FOLDER}, which is for published modules: save it elsewhere, as in lib/."
        )
    if _PATH.fullmatch(path) is None or ".." in path.split("/"):
        return f"The module {shown} needs a plain relative path, such as lib/linear.ts."
    if len(path) > PATH_CHARS:
        return f"The path of the module {shown}… is too long: at most {PATH_CHARS} characters."
    if not path.endswith(ENDINGS):
        return f"The module {shown} cannot be imported: its name must end with one of {', '.join(ENDINGS)}."
    return ""


def module_list(modules: Sequence[Module]) -> str:
    """The section with its heading; empty without modules. At most the last twelve announced, by path."""
    if not modules:
        return ""
    newest = sorted(modules, key=lambda one: one.updated_at, reverse=True)[:MAX_LISTED]
    lines = [HEADING, *(_entry(one) for one in sorted(newest, key=lambda one: one.imported_path))]
    rest = len(modules) - len(newest)
    return "\n".join([*lines, MORE.format(rest=rest)] if rest else lines)


def _entry(module: Module) -> str:
    """One or two lines: the import is left out if it would make them too long, because the path implies it."""
    head, usage = f"- {_plain(module.imported_path)}", _first_line(module.imported_usage)
    tail = f"\n  usage: {usage}" if usage else ""
    if _size(head + tail) > ENTRY_BYTES - NAMES_BYTES:
        tail = ""
    names = _names(module.exports, ENTRY_BYTES - _size(head + tail) - len(": "))
    return (f"{head}: {names}" if names else head) + tail


def _names(exports: Sequence[str], room: int) -> str:
    kept: list[str] = []
    for name in (_plain(one) for one in exports):
        if _size(", ".join([*kept, name, "…"])) > room:
            kept.append("…")
            break
        kept.append(name)
    joined = ", ".join(kept)
    return joined if _size(joined) <= room else ""


def _first_line(usage: str) -> str:
    return next((_plain(line) for line in usage.splitlines() if line.strip()), "")


def _size(text: str) -> int:
    """The size in bytes: a non-ASCII character is rarely less than a token."""
    return len(text.encode())


def _plain(text: str) -> str:
    """The text on one line, without non-printable characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
