"""Joining and leaving."""

from __future__ import annotations

from pathlib import Path

import pytest

from outlast.base.errors import AlreadyMember, MalformedInput, NotFound, NotSignedIn
from outlast.db.database import Database
from outlast.kernel.accounts import actions as accounts
from outlast.kernel.accounts.actor import ACCESS_BELL
from outlast.kernel.locks import actions as locks
from outlast.kernel.projects import actions as projects
from outlast.kernel.projects import invitation_actions
from outlast.kernel.projects import member_actions as members
from outlast.kernel.threads import actions as threads
from tests.factories import Team, make_services


async def test_who_opens_an_invitation_signed_out_becomes_a_user_with_token_and_session(
    db: Database, tmp_path: Path
) -> None:
    services = make_services(db, tmp_path)
    team = await db.write(Team)
    made = await invitation_actions.create_invitation(services, team.owner, team.project_id, "editor", "  New one ")
    joined, cookie = await invitation_actions.accept_invitation(services, None, made.token, "Nora")
    assert joined.token is not None
    assert cookie is not None
    by_token = await accounts.actor_for_token(services, joined.token)
    by_cookie = await accounts.actor_for_session(services, cookie)
    assert by_cookie is not None
    assert (by_token.user_id, by_token.name) == (by_cookie.user_id, by_cookie.name) == (joined.user.id, "Nora")
    assert (await threads.open_thread(services, by_token, team.thread_id))["project_role"] == "editor"
    assert (await accounts.read_me(services, by_token))[1] != team.project_id
    await accounts.revoke_token(services, by_token, by_token.token_id or "")
    assert await accounts.actor_for_session(services, cookie) is None
    with pytest.raises(NotSignedIn):
        await accounts.actor_for_token(services, joined.token)


async def test_who_is_signed_in_joins_as_who_they_are_and_the_link_stays_good_when_they_already_are(
    db: Database, tmp_path: Path
) -> None:
    services = make_services(db, tmp_path)
    team = await db.write(Team)
    made = await invitation_actions.create_invitation(services, team.owner, team.project_id, "viewer")
    with pytest.raises(AlreadyMember):
        await invitation_actions.accept_invitation(services, team.editor, made.token)
    joined, cookie = await invitation_actions.accept_invitation(services, team.stranger, made.token)
    assert (joined.user.id, joined.token, cookie) == (team.stranger.user_id, None, None)
    assert (await projects.read_project(services, team.stranger, team.project_id)).role == "viewer"


async def test_an_invitation_without_any_name_asks_for_one(db: Database, tmp_path: Path) -> None:
    services = make_services(db, tmp_path)
    team = await db.write(Team)
    made = await invitation_actions.create_invitation(services, team.owner, team.project_id, "viewer")
    with pytest.raises(MalformedInput, match="Your name is empty"):
        await invitation_actions.accept_invitation(services, None, made.token)


@pytest.mark.parametrize("days", [0, -1, 4000, float("nan"), float("inf")])
async def test_a_senseless_expiry_is_refused(db: Database, tmp_path: Path, days: float) -> None:
    services = make_services(db, tmp_path)
    team = await db.write(Team)
    with pytest.raises(MalformedInput):
        await invitation_actions.create_invitation(services, team.owner, team.project_id, "viewer", "", days)
    with pytest.raises(MalformedInput):
        await accounts.create_token(services, team.owner, "name", days)


async def test_withdrawing_takes_an_owner(db: Database, tmp_path: Path) -> None:
    services = make_services(db, tmp_path)
    team = await db.write(Team)
    made = await invitation_actions.create_invitation(services, team.owner, team.project_id, "viewer")
    with pytest.raises(NotFound):
        await invitation_actions.withdraw_invitation(services, team.stranger, made.id)
    await invitation_actions.withdraw_invitation(services, team.owner, made.id)
    with pytest.raises(NotFound):
        await invitation_actions.accept_invitation(services, team.stranger, made.token)


async def test_anybody_may_leave_and_lets_go_of_what_they_drove(db: Database, tmp_path: Path) -> None:
    services = make_services(db, tmp_path)
    team = await db.write(Team)
    await locks.take_lock(services, team.editor, team.thread_id)
    await members.remove_member(services, team.editor, team.project_id, team.editor.user_id)
    assert (await threads.open_thread(services, team.owner, team.thread_id))["lock"] is None
    with pytest.raises(NotFound):
        await threads.open_thread(services, team.editor, team.thread_id)


async def test_who_becomes_a_viewer_lets_go_too(db: Database, tmp_path: Path) -> None:
    services = make_services(db, tmp_path)
    team = await db.write(Team)
    await locks.take_lock(services, team.editor, team.thread_id)
    await members.change_member(services, team.owner, team.project_id, team.editor.user_id, "viewer")
    assert (await threads.open_thread(services, team.owner, team.thread_id))["lock"] is None
    with pytest.raises(MalformedInput):
        await members.change_member(services, team.owner, team.project_id, team.editor.user_id, "king")


async def test_the_local_owner_is_the_same_at_every_start(db: Database, tmp_path: Path) -> None:
    services = make_services(db, tmp_path)
    owner = await accounts.ensure_local_owner(services)
    assert await accounts.ensure_local_owner(services) == owner
    me, project_id = await accounts.read_me(services, owner)
    assert (me.plan, [p.id for p in await projects.list_projects(services, owner)]) == ("unlimited", [project_id])


async def test_losing_a_token_a_session_or_a_membership_tells_open_streams(db: Database, tmp_path: Path) -> None:
    # Streams asked every ten seconds only, and a removed member went on reading for as long.
    services = make_services(db, tmp_path)
    team = await db.write(Team)
    heard: list[str] = []
    db.on_notice(heard.append)
    made = await accounts.create_token(services, team.editor, "laptop")
    cookie = await accounts.open_session(services, team.editor)
    for losing in (
        accounts.end_session(services, cookie),
        accounts.revoke_token(services, team.editor, made.id),
        members.remove_member(services, team.owner, team.project_id, team.editor.user_id),
    ):
        heard.clear()
        await losing
        assert ACCESS_BELL in heard
