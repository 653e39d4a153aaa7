"""Sections that somebody keeps for themselves, over HTTP."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.locks.rows import LockRow
from outlast.kernel.locks.tables import locks
from tests.asgi import Answer
from tests.flow.documents.talk import *  # noqa: F403  # fixtures; the names are in its __all__
from tests.flow.documents.talk import Talk


async def lock(talk: Talk, who: str, method: str = "PUT", tail: str = "", body: Any = None) -> Answer:
    return await talk.call(who, method, f"/sections/{talk.sections[0]}/lock{tail}", body)


async def change(talk: Talk, who: str, *changes: dict[str, Any]) -> Answer:
    return await talk.call(who, "POST", f"/documents/{talk.document_id}/changes", {"changes": list(changes)})


async def let_expire(talk: Talk) -> None:
    def run(tx: Tx) -> None:
        tx.execute(sa.update(locks).values(expires_at=tx.now - timedelta(seconds=1)))

    await talk.services.db.write(run)


def ways_to_touch(talk: Talk) -> dict[str, dict[str, Any]]:
    kept, other = talk.sections
    first, second, elsewhere = talk.blocks
    return {
        "edit": {"op": "edit_block", "block_id": second, "markdown": "x", "old": "It takes ten minutes and one pot."},
        "insert": {"op": "insert_block", "section_id": kept, "after": None, "markdown": "x"},
        "move out": {"op": "move_block", "block_id": first, "section_id": other, "after": None},
        "move in": {"op": "move_block", "block_id": elsewhere, "section_id": kept, "after": None},
        "delete block": {"op": "delete_block", "block_id": second, "old": "It takes ten minutes and one pot."},
        "heading": {"op": "edit_section", "section_id": kept, "heading": "Other"},
        "move section": {"op": "move_section", "section_id": kept, "after": other},
        "delete section": {"op": "delete_section", "section_id": kept},
        "join": {"op": "delete_section", "section_id": other, "keep_blocks": True},
    }


async def test_everything_that_touches_a_kept_section_is_refused_to_others(talk: Talk):
    taken = (await lock(talk, "emil")).json()["lock"]
    assert (taken["resource_type"], taken["holder_name"]) == ("section", "Emil")
    for name, one in ways_to_touch(talk).items():
        refused = await change(talk, "cora", one)
        assert (refused.status, refused.code) == (409, "section_locked"), name
        fields = refused.json()["fields"]
        assert (fields["section_id"], fields["holder_name"]) == (talk.sections[0], "Emil")
        assert fields["expires_at"] == taken["expires_at"]
    restore = await talk.call("cora", "POST", f"/documents/{talk.document_id}/restore", {"version": 0})
    assert restore.code == "section_locked"
    swap = {"markdown": "# Other", "replace": True}
    assert (await talk.call("cora", "POST", f"/documents/{talk.document_id}/import", swap)).code == "section_locked"
    assert (await talk.get("vera", f"/documents/{talk.document_id}"))["version"] == 1


async def test_other_sections_and_the_holder_go_on(talk: Talk):
    await lock(talk, "emil")
    other = {"op": "insert_block", "section_id": talk.sections[1], "after": None, "markdown": "Soak it."}
    assert (await change(talk, "cora", other)).status == 200
    beside = {"op": "insert_section", "after": talk.sections[0], "heading": "Between", "level": 1}
    assert (await change(talk, "cora", beside)).status == 200
    for one in list(ways_to_touch(talk).values())[:2]:
        assert (await change(talk, "emil", one)).status == 200


async def test_each_edit_of_the_holder_renews_the_lock(talk: Talk):
    await lock(talk, "emil")
    await let_expire(talk)
    expired = (await talk.get("vera", f"/sections/{talk.sections[0]}/lock"))["lock"]["expires_at"]
    assert (await change(talk, "emil", ways_to_touch(talk)["insert"])).status == 200
    shown = await talk.get("vera", f"/documents/{talk.document_id}")
    assert shown["sections"][0]["lock"]["expires_at"] > expired
    assert shown["sections"][1]["lock"] is None


async def test_an_expired_lock_keeps_nobody_out_and_is_taken_over(talk: Talk):
    await lock(talk, "emil")
    assert (await lock(talk, "cora")).code == "section_locked"
    await let_expire(talk)
    assert (await change(talk, "cora", ways_to_touch(talk)["insert"])).status == 200
    assert (await lock(talk, "cora", body={"take_over": True})).json()["lock"]["holder_name"] == "Cora"
    names = [event["event"] for event in await talk.news("lock.acquired", "lock.taken_over")]
    assert names == ["lock.acquired", "lock.taken_over"]


async def test_a_section_is_asked_for_handed_over_and_let_go(talk: Talk):
    assert (await lock(talk, "cora", "POST", "/request")).code == "lock_not_held"
    await lock(talk, "emil")
    asked = (await lock(talk, "cora", "POST", "/request")).json()["lock"]
    assert asked["requested_by_name"] == "Cora"
    waiting = [item for item in await talk.inbox("emil") if item["kind"] == "handover"]
    assert len(waiting) == 1
    assert (await lock(talk, "emil", "POST", "/handover", {"user_id": talk.team.viewer.user_id})).code == "forbidden"
    given = await lock(talk, "emil", "POST", "/handover", {"user_id": talk.cora.user_id})
    assert given.json()["lock"]["holder_id"] == talk.cora.user_id
    assert (await lock(talk, "emil", "DELETE")).code == "section_locked"
    assert (await lock(talk, "cora", "DELETE")).status == 204
    assert (await lock(talk, "cora", "DELETE")).status == 204
    assert (await talk.get("vera", f"/sections/{talk.sections[0]}/lock"))["lock"] is None
    told = await talk.news("lock.acquired", "lock.requested", "lock.handed_over", "lock.released")
    assert [event["event"] for event in told] == [
        "lock.acquired",
        "lock.requested",
        "lock.handed_over",
        "lock.released",
    ]
    assert {(event["data"]["section_id"], event["data"]["document_id"]) for event in told} == {
        (talk.sections[0], talk.document_id)
    }


async def test_a_deleted_section_and_a_member_who_leaves_keep_nothing(talk: Talk):
    await lock(talk, "emil")
    assert (await change(talk, "emil", ways_to_touch(talk)["delete section"])).status == 200
    other = f"/sections/{talk.sections[1]}/lock"
    assert (await talk.call("emil", "PUT", other)).status == 200
    path = f"/projects/{talk.team.project_id}/members/{talk.team.editor.user_id}"
    assert (await talk.call("olga", "DELETE", path)).status in (200, 204)
    assert (await talk.get("vera", other))["lock"] is None
    rows = await talk.services.db.read(
        lambda tx: len(tx.rows(LockRow, sa.select(locks).where(locks.c.project_id == talk.team.project_id)))
    )
    assert rows == 0


async def test_a_viewer_keeps_nothing_and_a_stranger_sees_nothing(talk: Talk):
    assert (await lock(talk, "vera")).code == "forbidden"
    assert (await lock(talk, "sten", "GET")).status == 404
