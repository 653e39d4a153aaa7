"""Requests to servers that sign people in: permitted addresses only, also after a redirect and once a name is resolved;
short answers, within a deadline."""

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin

import anyio.to_thread
import orjson

from outlast.base.connection_errors import SignInFailed, SignInRefused
from outlast.base.errors import MalformedInput
from outlast.base.lazy_module import LazyModule
from outlast.kernel.connections.web_request import WebAnswer, WebRequest
from outlast.kernel.http.private_addresses import Allowed, PrivateAddress
from outlast.kernel.http.web_addresses import checked_address

if TYPE_CHECKING:
    import aiohttp
else:
    aiohttp = LazyModule("aiohttp")

RESOLVER: Final = "outlast.kernel.http.http_resolver"
MAX_BYTES: Final = 256_000
MAX_REDIRECTS: Final = 3
TIMEOUT_S: Final = 10.0
CONNECT_S: Final = 5.0
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


class WebClient:
    """Requests of one flow; keeps nothing between two of them."""

    def __init__(self, allowed: Allowed) -> None:
        self._allowed = allowed

    async def get(self, url: str) -> WebAnswer:
        """The answer, after at most `MAX_REDIRECTS` redirects. Raises `SignInRefused` for an address that may not be
        reached, and `SignInFailed`."""
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self.send(WebRequest("GET", url))
            if answer.status not in _REDIRECTS:
                return answer
            url = urljoin(url, answer.headers.get("Location", ""))
        raise SignInFailed(f"{url[:200]} redirects too often.", server=url[:200])

    async def send(self, request: WebRequest) -> WebAnswer:
        """The answer; a redirect is not followed. Raises as `get`."""
        url = request.url
        headers = {"Authorization": request.authorization} if request.authorization else {}
        body = {"data": request.form, "json": request.json}
        self.check(url)
        resolver = await anyio.to_thread.run_sync(import_module, RESOLVER)  # loads aiohttp, which takes long
        try:
            async with (
                self._session(resolver.Resolver(self._allowed)) as session,
                session.request(request.method, url, headers=headers, allow_redirects=False, **body) as answer,
            ):
                return WebAnswer(answer.status, answer.headers, _object(await _read(answer)))
        except PrivateAddress:
            raise _private(url) from None
        except TimeoutError:
            raise SignInFailed(f"{_origin(url)} did not answer within {TIMEOUT_S:g} s.", server=_origin(url)) from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            inner = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
            if isinstance(inner, PrivateAddress):
                raise _private(url) from None
            raise SignInFailed(f"{_origin(url)} cannot be reached.", server=_origin(url)) from None

    def check(self, url: str) -> None:
        """Raises `SignInRefused` if the address may not be reached, or is not of HTTPS."""
        try:
            address = checked_address(url, self._allowed, thing="a sign-in server", example="https://example.com")
        except MalformedInput as error:
            raise SignInRefused(f"{url[:200]} cannot be used to sign in: {error.message}", server=url[:200]) from None
        if not url.lower().startswith("https:") and address not in self._allowed:
            raise SignInRefused(f"{url[:200]} is not an https:// address.", server=url[:200])

    @staticmethod
    def _session(resolver: Any) -> "aiohttp.ClientSession":
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(resolver=resolver, use_dns_cache=False, limit=1),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={
                "User-Agent": f"Outlast/{version('outlast')} (connections)",
                "Accept": "application/json, text/event-stream;q=0.5",
                "Accept-Encoding": "identity",
            },
            timeout=aiohttp.ClientTimeout(total=TIMEOUT_S, sock_connect=CONNECT_S),
            auto_decompress=False,
        )


async def _read(answer: "aiohttp.ClientResponse") -> bytes:
    """The body of an answer in JSON; nothing of any other, such as a stream."""
    if "json" not in answer.headers.get("Content-Type", "") or "Content-Encoding" in answer.headers:
        return b""
    body = bytearray()
    while block := await answer.content.read(MAX_BYTES):
        body += block
        if len(body) > MAX_BYTES:
            raise ValueError("too long")
    return bytes(body)


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _private(url: str) -> SignInRefused:
    return SignInRefused(f"{_origin(url)} belongs to a private network.", server=_origin(url))


def _origin(url: str) -> str:
    return "/".join(url.split("/")[:3])[:200]
