"""Settings of pages."""

from outlast.base.records import dataclass
from outlast.base.settings.fields import setting


@dataclass(frozen=True, slots=True)
class PageSettings:
    """Live pages."""

    dormant_after_s: float = setting(
        "Time without use after which a page's code sessions end and its memory is freed; nothing is lost.",
        300,
        unit="seconds",
        least=1,
    )
    most_per_project: int = setting("Pages in one project (0: no limit).", 500, unit="pages", least=0)
    html_bytes: int = setting("Largest page.", 1_000_000, unit="bytes", least=1000)
    actions_waiting: int = setting("Actions that may wait for the next run on one page.", 50, unit="actions", least=1)
    recalled: int = setting(
        "Similar past requests added to the prompt of a new one.", 3, unit="summaries", least=0, most=50
    )
    versions: int = setting("Versions of a page that are kept, newest first.", 1000, unit="versions", least=10)
