"""Uploads of files into a server that is killed meanwhile."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

import aiohttp
import anyio
import pytest

from tests.crash.conftest import MakeServer
from tests.crash.server import CrashServer

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(600)]
PIECE = 1_000_000
PIECES = 3


async def send(server: CrashServer, upload: str, content: bytes | AsyncIterator[bytes], offset: int) -> int:
    """Send a piece; the offset at which the upload continues."""
    assert server.client is not None
    url = f"{server.url}/v1/uploads/{upload}?offset={offset}"
    kind = {"content-type": "application/octet-stream"}
    async with server.client.patch(url, data=content, headers=kind) as answer:
        assert answer.status == 200, await answer.text()
        return int((await answer.json())["offset"])


async def test_an_upload_continues_after_its_server_was_killed_within_a_piece(make_server: MakeServer) -> None:
    server, content = make_server(), os.urandom(PIECES * PIECE)
    async with server:
        asked = {"name": "big.bin", "size_bytes": len(content)}
        status, begun = await server.call("POST", "/v1/uploads", asked)
        assert status == 201
        upload = begun["id"]
        offset = await send(server, upload, content[:PIECE], 0)
        half_sent = anyio.Event()

        async def half() -> AsyncIterator[bytes]:
            yield content[PIECE : PIECE + PIECE // 2]
            half_sent.set()
            await anyio.sleep_forever()

        async def cut() -> None:
            with pytest.raises((aiohttp.ClientError, ConnectionError)):
                await send(server, upload, half(), offset)

        async with anyio.create_task_group() as group:
            group.start_soon(cut)
            await half_sent.wait()
            await server.kill()
        await server.start()
        assert (await server.get(f"/v1/uploads/{upload}"))["offset"] == PIECE
        while offset < len(content):
            offset = await send(server, upload, content[offset : offset + PIECE], offset)
            await server.kill()  # after it answered: the piece is stored
            await server.start()
        status, made = await server.call("POST", f"/v1/uploads/{upload}/complete")
        assert (status, made["size_bytes"]) == (201, len(content))
        assert server.client is not None
        async with server.client.get(f"{server.url}/v1/attachments/{upload}") as answer:
            assert await answer.read() == content
