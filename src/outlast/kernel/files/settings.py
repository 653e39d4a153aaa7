"""Settings of the files of projects, in the table [documents], and of indexed texts, in [knowledge]."""

from outlast.base.records import dataclass
from outlast.base.settings.fields import setting


@dataclass(frozen=True, slots=True)
class FileSettings:
    """The files of projects."""

    artifacts_per_project: int = setting("Files in one project; 0 for no limit.", 1000, unit="files", least=0)
    artifact_bytes: int = setting("Largest file.", 25_000_000, unit="bytes", least=1000)
    artifact_read_s: float = setting("Time limit for reading the text of one file.", 60, unit="seconds", least=1)


@dataclass(frozen=True, slots=True)
class TextSettings:
    """Texts that are indexed."""

    source_bytes: int = setting("Largest text of one source.", 20_000_000, unit="bytes", least=1000)
    passage_chars: int = setting(
        "Length at which a passage is cut, unless code prevents it.", 1600, unit="characters", least=200
    )
