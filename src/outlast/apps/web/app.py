"""The declaration of the web app."""

from typing import Final

from outlast.kernel.agents.tools.browser import browser
from outlast.kernel.agents.tools.web import WEB_TOOLS
from outlast.kernel.apps.app import App

TOOLS: Final = ["web_search", "web_fetch", *(tool.name for tool in browser)]
APP: Final = App(
    name="web", server="outlast.apps.web.server", trials="outlast.apps.web.trials", opens=[WEB_TOOLS], tools=TOOLS
)
