"""How often one person may write or make things: comments, changes of documents, files, messages, threads, projects."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from outlast.apps.documents import store
from outlast.apps.documents.comments.actions import Written, create_comment
from outlast.apps.documents.edits.actions import change_document, import_markdown, restore_version
from outlast.apps.documents.edits.changes import InsertSection
from outlast.apps.documents.rows import DocumentRow
from outlast.apps.documents.tables import comments, document_versions
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
from outlast.kernel.projects.member_actions import create_invitation
from outlast.kernel.projects.tables import invitations, members
from outlast.kernel.services import Services
from outlast.kernel.threads.actions import create_thread, fork_thread
from outlast.kernel.threads.message_parts import Draft
from outlast.kernel.threads.post_actions import post_message
from outlast.kernel.threads.tables import messages, threads
from tests.documents import Desk, replacing
from tests.factories import make_services

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


async def comment(services: Services, actor: Actor, desk: Desk) -> None:
    await create_comment(services, actor, desk.document_id, Written(body="Why?"))


async def change(services: Services, actor: Actor, desk: Desk) -> None:
    await change_document(services, actor, desk.document_id, [InsertSection(None, "More", 2)])


async def bring(services: Services, actor: Actor, desk: Desk) -> None:
    await import_markdown(services, actor, desk.document_id, "One more.")


async def restore(services: Services, actor: Actor, desk: Desk) -> None:
    version = int((await desk.db.read(_document, desk)).version)
    await restore_version(services, actor, desk.document_id, max(version - 1, 1) if version > 1 else 0)


async def upload(services: Services, actor: Actor, desk: Desk) -> None:
    found = sa.select(sa.func.count()).select_from(artifacts)
    number = await desk.db.read(lambda tx: tx.execute(found).scalar())
    await upload_artifact(services, actor, desk.team.project_id, "notes.txt", b"Number %d" % (number or 0))


async def post(services: Services, actor: Actor, desk: Desk) -> None:
    await post_message(services, actor, desk.team.thread_id, Draft("Hello."))


async def thread(services: Services, actor: Actor, desk: Desk) -> None:
    await create_thread(services, actor, desk.team.project_id)


async def fork(services: Services, actor: Actor, desk: Desk) -> None:
    await fork_thread(services, actor, desk.team.thread_id)


async def project(services: Services, actor: Actor, _desk: Desk) -> None:
    await create_project(services, actor, "Mine")


async def token(services: Services, actor: Actor, _desk: Desk) -> None:
    await create_token(services, actor, "for a program")


async def attach(services: Services, actor: Actor, desk: Desk) -> None:
    await upload_attachment(services, actor, desk.team.project_id, "dot.png", PNG)


def _document(tx: Tx, desk: Desk) -> DocumentRow:
    return store.document_of(tx, desk.document_id)


@pytest.mark.parametrize(
    "write", [comment, change, bring, restore, upload, post, thread, fork, project, token, attach]
)
async def test_one_person_writes_only_so_much_in_a_minute(
    db: Database, tmp_path: Path, write: Callable[[Services, Actor, Desk], Awaitable[None]]
) -> None:
    desk, services = await Desk.open(db), make_services(db, tmp_path)
    settings = services.settings
    fewer = replace(services, settings=replace(settings, limits=replace(settings.limits, **FEWER)))
    editor, owner = desk.team.editor, desk.team.owner
    await db.write(_a_while_ago)  # what the desk itself wrote
    await write(fewer, editor, desk)
    await write(fewer, editor, desk)
    with pytest.raises(RateLimited, match=r"2 .* a minute are allowed per user") as refused:
        await write(fewer, editor, desk)
    assert 0 < (refused.value.retry_after_s or 0) <= 60
    await write(fewer, owner, desk)  # others may
    off = replace(settings, limits=replace(settings.limits, **dict.fromkeys(FEWER, 0)))
    await write(replace(services, settings=off), editor, desk)
    await db.write(_a_while_ago)
    await write(fewer, editor, desk)


async def test_one_owner_invites_only_so_many_in_a_minute(db: Database, tmp_path: Path) -> None:
    desk, services = await Desk.open(db), make_services(db, tmp_path)
    limits = replace(services.settings.limits, **FEWER)
    fewer = replace(services, settings=replace(services.settings, limits=limits))
    for _ in range(2):
        await create_invitation(fewer, desk.team.owner, desk.team.project_id, "viewer")
    with pytest.raises(RateLimited, match="2 invitations a minute are allowed per user"):
        await create_invitation(fewer, desk.team.owner, desk.team.project_id, "viewer")


async def test_a_message_that_is_posted_again_under_its_key_does_not_count(
    db: Database, tmp_path: Path
) -> None:
    desk, services = await Desk.open(db), make_services(db, tmp_path)
    await db.write(_a_while_ago)
    limits = replace(services.settings.limits, messages_per_minute_per_user=1)
    fewer = replace(services, settings=replace(services.settings, limits=limits))
    for _ in range(3):
        await post_message(fewer, desk.team.editor, desk.team.thread_id, Draft("Hello."), key="once")


async def test_accepted_edits_of_agents_are_no_changes_of_ones_own(db: Database, tmp_path: Path) -> None:
    desk, services = await Desk.open(db), make_services(db, tmp_path)
    await db.write(_a_while_ago)
    limits = replace(services.settings.limits, changes_per_minute_per_user=1)
    fewer = replace(services, settings=replace(services.settings, limits=limits))
    await desk.accept(await desk.propose(replacing(await desk.block(0), "Short.")))
    await change(fewer, desk.team.owner, desk)


def _a_while_ago(tx: Tx) -> None:
    """Everything was written more than a minute ago."""
    for table in (
        comments,
        document_versions,
        artifacts,
        messages,
        threads,
        members,
        tokens,
        attachments,
        invitations,
    ):
        tx.execute(sa.update(table).values(created_at=tx.now - timedelta(seconds=61)))
