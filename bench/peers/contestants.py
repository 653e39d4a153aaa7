"""What the cases need of a server: two processes of it, and its ways to start, follow, look at and approve a run."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import anyio
import httpx

from bench.servers import CONFIG, free_port

_HERE: Final = Path(__file__).parent
LIMIT_S: Final = 240.0
_ID: Final = re.compile(r"^id: (\S+)$", re.MULTILINE)
_INDEX: Final = re.compile(r'"event_index": ?(\d+)')


@dataclass(slots=True)
class Place:
    """Where a contestant's servers find the rest."""

    database: str
    redis: str
    model_port: int
    folder: Path
    effects: Path


class Node:
    """One server process."""

    def __init__(self, command: list[str], port: int, log: Path, environment: dict[str, str]) -> None:
        self._command, self.port, self._log = command, port, log
        self._environment = {**os.environ, **environment}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self, health: str) -> None:
        self._process = self._open()
        async with httpx.AsyncClient(base_url=self.url) as client:
            with anyio.fail_after(LIMIT_S):
                while True:
                    try:
                        if (await client.get(health)).status_code == 200:
                            return
                    except httpx.TransportError:
                        pass
                    if self._process.poll() is not None:
                        raise RuntimeError(f"The server did not start: {self._log.read_text()[-2000:]}")
                    await anyio.sleep(0.2)

    def _open(self) -> "subprocess.Popen[bytes]":
        with self._log.open("ab") as log:
            return subprocess.Popen(self._command, stdout=log, stderr=log, env=self._environment)

    def kill(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()


class Contestant(Protocol):
    """A kind of server. `agent` is one of plain, tools and asks; a run is named by what `start` returned."""

    name: str
    health: str

    def command(self, place: Place, port: int, number: int) -> tuple[list[str], dict[str, str]]: ...
    async def start(self, client: httpx.AsyncClient, agent: str, message: str) -> Any: ...
    def follow(self, client: httpx.AsyncClient, run: Any, cursor: str) -> AsyncIterator[tuple[str, str]]:
        """Pieces of the stream after a cursor, each with the cursor behind it."""
        ...

    async def state(self, client: httpx.AsyncClient, run: Any) -> tuple[str, str]:
        """One of running, waiting, completed and failed; and the text of the answer so far."""
        ...

    async def approve(self, client: httpx.AsyncClient, run: Any) -> None: ...


class Outlast:
    """This project's server."""

    name = "Outlast"
    health = "/readyz"

    def command(self, place: Place, port: int, number: int) -> tuple[list[str], dict[str, str]]:
        agents = place.folder / "agents"
        agents.mkdir(exist_ok=True)
        (agents / "peers.py").write_text((_HERE / "outlast_agents.py").read_text())
        file = place.folder / "outlast.toml"
        more = f'[database]\nurl = "{place.database}"\n[live]\nredis_url = "{place.redis}"\n'
        folders = f'[agents]\nfolder = "{agents}"\n[blobs]\nurl = "{place.folder / "blobs"}"\n'
        common = CONFIG.format(model_port=place.model_port).replace("[sandbox]", '[sandbox]\nprovider = "none"')
        file.write_text(common + more + folders)
        program = [str(Path(sys.executable).with_name("outlast")), "serve", "--config", str(file)]
        data = str(place.folder / f"data-{number}")
        return [*program, "--data-dir", data, "--port", str(port)], {"OUTLAST_PEERS_EFFECTS": str(place.effects)}

    async def start(self, client: httpx.AsyncClient, agent: str, message: str) -> Any:
        answer = await client.post("/v1/runs", json={"content": message, "profile": agent})
        return answer.raise_for_status().json()["run_id"]

    async def follow(self, client: httpx.AsyncClient, run: Any, cursor: str) -> AsyncIterator[tuple[str, str]]:
        headers = {"last-event-id": cursor or "0"}
        async with aclosing(_frames(client, "GET", f"/v1/runs/{run}/events", headers=headers)) as frames:
            async for frame in frames:
                found = _ID.search(frame)
                cursor = found[1] if found else cursor
                yield frame, cursor
                if '"event":"stream.ended"' in frame:
                    return

    async def state(self, client: httpx.AsyncClient, run: Any) -> tuple[str, str]:
        found = (await client.get(f"/v1/runs/{run}")).raise_for_status().json()
        messages = (await client.get(f"/v1/threads/{found['thread_id']}/messages")).raise_for_status().json()["items"]
        parts = [part for message in messages for part in message["parts"] if message["role"] == "assistant"]
        text = "".join(part["text"] for part in parts if part["type"] == "text")
        known = {"awaiting_approval": "waiting", "paused": "waiting", "completed": "completed"}
        ended = "failed" if found["status"] in ("failed", "cancelled") else "running"
        return known.get(found["status"], ended), text

    async def approve(self, client: httpx.AsyncClient, run: Any) -> None:
        waiting = (await client.get("/v1/inbox")).raise_for_status().json()["items"]
        (approval,) = [item["approval_id"] for item in waiting if item.get("run_id") == run]
        answer = await client.post(f"/v1/approvals/{approval}", json={"decision": "approve"})
        answer.raise_for_status()


class Agno:
    """Agno's server, in an environment of its own."""

    name = "Agno"
    health = "/health"

    def __init__(self, python: str) -> None:
        self._python = python

    def command(self, place: Place, port: int, number: int) -> tuple[list[str], dict[str, str]]:
        words = [str(port), place.database, place.redis, str(place.model_port), str(place.effects)]
        return [self._python, str(_HERE / "agno_server.py"), *words], {"AGNO_TELEMETRY": "false"}

    async def start(self, client: httpx.AsyncClient, agent: str, message: str) -> Any:
        """Streams, as that is what its clients can resume: the id of the run is in the first event."""
        form = {"message": message, "stream": "true", "background": "true", "session_id": os.urandom(8).hex()}
        async with aclosing(_frames(client, "POST", f"/agents/{agent}/runs", data=form)) as frames:
            async for frame in frames:
                found = re.search(r'"run_id": ?"([^"]+)"', frame)
                if found:
                    return agent, found[1], form["session_id"]
        raise RuntimeError("The stream ended without a run.")

    async def follow(self, client: httpx.AsyncClient, run: Any, cursor: str) -> AsyncIterator[tuple[str, str]]:
        agent, run_id, session_id = run
        form = {"session_id": session_id} | ({"last_event_index": cursor} if cursor else {})
        async with aclosing(_frames(client, "POST", f"/agents/{agent}/runs/{run_id}/resume", data=form)) as frames:
            async for frame in frames:
                found = _INDEX.search(frame)
                cursor = found[1] if found else cursor
                yield frame, cursor

    async def state(self, client: httpx.AsyncClient, run: Any) -> tuple[str, str]:
        found = await self._run(client, run)
        known = {"COMPLETED": "completed", "PAUSED": "waiting", "ERROR": "failed", "CANCELLED": "failed"}
        return known.get(found["status"], "running"), str(found.get("content") or "")

    async def approve(self, client: httpx.AsyncClient, run: Any) -> None:
        agent, run_id, session_id = run
        calls = [{**call, "confirmed": True} for call in (await self._run(client, run))["tools"]]
        form = {"tools": json.dumps(calls), "session_id": session_id, "stream": "false", "background": "true"}
        (await client.post(f"/agents/{agent}/runs/{run_id}/continue", data=form)).raise_for_status()

    async def _run(self, client: httpx.AsyncClient, run: Any) -> dict[str, Any]:
        agent, run_id, session_id = run
        answer = await client.get(f"/agents/{agent}/runs/{run_id}", params={"session_id": session_id})
        found: dict[str, Any] = answer.raise_for_status().json()
        return found


async def _frames(client: httpx.AsyncClient, method: str, path: str, **options: Any) -> AsyncGenerator[str]:
    rest = ""
    async with client.stream(method, path, **options) as answer:
        async for text in answer.raise_for_status().aiter_text():
            *frames, rest = (rest + text).split("\n\n")
            for frame in frames:
                yield frame


def two_nodes(contestant: Contestant, place: Place) -> list[Node]:
    """Two servers of it, not started."""
    nodes = []
    for number in range(2):
        port = free_port()
        command, environment = contestant.command(place, port, number)
        nodes.append(Node(command, port, place.folder / f"{contestant.name}-{number}.log", environment))
    return nodes
