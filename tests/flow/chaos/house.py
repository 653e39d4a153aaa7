"""A whole server in this process, over its real parts, each of which can be told to fail at any call.

A *house* outlives its servers: settings, database, folder, sandboxes. `served` starts one server in it; `play` has a
few runs made by clients that go on whatever they are answered; `check_rest` looks at what is left when a server has
stopped.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import aiohttp
import anyio
import orjson
import pytest
import sqlalchemy as sa
from anyio.abc import TaskStatus

from outlast import app, assembly
from outlast.apps.pages.agent.dormancy import KIND as DORMANT
from outlast.base.clock import SystemClock
from outlast.base.ids import new_id
from outlast.base.settings.fields import SecretUrl
from outlast.base.supervision.supervisor import Supervisor
from outlast.db.connect import open_database
from outlast.db.database import Tx
from outlast.kernel.credits.settings import CreditSettings
from outlast.kernel.credits.tables import ledger
from outlast.kernel.limits.settings import LimitSettings
from outlast.kernel.models.protocol import ModelRequest, ToolResultPiece
from outlast.kernel.runs.settings import RunSettings
from outlast.kernel.runs.tables import runs, timers
from outlast.kernel.sandboxes.screen_settings import ScreenSettings
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.tables import sandboxes
from outlast.kernel.sandboxes.translation import translated_provider
from outlast.kernel.set_aside import store
from outlast.kernel.settings import Settings
from outlast.kernel.settings.server import DatabaseSettings, ServerSettings
from outlast.testing.catalog import ScriptedCatalog
from outlast.testing.scripted_model import Call, ScriptedModel, Turn, turn
from outlast_sandbox.interface import Capabilities
from outlast_sandbox.providers.memory import MemoryProvider
from tests.crash.server import until
from tests.faults import Faults
from tests.flow.chaos import subjects
from tests.flow.program.test_program import Running
from tests.flow.screens.rig import TSC, Compiler
from tests.photographer import FakePhotographer
from tests.templates import small_templates

PARTS: Final = ("database", "provider", "blobs", "hub", "clock", "model")
PLAY_S: Final = 60.0
REST_S: Final = 30.0
AGAIN_S: Final = 0.05
CAPABILITIES: Final = Capabilities(pause=True, reattach=True)
HASTE: Final = 20.0
LEASE_S: Final = 2.0
MOMENT: Final = timedelta(seconds=15)  # a page goes to sleep of itself, perhaps while its server stops
UPLOAD: Final = "upload"
SCENES: Final = {"chats": ("files", "words", "approval", UPLOAD), "subjects": ("page", "document", "screen")}
"""What is worked on at the same time, by the scene's name."""


class HastyClock:
    """Time that goes by twenty times as fast: for the supervisor, whose pauses are no part of what is tested."""

    def __init__(self) -> None:
        self._clock = SystemClock()

    def now(self) -> Any:
        return self._clock.now()

    def monotonic(self) -> float:
        return self._clock.monotonic() * HASTE

    async def sleep(self, seconds: float) -> None:
        await self._clock.sleep(seconds / HASTE)


class _Studio(FakePhotographer):
    """With a service of its own, as the real one has."""

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        await anyio.sleep_forever()


def answer(request: ModelRequest) -> Turn:
    """What the model says, from what it was asked and what came of its calls."""
    results = [
        piece.content for message in request.messages for piece in message.pieces if isinstance(piece, ToolResultPiece)
    ]
    said = " ".join(getattr(piece, "text", "") for message in request.messages for piece in message.pieces)
    if (about := subjects.answer(said, results)) is not None:
        return about
    if "words" in said:
        return turn("One word ", "after the other ", "until the end.")
    if "approval" in said:
        clean_up = Call("terminal", {"command": "rm -rf build"})
        return turn("May I? ", clean_up) if not results else turn("Thank you.")
    if not results:
        files = [{"path": "notes.md", "content": "# Notes\n"}]
        return turn("I write. ", Call("create_or_update_files", {"files": files}))
    if len(results) == 1:
        return turn("I look. ", Call("terminal", {"command": "cat notes.md"}))
    return turn(f"It says: {results[-1]}")


@dataclass
class Played:
    """A run, or a file of the project, that was driven to its end: what it was for, and how it ended."""

    kind: str
    run_id: str
    status: str
    error: str
    parts: list[Any]
    left: Any = None
    """What the run was about, as it is then."""

    @property
    def exact(self) -> tuple[str, list[Any], Any]:
        """What is the same without a fault. A notice that a sandbox was replaced makes no difference."""
        return self.status, [part for part in self.parts if part[0] != "notice"], self.left


@dataclass
class House:
    """See the module."""

    settings: Settings
    folder: Path
    provider: MemoryProvider
    monkeypatch: pytest.MonkeyPatch
    scene: str = "chats"
    faults: Faults = field(default_factory=Faults)
    model: ScriptedModel = field(default_factory=lambda: ScriptedModel(answer))
    program: Running = field(default_factory=Running)

    def fit(self) -> None:
        """From now on servers in this process are given parts that can fail."""
        wrap = self.faults.wrap
        self.provider.respond(TSC, Compiler())
        blobs, hub = app.open_blobs, app.Hub  # type: ignore[attr-defined]
        catalog = ScriptedCatalog(wrap("model", self.model))
        provider = wrap("provider", self.provider, deep=("create", "connect", "processes"))

        def opened(url: str, data_dir: Path, _clock: Any, _options: Any) -> Any:
            return wrap("database", open_database(url, data_dir, SystemClock()), deep=("in_thread",))

        def supervisor(_clock: Any, shelf: Any) -> Supervisor:
            return Supervisor(HastyClock(), shelf)

        put = self.monkeypatch.setattr
        put(app, "open_database", opened)
        put(app, "SystemClock", lambda: wrap("clock", SystemClock()))
        put(app, "open_blobs", lambda *given: wrap("blobs", blobs(*given)))
        put(app, "Hub", lambda: wrap("hub", hub()))
        put(app, "Supervisor", supervisor)
        put(assembly, "open_studio", lambda *_given: _Studio())
        put(app, "load_templates", lambda _settings: small_templates())
        put(app, "open_catalog", lambda _settings, _clock: catalog)
        put(assembly, "open_provider", lambda _settings, _folder: translated_provider(provider))

    @asynccontextmanager
    async def served(self) -> AsyncIterator[House]:
        """A server runs. Ends it in good order; raises what ends it otherwise."""
        self.program = Running()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.program.run, self.settings, True)
            with anyio.fail_after(PLAY_S):
                await self.program.ready.wait()
            yield self
            assert not self.program.ended.is_set(), "the server has ended"
            with anyio.fail_after(PLAY_S):
                await self.program.stop()

    async def play(self) -> dict[str, Played]:
        """Everything of the scene at the same time, each followed to its end."""
        found: dict[str, Played] = {}
        async with aiohttp.ClientSession() as session:
            client = Client(session, self.program)

            async def one(kind: str) -> None:
                found[kind] = await client.play(kind)

            with anyio.fail_after(PLAY_S):
                async with anyio.create_task_group() as tasks:
                    for kind in SCENES[self.scene]:
                        tasks.start_soon(one, kind)
            assert (await client.call("GET", "/healthz"))[0] == 200
        return found

    async def check_rest(self) -> None:
        """With no server at work: nothing is stuck, every hold is closed, and every sandbox has its row."""
        db = open_database(self.settings.database.url.reveal(), self.folder, SystemClock())
        try:
            left = await db.read(_left)
        finally:
            await db.aclose()
        living = {sandbox_id for sandbox_id, _ in await self.provider.list_refs()}
        assert left["runs"] == [], "runs that go on"
        assert left["holds"] == [], "credits held for runs that have ended"
        assert left["set_aside"] == []
        assert left["sandboxes"] == living
        assert left["overdue"] == []

    async def until_rest(self) -> None:
        """With a server at work, and no fault: every run has ended, and whatever was due is done."""
        db = open_database(self.settings.database.url.reveal(), self.folder, SystemClock())

        async def is_at_rest() -> bool:
            left = await db.read(_left)
            return not left["runs"] and not left["overdue"]

        try:
            with anyio.fail_after(REST_S):
                await until(is_at_rest)
        finally:
            await db.aclose()


class Client:
    """Goes on whatever it is answered: it asks again under the same key, and follows on from its cursor."""

    def __init__(self, session: aiohttp.ClientSession, program: Running) -> None:
        self._session, self._program = session, program

    async def make(self, nouns: str, body: Any) -> Any:
        """A new thing in the person's project."""
        me = await self.sent("GET", "/v1/me")
        return await self.sent("POST", f"/v1/projects/{me['default_project_id']}/{nouns}", body)

    async def sent(self, method: str, path: str, body: Any = None) -> Any:
        """What a request under a key of its own is answered, which is not refused."""
        status, told = await self.call(method, path, body, new_id("request"))
        assert status < 300, (method, path, told)
        return told

    async def text(self, path: str) -> str:
        """A file, or the code of the problem."""
        status, told = await self.call("GET", path, plain=True)
        return told if status == 200 else orjson.loads(told)["code"]

    async def call(
        self, method: str, path: str, body: Any = None, key: str = "", file: bytes = b"", plain: bool = False
    ) -> tuple[int, Any]:
        """One request, asked again until it is answered without a fault of the server."""
        headers = {"Idempotency-Key": key} if key else {}
        while True:
            assert not self._program.ended.is_set(), "the server has ended"
            form = aiohttp.FormData()
            form.add_field("file", file, filename="notes.md", content_type="text/markdown")
            sent: dict[str, Any] = {"data": form} if file else {"json": body}
            try:
                url = self._program.address + path
                async with self._session.request(method, url, headers=headers, **sent) as told:
                    text = await told.text()
                    if told.status < 500:
                        return told.status, text if plain else orjson.loads(text)
            except (TimeoutError, aiohttp.ClientError, ConnectionError):
                pass
            await anyio.sleep(AGAIN_S)

    async def upload(self) -> Played:
        """A file of the project, until its text has been read."""
        _, me = await self.call("GET", "/v1/me")
        path = f"/v1/projects/{me['default_project_id']}/artifacts"
        status, made = await self.call("POST", path, file=b"# Notes\n\nSome text to be found.\n")
        assert status == 201, made
        while made["state"] == "reading":
            await anyio.sleep(AGAIN_S)
            _, made = await self.call("GET", f"/v1/artifacts/{made['id']}")
        return Played(UPLOAD, made["id"], made["state"], made["trouble"] or "", [[made["characters"]]])

    async def play(self, kind: str) -> Played:
        if kind == UPLOAD:
            return await self.upload()
        if kind in subjects.PLAYS:
            return await subjects.PLAYS[kind](self)
        return await self.followed(kind, await self.sent("POST", "/v1/runs", {"content": f"Show {kind}."}))

    async def followed(self, kind: str, begun: Any) -> Played:
        """A run that has begun, until its stream has ended."""
        run_id = begun["run_id"]
        cursor = "0"
        while True:
            cursor, ended = await self._follow(run_id, cursor)
            if ended:
                break
            await anyio.sleep(AGAIN_S)
        _, run = await self.call("GET", f"/v1/runs/{run_id}")
        _, said = await self.call("GET", f"/v1/threads/{begun['thread_id']}/messages")
        parts = [
            [_plain(part.get(name)) for name in ("type", "text", "tool", "status", "result", "code")]
            for message in said["items"]
            if message["role"] == "assistant"
            for part in message["parts"]
        ]
        error = (run.get("error") or {}).get("code", "")
        return Played(kind, run_id, run["status"], error, parts)

    async def _follow(self, run_id: str, cursor: str) -> tuple[str, bool]:
        """(the cursor reached, whether the stream has ended)."""
        headers = {"Last-Event-ID": cursor}
        try:
            url = f"{self._program.address}/v1/runs/{run_id}/events"
            async with self._session.get(url, headers=headers) as told:
                if told.status == 204:
                    return cursor, True
                async for line in told.content:
                    if line.startswith(b"id: "):
                        cursor = line[4:].decode().strip()
                    if b'"event":"stream.ended"' in line:
                        return cursor, True
                    if b'"event":"approval.requested"' in line:
                        await self._approve(orjson.loads(line.removeprefix(b"data: ")))
        except (aiohttp.ClientError, ConnectionError):
            pass
        return cursor, False

    async def _approve(self, event: dict[str, Any]) -> None:
        approval_id = event["data"]["approval"]["id"]
        status, told = await self.call("POST", f"/v1/approvals/{approval_id}", {"decision": "approve"})
        assert status == 200 or told["code"] in ("approval_decided", "run_finished"), told


def _plain(value: Any) -> Any:
    """Without ids, which differ between any two runs."""
    return re.sub(r"\b([a-z]{3})_[0-9a-z]{26}\b", r"\1", value) if isinstance(value, str) else value


def _left(tx: Tx) -> dict[str, Any]:
    held = tx.execute(sa.select(ledger.c.kind, ledger.c.run_id)).all()
    closed = {row.run_id for row in held if row.kind in ("settle", "release")}
    stuck = sa.or_(timers.c.kind != DORMANT, timers.c.due_at < tx.now - MOMENT)
    due = sa.select(timers.c.kind, timers.c.subject_id).where(timers.c.due_at < tx.now, stuck)
    living = sa.select(sandboxes.c.id).where(sandboxes.c.ended_at.is_(None))
    going = sa.select(runs.c.id, runs.c.status, runs.c.leg).where(runs.c.leg != "ended")
    return {
        "runs": [tuple(row) for row in tx.execute(going)],
        "holds": [row.run_id for row in held if row.kind == "reserve" and row.run_id not in closed],
        "sandboxes": set(tx.execute(living).scalars()),
        "set_aside": store.listed(tx),
        "overdue": [tuple(row) for row in tx.execute(due)],
    }


def settings_of(folder: Path, database_url: str) -> Settings:
    return Settings(
        server=ServerSettings(port=0, data_dir=str(folder), stop_grace_s=10),
        database=DatabaseSettings(url=SecretUrl(database_url)),
        providers={},
        models=(),
        runs=RunSettings(lease_s=LEASE_S, heartbeat_s=LEASE_S / 4),
        limits=LimitSettings(**{one.name: 0 for one in fields(LimitSettings) if "_per_minute_" in one.name}),
        sandbox=SandboxSettings(provider="memory", max_awake=10_000),
        screens=ScreenSettings(pictures=False),
        credits=CreditSettings(default_plan="chaos", plans={"chaos": 1_000_000}),
    )
