"""A server with the protocol of S3 on a free loopback port, which can be told to fail.

`bucket_server` runs for the whole session; `bucket_url` is the address of a new bucket on it.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final
from urllib.request import Request, urlopen

import pytest
from werkzeug.serving import WSGIRequestHandler, make_server

__all__ = ["BucketServer", "bucket_server", "bucket_url"]

Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
KEY_ID: Final = "an-id"
SECRET: Final = "not-for-logs"
_numbers = itertools.count(1)


class _Quiet(WSGIRequestHandler):
    def log(self, *args: Any) -> None:
        """Requests are counted, not printed."""


class BucketServer:
    """moto's server. `requests` are the methods and paths so far. `fail` is called with both before each request, and
    may return the status of an error; `wait` may block there."""

    def __init__(self) -> None:
        from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

        self._app: Wsgi = DomainDispatcherApplication(create_backend_app)
        self.requests: list[tuple[str, str]] = []
        self.fail: Callable[[str, str], int | None] = lambda _method, _path: None
        self._server = make_server("127.0.0.1", 0, self._answer, threaded=True, request_handler=_Quiet)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def create(self, name: str) -> str:
        """A new bucket; its address as in `blobs.url`."""
        urlopen(Request(f"{self.endpoint}/{name}", method="PUT"), timeout=30).close()
        return f"s3://{KEY_ID}:{SECRET}@{name}/some/prefix?endpoint={self.endpoint}&region=us-east-1"

    def count(self, method: str, part: str = "") -> int:
        """How many requests with this method had this in their path."""
        return sum(one == method and part in path for one, path in self.requests)

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _answer(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        self.requests.append((method, path))
        status = self.fail(method, path)
        if status is None:
            return self._app(environ, start)
        environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        start(f"{status} Failed", [("content-type", "application/xml"), ("content-length", "0")])
        return [b""]


@pytest.fixture(scope="session")
def bucket_server() -> Iterator[BucketServer]:
    """The server, for all tests of the session."""
    server = BucketServer()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def bucket_url(bucket_server: BucketServer) -> Iterator[str]:
    """The address of a new bucket. The server's failures end with the test."""
    yield bucket_server.create(f"bucket-{next(_numbers)}")
    bucket_server.fail = lambda _method, _path: None
