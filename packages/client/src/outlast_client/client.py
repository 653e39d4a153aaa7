"""The blocking client. `async_client.py` has the asynchronous one."""

from types import TracebackType
from typing import Self

import httpx

from outlast_client.headers import request_headers
from outlast_client.operations import Operations
from outlast_client.retries import Retries
from outlast_client.timeouts import REQUEST_S, request_timeout
from outlast_client.transport import Transport


class Client(Operations):
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
        http: httpx.Client | None = None,
    ) -> None:
        self._is_own = http is None
        self._http = httpx.Client() if http is None else http
        timeout = request_timeout(timeout_s)
        super().__init__(Transport(base_url, self._http, request_headers(token), timeout, retries or Retries()))

    def close(self) -> None:
        """Closes all connections."""
        if self._is_own:
            self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
