"""The declaration of the pages app."""

from typing import Final

from outlast.apps.pages import tables
from outlast.apps.pages.embeds.hosts import page_hosts
from outlast.apps.pages.settings import PageSettings
from outlast.apps.pages.shapes import PageActed, PageChanged, PageDeleted, PageHtml, PagePatched
from outlast.apps.pages.subject import PAGE
from outlast.apps.pages.tree_cache import LiveTrees
from outlast.apps.pages.versions import Rules
from outlast.base.events import EventType
from outlast.kernel.apps.app import App
from outlast.kernel.library.memories import MEMORIES
from outlast.kernel.library.modules import LIBRARY
from outlast.kernel.previews.ports import PAGES_DOMAIN
from outlast.kernel.runs.shapes import PageStats

APP: Final = App(
    name="pages",
    tables=[tables.pages, tables.page_versions, tables.page_actions, tables.page_links],
    prefixes={"page": "pag", "action": "act", "link": "lnk"},
    subjects=[PAGE],
    state=lambda settings: [
        Rules(LiveTrees(), settings.of(PageSettings).html_bytes, settings.of(PageSettings).versions)
    ],
    server="outlast.apps.pages.server",
    uses=[LIBRARY, MEMORIES],
    implements=[PAGES_DOMAIN.by(lambda previews: page_hosts(previews).domain)],
    tools=["publish_module", "read_page"],
    events=[
        EventType("PageChangedEvent", PageChanged, "page.created", "page.updated", for_webhooks=("page.created",)),
        EventType("PageDeletedEvent", PageDeleted, "page.deleted", for_webhooks=True),
        EventType("PagePatchEvent", PagePatched, "page.patch"),
        EventType("PageHtmlEvent", PageHtml, "page.html"),
        EventType("PageStatsEvent", PageStats, "page.stats"),
        EventType("PageActionEvent", PageActed, "page.action"),
    ],
    routes=["outlast.apps.pages.routes", "outlast.apps.pages.module_routes"],
)
