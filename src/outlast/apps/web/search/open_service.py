"""Opens the configured search service."""

from collections.abc import Callable, Mapping
from typing import Final

from outlast.apps.web.search.brave import Brave
from outlast.apps.web.search.searxng import SearXNG
from outlast.apps.web.search.service import SearchService, ServiceClient
from outlast.apps.web.search.tavily import Tavily
from outlast.apps.web.settings import WebSettings
from outlast.base.clock import Clock
from outlast.kernel.models.api_key import ApiKey
from outlast.kernel.models.providers.connections import Connections

Adapter = Callable[[ServiceClient], SearchService]
_SERVICES: Final[Mapping[str, tuple[str, Adapter]]] = {
    "searxng": ("SearXNG", SearXNG),
    "brave": ("Brave Search", Brave),
    "tavily": ("Tavily", Tavily),
}


def open_service(settings: WebSettings, connections: Connections, clock: Clock, key: ApiKey) -> SearchService:
    """The service that `web.search` names, which is not "none"."""
    name, adapter = _SERVICES[settings.search]
    url, key_env = settings.service_url, settings.key_env
    return adapter(ServiceClient(name, url, connections, clock, settings.timeout_s, key, key_env))
