"""The upper bound: a bare event loop that does the least work possible. It keeps everything in memory.

It accepts the same calls as Outlast: `POST /v1/runs`, `GET /v1/runs/{id}`, `GET /v1/runs/{id}/events?after=N`,
`POST /v1/approvals/{id}`, `POST /v1/runs/{id}/cancel`. Run as a program: `python -m bench.raw PORT MODEL_PORT`.
"""

import asyncio
import re
import sys
from collections.abc import Callable
from typing import Any, Final

import orjson
import uvloop

_STREAM_HEAD: Final = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
_TIME: Final = "2026-01-01T00:00:00.000Z"


class Run:
    """One run: its frames, and the transports of its followers."""

    def __init__(self, number: int, content: str, model_port: int) -> None:
        self.id = f"run_{number}"
        self.status = "running"
        self.messages: list[dict[str, Any]] = [{"role": "user", "content": content}]
        self.frames: list[bytes] = []
        self.followers: set[Any] = set()
        self._model_port = model_port

    async def ask(self) -> None:
        """Calls the model; the answer arrives by callback."""
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: ModelAnswer(self), "127.0.0.1", self._model_port)

    def follow(self, transport: Any, after: int) -> None:
        transport.write(_STREAM_HEAD + b"".join(self.frames[after:]))
        if self.status in ("completed", "cancelled"):
            transport.close()
        else:
            self.followers.add(transport)

    def publish(self, events: list[tuple[str, dict[str, Any]]]) -> None:
        """Encodes once, and writes the same bytes to every follower."""
        body = b"".join(self._frame(name, data) for name, data in events)
        for transport in self.followers:
            transport.write(body)

    def park(self) -> None:
        self.status = "awaiting_approval"
        self.publish([("approval.requested", {"approval": {"id": f"apr_{self.id}", "run_id": self.id}})])

    def end(self, status: str) -> None:
        self.status = status
        self.publish([(f"run.{status}", {"run_id": self.id}), ("stream.ended", {"run_id": self.id})])
        for transport in self.followers:
            transport.close()
        self.followers.clear()

    def _frame(self, name: str, data: dict[str, Any]) -> bytes:
        seq = len(self.frames) + 1
        event = {"id": f"{self.id}:{seq}", "event": name, "data": data, "timestamp": _TIME, "sequenceNumber": seq}
        frame = b"id: %d\ndata: %b\n\n" % (seq, orjson.dumps(event))
        self.frames.append(frame)
        return frame


class ModelAnswer(asyncio.Protocol):
    """Reads one answer of the model server."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._rest = b""
        self._called = False

    def connection_made(self, transport: Any) -> None:
        body = orjson.dumps({"model": "bench", "messages": self._run.messages, "stream": True})
        transport.write(
            b"POST /v1/chat/completions HTTP/1.1\r\nhost: model\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%b"
            % (len(body), body)
        )
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        events = []
        for line in lines:
            if line.startswith(b"data: {"):
                choices = orjson.loads(line[6:])["choices"]
                delta = choices[0]["delta"] if choices else {}
                if "content" in delta:
                    events.append(("text.delta", {"part_id": "part_1", "delta": delta["content"]}))
                self._called = self._called or "tool_calls" in delta
            elif line.startswith(b"data: [DONE]"):
                self._done(events)
                return
        if self._run.status == "cancelled":
            self._transport.abort()
        elif events:
            self._run.publish(events)

    def _done(self, events: list[tuple[str, dict[str, Any]]]) -> None:
        self._transport.abort()
        if self._run.status == "cancelled":
            return
        self._run.publish(events)
        if self._called:
            self._run.park()
        else:
            self._run.end("completed")


class Connection(asyncio.Protocol):
    """One client connection."""

    runs: dict[str, Run] = {}  # noqa: RUF012 (the whole state of this server)
    model_port = 0

    def __init__(self) -> None:
        self._rest = b""
        self._run: Run | None = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if self._run is not None:
            self._run.followers.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        self._rest += data
        end = self._rest.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self._rest[:end]
        length = re.search(rb"(?i)content-length: *(\d+)", head)
        size = end + 4 + (int(length[1]) if length else 0)
        if len(self._rest) < size:
            return
        body, self._rest = self._rest[end + 4 : size], self._rest[size:]
        method, target, _ = head.split(b" ", 2)
        self._handle(method.decode(), target.decode(), body, head)

    def _handle(self, method: str, target: str, body: bytes, head: bytes) -> None:
        path, _, query = target.partition("?")
        pieces = path.strip("/").split("/")
        if method == "POST" and pieces == ["v1", "runs"]:
            run = Run(len(self.runs) + 1, orjson.loads(body)["content"], self.model_port)
            self.runs[run.id] = run
            self._reply(202, {"run_id": run.id, "thread_id": f"thr_{run.id}", "cursor": "0"})
            _spawn(run.ask)
        elif pieces == ["healthz"]:
            self._reply(200, {"status": "ok"})
        elif pieces[1] == "approvals":
            run = self.runs[pieces[2].removeprefix("apr_")]
            run.status = "running"
            run.messages.append({"role": "tool", "content": "done", "tool_call_id": "call_bench"})
            self._reply(200, {"id": pieces[2], "decision": "approve"})
            _spawn(run.ask)
        elif pieces[-1] == "events":
            asked = re.search(rb"(?i)last-event-id: *(\d+)", head)
            after = int(asked[1]) if asked else int(query.removeprefix("after=") or 0)
            self._run = self.runs[pieces[2]]
            self._run.follow(self._transport, after)
        elif pieces[-1] == "cancel":
            self._reply(200, {"id": pieces[2]})
            self.runs[pieces[2]].end("cancelled")
        else:
            pending = [{"kind": "approval", "id": f"apr_{pieces[2]}"}]
            self._reply(200, {"id": pieces[2], "status": self.runs[pieces[2]].status, "pending": pending})

    def _reply(self, status: int, value: dict[str, Any]) -> None:
        body = orjson.dumps(value)
        head = b"HTTP/1.1 %d OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % (status, len(body))
        self._transport.write(head + body)


def _spawn(function: Callable[[], Any]) -> None:
    task = asyncio.get_running_loop().create_task(function())
    _TASKS.add(task)
    task.add_done_callback(_TASKS.discard)


_TASKS: set[asyncio.Task[Any]] = set()


async def serve(port: int, model_port: int) -> None:
    """Serves until the process ends."""
    Connection.model_port = model_port
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", port, backlog=2048)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1]), int(sys.argv[2])))
