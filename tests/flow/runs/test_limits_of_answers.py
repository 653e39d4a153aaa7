"""Answers that are cut at the model's output limit, calls that are no JSON, and what failed tries cost."""

from pathlib import Path

import pytest

from outlast.base import errors
from outlast.base.errors import RunNotContinuable
from outlast.db.database import Database
from outlast.kernel.models.protocol import ModelMessage, TextPiece, ToolCallPiece, Usage
from outlast.kernel.runs.actions import continue_run, read_run
from outlast.testing.agents import FakeTool
from outlast.testing.scripted_model import Call, Fail, Searched, turn
from tests.flow.harness import stage, told


def words(message: ModelMessage) -> str:
    return "".join(piece.text for piece in message.pieces if isinstance(piece, TextPiece))


async def test_an_answer_cut_at_the_limit_says_so_and_is_continued_where_it_stopped(
    db: Database, tmp_path: Path
) -> None:
    """It ended as if it were whole, without a word; only pages looked at the finish."""
    turns = [turn("One two three", finish="length"), turn(" four five.")]
    async with stage(db, tmp_path, turns) as it:
        cut = await it.start()
        events = await it.events(cut.run_id)
        (end,) = [event["data"] for event in events if event["event"] == "run.completed"]
        assert (end["stop_reason"], end["problems"]) == ("length", [])
        _, answer = await it.messages()
        assert [(part.type, getattr(part, "code", "")) for part in answer.parts] == [
            ("text", ""),
            ("notice", "output_limit"),
        ]
        assert (answer.status, answer.stop_reason) == ("complete", "length")
        created = [event["data"]["part"]["id"] for event in events if event["event"] == "part.created"]
        assert answer.parts[1].id in created
        again = await continue_run(it.services, it.owner, cut.run_id)
        assert await it.ended(again.run_id) == "completed"
        *_, before, asked = it.model.requests[1].messages
        assert (before.role, words(before)) == ("assistant", "One two three")
        assert (asked.role, "cut at the output limit" in words(asked)) == ("user", True)
        summary = await read_run(it.services, it.owner, again.run_id)
        assert summary.stop_reason == "end"
        with pytest.raises(RunNotContinuable):
            await continue_run(it.services, it.owner, again.run_id)


async def test_a_call_cut_at_the_limit_goes_back_to_the_model_with_how_much_fitted(
    db: Database, tmp_path: Path
) -> None:
    """A file that did not fit was asked for three times over, each time paid for, and then the run failed."""
    write = FakeTool("write")
    turns = [
        turn(Call("write", '{"path": "a.txt", "text": "lorem ips'), finish="length"),
        turn(Call("write", {"path": "a.txt"})),
        turn("Done."),
    ]
    async with stage(db, tmp_path, turns, write) as it:
        started = await it.start()
        assert await it.ended(started.run_id) == "completed"
        (result,) = told(it.model.requests[1].messages[-1])
        assert "reached the output limit" in result
        assert "first 36 characters" in result
        assert len(write.calls) == 1
        (sent,) = [piece for piece in it.model.requests[1].messages[-2].pieces if isinstance(piece, ToolCallPiece)]
        assert sent.arguments.startswith('{"invalid_json":')
        summary = await read_run(it.services, it.owner, started.run_id)
        assert (summary.stop_reason, summary.usage.output_tokens) == ("end", 15)


async def test_malformed_arguments_go_back_to_the_model_like_other_tool_errors(db: Database, tmp_path: Path) -> None:
    """The model was asked the same three times, never told, and the run ended with model_output_invalid."""
    look = FakeTool("look")
    turns = [turn(Call("look", '{"command": "echo')), turn(Call("look", {})), turn("Fine.")]
    async with stage(db, tmp_path, turns, look) as it:
        assert await it.ended((await it.start()).run_id) == "completed"
        assert told(it.model.requests[1].messages[-1]) == [
            "The arguments are not one JSON object (17 characters). Nothing was done. Write them again."
        ]
        assert len(look.calls) == 1


async def test_failed_tries_are_booked_as_far_as_the_provider_said(db: Database, tmp_path: Path) -> None:
    used = Usage(input_tokens=100, output_tokens=8_192, cost_usd=0.5)
    broken = turn("Half", Fail(errors.ModelCut("gone", hint="Ask again.", retry_after_s=0.0), used))
    turns = [broken, broken, turn("Whole.")]
    async with stage(db, tmp_path, turns) as it:
        started = await it.start()
        assert await it.ended(started.run_id) == "completed"
        summary = await read_run(it.services, it.owner, started.run_id)
        assert (summary.usage.input_tokens, summary.usage.output_tokens) == (210, 16_389)
        assert summary.usage.cost_usd == 1.0


async def test_a_turn_that_failed_for_good_is_booked_too(db: Database, tmp_path: Path) -> None:
    used = Usage(input_tokens=100, output_tokens=7)
    refused = turn("Half", Fail(errors.ModelRejected("no", hint="Change it."), used))
    async with stage(db, tmp_path, [refused]) as it:
        started = await it.start()
        assert await it.ended(started.run_id) == "error"
        summary = await read_run(it.services, it.owner, started.run_id)
        assert (summary.usage.input_tokens, summary.usage.output_tokens) == (100, 7)


async def test_what_the_provider_did_by_itself_is_shown_between_the_texts(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn("Let me see. ", Searched("otters"), "They swim.")]) as it:
        started = await it.start()
        assert await it.ended(started.run_id) == "completed"
        _, answer = await it.messages()
        assert [(part.type, part.text) for part in answer.parts] == [
            ("text", "Let me see. "),
            ("notice", "The provider searched the web: otters"),
            ("text", "They swim."),
        ]


async def test_a_turn_that_the_provider_paused_is_handed_back_as_it_is(db: Database, tmp_path: Path) -> None:
    kept = {"provider": "fake", "v": 1, "response": {"state": "suspended"}}
    turns = [turn(Searched("otters"), finish="paused", opaque=kept), turn("They swim.")]
    async with stage(db, tmp_path, turns) as it:
        started = await it.start()
        assert await it.ended(started.run_id) == "completed"
        last = it.model.requests[1].messages[-1]
        assert (last.role, last.opaque) == ("assistant", kept)
