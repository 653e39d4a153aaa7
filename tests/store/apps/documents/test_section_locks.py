"""Keeping sections for oneself, on both databases."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from outlast.apps.documents import section_locks as locking
from outlast.apps.documents.rows import SectionRow
from outlast.apps.documents.tables import sections
from outlast.base.errors import NotFound
from outlast.db.database import Database, Tx
from outlast.kernel.locks import store as locks
from outlast.kernel.projects.tables import members
from tests.document_changes import delete_section
from tests.documents import Desk


@pytest.mark.parametrize("action", ["take", "request", "hand over", "release"])
async def test_a_section_that_went_meanwhile_is_kept_by_nobody(db: Database, action: str) -> None:
    desk = await Desk.open(db)
    section = await desk.section("Risks")
    row = await db.read(lambda tx: tx.find(SectionRow, sections, {"id": section.id}))
    assert row is not None
    await desk.write(delete_section(section.id))

    def late(tx: Tx) -> None:
        editor, owner = desk.team.editor, desk.team.owner
        match action:
            case "take":
                locking.take(tx, row, editor, 60)
            case "request":
                locking.request(tx, row, editor)
            case "hand over":
                locking.hand_over(tx, row, owner, editor.user_id, 60)
            case "release":
                locking.release(tx, row, editor)

    with pytest.raises(NotFound, match="not there any more"):
        await db.write(late)
    assert await db.read(locks.find_lock, section.id) is None


async def test_a_section_can_be_asked_for_whose_holder_may_not_edit_any_more(db: Database) -> None:
    desk = await Desk.open(db)
    section = await desk.section("Risks")

    def ask(tx: Tx) -> str | None:
        row = tx.find(SectionRow, sections, {"id": section.id})
        assert row is not None
        locking.take(tx, row, desk.team.editor, 60)
        mine = members.c.user_id == desk.team.editor.user_id
        tx.execute(sa.update(members).where(mine).values(role="viewer"))
        return locking.request(tx, row, desk.team.owner).requested_by

    assert await db.write(ask) == desk.team.owner.user_id
