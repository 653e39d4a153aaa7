"""Every action as stranger, viewer, editor and owner."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from outlast.base.errors import Conflict, Forbidden, NotFound
from outlast.db.database import Database
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.agents import actions as agents
from outlast.kernel.attachments import actions as attachments
from outlast.kernel.locks import actions as locks
from outlast.kernel.presence import actions as presence
from outlast.kernel.projects import actions as projects
from outlast.kernel.projects import invitation_actions
from outlast.kernel.projects import member_actions as members
from outlast.kernel.projects.store import ProjectAgents
from outlast.kernel.services import Services
from outlast.kernel.threads import actions as threads
from outlast.kernel.threads.user_input import Draft
from tests.factories import Team, join, list_inbox, make_services, make_user
from tests.unit.base.test_image_formats import PNG

Act = Callable[[Services, Actor, Any], Awaitable[Any]]
ACTIONS: dict[str, tuple[str, Act]] = {
    "read project": ("viewer", lambda s, a, t: projects.read_project(s, a, t.project_id)),
    "rename project": ("editor", lambda s, a, t: projects.rename_project(s, a, t.project_id, "New")),
    "delete project": ("owner", lambda s, a, t: projects.delete_project(s, a, t.project_id)),
    "list members": ("viewer", lambda s, a, t: members.list_members(s, a, t.project_id)),
    "change member": ("owner", lambda s, a, t: members.change_member(s, a, t.project_id, t.viewer.user_id, "editor")),
    "remove member": ("owner", lambda s, a, t: members.remove_member(s, a, t.project_id, t.victim.user_id)),
    "invite": ("owner", lambda s, a, t: invitation_actions.create_invitation(s, a, t.project_id, "viewer")),
    "list invitations": ("owner", lambda s, a, t: invitation_actions.list_invitations(s, a, t.project_id)),
    "list agents": ("viewer", lambda s, a, t: agents.list_agents(s, a, t.project_id)),
    "choose agent": ("editor", lambda s, a, t: agents.choose_agent(s, a, t.thread_id, "chat")),
    "read agents of project": ("viewer", lambda s, a, t: agents.read_project_agents(s, a, t.project_id)),
    "change agents of project": (
        "owner",
        lambda s, a, t: agents.change_project_agents(s, a, t.project_id, ProjectAgents(None, "Be brief.")),
    ),
    "list threads": ("viewer", lambda s, a, t: threads.list_threads(s, a, t.project_id)),
    "search threads": ("viewer", lambda s, a, t: threads.list_threads(s, a, t.project_id, query="first")),
    "create thread": ("editor", lambda s, a, t: threads.create_thread(s, a, t.project_id)),
    "read thread": ("viewer", lambda s, a, t: threads.open_thread(s, a, t.thread_id)),
    "rename thread": ("editor", lambda s, a, t: threads.rename_thread(s, a, t.thread_id, "New")),
    "archive thread": ("editor", lambda s, a, t: threads.archive_thread(s, a, t.thread_id)),
    "unarchive thread": ("editor", lambda s, a, t: threads.unarchive_thread(s, a, t.thread_id)),
    "fork thread": ("editor", lambda s, a, t: threads.fork_thread(s, a, t.thread_id)),
    "delete thread": ("owner", lambda s, a, t: threads.delete_thread(s, a, t.thread_id)),
    "list messages": ("viewer", lambda s, a, t: threads.list_messages(s, a, t.thread_id)),
    "post message": ("editor", lambda s, a, t: threads.post_message(s, a, t.thread_id, Draft("hello"))),
    "take lock": ("editor", lambda s, a, t: locks.take_lock(s, a, t.thread_id)),
    "release lock": ("editor", lambda s, a, t: locks.release_lock(s, a, t.thread_id)),
    "request lock": ("editor", lambda s, a, t: locks.request_lock(s, a, t.thread_id)),
    "hand over lock": ("editor", lambda s, a, t: locks.hand_over_lock(s, a, t.thread_id, t.owner.user_id)),
    "type": ("editor", lambda s, a, t: presence.set_typing(s, a, t.thread_id, True)),
    "upload": ("editor", lambda s, a, t: attachments.upload_attachment(s, a, t.project_id, "a.png", PNG)),
    "open attachment": ("viewer", lambda s, a, t: attachments.open_attachment(s, a, t.attachment_id)),
    "inbox": ("viewer", lambda s, a, t: list_inbox(s, a, t.project_id)),
}
ROLES = ("stranger", "viewer", "editor", "owner")


class FullTeam(Team):
    """With an attachment, and a member who may go."""

    attachment_id = ""
    victim: Actor


async def make_team(services: Services) -> FullTeam:
    team = await services.db.write(FullTeam)
    team.victim = await services.db.write(make_user, "Vic")
    await services.db.write(join, team.project_id, team.victim, "viewer")
    uploaded = await attachments.upload_attachment(services, team.owner, team.project_id, "a.png", PNG)
    team.attachment_id = uploaded.id
    return team


@pytest.mark.parametrize("name", ACTIONS)
async def test_an_action_is_for_its_role_and_those_above(db: Database, tmp_path: Path, name: str) -> None:
    services = make_services(db, tmp_path)
    needed, act = ACTIONS[name]
    for role in ROLES:
        team = await make_team(services)
        outcome = await attempt(act, services, team.by_role()[role], team)
        if role == "stranger":
            assert outcome == "not found"
        elif ROLES.index(role) < ROLES.index(needed):
            assert outcome == f"takes {needed}"
        else:
            assert outcome == "allowed"


async def attempt(act: Act, services: Services, actor: Actor, team: FullTeam) -> str:
    try:
        await act(services, actor, team)
    except Forbidden as refused:
        return f"takes {refused.fields['needed']}"
    except NotFound:
        return "not found"
    except Conflict:  # allowed to, but there is nothing to do it to
        return "allowed"
    return "allowed"
