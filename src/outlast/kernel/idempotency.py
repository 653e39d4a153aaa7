"""Idempotency keys: a repeated call with the same Idempotency-Key gets the first answer."""

import hashlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final, NamedTuple

import orjson
import sqlalchemy as sa

from outlast.base.errors import IdempotencyMismatch, MalformedInput
from outlast.db.columns import json, metadata, moment, ref
from outlast.db.database import Tx

KEPT: Final = timedelta(hours=24)
MAX_KEY_CHARS: Final = 255

idempotency = sa.Table(
    "idempotency",
    metadata,
    ref("user_id", "users", "whose key", nullable=False, primary_key=True),
    sa.Column("key", sa.String(255), primary_key=True, comment="the Idempotency-Key header"),
    sa.Column(
        "request_hash",
        sa.String(64),
        nullable=False,
        comment="SHA-256 of the request: another request under the same key is refused",
    ),
    json("response", "the first answer", nullable=False),
    moment("created_at", "when; kept 24 hours", nullable=False, index=True),
)


def request_hash(*request: Any) -> str:
    """SHA-256 of a request (plain JSON values), independent of the order of object keys."""
    return hashlib.sha256(orjson.dumps(request, option=orjson.OPT_SORT_KEYS)).hexdigest()


def remember(
    tx: Tx, user_id: str, key: str | None, wanted_hash: str, produce: Callable[[], dict[str, Any]]
) -> dict[str, Any]:
    """The answer of `produce`, once per user and key: a repeated call gets the same answer.

    The key is claimed before anything else happens; a second caller at the same moment waits for the first one's
    transaction, and takes over if that one failed. Raises `IdempotencyMismatch` for a different request under the key.
    """
    if key is None:
        return produce()
    if not 0 < len(key) <= MAX_KEY_CHARS or not key.isprintable():
        raise MalformedInput(
            f"An Idempotency-Key must have 1 to {MAX_KEY_CHARS} printable characters.", field="Idempotency-Key"
        )
    tx.execute(sa.delete(idempotency).where(*_of(user_id, key), idempotency.c.created_at <= tx.now - KEPT))
    claim = {"user_id": user_id, "key": key, "request_hash": wanted_hash, "response": {}, "created_at": tx.now}
    if tx.insert_missing(idempotency, **claim):
        response = produce()
        tx.execute(sa.update(idempotency).where(*_of(user_id, key)), {"response": response})
        return response
    first = tx.find(_Answered, idempotency, {"user_id": user_id, "key": key})
    if first is None or first.request_hash != wanted_hash:
        raise IdempotencyMismatch("A different request was sent with this Idempotency-Key.")
    return first.response


class _Answered(NamedTuple):
    request_hash: str
    response: dict[str, Any]


def _of(user_id: str, key: str) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return idempotency.c.user_id == user_id, idempotency.c.key == key
