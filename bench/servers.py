"""Starts the contestants and the model server on their cores, and reads their resource use from /proc."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

from bench.client import Api
from outlast.testing.postgres import DURABLE, PostgresServer

CORES: Final = sorted(os.sched_getaffinity(0))
SERVER_CORE: Final = CORES[0]
CLIENT_CORE: Final = CORES[-1]  # the client and the model server; the same core where there is only one
CONTESTANTS: Final = ("outlast", "postgres", "raw", "naive")
"""`postgres`: Outlast on PostgreSQL, whose processes share the client's core and are not counted."""
_ROOT: Final = Path(__file__).resolve().parent.parent
_CPU_CLOCK: Final = 2  # CPUCLOCK_SCHED: how Linux numbers processes' CPU clocks, see clock_getcpuclockid(3)
CONFIG: Final = """
default_model = "bench"
[providers.bench]
kind = "openai-compatible"
base_url = "http://127.0.0.1:{model_port}/v1"
[[models]]
id = "bench"
provider = "bench"
name = "bench"
credits = 0
[limits]
runs_per_minute_per_user = 0
runs_per_minute_per_project = 0
screens_per_minute_per_user = 0
streams_per_user = 0
messages_per_minute_per_user = 0
threads_per_minute_per_user = 0
projects_per_minute_per_user = 0
[sandbox]
[logs]
level = "warning"
"""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server process. `directory`: its data directory."""

    name: str
    pid: int
    port: int
    directory: Path

    def cpu_s(self) -> float:
        """CPU seconds used so far by all its threads (the kernel's clock of another process, exact to the ns)."""
        return time.clock_gettime((~self.pid << 3) | _CPU_CLOCK)

    def rss_bytes(self) -> int:
        """Current resident memory."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def pin_client() -> None:
    os.sched_setaffinity(0, {CLIENT_CORE})


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _process(command: list[str], core: int, directory: Path) -> Iterator["subprocess.Popen[bytes]"]:
    log = (directory / "output.txt").open("ab")
    process = subprocess.Popen(command, cwd=_ROOT, stdout=log, stderr=log)
    os.sched_setaffinity(process.pid, {core})  # long before it starts threads, which inherit it
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        log.close()


@asynccontextmanager
async def model_server() -> AsyncIterator[int]:
    """Starts the fake model server on the client's core; yields its port."""
    port = free_port()
    with (
        tempfile.TemporaryDirectory(prefix="bench-model-") as folder,
        _process([sys.executable, "-m", "bench.model_server", str(port)], CLIENT_CORE, Path(folder)) as process,
    ):
        await _reachable(process, port, Path(folder))
        yield port


@asynccontextmanager
async def server(
    name: str, model_port: int, directory: Path, *, sandboxes: bool = True, agents: bool = False
) -> AsyncIterator[Server]:
    """A ready contestant on the server's core. Without `sandboxes`, Outlast's `terminal` does nothing; with `agents`,
    it loads `bench/agents`."""
    settings = f'[agents]\nfolder = "{_ROOT / "bench" / "agents"}"\n' if agents else ""
    if name == "postgres":
        with _postgres() as url:
            async with _started(
                name, model_port, directory, sandboxes, f'{settings}[database]\nurl = "{url}"\n'
            ) as process:
                yield process
        return
    async with _started(name, model_port, directory, sandboxes, settings) as process:
        yield process


@contextmanager
def _postgres() -> Iterator[str]:
    """The URL of an empty database of a PostgreSQL server that syncs its commits, on the client's core."""
    database = PostgresServer(DURABLE)  # it inherits the core of the benchmark's process
    try:
        database.start()
        yield database.url("postgres")
    finally:
        database.remove()


@asynccontextmanager
async def _started(
    name: str, model_port: int, directory: Path, sandboxes: bool, settings: str = ""
) -> AsyncIterator[Server]:
    port = free_port()
    if name in ("outlast", "postgres"):
        file = directory / "outlast.toml"
        file.write_text(CONFIG.format(model_port=model_port) + settings)
        data = str(directory / "data")
        program = [str(Path(sys.executable).with_name("outlast"))]
        if not sandboxes:
            program = [sys.executable, "-m", "bench.without_sandboxes"]
        command = [*program, "serve", "--config", str(file), "--data-dir", data, "--port", str(port)]
    else:
        command = [sys.executable, "-m", f"bench.{name}", str(port), str(model_port)]
    with _process(command, SERVER_CORE, directory) as process:
        await _reachable(process, port, directory)
        await Api(port).call("GET", "/healthz")
        yield Server(name, process.pid, port, directory)


async def _reachable(process: "subprocess.Popen[bytes]", port: int, directory: Path) -> None:
    with anyio.move_on_after(60):
        while process.poll() is None:
            try:
                stream = await anyio.connect_tcp("127.0.0.1", port)
            except OSError:
                await anyio.sleep(0.05)
                continue
            await stream.aclose()
            return
    raise RuntimeError(f"The server did not start: {(directory / 'output.txt').read_text()[-2000:]}")
