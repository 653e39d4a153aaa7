"""What hangs on parts of a document, on both databases: kept sections, conversations."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from outlast.apps.documents import section_locks as locking
from outlast.apps.documents import store, thread_anchors
from outlast.base.errors import MalformedInput, NotFound, SectionLocked
from outlast.db.database import Database, Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.locks.store import locks_of, shown_lock
from outlast.kernel.locks.tables import locks
from tests.document_changes import delete_section, edit_block, insert_section
from tests.documents import Desk
from tests.factories import make_thread

TTL_S = 3600


async def keep(desk: Desk, heading: str, by: Actor) -> str:
    section_id = (await desk.section(heading)).id

    await desk.db.write(locking.take, by, section_id, TTL_S)
    return section_id


async def test_a_kept_section_is_changed_by_its_holder_only(db: Database):
    desk = await Desk.open(db)
    kept = await keep(desk, "Risks", desk.team.editor)
    block = (await desk.section("Risks")).blocks[0]
    with pytest.raises(SectionLocked) as refused:
        await desk.write(edit_block(block.id, "x", block.markdown), by=desk.team.owner)
    assert refused.value.fields["holder_name"] == "Emil"
    assert (await desk.tree()).version == 1
    await desk.write(edit_block(block.id, "x", block.markdown), by=desk.team.editor)
    await desk.write(insert_section(None, "Beside"), by=desk.team.owner)
    lock = await db.read(shown_lock, kept)
    assert lock is not None
    assert (lock.resource_type, lock.holder_id) == ("section", desk.team.editor.user_id)


async def test_an_edit_of_the_holder_renews_the_lock(db: Database):
    desk = await Desk.open(db)
    kept = await keep(desk, "Risks", desk.team.editor)
    await db.write(lambda tx: tx.execute(sa.update(locks).values(expires_at=tx.now)))
    expired = await db.read(shown_lock, kept)
    block = (await desk.section("Risks")).blocks[0]
    await desk.write(edit_block(block.id, "x", block.markdown), by=desk.team.editor)
    renewed = await db.read(shown_lock, kept)
    assert expired is not None
    assert renewed is not None
    assert renewed.expires_at > expired.expires_at


async def test_a_section_that_is_gone_is_kept_by_nobody(db: Database):
    desk = await Desk.open(db)
    kept = await keep(desk, "Risks", desk.team.editor)
    await desk.write(delete_section(kept), by=desk.team.editor)
    assert await db.read(locks_of, [kept]) == {}


async def test_whoever_leaves_keeps_nothing(db: Database):
    desk = await Desk.open(db)
    one, two = await keep(desk, "Risks", desk.team.editor), await keep(desk, "Introduction", desk.team.owner)

    def leave(tx: Tx) -> list[str]:
        dropped = locking.drop_held(tx, desk.team.project_id, desk.team.editor.user_id)
        locking.tell_dropped(tx, dropped)
        return [row.id for row, _ in dropped]

    assert await db.write(leave) == [one]
    assert set(await db.read(locks_of, [one, two])) == {two}


async def test_conversations_about_a_document_and_its_parts_are_found(db: Database):
    desk = await Desk.open(db)
    section_id = (await desk.section("Risks")).id

    def make(tx: Tx) -> list[str]:
        project_id, owner = desk.team.project_id, desk.team.owner
        about = thread_anchors.resolved(tx, project_id, "document", {"type": "section", "id": section_id})
        # Text that looks like an anchor is none.
        other = {"type": "screen", "id": "scr_1", "text": f'"document_id":"{desk.document_id}"'}
        make_thread(tx, project_id, owner, profile="document", anchor=other)
        return [make_thread(tx, project_id, owner, profile="document", anchor=about)]

    made = await db.write(make)
    found = await db.read(lambda tx: store.threads_about(tx, store.document_of(tx, desk.document_id)))
    assert found == sorted([desk.thread_id, *made])


@pytest.mark.parametrize(
    ("anchor", "error"),
    [
        (None, MalformedInput),
        ({"type": "page", "id": "pag_1"}, MalformedInput),
        ({"type": "section"}, MalformedInput),
        ({"type": "section", "id": 7}, MalformedInput),
        ({"type": "section", "id": "sec_none"}, NotFound),
        ({"type": "document", "id": "doc_none"}, NotFound),
        ({"type": "comment", "id": "cmt_none"}, NotFound),
        ({"type": "selection", "text": " "}, MalformedInput),
        ({"type": "selection", "text": "x"}, MalformedInput),
        ({"type": "selection", "text": "x", "block_id": "blk_none"}, NotFound),
    ],
)
async def test_a_conversation_is_about_something_that_is_there(
    db: Database, anchor: dict[str, Any] | None, error: type[Exception]
):
    desk = await Desk.open(db)
    with pytest.raises(error):
        await db.read(thread_anchors.resolved, desk.team.project_id, "document", anchor)


async def test_what_belongs_to_another_project_is_not_there(db: Database):
    desk, other = await Desk.open(db), await Desk.open(db)
    anchor = {"type": "document", "id": other.document_id}
    with pytest.raises(NotFound):
        await db.read(thread_anchors.resolved, desk.team.project_id, "document", anchor)
