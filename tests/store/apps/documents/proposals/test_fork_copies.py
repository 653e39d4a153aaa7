"""Forks of conversations that propose edits, on both databases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest

from outlast.apps.documents import store as documents
from outlast.apps.documents.proposals.shapes import ProposalData
from outlast.apps.documents.proposals.store import list_proposals
from outlast.apps.documents.proposals.validation import NewEdit
from outlast.apps.documents.tables import edits, proposals
from outlast.base.errors import EditDecided
from outlast.base.ids import new_id
from outlast.db.database import Database, Tx
from outlast.kernel.streams.log_store import read_all
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.forks import fork_thread
from outlast.kernel.threads.message_store import add_message
from outlast.kernel.threads.tables import messages
from tests.documents import Desk, decision_on, inserting, moving, replacing
from tests.factories import thread_row


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
    message_id = add_message(tx, thread_id, "assistant", None, "complete", parts).id
    for one in made:
        tx.update(proposals, {"id": one.id}, message_id=message_id)
    return message_id


async def _fork(desk: Desk, message_id: str | None = None) -> str:
    def run(tx: Tx) -> str:
        parent = thread_row(tx, desk.thread_id)
        return fork_thread(tx, parent, desk.team.editor, message_id, "Fork")

    return await desk.db.write(run)


async def _of(desk: Desk, thread_id: str) -> list[ProposalData]:
    return list((await desk.db.read(lambda tx: list_proposals(tx, proposals.c.thread_id == thread_id, "all")))[0])


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
    assert [(edit.op, edit.state) for edit in older.edits] == [("replace", "superseded"), ("insert", "accepted")]
    assert older.edits[0].superseded_by == newer.edits[0].id
    assert newer.edits[0].state == "open"
    assert (newer.message_id, newer.run_id) == (older.message_id, None)
    shown = await db.read(lambda tx: tx.execute(messages.select().where(messages.c.thread_id == fork_id)).all())
    assert [part["proposal_id"] for part in shown[0].parts] == [older.id, newer.id]
    assert shown[0].id == newer.message_id


async def test_what_is_rejected_in_a_fork_is_open_in_the_parent(db: Database) -> None:
    desk = await Desk.open(db)
    one = await desk.propose(replacing(await desk.block(0), "The plan."))
    await db.write(_answer, desk.thread_id, one)
    before = await desk.read(one)
    (copy,) = await _of(desk, await _fork(desk))
    await desk.reject(copy, 1)
    assert await desk.read(one) == before
    assert (await desk.accept(one)).version == 2


@pytest.mark.parametrize("first", ["parent", "fork", "other fork"])
async def test_a_text_is_put_in_once_wherever_it_is_accepted(db: Database, first: str) -> None:
    desk = await Desk.open(db)
    block = await desk.block(0)
    section = NewEdit("insert_section", heading="Costs", new_text="Many.")
    parent = await desk.propose(inserting(block, "More."), section)
    await db.write(_answer, desk.thread_id, parent)
    fork_id = await _fork(desk)
    (fork,) = await _of(desk, fork_id)
    (other,) = await _of(desk, await _fork(replace(desk, thread_id=fork_id)))
    family = {"parent": parent, "fork": fork, "other fork": other}
    chosen = family.pop(first)
    first, second = (edit.id for edit in chosen.edits[:2])
    own = decision_on(first, "accept", text="More of it.")
    assert (await desk.decide(chosen, own, decision_on(second, "accept"))).version == 2
    for twin in family.values():
        now = await desk.read(twin)
        assert now.state == "closed"
        assert [edit.state for edit in now.edits] == ["superseded", "superseded"]
        assert [edit.superseded_by for edit in now.edits] == [edit.id for edit in chosen.edits]
        thread = await db.read(lambda tx: threads.thread_data(tx, chosen.thread_id))
        assert now.edits[0].reason == f"Accepted in “{thread.title}”, version 2."
        with pytest.raises(EditDecided):
            await desk.accept(twin, 1)
        told = [orjson.loads(line) for _, line in await db.read(read_all, twin.thread_id)]
        assert [one["event"] for one in told][-1] == "edit.superseded"
    lines = await db.read(read_all, desk.team.project_id)
    told = [orjson.loads(line) for _, line in lines]
    overtaken = [one["data"]["proposal_id"] for one in told if one["event"] == "edit.superseded"]
    assert sorted(overtaken) == sorted(twin.id for twin in family.values())
    assert (await desk.texts())[1] == "More of it."


async def test_a_moved_block_is_moved_once(db: Database) -> None:
    desk = await Desk.open(db)
    one = await desk.propose(moving(await desk.block(0), await desk.block(2)))
    await db.write(_answer, desk.thread_id, one)
    (copy,) = await _of(desk, await _fork(desk))
    await desk.accept(one)
    assert (await desk.read(copy)).edits[0].state == "superseded"


async def test_a_replacement_is_done_everywhere_if_it_was_written_as_proposed(db: Database) -> None:
    desk = await Desk.open(db)
    first, second = await desk.block(0), await desk.block(1)
    one = await desk.propose(replacing(first, "The plan."), replacing(second, "It has the facts."))
    await db.write(_answer, desk.thread_id, one)
    (copy,) = await _of(desk, await _fork(desk))
    await desk.accept(copy, 1)
    await desk.accept(copy, 2, text="It has facts.")
    now = await desk.edits(one)
    assert [edit.state for edit in now] == ["superseded", "open"]
    assert now[0].superseded_by == copy.edits[0].id


async def test_texts_for_one_place_keep_their_order_across_conversations(db: Database) -> None:
    desk = await Desk.open(db, {"A": "Start."})
    block = await desk.block(0)
    one = await desk.propose(inserting(block, "First."), inserting(block, "Second."))
    await db.write(_answer, desk.thread_id, one)
    (copy,) = await _of(desk, await _fork(desk))
    await desk.accept(copy, 1)
    await desk.accept(one, 2)
    assert await desk.texts("A") == ["Start.", "First.", "Second."]


async def test_what_later_messages_propose_is_not_copied(db: Database) -> None:
    desk = await Desk.open(db)
    one = await desk.propose(replacing(await desk.block(0), "The plan."))
    first = await db.write(_answer, desk.thread_id, one)
    two = await desk.propose(replacing(await desk.block(1), "Facts."))
    await db.write(_answer, desk.thread_id, two)
    copies = await _of(desk, await _fork(desk, first))
    assert [copy.edits[0].new_text for copy in copies] == ["The plan."]


async def _open_edits(desk: Desk) -> int:
    return await desk.db.read(lambda tx: documents.document_data(tx, desk.document_id).open_edits)


async def test_copies_count_once_while_the_original_is_open(db: Database) -> None:
    desk = await Desk.open(db)
    one = await desk.propose(replacing(await desk.block(0), "The plan."), inserting(await desk.block(1), "More."))
    await db.write(_answer, desk.thread_id, one)
    fork_id = await _fork(desk)
    (copy,) = await _of(desk, fork_id)
    await _fork(replace(desk, thread_id=fork_id))
    assert await _open_edits(desk) == 2
    assert [edit.state for edit in copy.edits] == ["open", "open"]
    assert [edit.origin_id for edit in copy.edits] == [edit.id for edit in one.edits]
    await desk.reject(copy, 1)
    assert await _open_edits(desk) == 2
    await desk.reject(one, 1)
    assert await _open_edits(desk) == 2  # the fork of the fork still proposes it
    await db.write(lambda tx: tx.update(edits, {"id": copy.edits[1].id}, new_text="Other words."))
    assert await _open_edits(desk) == 3
