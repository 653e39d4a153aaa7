"""Scripts of skills, run by an agent in a real sandbox."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from outlast.apps.skills import store
from outlast.apps.skills.actions import create_skill
from outlast.apps.skills.placement import place
from outlast.apps.skills.rows import SkillRow
from outlast.base.clock import SystemClock
from outlast.base.errors import SandboxUnavailable
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.database import Database
from outlast.kernel.agents.tools.terminal import terminal_tool
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.translation import Translated
from outlast.testing.scripted_model import Call, turn
from outlast_sandbox.interface import Command, Sandbox
from outlast_sandbox.providers.local.provider import LocalProvider
from outlast_sandbox.providers.local.sandbox import LocalSandbox
from tests.flow.harness import Stage, told_last
from tests.flow.skills.stages import add, main, skilled, use

pytestmark = pytest.mark.sandbox

SETTINGS = SandboxSettings(memory_mb=256, disk_mb=32, command_timeout_s=40)
SLEEPER = b"#!/bin/sh\nwhile true; do sleep 1; done\n"


async def skill_of(it: Stage) -> SkillRow:
    return await it.services.db.read(store.skill_of, it.project_id, "greet")


def run(command: str, **more: float) -> Call:
    return Call("terminal", {"command": command, **more})


async def test_an_agent_runs_the_scripts_of_a_skill_and_one_that_loops_is_ended(
    db: Database, tmp_path: Path, local: LocalProvider
) -> None:
    machines = SandboxManager(db, local, SystemClock(), SETTINGS, tmp_path / "machines")
    terminal = terminal_tool(Workspaces(db, machines), SETTINGS)
    async with skilled(db, tmp_path, machines=machines, tools=[terminal]) as it:
        made = await add(it)
        folder = f"/home/user/.skills/greet-{made.digest[:12]}"
        it.model.add(
            turn("", use()),
            turn("", run(f"{folder}/scripts/greet.sh Ada; ls -l {folder}/scripts; ls -A /workspace")),
            turn("", run(f"echo changed >> {folder}/SKILL.md || echo read-only")),
            turn("", use()),
            turn("Done."),
        )
        assert await it.ended((await it.start()).run_id) == "completed"
        told = [told_last(request)[0] for request in it.model.requests[1:]]
        assert f"to run from there: {folder}\n" in told[0]
        assert told[1].startswith("hello Ada\n")
        assert "-r-xr-xr-x" in told[1]
        assert told[1].endswith("greet.sh\n[exit code 0]")
        assert "read-only" in told[2]
        assert told[3] == told[0]

        sent = [("greet/SKILL.md", main()), ("greet/scripts/greet.sh", SLEEPER)]
        looping = await create_skill(it.services, it.owner, it.project_id, sent, replace=True)
        loops = f"/home/user/.skills/greet-{looping.digest[:12]}/scripts/greet.sh"
        it.model.add(
            turn("", use()), turn("", run(loops, timeout_s=0.5)), turn("", run(f"{folder}/scripts/greet.sh Bo"))
        )
        it.model.add(turn("It looped."))
        assert await it.ended((await it.start()).run_id) == "completed"
        told = [told_last(request)[0] for request in it.model.requests[-2:]]
        assert "its time limit" in told[0]
        assert told[1] == "hello Bo\n[exit code 0]"  # the version that is in use stays
    await machines.aclose()


class WholeFiles:
    """A sandbox that takes files only into its workspace."""

    def __init__(self, inner: Sandbox) -> None:
        self.read_file, self.write_files = inner.read_file, inner.write_files

    @property
    def files(self) -> None:
        raise SandboxUnavailable("It has no files.")


async def test_a_sandbox_that_takes_files_only_into_its_workspace_gets_them_there(
    db: Database, tmp_path: Path, box: LocalSandbox
) -> None:
    async with skilled(db, tmp_path, machines=None) as it:
        await add(it)
        skill = await skill_of(it)
        files = await db.read(store.files_of, skill.id)
        blobs, inner = FolderBlobs(tmp_path / "blobs"), WholeFiles(cast("Sandbox", Translated(box)))
        folder = await place(blobs, inner, skill, files)  # type: ignore[arg-type]
        assert folder == await place(blobs, inner, skill, files)  # type: ignore[arg-type]
        done = await box.run(Command("eff_1", 1, f"sh {folder}/scripts/greet.sh Cy"))
        assert done.output == "hello Cy\n"
