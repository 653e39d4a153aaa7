"""A client for the part of Docker's API that Outlast needs, as Docker and Podman both serve it over a Unix socket."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import aiohttp
import anyio
import orjson

from outlast_sandbox.errors import SandboxUnavailable

SOCKETS: Final = ("/var/run/docker.sock", "/run/podman/podman.sock")
API: Final = "/v1.40"  # Docker 19.03 and Podman 3, and all newer ones
ANSWER_TIMEOUT_S: Final = 120.0
PING_TIMEOUT_S: Final = 20.0
MAX_LOG_BYTES: Final = 2000
REMOVE_AGAIN_S: Final = (0.05, 0.2, 0.5, 1.0, 2.0)
_QUIET: Final = (304, 404, 409)  # already done, already gone, or already in that state


class EngineRefused(Exception):
    """The engine refused: its HTTP status and message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Engine:
    """Stateless: each call opens its own connection, which is cheap on a Unix socket.

    Every call raises `SandboxUnavailable` if no engine answers at the socket. Read calls also raise it for refusals;
    write calls raise `EngineRefused`."""

    def __init__(self, socket_path: Path) -> None:
        self.socket_path = socket_path

    async def ping(self) -> None:
        """True if the engine answers."""
        await self._ask("GET", "/_ping")

    async def version(self) -> dict[str, Any]:
        found: dict[str, Any] = await self._look("/version")
        return found

    async def create(self, name: str, body: Mapping[str, Any]) -> str:
        """The new container's id."""
        created = await self._ask("POST", "/containers/create", body=body, name=name)
        return str(created["Id"])

    async def start(self, container: str) -> None:
        await self._ask("POST", f"/containers/{container}/start")

    async def inspect(self, container: str) -> dict[str, Any] | None:
        """The engine's description of it, or None if it is gone."""
        description: dict[str, Any] | None = await self._look(f"/containers/{container}/json")
        return description

    async def list(self, label: str) -> list[dict[str, Any]]:
        """All containers with that label (`name=value`), whatever their state."""
        filters = orjson.dumps({"label": [label]}).decode()
        containers: list[dict[str, Any]] = await self._look("/containers/json", all="true", filters=filters)
        return containers

    async def pause(self, container: str) -> None:
        await self._ask("POST", f"/containers/{container}/pause")

    async def unpause(self, container: str) -> None:
        await self._ask("POST", f"/containers/{container}/unpause")

    async def remove(self, container: str) -> None:
        """End it with all its processes and remove it; a missing one is ignored. Returns once it is removed. If the
        engine fails, as Podman does when the container ends at the same moment, the call is repeated for some
        seconds."""
        for pause_s in (*REMOVE_AGAIN_S, None):
            try:
                await self._ask("DELETE", f"/containers/{container}", force="true", v="true")
            except EngineRefused as refused:
                if refused.status >= 500 and pause_s is not None:
                    await anyio.sleep(pause_s)
                    continue
                if refused.status == 409:  # another client is removing it
                    await self._ask("POST", f"/containers/{container}/wait", quietly=True, condition="removed")
                elif refused.status != 404:
                    raise
            return

    async def wait_end(self, container: str) -> int:
        """The exit code, once it has ended."""
        ended = await self._ask("POST", f"/containers/{container}/wait", timeout_s=None)
        return int(ended["StatusCode"])

    async def log(self, container: str) -> str:
        """The end of its first process's output."""
        path = f"/containers/{container}/logs"
        data = await self._look(path, stdout="true", stderr="true", tail="40")
        return _unframed(data)[-MAX_LOG_BYTES:].strip() if isinstance(data, bytes) else ""

    async def statistics(self, container: str) -> dict[str, Any] | None:
        """Its current usage, or None if it is gone."""
        words = {"stream": "false", "one-shot": "true"}
        usage: dict[str, Any] | None = await self._look(f"/containers/{container}/stats", **words)
        return usage

    async def _look(self, path: str, **query: str) -> Any:
        """The engine's answer, or None if the object does not exist."""
        try:
            return await self._ask("GET", path, params=query)
        except EngineRefused as refused:
            if refused.status == 404:
                return None
            raise SandboxUnavailable(f"the container engine refused ({refused.status}): {refused}") from refused

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        timeout_s: float | None = ANSWER_TIMEOUT_S,
        quietly: bool = False,
        params: Mapping[str, str] | None = None,
        **query: str,
    ) -> Any:
        """One request; returns JSON, or bytes if the response is not JSON. `quietly`: ignore that it is gone or already
        done."""
        connector = aiohttp.UnixConnector(str(self.socket_path))
        timeout = aiohttp.ClientTimeout(total=timeout_s)
        try:
            async with (
                aiohttp.ClientSession(connector=connector, timeout=timeout, base_url="http://engine") as session,
                session.request(method, f"{API}{path}", json=body, params={**query, **(params or {})}) as answer,
            ):
                data = await answer.read()
                if answer.status >= 400 and not (quietly and answer.status in _QUIET):
                    raise EngineRefused(answer.status, _message(data))
                is_json = answer.content_type == "application/json" and data.strip()
                return orjson.loads(data) if is_json else data
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise SandboxUnavailable(
                f"no container engine answers at {self.socket_path}: {str(error) or type(error).__name__}",
                hint="Start Docker or Podman (systemctl start docker, or podman.socket), or correct"
                " sandbox.options.socket.",
            ) from error


def _message(data: bytes) -> str:
    try:
        body = orjson.loads(data)
        return str(body.get("message") or body.get("cause") or body)[:MAX_LOG_BYTES]
    except (ValueError, AttributeError):
        return data.decode("utf-8", "replace")[:MAX_LOG_BYTES]


def _unframed(data: bytes) -> str:
    """Log frames have eight bytes (stream, three zeros, length) and text; the log of a terminal is plain text."""
    parts: list[bytes] = []
    while len(data) >= 8 and data[0] in (0, 1, 2) and data[1:4] == b"\0\0\0":
        size = int.from_bytes(data[4:8])
        parts.append(data[8 : 8 + size])
        data = data[8 + size :]
    return b"".join([*parts, data]).decode("utf-8", "replace")


def usual_sockets() -> tuple[str, ...]:
    """The usual sockets of an engine for this machine, or for this user alone."""
    named = os.environ.get("DOCKER_HOST", "")
    own = os.environ.get("XDG_RUNTIME_DIR", "")
    rootless = (f"{own}/docker.sock", f"{own}/podman/podman.sock") if own else ()
    return (*([named.removeprefix("unix://")] if named.startswith("unix://") else []), *SOCKETS, *rootless)


async def first_answer(paths: "list[Path]") -> Path | None:
    """The first of these sockets at which an engine answers."""
    for path in paths:
        if not path.exists():
            continue
        try:
            with anyio.fail_after(PING_TIMEOUT_S):
                await Engine(path).ping()
        except (SandboxUnavailable, EngineRefused, TimeoutError):
            continue
        return path
    return None
