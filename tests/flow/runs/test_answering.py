"""A run from its start to its saved answer, on both databases."""

from dataclasses import replace
from pathlib import Path

import pytest

from outlast.base.errors import ApprovalDecided, MalformedInput, ModelOverloaded, ModelRejected, RunFinished, ThreadBusy
from outlast.db.database import Database
from outlast.kernel.runs.actions import cancel_run, continue_run, retry_run
from outlast.kernel.runs.approval_actions import answer_question, decide_approval
from outlast.kernel.runs.settings import PolicyRule
from outlast.kernel.runs.sweeper import Sweeper
from outlast.kernel.settings import Settings
from outlast.kernel.streams.fold import RunFold, apply
from outlast.testing.agents import FakeTool
from outlast.testing.scripted_model import HANG, Call, Fail, ScriptedModel, Think, turn
from tests.flow.harness import stage, told


def names(events: list[dict]) -> list[str]:
    return [event["event"] for event in events]


async def test_an_answer_is_streamed_then_saved_then_the_stream_ends(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn(Think("Hmm."), "Hello there, friend.")]) as it:
        started = await it.start()
        events = await it.events(started.run_id)
        seen = names(events)
        assert seen[:3] == ["run.queued", "run.started", "step.started"]
        assert seen.index("message.created") < seen.index("run.completed") < seen.index("stream.ended")
        assert "".join(e["data"]["delta"] for e in events if e["event"] == "text.delta") == "Hello there, friend."
        numbers = [event["sequenceNumber"] for event in events]
        assert numbers == sorted(set(numbers))
        question, answer = await it.messages()
        assert question.role == "user"
        assert [part.type for part in answer.parts] == ["reasoning", "text"]
        assert answer.status == "complete"


async def test_following_from_any_cursor_gives_exactly_the_rest(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn("One two three four five.")]) as it:
        started = await it.start()
        whole = await it.events(started.run_id)
        for event in whole[:-1]:
            rest = await it.events(started.run_id, event["sequenceNumber"])
            assert rest == [e for e in whole if e["sequenceNumber"] > event["sequenceNumber"]]
        assert await it.events(started.run_id, whole[-1]["sequenceNumber"]) == []


async def test_tools_run_in_parallel_and_their_results_reach_the_next_turn(db: Database, tmp_path: Path) -> None:
    look, write = FakeTool("look"), FakeTool("write")
    turns = [turn("Let me look.", Call("look", {"a": 1}), Call("write", {})), turn("Done.")]
    async with stage(db, tmp_path, turns, look, write) as it:
        started = await it.start()
        assert await it.ended(started.run_id) == "completed"
        assert told(it.model.requests[1].messages[-1]) == ["look did it", "write did it"]
        assert len(look.calls) == len(write.calls) == 1
        assert look.forgotten == [look.calls[0][0]]


async def test_invalid_and_unknown_calls_are_told_to_the_model(db: Database, tmp_path: Path) -> None:
    tool = FakeTool("look")
    turns = [turn(Call("look", {"bad": 1}), Call("nope", {})), turn("Sorry.")]
    async with stage(db, tmp_path, turns, tool) as it:
        assert await it.ended((await it.start()).run_id) == "completed"
        refused = told(it.model.requests[1].messages[-1])
        assert "not valid" in refused[0]
        assert "Unknown tool 'nope'" in refused[1]
        assert tool.calls == []


ASKING = Settings(policy=(PolicyRule(tool="look", decision="ask"),))


async def test_a_parked_run_goes_on_after_the_approval_with_edited_arguments(db: Database, tmp_path: Path) -> None:
    seen: list[dict] = []

    async def body(_context, arguments):
        seen.append(dict(arguments))
        return "looked"

    turns = [turn(Call("look", {"where": "here"})), turn("Fine.")]
    async with stage(db, tmp_path, turns, FakeTool("look", body), settings=ASKING) as it:
        started = await it.start()
        approval = (await it.until(started.run_id, "approval.requested"))["data"]["approval"]
        await it.until_status(started.run_id, "awaiting_approval")
        decided = await decide_approval(it.services, it.owner, approval["id"], "approve", arguments={"where": "there"})
        assert decided.decision == "approve"
        with pytest.raises(ApprovalDecided) as refused:
            await decide_approval(it.services, it.owner, approval["id"], "deny")
        assert refused.value.fields["first"]["decision"] == "approve"
        assert await it.ended(started.run_id) == "completed"
        assert seen == [{"where": "there"}]


async def test_a_denied_call_is_told_to_the_model_with_the_reason(db: Database, tmp_path: Path) -> None:
    turns = [turn(Call("look", {})), turn("Understood.")]
    async with stage(db, tmp_path, turns, FakeTool("look"), settings=ASKING) as it:
        started = await it.start()
        approval = (await it.until(started.run_id, "approval.requested"))["data"]["approval"]
        await decide_approval(it.services, it.owner, approval["id"], "deny", reason="Not today")
        assert await it.ended(started.run_id) == "completed"
        assert "Not today" in told(it.model.requests[1].messages[-1])[0]


async def test_a_remembered_approval_is_not_asked_again(db: Database, tmp_path: Path) -> None:
    call = Call("look", {"command": "rm x"})
    turns = [turn(call), turn("One."), turn(call), turn("Two.")]
    async with stage(db, tmp_path, turns, FakeTool("look"), settings=ASKING) as it:
        first = await it.start()
        approval = (await it.until(first.run_id, "approval.requested"))["data"]["approval"]
        await decide_approval(it.services, it.owner, approval["id"], "approve", remember="thread")
        await it.ended(first.run_id)
        second = await it.start("Again")
        assert "approval.requested" not in names(await it.events(second.run_id))


async def test_what_reaches_beyond_the_thread_is_never_allowed_for_all_of_it(db: Database, tmp_path: Path) -> None:
    turns = [turn(Call("publish_module", {"command": "rm x"})), turn("Done.")]
    asking = replace(ASKING, policy=(PolicyRule(tool="publish_module", decision="ask"),))
    async with stage(db, tmp_path, turns, FakeTool("publish_module"), settings=asking) as it:
        started = await it.start()
        approval = (await it.until(started.run_id, "approval.requested"))["data"]["approval"]
        with pytest.raises(MalformedInput, match="need an approval each time"):
            await decide_approval(it.services, it.owner, approval["id"], "approve", remember="thread")
        await decide_approval(it.services, it.owner, approval["id"], "approve")
        assert await it.ended(started.run_id) == "completed"


async def test_a_question_waits_for_its_answer(db: Database, tmp_path: Path) -> None:
    asking = Call("ask", {"questions": [{"id": "name", "question": "Your name?"}]})
    async with stage(db, tmp_path, [turn(asking), turn("Hi.")], FakeTool("ask", asks_person=True)) as it:
        started = await it.start()
        question = (await it.until(started.run_id, "question.asked"))["data"]["question"]
        await answer_question(it.services, it.owner, question["id"], {"name": "Ada"})
        assert await it.ended(started.run_id) == "completed"
        assert "Ada" in told(it.model.requests[1].messages[-1])[0]


async def test_cancel_ends_a_run_whose_model_never_answers(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn("Some words. ", HANG)]) as it:
        started = await it.start()
        await it.until(started.run_id, "text.delta")
        await cancel_run(it.services, it.owner, started.run_id)
        assert await it.ended(started.run_id) == "cancelled"
        again = await cancel_run(it.services, it.owner, started.run_id)
        assert again.status == "cancelled"
        assert it.model.abandoned == 1
        answer = (await it.messages())[-1]
        assert answer.status == "cancelled"
        assert answer.parts[0].text.startswith("Some")


async def test_cancel_stops_the_tool_and_a_parked_run_can_be_cancelled(db: Database, tmp_path: Path) -> None:
    async def hang(_context, _arguments):
        import anyio

        await anyio.sleep_forever()

    tool = FakeTool("look", hang)
    async with stage(db, tmp_path, [turn(Call("look", {}))], tool) as it:
        started = await it.start()
        while not tool.calls:
            await it.until(started.run_id, "step.completed")
        assert (await cancel_run(it.services, it.owner, started.run_id)).status == "cancelled"
        assert tool.stopped == [tool.calls[0][0]]


async def test_an_approval_of_a_cancelled_run_is_refused(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn(Call("look", {}))], FakeTool("look"), settings=ASKING) as it:
        started = await it.start()
        approval = (await it.until(started.run_id, "approval.requested"))["data"]["approval"]
        await it.until_status(started.run_id, "awaiting_approval")
        await cancel_run(it.services, it.owner, started.run_id)
        with pytest.raises(RunFinished):
            await decide_approval(it.services, it.owner, approval["id"], "approve")


async def test_transient_errors_are_retried_and_what_was_shown_is_taken_back(db: Database, tmp_path: Path) -> None:
    broken = turn("Half an ans", Fail(ModelOverloaded("busy", retry_after_s=0.01)))
    async with stage(db, tmp_path, [broken, turn("Whole answer.")]) as it:
        started = await it.start()
        events = await it.events(started.run_id)
        assert "step.reset" in names(events)
        state = RunFold()
        for event in events:
            apply(state, event)
        assert [part["text"] for part in state.parts] == ["Whole answer."]


async def test_a_refusal_ends_the_run_with_the_partial_text_and_can_be_continued(db: Database, tmp_path: Path) -> None:
    turns = [
        turn("First. ", Call("look", {})),
        turn("Partial", Fail(ModelRejected("no"))),
        turn("The rest."),
        turn("All anew."),
    ]
    tool = FakeTool("look")
    async with stage(db, tmp_path, turns, tool) as it:
        started = await it.start()
        assert await it.ended(started.run_id) == "error"
        answer = (await it.messages())[-1]
        assert answer.status == "error"
        assert answer.error is not None
        assert answer.error.code == "model_rejected"
        assert answer.parts[-1].text == "Partial"
        going_on = await continue_run(it.services, it.owner, started.run_id)
        assert await it.ended(going_on.run_id) == "completed"
        assert len(tool.calls) == 1
        anew = await retry_run(it.services, it.owner, started.run_id)
        assert await it.ended(anew.run_id) == "completed"
        assert len(it.model.requests[3].messages) == 0


async def test_a_busy_thread_rejects_enqueues_or_interrupts(db: Database, tmp_path: Path) -> None:
    model = ScriptedModel([turn("One", HANG), turn("Two."), turn("Three.")])
    async with stage(db, tmp_path, model) as it:
        first = await it.start()
        await it.until(first.run_id, "text.delta")
        with pytest.raises(ThreadBusy) as busy:
            await it.start("no")
        assert busy.value.fields["active_run_id"] == first.run_id
        second = await it.start("later", on_busy="enqueue")
        third = await it.start("now", on_busy="interrupt")
        assert await it.ended(first.run_id) == "cancelled"
        assert await it.ended(third.run_id) == "completed"
        assert await it.ended(second.run_id) == "completed"


async def test_the_same_key_starts_one_run(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn("Once.")]) as it:
        first = await it.start(key="abc")
        again = await it.start(key="abc")
        assert first == again
        await it.ended(first.run_id)
        assert len(await it.messages()) == 2


async def test_a_thread_shows_its_runs_in_one_stream_and_resumes_anywhere(db: Database, tmp_path: Path) -> None:
    turns = [turn("Alpha beta."), turn("Gamma delta.")]
    async with stage(db, tmp_path, turns) as it:
        first = await it.start()
        await it.ended(first.run_id)
        second = await it.start("And?")
        await it.ended(second.run_id)
        from outlast.kernel.threads.actions import rename_thread

        await rename_thread(it.services, it.owner, it.thread_id, "The end")
        whole = await _until_title(it, "0", "The end")
        ids = [event["id"] for _, event in whole]
        assert len(ids) == len(set(ids))
        runs_shown = [e["data"]["run_id"] for _, e in whole if e["event"] == "stream.ended"]
        assert runs_shown == [first.run_id, second.run_id]
        for cursor, _event in whole[:: max(1, len(whole) // 12)][:-1]:
            rest = await _until_title(it, cursor, "The end")
            assert [c for c, _ in rest] == [c for c, _ in whole[[c for c, _ in whole].index(cursor) + 1 :]]


async def _until_title(it, cursor: str, title: str):
    from outlast.kernel.streams.actions import follow_thread
    from tests.flow.harness import frames

    seen = []
    async for frame in frames(await follow_thread(it.services, it.owner, it.thread_id, cursor)):
        seen.append(frame)
        if frame[1]["event"] == "thread.updated" and frame[1]["data"]["thread"]["title"] == title:
            return seen
    raise AssertionError


async def test_an_ended_runs_log_is_folded_with_an_equal_result_from_any_cursor(db: Database, tmp_path: Path) -> None:
    from outlast.kernel.streams.log_store import read_all

    async with stage(db, tmp_path, [turn("One two three four five six.")], working=True) as it:
        started = await it.start()
        whole = await it.events(started.run_id)
        await Sweeper(it.services.engine, None)._fold(started.run_id)
        assert len(await db.read(read_all, started.run_id)) < len(whole)
        expected = _folded(whole)
        for event in whole[:-1]:
            state = [e for e in whole if e["sequenceNumber"] <= event["sequenceNumber"]]
            state += await it.events(started.run_id, event["sequenceNumber"])
            assert _folded(state) == expected


def _folded(events: list[dict]) -> list[dict]:
    state = RunFold()
    for event in events:
        apply(state, event)
    return state.parts
