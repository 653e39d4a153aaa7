"""The difference between two trees. Pure."""

import difflib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from outlast_sandbox.checkpoints.tree import Entry, Tree

ChangeKind = Literal["added", "changed", "removed"]
TEXT_BYTES: Final = 256 * 1024  # longer files are not compared
TEXT_LINES: Final = 3_000  # comparing takes quadratic time: up to a second
DIFF_LINES: Final = 2_000
_NUL: Final = b"\0"


@dataclass(frozen=True, slots=True)
class Change:
    """One path that differs: `before` None if it was added, `after` None if it was removed."""

    path: str
    before: Entry | None
    after: Entry | None

    @property
    def kind(self) -> ChangeKind:
        if self.before is None:
            return "added"
        return "changed" if self.after is not None else "removed"


def changes(before: Tree, after: Tree) -> list[Change]:
    """All paths that differ, sorted. A folder counts only if its kind or mode changed, or if it is empty: otherwise its
    contents show the change."""
    old, new = before.by_path, after.by_path
    differing = [
        Change(path, old.get(path), new.get(path))
        for path in sorted(old.keys() | new.keys())
        if not ((was := old.get(path)) and (now := new.get(path)) and was.same_as(now))
    ]
    parents = {change.path.rpartition("/")[0] for change in differing}
    return [change for change in differing if not _is_implied(change, parents)]


def text_difference(path: str, before: bytes | None, after: bytes | None) -> str | None:
    """The unified difference of two texts (None for a missing file), at most 2,000 lines of it; None if one is not
    UTF-8 text, or longer than 256 KiB or 3,000 lines."""
    old, new = _lines(before), _lines(after)
    if old is None or new is None:
        return None
    names = ((f"a/{path}" if before is not None else "/dev/null"), (f"b/{path}" if after is not None else "/dev/null"))
    lines = list(difflib.unified_diff(old, new, *names, lineterm=""))
    left_out = len(lines) - DIFF_LINES
    if left_out > 0:
        lines[DIFF_LINES:] = [f"… {left_out} more lines"]
    return "\n".join(lines)


def is_text(content: bytes) -> bool:
    """True if the bytes are readable text: UTF-8 without a NUL."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return _NUL not in content


def below(tree: Tree, prefix: str) -> Sequence[Entry]:
    """The entries below a folder ("" for all), without the folder itself."""
    start = prefix.strip("/")
    start = "" if start in ("", ".") else f"{start}/"
    return [entry for entry in tree.entries if entry.path.startswith(start)]


def _is_implied(change: Change, parents: Collection[str]) -> bool:
    """True for a folder that was only added or removed with its contents."""
    sides = [side for side in (change.before, change.after) if side is not None]
    return len(sides) == 1 and sides[0].kind == "directory" and change.path in parents


def _lines(content: bytes | None) -> list[str] | None:
    if content is None:
        return []
    if len(content) > TEXT_BYTES or not is_text(content):
        return None
    lines = content.decode().splitlines()
    return lines if len(lines) <= TEXT_LINES else None
