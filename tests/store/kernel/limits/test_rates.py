"""How often one person may write or make things: files, messages, threads, projects."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from outlast.base.errors import RateLimited
from outlast.db.database import Database, Tx
from outlast.kernel.accounts.actions import create_token
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.accounts.tables import tokens
from outlast.kernel.attachments.actions import upload_attachment
from outlast.kernel.attachments.tables import attachments
from outlast.kernel.files.actions import upload_artifact
from outlast.kernel.files.tables import artifacts
from outlast.kernel.projects.actions import create_project
from outlast.kernel.projects.invitation_actions import create_invitation
from outlast.kernel.projects.tables import invitations, members
from outlast.kernel.services import Services
from outlast.kernel.threads.actions import create_thread, fork_thread, post_message
from outlast.kernel.threads.tables import messages, threads
from outlast.kernel.threads.user_input import Draft
from tests.factories import Team, make_services

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
FEWER = {
    "comments_per_minute_per_user": 2,
    "changes_per_minute_per_user": 2,
    "files_per_minute_per_user": 2,
    "messages_per_minute_per_user": 2,
    "threads_per_minute_per_user": 2,
    "projects_per_minute_per_user": 2,
    "tokens_per_minute_per_user": 2,
    "invitations_per_minute_per_user": 2,
    "attachments_per_minute_per_user": 2,
}


async def upload(services: Services, actor: Actor, team: Team) -> None:
    found = sa.select(sa.func.count()).select_from(artifacts)
    number = await services.db.read(lambda tx: tx.execute(found).scalar())
    await upload_artifact(services, actor, team.project_id, "notes.txt", b"Number %d" % (number or 0))


async def post(services: Services, actor: Actor, team: Team) -> None:
    await post_message(services, actor, team.thread_id, Draft("Hello."))


async def thread(services: Services, actor: Actor, team: Team) -> None:
    await create_thread(services, actor, team.project_id)


async def fork(services: Services, actor: Actor, team: Team) -> None:
    await fork_thread(services, actor, team.thread_id)


async def project(services: Services, actor: Actor, _team: Team) -> None:
    await create_project(services, actor, "Mine")


async def token(services: Services, actor: Actor, _team: Team) -> None:
    await create_token(services, actor, "for a program")


async def attach(services: Services, actor: Actor, team: Team) -> None:
    await upload_attachment(services, actor, team.project_id, "dot.png", PNG)


async def expect_two_a_minute(
    services: Services,
    team: Team,
    write: Callable[[Services, Actor], Awaitable[None]],
    wait: Callable[[], Awaitable[None]],
) -> None:
    """The third `write` of one person is refused, those of others are not; after `wait` it is taken again."""
    settings, editor, owner = services.settings, team.editor, team.owner
    fewer = replace(services, settings=replace(settings, limits=replace(settings.limits, **FEWER)))
    await wait()  # for what was written before
    await write(fewer, editor)
    await write(fewer, editor)
    with pytest.raises(RateLimited, match=r"2 .* a minute are allowed per user") as refused:
        await write(fewer, editor)
    assert 0 < (refused.value.retry_after_s or 0) <= 60
    await write(fewer, owner)  # others may
    off = replace(settings, limits=replace(settings.limits, **dict.fromkeys(FEWER, 0)))
    await write(replace(services, settings=off), editor)
    await wait()
    await write(fewer, editor)


@pytest.mark.parametrize("write", [upload, post, thread, fork, project, token, attach])
async def test_one_person_writes_only_so_much_in_a_minute(
    db: Database, tmp_path: Path, write: Callable[[Services, Actor, Team], Awaitable[None]]
) -> None:
    team, services = await db.write(Team), make_services(db, tmp_path)

    async def again(limited: Services, actor: Actor) -> None:
        await write(limited, actor, team)

    await expect_two_a_minute(services, team, again, lambda: db.write(_a_while_ago))


async def test_one_owner_invites_only_so_many_in_a_minute(db: Database, tmp_path: Path) -> None:
    team, services = await db.write(Team), make_services(db, tmp_path)
    limits = replace(services.settings.limits, **FEWER)
    fewer = replace(services, settings=replace(services.settings, limits=limits))
    for _ in range(2):
        await create_invitation(fewer, team.owner, team.project_id, "viewer")
    with pytest.raises(RateLimited, match="2 invitations a minute are allowed per user"):
        await create_invitation(fewer, team.owner, team.project_id, "viewer")


async def test_a_message_that_is_posted_again_under_its_key_does_not_count(db: Database, tmp_path: Path) -> None:
    team, services = await db.write(Team), make_services(db, tmp_path)
    await db.write(_a_while_ago)
    limits = replace(services.settings.limits, messages_per_minute_per_user=1)
    fewer = replace(services, settings=replace(services.settings, limits=limits))
    for _ in range(3):
        await post_message(fewer, team.editor, team.thread_id, Draft("Hello."), key="once")


def _a_while_ago(tx: Tx) -> None:
    """Everything was written more than a minute ago."""
    for table in (artifacts, messages, threads, members, tokens, attachments, invitations):
        tx.execute(sa.update(table).values(created_at=tx.now - timedelta(seconds=61)))
