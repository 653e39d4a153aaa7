"""What a search service is, and what its adapters share: one bounded JSON request, and results with bounded texts."""

import html
import re
from collections.abc import Mapping
from dataclasses import field
from outlast.base.records import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import anyio
import orjson

from outlast.base.clock import Clock
from outlast.base.lazy_module import LazyModule
from outlast.kernel.models.api_key import ApiKey
from outlast.kernel.models.failures import retry_after_s
from outlast.kernel.models.providers.connections import Connections

if TYPE_CHECKING:
    import aiohttp
else:
    aiohttp = LazyModule("aiohttp")

ANSWER_BYTES: Final = 2_000_000
TITLE_CHARS: Final = 200
EXCERPT_CHARS: Final = 800
URL_CHARS: Final = 2_000
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]*+>")


class SearchFailed(Exception):
    """The search service gave no results; the message gives the reason, for agents and people, without the key."""


@dataclass(frozen=True, slots=True)
class WebResult:
    """A page that was found. `title` and `excerpt` are plain text and may be empty."""

    title: str
    url: str
    excerpt: str


class SearchService(Protocol):
    """One configured search service."""

    async def search(self, query: str, most: int) -> list[WebResult]:
        """At most `most` results, best first. Raises `SearchFailed`. Safe to repeat and to cancel."""
        ...


@dataclass(frozen=True, slots=True)
class ServiceClient:
    """Sends requests to the service `name` at `url`. `key_env` is the variable that holds `key`, empty for none."""

    name: str
    url: str
    connections: Connections
    clock: Clock
    timeout_s: float
    key: ApiKey = field(default_factory=lambda: ApiKey(""))
    key_env: str = ""

    async def ask(self, method: str, path: str, refusals: Mapping[int, str], **options: Any) -> Any:
        """The JSON of the answer. `refusals` say what a status of this service means. Raises `SearchFailed`."""
        if self.key_env and not self.key:
            raise SearchFailed(f"{self.name} needs a key: the operator puts it into {self.key_env} on the server.")
        try:
            with anyio.fail_after(self.timeout_s):
                body = await self._send(method, path, refusals, options)
            return orjson.loads(body)
        except TimeoutError:
            raise SearchFailed(f"{self.name} did not answer within {self.timeout_s:g} s. Try again later.") from None
        except (aiohttp.ClientError, OSError) as error:
            raise SearchFailed(f"{self.name} cannot be reached ({type(error).__name__}). Try again later.") from None
        except ValueError:
            raise self.garbage() from None

    def garbage(self) -> SearchFailed:
        """The error for an answer that is not the service's."""
        return SearchFailed(f"{self.name} answered with something other than results: its address may be wrong.")

    async def _send(self, method: str, path: str, refusals: Mapping[int, str], options: dict[str, Any]) -> bytes:
        session = self.connections.session(self.url)
        unlimited = aiohttp.ClientTimeout(total=None)  # the caller has set one
        async with session.request(
            method, f"{self.url}{path}", timeout=unlimited, allow_redirects=False, **options
        ) as answer:
            if answer.status != 200:
                raise self._refusal(answer, refusals)
            body = bytearray()
            async for block in answer.content.iter_chunked(65_536):
                body += block
                if len(body) > ANSWER_BYTES:
                    raise SearchFailed(f"The answer of {self.name} is longer than {ANSWER_BYTES:,} bytes.")
            return bytes(body)

    def _refusal(self, answer: "aiohttp.ClientResponse", refusals: Mapping[int, str]) -> SearchFailed:
        status = answer.status
        if status in refusals:
            return SearchFailed(f"{self.name} refused the search: {refusals[status]}")
        if status == 429:
            wait_s = retry_after_s(answer.headers, self.clock.now())
            when = "later" if wait_s is None else f"in {wait_s:.0f} s"
            return SearchFailed(f"{self.name} takes no more searches now (429). Try again {when}.")
        if status in (401, 403):
            place = f"the key in {self.key_env}" if self.key_env else "its settings"
            return SearchFailed(f"{self.name} refused access ({status}): the operator checks {place} on the server.")
        if status >= 500:
            return SearchFailed(f"{self.name} has a fault ({status}). Try again later.")
        return SearchFailed(f"{self.name} refused the search ({status}).")


def results_of(client: ServiceClient, rows: Any, excerpt_field: str, most: int) -> list[WebResult]:
    """The results in the rows of an answer, without those that have no web address. Raises `SearchFailed`."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise client.garbage()
    found: dict[str, WebResult] = {}
    for row in rows:
        url = row.get("url")
        if isinstance(url, str) and url.startswith(("http://", "https://")) and len(url) <= URL_CHARS:
            title, excerpt = _plain(row.get("title"), TITLE_CHARS), _plain(row.get(excerpt_field), EXCERPT_CHARS)
            found.setdefault(url, WebResult(title, url, excerpt))
    return list(found.values())[:most]


def _plain(text: Any, most: int) -> str:
    """A text without markup, on one line."""
    if not isinstance(text, str):
        return ""
    line = " ".join(html.unescape(_TAG.sub("", text[: 10 * most])).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
