"""A server without HTTP where people build screens: the real profile over sandboxes in memory, with a compiler and a
photographer that say what the test wants."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio

from outlast.apps.screens.actions import create_screen, read_screen
from outlast.apps.screens.agent.agent import screen_agent
from outlast.apps.screens.shapes import ScreenData, ScreenRequest, TemplateName
from outlast.base.clock import SystemClock
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.database import Database
from outlast.kernel.agents.agent import Agent
from outlast.kernel.models.protocol import ModelSpec
from outlast.kernel.runs.actions import start_run
from outlast.kernel.runs.settings import RetrySettings
from outlast.kernel.runs.shapes import StartedAnswer
from outlast.kernel.runs.sweeper import Sweeper
from outlast.kernel.runs.worker import Worker
from outlast.kernel.sandboxes.checkpoints.keeper import CheckpointKeeper
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.screen_settings import ScreenSettings
from outlast.kernel.sandboxes.seeds import Seeds
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.template_files import load_templates
from outlast.kernel.services import SandboxServices, Services
from outlast.kernel.settings import Settings
from outlast.kernel.threads.actions import list_messages
from outlast.kernel.threads.user_input import Draft
from outlast.testing.catalog import ScriptedCatalog
from outlast.testing.scripted_model import Call, ScriptedModel, Turn, turn
from outlast_sandbox.browser.interface import Look
from outlast_sandbox.interface import Capabilities
from outlast_sandbox.providers.memory import Job, MemoryProvider
from tests.factories import make_opening, make_project, make_services, make_user
from tests.flow.harness import Event, Stage
from tests.photographer import FakePhotographer

WRONG = re.compile(rb"const (\w+): number = \"")  # what the compiler of these tests minds
TSC = "./node_modules/.bin/tsc"
SETTINGS = Settings(
    sandbox=SandboxSettings(provider="memory"),
    screens=ScreenSettings(template="vite"),
    retry=RetrySettings(attempts=1, base_s=0.01),
)


def page(words: str = "Hello", *, wrong: bool = False) -> str:
    error = 'const plans: number = "three";\n' if wrong else ""
    return f"{error}export default function Page() {{\n  return <main>{words}</main>;\n}}\n"


def write(*files: tuple[str, str]) -> Call:
    return Call("create_or_update_files", {"files": [{"path": path, "content": content} for path, content in files]})


def closing(title: str = "Pricing page", files: str = "- app/page.tsx: the page", summary: str = "All done.") -> str:
    return (
        f"<title>\n{title}\n</title>\n\n<task_summary>\n{summary}\n</task_summary>\n\n"
        f"<files_summary>\n{files}\n</files_summary>\n"
    )


def building(words: str = "Hello", title: str = "Pricing page") -> list[Turn]:
    """A run that goes well."""
    return [turn(write(("app/page.tsx", page(words)))), turn(closing(title))]


@dataclass
class Compiler:
    """Stands for tsc: minds `WRONG`, and says so as tsc does. `runs` is how often it was called."""

    runs: int = 0
    exit_code: int | None = None  # instead of looking
    output: str = ""
    gate: anyio.Event | None = None

    async def __call__(self, job: Job, words: Sequence[str]) -> int:
        self.runs += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.exit_code is not None:
            job.write(self.output)
            return self.exit_code
        failed = False
        for path, content in sorted(job.files.items()):
            if (found := WRONG.search(content)) is not None:
                line = content[: found.start()].count(b"\n") + 1
                text = "Type 'string' is not assignable to type 'number'."
                job.write(f"{path}({line},7): error TS2322: {text}\n")
                failed = True
        return 2 if failed else 0


@dataclass
class Studio(Stage):
    """A stage with one screen on it."""

    screen: ScreenData = field(kw_only=True)
    provider: MemoryProvider = field(kw_only=True)
    machines: SandboxManager = field(kw_only=True)
    compiler: Compiler = field(kw_only=True)
    photographer: FakePhotographer = field(kw_only=True)

    async def now(self) -> ScreenData:
        return await read_screen(self.services, self.owner, self.screen.id)

    async def ask(self, text: str = "A pricing page", **options: Any) -> StartedAnswer:
        return await start_run(
            self.services, self.owner, self.thread_id, Draft(text, images=options.pop("images", ())), **options
        )

    async def asked(self, text: str = "A pricing page", **options: Any) -> list[Event]:
        """Every event of a run that has ended."""
        return await self.events((await self.ask(text, **options)).run_id)

    async def answer(self) -> Any:
        return (await list_messages(self.services, self.owner, self.thread_id)).items[-1]

    async def files(self) -> dict[str, bytes]:
        """What lies in the screen's living sandbox."""
        sandbox = await self.machines.find(self.screen.workspace_id)
        assert sandbox is not None
        entries = await sandbox.list_files()
        return {e.path: await sandbox.read_file(e.path, 1_000_000) for e in entries if not e.is_dir}


def steps(events: list[Event]) -> list[tuple[str, str]]:
    """The workflow as it was told: (name, status) each."""
    return [(event["data"]["name"], event["data"]["status"]) for event in events if event["event"] == "workflow.step"]


def ended(events: list[Event]) -> Event:
    """How the run ended."""
    assert events[-1]["event"] == "stream.ended"
    return events[-2]


@asynccontextmanager
async def studio(
    db: Database,
    folder: Path,
    turns: list[Turn] | ScriptedModel,
    *,
    looks: Sequence[Look] = (),
    settings: Settings = SETTINGS,
    vision: bool = False,
    plan: str = "starter",
    price: int = 3,
    provider: MemoryProvider | None = None,
    template: TemplateName = "vite",
) -> AsyncIterator[Studio]:
    """An owner and a project with one screen, and a worker at work."""
    model = turns if isinstance(turns, ScriptedModel) else ScriptedModel(turns)
    spec = ModelSpec("scripted", "scripted", "scripted", vision=vision, credits=price)
    catalog: Any = ScriptedCatalog(model, spec)
    blobs = FolderBlobs(folder / "blobs")
    templates = load_templates(settings.screens)
    machines_in = provider or MemoryProvider(capabilities=Capabilities(pause=True, reattach=True))
    assert settings.sandbox is not None
    photographer, compiler = FakePhotographer(looks), Compiler()
    async with machines_in as memory, anyio.create_task_group() as group:
        memory.respond(TSC, compiler)
        machines = SandboxManager(db, memory, SystemClock(), settings.sandbox, folder / "machines")
        files = CheckpointKeeper(
            db, blobs, SystemClock(), settings.sandbox, folder, node_id="local", local=False, find=machines.find
        )
        machines.lives.files = files
        machines.lives.templates = templates
        machines.attend(files)
        seen: Any = photographer
        room = SandboxServices(manager=machines, checkpoints=files, studio=seen)
        agent = screen_agent(make_opening(db, folder, settings, templates=templates, sandboxes=room))
        services = _services(db, folder, settings, catalog, agent, machines, files, Seeds(blobs, templates))
        owner = await db.write(make_user, plan=plan)
        project_id = await db.write(make_project, owner)
        screen = await create_screen(services, owner, project_id, ScreenRequest(template=template))
        group.start_soon(files.run)
        group.start_soon(Worker(services.engine).run)
        group.start_soon(Sweeper(services.engine, None).run)
        group.start_soon(services.watching.run)
        with anyio.fail_after(60):
            yield Studio(
                services, model, owner, project_id, screen.thread_id,
                screen=screen, provider=memory, machines=machines, compiler=compiler, photographer=photographer,
            )  # fmt: skip
        group.cancel_scope.cancel()
        await machines.aclose()


def _services(
    db: Database,
    folder: Path,
    settings: Settings,
    catalog: Any,
    agent: Agent,
    machines: SandboxManager,
    files: CheckpointKeeper,
    seeds: Seeds,
) -> Services:
    services = make_services(db, folder, settings, catalog=catalog, agents=[agent])
    engine = replace(services.engine, files=files)
    room = SandboxServices(manager=machines, checkpoints=files, seeds=seeds)
    return replace(services, engine=engine, sandboxes=room)
