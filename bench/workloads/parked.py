"""W6: 1,000 runs wait for an approval; then some are approved. The model takes 50 ms to its first token.

The approved command does nothing, for every contestant."""

import anyio

from bench.client import Tally, now_ms, percentile
from bench.figures import Figure
from bench.model_server import order
from bench.rig import Rig

WARM_UP = 1200  # so many that the database's page cache, which is not the runs' memory, has its full size
MODEL_MS = 50


async def measure(rig: Rig) -> list[Figure]:
    count, decided = (200, 15) if rig.quick else (1000, 60)
    await park(rig, WARM_UP)
    await anyio.sleep(2)
    before = rig.server.rss_bytes()
    runs = await park(rig, count)
    await anyio.sleep(3)
    grown = rig.server.rss_bytes() - before
    cpu, idle_s = rig.server.cpu_s(), 5 if rig.quick else 60  # what a server does once a minute falls into it once
    await anyio.sleep(idle_s)
    used_s = rig.server.cpu_s() - cpu
    first, asked = [], []
    for run_id, approval_id in list(runs.items())[-decided:]:
        follower = await rig.follow(run_id, Tally())
        await follower.opened.wait()
        await anyio.sleep(0.02)
        began = now_ms()
        await rig.api.call("POST", f"/v1/approvals/{approval_id}", {"decision": "approve"})
        with anyio.move_on_after(10):
            await follower.first_token()
            first.append(follower.first_ns / 1e6 - began)
            asked.append(follower.arrived_ns / 1e6 - began)
        follower.drop()
    return [
        Figure("approve to first token p50", percentile(first, 0.5), "ms", MODEL_MS + 3),
        Figure("approve to first token p99", percentile(first, 0.99), "ms"),
        Figure("approve to model request p50", percentile(asked, 0.5), "ms"),
        Figure("memory per parked run", grown / count / 1024, "KB", 2),
        Figure("idle CPU with all of them parked", 100 * used_s / idle_s, "%", 0.1),
        Figure("approvals not continued", decided - len(first), f"of {decided}", 0),
    ]


async def park(rig: Rig, count: int) -> dict[str, str]:
    """Starts runs until they wait for an approval; returns their ids with their approvals' ids."""
    parked: dict[str, str] = {}
    limiter = anyio.CapacityLimiter(10)

    async def one() -> None:
        async with limiter:
            run_id = await rig.api.start(order(5, first_ms=MODEL_MS, tool=True))
        while True:
            view = await rig.api.call("GET", f"/v1/runs/{run_id}")
            if view["status"] == "awaiting_approval":
                parked[run_id] = view["pending"][0]["id"]
                return
            if view["status"] not in ("queued", "running"):
                raise RuntimeError(f"A run did not wait for its approval: {view}")
            await anyio.sleep(0.2)

    async with anyio.create_task_group() as tasks:
        for _ in range(count):
            tasks.start_soon(one)
    return parked
