"""The asynchronous client. `client.py` has the blocking one."""

from types import TracebackType
from typing import Self

import httpx

from outlast_client.async_operations import Operations
from outlast_client.async_transport import AsyncTransport
from outlast_client.headers import request_headers
from outlast_client.retries import Retries
from outlast_client.timeouts import REQUEST_S, request_timeout


class AsyncClient(Operations):
    """One server's API. `token`: an API token; none is needed for a server in local mode on this machine.

    A request waits `timeout_s` for each part of its response, at most 10 seconds to connect. If the server refuses a
    request for now (429, 503), the client repeats it after the pause that the server asks for. If there is no response,
    the client repeats only requests that change nothing twice: reads, deletions, and operations with an idempotency
    key. `http`: your own client, for proxies or certificates; you close it.
    """

    def __init__(
        self,
        base_url: str = "http://127.0.0.1:8400",
        token: str | None = None,
        *,
        timeout_s: float = REQUEST_S,
        retries: Retries | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self._is_own = http is None
        self._http = httpx.AsyncClient() if http is None else http
        timeout = request_timeout(timeout_s)
        super().__init__(AsyncTransport(base_url, self._http, request_headers(token), timeout, retries or Retries()))

    async def aclose(self) -> None:
        """Closes all connections."""
        if self._is_own:
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
