"""One key, one answer."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import anyio
import pytest

from outlast.base.errors import IdempotencyMismatch, MalformedInput
from outlast.db.database import Database, Tx
from outlast.kernel.idempotency import remember, request_hash
from outlast.kernel.threads import message_store
from tests.factories import Team, make_user, say


def answers() -> dict[str, Any]:
    return {"run_id": "run_1"}


def never() -> dict[str, Any]:
    raise AssertionError("the first answer is given again")


async def test_a_repeated_request_gets_the_first_answer(db: Database) -> None:
    def run(tx: Tx) -> None:
        ada, bob = make_user(tx).user_id, make_user(tx, "Bob").user_id
        asked = request_hash("start", {"content": "hello", "model": None})
        assert asked == request_hash("start", {"model": None, "content": "hello"})
        assert remember(tx, ada, "key", asked, answers) == {"run_id": "run_1"}
        assert remember(tx, ada, "key", asked, never) == {"run_id": "run_1"}
        assert remember(tx, bob, "key", asked, lambda: {"other": 1}) == {"other": 1}
        with pytest.raises(IdempotencyMismatch):
            remember(tx, ada, "key", request_hash("start", {"content": "bye"}), never)

    await db.write(run)


async def test_without_a_key_every_request_is_new(db: Database) -> None:
    def run(tx: Tx) -> None:
        numbers = iter((1, 2))
        answered = [remember(tx, "usr_1", None, "hash", lambda: {"n": next(numbers)}) for _ in range(2)]
        assert answered == [{"n": 1}, {"n": 2}]

    await db.write(run)


@pytest.mark.parametrize("key", ["", "x" * 256, "line\nbreak"])
async def test_a_key_that_is_none_is_refused(db: Database, key: str) -> None:
    def run(tx: Tx) -> None:
        with pytest.raises(MalformedInput):
            remember(tx, "usr_1", key, "hash", never)

    await db.write(run)


async def test_a_request_that_failed_may_be_repeated(db: Database) -> None:
    ada = (await db.write(make_user)).user_id

    def fail() -> dict[str, Any]:
        raise ValueError("nothing was done")

    with pytest.raises(ValueError, match="nothing was done"):
        await db.write(remember, ada, "key", "hash", fail)
    assert await db.write(remember, ada, "key", "hash", answers) == {"run_id": "run_1"}


async def test_of_many_at_once_only_one_does_something(db: Database) -> None:
    team = await db.write(Team)
    given: list[dict[str, Any]] = []

    def post(tx: Tx) -> dict[str, Any]:
        return remember(
            tx, team.owner.user_id, "key", "hash", lambda: {"id": say(tx, team.thread_id, team.owner, "once")}
        )

    async def ask() -> None:
        given.append(await db.write(post))

    async with anyio.create_task_group() as tasks:
        for _ in range(6):
            tasks.start_soon(ask)
    assert len({answer["id"] for answer in given}) == 1
    assert len((await db.read(message_store.list_messages, team.thread_id))[0]) == 2


async def test_answers_are_kept_for_a_day(db: Database) -> None:
    def run(tx: Tx) -> None:
        ada = make_user(tx).user_id
        remember(tx, ada, "old", "hash", answers)
        tx.now += timedelta(hours=24)
        assert remember(tx, ada, "old", "other hash", lambda: {"n": 2}) == {"n": 2}

    await db.write(run)
