"""Servers behind a balancer are restarted one after the other while people follow and start runs: no request fails."""

from __future__ import annotations

import base64
import os
import resource
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import anyio
import orjson
import pytest
from anyio.abc import TaskGroup

from outlast.kernel.streams.fold import RunFold, apply
from tests.crash.balancer import NGINX, balancing, free_port, until_it_listens
from tests.crash.conftest import MakeServer
from tests.crash.scenario import message
from tests.crash.server import CrashServer
from tests.forked import Forked

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.timeout(900),
    pytest.mark.skipif(NGINX is None, reason="needs nginx, as of Debian's nginx-light"),
]
WORDS = " ".join(f"word{number}" for number in range(40))
TALKING = [{"text": WORDS, "delay_s": 0.03}]
QUESTION = {"questions": [{"id": "tone", "question": "Which tone?", "options": ["dry", "warm"]}]}
ASKING: list[dict[str, Any]] = [{"calls": [{"id": "call_ask", "name": "ask_user", "arguments": QUESTION}]}]
STARTERS = 4
PER_RUN = 20  # followers of each run that waits
BETWEEN_S = 1.0  # from one restart to the next
GENTLE = {"OUTLAST_SERVER_DRAIN_S": "1.5", "OUTLAST_SANDBOX_PROVIDER": "none", "OUTLAST_LIMITS_STREAMS_PER_USER": "0"}


@dataclass
class People:
    """Clients that know the balancer only."""

    url: str
    http: aiohttp.ClientSession
    statuses: Counter[int] = field(default_factory=Counter)
    cuts: int = 0  # streams without an end
    resumed: int = 0
    waits: list[int] = field(default_factory=list)  # before they reconnect, as stopping servers asked
    completed: int = 0
    started: int = 0

    def __str__(self) -> str:
        return (
            f"{self.resumed} streams resumed, {self.cuts} cut; {self.started} runs started, {self.completed} "
            f"completed; answers {dict(self.statuses)}"
        )

    def use(self, tasks: TaskGroup, until: anyio.Event) -> None:
        """Start runs one after the other, follow them, and look at pages, until then."""
        for number in range(STARTERS):
            tasks.start_soon(self.start_and_follow, f"starter-{number}", until)
        tasks.start_soon(self.look, until)

    async def call(self, method: str, path: str, body: Any = None, key: str = "") -> Any:
        headers = {"Idempotency-Key": key} if key else {}
        async with self.http.request(method, self.url + path, json=body, headers=headers) as answer:
            self.statuses[answer.status] += 1
            text = await answer.text()
            assert answer.status < 400, f"{method} {path}: {answer.status} {text[:300]}"
            return orjson.loads(text)

    async def start(self, key: str, turns: list[dict[str, Any]]) -> str:
        made = await self.call("POST", "/v1/runs", {"content": message(key, turns)}, key=f"start-{key}")
        self.started += 1
        return str(made["run_id"])

    async def follow(self, run_id: str, ready: anyio.Event | None = None) -> list[dict[str, Any]]:
        """Every event of a run up to the end of its stream, over any number of connections."""
        events: list[dict[str, Any]] = []
        while True:
            last = events[-1]["sequenceNumber"] if events else 0
            wait_ms = 1000
            try:
                async for name, value in self._frames(run_id, last):
                    if name == "retry":
                        wait_ms = int(value)
                    elif name == "data":
                        event = orjson.loads(value)
                        assert event["sequenceNumber"] > last, f"{event} after {last}"
                        last = event["sequenceNumber"]
                        events.append(event)
                        if event["event"] == "stream.ended":
                            return events
                    if ready is not None:
                        ready.set()
            except (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError):
                self.cuts += 1
            self.resumed += 1
            if wait_ms != 1000:
                self.waits.append(wait_ms)
            await anyio.sleep(wait_ms / 1000)

    async def _frames(self, run_id: str, last: int) -> AsyncIterator[tuple[str, str]]:
        url = f"{self.url}/v1/runs/{run_id}/events"
        async with self.http.get(url, headers={"Last-Event-ID": str(last)}) as answer:
            self.statuses[answer.status] += 1
            assert answer.status == 200, f"{answer.status} {await answer.text()}"
            async for line in answer.content:
                name, _, value = line.decode().strip().partition(": ")
                yield name, value

    async def start_and_follow(self, name: str, until: anyio.Event) -> None:
        number = 0
        while not until.is_set():
            number += 1
            events = await self.follow(await self.start(f"{name}-{number}", TALKING))
            state = RunFold()
            for event in events:
                apply(state, event)
            said = [part["text"] for part in state.parts if part["type"] == "text"]
            assert (state.status, said) == ("completed", [WORDS]), state.parts
            self.completed += 1

    async def look(self, until: anyio.Event) -> None:
        while not until.is_set():
            await self.call("GET", "/v1/projects")
            await anyio.sleep(0.05)


async def test_a_rolling_restart_fails_no_request(
    make_server: MakeServer, postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await roll(make_server, postgres_url, tmp_path, monkeypatch, followers=200, rounds=1)


@pytest.mark.deep
async def test_a_rolling_restart_under_two_thousand_followers_fails_no_request(
    make_server: MakeServer, postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One machine carries the clients, both servers, nginx and PostgreSQL: the checks of rights would take most of it.
    monkeypatch.setenv("OUTLAST_STREAMS_RECHECK_S", "60")
    await roll(make_server, postgres_url, tmp_path, monkeypatch, followers=2000, rounds=3)


@dataclass
class Rig:
    """Two servers behind nginx on one database, and those who use them."""

    servers: list[CrashServer]
    people: People


@asynccontextmanager
async def behind_nginx(
    servers: list[CrashServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Rig]:
    port = free_port()
    _allow_many_files()
    for name, value in GENTLE.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("OUTLAST_SERVER_PUBLIC_URL", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("OUTLAST_SECRET_KEY", base64.b64encode(os.urandom(32)).decode())
    async with AsyncExitStack() as stack:
        for server in servers:
            await stack.enter_async_context(server)
        token = await token_of(servers[0], tmp_path)
        stack.enter_context(balancing(tmp_path / "nginx", port, [server.port for server in servers]))
        await until_it_listens(port)
        http = await stack.enter_async_context(
            aiohttp.ClientSession(
                headers={"Authorization": f"Bearer {token}"},
                connector=aiohttp.TCPConnector(limit=0),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=30),
                read_bufsize=1 << 22,
            )
        )
        yield Rig(servers, People(f"http://127.0.0.1:{port}", http))


async def roll(
    make_server: MakeServer,
    postgres_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    followers: int,
    rounds: int,
) -> None:
    shared = tmp_path / "blobs"
    servers = [make_server(name, database=postgres_url, lease_s=5.0, grace_s=5.0, shared=shared) for name in ("a", "b")]
    async with behind_nginx(servers, tmp_path, monkeypatch) as rig:
        people, over = rig.people, anyio.Event()
        async with anyio.create_task_group() as tasks:
            resting = [await people.start(f"resting-{number}", ASKING) for number in range(followers // PER_RUN)]
            await gather_followers(people, tasks, resting, followers)
            people.use(tasks, over)
            for _ in range(rounds):
                for server in servers:
                    await restart(server)
                    await anyio.sleep(BETWEEN_S)
            over.set()
            for run_id in resting:
                await people.call("POST", f"/v1/runs/{run_id}/cancel")
    print(f"{followers} followers, {people}")
    assert not [status for status in people.statuses if status >= 500]
    assert people.completed >= STARTERS
    assert people.resumed >= followers * rounds
    assert people.cuts == 0
    assert max(people.waits) - min(people.waits) > 1000, "they come back one after the other"


async def gather_followers(people: People, tasks: TaskGroup, run_ids: list[str], count: int) -> None:
    """Followers that wait; returns when all are connected."""
    connected = [anyio.Event() for _ in range(count)]
    for number, ready in enumerate(connected):
        tasks.start_soon(people.follow, run_ids[number % len(run_ids)], ready)
        if number % 50 == 49:  # not more at once than a server's queue for connections holds
            await ready.wait()
    for ready in connected:
        await ready.wait()


async def restart(server: CrashServer) -> None:
    with anyio.fail_after(120):
        assert await server.end(signal.SIGTERM) == 0, server.log()[-3000:]
        await server.start()


async def token_of(server: CrashServer, tmp_path: Path) -> str:
    config = str(server.folder / "outlast.toml")
    words = ["tokens", "create", "--config", config, "--data-dir", str(server.data_dir)]
    made = Forked(words, tmp_path / "token", errors=tmp_path / "errors")
    assert made.wait(120) == 0, (tmp_path / "errors").read_text()
    return (tmp_path / "token").read_text().strip()


def _allow_many_files() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65_536), hard))
