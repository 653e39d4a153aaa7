"""What makes files a skill: names, bounds, paths. Pure."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Final

from outlast.apps.skills.front_matter import MAIN, split_skill
from outlast.apps.skills.settings import NAME_CHARS, PATH_CHARS
from outlast.base.errors import InputTooLarge
from outlast.base.records import dataclass
from outlast.base.skill_errors import SkillInvalid

MAIN_BYTES: Final = 100_000
LISTED_CHARS: Final = 16_000
"""Descriptions of all skills in a prompt; the names come on top."""
SHORTEST: Final = 80

_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_TEXTS: Final = {"description": 1_024, "license": 500, "compatibility": 500, "allowed-tools": 2_000}
_LEFT_OUT: Final = frozenset([".DS_Store", ".git", "Thumbs.db", "__MACOSX", "__pycache__"])


@dataclass(frozen=True, slots=True)
class Bounds:
    """Most files of a skill, and most bytes of them together."""

    files: int
    size_bytes: int

    def check(self, files: int, size_bytes: int) -> None:
        """Raises `InputTooLarge`."""
        if files > self.files:
            raise InputTooLarge(
                f"The skill has {files:,} files; at most {self.files:,} are accepted.", count=files, limit=self.files
            )
        if size_bytes > self.size_bytes:
            raise InputTooLarge(
                f"The skill has {size_bytes:,} bytes; at most {self.size_bytes:,} are accepted.",
                size_bytes=size_bytes,
                limit_bytes=self.size_bytes,
            )


@dataclass(frozen=True, slots=True)
class Skill:
    """A checked skill. `files`: contents by path relative to its folder; `digest` is the hash of them."""

    name: str
    description: str
    license: str
    compatibility: str
    allowed_tools: str
    instructions: str
    digest: str
    files: Mapping[str, bytes]

    @property
    def size_bytes(self) -> int:
        return sum(map(len, self.files.values()))


def is_left_out(path: str) -> bool:
    """True for what file managers and version control leave in folders."""
    return not _LEFT_OUT.isdisjoint(path.split("/")) or path.endswith(".pyc")


def checked_path(path: str) -> str:
    """Raises `SkillInvalid` for a path that leads out of the folder or that not every file system takes."""
    parts = path.split("/")
    if len(path) > PATH_CHARS or not path.isprintable() or "\\" in path or ":" in parts[0]:
        raise SkillInvalid(f"The path {path[:PATH_CHARS]!r} cannot be in a skill.", path=path[:PATH_CHARS])
    if any(part in ("", ".", "..") for part in parts):
        raise SkillInvalid(f"The path {path!r} leads out of the skill's folder.", path=path)
    return path


def checked_skill(given: Mapping[str, bytes], bounds: Bounds) -> Skill:
    """The skill in these files, whose paths may all begin with the name of one folder. Raises `SkillInvalid`,
    `InputTooLarge`."""
    files = _in_folder({checked_path(path): content for path, content in given.items() if not is_left_out(path)})
    bounds.check(len(files), sum(map(len, files.values())))
    folders = {path[:at] for path in files for at in range(len(path)) if path[at] == "/"}
    if not folders.isdisjoint(files):
        raise SkillInvalid(f"{min(folders & files.keys())} is both a file and a folder.")
    if len(files[MAIN]) > MAIN_BYTES:
        raise InputTooLarge(
            f"SKILL.md has {len(files[MAIN]):,} bytes; at most {MAIN_BYTES:,} are accepted.",
            hint="Move parts of it to other files, which agents read when they need them.",
            size_bytes=len(files[MAIN]),
            limit_bytes=MAIN_BYTES,
        )
    try:
        fields, instructions = split_skill(files[MAIN].decode())
    except UnicodeDecodeError:
        raise SkillInvalid("SKILL.md is not text in UTF-8.", path=MAIN) from None
    texts = {field: _checked_text(field, fields.get(field, "")) for field in _TEXTS}
    if not texts["description"]:
        raise SkillInvalid("SKILL.md has no description. It tells agents when to use the skill.", path=MAIN)
    return Skill(
        name=_checked_name(fields.get("name", "")),
        description=texts["description"],
        license=texts["license"],
        compatibility=texts["compatibility"],
        allowed_tools=texts["allowed-tools"],
        instructions=instructions,
        digest=_digest(files),
        files=files,
    )


def listed(descriptions: Mapping[str, str]) -> Iterator[str]:
    """A line for each skill. Descriptions are cut if all of them are longer than `LISTED_CHARS`."""
    most = max(LISTED_CHARS // max(len(descriptions), 1), SHORTEST)
    fits = sum(map(len, descriptions.values())) <= LISTED_CHARS
    for name, text in descriptions.items():
        yield f"- {name}: {text if fits or len(text) <= most else text[: most - 1] + '…'}"


def _in_folder(files: Mapping[str, bytes]) -> Mapping[str, bytes]:
    if MAIN in files:
        return files
    tops = {path.partition("/")[0] for path in files}
    if len(tops) != 1 or f"{(top := min(tops))}/{MAIN}" not in files:
        raise SkillInvalid("There is no SKILL.md in the folder. It needs exactly this name.", path=MAIN)
    return {path.removeprefix(f"{top}/"): content for path, content in files.items()}


def _checked_name(name: str) -> str:
    if len(name) > NAME_CHARS or not _NAME.match(name):
        raise SkillInvalid(
            "The name in SKILL.md has to have 1 to 64 of a-z, 0-9 and single hyphens inside.",
            hint="For example pdf-forms.",
            path=MAIN,
        )
    return name


def _checked_text(field: str, text: str) -> str:
    line = " ".join(text.split())
    if len(line) > _TEXTS[field]:
        raise SkillInvalid(f"The {field} in SKILL.md has more than {_TEXTS[field]:,} characters.", path=MAIN)
    return "".join(one for one in line if one.isprintable())


def _digest(files: Mapping[str, bytes]) -> str:
    known = sorted((path, hashlib.sha256(content).hexdigest()) for path, content in files.items())
    return hashlib.sha256(repr(known).encode()).hexdigest()
