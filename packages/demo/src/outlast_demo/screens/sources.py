"""The recorded screens: their files, as written into a project, and their texts."""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

FOLDER: Final = Path(__file__).parent / "sources"
PAGE: Final = "app/page.tsx"


@dataclass(frozen=True, slots=True)
class Recorded:
    """A screen or a change: its texts for the user, and one line about each of its files."""

    title: str
    thought: str
    opening: str
    summary: str
    files: Mapping[str, str]


_RECORDED: Final = tomllib.loads(Path(__file__).with_name("recorded.toml").read_text(encoding="utf-8"))
SCREENS: Final[Mapping[str, Recorded]] = MappingProxyType(
    {name: Recorded(**entry) for name, entry in _RECORDED.items()}
)


@functools.cache
def files_of(recording: str) -> Mapping[str, str]:
    """The recorded files by their path in a project. Read once."""
    if recording == "pricing_yearly":
        return MappingProxyType({**files_of("pricing"), **files_of("yearly")})
    root = FOLDER / recording
    found = {path.relative_to(root).as_posix(): path.read_text() for path in sorted(root.rglob("*.ts*"))}
    return MappingProxyType(found)
