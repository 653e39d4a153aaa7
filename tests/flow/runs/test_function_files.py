"""Files of threads and projects in functions: read without a sandbox, and shown to people once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from outlast import Agent, Context, flow, tool
from outlast.base.agent_errors import StepFailed
from outlast.db.database import Database
from outlast.kernel.attachments.actions import open_attachment, upload_attachment
from outlast.kernel.runs.actions import start_run
from outlast.kernel.threads.parts import FilePart, ImagePart
from outlast.kernel.threads.user_input import Draft
from outlast.testing.scripted_model import Call, turn
from tests.flow.harness import Stage
from tests.flow.runs.test_function_sandbox import at_work, house
from tests.flow.runs.test_functions import playing, texts
from tests.unit.base.test_image_formats import PNG


async def _start(it: Stage, text: str, *attached: tuple[str, bytes]) -> str:
    ids = [
        (await upload_attachment(it.services, it.owner, it.project_id, name, content)).id for name, content in attached
    ]
    return (await start_run(it.services, it.owner, it.thread_id, Draft(text, images=ids))).run_id


async def test_a_flow_lists_and_reads_what_people_attached_without_a_sandbox(db: Database, tmp_path: Path) -> None:
    @flow("chat")
    async def reading(ctx: Context) -> str:
        [file] = await ctx.files.list()
        text = await ctx.files.read_text(file.name)
        await ctx.sleep(0.01)
        return f"{file.name} {file.place} {file.size_bytes} {text!r} {await ctx.files.read(file.name)!r}"

    async with playing(db, tmp_path, reading) as it:
        run_id = await _start(it, "Read it.", ("a.csv", b"\xffx,1\n"))
        assert texts(await it.events(run_id)) == ["a.csv thread 5 '\N{REPLACEMENT CHARACTER}x,1\\n' b'\\xffx,1\\n'"]


async def test_what_a_flow_shows_is_in_its_answer_once_and_can_be_downloaded(db: Database, tmp_path: Path) -> None:
    @flow("chat")
    async def showing(ctx: Context) -> str:
        await ctx.files.show("sum.csv", "month,cents\n")
        await ctx.files.show("dot.png", PNG)
        await ctx.sleep(0.01)  # the function is called again
        return "There."

    async with playing(db, tmp_path, showing) as it:
        assert await it.ended(await _start(it, "Go.")) == "completed"
        table, picture, _text = (await it.messages())[-1].parts
        assert isinstance(table, FilePart)
        assert isinstance(picture, ImagePart)
        assert (table.name, table.size_bytes, picture.name) == ("sum.csv", 12, "dot.png")
        stored, file = await open_attachment(it.services, it.owner, table.attachment_id)
        assert (stored.name, file.path.read_bytes()) == ("sum.csv", b"month,cents\n")


async def test_a_flow_shows_a_file_of_its_workspace(db: Database, tmp_path: Path) -> None:
    @flow("chat")
    async def showing(ctx: Context) -> str:
        await ctx.sandbox.run("echo hello > out/greeting.txt")
        await ctx.files.show("/workspace/out/greeting.txt")
        return "There."

    async with house(db, tmp_path, showing) as here, at_work(here.it):
        assert await here.it.ended((await here.it.start()).run_id) == "completed"
        [shown] = [part for part in (await here.it.messages())[-1].parts if part.type == "file"]
        assert (shown.name, shown.size_bytes) == ("greeting.txt", 6)


async def test_a_tool_shows_a_file_before_it_returns(db: Database, tmp_path: Path) -> None:
    @tool
    async def chart(ctx: Context) -> str:
        """Draw."""
        await ctx.files.show("chart.png", PNG)
        return "drawn"

    agent = Agent("chat", instructions="", tools=[chart])
    async with playing(db, tmp_path, agent, turns=[turn(Call("chart", {})), turn("Done.")]) as it:
        assert await it.ended(await _start(it, "Go.")) == "completed"
        assert [part.type for part in (await it.messages())[-1].parts] == ["tool_call", "image", "text"]


BAD = [
    (lambda ctx: ctx.files.read("none.txt"), "Neither the thread nor the project has such a file."),
    (lambda ctx: ctx.files.read("big.txt"), "at most 500,000 can be read"),
    (lambda ctx: ctx.files.show("empty.txt", ""), "The file is empty."),
    (lambda ctx: ctx.files.show("missing.txt"), "This server has no sandboxes."),
]


@pytest.mark.parametrize(("ask", "told"), BAD)
async def test_what_cannot_be_read_or_shown_fails_the_step(db: Database, tmp_path: Path, ask: Any, told: str) -> None:
    @flow("chat")
    async def trying(ctx: Context) -> str:
        with pytest.raises(StepFailed) as failed:
            await ask(ctx)
        return failed.value.message

    async with playing(db, tmp_path, trying) as it:
        [said] = texts(await it.events(await _start(it, "Go.", ("big.txt", b"x" * 500_001))))
        assert told in said
