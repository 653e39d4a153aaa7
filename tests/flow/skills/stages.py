"""A stage whose agent takes up skills."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from outlast.apps.skills.actions import create_skill
from outlast.apps.skills.addition import skills_addition
from outlast.apps.skills.settings import SkillSettings
from outlast.apps.skills.shapes import SkillAnswer
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.database import Database
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.tool import Tool
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.settings import Settings
from outlast.testing.scripted_model import Call, Turn
from tests.app_settings import settings_with
from tests.flow.harness import Stage, stage

SETTINGS = settings_with(Settings(), SkillSettings(most_per_project=3))
GREET = b"#!/bin/sh\necho hello $1\n"


def main(name: str = "greet", description: str = "Greets people.", body: str = "Run scripts/greet.sh NAME.") -> bytes:
    return f"---\nname: {name}\ndescription: {description}\n---\n\n{body}\n".encode()


@asynccontextmanager
async def skilled(
    db: Database, folder: Path, *turns: Turn, machines: SandboxManager | None = None, tools: Sequence[Tool] = ()
) -> AsyncIterator[Stage]:
    """A stage whose agent has skills, and a sandbox if there are `machines`."""
    blobs = FolderBlobs(folder / "blobs")
    rooms = Workspaces(db, machines, blobs)
    addition = skills_addition(db, blobs, rooms, lambda name: machines is not None and name == "chat")
    agent = Agent("chat", instructions="You help.", tools=tools).with_additions([addition])
    async with stage(db, folder, list(turns), settings=SETTINGS, agent=agent) as it:
        yield it


async def add(it: Stage, *, replace: bool = False, text: bytes | None = None) -> SkillAnswer:
    """Add the skill `greet` with a script, or one with this SKILL.md alone."""
    whole = [("greet/SKILL.md", main()), ("greet/scripts/greet.sh", GREET)]
    sent = whole if text is None else [("SKILL.md", text)]
    return await create_skill(it.services, it.owner, it.project_id, sent, replace=replace)


async def added(it: Stage, *names: str, **more: Any) -> None:
    for name in names:
        sent = [("SKILL.md", main(name, **more))]
        await create_skill(it.services, it.owner, it.project_id, sent, replace=False)


def use(name: str = "greet") -> Call:
    return Call("use_skill", {"name": name})


def read(path: str, name: str = "greet") -> Call:
    return Call("read_skill_file", {"name": name, "path": path})
