"""Users, tokens and sessions, on both databases."""

from __future__ import annotations

from datetime import timedelta

import anyio
import pytest
import sqlalchemy as sa

from outlast.base.errors import NotFound
from outlast.db.database import Database, Tx
from outlast.kernel.accounts import store
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.accounts.rows import SessionRow, TokenRow
from outlast.kernel.accounts.secrets import hash_of
from outlast.kernel.accounts.shapes import TokenAnswer
from outlast.kernel.accounts.tables import sessions, tokens
from tests.factories import make_user

MONTH = timedelta(days=30)


async def test_the_local_owner_is_made_once(db: Database) -> None:
    first = await db.write(store.ensure_local_owner, "unlimited")
    again = await db.write(store.ensure_local_owner, "starter")
    assert (again.id, again.plan, again.is_local) == (first.id, "unlimited", True)


async def test_servers_that_start_together_make_one_local_owner(db: Database) -> None:
    """Two servers on an empty database each made one, and what was made at one could not be found at the other."""
    made: list[str] = []

    async def start() -> None:
        made.append((await db.write(store.ensure_local_owner, "unlimited")).id)

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(start)
    assert len(set(made)) == 1
    assert [row.id for row in await db.read(store.list_users)] == made[:1]


async def test_a_token_signs_its_owner_in_and_is_stored_only_as_a_hash(db: Database) -> None:
    ada = await db.write(make_user, "Ada")
    made = await db.write(store.add_token, ada.user_id, "laptop", None)
    found = await db.read(store.actor_for_token, made.token)
    assert found == (Actor(ada.user_id, "Ada", "token", made.id), True)
    assert made.token.startswith(made.prefix)
    assert await db.read(store.list_tokens, ada.user_id) == [TokenAnswer(**made.model_dump(exclude={"token"}))]

    def stored(tx: Tx) -> str:
        return str(tx.rows(TokenRow, sa.select(tokens)))

    assert made.token not in await db.read(stored)


@pytest.mark.parametrize("secret", ["", "ol_", "ol_wrong", "nul\x00l", "half\ud800"])
async def test_a_wrong_token_signs_nobody_in(db: Database, secret: str) -> None:
    assert await db.read(store.actor_for_token, secret) is None
    assert await db.read(store.actor_for_session, secret) is None


async def test_an_expired_or_revoked_token_ends_the_sessions_made_with_it(db: Database) -> None:
    def run(tx: Tx) -> None:
        ada = make_user(tx)
        short = store.add_token(tx, ada.user_id, "short", tx.now + timedelta(hours=1))
        long = store.add_token(tx, ada.user_id, "long", None)
        cookies = [store.add_session(tx, ada.user_id, made.id, MONTH) for made in (short, long)]
        assert all(store.actor_for_session(tx, cookie) for cookie in cookies)
        tx.now += timedelta(hours=1)
        assert store.actor_for_token(tx, short.token) is None
        assert store.actor_for_session(tx, cookies[0]) is None
        store.revoke_token(tx, ada.user_id, long.id)
        store.revoke_token(tx, ada.user_id, long.id)
        assert store.actor_for_token(tx, long.token) is None
        assert store.actor_for_session(tx, cookies[1]) is None
        assert [token.name for token in store.list_tokens(tx, ada.user_id)] == ["short"]

    await db.write(run)


async def test_nobody_revokes_somebody_elses_token(db: Database) -> None:
    def run(tx: Tx) -> None:
        made = store.add_token(tx, make_user(tx, "Ada").user_id, "mine", None)
        with pytest.raises(NotFound):
            store.revoke_token(tx, make_user(tx, "Eve").user_id, made.id)
        assert store.actor_for_token(tx, made.token) is not None

    await db.write(run)


async def test_the_last_use_is_written_at_most_once_a_minute(db: Database) -> None:
    def run(tx: Tx) -> None:
        ada = make_user(tx)
        made = store.add_token(tx, ada.user_id, "laptop", None)
        token_id, actor = made.id, Actor(ada.user_id, ada.name, "token", made.id)
        assert store.actor_for_token(tx, made.token) == (actor, True)
        store.touch_token(tx, token_id)
        first = store.list_tokens(tx, ada.user_id)[0].last_used_at
        tx.now += timedelta(seconds=59)
        store.touch_token(tx, token_id)
        assert store.actor_for_token(tx, made.token) == (actor, False)
        assert store.list_tokens(tx, ada.user_id)[0].last_used_at == first
        tx.now += timedelta(seconds=1)
        store.touch_token(tx, token_id)
        assert store.list_tokens(tx, ada.user_id)[0].last_used_at != first

    await db.write(run)


async def test_a_session_lasts_thirty_days_or_until_signed_out(db: Database) -> None:
    def run(tx: Tx) -> None:
        ada = make_user(tx)
        one, two = (store.add_session(tx, ada.user_id, None, MONTH) for _ in range(2))
        signed_in = Actor(ada.user_id, "Ada", "session", session_hash=hash_of(one))
        assert store.actor_for_session(tx, one) == signed_in
        store.end_session(tx, two)
        assert store.actor_for_session(tx, two) is None
        tx.now += timedelta(days=30)
        assert store.actor_for_session(tx, one) is None
        store.add_session(tx, ada.user_id, None, MONTH)
        assert len(tx.rows(SessionRow, sa.select(sessions))) == 1, "ended sessions are swept"

    await db.write(run)


async def test_ending_a_session_that_is_none_rings_no_bell(db: Database):
    bells: list[str] = []
    db.on_notice(bells.append)
    await db.write(store.end_session, "guessed")
    assert bells == []
