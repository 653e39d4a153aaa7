"""The engines beside the servers, each on a machine of its own: Redis, an S3 and a balancer. PostgreSQL is
`outlast.testing.postgres`."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Self

import aiohttp
import anyio
from aiohttp import web

from tests.cluster.machines import Machine
from tests.crash.server import LOOK_S, until

REDIS_PORT: Final = 6379
S3_PORT: Final = 5000
BALANCER_PORT: Final = 8080
READY_S: Final = 60.0
NGINX: Final = """
daemon off;
user root;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/errors.log warn;
events {{ worker_connections 8192; }}
worker_rlimit_nofile 20000;
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    client_max_body_size 0;
    upstream outlast {{
{servers}
    }}
    server {{
        listen {address}:{port} backlog=8192;
        location / {{
            proxy_pass http://outlast;
            proxy_http_version 1.1;
            proxy_set_header Host $host;
            proxy_set_header Connection "";
            proxy_buffering off;
            proxy_request_buffering on;
            proxy_connect_timeout 1s;
            proxy_read_timeout {patience_s}s;
            proxy_next_upstream error timeout http_502 http_503 non_idempotent;
            proxy_next_upstream_tries {tries};
        }}
    }}
}}
"""


@dataclass
class Part:
    """A process on a machine. `words`: its command; `port`: where it answers once it is ready."""

    machine: Machine
    words: Sequence[str]
    port: int
    log: Path
    process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        self.process = self.machine.popen(self.words, self.log)
        with anyio.fail_after(READY_S):
            while not await _answers(self.machine.address, self.port):
                if self.process.poll() is not None:
                    raise RuntimeError(f"{self.words[0]} ended: {self.log.read_text()[-2000:]}")
                await anyio.sleep(LOOK_S)

    async def end(self, how: signal.Signals = signal.SIGKILL) -> None:
        if (process := self.process) is not None and process.poll() is None:
            process.send_signal(how)
            await until(lambda: process.poll() is not None)


def redis_on(machine: Machine, folder: Path) -> Part | None:
    """A Redis that keeps nothing on its disk. None: its program is not there."""
    program = shutil.which("redis-server")
    words = ["--bind", machine.address, "--port", str(REDIS_PORT), "--protected-mode", "no", "--save", ""]
    return Part(machine, [program, *words], REDIS_PORT, folder / "redis.log") if program else None


async def flush_redis(machine: Machine) -> None:
    """Throw everything away that it keeps."""
    async with await anyio.connect_tcp(machine.address, REDIS_PORT) as stream:
        await stream.send(b"FLUSHALL\r\n")
        await stream.receive()


def s3_on(machine: Machine, folder: Path) -> Part | None:
    """An S3 in memory. None: moto's server is not installed."""
    if find_spec("moto") is None or find_spec("flask") is None:
        return None
    words = [sys.executable, "-m", "moto.server", "-H", machine.address, "-p", str(S3_PORT)]
    return Part(machine, words, S3_PORT, folder / "s3.log")


def balancer_on(machine: Machine, folder: Path, servers: Sequence[str], patience_s: int) -> Part | None:
    """nginx before these servers (`HOST:PORT`); what is silent for `patience_s` is taken for dead. None: not there."""
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/sbin:/bin")
    if program is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    # A server that has failed counts as down until a request to it has ended, and a stream does not end: never count
    lines = "\n".join(f"        server {server} max_fails=0;" for server in servers)
    config = folder / "nginx.conf"
    config.write_text(
        NGINX.format(
            folder=folder,
            servers=lines,
            address=machine.address,
            port=BALANCER_PORT,
            patience_s=patience_s,
            tries=len(servers),
        )
    )
    words = [program, "-c", str(config), "-p", str(folder), "-e", str(folder / "errors.log")]
    return Part(machine, words, BALANCER_PORT, folder / "nginx.log")


class FaultyDoor:
    """An HTTP proxy on the side that no fault reaches, before a part that cannot be told to fail: while `is_broken`, it
    answers everything with 500. An async context manager."""

    def __init__(self, host: str, target: str) -> None:
        self._host, self._target = host, target
        self.is_broken = False
        self.refused = 0
        self.url = ""

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=1 << 30)
        app.router.add_route("*", "/{path:.*}", self._pass)
        self._client = aiohttp.ClientSession(auto_decompress=False)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, self._host, 0).start()
        self.url = f"http://{self._host}:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        with anyio.CancelScope(shield=True):
            await self._client.close()
            await self._runner.cleanup()

    async def _pass(self, request: web.Request) -> web.Response:
        if self.is_broken:
            self.refused += 1
            return web.Response(status=500, text="<Error><Code>InternalError</Code></Error>")
        body = await request.read()
        async with self._client.request(
            request.method, self._target + request.raw_path, data=body or None, headers=request.headers
        ) as answer:
            kept = {name: value for name, value in answer.headers.items() if name.lower() not in _OF_THE_CONNECTION}
            return web.Response(status=answer.status, body=await answer.read(), headers=kept)


_OF_THE_CONNECTION: Final = frozenset({"content-length", "transfer-encoding", "connection", "date", "server"})


async def _answers(host: str, port: int) -> bool:
    """Whether something listens there."""
    with socket.socket() as probe:
        probe.setblocking(False)
        probe.connect_ex((host, port))
        with anyio.move_on_after(0.5):
            await anyio.wait_writable(probe)
            return probe.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
    return False
