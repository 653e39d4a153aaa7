"""Idle: the resource use of a server without work."""

import anyio

from bench.figures import Figure
from bench.rig import Rig


async def measure(rig: Rig) -> list[Figure]:
    seconds = 8 if rig.quick else 60  # what a server does once a minute falls into it once
    await anyio.sleep(2)
    cpu = rig.server.cpu_s()
    await anyio.sleep(seconds)
    used_s = rig.server.cpu_s() - cpu
    return [
        Figure("idle CPU", 100 * used_s / seconds, "%", 0.1),
        Figure("memory when idle", rig.server.rss_bytes() / 2**20, "MB"),
    ]
