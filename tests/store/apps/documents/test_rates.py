"""How often one person may write in documents: comments, changes, and what takes the place of all of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from outlast.apps.documents import store
from outlast.apps.documents.comments.actions import create_comment
from outlast.apps.documents.comments.shapes import CommentRequest
from outlast.apps.documents.edits.actions import change_document, import_markdown, restore_version
from outlast.apps.documents.rows import DocumentRow
from outlast.apps.documents.shapes import ChangesRequest, ImportRequest
from outlast.apps.documents.tables import comments, document_versions
from outlast.db.database import Database, Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.services import Services
from tests.document_changes import insert_section
from tests.documents import Desk, replacing
from tests.factories import make_services
from tests.store.kernel.limits.test_rates import expect_two_a_minute


async def comment(services: Services, actor: Actor, desk: Desk) -> None:
    await create_comment(services, actor, desk.document_id, CommentRequest(body="Why?"))


async def change(services: Services, actor: Actor, desk: Desk) -> None:
    await change_document(services, actor, desk.document_id, ChangesRequest(changes=[insert_section(None, "More", 2)]))


async def bring(services: Services, actor: Actor, desk: Desk) -> None:
    await import_markdown(services, actor, desk.document_id, ImportRequest(markdown="One more."))


async def restore(services: Services, actor: Actor, desk: Desk) -> None:
    version = (await desk.db.read(_document, desk)).version
    await restore_version(services, actor, desk.document_id, max(version - 1, 1) if version > 1 else 0)


def _document(tx: Tx, desk: Desk) -> DocumentRow:
    return store.document_of(tx, desk.document_id)


@pytest.mark.parametrize("write", [comment, change, bring, restore])
async def test_one_person_writes_only_so_much_in_a_minute(
    db: Database, tmp_path: Path, write: Callable[[Services, Actor, Desk], Awaitable[None]]
) -> None:
    desk, services = await Desk.open(db), make_services(db, tmp_path)

    async def again(limited: Services, actor: Actor) -> None:
        await write(limited, actor, desk)

    await expect_two_a_minute(services, desk.team, again, lambda: db.write(_a_while_ago))


async def test_accepted_edits_of_agents_are_no_changes_of_ones_own(db: Database, tmp_path: Path) -> None:
    desk, services = await Desk.open(db), make_services(db, tmp_path)
    await db.write(_a_while_ago)
    limits = replace(services.settings.limits, changes_per_minute_per_user=1)
    fewer = replace(services, settings=replace(services.settings, limits=limits))
    await desk.accept(await desk.propose(replacing(await desk.block(0), "Short.")))
    await change(fewer, desk.team.owner, desk)


def _a_while_ago(tx: Tx) -> None:
    """Everything was written more than a minute ago."""
    for table in (comments, document_versions):
        tx.execute(sa.update(table).values(created_at=tx.now - timedelta(seconds=61)))
