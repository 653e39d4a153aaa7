"""Runs whose profile has stages: work before the first turn, a check after the last, and named steps throughout."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from outlast.base.errors import Conflict, InternalError, NotFound, OutlastError, SandboxLost, SandboxUnavailable
from outlast.db.database import Database
from outlast.kernel.agents.context import StageContext
from outlast.kernel.agents.hooks import StageResult
from outlast.kernel.models.protocol import CHECK_MARK, ModelMessage, TextPiece
from outlast.kernel.runs import stages as staging
from outlast.kernel.runs.actions import cancel_run, continue_run, read_run, retry_run
from outlast.kernel.runs.approval_actions import decide_approval
from outlast.kernel.runs.settings import PolicyRule, ProfileSettings, RetrySettings, RunSettings
from outlast.kernel.runs.sweeper import SandboxSteps, Sweeper
from outlast.kernel.runs.tables import runs
from outlast.kernel.runs.timers import timers_of
from outlast.kernel.runs.worker import Worker
from outlast.kernel.settings import Settings
from outlast.kernel.threads.parts import ImagePart, NoticePart
from outlast.testing.agents import FakeStagedAgent, FakeTool
from outlast.testing.scripted_model import Call, Think, turn
from tests.flow.harness import Event, Stage, stage

QUICK = Settings(retry=RetrySettings(attempts=1, base_s=0.01))


def steps(events: list[Event]) -> list[tuple[str, str]]:
    """The workflow as it was told: (name, status) each."""
    told = [event["data"] for event in events if event["event"] == "workflow.step"]
    return [(step["name"], step["status"]) for step in told]


def last(events: list[Event], name: str) -> Any:
    return [event["data"] for event in events if event["event"] == name][-1]


def user_texts(messages: tuple[ModelMessage, ...]) -> list[str]:
    return [p.text for m in messages if m.role == "user" for p in m.pieces if isinstance(p, TextPiece)]


async def _journal(it: Stage, run_id: str) -> list[tuple[str, str]]:
    details = await read_run(it.services, it.owner, run_id)
    return [(step.kind, step.status) for step in details.steps]


async def test_a_run_prepares_before_the_first_turn_checks_after_the_last_and_shows_its_steps(
    db: Database, tmp_path: Path
) -> None:
    agent = FakeStagedAgent(FakeTool("look"))
    turns = [turn("First a look.", Call("look")), turn("All is built.")]
    async with stage(db, tmp_path, turns, agent=agent) as it:
        started = await it.start()
        events = await it.events(started.run_id)
        assert [kind for kind, _, _ in agent.stages] == ["prepare", "check"]
        assert steps(events) == [
            ("load_screen", "started"),
            ("load_screen", "done"),
            ("agent", "started"),
            ("agent", "done"),
            ("check", "started"),
            ("check", "done"),
            ("save_chat", "done"),
            ("save_answer", "done"),
            ("settle_credits", "done"),
        ]
        names = [event["event"] for event in events]
        assert names.index("workflow.step") < names.index("step.started")
        assert names[-2:] == ["run.completed", "stream.ended"]
        assert last(events, "run.completed")["stop_reason"] == "end"
        assert agent.facts == {"prepared": True, "checked": 2}
        assert agent.forgotten == [effect_id for _, effect_id, _ in agent.stages]
        details = await read_run(it.services, it.owner, started.run_id)
        assert [step.name for step in details.workflow] == [
            *("load_screen", "agent", "check", "save_chat", "save_answer", "settle_credits")
        ]
        at_work = next(step for step in details.workflow if step.name == "agent")
        assert at_work.detail == "2 turns, 1 tool call"
        assert at_work.duration_s is not None
        assert await _journal(it, started.run_id) == [
            *(("start", "done"), ("prepare", "finished"), ("model", "finished"), ("tool", "finished")),
            *(("model", "finished"), ("check", "finished"), ("settle", "completed")),
        ]


async def test_what_a_check_finds_is_told_to_the_model_which_goes_on_until_it_is_mended(
    db: Database, tmp_path: Path
) -> None:
    async def check(context: StageContext) -> StageResult:
        mended = len(context.said) > 1
        await context.tell("check", "done" if mended else "failed", "" if mended else "1 type error")
        return StageResult(problems=() if mended else ("app/page.tsx:3 TS2322",))

    agent = FakeStagedAgent(checking=check)
    async with stage(db, tmp_path, [turn("Done."), turn("Mended.")], agent=agent) as it:
        started = await it.start()
        events = await it.events(started.run_id)
        assert last(events, "run.completed")["problems"] == []
        (told,) = user_texts(it.model.requests[1].messages)
        assert told.startswith(CHECK_MARK)
        assert "app/page.tsx:3 TS2322" in told
        assert [m.role for m in it.model.requests[1].messages] == ["assistant", "user"]
        assert [step for step in steps(events) if step[0] in ("agent", "check")] == [
            *(("agent", "started"), ("agent", "done"), ("check", "failed")),
            *(("agent", "started"), ("agent", "done"), ("check", "done")),
        ]
        answer = (await it.messages())[-1]
        assert [part.text for part in answer.parts] == ["Done.", "Mended."], "problems are no part of the answer"


async def test_a_check_can_take_the_texts_that_it_looked_at_out_of_the_answer(db: Database, tmp_path: Path) -> None:
    looked_at: list[Sequence[str]] = []

    async def check(context: StageContext) -> StageResult:
        looked_at.append(context.unchecked)
        wrong = len(looked_at) < 3
        notice = NoticePart(id=f"prt_{len(looked_at)}", code="again", text="Written again.")
        return StageResult(problems=("Wrong.",) if wrong else (), withdraw=wrong, parts=(notice,) if wrong else ())

    agent = FakeStagedAgent(FakeTool("look"), checking=check)
    turns = [turn(Think("Hm."), "One.", Call("look")), turn("Two."), turn("Three."), turn("Four.")]
    async with stage(db, tmp_path, turns, agent=agent) as it:
        started = await it.start()
        events = await it.events(started.run_id)
        assert looked_at == [("One.", "Two."), ("Three.",), ("Four.",)]
        answer = (await it.messages())[-1]
        assert [(part.type, part.step) for part in answer.parts] == [
            *(("tool_call", 1), ("notice", 2), ("notice", 3), ("text", 4))
        ]
        assert answer.parts[-1].text == "Four."
        resets = [e["data"] for e in events if e["event"] == "step.reset"]
        assert [(reset["step"], [part["type"] for part in reset["parts"]]) for reset in resets] == [
            *((1, ["tool_call"]), (2, []), (3, []))
        ]
        said = [p.text for m in it.model.requests[-1].messages for p in m.pieces if isinstance(p, TextPiece)]
        assert [text for text in said if not text.startswith(CHECK_MARK)] == ["One.", "Two.", "Three."]


async def test_a_check_cut_by_a_stopping_server_takes_the_texts_out_once(db: Database, tmp_path: Path) -> None:
    reached = anyio.Event()
    checks: list[int] = []

    async def check(context: StageContext) -> StageResult:
        checks.append(context.attempt)
        if len(checks) == 1:
            reached.set()
            await anyio.sleep_forever()
        wrong = context.unchecked == ("One.",)
        return StageResult(problems=("Wrong.",) if wrong else (), withdraw=wrong)

    agent = FakeStagedAgent(checking=check)
    async with stage(db, tmp_path, [turn("One."), turn("Two.")], agent=agent, working=False) as it:
        started = await it.start()
        async with anyio.create_task_group() as group:
            first = Worker(it.services.engine)
            group.start_soon(first.run)
            await reached.wait()
            first.stop_softly()
            await first.stop_hard()
            group.cancel_scope.cancel()
        async with anyio.create_task_group() as group:
            group.start_soon(Worker(it.services.engine).run)
            assert await it.ended(started.run_id) == "completed"
            group.cancel_scope.cancel()
        assert [part.text for part in (await it.messages())[-1].parts] == ["Two."]
        assert checks == [1, 2, 2]


async def test_at_the_step_limit_a_run_ends_completed_with_its_problems_and_nothing_is_charged(
    db: Database, tmp_path: Path
) -> None:
    limits: list[bool] = []

    async def check(context: StageContext) -> StageResult:
        limits.append(context.last)
        return StageResult(problems=("The page throws.",))

    settings = Settings(profiles={"chat": ProfileSettings(max_steps=2)})
    agent = FakeStagedAgent(checking=check)
    async with stage(db, tmp_path, [turn("Done."), turn("Again.")], agent=agent, settings=settings) as it:
        started = await it.start()
        events = await it.events(started.run_id)
        ended = last(events, "run.completed")
        assert (ended["stop_reason"], ended["problems"]) == ("problems", ["The page throws."])
        assert ended["credits"] == 0
        assert limits == [False, True]
        answer = (await it.messages())[-1]
        assert (answer.status, answer.stop_reason, answer.credits) == ("complete", "problems", 0)
        assert steps(events)[-1] == ("settle_credits", "done")
        assert last(events, "workflow.step")["detail"] == "nothing charged"


async def test_the_words_that_say_the_work_is_done_end_the_loop_also_beside_a_call(
    db: Database, tmp_path: Path
) -> None:
    tool = FakeTool("look")
    agent = FakeStagedAgent(tool)
    turns = [turn("<task_summary>All built.</task_summary>", Call("look"))]
    async with stage(db, tmp_path, turns, agent=agent) as it:
        started = await it.start()
        assert await it.ended(started.run_id) == "completed"
        assert len(tool.calls) == 1
        assert len(it.model.requests) == 1


async def test_problems_that_no_model_can_mend_end_the_run_at_once(db: Database, tmp_path: Path) -> None:
    async def check(context: StageContext) -> StageResult:
        raise NotFound("The screen is gone.")

    async with stage(db, tmp_path, [turn("Done.")], agent=FakeStagedAgent(checking=check)) as it:
        started = await it.start()
        ended = last(await it.events(started.run_id), "run.completed")
        assert ended["stop_reason"] == "problems"
        assert "The screen is gone." in ended["problems"][0]
        assert len(it.model.requests) == 1


async def test_parts_of_a_stage_become_parts_of_the_answer(db: Database, tmp_path: Path) -> None:
    async def prepare(context: StageContext) -> StageResult:
        return StageResult(parts=(NoticePart(id="prt_notice", code="context_lost", text="Started anew."),))

    async def check(context: StageContext) -> StageResult:
        picture = ImagePart(id="prt_picture", attachment_id="att_1", media_type="image/png")
        return StageResult(parts=(picture,))

    agent = FakeStagedAgent(preparing=prepare, checking=check)
    async with stage(db, tmp_path, [turn("Done.")], agent=agent) as it:
        started = await it.start()
        events = await it.events(started.run_id)
        shown = [(e["event"], e["data"]["part"]["id"]) for e in events if e["event"].startswith("part.")]
        assert ("part.created", "prt_picture") in shown
        assert ("part.completed", "prt_picture") in shown
        answer = (await it.messages())[-1]
        assert [(part.type, part.step) for part in answer.parts] == [("notice", 0), ("text", 1), ("image", 1)]


@pytest.mark.parametrize("error", [SandboxUnavailable("No room."), SandboxLost("Gone.", sandbox_id="sbx_1")])
async def test_a_sandbox_that_cannot_be_had_ends_the_run_without_an_answer_and_it_can_be_retried(
    db: Database, tmp_path: Path, error: OutlastError
) -> None:
    broken = True

    async def prepare(context: StageContext) -> StageResult:
        await context.tell("open_sandbox", "started")
        if broken:
            raise error
        await context.tell("open_sandbox", "done")
        return StageResult()

    agent = FakeStagedAgent(preparing=prepare)
    async with stage(db, tmp_path, [turn("Done.")], agent=agent, settings=QUICK) as it:
        started = await it.start()
        events = await it.events(started.run_id)
        ended = last(events, "run.error")
        assert (ended["stop_reason"], ended["error"]["code"]) == ("sandbox", "sandbox_unavailable")
        assert ended["message_id"] is None
        assert [message.role for message in await it.messages()] == ["user"]
        assert steps(events)[-3:] == [("open_sandbox", "failed"), ("save_error", "skipped"), ("settle_credits", "done")]
        assert it.model.requests == []
        assert ("prepare", "failed") in await _journal(it, started.run_id)
        broken = False
        again = await retry_run(it.services, it.owner, started.run_id)
        assert await it.ended(again.run_id) == "completed"
        assert len({effect_id for _, effect_id, _ in agent.stages[-2:]}) == 2


async def test_a_sandbox_that_comes_at_the_second_try_lets_the_run_go_on(db: Database, tmp_path: Path) -> None:
    tries: list[int] = []

    async def prepare(context: StageContext) -> StageResult:
        tries.append(1)
        if len(tries) == 1:
            raise SandboxUnavailable("No room.")
        return StageResult()

    agent = FakeStagedAgent(preparing=prepare)
    async with stage(db, tmp_path, [turn("Done.")], agent=agent, settings=QUICK) as it:
        started = await it.start()
        assert await it.ended(started.run_id) == "completed"
        assert len(tries) == 2
        assert [kind for kind, _, _ in agent.stages] == ["prepare", "prepare", "check"]


async def test_a_check_without_a_sandbox_ends_the_run_with_the_answer_there_is(db: Database, tmp_path: Path) -> None:
    async def check(context: StageContext) -> StageResult:
        await context.tell("check", "started")
        raise SandboxUnavailable("No room.")

    agent = FakeStagedAgent(checking=check)
    async with stage(db, tmp_path, [turn("Done.")], agent=agent, settings=QUICK) as it:
        started = await it.start()
        events = await it.events(started.run_id)
        assert last(events, "run.error")["stop_reason"] == "sandbox"
        assert [part.text for part in (await it.messages())[-1].parts] == ["Done."]
        assert steps(events)[-3:] == [("check", "failed"), ("save_error", "done"), ("settle_credits", "done")]


@pytest.mark.parametrize("kind", ["prepare", "check"])
async def test_a_cancel_stops_a_stage_at_once_and_closes_its_step(db: Database, tmp_path: Path, kind: str) -> None:
    reached = anyio.Event()

    async def hang(context: StageContext) -> StageResult:
        await context.tell("check" if kind == "check" else "open_sandbox", "started")
        reached.set()
        await anyio.sleep_forever()
        raise AssertionError

    agent = FakeStagedAgent(preparing=hang if kind == "prepare" else None, checking=hang if kind == "check" else None)
    async with stage(db, tmp_path, [turn("Done.")], agent=agent) as it:
        started = await it.start()
        await reached.wait()
        await cancel_run(it.services, it.owner, started.run_id)
        events = await it.events(started.run_id)
        assert last(events, "run.cancelled")["stop_reason"] == "user"
        assert agent.stopped == [agent.stages[-1][1]]
        assert (kind, "cancelled") in await _journal(it, started.run_id)
        open_step = "check" if kind == "check" else "open_sandbox"
        assert (open_step, "cancelled") in steps(events)
        state = dict(steps(events))
        assert "started" not in state.values()


async def test_a_run_that_continues_prepares_again_and_keeps_what_checks_have_found(
    db: Database, tmp_path: Path
) -> None:
    async def check(context: StageContext) -> StageResult:
        return StageResult(problems=() if len(context.said) > 1 else ("It throws.",))

    reached = anyio.Event()

    async def slow(context: Any, arguments: Any) -> str:
        reached.set()
        await anyio.sleep_forever()
        raise AssertionError

    agent = FakeStagedAgent(FakeTool("slow", slow), checking=check)
    turns = [turn("Done."), turn("Let me see.", Call("slow")), turn("Mended.")]
    async with stage(db, tmp_path, turns, agent=agent) as it:
        started = await it.start()
        await reached.wait()
        await cancel_run(it.services, it.owner, started.run_id)
        assert await it.ended(started.run_id) == "cancelled"
        onward = await continue_run(it.services, it.owner, started.run_id)
        assert await it.ended(onward.run_id) == "completed"
        assert [kind for kind, _, _ in agent.stages] == ["prepare", "check", "prepare", "check"]
        (told,) = user_texts(it.model.requests[-1].messages)
        assert "It throws." in told


async def test_a_failing_save_of_the_screen_loses_neither_the_answer_nor_the_run(db: Database, tmp_path: Path) -> None:
    agent = FakeStagedAgent()
    agent.failure = Conflict("The screen was deleted.")
    async with stage(db, tmp_path, [turn("Done.")], agent=agent) as it:
        started = await it.start()
        events = await it.events(started.run_id)
        assert last(events, "run.completed")["stop_reason"] == "end"
        assert ("save_chat", "failed") in steps(events)
        parts = (await it.messages())[-1].parts
        assert [part.type for part in parts] == ["text", "notice"]
        assert "The screen was deleted." in parts[1].text


async def test_a_fault_of_ours_in_a_stage_ends_the_run_and_says_so(db: Database, tmp_path: Path) -> None:
    async def prepare(context: StageContext) -> StageResult:
        raise ValueError("a bug")

    async with stage(db, tmp_path, [], agent=FakeStagedAgent(preparing=prepare)) as it:
        started = await it.start()
        error = last(await it.events(started.run_id), "run.error")["error"]
        assert error["code"] == InternalError.code
        assert "ValueError" in error["message"]


async def test_a_stage_that_a_stopping_server_cut_is_done_again_under_its_own_id(db: Database, tmp_path: Path) -> None:
    reached = [anyio.Event(), anyio.Event()]
    gate = anyio.Event()

    async def check(context: StageContext) -> StageResult:
        reached[context.attempt - 1].set()
        await gate.wait()
        return StageResult()

    agent = FakeStagedAgent(checking=check)
    async with stage(db, tmp_path, [turn("Done.")], agent=agent, working=False) as it:
        started = await it.start()
        async with anyio.create_task_group() as group:
            first = Worker(it.services.engine)
            group.start_soon(first.run)
            await reached[0].wait()
            first.stop_softly()
            await first.stop_hard()
            group.cancel_scope.cancel()
        async with anyio.create_task_group() as group:
            group.start_soon(Worker(it.services.engine).run)
            await reached[1].wait()
            gate.set()
            assert await it.ended(started.run_id) == "completed"
            group.cancel_scope.cancel()
        checks = [(effect_id, attempt) for kind, effect_id, attempt in agent.stages if kind == "check"]
        assert [attempt for _, attempt in checks] == [1, 2]
        assert len({effect_id for effect_id, _ in checks}) == 1
        assert sum(kind == "prepare" for kind, _, _ in agent.stages) == 1, "what was recorded is not repeated"
        assert len(it.model.requests) == 1
        assert agent.stopped == []


async def test_a_run_that_waits_for_a_person_does_not_prepare_again(db: Database, tmp_path: Path) -> None:
    settings = Settings(policy=(PolicyRule(tool="look", decision="ask"),))
    agent = FakeStagedAgent(FakeTool("look"))
    turns = [turn("May I?", Call("look")), turn("Done.")]
    async with stage(db, tmp_path, turns, agent=agent, settings=settings) as it:
        started = await it.start()
        asked = await it.until(started.run_id, "approval.requested")
        await it.until_status(started.run_id, "awaiting_approval")
        await decide_approval(it.services, it.owner, asked["data"]["approval"]["id"], "approve")
        assert await it.ended(started.run_id) == "completed"
        assert [kind for kind, _, _ in agent.stages] == ["prepare", "check"]


@pytest.mark.parametrize("kind", ["prepare", "check"])
async def test_a_stage_has_its_time_and_is_stopped_then_without_another_try(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(staging, "PREPARE_S", 0.5)
    monkeypatch.setattr(staging, "CHECK_MORE_S", 0.5 - QUICK.screens.check_timeout_s)

    async def hang(context: StageContext) -> StageResult:
        await anyio.sleep_forever()
        raise AssertionError

    stuck = {"preparing" if kind == "prepare" else "checking": hang}
    agent = FakeStagedAgent(**stuck)
    async with stage(db, tmp_path, [turn("Done.")], agent=agent, settings=QUICK) as it:
        started = await it.start()
        events = await it.events(started.run_id)
        assert [name for name, _, _ in agent.stages].count(kind) == 1
        assert agent.stopped == [agent.stages[-1][1]]
        if kind == "prepare":
            assert last(events, "run.error")["error"]["code"] == SandboxUnavailable.code
        else:
            assert "did not end within" in last(events, "run.completed")["problems"][0]


async def test_what_a_stage_does_side_by_side_fails_with_the_error_that_counts(db: Database, tmp_path: Path) -> None:
    async def prepare(context: StageContext) -> StageResult:
        async def fail() -> None:
            raise SandboxUnavailable("No room.")

        async with anyio.create_task_group() as group:
            group.start_soon(fail)
        return StageResult()

    agent = FakeStagedAgent(preparing=prepare)
    async with stage(db, tmp_path, [], agent=agent, settings=QUICK) as it:
        started = await it.start()
        error = last(await it.events(started.run_id), "run.error")["error"]
        assert (error["code"], error["message"]) == (SandboxUnavailable.code, "No room.")
        assert len(agent.stages) == 2, "tried again, as for any sandbox that cannot be had"


async def test_a_cancel_that_nobody_is_left_to_confirm_closes_the_open_steps_too(db: Database, tmp_path: Path) -> None:
    reached = anyio.Event()

    async def hang(context: StageContext) -> StageResult:
        await context.tell("check", "started")
        reached.set()
        await anyio.sleep_forever()
        raise AssertionError

    settings = Settings(runs=RunSettings(cancel_force_s=0.05))
    agent = FakeStagedAgent(checking=hang)
    async with stage(db, tmp_path, [turn("Done.")], agent=agent, settings=settings, working=False) as it:
        started = await it.start()
        async with anyio.create_task_group() as group:
            group.start_soon(Worker(it.services.engine).run)
            await reached.wait()
            group.cancel_scope.cancel()  # it is gone without a word: its lease still stands
        await cancel_run(it.services, it.owner, started.run_id)
        async with anyio.create_task_group() as group:
            group.start_soon(Sweeper(it.services.engine, None).run)
            events = await it.events(started.run_id)
            group.cancel_scope.cancel()
        assert last(events, "run.cancelled")["stop_reason"] == "user"
        assert dict(steps(events)) == {
            "load_screen": "done",
            "agent": "done",
            "check": "cancelled",
            "save_answer": "done",
            "settle_credits": "done",
        }


async def test_a_kill_before_the_stop_of_a_cancelled_runs_commands_forgets_none(db: Database, tmp_path: Path) -> None:
    """The end of a run clears its clocks. With them went the one that stops what its calls still run, so a server that
    was killed between the two left a command running."""
    reached, clocks = anyio.Event(), list[str]()

    async def hang(context: StageContext) -> StageResult:
        reached.set()
        await anyio.sleep_forever()
        raise AssertionError

    async def nothing(_workspace_id: str) -> None: ...

    settings = Settings(runs=RunSettings(cancel_force_s=0.05))
    agent = FakeStagedAgent(checking=hang)
    async with stage(db, tmp_path, [turn("Done.")], agent=agent, settings=settings, working=False) as it:
        started = await it.start()

        async def stop(_workspace_id: str, _effects: Sequence[str]) -> None:
            clocks.extend(timer.kind for timer in await db.read(timers_of, started.run_id))

        async with anyio.create_task_group() as group:
            group.start_soon(Worker(it.services.engine).run)
            await reached.wait()
            group.cancel_scope.cancel()  # it is gone without a word: its lease still stands
        await db.write(lambda tx: tx.update(runs, {"id": started.run_id}, workspace_id="wsp_1"))
        await cancel_run(it.services, it.owner, started.run_id)
        sweeper = Sweeper(it.services.engine, SandboxSteps(nothing, nothing, nothing, stop))
        async with anyio.create_task_group() as group:
            group.start_soon(sweeper.run)
            await it.events(started.run_id)
            group.cancel_scope.cancel()
        await sweeper.sweep()
        assert "cancel_force" in clocks
        assert {timer.kind for timer in await db.read(timers_of, started.run_id)} == {"clean_up", "fold"}
