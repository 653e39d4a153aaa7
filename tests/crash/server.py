"""A server process that may be killed at any time, and a client that goes on as if nothing had happened."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import aiohttp
import anyio
import orjson

from outlast.base.clock import SystemClock
from outlast.base.data_directory import cache_directory
from outlast.base.errors import SandboxLost
from outlast.db.connect import open_database
from outlast.db.database import Database
from outlast_sandbox.providers.local.provider import LocalProvider
from tests.crash.crash_database import BLOCKING, CLOCK, COMMITS_FILE, FLOWS, GUEST, POINT_FILE, STAGED, CrashPoint
from tests.forked import Forked

START_S = 90.0
LOOK_S = 0.02  # how often a process that is starting or ending is looked at
UNAVAILABLE = 503
MONTH = 1_000_000  # credits of a month
CRASH_SERVER = "tests.crash.crash_server"
CONFIG = """
default_model = "scripted"
[providers.scripted]
kind = "openai-compatible"
base_url = "{model_url}/v1"
[[models]]
id = "scripted"
provider = "scripted"
name = "scripted"
credits = 3
[credits]
default_plan = "crash"
[credits.plans]
crash = 1000000
[limits]
runs_per_minute_per_user = 0
runs_per_minute_per_project = 0
[streams]
save_interval_s = 0.1
slow_reader_s = {slow_reader_s}
[sandbox]
memory_mb = 256
[server]
stop_grace_s = {grace_s}
[database]
url = "{database}"
[runs]
lease_s = {lease_s}
heartbeat_s = {heartbeat_s}
[logs]
format = "json"
"""


@dataclass
class CrashServer:
    """`outlast serve` (or `worker`) on a data directory of its own. Killed and started again it keeps both."""

    folder: Path
    model_url: str
    database: str = "sqlite:///outlast.db"
    role: str = "serve"
    lease_s: float = 15.0
    grace_s: float = 10.0
    slow_reader_s: float = 30.0
    turns: list[dict[str, Any]] | None = None  # what the model says in each run; None: the scenario's usual turns
    staged: bool = False  # the profile has stages
    blocking: bool = False  # the agent has a tool that blocks the event loop, which may last `blocking_chat.LOST_S`
    flows: bool = False  # the profile is a flow
    guest: str = ""  # the profile is the guest of this module
    ahead_s: float = 0.0  # how far its clock is ahead of the machine's
    at_once: int = 1  # turns of the model that are asked side by side, and that one kill may cut
    page: str | None = None  # the HTML of the page that each run works on; None: runs are chats
    more: str = ""  # further tables of the configuration
    data: Path | None = None
    shared: Path | None = None  # folder of stored files, for several servers of one database: none has sandboxes then
    port: int = 0
    starts: int = 0
    then: list[CrashPoint] = field(default_factory=list)  # armed one at each further start
    process: Forked | None = None
    client: aiohttp.ClientSession | None = None
    reviving: anyio.Lock = field(default_factory=anyio.Lock)

    @property
    def data_dir(self) -> Path:
        return self.data or self.folder / "data"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def point_file(self) -> Path:
        return self.folder / "point"

    @property
    def commits_file(self) -> Path:
        return self.folder / "commits"

    def command(self) -> list[str]:
        self.folder.mkdir(parents=True, exist_ok=True)
        config = self.folder / "outlast.toml"
        config.write_text(
            CONFIG.format(
                model_url=self.model_url,
                database=self.database,
                lease_s=self.lease_s,
                heartbeat_s=self.lease_s / 3,
                grace_s=self.grace_s,
                slow_reader_s=self.slow_reader_s,
            )
            + self.more
        )
        words = [self.role, "--config", str(config), "--data-dir", str(self.data_dir)]
        return [*words, "--port", str(self.port)] if self.role == "serve" else words

    def environment(self) -> dict[str, str]:
        wanted = {STAGED: self.staged, BLOCKING: self.blocking, FLOWS: self.flows}
        kind = {name: "1" for name, yes in wanted.items() if yes} | {GUEST: self.guest}
        kind |= {CLOCK: str(self.ahead_s)} if self.ahead_s else {}
        if self.shared is not None:
            kind |= {"OUTLAST_BLOBS_URL": str(self.shared), "OUTLAST_SANDBOX_PROVIDER": "none"}
        return {**os.environ, **kind, POINT_FILE: str(self.point_file), COMMITS_FILE: str(self.commits_file)}

    async def start(self) -> None:
        """Returns when it answers, or has been killed while starting by a point that was armed."""
        before = len(self.log())
        process = self.launch()
        with anyio.fail_after(START_S):
            while process.poll() is None:
                if "is ready" in self.log()[before:]:
                    return
                await anyio.sleep(LOOK_S)
        if process.returncode != -signal.SIGKILL:
            raise AssertionError(f"the server did not start:\n{self.log()[before:][-4000:]}")

    def launch(self) -> Forked:
        self.port = self.port or free_port()
        self.process = Forked(self.command(), self.folder / "server.log", module=CRASH_SERVER, env=self.environment())
        self.starts += 1
        return self.process

    async def __aenter__(self) -> Self:
        patience = aiohttp.ClientTimeout(total=None, sock_connect=5)
        self.client = aiohttp.ClientSession(timeout=patience, read_bufsize=1 << 25)  # one event, one line
        try:
            await self.start()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        with anyio.CancelScope(shield=True):
            if self.client is not None:
                await self.client.close()
            await self.kill()
            if self.role == "serve":
                await self.end_sandboxes()

    async def kill(self) -> None:
        await self.end(signal.SIGKILL)

    async def end(self, how: signal.Signals) -> int:
        """Send the signal and wait for the end; the exit code."""
        process = self._running()
        if process.poll() is None:
            process.send_signal(how)
        return await self.ended()

    async def ended(self) -> int:
        """Wait for the end of the process there is now; the exit code."""
        process = self._running()
        await until(lambda: process.poll() is not None)
        return process.wait()

    def _running(self) -> Forked:
        assert self.process is not None
        return self.process

    async def until_committed(self, label: str, times: int = 1) -> None:
        """Until this has been committed so many times from now on."""
        wanted = self.commits().count(label) + times
        await until(lambda: self.commits().count(label) >= wanted)

    async def revive(self) -> None:
        """Start it again if it has ended; whoever finds it dead may call."""
        async with self.reviving:
            with anyio.move_on_after(0.2):
                await self.ended()
            assert self.process is not None
            if self.process.poll() is not None:
                if self.then:
                    self.arm(self.then.pop(0))
                await self.start()

    def arm(self, point: CrashPoint) -> None:
        point.arm(self.point_file)

    def commits(self) -> list[str]:
        return self.commits_file.read_text().splitlines() if self.commits_file.exists() else []

    def log(self) -> str:
        file = self.folder / "server.log"
        return file.read_text() if file.exists() else ""

    async def call(self, method: str, path: str, body: Any = None, key: str = "") -> tuple[int, Any]:
        """One request, asked again until a living server answers it."""
        assert self.client is not None
        headers = {"Idempotency-Key": key} if key else {}
        while True:
            try:
                request = self.client.request(method, self.url + path, json=body, headers=headers)
                async with request as answer:
                    text = await answer.text()
                    if answer.status == UNAVAILABLE:  # as the answer says: nothing was changed, try again
                        await anyio.sleep(LOOK_S)
                        continue
                    return answer.status, orjson.loads(text) if text.startswith(("{", "[")) else text
            except (aiohttp.ClientError, ConnectionError):
                await self.revive()

    async def get(self, path: str) -> Any:
        status, body = await self.call("GET", path)
        assert status == 200, body
        return body

    def open_database(self) -> Database:
        """The server's database, beside it."""
        return open_database(self.database, self.data_dir, SystemClock())

    def provider(self) -> LocalProvider:
        return LocalProvider(self.data_dir / "sandboxes", cache_directory())

    async def end_sandboxes(self) -> None:
        """Whatever sandboxes are left, those of browsers too."""
        browsers = LocalProvider(self.data_dir / "browsers" / "state", cache_directory())
        for provider in (self.provider(), browsers):
            for sandbox_id, ref in await provider.list_refs():
                with suppress(SandboxLost):  # it may end by itself meanwhile
                    await (await provider.connect(sandbox_id, ref)).kill()


async def until(happened: Callable[[], bool | Awaitable[bool]]) -> None:
    """Look again and again: what happens in another process rings no event here. Put a deadline around it."""
    while True:
        answer = happened()
        if answer if isinstance(answer, bool) else await answer:
            return
        await anyio.sleep(LOOK_S)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
