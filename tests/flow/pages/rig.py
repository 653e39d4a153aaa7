"""A server without HTTP, with one page: database, hub, worker and sweeper over a scripted model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import sqlalchemy as sa

from outlast.apps.pages.actions import create_page
from outlast.apps.pages.shapes import ActionAnswer, PageAction, PageData
from outlast.apps.pages.tables import pages
from outlast.apps.pages.user_action_store import list_actions
from outlast.apps.pages.user_actions import act
from outlast.db.database import Database, Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.agents.tool import Tool
from outlast.kernel.runs.sweeper import Sweeper
from outlast.kernel.runs.worker import Worker
from outlast.kernel.services import Services
from outlast.kernel.settings import Settings
from outlast.kernel.streams.log_store import read_all
from outlast.kernel.threads.rules import text_of
from outlast.kernel.threads.tables import messages
from outlast.testing.agents import FakeAgent
from outlast.testing.catalog import ScriptedCatalog
from outlast.testing.scripted_model import ScriptedModel, Turn
from tests.factories import Team, make_services
from tests.flow.harness import Stage

__all__ = ["OFFERED", "PageStage", "offer", "page_stage"]


@dataclass
class PageStage(Stage):
    """A `Stage` whose thread is a page's."""

    page: PageData
    team: Team

    async def act(self, name: str = "refresh", actor: Actor | None = None, **more: Any) -> ActionAnswer:
        data = more.pop("data", {})
        return await act(self.services, actor or self.owner, self.page.id, name, data, **more)

    async def actions(self) -> list[PageAction]:
        """Oldest first."""
        found, _ = await self.services.db.read(list_actions, self.page.id, None, None, 200)
        return found[::-1]

    async def states(self) -> dict[str, str]:
        return {one.name: one.state for one in await self.actions()}

    async def asked(self) -> list[str]:
        """The texts of the people's messages, oldest first."""

        def read(tx: Tx) -> list[str]:
            mine = messages.c.thread_id == self.thread_id, messages.c.role == "user"
            said = tx.execute(sa.select(messages.c.parts).where(*mine).order_by(messages.c.position))
            return [text_of(parts) for parts in said.scalars()]

        return await self.services.db.read(read)

    async def told(self, event: str) -> list[str]:
        """The lines of one event in the thread's own log."""
        lines = await self.services.db.read(read_all, self.thread_id)
        return [line.decode() for _, line in lines if f'"event":"{event}"' in line.decode()]


NAMED = (
    "refresh",
    "other",
    "first",
    "second",
    "third",
    "fourth",
    "one",
    "two",
    "three",
    "four",
    "five",
    "early",
    "late",
)
OFFERED = [*NAMED, *(f"a{number}" for number in range(100))]


def offer(tx: Tx, page_id: str) -> None:
    """Put buttons on a page, as if they had always been there."""
    buttons = (f'<button data-action="{name}">{name}</button>' for name in OFFERED)
    tx.update(pages, {"id": page_id}, html="".join(buttons))


@asynccontextmanager
async def page_stage(
    db: Database,
    folder: Path,
    turns: list[Turn] | ScriptedModel,
    *tools: Tool,
    settings: Settings | None = None,
    working: bool = True,
) -> AsyncIterator[PageStage]:
    """A team with a page in their project, and a worker and a sweeper at work (unless `working` is False)."""
    model = turns if isinstance(turns, ScriptedModel) else ScriptedModel(turns)
    services: Services = make_services(
        db, folder, settings, catalog=ScriptedCatalog(model), agents=[FakeAgent(*tools), FakeAgent(*tools, name="page")]
    )
    team = await db.write(Team)
    page = await create_page(services, team.owner, team.project_id, title="Issues")
    await db.write(offer, page.id)
    async with anyio.create_task_group() as group:
        it = PageStage(services, model, team.owner, team.project_id, page.thread_id, page, team)
        if working:
            group.start_soon(Worker(services.engine).run)
            group.start_soon(Sweeper(services.engine, None).run)
        with anyio.fail_after(60):
            yield it
        group.cancel_scope.cancel()
