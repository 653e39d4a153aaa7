"""A repeated Idempotency-Key gets the first answer only for somebody who may still ask."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.projects.tables import members
from outlast.kernel.runs.tables import runs
from outlast.kernel.threads import message_store
from outlast.surfaces.http.api import create_api
from tests.factories import say
from tests.flow.http.conftest import Site
from tests.flow.http.test_permissions import Scene, knock, new_scene


def idempotent_routes() -> list[str]:
    """Every route that takes a key, read from the contract."""
    return [
        f"{method.upper()} {path}"
        for path, methods in create_api().openapi()["paths"].items()
        for method, operation in methods.items()
        if any(one["name"] == "Idempotency-Key" for one in operation.get("parameters", []))
    ]


async def remove(site: Site, scene: Scene, role: str) -> None:
    """This person is no member of the project any more."""
    user_id = scene.actors[role].user_id
    await site.services.db.write(lambda tx: tx.execute(sa.delete(members).where(members.c.user_id == user_id)))


@pytest.mark.parametrize("route", idempotent_routes())
async def test_a_removed_member_is_refused_before_a_first_answer_is_looked_for(
    site: Site, route: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looked(*asked: Any, **row: Any) -> bool:
        raise AssertionError("an answer was looked for before the permission was asked")

    scene = await new_scene(site)
    browser = await site.signed_in(scene.actors["editor"])
    browser.headers["idempotency-key"] = "k"
    await remove(site, scene, "editor")
    monkeypatch.setattr(Tx, "insert_missing", looked)
    answer = await knock(site, scene, browser, route)
    assert (answer.status, answer.code) == (404, "not_found"), answer.body


REPEATED = [
    "POST /v1/threads/{thread_id}/runs",
    "POST /v1/threads/{thread_id}/messages",
    "POST /v1/runs",
    "POST /v1/runs/{run_id}/retry",
    "POST /v1/documents/{document_id}/changes",
    "POST /v1/documents/{document_id}/comments",
    "POST /v1/comments/{comment_id}/assign",
    "POST /v1/projects/{project_id}/documents",
]


@pytest.mark.parametrize("route", REPEATED)
async def test_a_removed_member_does_not_get_the_first_answer_again(site: Site, route: str) -> None:
    scene = await new_scene(site)
    browser = await site.signed_in(scene.actors["editor"])
    browser.headers["idempotency-key"] = "k"

    def ended(tx: Tx) -> None:
        message_id = message_store.list_messages(tx, scene.ids["thread_id"], None, 1)[0][0].id
        done = {"status": "error", "leg": "ended", "message_id": message_id}
        model = site.services.catalog.default.id
        tx.execute(sa.update(runs).where(runs.c.id == scene.ids["run_id"]).values(model=model, **done))

    await site.services.db.write(ended)
    first = await knock(site, scene, browser, route)
    assert first.status < 300, first.body
    again = await knock(site, scene, browser, route)
    assert (again.status, again.json()) == (first.status, first.json())
    await remove(site, scene, "editor")
    refused = await knock(site, scene, browser, route)
    assert (refused.status, refused.code) == (404, "not_found"), refused.body


async def test_a_removed_member_does_not_get_a_fork_with_summary_again(site: Site) -> None:
    scene = await new_scene(site)
    thread_id = scene.ids["thread_id"]
    await site.services.db.write(say, thread_id, None, "What was said")
    browser = await site.signed_in(scene.actors["editor"])
    ask = ("POST", f"/v1/threads/{thread_id}/fork", {"summary": True})
    first = await browser.call(*ask, headers={"idempotency-key": "k"})
    assert first.status == 201, first.body
    await remove(site, scene, "editor")
    refused = await browser.call(*ask, headers={"idempotency-key": "k"})
    assert (refused.status, refused.code) == (404, "not_found")
    assert b"Fork of" not in refused.body
