"""The web for agents: `web_search` asks a search service, `web_fetch` reads a page, `browser_open` … use one.

A *search service* is a program that the operator names in `[web]`: SearXNG, Brave or Tavily. Each has one adapter in
`search/`. Pages are fetched by `kernel/web`, which refuses private addresses. The `browser_…` tools use Chromium in a
sandbox of its own, one for each thread.
"""

from outlast.apps.web.settings import WebSettings

SETTINGS = {"web": WebSettings}
