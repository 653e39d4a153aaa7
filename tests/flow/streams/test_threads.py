"""A thread's stream: its own log and its runs' logs interleaved, each event once, from any cursor."""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict
from pathlib import Path
from typing import cast

import anyio
import pytest
from pydantic import BaseModel

from outlast.base.errors import CursorUnknown
from outlast.db.database import Database
from outlast.kernel.runs.approval_actions import decide_approval
from outlast.kernel.runs.settings import PolicyRule
from outlast.kernel.settings import Settings
from outlast.kernel.streams.actions import follow_project, follow_run, follow_thread
from outlast.kernel.threads.actions import rename_thread
from outlast.testing.agents import FakeTool
from outlast.testing.scripted_model import Call, WaitFor, turn
from tests.factories import make_thread
from tests.flow.harness import Event, Stage, frames, stage
from tests.thread_fold import ThreadFold, apply_to_thread


class Nothing(BaseModel):
    pass


ASKING = Settings(policy=(PolicyRule(tool="look", decision="ask"),))


async def until_title(it: Stage, cursor: str, title: str) -> list[tuple[str, Event]]:
    """(cursor, event) of the thread's stream up to and with the thread's new title."""
    seen = []
    async for frame in frames(await follow_thread(it.services, it.owner, it.thread_id, cursor)):
        seen.append(frame)
        event = frame[1]
        if event["event"] == "thread.updated" and event["data"]["thread"]["title"] == title:
            return seen
    raise AssertionError("a thread's stream never ends")


async def test_a_run_that_waited_is_shown_once_also_when_it_is_read_later(db: Database, tmp_path: Path) -> None:
    # Waiting and going on announce the thread, each time naming the run; a later reader, who had read the run to its
    # end at the first naming, was shown the whole run again at the second.
    turns = [turn(Call("look", {})), turn("Done."), turn("Another.")]
    async with stage(db, tmp_path, turns, FakeTool("look"), settings=ASKING) as it:
        first = await it.start()
        approval = (await it.until(first.run_id, "approval.requested"))["data"]["approval"]
        await it.until_status(first.run_id, "awaiting_approval")
        await decide_approval(it.services, it.owner, approval["id"], "approve")
        await it.ended(first.run_id)
        second = await it.start("And?")
        await it.ended(second.run_id)
        await rename_thread(it.services, it.owner, it.thread_id, "The end")
        whole = await until_title(it, "0", "The end")
        ids = [event["id"] for _, event in whole]
        assert len(ids) == len(set(ids))
        for at, (cursor, _) in enumerate(whole[:-1]):
            rest = await until_title(it, cursor, "The end")
            assert rest == whole[at + 1 :]


async def chopped(it: Stage, most: list[int], title: str) -> list[tuple[str, Event]]:
    """The same stream as somebody sees it whose connection breaks after so many frames, again and again."""
    seen: list[tuple[str, Event]] = []
    cursor = "0"
    for count in itertools.cycle(most):
        chunks = cast("AsyncGenerator[bytes, None]", await follow_thread(it.services, it.owner, it.thread_id, cursor))
        async with aclosing(chunks):
            left = count
            async for frame in frames(chunks):
                seen.append(frame)
                cursor = frame[0]
                event = frame[1]
                if event["event"] == "thread.updated" and event["data"]["thread"]["title"] == title:
                    return seen
                left -= 1
                if left == 0:
                    break
    raise AssertionError("never ends")


async def test_live_readers_whose_connections_break_see_each_event_once(db: Database, tmp_path: Path) -> None:
    gate = anyio.Event()
    turns = [
        turn("One two three. ", Call("look", {}), WaitFor(gate)),
        turn("Four five six seven."),
        turn("Eight."),
        turn("Nine ten."),
    ]
    async with stage(db, tmp_path, turns, FakeTool("look"), settings=ASKING) as it:
        views: dict[str, list[tuple[str, Event]]] = {}

        async def watch(name: str, most: list[int]) -> None:
            views[name] = await chopped(it, most, "The end")

        async with anyio.create_task_group() as group:
            for most in ([1], [2, 7], [5, 1, 3], [10_000]):
                group.start_soon(watch, str(most), most)
            first = await it.start()
            second = await it.start("And then?", on_busy="enqueue")
            gate.set()
            approval = (await it.until(first.run_id, "approval.requested"))["data"]["approval"]
            await it.until_status(first.run_id, "awaiting_approval")
            third = await it.start("And at last?", on_busy="enqueue")
            await decide_approval(it.services, it.owner, approval["id"], "approve")
            for started in (first, second, third):
                assert await it.ended(started.run_id) == "completed"
            await rename_thread(it.services, it.owner, it.thread_id, "The end")
        later = [event for _, event in await until_title(it, "0", "The end")]
        in_order = [first.run_id, second.run_id, third.run_id]
        for view in views.values():
            events = [event for _, event in view]
            ids = [event["id"] for event in events]
            assert len(ids) == len(set(ids))
            assert sorted(ids) == sorted(event["id"] for event in later)
            ended: list[str] = []
            for event in events:
                if event["event"] == "stream.ended":
                    ended.append(event["data"]["run_id"])
                if event["event"] == "thread.updated" and (named := event["data"]["thread"]["active_run_id"]):
                    assert set(in_order[: in_order.index(named)]) <= set(ended)  # no run before the last has ended
            assert ended == in_order
            state, whole = ThreadFold(), ThreadFold()
            for event in events:
                apply_to_thread(state, event)
            for event in later:
                apply_to_thread(whole, event)
            assert asdict(state) == asdict(whole)
            assert [m["id"] for m in state.messages] == [m.id for m in await it.messages()]


@pytest.mark.parametrize("cursor", ["x", "-1", "1~", "1~run_x:1", "²", "", "1" * 19, "1~run_" + "0" * 26 + ":1"])
async def test_a_cursor_that_was_never_given_out_is_refused(db: Database, tmp_path: Path, cursor: str) -> None:
    async with stage(db, tmp_path, [], working=False) as it:
        with pytest.raises(CursorUnknown):
            await follow_thread(it.services, it.owner, it.thread_id, cursor)


async def test_a_cursor_beyond_what_can_have_been_sent_is_refused(db: Database, tmp_path: Path) -> None:
    async with stage(db, tmp_path, [turn("Hi.")]) as it:
        started = await it.start()
        await it.ended(started.run_id)
        last = (await it.events(started.run_id))[-1]["sequenceNumber"]
        assert await follow_run(it.services, it.owner, started.run_id, str(last)) is None
        for cursor in (str(last + 1), "9" * 18, "x", "1~2"):
            with pytest.raises(CursorUnknown):
                await follow_run(it.services, it.owner, started.run_id, cursor)
        for cursor in ("1000", f"1~{started.run_id}:{last + 1}"):
            with pytest.raises(CursorUnknown):
                await follow_thread(it.services, it.owner, it.thread_id, cursor)
        other = await db.write(make_thread, it.project_id, it.owner)
        with pytest.raises(CursorUnknown):
            await follow_thread(it.services, it.owner, other, f"0~{started.run_id}:1")
        with pytest.raises(CursorUnknown):
            await follow_project(it.services, it.owner, it.project_id, "1000")


async def test_who_is_here_is_shown_without_a_cursor_and_never_logged(db: Database, tmp_path: Path) -> None:
    gate = anyio.Event()
    async with stage(db, tmp_path, [turn("Hello ", WaitFor(gate), "there.")]) as it:
        whisper = b"event: presence\ndata: {}\n\n"
        chunks = await follow_thread(it.services, it.owner, it.thread_id, "0")
        started = await it.start()
        seen = b""
        while b"text.delta" not in seen:
            seen += await anext(chunks)
        it.services.hub.whisper(it.thread_id, "presence", Nothing())
        while whisper not in seen:
            seen += await anext(chunks)
        gate.set()
        while b"stream.ended" not in seen:
            seen += await anext(chunks)
        assert seen.count(whisper) == 1
        later = await it.thread_events("0", "stream.ended")
        assert all("presence" not in event["event"] for _, event in later)
        await it.ended(started.run_id)


async def test_a_reader_who_takes_nothing_holds_up_nobody(db: Database, tmp_path: Path) -> None:
    words = "word " * 3_000
    async with stage(db, tmp_path, [turn(words)]) as it:
        started = await it.start()
        chunks = await follow_thread(it.services, it.owner, it.thread_id, "0")
        await anext(chunks)  # and then nothing more is read for a while
        assert await it.ended(started.run_id) == "completed"
        state = ThreadFold()
        async for _, event in frames(chunks):
            apply_to_thread(state, event)
            if event["event"] == "stream.ended":
                break
        assert state.runs[started.run_id].parts[0]["text"].split() == words.split()
