"""Deciding about proposed edits on both databases."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from outlast.apps.documents import section_locks as locking
from outlast.apps.documents import store
from outlast.apps.documents.comments import store as comments
from outlast.apps.documents.history import versions as history
from outlast.apps.documents.proposals.validation import NewEdit
from outlast.apps.documents.tables import documents
from outlast.base.errors import EditDecided, MalformedInput, NotFound, SectionLocked, TextChanged
from outlast.base.ids import new_id
from outlast.db.database import Database, Tx
from outlast.kernel.runs.tables import runs
from outlast.kernel.streams.log_store import read_all
from tests.document_changes import delete_section
from tests.documents import Desk, decision_on, deleting, inserting, moving, replacing
from tests.factories import make_thread, say


async def names(desk: Desk, stream_id: str) -> list[str]:
    return [orjson.loads(line)["event"] for _, line in await desk.db.read(read_all, stream_id)]


async def events(desk: Desk, stream_id: str, name: str) -> list[dict[str, Any]]:
    lines = [orjson.loads(line) for _, line in await desk.db.read(read_all, stream_id)]
    return [line["data"] for line in lines if line["event"] == name]


async def test_an_accepted_edit_is_written_as_one_version_of_the_agent(db: Database) -> None:
    desk = await Desk.open(db)
    first, second = await desk.block(0), await desk.block(1)
    proposal = await desk.propose(replacing(first, "The plan."), replacing(second, "It has the facts."))
    decided = await desk.accept(proposal, 1)
    assert decided.version == 2
    assert (await desk.block(0)).markdown == "The plan."
    assert (await desk.block(0)).editor_kind == "agent"
    assert (await desk.block(0)).editor_id == desk.team.owner.user_id
    (edit,) = decided.edits
    assert (edit.state, edit.applied_text, edit.version) == ("accepted", "The plan.", 2)
    assert (edit.decided_by, edit.decided_by_name) == (desk.team.owner.user_id, "Olga")
    line = await db.read(history.version_of, desk.document_id, 2)
    assert (line.kind, line.proposal_id, line.run_id) == ("agent", proposal.id, proposal.run_id)
    assert (line.thread_id, line.summary, line.blocks) == (desk.thread_id, "Say it shorter", [first.id])
    assert (await desk.read(proposal)).state == "open"


async def test_all_are_accepted_in_one_version(db: Database) -> None:
    desk = await Desk.open(db)
    proposal = await desk.propose(
        replacing(await desk.block(0), "The plan."),
        deleting(await desk.block(1)),
        inserting(await desk.block(2), "Or here."),
        moving(await desk.block(4), None, await desk.section("Introduction")),
        NewEdit("insert_section", after_id=(await desk.section("Risks")).id, heading="End", new_text="Bye."),
    )
    decided = await desk.accept(proposal)
    assert decided.version == 2
    assert await desk.texts() == ["- money\n- time\n- people", "The plan.", "It ends here.", "Or here."]
    assert await desk.texts("End") == ["Bye."]
    assert (await desk.read(proposal)).state == "closed"


async def test_people_write_something_else_in_the_place_of_what_was_proposed(db: Database) -> None:
    desk = await Desk.open(db)
    proposal = await desk.propose(replacing(await desk.block(0), "The plan."), inserting(await desk.block(2), "More."))
    decided = await desk.accept(proposal, 1, text="Our plan.")
    assert (await desk.block(0)).markdown == decided.edits[0].applied_text == "Our plan."
    await desk.accept(proposal, 2, text="Much more.\n\nAnd more.")
    assert (await desk.texts())[2:] == ["It ends here.", "Much more.", "And more."]


async def test_a_rejected_edit_changes_nothing_but_itself(db: Database) -> None:
    desk = await Desk.open(db)
    proposal = await desk.propose(replacing(await desk.block(0), "The plan."))
    decided = await desk.reject(proposal, 1)
    assert decided.version is None
    assert decided.edits[0].state == "rejected"
    assert decided.edits[0].applied_text is None
    assert (await desk.tree()).version == 1
    assert (await db.read(store.document_data, desk.document_id)).open_edits == 0


async def test_a_block_that_moved_on_is_merged_with(db: Database) -> None:
    desk = await Desk.open(db)
    block = await desk.block(0)
    proposal = await desk.propose(replacing(block, "The plan is short and nobody reads it."))
    await desk.edit(block, "The plan is long and everybody reads it.")
    decided = await desk.accept(proposal)
    assert (await desk.block(0)).markdown == "The plan is short and everybody reads it."
    assert decided.edits[0].applied_text == "The plan is short and everybody reads it."


async def test_a_real_conflict_asks_and_changes_nothing_until_answered(db: Database) -> None:
    desk = await Desk.open(db)
    block, other = await desk.block(0), await desk.block(1)
    proposal = await desk.propose(
        replacing(block, "The plan is short and nobody reads it."), replacing(other, "It has the facts.")
    )
    await desk.edit(block, "The plan is brief and nobody reads it.")
    with pytest.raises(TextChanged) as caught:
        await desk.accept(proposal)
    fields = caught.value.fields
    assert (fields["current"], fields["wanted"]) == (
        "The plan is brief and nobody reads it.",
        "The plan is short and nobody reads it.",
    )
    assert [hunk["current"] for hunk in fields["hunks"] if hunk["kind"] == "conflict"] == ["brief"]
    assert [conflict["edit_id"] for conflict in fields["conflicts"]] == [proposal.edits[0].id]
    assert [edit.state for edit in await desk.edits(proposal)] == ["open", "open"]
    assert (await desk.block(1)).markdown == "It has teh facts."
    await desk.accept(proposal, 1, text="The plan is brief and short.", old=fields["current"])
    assert (await desk.block(0)).markdown == "The plan is brief and short."


async def test_an_answer_to_a_text_that_changed_again_is_refused(db: Database) -> None:
    desk = await Desk.open(db)
    block = await desk.block(0)
    proposal = await desk.propose(replacing(block, "The plan is short and nobody reads it."))
    await desk.edit(block, "The plan is brief and nobody reads it.")
    await desk.edit(await desk.block(0), "The plan is tiny and nobody reads it.")
    with pytest.raises(TextChanged):
        await desk.accept(
            proposal,
            1,
            text="The plan is brief, short and nobody reads it.",
            old="The plan is brief and nobody reads it.",
        )


async def test_a_deletion_of_a_block_that_says_something_new_asks(db: Database) -> None:
    desk = await Desk.open(db)
    block = await desk.block(1)
    proposal = await desk.propose(deleting(block))
    await desk.edit(block, "It has the facts.")
    with pytest.raises(TextChanged):
        await desk.accept(proposal)
    await desk.accept(proposal, 1, old="It has the facts.")
    assert await desk.texts() == ["The plan is long and nobody reads it.", "It ends here."]


async def test_nobody_decides_twice(db: Database) -> None:
    desk = await Desk.open(db)
    proposal = await desk.propose(replacing(await desk.block(0), "The plan."))
    await desk.accept(proposal, by=desk.team.editor)
    with pytest.raises(EditDecided) as caught:
        await desk.decide(proposal, decision_on(proposal.edits[0].id, "reject"))
    fields = caught.value.fields
    assert (fields["state"], fields["decided_by_name"], fields["version"]) == ("accepted", "Emil", 2)


async def test_one_edit_that_was_decided_keeps_all_from_being_decided(db: Database) -> None:
    desk = await Desk.open(db)
    proposal = await desk.propose(replacing(await desk.block(0), "The plan."), replacing(await desk.block(1), "Facts."))
    await desk.reject(proposal, 1)
    with pytest.raises(EditDecided):
        await desk.accept(proposal, 1, 2)
    assert [edit.state for edit in await desk.edits(proposal)] == ["rejected", "open"]
    assert (await desk.tree()).version == 1


async def test_accepting_what_the_block_says_already_makes_no_version(db: Database) -> None:
    desk = await Desk.open(db)
    block = await desk.block(1)
    proposal = await desk.propose(replacing(block, "It has the facts."))
    await desk.edit(block, "It has the facts.")
    decided = await desk.accept(proposal)
    assert decided.version is None
    assert decided.edits[0].state == "accepted"
    assert (await desk.tree()).version == 2


async def test_a_section_that_somebody_else_keeps_takes_no_edit(db: Database) -> None:
    desk = await Desk.open(db)
    section = await desk.section("Introduction")
    await db.write(_lock, desk, section.id)
    proposal = await desk.propose(replacing(await desk.block(0), "The plan."))
    with pytest.raises(SectionLocked):
        await desk.accept(proposal, by=desk.team.owner)
    assert (await desk.edits(proposal))[0].state == "open"
    await desk.accept(proposal, by=desk.team.editor)
    assert (await desk.block(0)).markdown == "The plan."


def _lock(tx: Tx, desk: Desk, section_id: str) -> None:
    locking.take(tx, desk.team.editor, section_id, 3600)


async def test_a_text_behind_a_block_that_goes_too_keeps_its_place(db: Database) -> None:
    desk = await Desk.open(db)
    block = await desk.block(1)
    proposal = await desk.propose(deleting(block), inserting(block, "The facts."))
    await desk.accept(proposal)
    assert await desk.texts() == ["The plan is long and nobody reads it.", "The facts.", "It ends here."]


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
async def test_a_text_keeps_its_place_whichever_is_accepted_first(db: Database, order: tuple[int, int]) -> None:
    desk = await Desk.open(db)
    block = await desk.block(1)
    proposal = await desk.propose(deleting(block), inserting(block, "The facts."))
    for ordinal in order:
        await desk.accept(proposal, ordinal)
    assert await desk.texts() == ["The plan is long and nobody reads it.", "The facts.", "It ends here."]


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (2, 3, 1), ()])
async def test_texts_for_one_place_keep_their_order(db: Database, order: tuple[int, ...]) -> None:
    desk = await Desk.open(db, {"One": "First.", "Two": ""})
    block = await desk.block(0)
    proposal = await desk.propose(inserting(block, "a\n\nb"), inserting(block, "c"), inserting(block, "d\n\ne"))
    for ordinal in order or (0,):
        await desk.accept(proposal, *([ordinal] if ordinal else []))
    assert await desk.texts("One") == ["First.", "a", "b", "c", "d", "e"]


@pytest.mark.parametrize("order", [(1, 2), (2, 1), ()])
async def test_a_text_is_behind_all_that_its_neighbour_became(db: Database, order: tuple[int, ...]) -> None:
    desk = await Desk.open(db, {"One": "First.\n\nLast."})
    block = await desk.block(0)
    proposal = await desk.propose(replacing(block, "1st.\n\n2nd.\n\n3rd."), inserting(block, "4th."))
    for ordinal in order or (0,):
        await desk.accept(proposal, *([ordinal] if ordinal else []))
    assert await desk.texts("One") == ["1st.", "2nd.", "3rd.", "4th.", "Last."]


async def test_texts_find_their_neighbours_in_sections_that_the_same_acceptance_makes(db: Database) -> None:
    """A replaced text with a heading took the blocks behind it into a new section, where the other edits' neighbours
    were not found: an open edit could not be accepted with the others."""
    desk = await Desk.open(db)
    one, two = await desk.block(0), await desk.block(2)
    proposal = await desk.propose(
        replacing(one, "The plan.\n\n## Facts\n\nThese:"), inserting(two, "More."), moving(one, two)
    )
    await desk.accept(proposal, 1, 2)
    assert await desk.texts("Facts") == ["These:", "It has teh facts.", "It ends here.", "More."]
    await desk.accept(proposal)
    assert await desk.texts("Introduction") == []


async def test_order_is_kept_behind_a_block_that_is_deleted_with_the_acceptance(db: Database) -> None:
    desk = await Desk.open(db, {"One": "First.\n\nOld.\n\nLast."})
    old = await desk.block(1)
    proposal = await desk.propose(inserting(old, "a"), inserting(old, "b"), deleting(old))
    await desk.accept(proposal, 1, 3)
    await desk.accept(proposal, 2)
    assert await desk.texts("One") == ["First.", "a", "b", "Last."]


@pytest.mark.parametrize("order", [(1, 2), (2, 1), ()])
async def test_new_sections_for_one_place_keep_their_order(db: Database, order: tuple[int, ...]) -> None:
    desk = await Desk.open(db)
    after = (await desk.section("Introduction")).id
    proposal = await desk.propose(
        NewEdit("insert_section", after_id=after, heading="One", new_text="1"),
        NewEdit("insert_section", after_id=after, heading="Two", new_text="2", level=3),
    )
    for ordinal in order or (0,):
        await desk.accept(proposal, *([ordinal] if ordinal else []))
    assert [one.heading for one in (await desk.tree()).sections] == ["Introduction", "One", "Two", "Risks"]


@pytest.mark.parametrize("order", [(1, 2), (2, 1), ()])
async def test_a_block_is_moved_and_written_anew(db: Database, order: tuple[int, ...]) -> None:
    desk = await Desk.open(db)
    block, risks = await desk.block(0), await desk.section("Risks")
    proposal = await desk.propose(moving(block, risks.blocks[0]), replacing(block, "The plan."))
    for ordinal in order or (0,):
        await desk.accept(proposal, *([ordinal] if ordinal else []))
    assert await desk.texts("Risks") == ["There are three risks.", "The plan.", "- money\n- time\n- people"]
    assert (await desk.section("Risks")).blocks[1].id == block.id


async def test_a_text_behind_a_block_that_is_moved_goes_along(db: Database) -> None:
    desk = await Desk.open(db)
    block, risks = await desk.block(0), await desk.section("Risks")
    proposal = await desk.propose(moving(block, risks.blocks[1]), inserting(block, "It is good."))
    await desk.accept(proposal)
    assert (await desk.texts("Risks"))[2:] == ["The plan is long and nobody reads it.", "It is good."]


async def test_a_text_finds_its_neighbour_in_another_section(db: Database) -> None:
    desk = await Desk.open(db)
    block, risks = await desk.block(0), await desk.section("Risks")
    proposal = await desk.propose(inserting(block, "More."))
    other = await desk.propose(moving(block, risks.blocks[1]))
    await desk.accept(other)
    await desk.accept(proposal)
    assert (await desk.texts("Risks"))[2:] == ["The plan is long and nobody reads it.", "More."]


async def test_a_deleted_block_ends_its_edits_and_says_why(db: Database) -> None:
    desk = await Desk.open(db)
    block = await desk.block(1)
    proposal = await desk.propose(replacing(block, "The facts."), inserting(block, "More."))
    await desk.delete(block)
    edit, text = await desk.edits(proposal)
    assert (edit.state, edit.superseded_by) == ("superseded", "version:2")
    assert edit.reason == "Its block was deleted in version 2."
    assert (text.state, text.after_id) == ("open", (await desk.block(0)).id)
    with pytest.raises(EditDecided) as caught:
        await desk.accept(proposal, 1)
    assert caught.value.fields["superseded_by"] == "version:2"
    await desk.accept(proposal, 2)
    assert await desk.texts() == ["The plan is long and nobody reads it.", "More.", "It ends here."]
    for stream in (desk.thread_id, desk.team.project_id):
        again = (await events(desk, stream, "proposal.created"))[-1]["proposal"]
        assert [one["after_id"] for one in again["edits"]] == [None, text.after_id]
        (told,) = await events(desk, stream, "edit.superseded")
        assert [one["reason"] for one in told["edits"]] == ["Its block was deleted in version 2."]


async def test_a_newer_proposal_of_the_same_conversation_takes_the_place_of_the_older(db: Database) -> None:
    desk = await Desk.open(db)
    block, other = await desk.block(0), await desk.block(1)
    older = await desk.propose(replacing(block, "The plan."), replacing(other, "Facts."))
    newer = await desk.propose(replacing(block, "A plan."))
    first, second = await desk.edits(older)
    assert (first.state, first.superseded_by) == ("superseded", newer.edits[0].id)
    assert first.reason
    assert second.state == "open"
    assert (await desk.read(older)).state == "open"


async def test_what_another_conversation_proposes_stays_open_and_is_merged(db: Database) -> None:
    desk = await Desk.open(db)
    anchor = {"type": "section", "id": (await desk.section("Risks")).id, "document_id": desk.document_id}
    other = await db.write(
        lambda tx: make_thread(
            tx, desk.team.project_id, desk.team.owner, profile="document", anchor=anchor, title="Risks"
        )
    )
    block = await desk.block(0)
    one = await desk.propose(replacing(block, "The plan is short and nobody reads it."))
    two = await desk.propose(replacing(block, "The plan is long and we read it."), thread_id=other)
    await desk.accept(one)
    await desk.accept(two)
    assert (await desk.block(0)).markdown == "The plan is short and we read it."


async def test_a_tool_call_proposes_once(db: Database) -> None:
    desk = await Desk.open(db)
    effect_id = new_id("effect")
    edit = replacing(await desk.block(0), "The plan.")
    one = await desk.propose(edit, effect_id=effect_id)
    await desk.accept(one)
    two = await desk.propose(edit, effect_id=effect_id)
    assert two.id == one.id
    assert two.edits[0].state == "accepted"


async def test_the_thread_and_the_project_hear_of_everything(db: Database) -> None:
    desk = await Desk.open(db)
    proposal = await desk.propose(replacing(await desk.block(0), "The plan."))
    await desk.accept(proposal)
    in_thread = await names(desk, desk.thread_id)
    assert in_thread == ["proposal.created", "version.created", "edit.resolved"]
    in_project = await names(desk, desk.team.project_id)
    wanted = {"proposal.created", "inbox.changed", "version.created", "edit.resolved", "document.updated"}
    assert wanted <= set(in_project)
    (told,) = await events(desk, desk.thread_id, "edit.resolved")
    assert (told["version"], told["by"]) == (2, desk.team.owner.user_id)
    assert told["edits"][0]["state"] == "accepted"
    waiting = await events(desk, desk.team.project_id, "inbox.changed")
    assert waiting[0]["user_id"] == desk.team.owner.user_id
    assert waiting[0]["item"]["text"] == "Say it shorter"
    assert waiting[-1]["item"] is None


async def commented(desk: Desk) -> tuple[str, str]:
    """A comment, and the conversation about it."""

    def comment(tx: Tx) -> tuple[str, str]:
        comment_id = comments.add(
            tx,
            document_id=desk.document_id,
            project_id=desk.team.project_id,
            by=desk.team.editor.user_id,
            body="Shorter, please.",
        )
        anchor = {"type": "comment", "id": comment_id, "document_id": desk.document_id}
        return comment_id, make_thread(tx, desk.team.project_id, desk.team.owner, profile="document", anchor=anchor)

    return await desk.db.write(comment)


async def test_the_comment_that_was_answered_is_resolved(db: Database) -> None:
    desk = await Desk.open(db)
    comment_id, thread_id = await commented(desk)
    one, two = replacing(await desk.block(0), "The plan."), replacing(await desk.block(1), "Facts.")
    rejected = await desk.propose(one, thread_id=thread_id)
    await desk.reject(rejected, 1)
    assert (await db.read(comments.comment_data, comment_id)).status == "open"
    proposal = await desk.propose(one, two, thread_id=thread_id)
    await desk.accept(proposal, 1)
    assert (await db.read(comments.comment_data, comment_id)).status == "open"
    await desk.reject(proposal, 2)
    shown = await db.read(comments.comment_data, comment_id)
    assert (shown.status, shown.resolved_by) == ("resolved", desk.team.owner.user_id)


async def test_a_comment_is_resolved_by_who_deletes_the_last_block_that_its_agent_would_change(db: Database) -> None:
    desk = await Desk.open(db)
    comment_id, thread_id = await commented(desk)
    first, second = await desk.block(0), await desk.block(1)
    proposal = await desk.propose(replacing(first, "The plan."), replacing(second, "Facts."), thread_id=thread_id)
    await desk.accept(proposal, 1)
    await desk.delete(second, by=desk.team.editor)
    assert [edit.state for edit in await desk.edits(proposal)] == ["accepted", "superseded"]
    shown = await db.read(comments.comment_data, comment_id)
    assert (shown.status, shown.resolved_by) == ("resolved", desk.team.editor.user_id)


async def test_a_comment_waits_for_what_its_agent_proposed_anew(db: Database) -> None:
    desk = await Desk.open(db)
    comment_id, thread_id = await commented(desk)
    one, two = replacing(await desk.block(0), "The plan."), replacing(await desk.block(1), "Facts.")
    older = await desk.propose(one, two, thread_id=thread_id)
    await desk.accept(older, 1)
    newer = await desk.propose(replacing(await desk.block(1), "All facts."), thread_id=thread_id)
    assert (await desk.read(older)).state == "closed"
    assert (await db.read(comments.comment_data, comment_id)).status == "open"
    await desk.reject(newer, 1)
    assert (await db.read(comments.comment_data, comment_id)).status == "resolved"


async def test_edits_of_another_proposal_or_named_twice_are_refused(db: Database) -> None:
    desk = await Desk.open(db)
    one = await desk.propose(replacing(await desk.block(0), "The plan."))
    two = await desk.propose(replacing(await desk.block(1), "Facts."))
    edit_id = two.edits[0].id
    for verdicts in ([decision_on(edit_id, "accept")], [decision_on(one.edits[0].id, "accept")] * 2, []):
        with pytest.raises(MalformedInput):
            await desk.decide(one, *verdicts)
    with pytest.raises(NotFound):
        await desk.decide(one, decision_on("edt_none", "accept"))
    with pytest.raises(MalformedInput):
        await desk.accept(await desk.propose(deleting(await desk.block(2))), 1, text="no text here")


async def test_an_agent_writes_the_first_text_of_an_empty_document(db: Database) -> None:
    desk = await Desk.open(db, {})
    proposal = await desk.propose(
        NewEdit("insert", new_text="Hello.\n\nWorld."),
        NewEdit("insert", new_text="Bye."),
        NewEdit("insert_section", heading="One", level=1, new_text="Text."),
    )
    await desk.accept(proposal, 1)
    await desk.accept(proposal)
    tree = await desk.tree()
    assert [(one.heading, [block.markdown for block in one.blocks]) for one in tree.sections] == [
        ("", ["Hello.", "World.", "Bye."]),
        ("One", ["Text."]),
    ]


async def test_a_deleted_section_ends_what_was_to_be_put_there(db: Database) -> None:
    desk = await Desk.open(db)
    intro, risks = await desk.section("Introduction"), await desk.section("Risks")
    away = await desk.propose(
        inserting(risks, "First of all."),
        inserting(risks.blocks[0], "More."),
        moving(intro.blocks[0], risks.blocks[1]),
        replacing(risks.blocks[0], "Three risks."),
        NewEdit("insert_section", after_id=risks.id, heading="End", new_text="Bye."),
    )
    await desk.write(delete_section(risks.id))
    now = await desk.edits(away)
    assert [edit.state for edit in now] == ["superseded"] * 4 + ["open"]
    assert now[0].reason == "The section that it was to go into was deleted in version 2."
    assert now[4].after_id == intro.id
    await desk.accept(away)
    assert [one.heading for one in (await desk.tree()).sections] == ["Introduction", "End"]


async def test_what_stays_when_a_section_is_deleted_but_its_blocks_are_kept_is_still_decided(db: Database) -> None:
    desk = await Desk.open(db)
    risks = await desk.section("Risks")
    proposal = await desk.propose(replacing(risks.blocks[0], "Three risks."), inserting(risks.blocks[0], "More."))
    await desk.write(delete_section(risks.id, keep_blocks=True))
    await desk.accept(proposal)
    assert (await desk.texts())[3:] == ["Three risks.", "More.", "- money\n- time\n- people"]


async def test_a_version_names_the_answer_also_where_its_run_ended_later(db: Database) -> None:
    desk = await Desk.open(db)
    proposal = await desk.propose(replacing(await desk.block(0), "The plan."))
    await desk.accept(proposal)
    assert (await db.read(history.version_of, desk.document_id, 2)).message_id is None
    answer = await db.write(say, desk.thread_id, None, "Shorter now.")
    await db.write(lambda tx: tx.update(runs, {"id": proposal.run_id}, answer_id=answer))
    assert (await db.read(history.version_of, desk.document_id, 2)).message_id == answer
    assert (await desk.read(proposal)).message_id == answer


async def test_proposals_go_with_their_document(db: Database) -> None:
    desk = await Desk.open(db)
    proposal = await desk.propose(replacing(await desk.block(0), "The plan."))
    await db.write(store.delete, desk.document_id)
    with pytest.raises(NotFound):
        await desk.read(proposal)
    assert await db.read(lambda tx: tx.exists(documents, {"id": desk.document_id})) is False
