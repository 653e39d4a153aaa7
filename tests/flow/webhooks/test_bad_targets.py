"""Targets that are down for long, that change their address, and servers that are killed or share the work."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
import sqlalchemy as sa
from aiohttp import web

from outlast.db.connect import open_database
from outlast.db.database import Database, Tx
from outlast.kernel.settings import settings_class
from outlast.kernel.webhooks import actions, store
from outlast.kernel.webhooks.sender import Sender
from outlast.kernel.webhooks.settings import WebhookSettings
from outlast.kernel.webhooks.shapes import WebhookRequest
from outlast.kernel.webhooks.tables import deliveries
from outlast.testing.clock import START, ManualClock
from tests.factories import make_project, make_services, make_user
from tests.flow.webhooks.receiver import Received, Receiver, receiving
from tests.flow.webhooks.rig import sending


class Slow:
    """A server whose clock the test moves, with one webhook and one event for it."""

    def __init__(self, db: Database, clock: ManualClock, delivery_id: str) -> None:
        self.db, self.clock, self.id = db, clock, delivery_id

    async def row(self) -> Any:
        return (await self.db.read(lambda tx: tx.execute(sa.select(deliveries)).all()))[0]

    async def to_the_next_try(self) -> Any:
        """Move the clock to the next try, and return what it left."""
        before = await self.row()
        left = (before.due_at - self.clock.now()).total_seconds()
        with anyio.fail_after(60):  # the sender sleeps until then; moved earlier, it would sleep from the new time on
            while (self.clock.next_wake_s() or left + 1) > left + 0.01:  # noqa: ASYNC110 - it rings no bell
                await anyio.sleep(0.01)
        self.clock.advance(left)
        return await self.until(lambda rows: rows[0].tries > before.tries and not rows[0].claimed)

    async def until(self, holds: Callable[[Sequence[Any]], bool]) -> Any:
        """Look again and again: the note of an answer rings no bell. Returns the first row, or None."""
        with anyio.fail_after(60):
            while True:
                if holds(rows := await self.db.read(lambda tx: tx.execute(sa.select(deliveries)).all())):
                    return rows[0] if rows else None
                await anyio.sleep(0.01)


@asynccontextmanager
async def slowly(url: str, folder: Path, receiver: Receiver) -> AsyncIterator[Slow]:
    clock = ManualClock()
    db = open_database(url, folder, clock)
    settings = settings_class()(webhooks=WebhookSettings(allow_private=(receiver.place,)))
    services = make_services(db, folder, settings, clock=clock)
    owner = await db.write(make_user)
    project_id = await db.write(make_project, owner)
    made = await actions.create_webhook(
        services, owner, project_id, WebhookRequest(url=receiver.url, events=["run.error"])
    )
    sent = await actions.test_webhook(services, owner, made.id)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(Sender(db, clock, services.vault, settings, share=lambda: 0.5).run)
        yield Slow(db, clock, sent.id)
        tasks.cancel_scope.cancel()
    await db.aclose()


async def test_a_target_that_is_down_for_hours_gets_it_when_it_is_back(sqlite_url: str, tmp_path: Path) -> None:
    is_back = False
    async with (
        receiving(lambda _one: web.Response(status=200 if is_back else 502)) as receiver,
        slowly(sqlite_url, tmp_path, receiver) as it,
    ):
        await receiver.until(lambda: len(receiver.requests) == 1)
        await it.until(lambda rows: rows[0].reason is not None)
        while it.clock.now() < START + timedelta(hours=15):
            assert (await it.to_the_next_try()).state == "pending"
        is_back = True
        assert (await it.to_the_next_try()).state == "delivered"
        assert len({one.id for one in receiver.requests}) == 1


async def test_a_target_that_is_down_for_a_day_is_given_up_and_forgotten_later(sqlite_url: str, tmp_path: Path) -> None:
    async with (
        receiving(lambda _one: web.Response(status=502)) as receiver,
        slowly(sqlite_url, tmp_path, receiver) as it,
    ):
        await receiver.until(lambda: len(receiver.requests) == 1)
        found = await it.until(lambda rows: rows[0].reason is not None)
        while found.state == "pending":
            found = await it.to_the_next_try()
        assert found.state == "dead"
        assert found.reason == "The address answered 502."
        assert it.clock.now() <= START + timedelta(days=1)
        it.clock.advance(timedelta(days=30, seconds=1).total_seconds())
        await it.until(lambda rows: not rows)


async def test_a_name_that_changes_to_a_private_address_is_not_followed_there(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "127.0.0.1"  # stands for a public address: the operator allows it by address and port

    async def resolve(_host: str, port: int, **_more: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (where, port))]

    def reply(_request: Received) -> web.Response:
        return web.Response(headers={"Connection": "close"})

    async with (
        receiving(reply) as outside,
        receiving(host="127.0.0.2", port=outside.port) as inside,
        sending(db, tmp_path, [], to=[outside]) as it,
    ):
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve)
        made = await it.add(f"http://hooks.example:{outside.port}/")
        await actions.test_webhook(it.services, it.owner, made.id)
        await outside.until_accepted(1)
        where = "127.0.0.2"
        sent = await actions.test_webhook(it.services, it.owner, made.id)
        found = await it.until(made.id, lambda found: found[0].reason is not None)
        assert found[0].id == sent.id
        assert found[0].reason == "The address belongs to a private network."
        assert inside.requests == []


async def test_servers_share_the_work_and_a_lost_one_is_replaced(db: Database, tmp_path: Path) -> None:
    async with receiving() as receiver, sending(db, tmp_path, [], to=[receiver]) as it:
        made = await it.add(receiver.url)

        def take(tx: Tx) -> int:
            """As a server does that is killed before it sends."""
            kept = store.Kept(timedelta(days=1), timedelta(days=1))
            return len(store.claim(tx, 10, {}, kept))

        def lose(tx: Tx) -> None:
            tx.execute(sa.update(deliveries).values(due_at=tx.now))
            tx.ring("webhooks")

        def add_and_take(tx: Tx) -> int:
            store.add_test(tx, made.id, "webhook.test", '{"type":"webhook.test","data":{"link":"/"}}')
            return take(tx)

        assert await db.write(add_and_take) == 1
        await anyio.sleep(0.1)
        assert receiver.requests == [], "another server has it"
        await db.write(lose)  # its minute is over
        await receiver.until_accepted(1)
        (found,) = await it.until_all(made.id, "delivered")
        assert found.tries == 2
