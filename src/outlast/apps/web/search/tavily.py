"""Tavily (https://docs.tavily.com/documentation/api-reference/endpoint/search).

POST /search with a bearer token and `{"query", "max_results", "search_depth"}` answers `{"results": [{"title", "url",
"content", "score"}]}`. 432 and 433 mean that the plan's or the pay-as-you-go limit is reached.
"""

from typing import Final

from outlast.apps.web.search.service import ServiceClient, WebResult, results_of

USED_UP: Final = "the limit of the operator's plan is reached."
REFUSALS: Final = {432: USED_UP, 433: USED_UP}
MAX_RESULTS: Final = 20


class Tavily:
    """Tavily's search."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def search(self, query: str, most: int) -> list[WebResult]:
        """See `SearchService`."""
        headers = {"Authorization": f"Bearer {self._client.key.reveal()}"}
        body = {"query": query, "max_results": min(most, MAX_RESULTS), "search_depth": "basic"}
        answer = await self._client.ask("POST", "/search", REFUSALS, json=body, headers=headers)
        if not isinstance(answer, dict):
            raise self._client.garbage()
        return results_of(self._client, answer.get("results"), "content", most)
