"""SearXNG: a search service that you run yourself (https://docs.searxng.org/dev/search_api.html).

GET /search?q=…&format=json answers `{"results": [{"url", "title", "content"}], "unresponsive_engines": [[name, why]]}`.
An instance whose `search.formats` does not list `json` answers 403.
"""

from typing import Final

from outlast.apps.web.search.service import SearchFailed, ServiceClient, WebResult, results_of

REFUSALS: Final = {403: "the operator adds json to search.formats in its settings.yml."}


class SearXNG:
    """An instance of SearXNG. A key is sent as a bearer token, for a proxy before it."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def search(self, query: str, most: int) -> list[WebResult]:
        """See `SearchService`."""
        headers = {"Accept": "application/json"}
        if self._client.key:
            headers["Authorization"] = f"Bearer {self._client.key.reveal()}"
        params = {"q": query, "format": "json"}
        answer = await self._client.ask("GET", "/search", REFUSALS, params=params, headers=headers)
        if not isinstance(answer, dict):
            raise self._client.garbage()
        found = results_of(self._client, answer.get("results"), "content", most)
        if not found and answer.get("unresponsive_engines"):
            raise SearchFailed("No search engine answered SearXNG. Try again later.")
        return found
