"""Bodies that are too large: what real programs that send first and read then get to see."""

from __future__ import annotations

import json
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPConnection
from typing import Any

import anyio
import anyio.to_thread
import pytest

from tests.flow.http.sockets import MEBIBYTE, rest_of, send_until_closed, served

SIZE = 20 * MEBIBYTE
Answer = tuple[int, Any]
FETCH = """
const body = new Uint8Array(Number(process.argv[2]))
const answer = await fetch(process.argv[1], {method: 'POST', body, headers: {'content-type': 'application/json'}})
console.log(JSON.stringify([answer.status, await answer.json()]))
"""


def with_curl(url: str) -> Answer:
    sent = ["-H", "content-type: application/json", "-H", "expect:", "--data-binary", "@-", "-w", "\n%{http_code}"]
    done = subprocess.run(["curl", "-sS", *sent, url], input=bytes(SIZE), capture_output=True, check=True)
    body, _, status = done.stdout.rpartition(b"\n")
    return int(status), json.loads(body)


def with_curl_that_asks_first(url: str) -> Answer:
    sent = ["-H", "content-type: application/json", "-H", "expect: 100-continue", "--expect100-timeout", "30"]
    sent += ["--data-binary", "@-", "-w", "\n%{http_code}"]
    done = subprocess.run(["curl", "-sS", *sent, url], input=bytes(SIZE), capture_output=True, check=True)
    body, _, status = done.stdout.rpartition(b"\n")
    return int(status), json.loads(body)


def with_urllib(url: str) -> Answer:
    request = urllib.request.Request(url, bytes(SIZE), {"content-type": "application/json"}, method="POST")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=30)
    return refused.value.code, json.loads(refused.value.read())


def with_http_client(url: str) -> Answer:
    """As requests and urllib3 do it."""
    host, _, path = url.removeprefix("http://").partition("/")
    connection = HTTPConnection(host, timeout=30)
    connection.request("POST", f"/{path}", bytes(SIZE), {"content-type": "application/json"})
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def with_fetch(url: str) -> Answer:
    command = ["node", "--input-type=module", "-e", FETCH, url, str(SIZE)]
    done = subprocess.run(command, capture_output=True, check=True)
    status, body = json.loads(done.stdout)
    return status, body


@pytest.mark.parametrize("ask", [with_curl, with_curl_that_asks_first, with_urllib, with_http_client, with_fetch])
@pytest.mark.parametrize("path", ["/v1/runs", "/v1/attachments"], ids=["too large", "of another kind"])
async def test_a_program_that_sends_a_large_body_sees_why_it_is_refused(ask: Callable[[str], Answer], path: str):
    # The connection was closed on unread bytes: programs saw a reset, and no word of the limit.
    if "curl" in ask.__name__ and shutil.which("curl") is None:
        pytest.skip("there is no curl")
    async with served() as here:
        status, problem = await anyio.to_thread.run_sync(ask, f"http://127.0.0.1:{here.port}{path}")
        code = {"/v1/runs": (413, "input_too_large"), "/v1/attachments": (400, "malformed_input")}[path]
        assert (status, problem["code"]) == code
        assert problem["hint"]
        assert here.seen == []


async def test_a_connection_stays_usable_after_a_body_was_read_away():
    async with served(body_bytes=1000) as here, await here.connect() as client:
        head = b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        await client.send(head + b"Content-Length: 2000\r\n\r\n" + b"x" * 2000)
        assert (await client.receive()).startswith(b"HTTP/1.1 413 ")
        await client.send(b"GET /v1/me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert (await rest_of(client)).endswith(b"GET /v1/me 0")


async def test_a_body_that_does_not_come_is_not_waited_for_long():
    async with served(body_bytes=1000, read_away_s=0.1) as here, await here.connect() as client:
        head = b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        await client.send(head + b"Content-Length: 2000\r\n\r\n" + b"x" * 100)
        answer = await rest_of(client)
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert b"connection: close" in answer


async def test_no_more_than_so_much_is_read_away(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("outlast.kernel.http.body_limits.MAX_READ_AWAY_BYTES", MEBIBYTE)
    async with served(body_bytes=1000) as here, await here.connect() as client:
        head = b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        await client.send(head + b"Transfer-Encoding: chunked\r\n\r\n")
        piece = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
        with anyio.fail_after(60):
            await send_until_closed(client, piece)
