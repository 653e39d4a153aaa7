"""What the tools of the cluster's runs did, in a file on the side that no fault reaches: one line for each effect."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Self

import anyio
import orjson
from aiohttp import web

TAKES_S = 0.2  # so that faults meet calls that have begun


class Ledger:
    """An HTTP server that appends what it gets to a file. An async context manager."""

    def __init__(self, file: Path, host: str) -> None:
        self._file, self._host = file, host
        self.url = ""

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post("/", self._write)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, 0)
        await site.start()
        self.url = f"http://{self._host}:{self._runner.addresses[0][1]}/"
        return self

    async def __aexit__(self, *_: object) -> None:
        with anyio.CancelScope(shield=True):
            await self._runner.cleanup()

    def counts(self) -> Counter[str]:
        """How often each name was written."""
        lines = self._file.read_bytes().splitlines() if self._file.exists() else []
        return Counter(orjson.loads(line)["name"] for line in lines)

    def lines_of(self, name: str) -> list[str]:
        """Its lines, to be shown."""
        return [line for line in self._file.read_text().splitlines() if orjson.loads(line)["name"] == name]

    async def _write(self, request: web.Request) -> web.Response:
        line = orjson.loads(await request.read())
        with self._file.open("ab") as file:  # before the moment in which the caller may die
            file.write(orjson.dumps(line) + b"\n")
        await anyio.sleep(TAKES_S)
        return web.Response(text=f"{line['name']} is written")
