"""Keeping sections for oneself, on both databases."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from outlast.apps.documents import section_locks as locking
from outlast.apps.documents import store as documents
from outlast.apps.documents.rows import DocumentRow
from outlast.apps.documents.tables import sections
from outlast.base.errors import NotFound
from outlast.db.database import Database, Tx
from outlast.kernel.locks import store as locks
from outlast.kernel.projects.tables import members
from tests.documents import Desk


@pytest.mark.parametrize("action", ["take", "request", "hand over", "release"])
async def test_a_section_that_went_meanwhile_is_locked_by_nobody(
    db: Database, action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another writer deletes the section between the check of the right and the lock of the document's row."""
    desk = await Desk.open(db)
    section = await desk.section("Risks")
    hold = documents.hold

    def late(tx: Tx, document_id: str) -> DocumentRow:
        row = hold(tx, document_id)
        tx.execute(sa.delete(sections).where(sections.c.id == section.id))
        return row

    def run(tx: Tx) -> None:
        editor, owner = desk.team.editor, desk.team.owner
        match action:
            case "take":
                locking.take(tx, editor, section.id, 60)
            case "request":
                locking.request(tx, editor, section.id)
            case "hand over":
                locking.hand_over(tx, owner, section.id, editor.user_id, 60)
            case "release":
                locking.release(tx, editor, section.id)

    monkeypatch.setattr(documents, "hold", late)
    with pytest.raises(NotFound, match="no longer exists"):
        await db.write(run)
    assert await db.read(locks.find_lock, section.id) is None


async def test_a_section_can_be_asked_for_whose_holder_may_not_edit_any_more(db: Database) -> None:
    desk = await Desk.open(db)
    section = await desk.section("Risks")

    def ask(tx: Tx) -> str | None:
        locking.take(tx, desk.team.editor, section.id, 60)
        mine = members.c.user_id == desk.team.editor.user_id
        tx.execute(sa.update(members).where(mine).values(role="viewer"))
        return locking.request(tx, desk.team.owner, section.id).requested_by

    assert await db.write(ask) == desk.team.owner.user_id
