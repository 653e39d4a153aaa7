"""A site with one document, and the people around it: for tests of what they say to each other."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest
from anyio.streams.memory import MemoryObjectReceiveStream

from outlast.apps.documents import store as documents
from outlast.apps.documents.edits import write as writing
from outlast.apps.documents.edits.write import Author, Committed
from outlast.apps.documents.shapes import Change
from outlast.base.clock import SystemClock
from outlast.base.ids import new_id
from outlast.db.connect import open_database
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.http.allowed_hosts import known_hosts
from outlast.kernel.presence.actions import tell_presence
from outlast.kernel.projects.tables import projects
from outlast.kernel.services import Services
from outlast.kernel.settings import Settings
from outlast.kernel.streams.actions import follow_project
from outlast.kernel.streams.log_store import read_all
from outlast.kernel.threads import store as threads
from outlast.surfaces.http.application import create_http
from outlast.testing.agents import FakeAgent
from tests.asgi import Answer, Browser
from tests.document_changes import insert_section
from tests.factories import Team, join, make_services, make_user
from tests.flow.http.conftest import Site, surface_over

__all__ = ["Talk", "make_document", "talk", "talk_site"]

TEXT = "We propose a new way to cook rice.\n\nIt takes ten minutes and one pot."


@dataclass
class Stream:
    """What arrives at somebody's browser."""

    chunks: MemoryObjectReceiveStream[bytes]
    waiting: list[bytes] = field(default_factory=list)

    async def next(self, *names: str) -> dict[str, Any]:
        """The next event of one of these names (`presence`: the next such frame's data)."""
        with anyio.fail_after(30):
            while True:
                while self.waiting:
                    frame = self.waiting.pop(0)
                    lines = [line for line in frame.split(b"\n") if line.startswith(b"data: ")]
                    event: dict[str, Any] = orjson.loads(lines[0][6:]) if lines else {}
                    if frame.startswith(b"event: presence"):
                        event = {"event": "presence", "data": event}
                    if event.get("event") in names:
                        return event
                self.waiting = (await self.chunks.receive()).split(b"\n\n")


@dataclass
class Talk:
    """A document with two sections ("Introduction" with two paragraphs, "Method" with one), and its people's browsers:
    Olga owns the project, Emil and Cora edit, Vera views, Sten is a stranger."""

    site: Site
    team: Team
    cora: Actor
    browsers: dict[str, Browser]
    document_id: str
    thread_id: str
    sections: list[str]
    blocks: list[str]

    @property
    def services(self) -> Services:
        return self.site.services

    async def call(self, who: str, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        return await self.browsers[who].call(method, f"/v1{path}", body, headers=headers)

    async def get(self, who: str, path: str) -> Any:
        answer = await self.call(who, "GET", path)
        assert answer.status == 200, answer.body
        return answer.json()

    async def comment(self, who: str, body: str, **more: Any) -> dict[str, Any]:
        answer = await self.call(who, "POST", f"/documents/{self.document_id}/comments", {"body": body, **more})
        assert answer.status == 201, answer.body
        made: dict[str, Any] = answer.json()
        return made

    async def inbox(self, who: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = (await self.get(who, f"/inbox?project={self.team.project_id}"))["items"]
        return items

    async def write(self, *changes: Change) -> Committed:
        """Emil changes the document."""

        def run(tx: Tx) -> Committed:
            author = Author("edit", self.team.editor.user_id)
            held = documents.hold(tx, self.document_id)
            return writing.commit(tx, held, changes, author, self.services.settings)

        return await self.services.db.write(run)

    @asynccontextmanager
    async def following(self, actor: Actor) -> AsyncIterator[Stream]:
        """The project's stream as this person's browser follows it from now on."""
        seq = await self.services.db.read(lambda tx: tx.value(projects.c.log_seq, {"id": self.team.project_id}))
        chunks = await follow_project(self.services, actor, self.team.project_id, str(seq))
        send, receive = anyio.create_memory_object_stream[bytes](1000)
        seen = anyio.Event()
        self.services.presence.on_change(lambda room_id: seen.set())

        async def pump() -> None:
            async for chunk in chunks:
                await send.send(chunk)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pump)
            await seen.wait()  # from now on this person is there, and nothing is missed
            yield Stream(receive)
            tasks.cancel_scope.cancel()

    async def news(self, *names: str) -> list[dict[str, Any]]:
        """The project's events of these names so far, oldest first."""
        lines = await self.services.db.read(read_all, self.team.project_id)
        events = [orjson.loads(line) for _, line in lines]
        return [event for event in events if event["event"] in names]


def make_document(tx: Tx, project_id: str, actor: Actor) -> tuple[str, str]:
    """An empty document with its conversation: their ids."""
    document_id = new_id("document")
    anchor = {"type": "document", "id": document_id}
    thread_id = threads.add_thread(tx, project_id, actor.user_id, title="Rice", profile="document", anchor=anchor)
    documents.add(tx, document_id, project_id, actor.user_id, thread_id=thread_id, title="Rice")
    return document_id, thread_id


@pytest.fixture(scope="module")
async def talk_site(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """One site for the tests of a file: each makes its own users and projects."""
    folder = tmp_path_factory.mktemp("talk")
    shutil.copy(migrated_sqlite, folder / "outlast.db")
    database = open_database("sqlite:///outlast.db", folder, SystemClock())
    services = make_services(database, folder, Settings(), agents=[FakeAgent(), FakeAgent(name="document")])
    services.presence.on_change(lambda room_id: tell_presence(services.presence, services.hub, room_id))
    surface = surface_over(services, None)
    browser = Browser(create_http(surface, known_hosts("127.0.0.1", "", ())))
    yield Site(services, surface, browser, browser)
    await database.aclose()


@pytest.fixture
async def talk(talk_site: Site) -> Talk:
    services = talk_site.services

    def run(tx: Tx) -> tuple[Team, Actor, str, str]:
        team, cora = Team(tx), make_user(tx, "Cora")
        join(tx, team.project_id, cora, "editor")
        document_id, thread_id = make_document(tx, team.project_id, team.owner)
        author = Author("created", team.owner.user_id)
        changes = [
            insert_section(None, "Introduction", 1, TEXT, "a"),
            insert_section("a", "Method", 1, "Wash the rice first."),
        ]
        held = documents.hold(tx, document_id)
        writing.commit(tx, held, changes, author, services.settings)
        return team, cora, document_id, thread_id

    team, cora, document_id, thread_id = await services.db.write(run)
    tree = await services.db.read(documents.tree, document_id)
    people = {"olga": team.owner, "emil": team.editor, "cora": cora, "vera": team.viewer, "sten": team.stranger}
    browsers = {name: await talk_site.signed_in(actor) for name, actor in people.items()}
    return Talk(
        talk_site,
        team,
        cora,
        browsers,
        document_id,
        thread_id,
        [section.id for section in tree.sections],
        [block.id for block in tree.blocks()],
    )
