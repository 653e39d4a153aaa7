"""Checkpoints taken, folders given up and brought back, on both databases."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import orjson
import pytest
import sqlalchemy as sa

from outlast.base.errors import NotFound, ThreadBusy
from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.runs.store import hold_run
from outlast.kernel.runs.tables import runs
from outlast.kernel.sandboxes.checkpoints import keeper as keeping
from outlast.kernel.sandboxes.checkpoints import store
from outlast.kernel.sandboxes.checkpoints import workspaces as places
from outlast.kernel.sandboxes.rules import Life, PauseKind, State
from outlast.kernel.sandboxes.seeds import fork_files
from outlast.kernel.sandboxes.store import SandboxRecord, give_up
from outlast.kernel.sandboxes.tables import sandboxes, workspaces
from outlast.kernel.streams.log_store import read_all
from outlast.kernel.threads.rows import ThreadRow
from outlast.kernel.threads.tables import threads
from outlast_sandbox.interface import SandboxSpec
from outlast_sandbox.providers.memory import MemoryProvider
from tests.factories import say
from tests.store.kernel.sandboxes.checkpoints.conftest import NODE, Desk

LONG = timedelta(days=1)
STOPPED = Life(State.PAUSED, PauseKind.STOPPED)


async def test_what_changed_is_kept_and_told_to_the_thread(both: Desk) -> None:
    both.write(a_txt="one", src__b_txt="two")
    first = await both.take()
    assert (first.files, first.size_bytes, first.parent_id) == (2, 6, None)
    assert await both.keeper.take(both.workspace_id, "tool") is None
    both.write(a_txt="three")
    second = await both.take()
    assert second.parent_id == first.id
    assert (await both.place()).checkpoint_id == second.id
    lines = await both.db.read(read_all, both.thread_id)
    told = [orjson.loads(line) for _, line in lines if b"checkpoint.created" in line]
    assert [event["data"]["checkpoint"]["id"] for event in told] == [first.id, second.id]


async def test_equal_files_have_equal_trees_wherever_they_come_from(desk: Desk) -> None:
    desk.write(a_txt="one", b_txt="two")
    first = await desk.take()
    desk.write(a_txt="other")
    await desk.take()
    desk.write(a_txt="one")
    third = await desk.take()
    before, after = await desk.keeper.tree(first), await desk.keeper.tree(third)
    assert before.same_as(after)


async def test_a_restarted_server_reads_only_what_it_has_not_seen(desk: Desk) -> None:
    desk.write(a_txt="one", b_txt="two")
    first = await desk.take()
    desk.write(b_txt="three")
    second = await desk.another().take(desk.workspace_id, "tool")
    assert second is not None
    old, new = await desk.keeper.tree(first), await desk.keeper.tree(second)
    assert old.by_path["a.txt"] == new.by_path["a.txt"]


async def test_two_wishes_at_once_are_one_checkpoint(desk: Desk) -> None:
    desk.write(a_txt="one")
    run_id = await desk.run()
    desk.keeper.changed(desk.workspace_id, run_id, new_id("effect"))
    desk.keeper.changed(desk.workspace_id, run_id, new_id("effect"))
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(desk.keeper.settled, desk.workspace_id)
    assert len(await desk.ids()) == 1


async def test_a_failure_costs_the_checkpoint_and_nothing_else(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write(a_txt="one")
    await desk.db.write(places.mark_changed, desk.workspace_id)

    async def broken(*_: object) -> None:
        raise RuntimeError("a bug")

    with monkeypatch.context() as patch:
        patch.setattr(keeping, "save_folder", broken)
        desk.keeper.changed(desk.workspace_id, None, None)
        await desk.keeper.settled(desk.workspace_id)
    assert await desk.ids() == []
    assert (await desk.place()).changed_at is not None  # so it is tried again
    await desk.pass_time(timedelta(minutes=1))
    await desk.keeper.look_after()
    assert len(await desk.ids()) == 1


async def test_what_is_wished_for_is_taken_beside_whatever_goes_on(desk: Desk) -> None:
    desk.write(a_txt="one")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.keeper.run)
        await anyio.wait_all_tasks_blocked()
        desk.keeper.changed(desk.workspace_id, None, None)
        with anyio.fail_after(30):
            while not await desk.ids():
                await anyio.lowlevel.checkpoint()
            await desk.keeper.settled(desk.workspace_id)
        tasks.cancel_scope.cancel()
    assert len(await desk.ids()) == 1


async def test_the_last_checkpoint_of_a_run_belongs_to_its_answer(both: Desk) -> None:
    run_id = await both.run()
    both.write(a_txt="one")
    await both.take(run_id)
    both.write(a_txt="two")
    second = await both.take(run_id)

    def end(tx: Tx) -> str:
        hold_run(tx, run_id)
        message_id = say(tx, both.thread_id, None, "done")
        store.bind(tx, run_id, message_id)
        tx.execute(sa.update(runs).where(runs.c.id == run_id).values(leg="ended", answer_id=message_id))
        return message_id

    message_id = await both.db.write(end)
    assert (await both.db.read(store.checkpoint, second.id)).message_id == message_id
    both.write(a_txt="three")  # what a cut call still wrote
    third = await both.take(run_id)
    assert third.message_id == message_id
    assert (await both.db.read(store.checkpoint, second.id)).message_id is None


async def test_a_change_during_the_look_is_not_taken_for_kept(desk: Desk) -> None:
    desk.write(a_txt="one")
    await desk.db.write(places.mark_changed, desk.workspace_id)
    await desk.take()
    assert (await desk.place()).changed_at is None
    await desk.db.write(places.mark_changed, desk.workspace_id)
    since = (await desk.place()).changed_at
    assert since is not None
    await desk.db.write(places.mark_kept, desk.workspace_id, since - timedelta(milliseconds=1))
    assert (await desk.place()).changed_at is not None


async def test_what_a_killed_run_left_is_saved_later(both: Desk) -> None:
    run_id = await both.run(leg="ended", status="cancelled")
    both.write(a_txt="one")
    await both.db.write(places.mark_changed, both.workspace_id)
    await both.keeper.look_after()
    assert await both.ids() == []  # somebody may still be about to
    await both.pass_time(timedelta(minutes=1))
    await both.keeper.look_after()
    (only,) = await both.ids()
    assert (await both.db.read(store.checkpoint, only)).run_id == run_id
    assert (await both.place()).changed_at is None


async def test_a_folder_that_nobody_uses_goes_and_comes_back_at_the_next_use(both: Desk) -> None:
    both.write(a_txt="one", src__b_txt="two")
    await both.pass_time(LONG)
    await both.keeper.look_after()
    assert not both.folder.exists()
    assert (await both.place()).evicted_at is not None
    assert len(await both.ids()) == 1  # taken before it went
    await both.another().bring_back(both.workspace_id)
    assert both.read() == {"a.txt": "one", "src/b.txt": "two"}
    assert (await both.place()).evicted_at is None
    assert await both.evict() is False  # it was used just now


async def test_a_folder_stays_until_it_was_unused_for_as_long_as_the_settings_say(desk: Desk) -> None:
    desk.write(a_txt="one")
    await desk.take()
    await desk.pass_time(timedelta(minutes=29))
    assert not await desk.evict()
    await desk.pass_time(timedelta(minutes=1))
    assert await desk.evict()


@pytest.mark.parametrize("leg", ["blocked", "ready", "held", "parked"])
async def test_a_folder_stays_while_a_run_is_open(desk: Desk, leg: str) -> None:
    desk.write(a_txt="one")
    await desk.run(leg=leg)
    await desk.pass_time(LONG)
    await desk.keeper.look_after()
    assert desk.read() == {"a.txt": "one"}
    assert (await desk.place()).evicted_at is None


async def test_a_folder_stays_while_its_sandbox_is_awake_and_goes_when_it_is_stopped(both: Desk) -> None:
    both.write(a_txt="one")

    def awake(tx: Tx) -> None:
        moments = {"created_at": tx.now, "last_used_at": tx.now}
        own = {"id": "sbx_1", "workspace_id": both.workspace_id, "project_id": both.project_id}
        tx.execute(sa.insert(sandboxes).values(**own, **moments, provider="local", state="ready"))

    await both.db.write(awake)
    await both.pass_time(LONG)
    for state, kind in (("ready", None), ("paused", "frozen"), ("resuming", None)):
        await both.db.write(_set_sandbox, state, kind)
        assert not await both.evict()
    await both.db.write(_set_sandbox, "paused", "stopped")
    assert await both.evict()


async def test_a_folder_that_cannot_be_saved_is_not_given_up(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write(a_txt="one")
    monkeypatch.setattr(keeping, "MEBIBYTE", 0)  # nothing fits into a checkpoint
    await desk.pass_time(LONG)
    await desk.keeper.look_after()
    assert desk.read() == {"a.txt": "one"}


async def test_a_lost_folder_is_restored_before_the_next_use(desk: Desk) -> None:
    desk.write(a_txt="one")
    await desk.take()
    shutil.rmtree(desk.folder)
    assert await desk.keeper.take(desk.workspace_id, "tool") is None  # that is no change
    await desk.keeper.bring_back(desk.workspace_id)
    assert desk.read() == {"a.txt": "one"}


async def test_a_killed_restoring_is_done_again(desk: Desk) -> None:
    desk.write(a_txt="one", b_txt="two")
    await desk.take()
    await desk.db.write(places.away, desk.workspace_id)  # what the killed server had recorded
    desk.write(a_txt="ha")  # and done
    (desk.folder / "b.txt").unlink()
    await desk.another().bring_back(desk.workspace_id)
    assert desk.read() == {"a.txt": "one", "b.txt": "two"}


async def test_a_folder_that_had_not_reached_the_disk_when_the_machine_went_down_is_written_again(desk: Desk) -> None:
    desk.write(a_txt="one")
    await desk.take()
    shutil.rmtree(desk.folder)
    await desk.keeper.bring_back(desk.workspace_id)
    desk.write(a_txt="")  # what the power cut left of it
    await desk.another().bring_back(desk.workspace_id)
    assert desk.read() == {"a.txt": ""}  # the server alone was started anew
    (note,) = (desk.data_dir / "checkpoints").glob("*.unsynced")
    note.write_text("another start of the machine")
    assert await desk.keeper.take(desk.workspace_id, "tool") is None
    await desk.another().bring_back(desk.workspace_id)
    assert desk.read() == {"a.txt": "one"}
    await desk.keeper.look_after()
    assert not note.exists()
    assert desk.read() == {"a.txt": "one"}


async def test_another_node_restores_and_the_first_ones_old_folder_is_not_believed(desk: Desk, tmp_path: Path) -> None:
    desk.write(a_txt="one")
    await desk.take()
    elsewhere = tmp_path / "elsewhere"
    other = desk.another("nod_other", data_dir=elsewhere)
    await other.bring_back(desk.workspace_id)
    there = elsewhere / "workspaces" / desk.workspace_id
    assert desk.read(there) == {"a.txt": "one"}
    (there / "a.txt").write_text("newer")
    assert await other.take(desk.workspace_id, "tool") is not None
    assert await desk.keeper.take(desk.workspace_id, "tool") is None
    assert not await desk.evict()
    await desk.keeper.bring_back(desk.workspace_id)
    assert desk.read() == {"a.txt": "newer"}


async def test_restoring_keeps_what_was_there_and_can_itself_be_undone(desk: Desk) -> None:
    desk.write(a_txt="one")
    first = await desk.take()
    desk.write(a_txt="two", b_txt="new")
    restored = await desk.keeper.restore(first)
    assert desk.read() == {"a.txt": "one"}
    assert (restored.reason, restored.tree) == ("restore", first.tree)
    ids = await desk.ids()
    assert len(ids) == 3
    between = await desk.db.read(store.checkpoint, ids[1])
    await desk.keeper.restore(between)
    assert desk.read() == {"a.txt": "two", "b.txt": "new"}


async def test_restoring_an_evicted_workspace_brings_the_old_files_at_the_next_use(desk: Desk) -> None:
    desk.write(a_txt="one")
    first = await desk.take()
    desk.write(a_txt="two")
    await desk.pass_time(LONG)
    await desk.keeper.look_after()
    await desk.keeper.restore(first)
    assert not desk.folder.exists()
    await desk.keeper.bring_back(desk.workspace_id)
    assert desk.read() == {"a.txt": "one"}


async def test_restoring_is_refused_while_a_run_works_there(desk: Desk) -> None:
    desk.write(a_txt="one")
    first = await desk.take()
    desk.write(a_txt="two")
    run_id = await desk.run(leg="parked", status="awaiting_approval")
    with pytest.raises(ThreadBusy) as refused:
        await desk.keeper.restore(first)
    assert refused.value.fields["active_run_id"] == run_id
    assert desk.read() == {"a.txt": "two"}


async def test_reading_while_it_sleeps_sees_what_is_in_no_checkpoint_yet(desk: Desk) -> None:
    desk.write(a_txt="one")
    await desk.take()
    desk.write(a_txt="two")
    await desk.db.write(places.mark_changed, desk.workspace_id)
    current = await desk.keeper.current(desk.workspace_id)
    assert current is not None
    assert (await desk.keeper.tree(current)).by_path["a.txt"].size == 3
    assert len(await desk.ids()) == 2
    assert await desk.keeper.current(desk.workspace_id) == current
    desk.write(a_txt="what a service wrote before it was stopped")
    desk.keeper.asleep(
        SandboxRecord(
            id="sbx_1",
            workspace_id=desk.workspace_id,
            project_id=desk.project_id,
            provider="local",
            node_id=NODE,
            ref="",
            state="paused",
            pause_kind="stopped",
            snapshot=None,
            created_at=datetime.now(UTC),
            last_used_at=datetime.now(UTC),
            restarted_at=None,
            ended_at=None,
            fence=1,
        )
    )
    assert await desk.keeper.current(desk.workspace_id) != current


async def test_a_deleted_workspace_takes_its_checkpoints_along(both: Desk) -> None:
    both.write(a_txt="one")
    taken = await both.take()
    await both.db.write(give_up, both.project_id, both.thread_id)
    assert await both.keeper.take(both.workspace_id, "tool") is None
    with pytest.raises(NotFound):
        await both.db.read(store.checkpoint, taken.id)
    new = store.NewCheckpoint(both.workspace_id, "tool", "0" * 64, 0, 0)
    with pytest.raises(NotFound):
        await both.db.write(store.add, new, datetime.now(UTC))


async def test_files_on_another_machine_are_kept_and_given_to_the_next_sandbox(desk: Desk, tmp_path: Path) -> None:
    keeper = desk.another(local=False)
    async with MemoryProvider() as provider:
        first = await provider.create(SandboxSpec("sbx_1", tmp_path / "one"))
        await first.write_files([("a.txt", b"one"), ("src/b.txt", b"two")])
        desk.sandbox = first
        taken = await keeper.take(desk.workspace_id, "tool")
        assert taken is not None
        assert await keeper.take(desk.workspace_id, "tool") is None
        await first.write_files([("a.txt", b"three")])
        await keeper.leave(desk.workspace_id, first)
        second = await provider.create(SandboxSpec("sbx_2", tmp_path / "two"))
        await keeper.fill(desk.workspace_id, second)
        assert await second.read_file("a.txt", 100) == b"three"
        assert await second.read_file("src/b.txt", 100) == b"two"


async def test_a_fork_has_the_files_and_the_history_up_to_its_message(both: Desk) -> None:
    answers = []
    for content in ("one", "two", "three"):
        both.write(a_txt=content)
        answers.append(await both.answered(await both.take()))
    fork_id = await both.thread()

    def fork(tx: Tx) -> str | None:
        parent = tx.find(ThreadRow, threads, {"id": both.thread_id})
        assert parent is not None
        for _ in answers:
            say(tx, fork_id, None, "copied")
        fork_files(tx, parent._replace(workspace_id=both.workspace_id), fork_id, answers[1])
        mine = sa.select(workspaces.c.id).where(workspaces.c.owner_id == fork_id)
        found: str | None = tx.execute(mine).scalar()
        return found

    workspace_id = await both.db.write(fork)
    assert workspace_id is not None
    folder = both.data_dir / "workspaces" / workspace_id
    assert not folder.exists()
    await both.keeper.bring_back(workspace_id)
    assert both.read(folder) == {"a.txt": "two"}
    assert both.read() == {"a.txt": "three"}

    def history(tx: Tx) -> list[str]:
        return [one.reason for one in store.list_of(tx, workspace_id, None, 10)]

    assert sorted(await both.db.read(history)) == ["fork", "tool"]


def _set_sandbox(tx: Tx, state: str, pause_kind: str | None) -> None:
    tx.update(sandboxes, {"id": "sbx_1"}, state=state, pause_kind=pause_kind)
