"""Settings of skills."""

from typing import Final

from outlast.base.records import dataclass
from outlast.base.settings.fields import setting

NAME_CHARS: Final = 64
PATH_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class SkillSettings:
    """Folders of instructions, scripts and references that agents use."""

    folder: str = setting(
        "Folder whose subfolders are skills of every project; relative to the configuration file. Changes in it are "
        "taken up while the server runs.",
        "",
        beside=True,
    )
    most_per_project: int = setting("Skills of one project.", 50, unit="skills", least=0, most=500)
    files: int = setting("Files of one skill.", 200, unit="files", least=1, most=1_000)
    bytes: int = setting("All files of one skill, unpacked.", 10_000_000, unit="bytes", least=1, most=100_000_000)
