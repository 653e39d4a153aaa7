"""What the pages app opens once per server."""

from outlast.apps.pages.agent.agent import page_agent
from outlast.apps.pages.agent.dormancy import KIND, Dormancy
from outlast.apps.pages.embeds.pages_layer import with_pages
from outlast.apps.pages.settings import PageSettings
from outlast.apps.pages.versions import Rules
from outlast.kernel.apps.opened import Opened, Opening


def open_app(opening: Opening) -> Opened:
    """The agent `page`, the timer of unused pages, and the host names of embedded ones."""
    live, after_s = opening.states[Rules].live, opening.settings.of(PageSettings).dormant_after_s
    dormancy = Dormancy(opening.database, live, after_s, opening.sandboxes.manager)
    return Opened(agents=[page_agent(opening)], timers={KIND: dormancy.rest}, layer=with_pages)
