"""A dev server that an agent has started outlives the server, and so does a sandbox that sleeps."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from outlast.testing.model_server import ModelServer
from outlast_sandbox.interactive import ProcessInfo
from tests.crash import kills
from tests.crash.conftest import MakeServer
from tests.crash.outcome import check_no_leaks
from tests.crash.scenario import begin, follow, message
from tests.crash.server import CrashServer, until

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(300)]
SERVE = {"name": "web", "command": 'exec python3 -m http.server --bind 127.0.0.1 "$PORT"', "port": 3000}
TURNS: list[dict[str, Any]] = [
    {"text": "I serve it.", "calls": [{"id": "call_web", "name": "start_service", "arguments": SERVE}]},
    {"text": "It runs."},
]


async def processes(server: CrashServer) -> list[ProcessInfo]:
    """The processes of services in the one sandbox there is."""
    ((sandbox_id, ref),) = await server.provider().list_refs()
    sandbox = await server.provider().connect(sandbox_id, ref)
    try:
        return [one for one in await sandbox.processes.list() if (one.spec.tag or "").startswith("service:web:")]
    finally:
        await sandbox.aclose()


async def the_sandbox(server: CrashServer) -> dict[str, Any]:
    me = await server.get("/v1/me")
    (item,) = (await server.get(f"/v1/projects/{me['default_project_id']}/sandboxes"))["items"]
    return dict(item)


async def test_a_service_runs_on_through_a_kill_of_the_server_and_is_looked_after_again(
    make_server: MakeServer, model: ModelServer
) -> None:
    server = make_server()
    async with kills.opened(server) as db:
        played = await begin(server, "web", message("web", TURNS, pace_s=0.0))
        async for _ in follow(server, played):
            pass
        assert played.fold().status == "completed"
        (before,) = await processes(server)
        await server.kill()
        await server.revive()
        assert await processes(server) == [before]
        item = await the_sandbox(server)
        assert [(one["state"], one["restarts"]) for one in item["services"]] == [("healthy", 0)]
        sandbox = await server.provider().connect(*(await server.provider().list_refs())[0])
        await sandbox.processes.signal(before.pid, 9, group=True)
        await sandbox.aclose()

        async def again() -> bool:
            (service,) = (await the_sandbox(server))["services"]
            return (service["state"], service["restarts"]) == ("healthy", 1)

        with anyio.fail_after(60):
            await until(again)
        await check_no_leaks(server, db)


async def test_a_frozen_sandbox_is_found_frozen_after_a_kill_and_goes_on_where_it_was(
    make_server: MakeServer, model: ModelServer
) -> None:
    server = make_server()
    async with kills.opened(server) as db:
        played = await begin(server, "web", message("web", TURNS, pace_s=0.0))
        async for _ in follow(server, played):
            pass
        item = await the_sandbox(server)
        assert (await server.call("POST", f"/v1/sandboxes/{item['id']}/pause"))[0] == 200
        await server.kill()
        await server.revive()
        after = await the_sandbox(server)
        assert (after["id"], after["pause_kind"]) == (item["id"], "frozen")
        assert after["memory_bytes"], "measured, and not woken for that"
        status, woken = await server.call("POST", f"/v1/sandboxes/{item['id']}/resume")
        assert (status, woken["id"], woken["state"]) == (200, item["id"], "ready")
        assert [(one["state"], one["restarts"]) for one in woken["services"]] == [("healthy", 0)]
        await check_no_leaks(server, db)
