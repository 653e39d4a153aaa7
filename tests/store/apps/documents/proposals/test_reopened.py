"""Taking decisions about proposed edits back, on both databases."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from outlast.apps.documents import section_locks as locking
from outlast.apps.documents import store
from outlast.apps.documents.comments import store as comments
from outlast.apps.documents.history import versions as history
from outlast.apps.documents.proposals import fork_copies, reopened
from outlast.apps.documents.proposals.review import decide_possible
from outlast.apps.documents.proposals.shapes import DecidedAnswer, NamedDecision, ProposalData
from outlast.apps.documents.proposals.store import edits_of, proposal_data
from outlast.apps.documents.proposals.validation import NewEdit
from outlast.apps.documents.tables import proposals
from outlast.base.errors import EditDecided, MalformedInput, NotFound, OutlastError, TextChanged
from outlast.db.database import Database, Tx
from outlast.kernel.streams.log_store import read_all
from tests.documents import SETTINGS, Desk, decision_on, deleting, inserting, moving, replacing
from tests.factories import make_thread
from tests.store.apps.documents.proposals.test_review import commented


async def reopen(desk: Desk, proposal: ProposalData, *ordinals: int, decided_at: str | None = None) -> DecidedAnswer:
    wanted = [
        NamedDecision(edit_id=proposal.edits[ordinal - 1].id, decision="reopen", decided_at=decided_at)
        for ordinal in ordinals
    ]
    return await desk.db.write(reopened.reopen, proposal.id, wanted, desk.team.editor.user_id, SETTINGS)


async def texts(desk: Desk) -> list[tuple[str, list[str]]]:
    return [(one.heading, [block.markdown for block in one.blocks]) for one in (await desk.tree()).sections]


async def events(desk: Desk, name: str) -> list[dict[str, Any]]:
    lines = [orjson.loads(line) for _, line in await desk.db.read(read_all, desk.team.project_id)]
    return [line["data"] for line in lines if line["event"] == name]


# To take a rejection back once wrote the rejected text into the document.
async def test_a_rejected_edit_is_open_again_and_nothing_is_written(db: Database) -> None:
    desk = await Desk.open(db)
    proposal = await desk.propose(replacing(await desk.block(0), "The plan."))
    await desk.reject(proposal, 1)
    made = await reopen(desk, proposal, 1)
    assert made.version is None
    (edit,) = made.edits
    assert (edit.state, edit.decided_by, edit.decided_at, edit.reopened) == ("open", None, None, 1)
    assert (await desk.tree()).version == 1
    assert (await desk.read(proposal)).state == "open"
    assert (await db.read(store.document_data, desk.document_id)).open_edits == 1
    (told,) = await events(desk, "edit.reopened")
    assert (told["by"], told["version"], told["edits"][0]["state"]) == (desk.team.editor.user_id, None, "open")
    assert (await desk.accept(proposal, 1)).version == 2


async def test_what_was_accepted_leaves_the_document_and_is_open_again(db: Database) -> None:
    desk = await Desk.open(db)
    before = await desk.tree()
    proposal = await desk.propose(
        replacing(await desk.block(0), "The plan.\n\nAnd more."),
        deleting(await desk.block(1)),
        inserting(await desk.block(2), "Or here."),
        moving(await desk.block(4), None, await desk.section("Introduction")),
        NewEdit("insert_section", after_id=(await desk.section("Risks")).id, heading="End", new_text="Bye."),
    )
    await desk.accept(proposal)
    made = await reopen(desk, proposal, 1)  # all of them were one decision
    assert made.version == 3
    assert [edit.state for edit in made.edits] == ["open"] * 5
    now = await desk.tree()
    assert [(one.id, one.heading) for one in now.sections] == [(one.id, one.heading) for one in before.sections]
    assert [(one.id, one.markdown) for one in now.blocks()] == [(one.id, one.markdown) for one in before.blocks()]
    line = await db.read(history.version_of, desk.document_id, 3)
    assert (line.kind, line.by) == ("restore", desk.team.editor.user_id)
    assert (await desk.accept(proposal)).version == 4
    assert (await texts(desk))[2] == ("End", ["Bye."])


async def test_what_others_wrote_since_stays(db: Database) -> None:
    desk = await Desk.open(db)
    proposal = await desk.propose(
        replacing(await desk.block(0), "The plan is short.\n\nA new one."), deleting(await desk.block(1))
    )
    await desk.accept(proposal)
    await desk.edit(await desk.block(2), "It ends there.")
    made = await reopen(desk, proposal, 1, 2)
    assert made.version == 4
    assert await desk.texts() == ["The plan is long and nobody reads it.", "It has teh facts.", "It ends there."]


async def test_the_same_block_changed_elsewhere_is_merged(db: Database) -> None:
    desk = await Desk.open(db, {"Introduction": "One line.\nAnother line.\nA third line."})
    proposal = await desk.propose(replacing(await desk.block(0), "One short line.\nAnother line.\nA third line."))
    await desk.accept(proposal, 1)
    await desk.edit(await desk.block(0), "One short line.\nAnother line.\nThe last line.")
    assert (await reopen(desk, proposal, 1)).version == 4
    assert await desk.texts() == ["One line.\nAnother line.\nThe last line."]


@pytest.mark.parametrize("since", ["rewritten", "deleted"])
async def test_a_text_that_changed_since_is_not_overwritten(db: Database, since: str) -> None:
    desk = await Desk.open(db)
    proposal = await desk.propose(replacing(await desk.block(0), "The plan."))
    await desk.accept(proposal, 1)
    if since == "rewritten":
        await desk.edit(await desk.block(0), "Our project.")
    else:
        await desk.delete(await desk.block(0))
    before = await texts(desk)
    with pytest.raises(TextChanged) as refused:
        await reopen(desk, proposal, 1)
    assert "_" not in str(refused.value)  # no id
    assert await texts(desk) == before
    assert (await desk.edits(proposal))[0].state == "accepted"


async def test_a_rejected_edit_whose_block_is_gone_stays_rejected(db: Database) -> None:
    desk = await Desk.open(db)
    proposal = await desk.propose(replacing(await desk.block(0), "The plan."))
    await desk.reject(proposal, 1)
    await desk.delete(await desk.block(0))
    with pytest.raises(NotFound, match="deleted since"):
        await reopen(desk, proposal, 1)


async def test_only_the_decision_that_was_seen_is_taken_back(db: Database) -> None:
    desk = await Desk.open(db)
    proposal = await desk.propose(replacing(await desk.block(0), "The plan."))
    mine = (await desk.reject(proposal, 1)).edits[0].decided_at
    await reopen(desk, proposal, 1, decided_at=mine)
    await desk.accept(proposal, 1)
    with pytest.raises(EditDecided) as refused:
        await reopen(desk, proposal, 1, decided_at=mine)
    assert (refused.value.fields["state"], "_" in str(refused.value)) == ("accepted", False)
    assert (await desk.block(0)).markdown == "The plan."


async def test_an_open_edit_stays_as_it_is(db: Database) -> None:
    desk = await Desk.open(db)
    proposal = await desk.propose(replacing(await desk.block(0), "The plan."))
    made = await reopen(desk, proposal, 1)
    assert (made.version, made.edits[0].state, made.edits[0].reopened) == (None, "open", 0)
    assert await events(desk, "edit.reopened") == []


async def test_what_something_newer_took_the_place_of_is_not_reopened(db: Database) -> None:
    desk = await Desk.open(db)
    older = await desk.propose(replacing(await desk.block(0), "The plan."))
    await desk.propose(replacing(await desk.block(0), "Our plan."))
    with pytest.raises(EditDecided, match="already superseded"):
        await reopen(desk, older, 1)


async def test_edits_of_another_proposal_and_edits_named_twice_are_refused(db: Database) -> None:
    desk = await Desk.open(db)
    one = await desk.propose(replacing(await desk.block(0), "The plan."))
    other = await desk.propose(replacing(await desk.block(1), "It has the facts."))
    for wanted in ([], [one.edits[0].id] * 2, [other.edits[0].id]):
        named = [NamedDecision(edit_id=edit_id, decision="reopen") for edit_id in wanted]
        with pytest.raises(MalformedInput):
            await db.write(reopened.reopen, one.id, named, desk.team.editor.user_id, SETTINGS)


async def test_what_a_deletion_ended_is_open_again(db: Database) -> None:
    desk = await Desk.open(db)

    def elsewhere(tx: Tx) -> str:
        return make_thread(tx, desk.team.project_id, desk.team.owner, profile="document")

    other = await desk.propose(replacing(await desk.block(1), "It has the facts."), thread_id=await db.write(elsewhere))
    proposal = await desk.propose(deleting(await desk.block(1)))
    await desk.accept(proposal, 1)
    assert (await desk.edits(other))[0].state == "superseded"
    await reopen(desk, proposal, 1)
    (revived,) = await desk.edits(other)
    assert (revived.state, revived.reason, revived.superseded_by) == ("open", "", None)
    assert (await desk.accept(other, 1)).version == 4


async def test_copies_in_forks_are_open_again(db: Database) -> None:
    desk = await Desk.open(db)
    proposal = await desk.propose(inserting(await desk.block(0), "More."))

    def fork(tx: Tx) -> str:
        fork_id = make_thread(tx, desk.team.project_id, desk.team.owner, profile="document")
        tx.update(proposals, {"id": proposal.id}, message_id="msg_1")
        copies = fork_copies.copy_proposals(tx, desk.thread_id, fork_id, {"msg_1": "msg_2"})
        return copies[proposal.id]

    copy = (await db.read(proposal_data, await db.write(fork))).edits[0]
    await desk.accept(proposal, 1)
    (ended,) = await db.read(edits_of, [copy.id])
    assert ended.state == "superseded"
    await reopen(desk, proposal, 1)
    (again,) = await db.read(edits_of, [copy.id])
    assert again.state == "open"


async def test_the_comment_that_the_decision_resolved_is_open_again(db: Database) -> None:
    desk = await Desk.open(db)
    comment_id, thread_id = await commented(desk)
    proposal = await desk.propose(replacing(await desk.block(0), "The plan."), thread_id=thread_id)
    await desk.accept(proposal, 1)
    assert (await db.read(comments.comment_data, comment_id)).status == "resolved"
    await reopen(desk, proposal, 1)
    assert (await db.read(comments.comment_data, comment_id)).status == "open"


# "Accept all" with one conflict once accepted nothing.
async def test_what_can_be_accepted_is_accepted_and_conflicts_stay_open(db: Database) -> None:
    desk = await Desk.open(db)
    proposal = await desk.propose(
        replacing(await desk.block(0), "The plan."),
        replacing(await desk.block(1), "It has the facts."),
        replacing(await desk.block(3), "There are two risks."),
    )
    await desk.edit(await desk.block(0), "Nobody reads it.")

    await db.write(locking.take, desk.team.editor, (await desk.section("Risks")).id, 3600)
    verdicts = [decision_on(edit.id, "accept") for edit in proposal.edits]
    made = await db.write(decide_possible, proposal.id, verdicts, desk.team.owner.user_id, SETTINGS)
    assert made.version == 3
    assert [edit.state for edit in made.edits] == ["open", "accepted", "open"]
    assert {one.edit_id: one.code for one in made.left} == {
        proposal.edits[0].id: "text_changed",
        proposal.edits[2].id: "section_locked",
    }
    assert (await desk.texts())[:2] == ["Nobody reads it.", "It has the facts."]
    made = await db.write(decide_possible, proposal.id, verdicts[:1], desk.team.owner.user_id, SETTINGS)
    assert made.version is None


async def test_a_decided_edit_among_them_is_still_refused(db: Database) -> None:
    desk = await Desk.open(db)
    proposal = await desk.propose(
        replacing(await desk.block(0), "The plan."), replacing(await desk.block(1), "It has the facts.")
    )
    await desk.reject(proposal, 1)
    verdicts = [decision_on(edit.id, "accept") for edit in proposal.edits]
    with pytest.raises(OutlastError):
        await db.write(decide_possible, proposal.id, verdicts, desk.team.owner.user_id, SETTINGS)
