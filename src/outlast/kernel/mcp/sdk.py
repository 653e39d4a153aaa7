"""The library `mcp` over connections of ours, which refuse private addresses and bound what is read. Import it in a
thread: it takes long to load."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any, Final
from urllib.parse import urljoin

import aiohttp
import httpx2
from mcp import Client, ClientSession, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import DiscoverResult, Implementation, InitializeResult, ServerCapabilities
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from outlast.base.errors import MalformedInput, OutlastError
from outlast.kernel.http.http_resolver import Resolver
from outlast.kernel.http.private_addresses import Allowed, PrivateAddress
from outlast.kernel.mcp.answer_sizes import REFUSED, AnswerSize
from outlast.kernel.mcp.live_calls import Ask, refuse
from outlast.kernel.mcp.rules import checked_url
from outlast.kernel.mcp.sdk_requests import ResultBroken, Tasks, elicitation
from outlast.kernel.mcp.targets import Failure, Session, Target

MAX_ANSWER_BYTES: Final = 10_000_000  # of one message; `AnswerSize` refuses most of them earlier
CONNECT_S: Final = 10.0
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_BLOCK: Final = 65_536
_SESSION_ID: Final = "mcp-session-id"
_OURS: Final = frozenset({"host", "content-length", "accept-encoding", "connection", "user-agent"})


@asynccontextmanager
async def connect(
    target: Target, allowed: Allowed, failure: Failure, ask: Ask = refuse, session: Session | None = None
) -> AsyncIterator[ClientSession]:
    """A connection to the server. `failure` holds why its last request failed; `ask` asks a person while a call waits;
    `session` is gone on with."""
    session = session or Session()
    http_session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(resolver=Resolver(allowed), use_dns_cache=False, limit=8),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"User-Agent": f"Outlast/{version('outlast')} (mcp)", "Accept-Encoding": "identity"},
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
        auto_decompress=False,
        read_bufsize=_BLOCK,
    )
    async with http_session:
        guarded = _Guarded(http_session, target, allowed, failure, session)
        async with httpx2.AsyncClient(transport=guarded, timeout=None, trust_env=False) as http:
            transport = streamable_http_client(target.url, http_client=http, max_sse_event_size=MAX_ANSWER_BYTES)
            who = Implementation(name="outlast", version=version("outlast"))
            if _is_resumed(session):
                async with transport as streams, _resumed(streams, who, ask, session) as resumed:
                    yield resumed
                return
            more: Any = {"elicitation_callback": elicitation(ask), "extensions": [Tasks()]}
            async with Client(transport, client_info=who, cache=None, **more) as client:
                yield client.session


def _is_resumed(session: Session) -> bool:
    return bool(session.id) or session.version in MODERN_PROTOCOL_VERSIONS


@asynccontextmanager
async def _resumed(streams: Any, who: Implementation, ask: Ask, session: Session) -> AsyncIterator[ClientSession]:
    """A connection on which nothing is negotiated again."""
    extensions: dict[str, dict[str, Any]] = {Tasks.identifier: {}}
    more: Any = {"client_info": who, "elicitation_callback": elicitation(ask), "extensions": extensions}
    async with ClientSession(*streams[:2], **more) as one:
        can = ServerCapabilities()
        if session.version in MODERN_PROTOCOL_VERSIONS:
            one.adopt(
                DiscoverResult(supported_versions=[session.version], capabilities=can, ttl_ms=0, cache_scope="public")
            )
        else:
            one.adopt(InitializeResult(protocol_version=session.version, capabilities=can, server_info=who))
        yield one


class _Guarded(httpx2.AsyncBaseTransport):
    """Sends the library's requests. Each address is checked, also that of a redirect, and each name again after it was
    resolved; only the server's own origin gets the header with the secret."""

    def __init__(
        self, http: aiohttp.ClientSession, target: Target, allowed: Allowed, failure: Failure, session: Session
    ) -> None:
        self._http, self._allowed, self._failure, self._session = http, allowed, failure, session
        self._header = target.header
        self._origin = _origin(httpx2.URL(target.url))

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            return await self._send(request)
        except (MalformedInput, PrivateAddress):
            raise self._fail("has an address that belongs to a private network") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            inner = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
            if isinstance(inner, PrivateAddress):
                raise self._fail("has an address that belongs to a private network") from None
            words = getattr(inner, "strerror", None) or type(inner).__name__
            raise self._fail(f"cannot be reached: {words}") from None

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        url = str(request.url)
        checked_url(url, self._allowed)
        headers = [(name, text) for name, text in request.headers.multi_items() if name.lower() not in _OURS]
        if self._header is not None and _origin(request.url) == self._origin:
            headers.append(self._header)
        if request.method == "DELETE" and self._session.is_kept:
            return httpx2.Response(200, request=request)
        if self._session.id and _SESSION_ID not in request.headers and _origin(request.url) == self._origin:
            headers.append((_SESSION_ID, self._session.id))
        body = await request.aread()
        answer = await self._http.request(
            request.method, url, data=body or None, headers=headers, allow_redirects=False
        )
        self._note(request.method, url, answer)
        if answer.headers.get("Content-Encoding", "identity") != "identity":  # it could be far larger than it seems
            answer.close()
            raise self._fail("answered in an encoding that was not asked for")
        return httpx2.Response(
            answer.status, headers=list(answer.headers.items()), stream=_Bounded(answer, self._fail), request=request
        )

    def _note(self, method: str, url: str, answer: aiohttp.ClientResponse) -> None:
        if method != "POST":  # the stream of notifications, and the end of a session: servers need not have them
            return
        self._failure.status = answer.status
        self._session.id = answer.headers.get(_SESSION_ID, self._session.id)
        self._failure.reason = "" if answer.status < 300 else f"answered with HTTP status {answer.status}"
        if answer.status in REDIRECTS and "Location" in answer.headers:
            self._failure.reason = self._redirected(urljoin(url, answer.headers["Location"])) or self._failure.reason

    def _redirected(self, url: str) -> str:
        """Why a redirect is not followed; empty for one to the server itself, which the library may follow."""
        try:
            checked_url(url, self._allowed)
        except MalformedInput as error:
            return f"redirects elsewhere. {error.message}"
        scheme, host, port = origin = _origin(httpx2.URL(url))
        return "" if origin == self._origin else f"redirects to {scheme}://{host}:{port}, which is not followed"

    def _fail(self, reason: str) -> httpx2.TransportError:
        self._failure.reason = reason
        return httpx2.ReadError(reason)


class _Bounded(httpx2.AsyncByteStream):
    """The body of a response, unless it is too large to be read at once."""

    def __init__(self, answer: aiohttp.ClientResponse, fail: Callable[[str], Exception]) -> None:
        self._answer, self._fail = answer, fail

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = AnswerSize()
        try:
            async for block in self._answer.content.iter_any():
                if size.is_too_large(block):
                    raise self._fail(REFUSED)
                yield block
        except (aiohttp.ClientError, OSError):
            raise self._fail("ended the connection before its answer was complete") from None

    async def aclose(self) -> None:
        self._answer.close()


def own_error(error: Exception) -> OutlastError | None:
    """The error of ours that was raised inside the connection, or None."""
    return next((one for one in _leaves(error) if isinstance(one, OutlastError)), None)


def reason_of(error: Exception) -> str:
    """Why a server failed, for people: what it says itself, or the type of the error."""
    for one in _leaves(error):
        if isinstance(one, MCPError):
            return f"refused the request: {' '.join(str(one).split())}"
        if isinstance(one, ResultBroken):
            return f"returned a result that breaks the tool's own output schema: {one}"
    return f"answered something that cannot be read ({type(next(iter(_leaves(error)))).__name__})"


def _leaves(error: BaseException) -> Sequence[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for one in error.exceptions for leaf in _leaves(one)]
    return [error]


def _origin(url: httpx2.URL) -> tuple[str, str, int]:
    return url.scheme, url.host, url.port or (443 if url.scheme == "https" else 80)
