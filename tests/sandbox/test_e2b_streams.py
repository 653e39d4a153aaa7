"""How many streams of E2B's protocol one user may have open at once, with a real server and a real sandbox."""

from __future__ import annotations

import json
import socket
import struct
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from outlast.kernel.settings import Settings
from tests.sandbox.e2b_service import E2bService

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(180)]
MAX_STREAMS = Settings().limits.streams_per_user


def enveloped(message: dict[str, Any]) -> bytes:
    body = json.dumps(message).encode()
    return struct.pack(">BI", 0, len(body)) + body


class Follower:
    """One more listener of a program that runs."""

    def __init__(self, url: str, call: str, message: dict[str, Any], headers: dict[str, str]) -> None:
        parts = urlsplit(url)
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=60)
        body = enveloped(message)
        lines = [f"POST /process.Process/{call} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode() + body)

    def until(self, *wanted: bytes) -> bytes:
        received = b""
        while not any(word in received for word in wanted):
            piece = self.socket.recv(65_536)
            assert piece, received
            received += piece
        return received


def test_one_more_stream_than_a_user_may_have_is_refused_and_starts_nothing(e2b_service: E2bService):
    with ExitStack() as stack:
        http = stack.enter_context(
            httpx.Client(base_url=e2b_service.url, timeout=60, headers={"x-api-key": e2b_service.key})
        )
        made = http.post("/e2b/sandboxes", json={"timeout": 600}).json()
        stack.callback(http.delete, f"/e2b/sandboxes/{made['sandboxID']}")
        named = {"e2b-sandbox-id": made["sandboxID"], "x-access-token": made["envdAccessToken"]}
        streamed = {**named, "content-type": "application/connect+json"}

        def follow(call: str, message: dict[str, Any]) -> Follower:
            follower = Follower(e2b_service.url, call, message, streamed)
            stack.callback(follower.socket.close)
            return follower

        start = {"process": {"cmd": "/bin/sleep", "args": ["600"]}, "tag": "mine"}
        first = follow("Start", start)
        first.until(b'"pid"')
        others = [follow("Connect", {"process": {"tag": "mine"}}) for _ in range(MAX_STREAMS - 1)]
        for other in others:
            other.until(b'"pid"')
        for call, message in (("Connect", {"process": {"tag": "mine"}}), ("Start", start)):
            refused = follow(call, message)
            assert b"resource_exhausted" in refused.until(b'"error"'), call
        listed = http.post("/process.Process/List", json={}, headers=named).json()["processes"]
        assert [one["tag"] for one in listed] == ["mine"], "nothing was started for the one that was refused"
        others.pop().socket.close()
        while b"resource_exhausted" in follow("Connect", {"process": {"tag": "mine"}}).until(b'"pid"', b'"error"'):
            pass
