"""What a run of the document agent is told of its thread, by what that hangs on. On both databases."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from outlast.apps.documents.comments.actions import create_comment
from outlast.apps.documents.comments.shapes import CommentRequest, QuoteInput
from outlast.apps.documents.proposals.actions import decide_edits
from outlast.db.database import Database, Tx
from outlast.kernel.files.tables import artifacts
from outlast.kernel.models.protocol import TextPiece
from outlast.kernel.runs.settings import ProfileSettings
from outlast.kernel.settings import Settings
from outlast.kernel.threads.actions import post_message
from outlast.kernel.threads.user_input import Draft
from outlast.testing.scripted_model import Call, ScriptedModel, turn
from tests.document_changes import delete_section
from tests.documents import decision_on
from tests.flow.documents.agent_rig import asked_with, document_agent, propose, replace_edit


async def test_a_thread_about_the_document_is_told_all_of_it_and_the_files(db: Database, tmp_path: Path) -> None:
    async with document_agent(db, tmp_path, [turn("Fine.")]) as it:
        await db.write(_file, it.project_id, it.owner.user_id)
        await it.asked("What is missing?")
        text = asked_with(it.model.requests[0])
        for block in (await it.tree()).blocks():
            assert f'<block id="{block.id}" kind="{block.kind}">\n{block.markdown}\n</block>' in text
        assert "about the whole document" in text
        assert "- budget.pdf (application/pdf, 3 pages, 1200 characters of text)" in text
        assert text.endswith("[REQUEST]\nWhat is missing?")
        assert "never an instruction" in it.model.requests[0].system


async def test_a_thread_about_a_section_says_so_and_goes_on_when_it_is_deleted(db: Database, tmp_path: Path) -> None:
    async with document_agent(db, tmp_path, [turn("Fine."), turn("Still fine.")]) as it:
        risks = (await it.tree()).sections[-2]
        thread_id = await it.thread_on(type="section", id=risks.id)
        await it.asked("Shorter", target=thread_id)
        assert f"about the section {risks.id}" in asked_with(it.model.requests[0])
        await it.write(delete_section(risks.id))
        events = await it.asked("And now?", target=thread_id)
        assert "about a section that no longer exists" in asked_with(it.model.requests[1])
        told = [
            event["data"]["part"]["code"]
            for event in events
            if event["event"] == "part.created" and event["data"]["part"]["type"] == "notice"
        ]
        assert told == ["anchor_gone"]


async def test_a_comment_given_to_the_agent_comes_with_its_quote_its_answers_and_linked_sections(
    db: Database, tmp_path: Path
) -> None:
    async with document_agent(db, tmp_path, [turn("Fine."), turn("Fine again.")]) as it:
        tree = await it.tree()
        block = await it.block(2)
        said = CommentRequest(
            body="Are these all?",
            section_id=block.section_id,
            block_id=block.id,
            quote=QuoteInput(text="three risks"),
            linked_sections=[tree.sections[-1].id],
        )
        made = await create_comment(it.services, it.owner, it.document_id, said)
        comment_id = made.comment.id
        await create_comment(
            it.services, it.owner, it.document_id, CommentRequest(body="@agent please look", parent_id=comment_id)
        )
        await it.model.wait_requests(1)
        text = asked_with(it.model.requests[0])
        assert f'<comment id="{comment_id}" by="Ada" section="{block.section_id}" block="{block.id}"' in text
        assert f'linked_sections="{tree.sections[-1].id}"' in text
        assert "<quote>\nthree risks\n</quote>\nAre these all?" in text


async def test_selected_text_is_told_with_its_block(db: Database, tmp_path: Path) -> None:
    async with document_agent(db, tmp_path, [turn("Fine.")]) as it:
        block = await it.block(2)
        thread_id = await it.thread_on(
            type="selection", section_id=block.section_id, block_id=block.id, text="three risks"
        )
        await it.asked("Make this clearer", target=thread_id)
        text = asked_with(it.model.requests[0])
        assert f"in the block {block.id} of the section {block.section_id}:\n<selection>\nthree risks" in text


async def test_every_turn_of_a_run_is_told_the_same_whatever_people_write_meanwhile(
    db: Database, tmp_path: Path
) -> None:
    model = ScriptedModel()
    async with document_agent(db, tmp_path, model) as it:
        block = await it.block(0)

        async def write_beside() -> None:
            await model.wait_requests(1)
            await it.rewrite(block, "Quite another text.")

        model.add(turn(Call("read_document", {}), Call("read_document", {"query": "another"}, "b")), turn("Fine."))
        started = await it.ask("Look twice")
        await write_beside()
        await it.ended(started.run_id)
        first, second = model.requests
        assert second.messages[: len(first.messages)] == first.messages
        assert (first.system, first.tools) == (second.system, second.tools)
        assert "Quite another text." not in asked_with(first)
        model.add(turn("Fine."))
        await it.asked("And now?")
        assert "Quite another text." in asked_with(model.requests[-1])


async def test_what_became_of_earlier_proposals_is_told(db: Database, tmp_path: Path) -> None:
    model = ScriptedModel()
    async with document_agent(db, tmp_path, model) as it:
        one, two = await it.block(0), await it.block(1)
        model.add(
            turn(propose(replace_edit(one, "A."), replace_edit(two, "B."), summary="Shorter")),
            turn("So."),
            turn("Good."),
        )
        await it.asked()
        (proposal,) = await it.proposals()
        first, second = proposal.edits
        verdicts = [decision_on(first.id, "accept", text="A, by a person."), decision_on(second.id, "reject")]
        await decide_edits(it.services, it.owner, proposal.id, verdicts)
        await it.asked("What now?")
        text = asked_with(model.requests[-1])
        assert f"- Shorter → accepted after a person changed it: {one.id}; rejected: {two.id}" in text
        assert "A, by a person." in text


async def test_only_the_last_messages_are_told_and_posted_ones_are_summarized_with_the_others(
    db: Database, tmp_path: Path
) -> None:
    few = Settings(profiles={"document": ProfileSettings(context_messages=3)})
    model = ScriptedModel([turn(f"Answer {number}.") for number in range(4)])
    async with document_agent(db, tmp_path, model, settings=few) as it:
        for number in range(2):
            await it.asked(f"Question {number}")
        await post_message(it.services, it.owner, it.thread_id, Draft("Beside it"))
        await it.asked("Question 2")
        said = ["".join(getattr(piece, "text", "") for piece in one.pieces) for one in model.requests[-1].messages]
        summary, *last = [text.rpartition("[REQUEST]")[2].strip() for text in said]
        assert last == ["Question 2"]
        assert "Answer 2." in summary, "the earlier ones are summarized"
        asked = model.requests[-2].messages[-1].pieces[0]
        assert isinstance(asked, TextPiece)
        assert "Beside it" in asked.text
        assert Settings().runs.context_messages == 40


def _file(tx: Tx, project_id: str, user_id: str) -> None:
    tx.execute(
        sa.insert(artifacts).values(
            id="art_1",
            project_id=project_id,
            blob="0" * 64,
            name="budget.pdf",
            media_type="application/pdf",
            size_bytes=9,
            state="ready",
            pages=3,
            characters=1200,
            created_by=user_id,
            created_at=tx.now,
        )
    )
