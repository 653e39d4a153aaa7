"""SIGKILL in the middle of a click of an agent's browser: it may have taken effect, so it is never made again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from aiohttp import web

from outlast.testing.model_server import ModelServer
from outlast_sandbox.browser.chromium import find_browser
from tests.crash import kills
from tests.crash.conftest import MakeServer
from tests.crash.outcome import check_followed, check_ledger
from tests.crash.scenario import play
from tests.crash.server import until

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.browser,
    pytest.mark.skipif(find_browser() is None, reason="no Chromium: apt install chromium"),
]
PAGE = '<title>Shop</title><h1>Bicycles</h1><form action="/bought" method="post"><button>Buy</button></form>'
CONFIG = """
[web]
browser = true
allow_private = ["{place}"]
[[policy]]
tool = "browser_permission"
decision = "allow"
"""


@dataclass
class Shop:
    """Counts what is bought; whoever buys waits until `goes_on`."""

    port: int = 0
    bought: int = 0
    goes_on: anyio.Event = field(default_factory=anyio.Event)

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def show(self, _request: web.Request) -> web.Response:
        return web.Response(text=PAGE, content_type="text/html")

    async def buy(self, _request: web.Request) -> web.Response:
        self.bought += 1
        await self.goes_on.wait()
        return web.Response(text="<h1>Bought</h1>", content_type="text/html")


@asynccontextmanager
async def shop() -> AsyncIterator[Shop]:
    it, app = Shop(), web.Application()
    app.router.add_get("/", it.show)
    app.router.add_post("/bought", it.buy)
    runner = web.AppRunner(app, shutdown_timeout=1)
    await runner.setup()
    place = web.TCPSite(runner, "127.0.0.1", 0)
    await place.start()
    it.port = place._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
    try:
        yield it
    finally:
        it.goes_on.set()
        await runner.cleanup()


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": f"call_{name}", "name": f"browser_{name}", "arguments": arguments}


async def test_a_click_that_was_killed_is_not_made_again_and_the_run_ends(
    make_server: MakeServer, model: ModelServer
) -> None:
    async with shop() as it:
        server = make_server(more=CONFIG.format(place=it.place))
        site = f"http://{it.place}"
        turns: list[dict[str, Any]] = [
            {"calls": [call("open", url=f"{site}/")]},
            {"calls": [call("permission", site=site)]},
            {"calls": [call("click", element=1)]},
            {"calls": [call("read")]},
            {"text": "I do not know whether it was bought."},
        ]
        async with kills.opened(server) as db:

            async def kill() -> None:
                await until(lambda: it.bought > 0)
                await server.kill()
                it.goes_on.set()

            async with anyio.create_task_group() as group:
                group.start_soon(kill)
                played = await play(server, turns)
            state = played.fold()
            assert (server.starts, state.status, it.bought) == (2, "completed", 1), state
            await check_followed(db, played)
            await check_ledger(db)
        calls = {part["tool"]: part for part in state.parts if part["type"] == "tool_call"}
        assert calls["browser_click"]["status"] == "interrupted"
        assert "whether it took effect is not known" in calls["browser_click"]["result"]
        assert "no page" in calls["browser_read"]["result"].lower()
