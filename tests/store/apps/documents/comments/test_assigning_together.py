"""People who give the same comment away at the same moment."""

from __future__ import annotations

from pathlib import Path

import anyio
import sqlalchemy as sa

from outlast.apps.documents.comments import actions
from outlast.apps.documents.comments import store as comments
from outlast.apps.documents.comments.shapes import AssignRequest, CommentPatch, CommentRequest
from outlast.base.errors import ThreadLocked
from outlast.db.database import Database
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.runs.tables import runs
from outlast.kernel.services import Services
from outlast.kernel.threads.tables import messages, threads
from outlast.testing.agents import FakeAgent
from tests.document_changes import insert_block
from tests.documents import Desk
from tests.factories import make_services


def services_of(db: Database, folder: Path) -> Services:
    return make_services(db, folder, agents=[FakeAgent(), FakeAgent(name="document")])


async def test_a_comment_gets_one_conversation_however_many_give_it_to_the_agent(db: Database, tmp_path: Path) -> None:
    desk, services = await Desk.open(db), services_of(db, tmp_path)
    team = desk.team
    made = await actions.create_comment(services, team.editor, desk.document_id, CommentRequest(body="Shorter."))
    outcomes: list[str] = []

    async def give(actor: Actor) -> None:
        try:
            given = await actions.assign_comment(services, actor, made.comment.id, AssignRequest(to="agent"))
            outcomes.append(str(given.thread_id))
        except ThreadLocked:
            outcomes.append("locked")

    async with anyio.create_task_group() as tasks:
        for actor in (team.editor, team.owner, team.editor, team.owner):
            tasks.start_soon(give, actor)
    won = {outcome for outcome in outcomes if outcome != "locked"}
    assert len(won) == 1
    assert outcomes.count("locked") == 2  # whoever came second, both times
    mine = threads.c.id == messages.c.thread_id
    said = sa.select(sa.func.count()).select_from(messages.join(threads, mine)).where(threads.c.id.in_(won))
    assert await db.read(lambda tx: tx.execute(said).scalar_one()) == 2
    assert await db.read(lambda tx: tx.execute(sa.select(sa.func.count()).select_from(runs)).scalar_one()) == 2
    assert (await db.read(comments.comment_data, made.comment.id)).thread_id in won


async def test_comments_and_edits_of_several_people_at_once_all_arrive(db: Database, tmp_path: Path) -> None:
    desk, services = await Desk.open(db), services_of(db, tmp_path)
    team, block = desk.team, await desk.block(0)

    async def talk(actor: Actor, number: int) -> None:
        written = CommentRequest(body=f"@Olga @Emil {number}", block_id=block.id)
        made = await actions.create_comment(services, actor, desk.document_id, written)
        await actions.create_comment(
            services, actor, desk.document_id, CommentRequest(body="Yes.", parent_id=made.comment.id)
        )
        await actions.change_comment(services, actor, made.comment.id, CommentPatch(status="resolved"))

    async def edit(number: int) -> None:
        await desk.write(insert_block(block.section_id, block.id, f"More of it: {number}."))

    async with anyio.create_task_group() as tasks:
        for number in range(4):
            tasks.start_soon(talk, team.editor if number % 2 else team.owner, number)
            tasks.start_soon(edit, number)
    listed = await actions.list_comments(services, team.viewer, desk.document_id, "all", None, 500)
    tops = [one for one in listed.items if one.parent_id is None]
    assert (len(listed.items), len(tops), {one.status for one in tops}) == (8, 4, {"resolved"})
    assert not any(one.orphaned for one in listed.items)
