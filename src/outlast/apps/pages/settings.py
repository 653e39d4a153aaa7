"""Settings of pages."""

from dataclasses import dataclass

from outlast.base.settings.fields import setting


@dataclass(frozen=True, slots=True)
class PageSettings:
    """Live pages."""

    dormant_after_s: float = setting(
        "A page that nobody used for this long gives up its code sessions and what is in memory; nothing is lost.",
        300,
        unit="seconds",
        least=1,
    )
    most_per_project: int = setting("Pages in one project; 0: no limit.", 500, unit="pages", least=0)
    html_bytes: int = setting("Largest page.", 1_000_000, unit="bytes", least=1000)
    actions_waiting: int = setting(
        "Actions that may wait on one page for the next request.", 50, unit="actions", least=1
    )
    recalled: int = setting("Past requests that a new one is reminded of.", 3, unit="summaries", least=0, most=50)
    versions: int = setting("Versions of a page that are kept, newest first.", 1000, unit="versions", least=10)
