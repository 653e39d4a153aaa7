"""Cancel: from cancelling a run in the middle of its answer until its followers receive the end."""

import anyio

from bench.client import Tally, now_ms, percentile
from bench.figures import Figure
from bench.model_server import order
from bench.rig import Rig


async def measure(rig: Rig) -> list[Figure]:
    times = []
    for _ in range(8 if rig.quick else 20):
        run_id = await rig.api.start(order(500, 50))
        follower = await rig.follow(run_id, Tally())
        await follower.first_token()
        await anyio.sleep(0.1)
        began = now_ms()
        await rig.api.call("POST", f"/v1/runs/{run_id}/cancel")
        with anyio.move_on_after(10):
            await follower.ended.wait()
        times.append(now_ms() - began)
    return [
        Figure("cancel to ended p50", percentile(times, 0.5), "ms"),
        Figure("cancel to ended, slowest", percentile(times, 1), "ms", 2000),
    ]
