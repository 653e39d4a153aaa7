"""The sandbox of a run in flows and tools: each command runs once, also when the process ends during it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
import sqlalchemy as sa

from outlast import Agent, Context, flow, tool
from outlast.base.agent_errors import StepFailed
from outlast.base.clock import SystemClock
from outlast.base.errors import SandboxUnavailable
from outlast.db.database import Database
from outlast.kernel.runs import leases
from outlast.kernel.runs.actions import cancel_run
from outlast.kernel.runs.cancel import cut_calls
from outlast.kernel.runs.sweeper import Sweeper
from outlast.kernel.runs.tables import function_steps
from outlast.kernel.runs.worker import Worker
from outlast.kernel.sandboxes.manager import SandboxManager
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.settings import Settings
from outlast.testing.catalog import ScriptedCatalog
from outlast.testing.scripted_model import Call, ScriptedModel, Turn, turn
from outlast_sandbox.providers.memory import Job, MemoryProvider
from tests.factories import make_project, make_services, make_thread, make_user
from tests.flow.harness import Stage
from tests.flow.runs.test_functions import playing, texts


@dataclass
class House:
    it: Stage
    provider: MemoryProvider
    began: anyio.Event
    go_on: anyio.Event
    runs: list[str]


@asynccontextmanager
async def house(
    db: Database, folder: Path, *agents: Agent, turns: list[Turn] | None = None, settings: Settings | None = None
) -> AsyncIterator[House]:
    """A stage whose functions work in sandboxes in memory. There the command `job` runs until `go_on`."""
    async with MemoryProvider() as provider:
        began, go_on, runs = anyio.Event(), anyio.Event(), list[str]()

        async def job(work: Job, _words: Sequence[str]) -> int:
            runs.append(work.effect_id)
            work.write("begun\n")
            began.set()
            await go_on.wait()
            work.write("ended\n")
            return 3

        provider.respond("job", job)
        machines = SandboxManager(db, provider, SystemClock(), SandboxSettings(), folder / "machines")
        catalog = ScriptedCatalog(model := ScriptedModel(turns or []))
        services = make_services(db, folder, settings, agents=list(agents), catalog=catalog, manager=machines)
        owner = await db.write(make_user)
        project_id = await db.write(make_project, owner)
        thread_id = await db.write(make_thread, project_id, owner)
        with anyio.fail_after(60):
            yield House(Stage(services, model, owner, project_id, thread_id), provider, began, go_on, runs)
        await machines.aclose()


@asynccontextmanager
async def at_work(it: Stage) -> AsyncIterator[None]:
    """A worker; when the block ends, it is as if its process were killed."""
    async with anyio.create_task_group() as group:
        group.start_soon(Worker(it.services.engine).run)
        group.start_soon(Sweeper(it.services.engine, None).run)
        yield
        group.cancel_scope.cancel()


@flow("chat")
async def report(ctx: Context) -> str:
    await ctx.sandbox.write("in/names.txt", "Ada")
    result = await ctx.sandbox.run("cat in/names.txt > out.txt; cat out.txt")
    content = await ctx.sandbox.read("out.txt")
    return f"{result.exit_code} {result.output.strip()} {content!r} {await ctx.sandbox.read_text('out.txt')}"


async def test_a_flow_runs_commands_and_reads_and_writes_files_in_one_sandbox(db: Database, tmp_path: Path) -> None:
    async with house(db, tmp_path, report) as here, at_work(here.it):
        events = await here.it.events((await here.it.start()).run_id)
        assert texts(events) == ["0 Ada b'Ada' Ada"]
        assert len(here.provider.created) == 1
        [changed] = [event["data"] for event in events if event["event"] == "files.changed"]
        assert [(file["path"], file["size_bytes"]) for file in changed["files"]] == [("in/names.txt", 3)]
        shown = [event["data"]["name"] for event in events if event["event"] == "workflow.step"]
        assert shown[:2] == ["write in/names.txt", "run cat in/names.txt > out.txt; cat out.txt"]


@flow("chat")
async def one_job(ctx: Context) -> str:
    result = await ctx.sandbox.run("job")
    return f"{result.exit_code}: {result.output}"


async def test_a_command_that_outlives_the_process_is_found_again_and_not_run_twice(
    db: Database, tmp_path: Path
) -> None:
    async with house(db, tmp_path, one_job) as here:
        async with at_work(here.it):
            run_id = (await here.it.start()).run_id
            await here.began.wait()
        await db.write(leases.free_lapsed, everything=True)
        async with at_work(here.it):
            here.go_on.set()
            assert texts(await here.it.events(run_id)) == ["3: begun\nended\n"]
        assert len(here.runs) == 1


async def test_a_command_that_was_recorded_but_had_not_begun_is_run(db: Database, tmp_path: Path) -> None:
    """The process ended between the record of the step and the start of the command."""
    async with house(db, tmp_path, one_job) as here:
        here.go_on.set()
        open_workspace = here.it.services.engine.workspaces.open
        reached = anyio.Event()

        async def hanging(_effect: Any) -> Any:
            reached.set()
            await anyio.sleep_forever()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(here.it.services.engine.workspaces, "open", hanging)
            async with at_work(here.it):
                run_id = (await here.it.start()).run_id
                await reached.wait()
        assert here.it.services.engine.workspaces.open == open_workspace
        await db.write(leases.free_lapsed, everything=True)
        async with at_work(here.it):
            assert texts(await here.it.events(run_id)) == ["3: begun\nended\n"]
        assert len(here.runs) == 1


async def test_a_lost_sandbox_fails_the_command_for_good_and_the_next_one_gets_a_new_sandbox(
    db: Database, tmp_path: Path
) -> None:
    @flow("chat")
    async def careful(ctx: Context) -> str:
        try:
            await ctx.sandbox.run("job")
        except StepFailed as error:
            await ctx.sleep(0.01)
            return f"{error.fields['kind']}; {(await ctx.sandbox.run('echo again')).output.strip()}"
        return "never"

    async with house(db, tmp_path, careful) as here, at_work(here.it):
        run_id = (await here.it.start()).run_id
        await here.began.wait()
        here.provider.lose(here.provider.created[-1])
        assert texts(await here.it.events(run_id)) == ["CommandInterrupted; again"]
        assert len(here.runs) == 1
        assert len(here.provider.created) == 2


async def test_cancelling_the_run_ends_its_command(db: Database, tmp_path: Path) -> None:
    async with house(db, tmp_path, one_job) as here, at_work(here.it):
        run_id = (await here.it.start()).run_id
        await here.began.wait()
        await cancel_run(here.it.services, here.it.owner, run_id)
        assert await here.it.ended(run_id) == "cancelled"
        sandbox_id = here.provider.created[-1]
        sandbox = await here.provider.connect(sandbox_id, f"memory:{sandbox_id}")
        assert (await sandbox.statistics()).processes == 0


async def test_a_command_that_no_worker_can_end_is_among_those_that_the_sweeper_stops(
    db: Database, tmp_path: Path
) -> None:
    async with house(db, tmp_path, one_job) as here:
        async with at_work(here.it):
            run_id = (await here.it.start()).run_id
            await here.began.wait()
        step = sa.select(function_steps.c.id).where(function_steps.c.run_id == run_id)
        step_id = await db.read(lambda tx: tx.execute(step).scalar_one())
        assert here.runs == [step_id]
        assert step_id in await db.read(cut_calls, run_id)


async def test_a_tool_of_a_model_runs_a_command(db: Database, tmp_path: Path) -> None:
    @tool
    async def count(ctx: Context, word: str) -> str:
        """Count."""
        return (await ctx.sandbox.run(f"echo {word}")).output

    chat = Agent("chat", instructions="", tools=[count])
    turns = [turn(Call("count", {"word": "one"})), turn("Done.")]
    async with house(db, tmp_path, chat, turns=turns) as here, at_work(here.it):
        assert texts(await here.it.events((await here.it.start()).run_id)) == ["Done."]
        assert "one" in str(here.it.model.requests[1].messages[-1])


BAD = [
    (lambda ctx: ctx.sandbox.read("none.txt"), "does not exist"),
    (lambda ctx: ctx.sandbox.read("../etc/passwd"), "read ../etc/passwd"),
    (lambda ctx: ctx.sandbox.write("big", b"x" * 16_000_001), "at most 16,000,000 bytes"),
    (lambda ctx: ctx.sandbox.run(""), "1 to 20,000 characters"),
]


@pytest.mark.parametrize(("ask", "told"), BAD)
async def test_what_the_sandbox_refuses_fails_the_step(db: Database, tmp_path: Path, ask: Any, told: str) -> None:
    @flow("chat")
    async def trying(ctx: Context) -> str:
        with pytest.raises(StepFailed) as failed:
            await ask(ctx)
        return failed.value.message

    async with house(db, tmp_path, trying) as here, at_work(here.it):
        [said] = texts(await here.it.events((await here.it.start()).run_id))
        assert told in said


async def test_without_sandboxes_the_error_says_what_to_set(db: Database, tmp_path: Path) -> None:
    async with playing(db, tmp_path, one_job) as it:
        error = (await it.events((await it.start()).run_id))[-2]["data"]["error"]
        assert error["code"] == "step_failed"
        assert "This server has no sandboxes." in error["message"]
        assert "[sandbox]" in error["message"]


async def test_a_flow_whose_sandbox_cannot_start_ends_with_the_reason(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(_effect: Any) -> Any:
        raise SandboxUnavailable("This machine is full.", limit_s=1)

    async with house(db, tmp_path, one_job) as here, at_work(here.it):
        monkeypatch.setattr(here.it.services.engine.workspaces, "open", full)
        error = (await here.it.events((await here.it.start()).run_id))[-2]["data"]
        assert error["stop_reason"] == "sandbox"
        assert error["error"]["message"] == "This machine is full."
