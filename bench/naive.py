"""The obvious first version: FastAPI, OpenAI's client, a list in memory, a task per run. It loses everything on exit.

It accepts the same calls as `bench.raw`, validates the body of a start as Outlast does, and uses the same JSON library.
Run as a program: `python -m bench.naive PORT MODEL_PORT`.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import orjson
import uvicorn
from fastapi import FastAPI, Header
from fastapi.responses import StreamingResponse
from openai import AsyncOpenAI
from pydantic import BaseModel, ConfigDict, Field


class TextInput(BaseModel):
    type: Literal["text"]
    text: str


class ImageInput(BaseModel):
    type: Literal["image"]
    attachment_id: str


class Start(BaseModel):
    """The same body fields as in Outlast."""

    model_config = ConfigDict(extra="forbid")

    content: str | None = None
    parts: list[Annotated[TextInput | ImageInput, Field(discriminator="type")]] | None = None
    images: list[str] = Field(default_factory=list)
    mentions: list[str] = Field(default_factory=list, max_length=100)
    model: str | None = None
    on_busy: Literal["reject", "enqueue", "interrupt"] = "reject"
    project_id: str | None = None
    profile: str | None = None
    title: str | None = None


class Decision(BaseModel):
    decision: str


class Run:
    """One run: its events in a list, and a signal for waiting followers."""

    def __init__(self, number: int, content: str) -> None:
        self.id = f"run_{number}"
        self.status = "running"
        self.messages: list[Any] = [{"role": "user", "content": content}]
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

    async def follow(self, after: int) -> AsyncIterator[bytes]:
        while True:
            bell = self.bell
            while after < len(self.events):
                event = self.events[after]
                after += 1
                yield b"id: %d\ndata: %b\n\n" % (after, orjson.dumps(event))
                if event["event"] == "stream.ended":
                    return
            await bell.wait()

    async def ask(self, client: AsyncOpenAI) -> None:
        called = False
        stream = await client.chat.completions.create(model="bench", messages=self.messages, stream=True)
        async for chunk in stream:
            if not chunk.choices:
                continue
            delta = chunk.choices[0].delta
            if delta.content:
                self.publish("text.delta", {"part_id": "part_1", "delta": delta.content})
            called = called or bool(delta.tool_calls)
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
    clients: list[AsyncOpenAI] = []

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        async with AsyncOpenAI(base_url=f"http://127.0.0.1:{model_port}/v1", api_key="none") as client:
            clients.append(client)
            yield

    app = FastAPI(lifespan=lifespan)

    def ask(run: Run) -> None:
        run.task = asyncio.get_running_loop().create_task(run.ask(clients[0]))

    @app.get("/healthz")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    @app.post("/v1/runs", status_code=202)
    async def start(body: Start) -> dict[str, str]:
        run = Run(len(runs) + 1, body.content or "")
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
