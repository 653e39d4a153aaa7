"""Files of a skill, and their texts. Pure."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from outlast.base.errors import NotFound

if TYPE_CHECKING:
    from outlast.apps.skills.store import SkillFile

TEXT_BYTES: Final = 100_000


def file_at(files: Sequence["SkillFile"], path: str) -> "SkillFile":
    """The file of this path. Raises `NotFound`."""
    found = next((file for file in files if file.path == path.removeprefix("./")), None)
    if found is None:
        raise NotFound(f"The skill has no file {path[:200]!r}.", path=path[:200])
    return found


def text_of(content: bytes, *, is_cut: bool) -> str | None:
    """The text of a file or of its beginning; None if it is not text in UTF-8."""
    if b"\x00" in content:
        return None
    for left_out in range(4 if is_cut else 1):  # a character may be cut
        try:
            return content[: len(content) - left_out].decode()
        except UnicodeDecodeError:
            continue
    return None
