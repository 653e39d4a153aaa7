"""A service that speaks the wire protocol of Deno's sandboxes, as the official SDK speaks it, over local sandboxes.

Written from the SDK's source: there is no specification, and nothing here was compared with Deno's own service.
"""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
from aiohttp import web
from anyio.abc import TaskGroup

from outlast_sandbox.errors import Conflict, NotFound, SandboxError
from outlast_sandbox.interactive import ProcessEnd, ProcessSpec
from outlast_sandbox.interface import Limits, Sandbox, SandboxSpec
from outlast_sandbox.providers.local.provider import LocalProvider

TOKEN = "ddo_test"
KILL = 9


class DenoService:
    """`configs` holds what each sandbox was created with; `extended` how often one was asked to live on."""

    def __init__(self, provider: LocalProvider, folder: Path, prefix: str) -> None:
        self._provider = provider
        self._folder = folder
        self._prefix = prefix
        self._numbers = itertools.count(1)
        self._connections: list[web.WebSocketResponse] = []
        self.sandboxes: dict[str, Sandbox] = {}
        self.configs: dict[str, dict[str, Any]] = {}
        self.extended = 0
        self.url = ""

    def application(self) -> web.Application:
        app = web.Application(middlewares=[_signed_in])
        app.router.add_get("/api/v3/sandboxes/create", self._create)
        app.router.add_get("/api/v3/sandbox/{id}/connect", self._connect)
        app.router.add_get("/api/v3/sandboxes", self._list)
        app.router.add_delete("/api/v3/sandboxes/{id}", self._kill)
        app.router.add_patch("/api/v3/sandbox/{id}", self._extend)
        return app

    async def drop_connections(self) -> None:
        """As when the network fails."""
        for connection in self._connections:
            await connection.close()

    async def aclose(self) -> None:
        for sandbox in self.sandboxes.values():
            await sandbox.kill()

    async def _create(self, request: web.Request) -> web.StreamResponse:
        config = json.loads(base64.b64decode(request.headers["x-deno-sandbox-config"]))
        ref = f"{self._prefix}d{next(self._numbers)}"
        limits = Limits(memory_bytes=config["memory_mb"] * 1024**2)
        spec = SandboxSpec(ref, self._folder / ref, limits, config.get("env") or {})
        self.sandboxes[ref] = await self._provider.create(spec)
        self.configs[ref] = config
        return await self._converse(request, ref)

    async def _connect(self, request: web.Request) -> web.StreamResponse:
        ref = request.match_info["id"]
        if ref not in self.sandboxes:
            raise web.HTTPNotFound
        return await self._converse(request, ref)

    async def _converse(self, request: web.Request, ref: str) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        socket.headers["x-deno-sandbox-id"] = ref
        await socket.prepare(request)
        self._connections.append(socket)
        async with anyio.create_task_group() as tasks:
            talk = _Talk(socket, self.sandboxes[ref], tasks)
            async for message in socket:
                await talk.heard(json.loads(message.data))
            tasks.cancel_scope.cancel()
        return socket

    async def _list(self, _request: web.Request) -> web.StreamResponse:
        told = [{"id": ref, "createdAt": "", "region": "ord", "status": "running"} for ref in self.sandboxes]
        return web.json_response(told)

    async def _kill(self, request: web.Request) -> web.StreamResponse:
        sandbox = self.sandboxes.pop(request.match_info["id"], None)
        if sandbox is None:
            raise web.HTTPNotFound
        await sandbox.kill()
        return web.Response(status=204)

    async def _extend(self, request: web.Request) -> web.StreamResponse:
        if request.match_info["id"] not in self.sandboxes:
            raise web.HTTPNotFound
        self.extended += 1
        return web.json_response({"stop_at_ms": (await request.json())["stop_at_ms"]})


class _Talk:
    """One connection: JSON-RPC calls, and streams both ways as notifications."""

    def __init__(self, socket: web.WebSocketResponse, sandbox: Sandbox, tasks: TaskGroup) -> None:
        self._socket = socket
        self._sandbox = sandbox
        self._tasks = tasks
        self._streams = itertools.count(1)
        self._inputs: dict[int, int] = {}  # the client's stream → the process that reads it
        self._ended: dict[int, anyio.Event] = {}
        self._codes: dict[int, int] = {}

    async def heard(self, message: dict[str, Any]) -> None:
        method, params = message["method"], message["params"]
        if "id" in message:
            self._tasks.start_soon(self._answer, message["id"], method, params)
        elif method in ("$sandbox.stream.enqueue", "$sandbox.stream.end"):
            with suppress(NotFound, Conflict):  # the process may have ended without reading all
                await self._feed(method.endswith("end"), params)

    async def _feed(self, is_end: bool, params: dict[str, Any]) -> None:
        processes, pid = self._sandbox.processes, self._inputs.get(params["streamId"])
        if pid is None:
            return
        if is_end:
            await processes.close_stdin(pid)
        else:
            await processes.write(pid, base64.b64decode(params["data"]))

    async def _answer(self, number: int, method: str, params: dict[str, Any]) -> None:
        call = {"spawn": self._spawn, "processWait": self._wait, "processKill": self._signal}.get(method)
        if call is None:
            await self._say({"id": number, "error": {"code": -32601, "message": "Method not found"}})
            return
        try:
            result = {"ok": await call(params)}
        except NotFound:
            result = {"error": {"constructor_name": "TypeError", "code": "ENOENT", "message": "gone"}}
        except SandboxError as error:
            result = {"error": {"constructor_name": "Error", "message": error.message}}
        await self._say({"id": number, "result": result})

    async def _spawn(self, params: dict[str, Any]) -> dict[str, Any]:
        has_input = params.get("stdin") == "piped"
        argv = (params["command"], *params.get("args", ()))
        started = await self._sandbox.processes.start(ProcessSpec(argv, stdin=has_input))
        if has_input:
            self._inputs[params["stdinStreamId"]] = started.pid
        out, err = next(self._streams), next(self._streams)
        self._ended[started.pid] = anyio.Event()
        self._tasks.start_soon(self._follow, started.pid, {"stdout": out, "stderr": err})
        return {"pid": started.pid, "stdoutStreamId": out, "stderrStreamId": err}

    async def _follow(self, pid: int, streams: dict[str, int]) -> None:
        async with self._sandbox.processes.follow(pid) as outputs:
            async for output in outputs:
                if isinstance(output, ProcessEnd):
                    self._codes[pid] = output.exit_code
                    break
                data = base64.b64encode(output.data).decode()
                await self._notify("enqueue", {"streamId": streams[output.stream], "data": data})
        for stream in streams.values():
            await self._notify("end", {"streamId": stream})
        self._ended[pid].set()

    async def _wait(self, params: dict[str, Any]) -> dict[str, Any]:
        pid = params["pid"]
        await self._ended[pid].wait()
        return {"success": self._codes[pid] == 0, "code": self._codes[pid], "signal": None}

    async def _signal(self, params: dict[str, Any]) -> None:
        await self._sandbox.processes.signal(params["pid"], KILL)

    async def _notify(self, what: str, params: dict[str, Any]) -> None:
        await self._say({"method": f"$sandbox.stream.{what}", "params": params})

    async def _say(self, message: dict[str, Any]) -> None:
        if not self._socket.closed:
            await self._socket.send_str(json.dumps({"jsonrpc": "2.0", **message}))


@web.middleware
async def _signed_in(request: web.Request, handler: Any) -> web.StreamResponse:
    if request.headers.get("authorization") != f"Bearer {TOKEN}":
        raise web.HTTPUnauthorized
    answer: web.StreamResponse = await handler(request)
    return answer


@asynccontextmanager
async def serving_deno(provider: LocalProvider, folder: Path, prefix: str) -> AsyncIterator[DenoService]:
    """Serve on a free port; what is left alive is killed afterwards."""
    service = DenoService(provider, folder, prefix)
    runner = web.AppRunner(service.application(), shutdown_timeout=1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    service.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield service
    finally:
        await service.drop_connections()
        await service.aclose()
        await runner.cleanup()
