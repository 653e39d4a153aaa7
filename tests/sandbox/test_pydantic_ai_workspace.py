"""The workspace that a guest of pydantic-ai gets: its own conformance suite, in a sandbox of the local provider."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.workspaces import WorkspaceRef, WorkspaceUnavailableError
from pydantic_ai.workspaces.conformance import WorkspaceBackendSuite

from outlast.base.errors import SandboxLost
from outlast.kernel.agents.guests.pydantic_ai.workspace import SandboxWorkspace
from outlast.kernel.agents.workspaces import OpenWorkspace
from outlast_sandbox.interface import Command, CommandResult, SandboxSpec
from outlast_sandbox.providers.local.provider import LocalProvider
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
