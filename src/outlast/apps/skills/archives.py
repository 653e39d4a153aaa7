"""Files of a skill from what people send: a zip, or files with their paths. Blocking."""

import io
import stat
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from typing import Final

from outlast.apps.skills.rules import Bounds, Skill, checked_path, checked_skill, is_left_out
from outlast.base.skill_errors import SkillInvalid

_ZIP: Final = b"PK"
_BROKEN: Final = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError, NotImplementedError)
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def read_sent(sent: Sequence[tuple[str, bytes]], bounds: Bounds) -> Skill:
    """The skill in one zip, or in files by path. A single file with another name than SKILL.md counts as that. Raises
    `SkillInvalid`, `InputTooLarge`."""
    if len(sent) == 1:
        name, content = sent[0]
        if content.startswith(_ZIP):
            return checked_skill(_unzipped(content, bounds), bounds)
        if "/" not in name and name.lower().endswith(".md"):
            return checked_skill({"SKILL.md": content}, bounds)
    files = dict(sent)
    if len(files) < len(sent):
        raise SkillInvalid("Two files have the same path.")
    return checked_skill(files, bounds)


def _unzipped(body: bytes, bounds: Bounds) -> Mapping[str, bytes]:
    """Nothing is unpacked before its size is known; zipfile reads no more than the directory of the zip states."""
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            members = [one for one in archive.infolist() if not one.is_dir() and not is_left_out(one.filename)]
            bounds.check(len(members), sum(one.file_size for one in members))
            for one in members:
                _check_member(one)
            if len({one.filename for one in members}) < len(members):
                raise SkillInvalid("The zip has two files of the same path.")
            return {one.filename: archive.read(one) for one in members}
    except _BROKEN:
        raise SkillInvalid("The zip cannot be unpacked.", hint="Pack the folder again.") from None


def _check_member(member: zipfile.ZipInfo) -> None:
    checked_path(member.filename)
    mode = member.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        raise SkillInvalid(f"{member.filename} is a link or no file.", hint="Pack the files themselves.")
    if member.flag_bits & 1:
        raise SkillInvalid("The zip has a password.", hint="Pack the folder without one.")
    if member.compress_type not in _METHODS:
        raise SkillInvalid(f"{member.filename} is packed by a method other than deflate.")
