"""What one writes first: FastAPI, a list in memory, a task per run. It forgets everything when it stops.

The same calls as `bench.raw`. Run as a program: `python -m bench.naive PORT MODEL_PORT`.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import aiohttp
import uvicorn
from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse
from pydantic import BaseModel


class Start(BaseModel):
    content: str


class Decision(BaseModel):
    decision: str


class Run:
    """One run: its events in a list, and a bell for those who wait for more."""

    def __init__(self, number: int, content: str) -> None:
        self.id = f"run_{number}"
        self.status = "running"
        self.messages: list[dict[str, Any]] = [{"role": "user", "content": content}]
        self.events: list[dict[str, Any]] = []
        self.bell = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    def publish(self, name: str, data: dict[str, Any]) -> None:
        seq = len(self.events) + 1
        now = datetime.now(UTC).isoformat()
        self.events.append(
            {"id": f"{self.id}:{seq}", "event": name, "data": data, "timestamp": now, "sequenceNumber": seq}
        )
        self.bell.set()
        self.bell = asyncio.Event()

    async def follow(self, after: int) -> AsyncIterator[str]:
        while True:
            bell = self.bell
            while after < len(self.events):
                event = self.events[after]
                after += 1
                yield f"id: {after}\ndata: {json.dumps(event)}\n\n"
                if event["event"] == "stream.ended":
                    return
            await bell.wait()

    async def ask(self, session: aiohttp.ClientSession, url: str) -> None:
        called = False
        async with session.post(url, json={"model": "bench", "messages": self.messages, "stream": True}) as response:
            async for line in response.content:
                if not line.startswith(b"data: {"):
                    continue
                choices = json.loads(line[6:])["choices"]
                delta = choices[0]["delta"] if choices else {}
                if "content" in delta:
                    self.publish("text.delta", {"part_id": "part_1", "delta": delta["content"]})
                called = called or "tool_calls" in delta
        if called:
            self.status = "awaiting_approval"
            self.publish("approval.requested", {"approval": {"id": f"apr_{self.id}", "run_id": self.id}})
        else:
            self.end("completed")

    def end(self, status: str) -> None:
        self.status = status
        self.publish(f"run.{status}", {"run_id": self.id})
        self.publish("stream.ended", {"run_id": self.id})


def application(model_port: int) -> FastAPI:
    runs: dict[str, Run] = {}
    url = f"http://127.0.0.1:{model_port}/v1/chat/completions"
    sessions: list[aiohttp.ClientSession] = []

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector, read_bufsize=2**20) as session:
            sessions.append(session)
            yield

    app = FastAPI(lifespan=lifespan)

    def ask(run: Run) -> None:
        run.task = asyncio.get_running_loop().create_task(run.ask(sessions[0], url))

    @app.get("/healthz")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    @app.post("/v1/runs", status_code=202)
    async def start(body: Start) -> dict[str, str]:
        run = Run(len(runs) + 1, body.content)
        runs[run.id] = run
        ask(run)
        return {"run_id": run.id, "thread_id": f"thr_{run.id}", "cursor": "0"}

    @app.get("/v1/runs/{run_id}")
    async def view(run_id: str) -> dict[str, Any]:
        pending = [{"kind": "approval", "id": f"apr_{run_id}"}]
        return {"id": run_id, "status": runs[run_id].status, "pending": pending}

    @app.get("/v1/runs/{run_id}/events")
    async def events(
        run_id: str, after: int = 0, last_event_id: int | None = Header(default=None)
    ) -> StreamingResponse:
        follow = runs[run_id].follow(after if last_event_id is None else last_event_id)
        return StreamingResponse(follow, media_type="text/event-stream")

    @app.post("/v1/approvals/{approval_id}")
    async def decide(approval_id: str, body: Decision) -> dict[str, str]:
        run = runs[approval_id.removeprefix("apr_")]
        run.status = "running"
        run.messages.append({"role": "tool", "content": "done", "tool_call_id": "call_bench"})
        ask(run)
        return {"id": approval_id, "decision": body.decision}

    @app.post("/v1/runs/{run_id}/cancel")
    async def cancel(run_id: str) -> dict[str, str]:
        run = runs[run_id]
        if run.task is not None:
            run.task.cancel()
        run.end("cancelled")
        return {"id": run_id, "status": run.status}

    return app


if __name__ == "__main__":
    uvicorn.run(application(int(sys.argv[2])), host="127.0.0.1", port=int(sys.argv[1]), access_log=False, backlog=2048)
