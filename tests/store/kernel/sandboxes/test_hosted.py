"""Sandboxes that programs ask for, and the snapshots of them, as the tables give them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from outlast.db.database import Database, Tx
from outlast.kernel.sandboxes import hosted, hosted_snapshots, store
from outlast.kernel.sandboxes.checkpoints.store import NewCheckpoint, newest_of
from outlast.kernel.sandboxes.checkpoints.store import add as add_checkpoint
from outlast.kernel.sandboxes.hosted import HostedOrder
from outlast.kernel.sandboxes.tables import workspaces
from tests.factories import make_project, make_user


class Scene:
    """A user with a project and a way to make sandboxes."""

    def __init__(self, tx: Tx, /) -> None:
        self.user = make_user(tx)
        self.project_id = make_project(tx, self.user)

    def add(self, tx: Tx, /, ends_in_s: float = 600, **order: Any) -> str:
        wanted = HostedOrder(timeout_s=600, **order)
        ends_at = tx.now + timedelta(seconds=ends_in_s)
        return hosted.add(tx, self.project_id, self.user.user_id, wanted, ends_at)


async def test_what_was_asked_for_is_found_again(db: Database):
    scene = await db.write(Scene)
    order: dict[str, Any] = {"metadata": {"a": "b"}, "env": {"C": "d"}, "options": {"n": 1}, "on_timeout": "pause"}
    workspace_id = await db.write(lambda tx: scene.add(tx, **order))
    found = await db.read(hosted.find, workspace_id)
    assert found is not None
    assert (found.metadata, found.env, found.options) == ({"a": "b"}, {"C": "d"}, {"n": 1})
    assert (found.on_timeout, found.runs, found.template, found.node_id) == ("pause", True, "base", None)
    assert found.access_token.startswith("sat_")
    assert await db.read(hosted.find, "wsp_other") is None
    assert [one.workspace_id for one in await db.read(hosted.of_project, scene.project_id)] == [workspace_id]


async def test_only_those_that_run_are_due_and_the_next_end_is_told(db: Database):
    scene = await db.write(Scene)
    late, paused, later = [await db.write(scene.add, seconds) for seconds in (-5.0, -5.0, 300.0)]
    assert await db.write(hosted.mark_paused, paused) is True
    assert await db.write(hosted.mark_paused, paused) is False
    due, next_end = await db.read(hosted.due)
    assert [one.workspace_id for one in due] == [late]
    found = await db.read(hosted.find, later)
    assert found is not None
    assert next_end == found.ends_at
    assert await db.read(hosted.running_workspaces) == {late, later}
    assert await db.read(hosted.count_running, scene.project_id) == (2, 2)
    other = await db.write(Scene)
    await db.write(other.add)
    assert await db.read(hosted.count_running, scene.project_id) == (2, 3)
    assert await db.read(hosted.count_running, other.project_id) == (1, 3)


async def test_one_that_is_woken_runs_until_its_new_end(db: Database):
    scene = await db.write(Scene)
    workspace_id = await db.write(scene.add)
    await db.write(hosted.mark_paused, workspace_id)
    await db.write(lambda tx: hosted.run_until(tx, workspace_id, tx.now + timedelta(seconds=60)))
    found = await db.read(hosted.find, workspace_id)
    assert found is not None
    assert found.runs
    assert await db.read(hosted.running_workspaces) == {workspace_id}


async def test_the_newest_machine_says_how_it_sleeps_and_where(db: Database):
    scene = await db.write(Scene)
    workspace_id = await db.write(scene.add)
    for node in ("nod_a", "nod_b"):
        await db.write(store.add, workspace_id, scene.project_id, "local", node)
    found = await db.read(hosted.find, workspace_id)
    assert found is not None
    assert (found.node_id, found.pause_kind) == ("nod_b", None)
    assert len(await db.read(hosted.of_project, scene.project_id)) == 1


async def test_a_snapshot_outlives_its_sandbox_and_its_files_are_shared(db: Database):
    scene = await db.write(Scene)
    source = await db.write(scene.add)
    tree = NewCheckpoint(source, "fork", "f" * 64, 3, 300)
    await db.write(lambda tx: add_checkpoint(tx, tree, tx.now))
    made = await db.write(hosted_snapshots.add, scene.project_id, source, "base", "mine")
    await db.write(lambda tx: store.give_up(tx, scene.project_id, workspace_id=source))
    assert await db.read(hosted.find, source) is None
    by_id, by_name = [
        await db.read(hosted_snapshots.find, scene.project_id, named) for named in (made.workspace_id, "mine")
    ]
    assert by_id == by_name == made
    copy = await db.write(scene.add)
    await db.write(hosted_snapshots.copy_files, made.workspace_id, copy)
    kept = await db.read(newest_of, copy)
    assert kept is not None
    assert (kept.tree, kept.files) == ("f" * 64, 3)
    where = sa.select(workspaces.c.evicted_at).where(workspaces.c.id == copy)
    assert await db.read(lambda tx: tx.execute(where).scalar()) is not None
    assert await db.read(hosted_snapshots.of_project, scene.project_id, source, None) == [made]
    assert await db.read(hosted_snapshots.of_project, scene.project_id, None, "other") == []


async def test_a_copy_of_no_files_has_none(db: Database):
    scene = await db.write(Scene)
    source, copy = await db.write(scene.add), await db.write(scene.add)
    await db.write(hosted_snapshots.copy_files, source, copy)
    assert await db.read(newest_of, copy) is None
