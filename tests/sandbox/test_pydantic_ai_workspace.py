"""The workspace that a guest of pydantic-ai gets: its own conformance suite, in a sandbox of the local provider."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.workspaces import WorkspaceRef, WorkspaceUnavailableError
from pydantic_ai.workspaces.conformance import WorkspaceBackendSuite

from outlast import OutlastDurability, OutlastWorkspace
from outlast.base.clock import SystemClock
from outlast.base.errors import SandboxLost
from outlast.db.database import Database
from outlast.kernel.agents.guests.adoption import adopt
from outlast.kernel.agents.guests.pydantic_ai.workspace import SandboxWorkspace
from outlast.kernel.agents.workspaces import OpenWorkspace
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.testing.catalog import ScriptedCatalog
from outlast.testing.scripted_model import ScriptedModel
from outlast_sandbox.interface import Command, CommandResult, SandboxSpec
from outlast_sandbox.providers.local.provider import LocalProvider
from tests.factories import make_project, make_services, make_thread, make_user
from tests.flow.harness import Stage
from tests.flow.runs.test_function_sandbox import at_work
from tests.sandbox.conftest import LIMITS, MINE

pytestmark = [pytest.mark.sandbox]


class Place:
    """A sandbox without a run."""

    def __init__(self, sandbox: Any) -> None:
        self.sandbox = sandbox
        self.changes: list[str] = []

    async def open(self) -> OpenWorkspace:
        return OpenWorkspace("wsp_1", self.sandbox)

    async def changing(self, workspace_id: str) -> None:
        self.changes.append(workspace_id)

    def changed(self, workspace_id: str) -> None:
        self.changes.append(workspace_id)


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory, cache_dir: Path) -> AsyncIterator[Place]:
    """One for all rules: each works in a folder of its own."""
    folder = tmp_path_factory.mktemp("guest")
    sandbox = await LocalProvider(folder / "state", cache_dir).create(SandboxSpec(f"{MINE}guest", folder / "w", LIMITS))
    yield Place(sandbox)
    await sandbox.kill()


class TestTheWorkspaceOfAGuest(WorkspaceBackendSuite):
    @pytest.fixture
    def backend(self, place: Place) -> SandboxWorkspace:
        return SandboxWorkspace(place)

    @pytest.fixture
    def fresh_backend(self, place: Place) -> Callable[[], SandboxWorkspace]:
        return lambda: SandboxWorkspace(place)

    @pytest.fixture
    def attach_backend(self, place: Place) -> Callable[[WorkspaceRef], SandboxWorkspace]:
        return lambda ref: SandboxWorkspace(place, ref)

    @pytest.mark.deep
    async def test_large_file_round_trip(self, backend: Any) -> None:
        await super().test_large_file_round_trip(backend)


class Gone:
    """A sandbox that goes away during a command."""

    async def run(self, command: Command) -> CommandResult:
        raise SandboxLost("It is gone.", sandbox_id="sbx_1")


async def test_a_command_whose_sandbox_is_lost_says_so_and_marks_the_files() -> None:
    place = Place(Gone())
    with pytest.raises(WorkspaceUnavailableError):
        await SandboxWorkspace(place).run(["true"])
    assert place.changes == ["wsp_1", "wsp_1"]


async def test_a_workspace_of_another_thread_is_not_opened() -> None:
    backend = SandboxWorkspace(Place(Gone()), WorkspaceRef(provider="outlast", id="wsp_2"))
    with pytest.raises(WorkspaceUnavailableError):
        await backend.working_dir()


async def test_the_tools_of_a_guest_work_in_the_files_of_its_thread(
    db: Database, tmp_path: Path, local: LocalProvider
) -> None:
    guest = Agent(
        FunctionModel(_write_then_answer), name="chat", capabilities=[OutlastDurability(), OutlastWorkspace()]
    )

    @guest.tool
    async def write(ctx: RunContext[Any]) -> str:
        await ctx.workspace.write_text("note.txt", "kept")
        return (await ctx.workspace.run(["cat", "note.txt"])).stdout

    adopted = adopt(guest)
    assert adopted is not None
    manager = SandboxManager(db, local, SystemClock(), SandboxSettings(memory_mb=512), tmp_path / "machines")
    services = make_services(
        db, tmp_path, agents=[adopted], catalog=ScriptedCatalog(ScriptedModel([])), manager=manager
    )
    owner = await db.write(make_user)
    thread_id = await db.write(make_thread, await db.write(make_project, owner), owner)
    it = Stage(services, ScriptedModel([]), owner, "", thread_id)
    with anyio.fail_after(60):
        async with at_work(it):
            events = await it.events((await it.start()).run_id)
        assert [event["data"]["result"] for event in events if event["event"] == "tool_call.result"] == ["kept"]
        assert _texts(tmp_path) == ["kept"]
    await manager.aclose()


def _write_then_answer(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
    is_first = not any(isinstance(message, ModelResponse) for message in messages)
    return ModelResponse(parts=[ToolCallPart("write", {}) if is_first else TextPart("Written.")])


def _texts(folder: Path) -> list[str]:
    return [file.read_text() for file in folder.rglob("note.txt")]
