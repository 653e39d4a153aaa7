"""How runs end: what is saved, what is charged, and that nothing stays open."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
import sqlalchemy as sa

from outlast.base.errors import ModelKeyRefused, RunFinished, SandboxUnavailable
from outlast.db.database import Database, Tx
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.tool import ToolResult
from outlast.kernel.credits.actions import read_credits
from outlast.kernel.runs import store
from outlast.kernel.runs.actions import cancel_run, continue_run, read_run
from outlast.kernel.runs.approval_actions import decide_approval
from outlast.kernel.runs.cancel import request_cancel
from outlast.kernel.runs.settings import PolicyRule, RetrySettings, RunSettings
from outlast.kernel.runs.sweeper import Sweeper
from outlast.kernel.runs.tables import effects, runs
from outlast.kernel.settings import Settings
from outlast.kernel.streams.fold import fold_lines
from outlast.kernel.streams.log_store import read_all
from outlast.kernel.threads.store import thread_data
from outlast.testing.agents import FakeAgent, FakeTool
from outlast.testing.scripted_model import HANG, Call, Fail, ScriptedModel, turn
from tests.factories import join, make_user
from tests.flow.harness import stage, told

ASKING = Settings(policy=(PolicyRule(tool="look", decision="ask"),))
QUICK = RetrySettings(attempts=1, base_s=0)


async def test_a_run_ends_after_its_last_step_with_what_it_has(db: Database, tmp_path: Path) -> None:
    model = ScriptedModel([turn("Again.", Call("look", {}))], repeat_last=True)
    settings = Settings(runs=RunSettings(max_steps=3))
    async with stage(db, tmp_path, model, FakeTool("look"), settings=settings) as it:
        started = await it.start()
        assert await it.ended(started.run_id) == "completed"
        summary = await read_run(it.services, it.owner, started.run_id)
        assert (summary.stop_reason, summary.step_count, summary.tool_count) == ("steps", 3, 3)
        assert [part.type for part in (await it.messages())[-1].parts] == ["text", "tool_call"] * 3


async def test_an_answer_with_problems_is_saved_and_not_charged(db: Database, tmp_path: Path) -> None:
    # The message of a run that its profile found problems in said that it had cost its credits.
    # They had been given back; now message, run and ledger agree.
    agent = FakeAgent()
    agent.problems.append("It does not compile.")
    async with stage(db, tmp_path, [turn("Done, nearly.")], agent=agent) as it:
        payer = await db.write(make_user, "Petra", "starter")
        await db.write(join, it.project_id, payer, "editor")
        started = await it.start(actor=payer)
        assert await it.ended(started.run_id) == "completed"
        summary = await read_run(it.services, it.owner, started.run_id)
        answer = (await it.messages())[-1]
        assert summary.problems == ["It does not compile."]
        assert (summary.stop_reason, answer.stop_reason, answer.credits) == ("problems", "problems", 0)
        assert (await read_credits(it.services, payer)).balance == 25


async def test_a_failed_run_leaves_a_message_with_its_error_though_nothing_was_said(
    db: Database, tmp_path: Path
) -> None:
    # A model that refused at once left no message: after a reload nobody saw what had gone wrong.
    # Now the answer is empty and carries the error.
    async with stage(db, tmp_path, [turn(Fail(ModelKeyRefused("The key is not accepted.")))]) as it:
        started = await it.start()
        assert await it.ended(started.run_id) == "error"
        answer = (await it.messages())[-1]
        assert (answer.role, answer.status, answer.parts) == ("assistant", "error", [])
        assert answer.error is not None
        assert (answer.error.code, bool(answer.error.hint)) == ("model_key_refused", True)


@pytest.mark.parametrize("worked_before", [False, True])
async def test_no_answer_is_saved_when_the_sandbox_could_not_even_be_made(
    db: Database, tmp_path: Path, worked_before: bool
) -> None:
    async def body(_context: Context, arguments: Mapping[str, Any]) -> str:
        if arguments:
            raise SandboxUnavailable("There is no sandbox.", retry_after_s=0)
        return "fine"

    first = [turn("Let me look.", Call("look", {}))] if worked_before else []
    turns = [*first, turn("Now this.", Call("look", {"much": True}))]
    async with stage(db, tmp_path, turns, FakeTool("look", body), settings=Settings(retry=QUICK)) as it:
        started = await it.start()
        assert await it.ended(started.run_id) == "error"
        summary = await read_run(it.services, it.owner, started.run_id)
        assert summary.error is not None
        assert (summary.stop_reason, summary.error.code) == ("sandbox", "sandbox_unavailable")
        assert len(await it.messages()) == (2 if worked_before else 1)


async def test_a_call_that_the_policy_denies_is_told_to_the_model_and_never_made(db: Database, tmp_path: Path) -> None:
    tool = FakeTool("look")
    settings = Settings(policy=(PolicyRule(tool="look", arguments="*rm -rf*", decision="deny"),))
    turns = [turn(Call("look", {"command": "cd /\nrm -rf ."}), Call("look", {"command": "ls"})), turn("Well.")]
    async with stage(db, tmp_path, turns, tool, settings=settings) as it:
        assert await it.ended((await it.start()).run_id) == "completed"
        denied, allowed = told(it.model.requests[1].messages[-1])
        assert "denies" in denied
        assert allowed == "look did it"
        assert len(tool.calls) == 1


async def test_a_cancel_closes_every_open_call_and_the_thread_can_go_on(db: Database, tmp_path: Path) -> None:
    turns = [turn("I will.", Call("look", {}), Call("look", {})), turn("Gone on.")]
    async with stage(db, tmp_path, turns, FakeTool("look"), settings=ASKING) as it:
        started = await it.start()
        await it.until_status(started.run_id, "awaiting_approval")
        await cancel_run(it.services, it.owner, started.run_id)
        answer = (await it.messages())[-1]
        assert [part.status for part in answer.parts if part.type == "tool_call"] == ["cancelled"] * 2
        state = fold_lines(await db.read(read_all, started.run_id))
        assert state.pending == []
        assert [part.get("status") for part in state.parts[1:]] == ["cancelled"] * 2
        going_on = await continue_run(it.services, it.owner, started.run_id)
        assert await it.ended(going_on.run_id) == "completed"
        assert [text[:30] for text in told(it.model.requests[1].messages[-1])] == ["This call was cancelled before"] * 2
        assert (await it.services.db.read(thread_data, it.thread_id)).run_status == "complete"


async def test_who_cancelled_is_told_and_kept(db: Database, tmp_path: Path) -> None:
    # The closing event named whoever had started the run as the one who cancelled it.
    async with stage(db, tmp_path, [turn("Some words ", HANG)]) as it:
        emil = await db.write(make_user, "Emil")
        await db.write(join, it.project_id, emil, "editor")
        started = await it.start(actor=emil)
        await it.until(started.run_id, "text.delta")
        await cancel_run(it.services, it.owner, started.run_id)
        events = await it.events(started.run_id)
        assert [e["data"]["by"] for e in events if e["event"] == "run.cancelled"] == [it.owner.user_id]


async def test_the_command_of_a_run_without_a_worker_is_stopped_too(db: Database, tmp_path: Path) -> None:
    # A run between two workers was ended at once, and the command that its first attempt had begun went on.
    # Now the sweeper stops what the cancelled calls had begun.
    stopped: list[tuple[str, list[str]]] = []
    async with stage(db, tmp_path, [], working=False) as it:
        started = await it.start()

        def begun(tx: Tx) -> str:
            of_run = runs.c.id == started.run_id
            tx.execute(sa.update(runs).where(of_run).values(status="running", attempt=1, workspace_id="wsp_1"))
            store.insert_effect(tx, started.run_id, 1, 1, "model", status="finished")
            begun = {"status": "started", "started_at": tx.now, "part_id": "prt_1", "call_id": "c1"}
            return store.insert_effect(tx, started.run_id, 2, 1, "tool", tool="look", **begun)

        effect_id = await db.write(begun)
        assert (await cancel_run(it.services, it.owner, started.run_id)).status == "cancelled"

        async def stop(workspace_id: str, effect_ids: Any) -> None:
            stopped.append((workspace_id, list(effect_ids)))

        async def nothing(_workspace_id: str) -> None: ...

        from outlast.kernel.runs.sweeper import SandboxSteps

        steps = SandboxSteps(nothing, nothing, nothing, stop)
        await Sweeper(it.services.engine, steps).sweep()
        assert stopped == [("wsp_1", [effect_id])]


async def test_two_cancels_and_a_decision_at_once_end_a_waiting_run_once(db: Database, tmp_path: Path) -> None:
    # On PostgreSQL two cancels of a waiting run could both settle it. The row is held now.
    async with stage(db, tmp_path, [turn("Hm.", Call("look", {}))], FakeTool("look"), settings=ASKING) as it:
        started = await it.start()
        await it.until_status(started.run_id, "awaiting_approval")

        async with anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(cancel_run, it.services, it.owner, started.run_id)
        events = await it.events(started.run_id)
        assert [e["event"] for e in events].count("run.cancelled") == 1
        assert len(await it.messages()) == 2


@pytest.mark.parametrize("round_", range(3))
async def test_a_decision_in_the_moment_of_parking_is_never_lost(db: Database, tmp_path: Path, round_: int) -> None:
    # On PostgreSQL a decision could be made between a worker's last look and its parking: the run then waited for
    # ever for what had been decided. Both hold the run's row now.
    async with stage(db, tmp_path, [turn(Call("look", {})), turn("Fine.")], FakeTool("look"), settings=ASKING) as it:
        started = await it.start()
        approval = (await it.until(started.run_id, "approval.requested"))["data"]["approval"]
        await decide_approval(it.services, it.owner, approval["id"], "approve")
        assert await it.ended(started.run_id) == "completed"


async def test_text_with_any_character_is_saved_shown_and_told(db: Database, tmp_path: Path) -> None:
    # PostgreSQL's text knows no NUL, and UTF-8 no half of a pair: a tool that printed a binary file ended the run.
    odd = "NUL \0, half \ud83d, bell \a, emoji \N{WAVING HAND SIGN}."

    async def body(context: Context, _arguments: Mapping[str, Any]) -> ToolResult:
        context.output(odd)
        return ToolResult(odd)

    turns = [turn(odd, Call("look", {"command": "a\0b"})), turn("Done " + odd)]
    async with stage(db, tmp_path, turns, FakeTool("look", body)) as it:
        started = await it.start("Hello " + odd.replace("\ud83d", ""))
        assert await it.ended(started.run_id) == "completed"
        answer = (await it.messages())[-1]
        assert "\N{WAVING HAND SIGN}" in answer.parts[0].text
        assert answer.parts[1].result.startswith("NUL")
        assert told(it.model.requests[1].messages[-1])[0].startswith("NUL")


async def test_a_finished_run_is_not_cancelled(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn("Done.")]) as it:
        started = await it.start()
        await it.ended(started.run_id)
        with pytest.raises(RunFinished):
            await cancel_run(it.services, it.owner, started.run_id)
        await db.write(request_cancel, it.services.engine, started.run_id, "user", None)
        assert (await db.read(store.run_of, started.run_id)).status == "completed"


async def test_a_call_that_began_in_a_lost_attempt_and_cannot_be_repeated_is_told_as_interrupted(
    db: Database, tmp_path: Path
) -> None:
    tool = FakeTool("look", repeatable=False)
    async with stage(db, tmp_path, [turn("So.")], tool, working=False) as it:
        started = await it.start()

        def begun(tx: Tx) -> None:
            pieces = [{"type": "call", "call_id": "c1", "name": "look", "arguments": "{}"}]
            result = {"pieces": pieces, "finish": "tool_calls", "opaque": None}
            store.insert_effect(tx, started.run_id, 1, 1, "model", status="finished", result=result)
            call = {"status": "started", "started_at": tx.now, "part_id": "prt_1", "call_id": "c1", "arguments": "{}"}
            store.insert_effect(tx, started.run_id, 2, 1, "tool", tool="look", **call)
            tx.update(runs, {"id": started.run_id}, attempt=1)

        await db.write(begun)
        from outlast.kernel.runs.worker import Worker

        async with anyio.create_task_group() as group:
            group.start_soon(Worker(it.services.engine).run)
            assert await it.ended(started.run_id) == "completed"
            group.cancel_scope.cancel()
        assert tool.calls == []
        assert "interrupted" in told(it.model.requests[0].messages[-1])[0]
        status = sa.select(effects.c.status).where(effects.c.run_id == started.run_id, effects.c.kind == "tool")
        assert await db.read(lambda tx: tx.execute(status).scalar()) == "interrupted"


async def test_a_model_that_declines_ends_the_run_as_an_error_that_costs_nothing(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn("I cannot help with that.", finish="refused")]) as it:
        started = await it.start()
        last = (await it.events(started.run_id))[-2]
        assert (last["event"], last["data"]["stop_reason"]) == ("run.error", "policy")
        assert last["data"]["error"]["code"] == "model_policy_refused"
        assert (await it.messages())[-1].parts[0].text == "I cannot help with that."
