"""Brave Search (https://api-dashboard.search.brave.com/app/documentation/web-search).

GET /web/search?q=…&count=… with the header `X-Subscription-Token` answers `{"web": {"results": [{"title", "url",
"description"}]}}`; without results there is no `web`. A query has at most 400 characters and 50 words. 422 is an invalid
request, also one with an invalid key.
"""

from typing import Final

from outlast.apps.web.search.service import ServiceClient, WebResult, results_of

MAX_WORDS: Final = 50
MAX_COUNT: Final = 20


class Brave:
    """Brave's web search."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def search(self, query: str, most: int) -> list[WebResult]:
        """See `SearchService`."""
        headers = {"Accept": "application/json", "X-Subscription-Token": self._client.key.reveal()}
        words = " ".join(query.split()[:MAX_WORDS])
        params = {"q": words, "count": str(min(most, MAX_COUNT)), "text_decorations": "false"}
        refusals = {422: f"the operator checks the key in {self._client.key_env}; or the query is not valid."}
        answer = await self._client.ask("GET", "/web/search", refusals, params=params, headers=headers)
        web = answer.get("web") or {"results": []} if isinstance(answer, dict) else None
        if not isinstance(web, dict):
            raise self._client.garbage()
        return results_of(self._client, web.get("results"), "description", most)
