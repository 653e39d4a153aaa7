"""Tries the configured search service with one search."""

from collections.abc import Mapping
from typing import Final

from outlast.apps.web.search.open_service import open_service
from outlast.apps.web.search.service import SearchFailed
from outlast.apps.web.settings import WebSettings
from outlast.base.clock import Clock
from outlast.kernel.apps.trials import Trial, TrialFailed
from outlast.kernel.models.api_key import ApiKey
from outlast.kernel.models.providers.connections import Connections
from outlast.kernel.settings import Settings

QUERY: Final = "weather"  # of which every service knows pages


def trials(settings: Settings, environment: Mapping[str, str], clock: Clock) -> list[Trial]:
    """One for the search service, if there is one."""
    web = settings.of(WebSettings)
    if web.search == "none":
        return []

    async def run() -> str:
        connections = Connections()
        try:
            service = open_service(web, connections, clock, ApiKey(environment.get(web.key_env, "")))
            found = await service.search(QUERY, 1)
        except SearchFailed as error:
            raise TrialFailed(str(error)) from None
        finally:
            await connections.aclose()
        if not found:
            raise TrialFailed(f"It found nothing for “{QUERY}”.")
        return f"works: for “{QUERY}” it found {found[0].url}"

    return [Trial(name="web_search", what="Web search", about=f"{web.search} {web.service_url}", run=run)]
