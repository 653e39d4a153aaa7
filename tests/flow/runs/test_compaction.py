"""Long threads and long runs: what a model no longer reads word for word, it reads as a summary."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from outlast.base.errors import Forbidden, ModelCut, ModelRejected, NotFound
from outlast.db.database import Database, Tx
from outlast.kernel.agents.agent import Agent
from outlast.kernel.compactions.actions import undo_compaction
from outlast.kernel.compactions.rows import CompactionRow
from outlast.kernel.compactions.tables import compactions
from outlast.kernel.limits.settings import LimitSettings
from outlast.kernel.models.protocol import (
    ModelMessage,
    ModelRequest,
    ModelSpec,
    TextPiece,
    ToolCallPiece,
    ToolResultPiece,
    Usage,
)
from outlast.kernel.projects.rules import Role
from outlast.kernel.projects.store import add_member
from outlast.kernel.runs.history import Exchange
from outlast.kernel.runs.rows import EffectRow, RunRow
from outlast.kernel.runs.settings import RetrySettings, RunSettings
from outlast.kernel.runs.tables import effects, runs
from outlast.kernel.settings import Settings
from outlast.kernel.threads import actions as threads
from outlast.kernel.threads import message_store
from outlast.kernel.threads.shapes import ThreadAnswer
from outlast.testing.agents import FakeTool
from outlast.testing.scripted_model import HANG, Call, Fail, ScriptedModel, Turn, turn
from tests.factories import make_run, make_user, say, text_part
from tests.flow.harness import Stage, stage, told_last

FACT = "FACT: the key of the safe is 4711."
Answering = Callable[[ModelRequest], Turn]
UNLIMITED = Settings(limits=LimitSettings(runs_per_minute_per_user=0, runs_per_minute_per_project=0))
FEW = Settings(runs=RunSettings(context_messages=6), retry=RetrySettings(attempts=1, base_s=0))
USAGE = Usage(input_tokens=100, output_tokens=20, cost_usd=0.0)
SMALL = ModelSpec("scripted", "scripted", "scripted", context_tokens=1_000)


def text_in(request: ModelRequest) -> str:
    return "\n".join(piece.text for one in request.messages for piece in one.pieces if isinstance(piece, TextPiece))


def is_compaction(request: ModelRequest) -> bool:
    return bool(request.metadata.get("compaction"))


def copying_facts(answer: Answering = lambda _request: turn("Noted.")) -> ScriptedModel:
    """A model whose summaries have the facts of what they replace."""

    def play(request: ModelRequest) -> Turn:
        if not is_compaction(request):
            return answer(request)
        facts = dict.fromkeys(re.findall(r"FACT: [^\n]*", text_in(request)))
        return turn("## Facts\n" + "\n".join(facts) + "\n- Nothing else.", usage=USAGE)

    return ScriptedModel(play)


def chat(*tools: FakeTool) -> Agent:
    return Agent("chat", instructions="Be short.", tools=tools)


def plainly(it: Stage, texts: list[str]) -> Callable[[Tx], None]:
    """Writes exchanges into the thread without running them."""

    def write(tx: Tx) -> None:
        for text in texts:
            asked = say(tx, it.thread_id, it.owner, text)
            run_id = make_run(
                tx, it.thread_id, it.owner, message_id=asked, mode="start", leg="ended", status="completed"
            )
            said: dict[str, Any] = {"run_id": run_id, "reply_to": asked}
            message_store.add_message(tx, it.thread_id, "assistant", None, "complete", [text_part("Yes.")], **said)

    return write


async def rows_of(it: Stage) -> list[CompactionRow]:
    chosen = sa.select(compactions).order_by(compactions.c.to_position)
    return await it.services.db.read(lambda tx: tx.rows(CompactionRow, chosen))


async def effects_of(it: Stage, run_id: str) -> list[EffectRow]:
    chosen = sa.select(effects).where(effects.c.run_id == run_id).order_by(effects.c.ordinal)
    return await it.services.db.read(lambda tx: tx.rows(EffectRow, chosen))


async def opened(it: Stage) -> ThreadAnswer:
    return ThreadAnswer(**await threads.open_thread(it.services, it.owner, it.thread_id))


async def test_a_fact_of_turn_3_is_used_rightly_at_turn_300(db: Database, tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> Turn:
        if "What is the key?" not in text_in(request):
            return turn("Noted.")
        if request.messages[-1].role == "tool":
            return turn("It is 4711, as you said in message 5.")
        assert FACT in text_in(request)
        return turn(Call("read_thread", {"query": "key safe"}), Call("read_thread", {"message": 5}))

    model = copying_facts(answer)
    async with stage(db, tmp_path, model, settings=UNLIMITED, agent=chat(FakeTool("look"))) as it:
        await db.write(plainly(it, ["Turn 1: begin.", "Turn 2: go on."]))
        assert await it.ended((await it.start(FACT)).run_id) == "completed"
        for first in range(4, 300, 37):  # the last of each is turn 40, 77, … 299
            await db.write(plainly(it, [f"Turn {number}: go on." for number in range(first, first + 36)]))
            assert await it.ended((await it.start(f"Turn {first + 36}: go on.")).run_id) == "completed"
        assert await it.ended((await it.start("What is the key?")).run_id) == "completed"
        last = model.requests[-1]
        assert text_in(last).count(FACT) == 1, "the message itself is no longer in the prompt"
        assert len(last.messages) < 50
        hits, message = told_last(last)
        assert re.fullmatch(r"Message 5, \w+, \S+Z: FACT: the key of the safe is 4711\.", hits)
        assert FACT in message
        assert (await it.messages())[-1].parts[-1].text == "It is 4711, as you said in message 5."
        summaries = await rows_of(it)
        assert len(summaries) == 8, "each has what the one before it had"
        assert all(FACT in row.text for row in summaries)
        everything = await threads.list_messages(it.services, it.owner, it.thread_id, None, 10_000)
        assert len(everything.items) == 600, "the messages stay in the thread"
        found = await threads.list_threads(it.services, it.owner, it.project_id, query="key safe 4711")
        assert [one.id for one in found.items] == [it.thread_id]


async def test_a_compaction_is_an_effect_of_the_run_with_its_tokens(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, copying_facts(), settings=FEW, agent=chat()) as it:
        await db.write(plainly(it, [FACT, "two", "three", "four"]))
        run_id = (await it.start("five")).run_id
        events = await it.events(run_id)
        assert "thread.compacted" not in [event["event"] for event in events], "it is an event of the thread"
        model, compaction = await effects_of(it, run_id)
        assert (model.kind, compaction.kind) == ("model", "compaction")
        assert (compaction.status, compaction.usage["input_tokens"]) == ("finished", 100)
        row = await db.read(lambda tx: tx.find(RunRow, runs, {"id": run_id}))
        assert row is not None
        assert (row.input_tokens, row.output_tokens) == (110, 25)
        (kept,) = await rows_of(it)
        assert (kept.to_position, kept.last_position, kept.run_id, kept.input_tokens) == (5, 6, run_id, 100)
        asked, request = it.model.requests
        assert is_compaction(asked)
        assert asked.tools == ()
        assert [message.role for message in request.messages] == ["user", "user", "assistant", "user"]
        assert request.tools == (), "an agent without tools gets none"
        shown = (await opened(it)).compaction
        assert shown is not None
        assert shown.to_position == 5


async def test_a_thread_that_has_room_is_not_compacted(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, copying_facts(), settings=FEW, agent=chat(FakeTool("look"))) as it:
        await db.write(plainly(it, ["one", "two"]))
        assert await it.ended((await it.start("three")).run_id) == "completed"
        assert [tool.name for tool in it.model.requests[0].tools] == ["look"]
        assert await rows_of(it) == []
        assert (await opened(it)).compaction is None


async def test_an_undone_compaction_brings_the_messages_back_and_is_not_repeated(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, copying_facts(), settings=FEW, agent=chat()) as it:
        await db.write(plainly(it, [FACT, "two", "three", "four"]))
        assert await it.ended((await it.start("five")).run_id) == "completed"
        (row,) = await rows_of(it)
        cursor = (await opened(it)).cursor
        for _ in range(2):
            await undo_compaction(it.services, it.owner, it.thread_id, row.id)
        seen = await it.thread_events(cursor, "thread.compacted")
        assert seen[-1][1]["data"] == {"thread_id": it.thread_id, "compaction": None}
        assert (await opened(it)).compaction is None
        assert await it.ended((await it.start("six")).run_id) == "completed"
        assert len(it.model.requests) == 3
        request = it.model.requests[-1]
        assert request.messages[0].pieces == (TextPiece(FACT),)
        assert sum(message.role == "user" for message in request.messages) == 6


async def test_after_an_undo_messages_are_summarized_again_only_for_lack_of_room(db: Database, tmp_path: Path) -> None:
    small = Settings(runs=RunSettings(context_messages=6, context_tokens=1_000))
    async with stage(db, tmp_path, copying_facts(), settings=small, agent=chat()) as it:
        await db.write(plainly(it, [FACT, *("word " * 160 for _ in range(3))]))  # 2,400 of 4,000 bytes
        assert await it.ended((await it.start("five")).run_id) == "completed"
        (row,) = await rows_of(it)
        await undo_compaction(it.services, it.owner, it.thread_id, row.id)
        await db.write(plainly(it, ["word " * 160]))  # 80 % are used
        assert await it.ended((await it.start("seven")).run_id) == "completed"
        assert len(await rows_of(it)) == 1
        await db.write(plainly(it, ["word " * 160]))
        assert await it.ended((await it.start("nine")).run_id) == "completed"
        assert len(await rows_of(it)) == 2
        assert FACT in text_in(it.model.requests[-1])


async def test_only_editors_undo_a_compaction_of_their_thread(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, copying_facts(), settings=FEW, agent=chat()) as it:
        await db.write(plainly(it, ["one", "two", "three", "four"]))
        assert await it.ended((await it.start("five")).run_id) == "completed"
        (row,) = await rows_of(it)
        viewer = await db.write(make_user)
        await db.write(add_member, it.project_id, viewer.user_id, Role.VIEWER)
        with pytest.raises(Forbidden):
            await undo_compaction(it.services, viewer, it.thread_id, row.id)
        with pytest.raises(NotFound):
            await undo_compaction(it.services, it.owner, it.thread_id, "cmp_none")


@pytest.mark.parametrize(("at", "copied"), [(6, 1), (4, 0), (None, 1)])
async def test_a_fork_has_the_summary_of_messages_that_it_has(
    db: Database, tmp_path: Path, at: int | None, copied: int
) -> None:
    async with stage(db, tmp_path, copying_facts(), settings=FEW, agent=chat()) as it:
        await db.write(plainly(it, [FACT, "two", "three", "four"]))
        assert await it.ended((await it.start("five")).run_id) == "completed"
        message_id = next((one.id for one in await it.messages() if one.position == at), None)
        fork = await threads.fork_thread(it.services, it.owner, it.thread_id, message_id)
        assert len([row for row in await rows_of(it) if row.thread_id == fork.id]) == copied
        assert await it.ended((await it.start("And?", target=fork.id)).run_id) == "completed"
        request = it.model.requests[-1]
        assert FACT in text_in(request)
        assert (request.messages[0].pieces == (TextPiece(FACT),)) is (copied == 0)


async def test_a_run_that_answers_an_old_message_again_does_not_read_a_summary_of_later_ones(
    db: Database, tmp_path: Path
) -> None:
    from outlast.kernel.runs.actions import retry_run

    async with stage(db, tmp_path, copying_facts(), settings=FEW, agent=chat()) as it:
        first = (await it.start("one")).run_id
        assert await it.ended(first) == "completed"
        await db.write(plainly(it, [FACT, "three", "four"]))
        assert await it.ended((await it.start("five")).run_id) == "completed"
        again = await retry_run(it.services, it.owner, first)
        assert await it.ended(again.run_id) == "completed"
        assert text_in(it.model.requests[-1]) == "one"


@pytest.mark.parametrize(
    ("broken", "tries"),
    [
        (turn(Fail(ModelRejected("No."), USAGE)), 1),
        (turn(Fail(ModelCut("Cut."), USAGE)), 2),
        (turn("  ", usage=USAGE), 2),
    ],
)
async def test_a_failed_compaction_never_ends_the_run(db: Database, tmp_path: Path, broken: Turn, tries: int) -> None:
    model = ScriptedModel(lambda request: broken if is_compaction(request) else turn("Fine."))
    async with stage(db, tmp_path, model, settings=FEW, agent=chat()) as it:
        await db.write(plainly(it, [FACT, "two", "three", "four"]))
        run_id = (await it.start("five")).run_id
        assert await it.ended(run_id) == "completed"
        answer = (await it.messages())[-1]
        assert [(part.type, getattr(part, "code", "")) for part in answer.parts] == [
            ("notice", "not_summarized"),
            ("text", ""),
        ]
        assert await rows_of(it) == []
        assert FACT not in text_in(model.requests[-1]), "the oldest are left out, as without a summary"
        assert sum(map(is_compaction, model.requests)) == tries
        assert [(one.kind, one.status) for one in await effects_of(it, run_id)] == [
            ("model", "finished"),
            ("compaction", "failed"),
        ]


async def test_a_person_cancels_a_run_in_its_compaction(db: Database, tmp_path: Path) -> None:
    from outlast.kernel.runs.actions import cancel_run

    model = ScriptedModel(lambda request: turn(HANG) if is_compaction(request) else turn("Fine."))
    async with stage(db, tmp_path, model, settings=FEW, agent=chat()) as it:
        await db.write(plainly(it, ["one", "two", "three", "four"]))
        run_id = (await it.start("five")).run_id
        await model.wait_requests(1)
        await cancel_run(it.services, it.owner, run_id)
        assert await it.ended(run_id) == "cancelled"
        assert {one.status for one in await effects_of(it, run_id)} == {"cancelled"}


async def test_the_oldest_steps_of_a_long_run_are_summarized_with_their_results(db: Database, tmp_path: Path) -> None:
    async def body(_context: Any, arguments: Any) -> str:
        return FACT if arguments["n"] == 1 else f"result {arguments['n']} " + "x" * 600

    def answer(request: ModelRequest) -> Turn:
        done = len(model.requests) - sum(map(is_compaction, model.requests))
        text = f"Step {done}."
        if done == 12:
            return turn(text, Call("read_thread", {"step": 1}))
        return turn(text, Call("look", {"n": done}, f"call_{done}")) if done < 12 else turn("Done.")

    model = copying_facts(answer)
    async with stage(db, tmp_path, model, settings=FEW, agent=chat(FakeTool("look", body))) as it:
        it.services.catalog.default = SMALL  # type: ignore[misc]
        run_id = (await it.start("Look twelve times.")).run_id
        assert await it.ended(run_id) == "completed"
        asked = [request for request in model.requests if not is_compaction(request)]
        assert len(asked) == 13
        assert len(model.requests) > 14, "it was compacted more than once"
        for request in asked:
            calls = [
                piece.call_id for one in request.messages for piece in one.pieces if isinstance(piece, ToolCallPiece)
            ]
            results = [
                piece.call_id for one in request.messages for piece in one.pieces if isinstance(piece, ToolResultPiece)
            ]
            assert calls == results, "calls and results are never parted"
            assert "Look twelve times." in text_in(request)
        assert FACT in text_in(asked[-1])
        assert FACT in told_last(asked[-1])[0], "read_thread reads the steps themselves"
        assert await rows_of(it) == [], "later runs read the saved answer"
        answer_parts = (await it.messages())[-1].parts
        assert [part.code for part in answer_parts if part.type == "notice"] == ["steps_summarized"]
        assert sum(part.type == "tool_call" for part in answer_parts) == 12
        ordinals = [one.ordinal for one in await effects_of(it, run_id)]
        assert ordinals == list(range(1, len(ordinals) + 1))


async def test_a_server_may_leave_the_oldest_messages_out_instead(db: Database, tmp_path: Path) -> None:
    forgetful = Settings(runs=RunSettings(context_messages=6, summarize=False))
    async with stage(db, tmp_path, copying_facts(), settings=forgetful, agent=chat()) as it:
        await db.write(plainly(it, [FACT, "two", "three", "four"]))
        assert await it.ended((await it.start("five")).run_id) == "completed"
        (request,) = it.model.requests
        assert FACT not in text_in(request)


async def test_an_agent_that_tells_all_messages_in_one_is_not_taken_for_a_crowded_one(
    db: Database, tmp_path: Path
) -> None:
    def in_one(exchanges: Sequence[Exchange]) -> list[ModelMessage]:
        return [ModelMessage("user", (TextPiece("\n".join(part["text"] for one in exchanges for part in one.asked)),))]

    agent = Agent("chat", context=lambda context: context.with_history(in_one))
    async with stage(db, tmp_path, copying_facts(), settings=FEW, agent=agent) as it:
        await db.write(plainly(it, ["one", "two"]))
        assert await it.ended((await it.start("three")).run_id) == "completed"
        assert [text_in(request) for request in it.model.requests] == ["one\ntwo\nthree"]


async def test_an_agent_without_a_conversation_works_on_after_many_steps(db: Database, tmp_path: Path) -> None:
    async def body(_context: Any, _arguments: Any) -> str:
        return "x" * 1_500

    turns = iter([*(turn(Call("look", {}, f"call_{n}")) for n in range(4)), turn("Done.")])
    model = ScriptedModel(lambda request: turn("So far, so good.") if is_compaction(request) else next(turns))
    async with stage(db, tmp_path, model, FakeTool("look", body), settings=FEW) as it:
        it.services.catalog.default = SMALL  # type: ignore[misc]
        assert await it.ended((await it.start("Look.")).run_id) == "completed"
        assert any(map(is_compaction, model.requests))
