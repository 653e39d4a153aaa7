"""Seed 004, "UI States": what each person can do with a thread, by its lock; over HTTP, as the page asks."""

from __future__ import annotations

import sqlalchemy as sa

from outlast.db.database import Tx
from outlast.kernel.locks.tables import locks
from outlast.kernel.runs.tables import runs
from outlast.kernel.threads.tables import threads as thread_table
from tests.flow.documents.talk import *  # noqa: F403  # fixtures
from tests.flow.documents.talk import Talk


async def send(talk: Talk, who: str) -> tuple[int, str]:
    """Somebody asks the agent: how that is answered."""
    path = f"/threads/{talk.thread_id}/runs"
    answer = await talk.call(who, "POST", path, {"content": "Shorter, please."})
    return answer.status, answer.code


async def rest(talk: Talk) -> None:
    """The thread's runs have ended."""

    def run(tx: Tx) -> None:
        mine = runs.c.thread_id == talk.thread_id
        tx.execute(sa.update(runs).where(mine).values(leg="ended", status="completed"))
        here = thread_table.c.id == talk.thread_id
        tx.execute(sa.update(thread_table).where(here).values(active_run_id=None, run_status="complete"))

    await talk.services.db.write(run)


async def expire(talk: Talk) -> None:
    """The lock's time is over."""

    def run(tx: Tx) -> None:
        tx.execute(sa.update(locks).where(locks.c.resource_id == talk.thread_id).values(expires_at=tx.now))

    await talk.services.db.write(run)


async def holder(talk: Talk) -> str | None:
    """Whom everybody sees as the driver."""
    shown = [(await talk.get(who, f"/threads/{talk.thread_id}"))["lock"] for who in ("emil", "cora", "vera")]
    assert shown[0] == shown[1] == shown[2]
    return None if shown[0] is None else str(shown[0]["holder_name"])


async def test_no_lock_whoever_edits_can_send_messages(talk: Talk) -> None:
    assert await holder(talk) is None
    assert await send(talk, "cora") == (202, "")
    assert await holder(talk) == "Cora"
    await rest(talk)
    assert (await talk.call("cora", "DELETE", f"/threads/{talk.thread_id}/lock")).status == 204
    assert await send(talk, "emil") == (202, "")
    assert await holder(talk) == "Emil"
    assert (await send(talk, "vera"))[1] == "forbidden"  # who views reads, whatever the lock


async def test_locked_by_you_you_send_and_the_others_read_only(talk: Talk) -> None:
    assert (await talk.call("emil", "PUT", f"/threads/{talk.thread_id}/lock")).status == 200
    assert await send(talk, "cora") == (409, "thread_locked")
    assert await send(talk, "olga") == (409, "thread_locked")  # owners too
    assert await send(talk, "emil") == (202, "")
    assert await holder(talk) == "Emil"
    messages = await talk.get("vera", f"/threads/{talk.thread_id}/messages")
    assert len(messages["items"]) == 1


async def test_locked_by_somebody_else_the_others_fork(talk: Talk) -> None:
    await send(talk, "emil")
    fork = await talk.call("cora", "POST", f"/threads/{talk.thread_id}/fork")
    assert fork.status == 201
    forked = fork.json()
    assert (forked["parent_thread_id"], forked["title"]) == (talk.thread_id, 'Fork of "Rice"')
    own = await talk.call("cora", "POST", f"/threads/{forked['id']}/runs", {"content": "Longer, please."})
    assert own.status == 202
    assert await holder(talk) == "Emil"
    assert len((await talk.get("vera", f"/threads/{talk.thread_id}/messages"))["items"]) == 1
    assert (await talk.call("vera", "POST", f"/threads/{talk.thread_id}/fork")).code == "forbidden"


async def test_locked_by_somebody_whose_time_is_over_anybody_takes_over(talk: Talk) -> None:
    await send(talk, "emil")
    await expire(talk)
    path = f"/threads/{talk.thread_id}/lock"
    assert (await talk.call("cora", "PUT", path)).code == "thread_locked"  # a run at work keeps its driver's lock
    await rest(talk)
    taken = await talk.call("cora", "PUT", f"/threads/{talk.thread_id}/lock", {"take_over": True})
    assert (taken.status, taken.json()["lock"]["holder_name"]) == (200, "Cora")
    assert await send(talk, "emil") == (409, "thread_locked")
    await expire(talk)
    assert await send(talk, "emil") == (202, "")  # asking is enough
    changes = [event["event"] for event in await talk.news("lock.acquired", "lock.taken_over")]
    assert changes == ["lock.acquired", "lock.taken_over", "lock.taken_over"]


async def test_an_archived_thread_is_found_by_search_and_in_the_document_it_is_about(talk: Talk) -> None:
    made = await talk.comment("emil", "@agent explain the saffron")
    await rest(talk)
    mine = runs.c.thread_id == made["thread_id"]

    def run(tx: Tx) -> None:
        tx.execute(sa.update(runs).where(mine).values(leg="ended", status="completed"))
        here = thread_table.c.id == made["thread_id"]
        tx.execute(sa.update(thread_table).where(here).values(active_run_id=None))

    await talk.services.db.write(run)
    assert (await talk.call("emil", "POST", f"/threads/{made['thread_id']}/archive")).status == 200
    project = f"/projects/{talk.team.project_id}/threads"
    assert made["thread_id"] not in [one["id"] for one in (await talk.get("vera", project))["items"]]
    found = (await talk.get("vera", f"{project}?q=saffron"))["items"]
    assert [(one["id"], one["status"]) for one in found] == [(made["thread_id"], "archived")]
    about = (await talk.get("vera", f"/documents/{talk.document_id}/threads"))["items"]
    assert {one["id"] for one in about} == {talk.thread_id, made["thread_id"]}
