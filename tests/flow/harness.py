"""A server without HTTP: database, hub, worker and sweeper over a scripted model and fake tools."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import orjson

from outlast.db.database import Database
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.tool import Tool
from outlast.kernel.connections import actions as connections
from outlast.kernel.mcp.tools import ConnectedTools
from outlast.kernel.models.protocol import NOTE_MARK, ModelMessage, ModelRequest, TextPiece, ToolResultPiece
from outlast.kernel.runs import account_questions
from outlast.kernel.runs.actions import start_run
from outlast.kernel.runs.rules import ENDED
from outlast.kernel.runs.shapes import StartedAnswer
from outlast.kernel.runs.store import run_of
from outlast.kernel.runs.sweeper import Sweeper
from outlast.kernel.runs.worker import Worker
from outlast.kernel.services import Services
from outlast.kernel.settings import Settings
from outlast.kernel.streams.actions import follow_run, follow_thread
from outlast.kernel.threads.user_input import Draft
from outlast.testing.agents import FakeAgent
from outlast.testing.catalog import ScriptedCatalog
from outlast.testing.scripted_model import ScriptedModel, Turn
from tests.factories import make_project, make_services, make_thread, make_user

Event = dict[str, Any]


@dataclass
class Stage:
    """What a test plays on: services, one owner with a project and a thread, the scripted model."""

    services: Services
    model: ScriptedModel
    owner: Actor
    project_id: str
    thread_id: str

    async def start(self, text: str = "Hello", **options: Any) -> StartedAnswer:
        target = options.pop("target", self.thread_id)
        actor = options.pop("actor", self.owner)
        return await start_run(self.services, actor, target, Draft(text), **options)

    async def events(self, run_id: str, after: int = 0) -> list[Event]:
        """Every event of the run until its stream ends."""
        chunks = await follow_run(self.services, self.owner, run_id, str(after))
        return [event async for _, event in frames(chunks)] if chunks is not None else []

    async def until(self, run_id: str, *names: str) -> Event:
        """The first event of one of these names; waits for it."""
        chunks = await follow_run(self.services, self.owner, run_id, "0")
        assert chunks is not None
        async for _, event in frames(chunks):
            if event["event"] in names:
                return event
        raise AssertionError(f"the stream ended without {names}")

    async def until_status(self, run_id: str, status: str) -> None:
        chunks = await follow_run(self.services, self.owner, run_id, "0")
        assert chunks is not None
        async for _, event in frames(chunks):
            if event["event"] == "run.status" and event["data"]["status"] == status:
                return

    async def ended(self, run_id: str) -> str:
        await self.events(run_id)
        run = await self.services.db.read(run_of, run_id)
        assert run.status in ENDED
        return run.status

    async def messages(self) -> list[Any]:
        from outlast.kernel.threads.actions import list_messages

        return (await list_messages(self.services, self.owner, self.thread_id)).items

    async def thread_events(self, cursor: str, stop: str) -> list[tuple[str, Event]]:
        """The thread's frames from a cursor until (and with) the first event called `stop`."""
        seen = []
        chunks = await follow_thread(self.services, self.owner, self.thread_id, cursor)
        async for frame in frames(chunks):
            seen.append(frame)
            if frame[1]["event"] == stop:
                return seen
        raise AssertionError("a thread's stream never ends")


def told(message: ModelMessage) -> list[str]:
    """What a model is told of its calls' results."""
    return [piece.content for piece in message.pieces if isinstance(piece, ToolResultPiece)]


def told_last(request: ModelRequest) -> list[str]:
    """The results of the newest calls, also where a note of the server stands behind them."""
    return told(next(message for message in reversed(request.messages) if message.role == "tool"))


def noted(request: ModelRequest) -> list[str]:
    """What the server has told the model beside its work."""
    said = [piece.text for message in request.messages for piece in message.pieces if isinstance(piece, TextPiece)]
    return [text for text in said if text.startswith(NOTE_MARK)]


async def frames(chunks: AsyncIterator[bytes]) -> AsyncIterator[tuple[str, Event]]:
    """(cursor, event) of every server-sent event in the chunks."""
    async for chunk in chunks:
        for frame in chunk.decode().split("\n\n"):
            fields = dict(line.split(": ", 1) for line in frame.split("\n") if ": " in line)
            if "id" in fields:
                yield fields["id"], orjson.loads(fields["data"])


def make_stage_services(
    db: Database,
    folder: Path,
    turns: Any,
    tools: tuple[Tool, ...],
    settings: Settings | None,
    agent: FakeAgent | Agent | None = None,
    others: Sequence[Agent] = (),
) -> tuple[Services, ScriptedModel]:
    model = turns if isinstance(turns, ScriptedModel) else ScriptedModel(turns)
    services = make_services(
        db, folder, settings, catalog=ScriptedCatalog(model), agents=[agent or FakeAgent(*tools), *others]
    )
    return services, model


@asynccontextmanager
async def stage(
    db: Database,
    folder: Path,
    turns: list[Turn] | ScriptedModel,
    *tools: Tool,
    settings: Settings | None = None,
    working: bool = True,
    agent: FakeAgent | Agent | None = None,
    others: Sequence[Agent] = (),
    patience_s: float = 60,
) -> AsyncIterator[Stage]:
    """An owner, a project and a thread, with a worker and a sweeper at work (unless `working` is False), for at most
    `patience_s`."""
    services, model = make_stage_services(db, folder, turns, tools, settings, agent, others)
    owner = await db.write(make_user)
    project_id = await db.write(make_project, owner)
    thread_id = await db.write(make_thread, project_id, owner)
    async with anyio.create_task_group() as group:
        if working:
            group.start_soon(Worker(services.engine).run)
            handlers: dict[str, Any] = {account_questions.TIMER: partial(connections.go_on, services)}
            group.start_soon(Sweeper(services.engine, None, handlers).run)
            group.start_soon(services.watching.run)
            if isinstance(services.engine.connected, ConnectedTools):
                group.start_soon(services.engine.connected.run)
        with anyio.fail_after(patience_s):
            yield Stage(services, model, owner, project_id, thread_id)
        group.cancel_scope.cancel()
