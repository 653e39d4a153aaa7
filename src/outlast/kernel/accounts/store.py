"""Users, tokens and sessions in the database. First argument: the open transaction."""

from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from outlast.base.errors import NotFound
from outlast.base.ids import new_id
from outlast.base.lookups import demand_found
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import ACCESS_BELL, Actor
from outlast.kernel.accounts.rows import TokenRow, UserRow
from outlast.kernel.accounts.secrets import SHOWN_PREFIX_CHARS, TOKEN_PREFIX, hash_of, new_secret
from outlast.kernel.accounts.shapes import NewTokenAnswer, TokenAnswer
from outlast.kernel.accounts.tables import sessions, tokens, users
from outlast.kernel.row_shapes import shape_of

LAST_USED_PRECISION: Final = timedelta(minutes=1)
LOCAL_NAME: Final = "Owner"


def add_user(tx: Tx, name: str, plan: str) -> str:
    """Create a user and return the id. The first user of a server is its administrator."""
    user_id = new_id("user")
    is_first = tx.execute(sa.select(users.c.id).limit(1)).first() is None
    tx.insert(users, id=user_id, name=name, plan=plan, is_local=False, is_admin=is_first, created_at=tx.now)
    return user_id


def user(tx: Tx, user_id: str) -> UserRow:
    """The user's row. Raises `NotFound`."""
    return demand_found(tx.find(UserRow, users, {"id": user_id}), "There is no such user.", user_id=user_id)


def list_users(tx: Tx) -> list[UserRow]:
    """Every user, oldest first."""
    return tx.rows(UserRow, sa.select(users).order_by(users.c.created_at, users.c.id))


def find_users(tx: Tx, query: str, after: str | None, limit: int) -> list[UserRow]:
    """At most `limit` users, the newest first, starting after the user `after`; `query` is part of their name or their
    id. Ids sort by time."""
    found = sa.select(users).order_by(users.c.id.desc()).limit(limit)
    if query:
        found = found.where(sa.or_(users.c.id == query, users.c.name.icontains(query, autoescape=True)))
    if after:
        found = found.where(users.c.id < after)
    return tx.rows(UserRow, found)


def hold_administrators(tx: Tx) -> list[str]:
    """The ids of all administrators, locked until the transaction ends, so that the last two cannot both leave."""
    admins = sa.select(users.c.id).where(users.c.is_admin).order_by(users.c.id)
    return list(tx.execute(admins.with_for_update(key_share=True)).scalars())


def change_user(tx: Tx, user_id: str, **values: Any) -> None:
    """Set plain values of a user's row. Raises `NotFound`."""
    if not tx.update(users, {"id": user_id}, **values):
        raise NotFound("There is no such user.", user_id=user_id)


def ensure_local_owner(tx: Tx, plan: str) -> UserRow:
    """The user of local mode, created at the first call. Called once, while the server starts; if several servers start
    on an empty database, one creates it."""
    rights = {"is_local": True, "is_admin": True}
    tx.insert_missing(users, id=new_id("user"), name=LOCAL_NAME, plan=plan, created_at=tx.now, **rights)
    found = tx.row(UserRow, sa.select(users).where(users.c.is_local))
    assert found is not None
    return found


# --- tokens -----------------------------------------------------------------------------------------------------------


def add_token(tx: Tx, user_id: str, name: str, expires_at: datetime | None) -> NewTokenAnswer:
    """Create a token. Its secret is only in this answer."""
    secret, token_id = new_secret(TOKEN_PREFIX), new_id("token")
    row = TokenRow(
        id=token_id,
        user_id=user_id,
        name=name,
        hash=hash_of(secret),
        prefix=secret[:SHOWN_PREFIX_CHARS],
        created_at=tx.now,
        last_used_at=None,
        expires_at=expires_at,
        revoked_at=None,
    )
    tx.insert(tokens, **row._asdict())
    return shape_of(NewTokenAnswer, row, token=secret)


def list_tokens(tx: Tx, user_id: str) -> list[TokenAnswer]:
    """A user's tokens that are not revoked, newest first."""
    mine = tokens.c.user_id == user_id, tokens.c.revoked_at.is_(None)
    rows = tx.rows(TokenRow, sa.select(tokens).where(*mine).order_by(tokens.c.created_at.desc(), tokens.c.id.desc()))
    return [shape_of(TokenAnswer, row) for row in rows]


def revoke_token(tx: Tx, user_id: str, token_id: str) -> None:
    """Revoke a user's token, and end its sessions. Raises `NotFound` for another user's; repeating is harmless."""
    own = tokens.c.id == token_id, tokens.c.user_id == user_id
    if not tx.exists(tokens, {"id": token_id, "user_id": user_id}):
        raise NotFound("You have no such token.", token_id=token_id)
    tx.execute(sa.update(tokens).where(*own, tokens.c.revoked_at.is_(None)).values(revoked_at=tx.now))
    tx.execute(sa.delete(sessions).where(sessions.c.token_id == token_id))
    tx.ring(ACCESS_BELL)


class _TokenUser(NamedTuple):
    id: str
    user_id: str
    name: str
    last_used_at: datetime | None


def actor_for_token(tx: Tx, secret: str) -> tuple[Actor, bool] | None:
    """The user of a token, and True if `touch_token` has something to write; None when the token is unknown, expired or
    revoked. Reads only."""
    row = tx.row(
        _TokenUser,
        sa.select(tokens.c.id, users.c.id.label("user_id"), users.c.name, tokens.c.last_used_at)
        .join(users, users.c.id == tokens.c.user_id)
        .where(tokens.c.hash == hash_of(secret), *_valid_token(tx)),
    )
    if row is None:
        return None
    is_stale = row.last_used_at is None or tx.now - row.last_used_at >= LAST_USED_PRECISION
    return Actor(row.user_id, row.name, "token", row.id), is_stale


def has_tokens(tx: Tx) -> bool:
    """True if any token is valid."""
    return tx.execute(sa.select(tokens.c.id).where(*_valid_token(tx)).limit(1)).first() is not None


def touch_token(tx: Tx, token_id: str) -> None:
    """Record that a token was used; writes at most once a minute."""
    tx.execute(
        sa.update(tokens)
        .where(tokens.c.id == token_id)
        .where(tokens.c.last_used_at.is_(None) | (tokens.c.last_used_at <= tx.now - LAST_USED_PRECISION))
        .values(last_used_at=tx.now)
    )


# --- sessions ---------------------------------------------------------------------------------------------------------


def add_session(tx: Tx, user_id: str, token_id: str | None, life: timedelta) -> str:
    """Open a browser session and return the cookie's value. Also deletes sessions that have ended."""
    value = new_secret()
    tx.execute(sa.delete(sessions).where(sessions.c.user_id == user_id, sessions.c.expires_at <= tx.now))
    ends = {"created_at": tx.now, "expires_at": tx.now + life}
    tx.insert(sessions, id_hash=hash_of(value), user_id=user_id, token_id=token_id, **ends)
    return value


class _SessionUser(NamedTuple):
    id: str
    name: str
    is_local: bool
    token_id: str | None


def actor_for_session(tx: Tx, value: str) -> Actor | None:
    """The user of a cookie; None when the session, or the token it came from, has ended."""
    row = tx.row(
        _SessionUser,
        sa.select(users.c.id, users.c.name, users.c.is_local, sessions.c.token_id)
        .select_from(sessions)
        .join(users, users.c.id == sessions.c.user_id)
        .outerjoin(tokens, tokens.c.id == sessions.c.token_id)
        .where(sessions.c.id_hash == hash_of(value), sessions.c.expires_at > tx.now)
        .where(tokens.c.id.is_(None) | sa.and_(*_valid_token(tx))),
    )
    return None if row is None else Actor(row.id, row.name, "session", row.token_id, hash_of(value))


def still_signed_in(tx: Tx, token_id: str | None, session_hash: str | None) -> bool:
    """True if the token and the session that a user signed in with (None if there was none) are still valid."""
    if token_id is not None:
        good = sa.select(tokens.c.id).where(tokens.c.id == token_id, *_valid_token(tx))
        if tx.execute(good).first() is None:
            return False
    if session_hash is not None:
        open_ = sessions.c.id_hash == session_hash, sessions.c.expires_at > tx.now
        return tx.execute(sa.select(sessions.c.id_hash).where(*open_)).first() is not None
    return True


def end_session(tx: Tx, value: str) -> None:
    """Sign a browser out. Repeating is harmless, and notifies no follower."""
    ended = tx.execute(sa.delete(sessions).where(sessions.c.id_hash == hash_of(value)))
    if ended.rowcount:
        tx.ring(ACCESS_BELL)


def has_session(tx: Tx, value: str) -> bool:
    """True if this cookie has a session, valid or not."""
    return tx.exists(sessions, {"id_hash": hash_of(value)})


def _valid_token(tx: Tx) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return tokens.c.revoked_at.is_(None), tokens.c.expires_at.is_(None) | (tokens.c.expires_at > tx.now)
