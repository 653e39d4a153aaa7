"""Search in the files of an app. Pure."""

from collections.abc import Iterator
from typing import Final

from outlast.apps.screens.shapes import CodeHitAnswer
from outlast.apps.screens.zip_archive import is_shown
from outlast.base.errors import MalformedInput

SEARCHED_BYTES: Final = 1_000_000  # a longer file is not searched
MAX_HITS: Final = 200
MAX_QUERY_CHARS: Final = 200
SHOWN_CHARS: Final = 300  # of a line with a hit
BEFORE_CHARS: Final = 60  # of them, before the hit
_LOCKS: Final = frozenset({"package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock"})


def is_searched(path: str) -> bool:
    """True if a file is searched: shown, and no lock file of a package manager."""
    return is_shown(path) and path.rpartition("/")[2] not in _LOCKS


def checked_query(query: str) -> str:
    """The text to search for. Raises `MalformedInput` for an empty one, a line break, or more than 200 characters."""
    if not query.strip() or "\n" in query or len(query) > MAX_QUERY_CHARS:
        raise MalformedInput(f"Search for 1 to {MAX_QUERY_CHARS} characters of one line.", field="q")
    return query


def hits_in(path: str, content: bytes, query: str) -> Iterator[CodeHitAnswer]:
    """The lines of a text that contain the query, ignoring case; none if the content is not text or longer than
    a megabyte."""
    if len(content) > SEARCHED_BYTES or b"\0" in content:
        return
    wanted = query.casefold()
    try:
        lines = content.decode().splitlines()
    except UnicodeDecodeError:
        return
    for number, line in enumerate(lines, start=1):
        at = line.casefold().find(wanted)
        if at >= 0:
            yield CodeHitAnswer(path=path, line=number, text=_shown(line, at))


def _shown(line: str, at: int) -> str:
    if len(line) <= SHOWN_CHARS:
        return line
    start = max(0, min(at - BEFORE_CHARS, len(line) - SHOWN_CHARS))
    return ("…" if start else "") + line[start : start + SHOWN_CHARS] + ("…" if start + SHOWN_CHARS < len(line) else "")
