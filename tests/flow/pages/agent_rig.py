"""A server without HTTP, with one page and its real agent: a scripted model, real search, and (where wanted) real
sandboxes of this machine."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio

from outlast.apps.knowledge.agent.library_code import LibraryCode
from outlast.apps.knowledge.agent.search_docs import search_docs_tool
from outlast.apps.knowledge.memories import store as memories
from outlast.apps.knowledge.module_store import Modules, of_user, of_workspace
from outlast.apps.knowledge.search import Knowledge
from outlast.apps.knowledge.store import TEXTS
from outlast.apps.pages import versions
from outlast.apps.pages.actions import create_page, read_page
from outlast.apps.pages.agent.dormancy import KIND
from outlast.apps.pages.server import open_app
from outlast.apps.pages.shapes import PageData
from outlast.apps.pages.tree_cache import LiveTrees
from outlast.apps.pages.versions import Rules
from outlast.base.clock import SystemClock
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.database import Database
from outlast.kernel.agents.tools.run_code import AROUND_CODE
from outlast.kernel.apps.ports import Port
from outlast.kernel.library.modules import USABLE_MODULES, Module
from outlast.kernel.library.search import SEARCH, SEARCH_DOCS
from outlast.kernel.models.protocol import ModelRequest, TextPiece
from outlast.kernel.runs.actions import start_run
from outlast.kernel.runs.approval_actions import decide_approval
from outlast.kernel.runs.shapes import StartedAnswer
from outlast.kernel.runs.sweeper import Sweeper
from outlast.kernel.runs.worker import Worker
from outlast.kernel.sandboxes.checkpoints.keeper import CheckpointKeeper
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.settings import DependencySettings, SandboxSettings
from outlast.kernel.services import SandboxServices
from outlast.kernel.settings import Settings
from outlast.kernel.threads.user_input import Draft
from outlast.testing.catalog import ScriptedCatalog
from outlast.testing.scripted_model import Call, ScriptedModel, Turn
from outlast_sandbox.interface import SandboxProvider
from tests.factories import Team, make_opening, make_services
from tests.flow.harness import Event, Stage
from tests.store.apps.knowledge.test_search import put_source

TRACKER = DependencySettings(name="tracker", docs=("tracker.md",), hosts=("tracker.test",))
SANDBOX = SandboxSettings(memory_mb=512, processes=128, disk_mb=64, dependencies=(TRACKER,))
WITH_SANDBOX = Settings(sandbox=SANDBOX)
WITHOUT_SANDBOX = Settings(sandbox=None)
DEPENDENCIES = "dependencies of the tests"


def lines(*objects: dict[str, Any] | str) -> str:
    """What a model writes: a line each."""
    return "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in objects)


def full(html: str, **more: Any) -> dict[str, Any]:
    return {"type": "full", "html": html, **more}


def patches(*some: dict[str, Any]) -> dict[str, Any]:
    return {"type": "patches", "patches": list(some)}


def summary(text: str) -> dict[str, Any]:
    return {"type": "summary", "text": text}


def announcing(*some: dict[str, Any]) -> dict[str, Any]:
    return {"type": "code_modules", "modules": list(some)}


def module(path: str = "lib/tracker.ts", *exports: str, **more: Any) -> dict[str, Any]:
    names = exports or ("double",)
    usage = f"import {{ {names[0]} }} from './{path}'"
    return {"path": path, "description": "Doubles numbers.", "exports": names, "usage": usage, **more}


def write(path: str, content: str) -> Call:
    return Call("create_or_update_files", {"files": [{"path": path, "content": content}]})


def code(text: str, **more: Any) -> Call:
    return Call("run_code", {"code": text, "description": "Try it", **more})


def asked_with(request: ModelRequest) -> str:
    """The message that a request's run began with."""
    return "".join(piece.text for piece in request.messages[0].pieces if isinstance(piece, TextPiece))


@dataclass
class PageAgent(Stage):
    """A `Stage` whose thread is a page's, with what its agent uses."""

    page: PageData = field(kw_only=True)
    db: Database = field(kw_only=True)
    shelf: Modules = field(kw_only=True)
    knowledge: Knowledge = field(kw_only=True)
    rest: Callable[[str], Awaitable[None]] = field(kw_only=True)  # what the timer of an unused page calls
    live: LiveTrees = field(kw_only=True)
    embeds: list[Any] = field(kw_only=True)  # the runs after which vectors were wished for
    machines: SandboxManager | None = field(kw_only=True, default=None)
    files: CheckpointKeeper | None = field(kw_only=True, default=None)

    async def now(self) -> PageData:
        return await read_page(self.services, self.owner, self.page.id)

    async def ask(self, text: str = "Show my issues", **options: Any) -> StartedAnswer:
        return await start_run(self.services, self.owner, self.thread_id, Draft(text), **options)

    async def asked(self, text: str = "Show my issues", **options: Any) -> list[Event]:
        """Every event of a run that has ended."""
        return await self.events((await self.ask(text, **options)).run_id)

    async def approve(self, started: StartedAnswer) -> None:
        event = await self.until(started.run_id, "approval.requested")
        approval_id = event["data"]["approval"]["id"]
        await decide_approval(self.services, self.owner, approval_id, "approve")

    async def modules(self) -> list[Module]:
        return await self.db.read(of_workspace, self.page.workspace_id)

    async def published(self) -> list[Module]:
        return await self.db.read(of_user, self.owner.user_id)

    async def memories(self) -> list[str]:
        """Oldest first."""
        return [one.summary for one in await self.db.read(memories.of_thread, self.thread_id)][::-1]

    async def history(self) -> list[str]:
        """What the page's history says of each version, oldest first."""
        kept, _older = await self.db.read(versions.list_versions, (await self.now()).id, None, 100)
        return [one.summary for one in kept][::-1]


def named(events: list[Event], name: str) -> list[Any]:
    return [event["data"] for event in events if event["event"] == name]


def results(events: list[Event]) -> list[str]:
    return [data["result"] for data in named(events, "tool_call.result")]


@asynccontextmanager
async def page_agent(
    db: Database,
    folder: Path,
    turns: list[Turn] | ScriptedModel,
    *,
    provider: SandboxProvider | None = None,
    settings: Settings | None = None,
    embedder: Any = None,
    working: bool = True,
    clock: Any = None,
) -> AsyncIterator[PageAgent]:
    """A team with a page in their project, its agent at work. `provider` None: a server without sandboxes."""
    chosen = settings or (WITHOUT_SANDBOX if provider is None else WITH_SANDBOX)
    clock = clock or SystemClock()
    model = turns if isinstance(turns, ScriptedModel) else ScriptedModel(turns)
    catalog: Any = ScriptedCatalog(model)
    blobs = FolderBlobs(folder / "blobs")
    live = LiveTrees()
    embeds: list[Any] = []
    machines: SandboxManager | None = None
    keeper: CheckpointKeeper | None = None
    async with anyio.create_task_group() as group:
        if provider is not None and chosen.sandbox is not None:
            machines = SandboxManager(db, provider, SystemClock(), chosen.sandbox, folder)
            keeper = CheckpointKeeper(
                db,
                blobs,
                SystemClock(),
                chosen.sandbox,
                folder,
                node_id="local",
                local=provider.capabilities.volume,
                find=machines.find,
            )
            machines.lives.files = keeper
            machines.attend(keeper)
            group.start_soon(keeper.run)
        shelf = Modules(db, keeper, DEPENDENCIES)
        knowledge = Knowledge(db, SystemClock(), modules=shelf, embedder=embedder)
        db.on_notice(lambda bell: embeds.append(model.requests[-1].metadata["run_id"]) if bell == TEXTS else None)
        dependencies = () if chosen.sandbox is None else chosen.sandbox.dependencies
        implementations: dict[Port[Any], Any] = {
            USABLE_MODULES: shelf,
            SEARCH_DOCS: search_docs_tool(knowledge, db),
            SEARCH: knowledge,
            AROUND_CODE: LibraryCode(dependencies, db, shelf, blobs),
        }
        sandboxes, states = SandboxServices(manager=machines, checkpoints=keeper), {Rules: Rules(live)}
        more = {"implementations": implementations, "sandboxes": sandboxes, "states": states}
        opened = open_app(make_opening(db, folder, chosen, **more))
        services = make_services(db, folder, chosen, clock=clock, catalog=catalog, agents=opened.agents)
        services = replace(services, engine=replace(services.engine, files=keeper), sandboxes=sandboxes)
        await db.write(put_source, "tracker")
        team = await db.write(Team)
        page = await create_page(services, team.owner, team.project_id)
        if working:
            group.start_soon(Worker(services.engine).run)
            group.start_soon(Sweeper(services.engine, None, opened.timers).run)
        with anyio.fail_after(120):
            yield PageAgent(
                services, model, team.owner, team.project_id, page.thread_id, page=page, db=db, shelf=shelf,
                knowledge=knowledge, rest=opened.timers[KIND], live=live, machines=machines, files=keeper,
                embeds=embeds,
            )  # fmt: skip
        group.cancel_scope.cancel()
    if machines is not None:
        await machines.aclose()
