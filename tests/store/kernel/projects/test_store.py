"""Projects, members and invitations, on both databases."""

from __future__ import annotations

from datetime import timedelta

import anyio
import orjson
import pytest
import sqlalchemy as sa

from outlast.base.errors import AlreadyMember, LastOwner, NotFound
from outlast.db.database import Database, Tx
from outlast.kernel.projects import invitations, store
from outlast.kernel.projects.rows import ProjectRow
from outlast.kernel.projects.rules import Role
from outlast.kernel.projects.shapes import InvitationAnswer
from outlast.kernel.projects.tables import projects
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.streams.log_store import read_all
from outlast.kernel.streams.rows import LogRow
from outlast.kernel.streams.tables import log
from outlast.kernel.threads.rows import MessageRow, SearchEntryRow
from outlast.kernel.threads.tables import messages, search_entries
from tests.factories import Team, make_project, make_thread, make_user


def logged(tx: Tx, stream_id: str) -> list[str]:
    return [orjson.loads(line)["event"] for _, line in read_all(tx, stream_id)]


async def test_a_user_has_one_default_project_and_gets_a_new_one_when_it_is_gone(db: Database) -> None:
    def run(tx: Tx) -> None:
        ada = make_user(tx)
        first = store.ensure_default_project(tx, ada.user_id)
        assert store.ensure_default_project(tx, ada.user_id) == first
        store.delete_project(tx, first)
        assert store.ensure_default_project(tx, ada.user_id) != first

    await db.write(run)


async def test_who_was_removed_from_the_own_default_project_gets_another(db: Database) -> None:
    def run(tx: Tx) -> None:
        ada, bob = make_user(tx), make_user(tx, "Bob")
        first = store.ensure_default_project(tx, ada.user_id)
        store.add_member(tx, first, bob.user_id, Role.OWNER)
        store.remove_member(tx, first, ada.user_id)
        second = store.ensure_default_project(tx, ada.user_id)
        assert [p.id for p in store.list_projects(tx, ada.user_id)] == [second]

    await db.write(run)


async def test_a_project_shows_its_members_their_own_role(db: Database) -> None:
    def run(tx: Tx) -> None:
        team = Team(tx)
        seen = store.project_data(tx, team.project_id, team.editor.user_id)
        assert (seen.role, seen.thread_count) == ("editor", 1)
        with pytest.raises(NotFound):
            store.project_data(tx, team.project_id, team.stranger.user_id)

    await db.write(run)


async def test_members_come_change_and_go_with_an_event_each(db: Database) -> None:
    def run(tx: Tx) -> None:
        ada, bob = make_user(tx), make_user(tx, "Bob")
        project_id = make_project(tx, ada)
        store.add_member(tx, project_id, bob.user_id, Role.VIEWER)
        with pytest.raises(AlreadyMember):
            store.add_member(tx, project_id, bob.user_id, Role.EDITOR)
        assert store.change_role(tx, project_id, bob.user_id, Role.EDITOR).role == "editor"
        assert [(m.name, m.role) for m in store.list_members(tx, project_id)] == [("Ada", "owner"), ("Bob", "editor")]
        store.remove_member(tx, project_id, bob.user_id)
        store.rename_project(tx, project_id, "New name")
        assert logged(tx, project_id) == ["member.added", "member.changed", "member.removed", "project.updated"]

    await db.write(run)


async def test_the_last_owner_stays(db: Database) -> None:
    def run(tx: Tx) -> None:
        team = Team(tx)
        with pytest.raises(LastOwner):
            store.remove_member(tx, team.project_id, team.owner.user_id)
        with pytest.raises(LastOwner):
            store.change_role(tx, team.project_id, team.owner.user_id, Role.VIEWER)
        store.change_role(tx, team.project_id, team.editor.user_id, Role.OWNER)
        store.remove_member(tx, team.project_id, team.owner.user_id)

    await db.write(run)


async def test_two_owners_who_leave_at_once_do_not_both_succeed(db: Database) -> None:
    def prepare(tx: Tx) -> tuple[str, list[str]]:
        ada, bob = make_user(tx, "Ada"), make_user(tx, "Bob")
        project_id = make_project(tx, ada)
        store.add_member(tx, project_id, bob.user_id, Role.OWNER)
        return project_id, [ada.user_id, bob.user_id]

    project_id, owners = await db.write(prepare)
    refused: list[str] = []

    async def leave(user_id: str) -> None:
        try:
            await db.write(store.remove_member, project_id, user_id)
        except LastOwner:
            refused.append(user_id)

    async with anyio.create_task_group() as tasks:
        for user_id in owners:
            tasks.start_soon(leave, user_id)
    left = await db.read(store.list_members, project_id)
    assert [member.user_id for member in left] == refused


async def test_deleting_a_project_leaves_nothing_behind(db: Database) -> None:
    def run(tx: Tx) -> None:
        team = Team(tx)
        other = make_thread(tx, make_project(tx, team.stranger), team.stranger, "stays")
        store.rename_project(tx, team.project_id, "Renamed")
        store.delete_project(tx, team.project_id)
        assert [row.thread_id for row in tx.rows(MessageRow, sa.select(messages))] == [other]
        tx.end()
        assert {row.stream_id for row in tx.rows(LogRow, sa.select(log))} == {other}
        assert {row.thread_id for row in tx.rows(SearchEntryRow, sa.select(search_entries))} == {other}
        assert len(tx.rows(ProjectRow, sa.select(projects))) == 1

    await db.write(run)


async def test_an_invitation_is_good_for_one_person_once(db: Database) -> None:
    def run(tx: Tx) -> None:
        ada, bob = make_user(tx), make_user(tx, "Bob")
        project_id = make_project(tx, ada)
        made, secret = invitations.add_invitation(
            tx, project_id, ada.user_id, Role.EDITOR, "Bob", tx.now + timedelta(days=1)
        )
        assert invitations.list_invitations(tx, project_id) == [shape_of(InvitationAnswer, made)]
        invitations.accept(tx, invitations.open_invitation(tx, secret), bob.user_id)
        assert store.member_data(tx, project_id, bob.user_id).role == "editor"
        assert invitations.list_invitations(tx, project_id) == []
        with pytest.raises(NotFound, match="already been used"):
            invitations.open_invitation(tx, secret)

    await db.write(run)


async def test_an_expired_or_withdrawn_invitation_is_refused(db: Database) -> None:
    def run(tx: Tx) -> None:
        ada = make_user(tx)
        project_id = make_project(tx, ada)
        ends = tx.now + timedelta(days=1)
        (_, short), (withdrawn, lost) = (
            invitations.add_invitation(tx, project_id, ada.user_id, Role.VIEWER, "", ends) for _ in range(2)
        )
        invitations.withdraw(tx, withdrawn.id)
        tx.now = ends
        for secret in (short, lost):
            with pytest.raises(NotFound):
                invitations.open_invitation(tx, secret)
        assert invitations.list_invitations(tx, project_id) == []

    await db.write(run)
