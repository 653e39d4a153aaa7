"""Skills in the runs of every agent: their names and descriptions in the prompt, and the tools `use_skill` and
`read_skill_file`."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Final

import anyio.to_thread
from pydantic import Field

from outlast.apps.skills.settings import NAME_CHARS, PATH_CHARS
from outlast.apps.skills.texts import TEXT_BYTES, file_at, text_of
from outlast.base.errors import DiskFull
from outlast.db.blobs.port import Blobs
from outlast.db.database import Database
from outlast.kernel.agents.additions import Addition
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.prompt import PromptContext
from outlast.kernel.agents.tool import tool
from outlast.kernel.agents.workspaces import Workspaces

if TYPE_CHECKING:  # a server imports these with the first skill that an agent is offered
    from outlast.apps.skills.rows import SkillRow
    from outlast.apps.skills.store import SkillFile

INTRODUCTION: Final = (
    "Skills are instructions, scripts and references for certain tasks, from the owners of this project or the "
    "operator of this server. When a task fits a description below, call use_skill with the name before you begin, and "
    "follow what it says."
)
Name = Annotated[str, Field(min_length=1, max_length=NAME_CHARS, description="Name of the skill.")]
FilePath = Annotated[str, Field(min_length=1, max_length=PATH_CHARS, description="Path that use_skill has listed.")]


def skills_addition(db: Database, blobs: Blobs, workspaces: Workspaces, runs_code: Callable[[str], bool]) -> Addition:
    """Skills for every agent. `runs_code`: True for the name of an agent that runs code in a sandbox."""

    @tool(repeatable=True)
    async def use_skill(ctx: Context, name: Name) -> str:
        """Take up a skill: returns its instructions and the list of its files."""
        from outlast.apps.skills import store
        from outlast.apps.skills.front_matter import MAIN, split_skill

        run = ctx.this_run
        skill, files = await db.write(store.begin_use, run.id, run.project_id, name)
        content = await anyio.to_thread.run_sync(blobs.get, file_at(files, MAIN).blob)
        text = split_skill(content.decode())[1]
        others = [file for file in files if file.path != MAIN]
        if not others:
            return text
        lines = [text, "", "Files of this skill, to read with read_skill_file:"]
        lines += [f"- {file.path} ({file.size_bytes:,} bytes)" for file in others]
        if workspaces.are_offered and runs_code(run.profile):
            lines += ["", await _place(ctx, skill, files)]
        return "\n".join(lines)

    @tool(repeatable=True)
    async def read_skill_file(ctx: Context, name: Name, path: FilePath) -> str:
        """Read a text file of a skill."""
        from outlast.apps.skills import store

        run = ctx.this_run
        _, files = await db.write(store.used, run.id, run.project_id, name)
        file = file_at(files, path)
        content = await anyio.to_thread.run_sync(blobs.read, file.blob, 0, TEXT_BYTES)
        is_cut = file.size_bytes > len(content)
        text = text_of(content, is_cut=is_cut)
        if text is None:
            return f"{path} is not text; it has {file.size_bytes:,} bytes."
        return f"{text}\n… (cut: the file has {file.size_bytes:,} bytes)" if is_cut else text

    async def _place(ctx: Context, skill: "SkillRow", files: Sequence["SkillFile"]) -> str:
        from outlast.apps.skills.placement import place

        workspace = await workspaces.open(ctx)
        try:
            folder = await place(blobs, workspace.sandbox, skill, files)
        except DiskFull as error:  # the sandbox's own disk; the server's would end the leg
            return f"The files could not be written into the sandbox: {error.message}"
        return (
            f"They are in the sandbox, to read and to run from there: {folder}\nPaths in the instructions are relative "
            "to that folder. If it is missing, the sandbox is a new one: call use_skill again."
        )

    return Addition(tools=[use_skill, read_skill_file], text=_text)


def _text(context: PromptContext) -> str | None:
    from outlast.apps.skills.store import descriptions

    found = descriptions(context.tx, context.run.project_id)
    if not found:
        return None
    from outlast.apps.skills.rules import listed

    return "\n".join((INTRODUCTION, *listed(found)))
