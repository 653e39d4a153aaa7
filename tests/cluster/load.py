"""Runs that are always active, each followed by clients through the balancer and one that goes from server to server.
All go on after whatever happens from the last number that they have."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

import aiohttp
import anyio
import orjson

from tests.cluster.jobs import PACE_S, Job, Seen, new_job
from tests.cluster.rig import Rig
from tests.crash.scenario import Played, asked
from tests.crash.server import until

AGAIN_S: Final = 0.1
SHOWN: Final = 300


class Load:
    """`width` runs at a time, until it settles, each with so many followers through the balancer. `jobs`: all whose
    start was acknowledged. `pace_s`: between two words of the model."""

    def __init__(self, rig: Rig, seed: int, width: int = 20, *, balanced: int = 1, pace_s: float = PACE_S) -> None:
        self._rig, self._chance, self._width = rig, random.Random(f"load {seed}"), width
        self._balanced, self._pace_s = balanced, pace_s
        self.jobs: list[Job] = []
        self.stopping = False

    @property
    def active(self) -> list[Job]:
        return [job for job in self.jobs if not job.has_ended]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Start them; what is still on its way at the end is given up."""
        async with anyio.create_task_group() as group:
            for _ in range(self._width):
                group.start_soon(self._lane)
            yield
            group.cancel_scope.cancel()

    async def settle(self, within_s: float) -> None:
        """Start no more, and wait for those that are on their way, but not for longer than this."""
        self.stopping = True
        with anyio.move_on_after(within_s):
            await until(lambda: not self.active)

    async def _lane(self) -> None:
        while not self.stopping:
            await self.play(new_job(self._chance, self._rig.ledger.url, self._pace_s))

    async def play(self, job: Job) -> None:
        """Start it once, however often it has to be asked, and follow it to its end."""
        body = {"content": job.content, "profile": "clerk"}
        status, answer = await self._rig.door.call("POST", "/v1/runs", body, key=f"start-{job.marker}")
        assert status == 202, answer
        job.run_id, job.started_at = answer["run_id"], anyio.current_time()
        self.jobs.append(job)
        job.seen = [
            Seen(label, Played(job.run_id, answer["thread_id"], "", job.marker), moved_at=job.started_at)
            for label in (*["balanced"] * self._balanced, "wandering")
        ]
        doors: list[Callable[[], str]] = [*[lambda: self._rig.door.url] * self._balanced, self._any_node]
        async with anyio.create_task_group() as group:
            for seen, door in zip(job.seen, doors, strict=True):
                group.start_soon(self._follow, job, seen, door)

    def _any_node(self) -> str:
        return self._chance.choice(self._rig.nodes).url

    async def _follow(self, job: Job, seen: Seen, door: Callable[[], str]) -> None:
        answered: set[str] = set()
        async with anyio.create_task_group() as group:
            async for event in self._events(seen, door):
                for path, body in asked(event, seen.played, answered):
                    if seen is job.seen[0] and job.decision:
                        group.start_soon(self._decide, job, path, {**body, "decision": job.decision})

    async def _events(self, seen: Seen, door: Callable[[], str]) -> AsyncIterator[dict[str, Any]]:
        while not seen.has_ended:
            address = door()
            url = f"{address}/v1/runs/{seen.played.run_id}/events"
            try:
                async with self._rig.client.get(url, headers={"Last-Event-ID": str(seen.last)}) as answer:
                    if 400 <= answer.status < 500:
                        text = (await answer.text())[:SHOWN]
                        seen.problems.append(f"refused after {seen.last} at {address}: {answer.status} {text}")
                    elif answer.status >= 500 and address == self._rig.door.url:
                        self._rig.door.unavailable.append(f"{answer.status} {url}: {(await answer.text())[:SHOWN]}")
                    elif answer.status == 200:
                        async for line in answer.content:
                            if line.startswith(b"data: "):
                                event = orjson.loads(line[6:])
                                seen.take(event, address)
                                yield event
            except (aiohttp.ClientError, ConnectionError, TimeoutError):
                seen.played.cuts += 1
            if not seen.has_ended:
                await anyio.sleep(AGAIN_S)

    async def _decide(self, job: Job, path: str, body: dict[str, Any]) -> None:
        status, answer = await self._rig.door.call("POST", path, body)
        # A decision whose answer was lost with the server counts; asked again, it says so.
        assert status == 200 or answer["code"] == "approval_decided", answer
        job.decided[path] = body["decision"]
