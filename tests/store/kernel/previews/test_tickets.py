"""Tickets and cookies of previews, on both databases."""

from __future__ import annotations

from datetime import timedelta

import anyio
import sqlalchemy as sa

from outlast.base.ids import new_id
from outlast.db.database import Database, Tx
from outlast.kernel.accounts.secrets import hash_of
from outlast.kernel.previews import tickets
from outlast.kernel.previews.rows import PreviewGrantRow
from outlast.kernel.previews.tables import preview_grants
from outlast.kernel.sandboxes.tables import sandboxes, workspaces
from tests.factories import Team


def add_sandboxes(tx: Tx, team: Team, count: int = 1) -> tuple[str, list[str]]:
    """A workspace and the sandboxes it had, one after the other."""
    workspace_id, ids = new_id("workspace"), [new_id("sandbox") for _ in range(count)]
    common = {"project_id": team.project_id, "created_at": tx.now, "last_used_at": tx.now}
    owner = {"owner_type": "thread", "owner_id": team.thread_id}
    tx.execute(sa.insert(workspaces).values(id=workspace_id, **owner, **common))
    for sandbox_id in ids:
        own = {"id": sandbox_id, "workspace_id": workspace_id, "provider": "local", "state": "ready"}
        tx.execute(sa.insert(sandboxes).values(**own, **common))
    return workspace_id, ids


async def test_a_ticket_is_good_once_and_for_its_port_and_workspace(db: Database) -> None:
    def run(tx: Tx) -> None:
        team = Team(tx)
        workspace_id, (first, second) = add_sandboxes(tx, team, 2)
        secret, expires_at = tickets.add_ticket(tx, team.viewer, workspace_id, 3000, "http://localhost:8400")
        assert expires_at == tx.now + timedelta(seconds=60)
        assert tickets.find_grant(tx, "ticket", secret, first, 3001) is None
        assert tickets.find_grant(tx, "ticket", secret, new_id("sandbox"), 3000) is None
        assert tickets.find_grant(tx, "cookie", secret, first, 3000) is None
        grant = tickets.find_grant(tx, "ticket", secret, first, 3000)
        assert grant is not None
        assert (grant.actor.user_id, grant.row.opener) == (team.viewer.user_id, "http://localhost:8400")
        value = tickets.exchange(tx, grant.row)
        assert value is not None
        assert tickets.exchange(tx, grant.row) is None
        assert tickets.find_grant(tx, "ticket", secret, first, 3000) is None
        for sandbox_id in (first, second):  # also the one that took the first one's place
            assert tickets.find_grant(tx, "cookie", value, sandbox_id, 3000) is not None

    await db.write(run)


async def test_grants_run_out_and_are_swept_and_no_secret_is_stored(db: Database) -> None:
    def run(tx: Tx) -> None:
        team = Team(tx)
        workspace_id, (sandbox_id,) = add_sandboxes(tx, team)
        late, _ = tickets.add_ticket(tx, team.owner, workspace_id, 3000, "")
        tx.now += timedelta(seconds=60)
        assert tickets.find_grant(tx, "ticket", late, sandbox_id, 3000) is None
        secret, _ = tickets.add_ticket(tx, team.owner, workspace_id, 3000, "")
        stored = tx.rows(PreviewGrantRow, sa.select(preview_grants))
        assert [row.hash for row in stored] == [hash_of(secret)]
        assert secret not in str(stored)
        grant = tickets.find_grant(tx, "ticket", secret, sandbox_id, 3000)
        assert grant is not None
        value = tickets.exchange(tx, grant.row)
        assert value is not None
        tx.now += timedelta(days=7)
        assert tickets.find_grant(tx, "cookie", value, sandbox_id, 3000) is None

    await db.write(run)


async def test_of_two_browsers_with_one_ticket_one_gets_in(db: Database) -> None:
    def prepare(tx: Tx) -> tuple[str, str]:
        team = Team(tx)
        workspace_id, (sandbox_id,) = add_sandboxes(tx, team)
        return tickets.add_ticket(tx, team.editor, workspace_id, 3000, "")[0], sandbox_id

    secret, sandbox_id = await db.write(prepare)
    values: list[str | None] = []

    def redeem(tx: Tx) -> str | None:
        grant = tickets.find_grant(tx, "ticket", secret, sandbox_id, 3000)
        return None if grant is None else tickets.exchange(tx, grant.row)

    async def browser() -> None:
        values.append(await db.write(redeem))

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(browser)
    assert len([value for value in values if value is not None]) == 1
