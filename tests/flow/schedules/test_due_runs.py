"""Schedules come due: each due time starts at most one run, and what refuses it is said once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from outlast.base.errors import IdempotencyMismatch
from outlast.base.schedule_errors import ScheduleSkipped
from outlast.kernel.agents.flow import flow
from outlast.kernel.limits.settings import LimitSettings
from outlast.kernel.projects import store as projects
from outlast.kernel.projects.rules import Role
from outlast.kernel.runs import store as run_store
from outlast.kernel.runs.actions import list_runs, read_run
from outlast.kernel.runs.cancel import request_cancel
from outlast.kernel.runs.tables import runs
from outlast.kernel.schedules import actions, store
from outlast.kernel.schedules.tables import schedules
from outlast.kernel.settings import Settings
from outlast.kernel.threads.actions import delete_thread, list_messages
from outlast.testing.agents import FakeAgent
from tests.factories import join, make_user
from tests.flow.schedules.rig import DAY_S, HOUR_S, START, Rig, rig

TO_EIGHT_S = 20 * HOUR_S  # from noon


async def test_a_due_time_starts_one_run_as_its_maker_in_a_thread_of_its_own(database_url: str, tmp_path: Path) -> None:
    async with rig(database_url, tmp_path) as it:
        schedule_id = await it.make()
        await it.later(TO_EIGHT_S - 1)
        assert await it.runs() == []
        await it.later(1)
        (run,) = await it.runs()
        assert (run.started_by, run.profile, run.leg) == (it.owner.user_id, "chat", "ready")
        assert run.trigger == {"type": "schedule", "id": schedule_id, "title": "Morning"}
        summary = (await list_runs(it.services, it.owner)).items[0]
        assert summary.trigger is not None
        assert summary.trigger.title == "Morning"
        assert summary.thread_title == "Morning"
        (message,) = (await list_messages(it.services, it.owner, run.thread_id)).items
        assert [part.type for part in message.parts] == ["notice", "text"]
        await it.later(DAY_S)
        first, second = await it.runs()
        assert first.thread_id != second.thread_id
        shown = await it.read(schedule_id)
        assert shown.last_run is not None
        assert shown.last_run.id == second.id
        assert shown.next_times[0] == "2030-01-04T08:00:00.000Z"
        assert await it.timer(schedule_id) == datetime(2030, 1, 4, 8, tzinfo=UTC)


async def test_two_servers_and_late_timers_start_one_run(database_url: str, tmp_path: Path) -> None:
    async with rig(database_url, tmp_path) as it:
        for minute in range(10):
            await it.make(cron=f"{minute % 2} 8 * * *")
        it.clock.advance(TO_EIGHT_S + 30)
        await it.sweep(servers=3)
        assert len(await it.runs()) == 5
        it.clock.advance(60)
        await it.sweep(servers=3)
        await it.sweep(servers=3)
        assert len(await it.runs()) == 10


async def test_a_crash_before_the_commit_leaves_the_due_time_and_one_after_it_does_not(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with rig(database_url, tmp_path) as it:
        schedule_id = await it.make()
        it.clock.advance(TO_EIGHT_S)

        def fail(*_: Any) -> None:
            raise RuntimeError

        with monkeypatch.context() as patched:
            patched.setattr(store, "set_next", fail)
            with pytest.raises(RuntimeError):
                await it.db.write(lambda tx: _fire(it, tx, schedule_id))
        assert await it.runs() == []
        await it.db.write(lambda tx: _fire(it, tx, schedule_id))
        await it.db.write(lambda tx: _fire(it, tx, schedule_id))
        await it.sweep()
        assert len(await it.runs()) == 1


def _fire(it: Rig, tx: Any, schedule_id: str) -> Any:
    from outlast.kernel.schedules.due_runs import _fire as fire_in

    return fire_in(tx, it.services, schedule_id)


@pytest.mark.parametrize(("on_missed", "expected"), [("skip", 0), ("one", 1)])
async def test_what_was_missed_starts_no_run_or_one(
    database_url: str, tmp_path: Path, on_missed: str, expected: int
) -> None:
    async with rig(database_url, tmp_path) as it:
        schedule_id = await it.make(on_missed=on_missed, cron="0 */2 * * *")
        await it.restart_after(3 * DAY_S + HOUR_S)
        assert len(await it.runs()) == expected
        assert await it.timer(schedule_id) == START + timedelta(days=3, hours=2)
        await it.later(HOUR_S)
        assert len(await it.runs()) == expected + 1


async def test_all_runs_share_a_thread_and_at_most_one_waits(database_url: str, tmp_path: Path) -> None:
    async with rig(database_url, tmp_path) as it:
        schedule_id = await it.make(thread="same", cron="* * * * *")
        for _ in range(3):
            await it.later(60)
        first, second = await it.runs()
        assert first.thread_id == second.thread_id
        assert (first.leg, second.leg, second.after_run_id) == ("ready", "blocked", first.id)
        shown = await it.read(schedule_id)
        assert shown.problem is not None
        assert shown.problem.code == "schedule_skipped"
        assert await it.inbox() == []
        with pytest.raises(ScheduleSkipped):
            await actions.run_schedule(it.services, it.owner, schedule_id)
        await it.db.write(request_cancel, it.services.engine, first.id, "user", it.owner.user_id)
        await it.later(60)
        assert len(await it.runs()) == 3
        assert (await it.read(schedule_id)).problem is None


async def test_a_paused_schedule_has_no_timer_and_misses_nothing(database_url: str, tmp_path: Path) -> None:
    async with rig(database_url, tmp_path) as it:
        schedule_id = await it.make(on_missed="one")
        await actions.change_schedule(it.services, it.owner, schedule_id, {"enabled": False})
        assert await it.timer(schedule_id) is None
        await it.later(3 * DAY_S)
        shown = await actions.change_schedule(it.services, it.owner, schedule_id, {"enabled": True})
        await it.sweep()
        assert await it.runs() == []
        assert shown.next_times[0] == "2030-01-05T08:00:00.000Z"


async def test_a_refusal_is_told_once_and_the_next_due_time_is_tried(database_url: str, tmp_path: Path) -> None:
    async with rig(database_url, tmp_path) as it:
        await it.db.write(lambda tx: tx.execute(sa.text("UPDATE users SET plan = 'starter'")))
        schedule_id = await it.make(cron="* * * * *")
        await it.db.write(lambda tx: tx.update(schedules, {"id": schedule_id}, agent="gone"))
        for _ in range(3):
            await it.later(60)
        assert await it.runs() == []
        shown = await it.read(schedule_id)
        assert shown.enabled
        assert shown.problem is not None
        assert shown.problem.code == "unknown_profile"
        (item,) = await it.inbox()
        assert (item.kind, item.id) == ("schedule", schedule_id)
        assert item.text.startswith("Morning: There is no agent")
        await actions.see_schedule(it.services, it.owner, schedule_id)
        await it.later(60)
        assert await it.inbox() == []
        await it.db.write(lambda tx: tx.update(schedules, {"id": schedule_id}, agent="chat"))
        await it.later(60)
        assert len(await it.runs()) == 1
        assert (await it.read(schedule_id)).problem is None


async def test_rights_are_checked_each_time_and_a_maker_who_left_pauses_it(database_url: str, tmp_path: Path) -> None:
    async with rig(database_url, tmp_path) as it:
        maker = await it.db.write(make_user, "Ben")
        await it.db.write(join, it.project_id, maker, "editor")
        schedule_id = await it.make(actor=maker, cron="* * * * *")
        await it.later(60)
        assert len(await it.runs()) == 1
        await it.db.write(projects.change_role, it.project_id, maker.user_id, Role.VIEWER)
        await it.later(60)
        shown = await it.read(schedule_id)
        assert shown.enabled
        assert shown.problem is not None
        assert shown.problem.code == "forbidden"
        assert [one.kind for one in await it.inbox(maker)] == ["schedule"]
        assert await it.inbox() == []
        await it.db.write(projects.remove_member, it.project_id, maker.user_id)
        await it.later(60)
        shown = await it.read(schedule_id)
        assert not shown.enabled
        assert shown.problem is not None
        assert "has left" in shown.problem.message
        assert await it.timer(schedule_id) is None
        assert len(await it.runs()) == 1


async def test_a_deleted_thread_is_a_problem_until_a_person_runs_it(database_url: str, tmp_path: Path) -> None:
    async with rig(database_url, tmp_path) as it:
        schedule_id = await it.make(thread="same", cron="* * * * *")
        await it.later(60)
        (run,) = await it.runs()
        await it.db.write(lambda tx: tx.update(runs, {"id": run.id}, leg="ended", status="completed"))
        await it.db.write(lambda tx: tx.execute(sa.text("UPDATE threads SET active_run_id = NULL")))
        await delete_thread(it.services, it.owner, run.thread_id)
        await it.later(60)
        shown = await it.read(schedule_id)
        assert shown.problem is not None
        assert "deleted" in shown.problem.message
        started = await actions.run_schedule(it.services, it.owner, schedule_id)
        shown = await it.read(schedule_id)
        assert (shown.problem, shown.thread_id) == (None, started.thread_id)
        assert await it.inbox() == []


async def test_a_limit_of_runs_puts_due_times_off_instead_of_missing_them(database_url: str, tmp_path: Path) -> None:
    settings = Settings(limits=LimitSettings(runs_per_minute_per_user=2))
    async with rig(database_url, tmp_path, settings=settings) as it:
        made = [await it.make() for _ in range(5)]
        it.clock.advance(TO_EIGHT_S)
        for expected in (2, 4, 5):
            await it.sweep()
            assert len(await it.runs()) == expected
            await it.later(61)
        assert {(await it.read(one)).problem for one in made} == {None}
        assert {await it.timer(one) for one in made} == {datetime(2030, 1, 3, 8, tzinfo=UTC)}


async def test_a_person_runs_it_now_as_themselves_and_a_repeated_request_once(
    database_url: str, tmp_path: Path
) -> None:
    async with rig(database_url, tmp_path) as it:
        colleague = await it.db.write(make_user, "Ben")
        await it.db.write(join, it.project_id, colleague, "editor")
        schedule_id = await it.make()
        before = await it.timer(schedule_id)
        first = await actions.run_schedule(it.services, colleague, schedule_id, "key")
        assert await actions.run_schedule(it.services, colleague, schedule_id, "key") == first
        (run,) = await it.runs()
        assert (run.id, run.started_by) == (first.run_id, colleague.user_id)
        assert run.trigger is not None
        assert run.trigger["id"] == schedule_id
        assert await it.timer(schedule_id) == before
        shown = await read_run(it.services, it.owner, run.id)
        assert shown.trigger is not None
        assert shown.trigger.type == "schedule"


async def test_a_flow_needs_no_message(database_url: str, tmp_path: Path) -> None:
    @flow("digest")
    async def digest(ctx: Any) -> str:
        return "done"

    async with rig(database_url, tmp_path, agents=[FakeAgent(), digest]) as it:
        fields = {
            "title": "Digest", "agent": "digest", "message": "", "model": None, "cron": "0 8 * * *", "zone": "UTC",
            "on_missed": "skip", "thread": "new", "enabled": True,
        }  # fmt: skip
        made = await actions.create_schedule(it.services, it.owner, it.project_id, fields)
        await it.later(TO_EIGHT_S)
        (run,) = await it.runs()
        (message,) = (await list_messages(it.services, it.owner, run.thread_id)).items
        assert [part.type for part in message.parts] == ["notice"]
        await actions.create_schedule(it.services, it.owner, it.project_id, fields, "key")
        with pytest.raises(IdempotencyMismatch):
            await actions.create_schedule(it.services, it.owner, it.project_id, fields | {"title": "Other"}, "key")
        assert (await it.read(made.id)).title == "Digest"


async def test_the_end_of_a_project_ends_its_timers(database_url: str, tmp_path: Path) -> None:
    async with rig(database_url, tmp_path) as it:
        schedule_id = await it.make()
        deleted = await it.make(cron="* * * * *")
        await actions.delete_schedule(it.services, it.owner, deleted)
        assert await it.timer(deleted) is None
        await it.db.write(projects.delete_project, it.project_id)
        assert await it.timer(schedule_id) is None
        await it.later(2 * DAY_S)
        assert await it.db.read(lambda tx: run_store.successors(tx, "run_none")) == []
