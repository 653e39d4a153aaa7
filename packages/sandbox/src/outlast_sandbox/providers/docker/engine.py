"""A client for the part of Docker's API that Outlast needs, as Docker and Podman both serve it."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final

import aiohttp
import anyio
import orjson

from outlast_sandbox.errors import HostUnreachable, SandboxUnavailable

from .address import Address, SshAddress, UnixAddress
from .connections import connector_to

SOCKETS: Final = ("/var/run/docker.sock", "/run/podman/podman.sock")
API: Final = "/v1.40"  # Docker 19.03 and Podman 3, and all newer ones
ANSWER_TIMEOUT_S: Final = 120.0
UNPACK_TIMEOUT_S: Final = 900.0  # the tools of sandboxes are some 250 MB
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

    Every call raises `SandboxUnavailable` if no engine answers there, `HostUnreachable` for an engine on another
    machine. Read calls also raise `SandboxUnavailable` for refusals; write calls raise `EngineRefused`."""

    def __init__(self, address: Address | Path) -> None:
        self.address: Address = UnixAddress(address) if isinstance(address, Path) else address

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

    async def is_there(self, image: str) -> dict[str, Any] | None:
        """The engine's description of an image, or None if it does not have it."""
        found: dict[str, Any] | None = await self._look(f"/images/{image}/json")
        return found

    async def unpack(self, container: str, archive: IO[bytes]) -> None:
        """Put the files of a tar archive into a container, below its root; the archive is closed."""
        words = {"path": "/"}
        await self._ask(
            "PUT", f"/containers/{container}/archive", data=archive, timeout_s=UNPACK_TIMEOUT_S, params=words
        )

    async def commit(self, container: str, repository: str, tag: str) -> None:
        """Make an image of a container's files."""
        words = {"container": container, "repo": repository, "tag": tag}
        await self._ask("POST", "/commit", body={}, timeout_s=UNPACK_TIMEOUT_S, params=words)

    async def create_volume(self, name: str, labels: Mapping[str, str]) -> None:
        """Idempotent."""
        await self._ask("POST", "/volumes/create", body={"Name": name, "Driver": "local", "Labels": dict(labels)})

    async def volumes(self, label: str) -> Sequence[dict[str, Any]]:
        """All volumes with that label (`name=value`)."""
        filters = orjson.dumps({"label": [label]}).decode()
        listed: dict[str, Any] = await self._look("/volumes", filters=filters)
        return tuple(listed.get("Volumes") or ())

    async def remove_volume(self, name: str) -> None:
        """A missing one, or one in use, is ignored."""
        await self._ask("DELETE", f"/volumes/{name}", quietly=True)

    async def prepare_process(self, container: str, words: Sequence[str], user: str) -> str:
        """The id of a process to be started in a running container, its streams attached to the caller (see
        `attach`). Raises `EngineRefused`, with status 409 while the container is paused."""
        attached = {"AttachStdin": True, "AttachStdout": True, "AttachStderr": True, "Tty": False}
        body = {**attached, "User": user, "Cmd": list(words)}
        made = await self._ask("POST", f"/containers/{container}/exec", body=body)
        return str(made["Id"])

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
        found = await self._look(f"/containers/{container}/stats", **words)
        # Podman may give it no type.
        usage: dict[str, Any] | None = orjson.loads(found) if isinstance(found, bytes) else found
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
        data: IO[bytes] | None = None,
        timeout_s: float | None = ANSWER_TIMEOUT_S,
        quietly: bool = False,
        params: Mapping[str, str] | None = None,
        **query: str,
    ) -> Any:
        """One request; returns JSON, or bytes if the response is not JSON. `quietly`: ignore that it is gone or already
        done."""
        timeout = aiohttp.ClientTimeout(total=timeout_s, sock_connect=self.address.connect_s)
        headers = {"Content-Type": "application/x-tar"} if data is not None else None
        try:
            async with (
                aiohttp.ClientSession(
                    connector=connector_to(self.address), timeout=timeout, base_url=self.address.base_url
                ) as session,
                session.request(
                    method, f"{API}{path}", json=body, data=data, headers=headers, params={**query, **(params or {})}
                ) as answer,
            ):
                received = await answer.read()
                if answer.status >= 400 and not (quietly and answer.status in _QUIET):
                    raise EngineRefused(answer.status, _message(received))
                is_json = answer.content_type == "application/json" and received.strip()
                return orjson.loads(received) if is_json else received
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise no_answer(self.address, error) from error


def no_answer(address: Address, error: Exception) -> SandboxUnavailable:
    """What to raise when no engine answers there."""
    why = f"no container engine answers at {address}: {str(error) or type(error).__name__}"
    if isinstance(address, UnixAddress):
        return SandboxUnavailable(
            why,
            hint="Start Docker or Podman (systemctl start docker, or podman.socket), or correct"
            " sandbox.options.socket.",
        )
    if isinstance(address, SshAddress):
        return HostUnreachable(
            why, hint=f"Try it by hand, as the server's user: {' '.join(address.words[:-1])} docker version"
        )
    return HostUnreachable(why)


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
