"""Agents that speak the Agent Client Protocol, in a real sandbox: shown, asked about and resumed as ours are."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest

from outlast import acp_agent
from outlast.base.clock import SystemClock
from outlast.db.database import Database
from outlast.kernel.runs.actions import cancel_run, continue_run
from outlast.kernel.runs.approval_actions import decide_approval
from outlast.kernel.runs.settings import PolicyRule
from outlast.kernel.runs.store import run_of
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.settings import Settings
from outlast.kernel.streams.log_store import read_all
from outlast.testing.catalog import ScriptedCatalog
from outlast.testing.scripted_model import ScriptedModel
from outlast_sandbox.providers.local.provider import LocalProvider
from tests.factories import make_project, make_services, make_thread, make_user
from tests.flow.harness import Stage
from tests.flow.runs.test_function_sandbox import at_work

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(120)]
SCRIPT = (Path(__file__).parents[1] / "acp_script.py").read_text()
COMMAND = shlex.join(["python3", "-u", "-c", SCRIPT])


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """What differs between databases lies in the journal, which others test on both."""
    return sqlite_url


@dataclass
class Works(Stage):
    manager: SandboxManager
    local: LocalProvider
    folder: Path

    def file(self, name: str) -> str:
        """A file of the thread's workspace; empty if there is none."""
        found = [path for path in self.folder.glob(f"machines/**/{name}") if path.is_file()]
        return found[0].read_text() if found else ""

    async def has_done(self, line: str) -> None:
        """Wait until the agent has done this."""
        while line not in self.file("done").splitlines():
            await anyio.sleep(0.02)  # another process writes the file: there is nothing to wait for

    def put(self, name: str) -> None:
        (next(self.folder.glob("machines/**/done")).parent / name).touch()

    async def shown(self, run_id: str, name: str) -> list[dict[str, Any]]:
        lines = [orjson.loads(body) for _, body in await self.services.db.read(read_all, run_id)]
        return [line["data"] for line in lines if line["event"] == name]

    async def approval(self, run_id: str, number: int = 0) -> dict[str, Any]:
        """The approval of that number, once the run waits for it as a row."""
        while len(asked := await self.shown(run_id, "approval.requested")) <= number or not await self.is_parked(
            run_id
        ):
            await anyio.sleep(0.02)
        return asked[number]["approval"]

    async def is_parked(self, run_id: str) -> bool:
        return (await self.services.db.read(run_of, run_id)).leg == "parked"

    async def text(self) -> str:
        return "".join(part.text for part in (await self.messages())[-1].parts if part.type == "text")

    async def end_sandboxes(self) -> None:
        for sandbox_id, ref in await self.local.list_refs():
            await (await self.local.connect(sandbox_id, ref)).kill()


@asynccontextmanager
async def works(
    db: Database, folder: Path, local: LocalProvider, settings: Settings | None = None, **options: Any
) -> AsyncIterator[Works]:
    agent = acp_agent("chat", options.pop("command", COMMAND), **options)
    manager = SandboxManager(db, local, SystemClock(), SandboxSettings(memory_mb=512), folder / "machines")
    model = ScriptedModel([])
    services = make_services(db, folder, settings, agents=[agent], catalog=ScriptedCatalog(model), manager=manager)
    owner = await db.write(make_user)
    project_id = await db.write(make_project, owner)
    thread_id = await db.write(make_thread, project_id, owner)
    with anyio.fail_after(30):
        yield Works(services, model, owner, project_id, thread_id, manager, local, folder)
    await manager.aclose()


async def test_what_it_says_and_does_is_shown_and_its_permission_is_an_approval_that_parks_the_run(
    db: Database, tmp_path: Path, local: LocalProvider
) -> None:
    async with works(db, tmp_path, local) as it, at_work(it):
        run_id = (await it.start("write, unknown method")).run_id
        asked = await it.approval(run_id)
        assert (asked["tool"], asked["reason"]) == ("edit", "The agent asks: Write note.txt")
        assert orjson.loads(asked["arguments"]) == {"path": "note.txt", "content": "Text of note.txt"}
        assert it.file("note.txt") == ""
        await decide_approval(it.services, it.owner, asked["id"], "approve")
        assert await it.ended(run_id) == "completed"
        assert it.file("done").splitlines() == ["write note.txt"]
        (result,) = await it.shown(run_id, "tool_call.result")
        assert (result["status"], "+Text of note.txt" in result["result"]) == ("done", True)
        parts = [(part.type, getattr(part, "text", "")) for part in (await it.messages())[-1].parts]
        assert [kind for kind, _ in parts if kind != "notice"] == ["reasoning", "text", "tool_call", "text"]
        assert [text for kind, text in parts if kind == "text"] == ["On it.", "Written."]
        steps = [(one["name"], one["status"]) for one in await it.shown(run_id, "workflow.step")]
        assert steps[:2] == [("Look", "done"), ("Write", "started")]
        usage = (await it.shown(run_id, "run.completed"))[0]["usage"]
        assert [usage[f"{name}_tokens"] for name in ("input", "output", "cached", "reasoning")] == [150, 25, 50, 5]
