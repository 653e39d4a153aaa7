"""A re-ranker over HTTP: a model that reads the query together with each of the best hits and scores them.

The protocol is common to such services: POST {model, query, documents, top_n}, answered by {"results": [{"index",
"relevance_score"}]} (also a bare list, and "score"). It is optional: on any error, the order stays.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import anyio

from outlast.base.lazy_module import LazyModule
from outlast.kernel.models.providers.connections import Connections

if TYPE_CHECKING:
    import aiohttp
else:
    aiohttp = LazyModule("aiohttp")

DOCUMENT_CHARS: Final = 8_000  # of each text that is sent
ANSWER_BYTES: Final = 1_000_000


class RerankFailed(Exception):
    """The reason why there is no order, for people: without text of the query or the key."""


class Reranker:
    """The configured service. `key` is sent as a bearer token, or empty for none."""

    def __init__(self, connections: Connections, url: str, model: str, key: str, timeout_s: float) -> None:
        self._connections, self._url, self._model, self._timeout_s = connections, url, model, timeout_s
        self._headers = {"authorization": f"Bearer {key}"} if key else {}

    async def scores(self, query: str, documents: Sequence[str]) -> list[float]:
        """The relevance of each document to the query, from the service. Raises `RerankFailed`, also after the time
        limit; cancelled, the request is given up."""
        body: dict[str, Any] = {
            "query": query,
            "documents": [document[:DOCUMENT_CHARS] for document in documents],
            "top_n": len(documents),
        }
        if self._model:
            body["model"] = self._model
        try:
            with anyio.fail_after(self._timeout_s):
                return _scores(await self._ask(body), len(documents))
        except TimeoutError:
            raise RerankFailed(f"it did not answer within {self._timeout_s:g} seconds") from None
        except (aiohttp.ClientError, OSError) as error:
            raise RerankFailed(f"it could not be reached ({type(error).__name__})") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise RerankFailed("its answer was not valid") from None

    async def _ask(self, body: dict[str, Any]) -> Any:
        session = self._connections.session(self._url)
        async with session.post(self._url, json=body, headers=self._headers, allow_redirects=False) as response:
            if response.status != 200:
                raise RerankFailed(f"it answered with status {response.status}")
            if (response.content_length or 0) > ANSWER_BYTES:
                raise RerankFailed("its answer was too long")
            return await response.json(content_type=None)


def _scores(answer: Any, count: int) -> list[float]:
    rows = answer["results"] if isinstance(answer, dict) else answer
    told = {int(row["index"]): float(row.get("relevance_score", row.get("score"))) for row in rows}
    if not told or not told.keys() <= set(range(count)) or any(map(math.isnan, told.values())):
        raise ValueError("no scores, or of other documents")
    least = min(told.values())
    return [told.get(at, least) for at in range(count)]
