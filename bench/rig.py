"""The environment of a workload: a new model server and contestant, an API client, and the measurement's length."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

from bench.client import Api, Follower, Tally
from bench.servers import Server, model_server, server


@dataclass(frozen=True, slots=True)
class Rig:
    """`quick` asks for a shorter measurement with rougher figures."""

    server: Server
    api: Api
    quick: bool

    @property
    def durable(self) -> bool:
        return self.server.name in ("outlast", "postgres")

    async def follow(self, run_id: str, tally: Tally) -> Follower:
        follower = Follower(self.server.port, run_id, tally)
        await follower.open()
        return follower


@asynccontextmanager
async def rig(name: str, quick: bool, *, sandboxes: bool = True, agents: bool = False) -> AsyncIterator[Rig]:
    """A new contestant with an empty data directory, which is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as folder:
        async with (
            model_server() as model_port,
            server(name, model_port, Path(folder), sandboxes=sandboxes, agents=agents) as process,
        ):
            yield Rig(process, Api(process.port), quick)


async def wait_for_all(followers: list[Follower], seconds: float) -> int:
    """Waits until every follower's stream has ended, up to a limit; returns the number of ended streams."""
    with anyio.move_on_after(seconds):
        for follower in followers:
            await follower.ended.wait()
    return sum(follower.ended.is_set() for follower in followers)
