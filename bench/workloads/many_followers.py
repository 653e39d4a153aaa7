"""W3: one run at 50 tokens a second with 500 followers: 25,000 events a second."""

import anyio

from bench.client import Tally
from bench.figures import Figure
from bench.model_server import order
from bench.rig import Rig
from bench.workloads.many_runs import steady

FOLLOWERS, RATE = 500, 50


async def measure(rig: Rig) -> list[Figure]:
    seconds = 4 if rig.quick else 10
    tally = Tally()
    run_id = await rig.api.start(order((seconds + 10) * RATE, RATE, first_ms=2000))
    followers = [await rig.follow(run_id, tally) for _ in range(FOLLOWERS)]
    await anyio.sleep(3)
    figures = await steady(rig, tally, seconds, FOLLOWERS * RATE)
    for follower in followers:
        follower.drop()
    return [
        *figures[:1],
        Figure("CPU per event", figures[1].value, "µs", 12),
        Figure("latency p50", figures[2].value, "ms", 20),
        *figures[3:],
    ]
