"""Whom work is done for, and the log of secrets in use, on both databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest

from outlast.base.clock import SystemClock
from outlast.base.errors import NotFound, StorageUnavailable
from outlast.base.ids import new_id
from outlast.db.database import Database, Tx
from outlast.kernel.sandboxes.egress import store, uses
from outlast.kernel.sandboxes.egress.actions import list_secret_uses
from outlast.kernel.sandboxes.egress.store import Use
from outlast.kernel.sandboxes.egress.uses import UseLog
from outlast.kernel.sandboxes.tables import workspaces
from outlast_sandbox.egress.http1 import RequestHead
from outlast_sandbox.egress.rules import Target
from tests.factories import make_project, make_run, make_services, make_thread, make_user

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def make_workspace(tx: Tx, project_id: str, thread_id: str) -> str:
    row = {"id": new_id("workspace"), "project_id": project_id, "created_at": tx.now, "last_used_at": tx.now}
    tx.execute(workspaces.insert().values(**row, owner_type="thread", owner_id=thread_id))
    return str(row["id"])


async def test_work_is_done_for_whoever_started_the_run_at_work(db: Database) -> None:
    def story(tx: Tx) -> list[str | None]:
        ada, bob, eve = (make_user(tx, name) for name in ("Ada", "Bob", "Eve"))
        project_id = make_project(tx, ada, editor=bob)
        thread_id = make_thread(tx, project_id, eve)
        workspace = make_workspace(tx, project_id, thread_id)
        place = {"workspace_id": workspace}
        told = [store.user_of(tx, "wsp_none"), store.user_of(tx, workspace)]
        make_run(tx, thread_id, ada, leg="ended", status="completed", created_at=NOW, **place)
        make_run(tx, thread_id, bob, leg="ended", status="completed", created_at=NOW + timedelta(1), **place)
        told.append(store.user_of(tx, workspace))
        make_run(tx, thread_id, ada, leg="held", created_at=NOW - timedelta(1), **place)
        told.append(store.user_of(tx, workspace))
        names = {actor.user_id: actor.name for actor in (ada, bob, eve)}
        return [names[user] if user else None for user in told]

    assert await db.write(story) == [None, "Eve", "Bob", "Ada"]


def use(project_id: str, number: int, **changed: str) -> Use:
    known = {"sandbox_id": "sbx_1", "secret": "A_KEY", **changed}
    return Use(project_id, known["sandbox_id"], "usr_1", known["secret"], "api.example", "GET", f"/{number}", 200, NOW)


async def test_uses_are_listed_newest_first_page_by_page_to_editors(db: Database, tmp_path: Path) -> None:
    services = make_services(db, tmp_path)
    ada = await db.write(make_user)
    eve = await db.write(make_user, "Eve")
    project_id = await db.write(make_project, ada)
    lines = [use(project_id, number) for number in range(5)]
    await db.write(store.add_uses, [*lines, use(project_id, 5, secret="B_KEY", sandbox_id="sbx_2")])
    wanted: dict[str, object] = {"before": None, "limit": 2, "sandbox_id": None, "secret": None}
    pages = []
    while True:
        found = await list_secret_uses(services, ada, project_id, **wanted)  # type: ignore[arg-type]  # as above
        pages.append([item.path for item in found.items])
        if found.next is None:
            break
        wanted["before"] = int(found.next)
    assert pages == [["/5", "/4"], ["/3", "/2"], ["/1", "/0"]]
    cases: list[tuple[dict[str, object], list[str]]]
    cases = [({"secret": "B_KEY"}, ["/5"]), ({"sandbox_id": "sbx_1", "limit": 1}, ["/4"])]
    for only, paths in cases:
        wanted = {"before": None, "limit": 9, "sandbox_id": None, "secret": None, **only}
        found = await list_secret_uses(services, ada, project_id, **wanted)  # type: ignore[arg-type]  # as above
        assert [item.path for item in found.items] == paths
    with pytest.raises(NotFound):
        await list_secret_uses(services, eve, project_id, before=None, limit=1, sandbox_id=None, secret=None)


async def test_lines_of_a_project_that_is_gone_are_dropped_and_take_no_other_along(db: Database) -> None:
    ada = await db.write(make_user)
    project_id = await db.write(make_project, ada)
    await db.write(store.add_uses, [use("prj_gone", 1), use(project_id, 2)])
    assert [kept.path for kept in await db.read(store.uses_of, project_id, 9, None, None, None, "")] == ["/2"]


async def test_while_the_log_cannot_be_written_a_bounded_number_of_requests_goes_on_and_none_is_lost(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uses, "MAX_WAITING", 3)
    ada = await db.write(make_user)
    project_id = await db.write(make_project, ada)
    log = UseLog(db, SystemClock())
    write = db.write
    head = RequestHead(b"GET", b"/v1?token=hidden", 1, [], {})
    target = Target("api.example", 443, True)

    async def broken(*_: object, **__: object) -> None:
        raise StorageUnavailable("not now")

    monkeypatch.setattr(db, "write", broken)
    one = log.of("sbx_1", project_id)
    for _ in range(3):
        await one.record(["A_KEY"], "usr_1", target, head, None)
    with pytest.raises(StorageUnavailable):
        await log.flush()
    with anyio.move_on_after(0.05) as waited:
        await one.record(["A_KEY"], "usr_1", target, head, None)
    assert waited.cancelled_caught
    monkeypatch.setattr(db, "write", write)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one.record, ["A_KEY"], "usr_1", target, head, 200)
        await anyio.wait_all_tasks_blocked()
        await log.flush()
    await log.flush()
    kept = await db.read(store.uses_of, project_id, 9, None, None, None, "")
    assert [line.status for line in kept] == [200, None, None, None]
    assert {line.path for line in kept} == {"/v1"}
