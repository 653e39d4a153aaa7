"""Pages of an inbox, from both databases: nothing twice, nothing missing, and no more rows read than a page holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from outlast.base.errors import CursorUnknown
from outlast.base.ids import new_id
from outlast.db.database import Database, Tx
from outlast.kernel.inbox import actions as inbox
from outlast.kernel.inbox.actions import sources
from outlast.kernel.locks import actions as locks
from outlast.kernel.mentions import store as mentions
from outlast.kernel.mentions.inbox_items import InboxPart
from outlast.kernel.mentions.store import Where
from outlast.kernel.runs.tables import approvals, effects
from tests.factories import Team, list_inbox, make_run, make_services, make_thread, say


def name(tx: Tx, team: Team, count: int) -> None:
    """Mentions of the editor, all at the same moment."""
    for number in range(count):
        message_id = say(tx, team.thread_id, team.owner, f"@Emil {number}")
        place = {"by": team.owner.user_id, "thread_id": team.thread_id}
        mentions.tell(tx, Where(team.project_id, "message", message_id, "hello", **place), [team.editor.user_id])


def ask(tx: Tx, team: Team, count: int) -> None:
    """Approvals of a run, all at the same moment."""
    thread_id = make_thread(tx, team.project_id, team.owner)
    run_id = make_run(tx, thread_id, team.owner, status="awaiting_approval", leg="parked")
    for ordinal in range(count):
        effect = {"id": new_id("effect"), "run_id": run_id, "ordinal": ordinal, "step": 1, "kind": "tool"}
        tx.execute(sa.insert(effects).values(**effect, status="waiting", created_at=tx.now))
        row: dict[str, Any] = {"id": new_id("approval"), "run_id": run_id, "thread_id": thread_id, "kind": "approval"}
        row |= {"effect_id": effect["id"], "status": "open", "tool": "look", "arguments": "{}"}
        tx.execute(sa.insert(approvals).values(**row, created_at=tx.now))


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
async def test_pages_of_several_kinds_put_together_are_the_inbox(db: Database, tmp_path: Path, limit: int) -> None:
    services, team = make_services(db, tmp_path), await db.write(Team)
    for _ in range(2):
        await db.write(name, team, 3)
        await db.write(ask, team, 2)
    await locks.take_lock(services, team.editor, team.thread_id)
    await locks.request_lock(services, team.owner, team.thread_id)
    whole = await list_inbox(services, team.editor)
    assert len(whole) == 11
    read, before = [], None
    while True:
        page = await inbox.read_inbox(services, team.editor, team.project_id, limit, before)
        assert len(page.items) <= limit
        read += page.items
        before = page.next
        if before is None:
            break
        assert "+" not in before, "it stands in addresses as it is"
    assert read == whole


async def test_no_source_reads_more_than_the_page_may_hold(db: Database, tmp_path: Path) -> None:
    """A page of 50 read all of 10,000 that waited, and cut them in memory."""
    team = await db.write(Team)
    await db.write(name, team, 9)
    await db.write(ask, team, 9)

    def read(tx: Tx) -> list[int]:
        part = InboxPart(4)
        return [len(find(tx, team.editor.user_id, None, part)) for find in sources()]

    assert await db.read(read) == [4, 0, 4, 0]


@pytest.mark.parametrize("place", ["nowhere", "2030~apr_1", "x~apr_1", "2030-01-01T00:00:00~apr_1", "~"])
async def test_a_place_that_is_none_is_refused(db: Database, tmp_path: Path, place: str) -> None:
    services, team = make_services(db, tmp_path), await db.write(Team)
    with pytest.raises(CursorUnknown):
        await inbox.read_inbox(services, team.editor, None, 2, place)
