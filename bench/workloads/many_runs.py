"""W2: 100 runs at 50 tokens a second each, one follower each: 5,000 different events a second."""

import anyio

from bench.client import Follower, Tally, now_ms
from bench.figures import Figure
from bench.model_server import order
from bench.rig import Rig

RUNS, RATE = 100, 50


async def measure(rig: Rig) -> list[Figure]:
    seconds = 4 if rig.quick else 10
    tally = Tally()
    content = order((seconds + 40) * RATE, RATE, first_ms=200)
    followers: list[Follower] = []

    async def one(number: int) -> None:
        await anyio.sleep(number * 0.0137)  # evenly over a token's distance
        followers.append(await rig.follow(await rig.api.start(content), tally))
        await followers[-1].first_token()

    async with anyio.create_task_group() as tasks:
        for number in range(RUNS):
            tasks.start_soon(one, number)
    await anyio.sleep(1)
    figures = await steady(rig, tally, seconds, RUNS * RATE)
    for follower in followers:
        follower.drop()
    return [
        *figures[:1],
        Figure("CPU per event", figures[1].value, "µs", 80),
        Figure("latency p50", figures[2].value, "ms", 20),
        *figures[3:],
    ]


async def steady(rig: Rig, tally: Tally, seconds: float, wanted: int) -> list[Figure]:
    """The server's resource use and the events' latency at a steady load."""
    cpu = rig.server.cpu_s()
    tally.clear()
    began = now_ms()
    await anyio.sleep(seconds)
    took = (now_ms() - began) / 1e3
    tokens, used_s = tally.tokens, rig.server.cpu_s() - cpu
    return [
        Figure("events delivered a second", tokens / took, "1/s", 0.98 * wanted, more_is_better=True),
        Figure("CPU per event", used_s * 1e6 / max(tokens, 1), "µs"),
        Figure("latency p50", tally.latency_ms(0.5), "ms"),
        Figure("latency p99", tally.latency_ms(0.99), "ms"),
        Figure("share of the core used", 100 * used_s / took, "%"),
        Figure("events lost or doubled", tally.lost + tally.doubled, "events", 0),
    ]
