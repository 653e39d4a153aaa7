"""Settings of documents."""

from outlast.base.records import dataclass
from outlast.base.settings.fields import setting
from outlast.kernel.files.settings import FileSettings


@dataclass(frozen=True, slots=True)
class DocumentSettings(FileSettings):
    """Documents and the files of projects."""

    most_per_project: int = setting("Documents in one project (0: no limit).", 1000, unit="documents", least=0)
    most_blocks: int = setting("Blocks in one document.", 10_000, unit="blocks", least=10)
    text_chars: int = setting("Longest Markdown text to create or import.", 2_000_000, unit="characters", least=1000)
    block_chars: int = setting("Longest block.", 50_000, unit="characters", least=100)
    comment_chars: int = setting("Longest comment.", 10_000, unit="characters", least=100)
    edits_per_proposal: int = setting("Edits that an agent may propose at once.", 200, unit="edits", least=1)
