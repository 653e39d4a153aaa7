"""The library `mcp` over connections of ours, which refuse private addresses and bound what is read. Import it in a
thread: it takes long to load."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any, Final

import aiohttp
import httpx2
from mcp import Client, MCPError
from mcp.client.session import ClientRequestContext, ElicitationFnT
from mcp.client.streamable_http import streamable_http_client
from mcp_types import (
    HEADER_MISMATCH,
    URL_ELICITATION_REQUIRED,
    CallToolResult,
    ElicitationRequiredErrorData,
    ElicitRequest,
    ElicitRequestParams,
    ElicitRequestURLParams,
    ElicitResult,
    ErrorData,
    Implementation,
    InputRequest,
    InputRequiredResult,
    InputResponses,
    Tool,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from outlast.base.errors import MalformedInput, OutlastError
from outlast.base.mcp_errors import McpServerFailed
from outlast.kernel.http.http_resolver import Resolver
from outlast.kernel.http.private_addresses import Allowed, PrivateAddress
from outlast.kernel.mcp.definitions import HINTS, Definition
from outlast.kernel.mcp.live_calls import Ask, refuse
from outlast.kernel.mcp.outcomes import Request, Wanted
from outlast.kernel.mcp.rules import checked_url
from outlast.kernel.mcp.targets import Failure, Target

MAX_ANSWER_BYTES: Final = 10_000_000  # of one response, which the library parses on the event loop
MAX_PAGES: Final = 20  # of a listing
MAX_LISTED: Final = 1_000
CONNECT_S: Final = 10.0
_BLOCK: Final = 65_536
_OURS: Final = frozenset({"host", "content-length", "accept-encoding", "connection", "user-agent"})


@asynccontextmanager
async def connect(target: Target, allowed: Allowed, failure: Failure, ask: Ask = refuse) -> AsyncIterator[Client]:
    """A client of the server. `failure` holds why its last request failed; `ask` asks a person while a call waits."""
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(resolver=Resolver(allowed), use_dns_cache=False, limit=8),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"User-Agent": f"Outlast/{version('outlast')} (mcp)", "Accept-Encoding": "identity"},
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
        auto_decompress=False,
        read_bufsize=_BLOCK,
    )
    async with session:
        http = httpx2.AsyncClient(transport=_Guarded(session, target, allowed, failure), timeout=None, trust_env=False)
        async with http:
            transport = streamable_http_client(target.url, http_client=http, max_sse_event_size=MAX_ANSWER_BYTES)
            who = Implementation(name="outlast", version=version("outlast"))
            async with Client(transport, client_info=who, cache=None, elicitation_callback=elicitation(ask)) as client:
                yield client


class _Guarded(httpx2.AsyncBaseTransport):
    """Sends the library's requests. Each address is checked, also that of a redirect, and each name again after it was
    resolved; only the server's own origin gets the header with the secret."""

    def __init__(self, session: aiohttp.ClientSession, target: Target, allowed: Allowed, failure: Failure) -> None:
        self._session, self._allowed, self._failure = session, allowed, failure
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
        body = await request.aread()
        answer = await self._session.request(
            request.method, url, data=body or None, headers=headers, allow_redirects=False
        )
        self._note(request.method, answer)
        if answer.headers.get("Content-Encoding", "identity") != "identity":  # it could be far larger than it seems
            answer.close()
            raise self._fail("answered in an encoding that was not asked for")
        return httpx2.Response(
            answer.status, headers=list(answer.headers.items()), stream=_Bounded(answer, self._fail), request=request
        )

    def _note(self, method: str, answer: aiohttp.ClientResponse) -> None:
        if method != "POST":  # the stream of notifications, and the end of a session: servers need not have them
            return
        self._failure.status = answer.status
        self._failure.reason = "" if answer.status < 300 else f"answered with HTTP status {answer.status}"

    def _fail(self, reason: str) -> httpx2.TransportError:
        self._failure.reason = reason
        return httpx2.ReadError(reason)


class _Bounded(httpx2.AsyncByteStream):
    """The body of a response, up to `MAX_ANSWER_BYTES`."""

    def __init__(self, answer: aiohttp.ClientResponse, fail: Callable[[str], Exception]) -> None:
        self._answer, self._fail = answer, fail

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MAX_ANSWER_BYTES
        try:
            async for block in self._answer.content.iter_any():
                left -= len(block)
                if left < 0:
                    raise self._fail(f"answered with more than {MAX_ANSWER_BYTES:,} bytes")
                yield block
        except (aiohttp.ClientError, OSError):
            raise self._fail("ended the connection before its answer was complete") from None

    async def aclose(self) -> None:
        self._answer.close()


async def list_tools(client: Client) -> Sequence[Definition]:
    """The tools of a server, at most `MAX_LISTED`."""
    found: list[Definition] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        found.extend(_definition(tool) for tool in page.tools)
        cursor = page.next_cursor
        if cursor is None or len(found) >= MAX_LISTED:
            break
    return found[:MAX_LISTED]


def _definition(tool: Tool) -> Definition:
    hints = {} if tool.annotations is None else tool.annotations.model_dump(by_alias=True)
    known = {name: hints[name] for name in HINTS if isinstance(hints.get(name), bool)}
    title = tool.title or hints.get("title") or ""
    return Definition(tool.name, title[:200], tool.description or "", tool.input_schema, known)


def elicitation(ask: Ask) -> ElicitationFnT:
    """The library's callback for servers that ask a person over the connection (up to revision 2025-11-25)."""

    async def answer(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        return ElicitResult.model_validate(await ask(_request(params)))

    return answer


async def call_tool(
    client: Client,
    name: str,
    arguments: Mapping[str, Any],
    answers: Mapping[str, Mapping[str, Any]] | None = None,
    state: str | None = None,
) -> CallToolResult | Wanted:
    """What a tool returned, or what its server wants to know of a person first. `answers` and `state`: of the person,
    and of the server, when it asked before."""
    responses: InputResponses | None = None
    if answers is not None:
        responses = {key: ElicitResult.model_validate(answer) for key, answer in answers.items()}

    async def send() -> CallToolResult | InputRequiredResult:
        return await client.session.call_tool(
            name, dict(arguments), input_responses=responses, request_state=state, allow_input_required=True
        )

    try:
        found = await send()
    except MCPError as error:
        if error.code == URL_ELICITATION_REQUIRED:
            return _pages_in(error)
        if error.code != HEADER_MISMATCH or client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            raise
        await list_tools(client)  # it tells which arguments are headers, too; the server did nothing
        found = await send()
    if isinstance(found, CallToolResult):
        return found
    requests = {key: _request_in(one) for key, one in (found.input_requests or {}).items()}
    return Wanted(requests, "again", found.request_state)


def _pages_in(error: MCPError) -> Wanted:
    data = ElicitationRequiredErrorData.model_validate(error.data)
    return Wanted({str(at): _request(one) for at, one in enumerate(data.elicitations)}, "plain")


def _request_in(one: InputRequest) -> Request:
    if not isinstance(one, ElicitRequest):
        raise McpServerFailed(f"The MCP server asks for {one.method}, which it was not offered.")
    return _request(one.params)


def _request(params: ElicitRequestParams) -> Request:
    if isinstance(params, ElicitRequestURLParams):
        return Request(params.message, {}, params.url)
    return Request(params.message, params.requested_schema)


def own_error(error: Exception) -> OutlastError | None:
    """The error of ours that was raised inside the connection, or None."""
    return next((one for one in _leaves(error) if isinstance(one, OutlastError)), None)


def reason_of(error: Exception) -> str:
    """Why a server failed, for people: what it says itself, or the type of the error."""
    for one in _leaves(error):
        if isinstance(one, MCPError):
            return f"refused the request: {' '.join(str(one).split())}"
    return f"answered something that cannot be read ({type(next(iter(_leaves(error)))).__name__})"


def _leaves(error: BaseException) -> Sequence[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for one in error.exceptions for leaf in _leaves(one)]
    return [error]


def _origin(url: httpx2.URL) -> tuple[str, str, int]:
    return url.scheme, url.host, url.port or (443 if url.scheme == "https" else 80)
