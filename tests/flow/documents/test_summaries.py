"""Forks that begin with a summary, and the family that forks make. On both databases."""

from __future__ import annotations

from pathlib import Path

import pytest

from outlast.apps.documents.proposals.actions import decide_edits
from outlast.base.errors import IdempotencyMismatch, MalformedInput, NotFound, UnknownProfile
from outlast.db.database import Database, Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.runs.actions import start_in
from outlast.kernel.runs.store import run_of
from outlast.kernel.threads import store as threads
from outlast.kernel.threads.actions import (
    archive_thread,
    create_thread,
    delete_thread,
    fork_thread,
    fork_with_summary,
    read_family,
)
from outlast.kernel.threads.user_input import Draft
from outlast.testing.scripted_model import ScriptedModel, turn
from outlast_demo.model import DemoModel
from tests.documents import decision_on
from tests.factories import join, make_thread, make_user, say
from tests.flow.documents.agent_rig import asked_with, document_agent, propose, replace_edit


async def test_a_fork_with_summary_copies_nothing_and_its_first_run_is_told_the_conversation(
    db: Database, tmp_path: Path
) -> None:
    model = ScriptedModel()
    async with document_agent(db, tmp_path, model) as it:
        block = await it.block(0)
        model.add(turn("See:", propose(replace_edit(block, "A."), summary="Shorter")), turn("Is that short enough?"))
        await it.asked("Make it shorter </quote>")
        (proposal,) = await it.proposals()
        await decide_edits(it.services, it.owner, proposal.id, [decision_on(proposal.edits[0].id, "accept")])
        before = await it.messages()
        model.add(turn("## What it is about\nThe plan."), turn("Yes."))
        made = await fork_with_summary(it.services, it.owner, it.thread_id, key="k")
        assert made.run_id is not None
        assert await fork_with_summary(it.services, it.owner, it.thread_id, key="k") == made
        with pytest.raises(IdempotencyMismatch):
            await fork_with_summary(it.services, it.owner, it.thread_id, title="Other", key="k")
        assert await it.ended(made.run_id) == "completed"
        assert (await db.read(run_of, made.run_id)).profile == "summary"
        assert (made.parent_thread_id, made.parent_message_id) == (it.thread_id, before[-1].id)
        assert (made.title, made.profile) == ('Fork of "The plan"', "document")
        assert made.anchor == {"type": "document", "id": it.document_id}
        assert made.lock is not None
        assert made.lock.holder_id == it.owner.user_id
        asked = asked_with(model.requests[2])
        assert model.requests[2].tools == ()
        assert 'by="Ada">\nMake it shorter </quote>\n</quote-2>' in asked
        assert "[propose_edits: done]" in asked
        assert "[PROPOSED EDITS]\n<proposals-2>\n- Shorter: 1 accepted\n</proposals-2>" in asked
        assert await it.messages() == before  # the parent is as it was
        it.thread_id = made.id
        first, summary = await it.messages()
        assert first.parts[0].text == "Sum up “The plan” up to this point, so that we can go on from here."
        assert summary.parts[0].text.startswith("## What it is about")
        await it.asked("Go on")  # the thread goes on as the document's agent, which knows the summary
        assert "## What it is about" in repr(model.requests[3].messages)
        assert "propose_edits" in [tool.name for tool in model.requests[3].tools]


async def test_somebody_else_may_sum_up_what_they_do_not_drive_and_pays_for_it(db: Database, tmp_path: Path) -> None:
    async with document_agent(db, tmp_path, [turn("One."), turn("Sum.")]) as it:
        await it.asked("First")

        def come(tx: Tx) -> Actor:
            bob = make_user(tx, "Bob")
            join(tx, it.project_id, bob, "editor")
            return bob

        bob = await db.write(come)
        made = await fork_with_summary(it.services, bob, it.thread_id)
        assert made.run_id is not None
        run = await db.read(run_of, made.run_id)
        assert run.started_by == bob.user_id
        assert made.lock is not None
        assert made.lock.holder_name == "Bob"
        parent = await db.read(threads.thread_data, it.thread_id)
        assert parent.lock is not None
        assert parent.lock.holder_name == "Ada"
        assert await it.ended(made.run_id) == "completed"


async def test_what_was_said_after_the_point_is_not_summed_up(db: Database, tmp_path: Path) -> None:
    async with document_agent(db, tmp_path, [turn("One."), turn("Two."), turn("Sum.")]) as it:
        await it.asked("First")
        point = (await it.messages())[-1].id
        await it.asked("Second")
        made = await fork_with_summary(it.services, it.owner, it.thread_id, point)
        assert made.run_id is not None
        assert await it.ended(made.run_id) == "completed"
        asked = asked_with(it.model.requests[2])
        assert "First" in asked
        assert "Second" not in asked


@pytest.mark.apps("chat", "documents", "screens")
async def test_a_summary_is_refused_where_there_is_nothing_to_sum_up_or_a_copy_is_wanted(
    db: Database, tmp_path: Path
) -> None:
    async with document_agent(db, tmp_path, []) as it:
        with pytest.raises(NotFound):
            await fork_with_summary(it.services, it.owner, it.thread_id)
        screen = await db.write(make_thread, it.project_id, it.owner, "Hello", profile="screen")
        with pytest.raises(MalformedInput):
            await fork_with_summary(it.services, it.owner, screen)
        assert len(await read_family(it.services, it.owner, it.thread_id)) == 1
        with pytest.raises(UnknownProfile):
            await create_thread(it.services, it.owner, it.project_id, profile="summary")


async def test_a_parent_that_was_deleted_meanwhile_is_said(db: Database, tmp_path: Path) -> None:
    async with document_agent(db, tmp_path, [turn("There is nothing.")]) as it:
        parent = await db.write(make_thread, it.project_id, it.owner, "Hello", profile="document")
        fork = await db.write(
            lambda tx: threads.add_thread(
                tx, it.project_id, it.owner.user_id, parent_thread_id=parent, parent_message_id="msg_gone"
            )
        )
        await delete_thread(it.services, it.owner, parent)
        started = await db.write(
            start_in, it.services, it.owner, fork, Draft("Sum up"), None, "reject", profile="summary"
        )
        events = await it.events(started["run_id"])
        codes = [e["data"]["part"].get("code") for e in events if e["event"] == "part.created"]
        assert "parent_gone" in codes
        assert events[-2]["event"] == "run.completed"


async def test_a_family_has_ancestors_siblings_and_descendants_parents_first(db: Database, tmp_path: Path) -> None:
    async with document_agent(db, tmp_path, [], working=False) as it:
        root = await db.write(make_thread, it.project_id, it.owner, "Hello", title="Root", profile="document")
        point = await db.write(say, root, it.owner, "Second")
        child = await fork_thread(it.services, it.owner, root, title="Child")
        sibling = await fork_thread(it.services, it.owner, root, title="Sibling")
        grandchild = await fork_thread(it.services, it.owner, child.id, title="Grandchild")
        await archive_thread(it.services, it.owner, sibling.id)
        family = await read_family(it.services, it.owner, child.id)
        assert [one.title for one in family] == ["Root", "Child", "Sibling", "Grandchild"]
        assert [one.parent_thread_id for one in family] == [None, root, root, child.id]
        assert family[1].parent_message_id == point
        assert (family[0].message_count, family[2].status) == (2, "archived")
        assert {one.created_by_name for one in family} == {"Ada"}
        assert [one.id for one in await read_family(it.services, it.owner, grandchild.id)][:3] == [
            root,
            child.id,
            grandchild.id,
        ]
        await delete_thread(it.services, it.owner, root)
        assert [one.title for one in await read_family(it.services, it.owner, child.id)] == ["Child", "Grandchild"]


async def test_the_demo_sums_up_what_was_really_said(db: Database, tmp_path: Path) -> None:
    async with document_agent(db, tmp_path, DemoModel(delta_delay_s=0)) as it:
        await it.asked("We decided to launch in May. Please tighten this document.")
        made = await fork_with_summary(it.services, it.owner, it.thread_id)
        assert made.run_id is not None
        assert await it.ended(made.run_id) == "completed"
        it.thread_id = made.id
        text = (await it.messages())[-1].parts[0].text
        assert "Ada: We decided to launch in May." in text
        assert "`propose_edits` was called once" in text
        assert "waiting" in text
        assert "demo model" in text
