"""What people do on a page reaches the agent: at once, or with all that waits, in order, once; or is taken back."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import anyio
import pytest

from outlast.apps.pages.user_actions import take_back
from outlast.base.errors import IdempotencyMismatch, ModelRejected, OutlastError
from outlast.db.database import Database, Tx
from outlast.kernel.runs.actions import cancel_run, continue_run, retry_run
from outlast.kernel.runs.store import run_of
from outlast.kernel.runs.tables import runs
from outlast.testing.scripted_model import HANG, Fail, WaitFor, turn
from tests.flow.pages.rig import page_stage


async def test_an_action_on_an_idle_page_starts_a_run_for_it(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [turn("Done.")]) as it:
        acted = await it.act("refresh", data={"page": 2})
        assert acted.state == "taken"
        assert await it.ended(acted.run_id) == "completed"
        assert await it.asked() == ['1. Action: refresh Data: {"page":2}']
        (action,) = await it.actions()
        assert (action.state, action.run_id, action.by_name) == ("done", acted.run_id, "Olga")
        assert len(await it.told("page.action")) == 2


async def test_what_is_done_while_a_run_works_waits_and_goes_into_one_next_run_in_order(db: Database, tmp_path: Path):
    gate = anyio.Event()
    async with page_stage(db, tmp_path, [turn("One.", WaitFor(gate), "."), turn("Two.")]) as it:
        first = await it.act("first")
        await it.until(first.run_id, "step.started")
        waiting = [await it.act(name) for name in ("second", "third", "fourth")]
        assert [one.state for one in waiting] == ["waiting"] * 3
        assert len({one.run_id for one in waiting}) == 1
        assert await it.states() == {"first": "taken", "second": "waiting", "third": "waiting", "fourth": "waiting"}
        gate.set()
        await it.ended(waiting[0].run_id)
        assert await it.asked() == [
            "1. Action: first Data: {}",
            "1. Action: second Data: {}\n2. Action: third Data: {}\n3. Action: fourth Data: {}",
        ]
        assert set((await it.states()).values()) == {"done"}
        assert len(it.model.requests) == 2
        assert "3. Action: fourth" in it.model.requests[1].system


async def test_followers_see_a_waiting_runs_message_grow(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [], working=False) as it:
        await it.start("Show my issues")
        await it.act("one")
        await it.act("two")
        told = [line for line in await it.told("message.created") if "Action" in line]
        assert len(told) == 2
        assert told[0].split('"message":{"id":"')[1][:30] == told[1].split('"message":{"id":"')[1][:30]
        assert "2. Action: two" in told[1]


async def test_actions_quickly_one_after_the_other_share_a_run_that_nobody_has_begun(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [], working=False) as it:
        one, two = await it.act("one"), await it.act("two")
        assert one.run_id == two.run_id
        assert (one.state, two.state) == ("taken", "taken")
        assert await it.asked() == ["1. Action: one Data: {}\n2. Action: two Data: {}"]


async def test_an_action_keeps_its_place_behind_a_prompt_that_came_before_it(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [], working=False) as it:
        await it.start("Show my issues")
        early = await it.act("early")
        await it.start("Sort them", on_busy="enqueue")
        late = await it.act("late")
        assert early.run_id != late.run_id
        assert await it.asked() == [
            "Show my issues",
            "1. Action: early Data: {}",
            "Sort them",
            "1. Action: late Data: {}",
        ]


async def test_an_action_waits_for_the_run_queued_last_also_when_that_ones_transaction_began_first(
    db: Database, tmp_path: Path
):
    """On PostgreSQL a start may wait for the thread's row while a later one passes: its moment is then the earlier one,
    and going by it put two runs behind the same one, in an order of their own."""
    async with page_stage(db, tmp_path, [], working=False) as it:
        await it.start("Show my issues")
        last = await it.start("Sort them", on_busy="enqueue")

        def begin_earlier(tx: Tx) -> None:
            tx.update(runs, {"id": last.run_id}, created_at=tx.now - timedelta(hours=1))

        await it.services.db.write(begin_earlier)
        acted = await it.act("refresh")
        before = await it.services.db.read(lambda tx: tx.value(runs.c.after_run_id, {"id": acted.run_id}))
        assert before == last.run_id


async def test_a_repeated_key_gets_the_first_answer_also_when_the_run_has_ended(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [turn("Done.")]) as it:
        first = await it.act("refresh", key="k")
        await it.ended(first.run_id)
        assert await it.act("refresh", key="k") == first
        assert len(await it.actions()) == 1
        with pytest.raises(IdempotencyMismatch):
            await it.act("other", key="k")


async def test_the_same_key_twice_at_once_does_it_once(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [], working=False) as it:
        answers = []

        async def act() -> None:
            answers.append(await it.act("refresh", key="k"))

        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(act)
        assert len(set(answers)) == 1
        assert len(await it.actions()) == 1


async def test_many_actions_at_the_same_moment_are_each_in_one_run_once(db: Database, tmp_path: Path):
    names = [f"a{number}" for number in range(12)]
    async with page_stage(db, tmp_path, [turn("Done.") for _ in names]) as it:
        runs = set()

        async def act(name: str) -> None:
            runs.add((await it.act(name)).run_id)

        async with anyio.create_task_group() as tasks:
            for name in names:
                tasks.start_soon(act, name)
        for run_id in runs:
            assert await it.ended(run_id) == "completed"
        lines = [line.split("Action: ")[1].split(" ")[0] for text in await it.asked() for line in text.split("\n")]
        assert sorted(lines) == sorted(names)
        assert [one.name for one in await it.actions()] == lines
        assert set((await it.states()).values()) == {"done"}


async def test_an_action_that_comes_while_the_run_settles_is_neither_lost_nor_done_twice(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [turn("Done.") for _ in range(40)]) as it:
        acted = [await it.act("a0")]
        for number in range(1, 12):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(it.ended, acted[-1].run_id)
                acted.append(await it.act(f"a{number}"))
        await it.ended(acted[-1].run_id)
        lines = [line.split("Action: ")[1].split(" ")[0] for text in await it.asked() for line in text.split("\n")]
        assert lines == [f"a{number}" for number in range(12)]
        assert set((await it.states()).values()) == {"done"}


async def test_an_action_is_taken_back_while_it_waits(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [], working=False) as it:
        await it.start("Show my issues")
        one, two = await it.act("one"), await it.act("two")
        await take_back(it.services, it.owner, it.page.id, one.action_id)
        await take_back(it.services, it.owner, it.page.id, one.action_id)
        assert await it.asked() == ["Show my issues", "1. Action: two Data: {}"]
        assert await it.states() == {"one": "dropped", "two": "waiting"}
        await take_back(it.services, it.owner, it.page.id, two.action_id)
        run = await it.services.db.read(run_of, two.run_id)
        assert run.status == "cancelled"  # nothing was left for it to do
        assert await it.states() == {"one": "dropped", "two": "dropped"}


async def test_a_queued_run_that_is_cancelled_drops_what_waited_for_it(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [], working=False) as it:
        await it.start("Show my issues")
        acted = await it.act("one")
        await cancel_run(it.services, it.owner, acted.run_id)
        assert await it.states() == {"one": "dropped"}


async def test_a_prompt_that_interrupts_goes_first_and_what_waited_waits_on(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [turn("Hm", HANG), turn("Yes."), turn("Done.")]) as it:
        first = await it.act("one")
        await it.until(first.run_id, "step.started")
        queued = await it.act("two")
        await it.act("three")
        prompt = await it.start("Stop. Show closed ones instead.", on_busy="interrupt")
        waiting = [one for one in await it.actions() if one.name in ("two", "three")]
        assert {one.state for one in waiting} <= {"waiting", "taken"}
        (behind,) = {one.run_id for one in waiting}
        assert behind == queued.run_id
        assert await it.ended(prompt.run_id) == "completed"
        assert await it.ended(behind) == "completed"
        assert await it.states() == {"one": "failed", "two": "done", "three": "done"}
        assert (await it.asked())[-1] == "1. Action: two Data: {}\n2. Action: three Data: {}"


async def test_a_queued_run_that_was_cancelled_and_is_tried_again_does_what_it_waited_to_do(
    db: Database, tmp_path: Path
):
    async with page_stage(db, tmp_path, [turn("Hm", HANG), turn("Done.")]) as it:
        first = await it.act("one")
        await it.until(first.run_id, "step.started")
        queued, back = await it.act("two"), await it.act("three")
        await take_back(it.services, it.owner, it.page.id, back.action_id)
        await cancel_run(it.services, it.owner, queued.run_id)
        await cancel_run(it.services, it.owner, first.run_id)
        again = await retry_run(it.services, it.owner, queued.run_id)
        assert await it.ended(again.run_id) == "completed"
        assert await it.states() == {"one": "failed", "two": "done", "three": "dropped"}


async def test_what_waits_goes_on_when_the_run_before_it_is_cancelled(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [turn("Hm", HANG), turn("Done.")]) as it:
        first = await it.act("one")
        await it.until(first.run_id, "step.started")
        second = await it.act("two")
        await cancel_run(it.services, it.owner, first.run_id)
        assert await it.ended(second.run_id) == "completed"
        assert await it.states() == {"one": "failed", "two": "done"}


@pytest.mark.parametrize("again", [retry_run, continue_run])
async def test_an_action_that_failed_is_done_by_the_run_that_tries_again(db: Database, tmp_path: Path, again: object):
    refused = Fail(ModelRejected("No."))
    async with page_stage(db, tmp_path, [turn("Hm", refused), turn("Done.")]) as it:
        first = await it.act("one")
        assert await it.ended(first.run_id) == "error"
        assert await it.states() == {"one": "failed"}
        second = await again(it.services, it.owner, first.run_id)  # type: ignore[operator]
        assert await it.ended(second.run_id) == "completed"
        (action,) = await it.actions()
        assert (action.state, action.run_id) == ("done", second.run_id)


async def test_two_people_at_once_one_drives_and_the_other_is_told(db: Database, tmp_path: Path):
    async with page_stage(db, tmp_path, [], working=False) as it:
        outcomes: list[str] = []

        async def act(actor: object) -> None:
            try:
                outcomes.append((await it.act("refresh", actor)).state)  # type: ignore[arg-type]
            except OutlastError as error:
                outcomes.append(error.code)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(act, it.owner)
            tasks.start_soon(act, it.team.editor)
        assert sorted(outcomes) == ["taken", "thread_locked"]
