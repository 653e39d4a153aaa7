"""What the web app opens once per server."""

import logging
from functools import partial
from typing import TYPE_CHECKING, Final

from outlast.apps.web.page_reader import PageReader
from outlast.apps.web.search.open_service import open_service
from outlast.apps.web.settings import WebSettings
from outlast.apps.web.store import find_over
from outlast.apps.web.tools import fetch_tool, search_tool
from outlast.base.data_directory import cache_directory
from outlast.kernel.agents.tool import Tool
from outlast.kernel.agents.tools.browser import browser_tools
from outlast.kernel.agents.tools.web import WEB_TOOLS
from outlast.kernel.apps.opened import Opened, Opening
from outlast.kernel.models.api_key import ApiKey
from outlast.kernel.models.providers.connections import Connections
from outlast.kernel.web.http_fetch import Fetcher, Wording

if TYPE_CHECKING:
    from outlast_sandbox.browser.agent_browsers import AgentBrowsers

FOLDER: Final = "agent_browsers"  # below the data directory
log = logging.getLogger("outlast.browser")

def open_app(opening: Opening) -> Opened:
    """The configured tools."""
    settings = opening.settings.of(WebSettings)
    tools: list[Tool] = []
    if settings.search != "none":
        connections = Connections()
        opening.closing.push_async_callback(connections.aclose)
        key = ApiKey(opening.environment.get(settings.key_env, ""))
        tools.append(search_tool(open_service(settings, connections, opening.clock, key), settings.results))
    if settings.fetch:
        wording = Wording("web_fetch", too_large="web.page_bytes", private="it is not read unless web.allow_private names it")
        fetcher = Fetcher(settings.timeout_s, opening.clock, wording)
        opening.closing.push_async_callback(fetcher.aclose)
        tools.append(fetch_tool(PageReader(fetcher, settings)))
    browsers = _open_browsers(opening, settings) if settings.browser else None
    if browsers is None:
        return Opened(implements=[WEB_TOOLS.by(tools)])
    from outlast.apps.web.thread_pages import ThreadPages

    tools += browser_tools(ThreadPages(browsers, opening.database, opening.workspaces, settings))
    return Opened(implements=[WEB_TOOLS.by(tools)], tasks={"browsers of agents": browsers.run})


def _open_browsers(opening: Opening, settings: WebSettings) -> "AgentBrowsers | None":
    """The browsers of agents; None without Chromium."""
    from outlast_sandbox.browser.agent_browsers import AgentBrowsers
    from outlast_sandbox.browser.chromium import find_browser

    program = find_browser(opening.settings.screens.browser)
    if program is None:
        log.warning("agents get no browser: Chromium was not found", extra={"setting": "screens.browser"})
        return None
    return AgentBrowsers(
        opening.clock,
        opening.folder / FOLDER,
        cache_directory(),
        program,
        partial(find_over, opening.database),
        most=settings.browsers,
        allow_private=settings.allow_private,
    )
