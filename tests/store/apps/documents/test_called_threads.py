"""Deleting a document or a page whose agents have called others: their threads go with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from outlast.apps.documents.actions import create_document, delete_document
from outlast.apps.pages.actions import create_page, delete_page
from outlast.base.errors import ThreadBusy
from outlast.base.ids import new_id
from outlast.db.database import Database
from outlast.kernel.threads import store
from outlast.kernel.threads.called_threads import PORTION
from tests.factories import Team, make_services
from tests.store.kernel.threads.test_called_threads import call_agents, count_deleted, count_threads


@pytest.mark.apps("documents", "pages")
@pytest.mark.parametrize("noun", ["document", "page"])
async def test_a_subject_is_deleted_with_the_threads_of_agents_called_from_its_conversation(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noun: str
) -> None:
    actions: dict[str, tuple[Any, Any]] = {
        "document": (create_document, delete_document),
        "page": (create_page, delete_page),
    }
    create, delete = actions[noun]
    team, services = await db.write(Team), make_services(db, tmp_path)
    made = await create(services, team.owner, team.project_id)
    called = await db.write(call_agents, team, made.thread_id, PORTION + 10)
    await db.write(lambda tx: store.set_run_state(tx, called[-1], "generating", new_id("run")))
    with pytest.raises(ThreadBusy):
        await delete(services, team.owner, made.id)
    assert await db.read(count_threads) == 2 + len(called)
    await db.write(lambda tx: store.set_run_state(tx, called[-1], "complete", None))
    deleted = count_deleted(db, monkeypatch)
    await delete(services, team.owner, made.id)
    assert max(deleted) <= PORTION
    assert await db.read(count_threads) == 1
