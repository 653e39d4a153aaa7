"""Forks of conversations that propose edits, on both databases."""

from __future__ import annotations

from typing import Any

from outlast.base.document_data import ProposalData
from outlast.base.ids import new_id
from outlast.core.documents.edits import list_proposals
from outlast.core.documents.proposal_copies import copy_proposals
from outlast.core.threads import store as threads
from outlast.core.threads.forks import fork_thread
from outlast.db.database import Database, Tx
from outlast.db.tables import messages, proposals
from tests.documents import Desk, inserting, replacing


def _answer(tx: Tx, thread_id: str, *made: ProposalData) -> str:
    """The message of the agent that shows these proposals."""
    parts: list[dict[str, Any]] = [
        {
            "type": "proposal",
            "id": new_id("part"),
            "step": 0,
            "proposal_id": one.id,
            "document_id": one.document_id,
            "edits": len(one.edits),
            "summary": one.summary,
        }
        for one in made
    ]
    message_id = threads.add_message(tx, thread_id, "assistant", None, "complete", parts).id
    for one in made:
        tx.update(proposals, {"id": one.id}, message_id=message_id)
    return message_id


async def _fork(desk: Desk, message_id: str | None = None) -> str:
    def run(tx: Tx) -> str:
        parent = threads.hold(tx, desk.thread_id)
        return fork_thread(
            tx, parent, desk.team.editor, message_id, "Fork", None, copy_proposals=copy_proposals
        )

    return await desk.db.write(run)


async def _of(desk: Desk, thread_id: str) -> list[ProposalData]:
    return list((await desk.db.read(lambda tx: list_proposals(tx, thread_id=thread_id, state="all")))[0])


async def test_a_fork_has_copies_of_what_its_messages_propose(db: Database) -> None:
    desk = await Desk.open(db)
    block = await desk.block(0)
    one = await desk.propose(replacing(block, "The plan."), inserting(block, "More."))
    await desk.accept(one, 2)
    two = await desk.propose(replacing(block, "A plan."))
    await db.write(_answer, desk.thread_id, one, two)
    fork_id = await _fork(desk)
    newer, older = await _of(desk, fork_id)
    assert {newer.id, older.id}.isdisjoint({one.id, two.id})
    assert [(edit.op, edit.state) for edit in older.edits] == [
        ("replace", "superseded"),
        ("insert", "accepted"),
    ]
    assert older.edits[0].superseded_by == newer.edits[0].id
    assert newer.edits[0].state == "open"
    assert (newer.message_id, newer.run_id) == (older.message_id, None)
    shown = await db.read(lambda tx: tx.all(messages.select().where(messages.c.thread_id == fork_id)))
    assert [part["proposal_id"] for part in shown[0]["parts"]] == [older.id, newer.id]
    assert shown[0]["id"] == newer.message_id


async def test_a_decision_in_a_fork_leaves_the_parent_as_it_is(db: Database) -> None:
    desk = await Desk.open(db)
    one = await desk.propose(replacing(await desk.block(0), "The plan."))
    await db.write(_answer, desk.thread_id, one)
    before = await desk.read(one)
    (copy,) = await _of(desk, await _fork(desk))
    await desk.accept(copy)
    assert await desk.read(one) == before
    assert (await desk.accept(one)).version is None  # the block says it already


async def test_what_later_messages_propose_is_not_copied(db: Database) -> None:
    desk = await Desk.open(db)
    one = await desk.propose(replacing(await desk.block(0), "The plan."))
    first = await db.write(_answer, desk.thread_id, one)
    two = await desk.propose(replacing(await desk.block(1), "Facts."))
    await db.write(_answer, desk.thread_id, two)
    copies = await _of(desk, await _fork(desk, first))
    assert [copy.edits[0].new_text for copy in copies] == ["The plan."]
