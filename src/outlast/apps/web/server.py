"""What the web app opens once per server."""

from outlast.apps.web.page_reader import PageReader
from outlast.apps.web.search.open_service import open_service
from outlast.apps.web.settings import WebSettings
from outlast.apps.web.tools import fetch_tool, search_tool
from outlast.kernel.agents.tool import Tool
from outlast.kernel.agents.tools.web import WEB_TOOLS
from outlast.kernel.apps.opened import Opened, Opening
from outlast.kernel.models.api_key import ApiKey
from outlast.kernel.models.providers.connections import Connections
from outlast.kernel.web.http_fetch import Fetcher, Wording


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
    return Opened(implements=[WEB_TOOLS.by(tools)])
