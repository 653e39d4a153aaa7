"""The outbox: an event for webhooks becomes deliveries in the transaction that appends it to a log.

Whether a project has webhooks comes with the statement that writes the log (`OF_RUN`, `OF_PROJECT`), so that projects
without them pay no query.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import orjson
import sqlalchemy as sa

from outlast.base.ids import new_id
from outlast.db.database import Tx
from outlast.kernel.runs.tables import runs
from outlast.kernel.webhooks.rules import about_of, body_of
from outlast.kernel.webhooks.tables import deliveries, webhooks

BELL: Final = "webhooks"
# Plain SQL: in a RETURNING clause SQLAlchemy leaves out the names of the tables.
OF_RUN: Final[sa.Label[Any]] = sa.literal_column(
    "(SELECT webhooks.project_id FROM webhooks JOIN runs ON runs.project_id = webhooks.project_id "
    "WHERE runs.id = log.stream_id AND webhooks.enabled LIMIT 1)"
).label("webhooks_of")
OF_PROJECT: Final[sa.Label[Any]] = sa.literal_column(
    "(SELECT webhooks.project_id FROM webhooks WHERE webhooks.project_id = projects.id AND webhooks.enabled LIMIT 1)"
).label("webhooks_of")
_ENABLED: Final = (
    sa.select(webhooks.c.id, webhooks.c.events)
    .where(webhooks.c.project_id == sa.bindparam("project"), webhooks.c.enabled)
    .with_for_update(read=True, key_share=True)  # none is deleted before its delivery is inserted
)


class _Taker(NamedTuple):
    id: str
    events: list[str]


class _Whose(NamedTuple):
    thread_id: str
    profile: str


def put(tx: Tx, project_id: str, stream_id: str, lines: Sequence[tuple[int, bytes]]) -> None:
    """Put the events of these lines of a log that webhooks of the project take into the outbox. The sender is woken
    after the commit."""
    takers = tx.rows(_Taker, _ENABLED, {"project": project_id})
    rows: list[dict[str, Any]] = []
    for seq, line in lines:
        name = _name_of(line)
        wanted = [taker.id for taker in takers if name in taker.events]
        if wanted:
            event = orjson.loads(line)
            data = _public(tx, project_id, stream_id, event["data"])
            body = body_of(name, event["timestamp"], data, _link(project_id, data))
            rows += [delivery(tx, taker_id, name, about_of(stream_id, event["data"]), seq, body) for taker_id in wanted]
    if rows:
        tx.insert_many(deliveries, rows)
        tx.ring(BELL)


def delivery(tx: Tx, webhook_id: str, event: str, about: str, seq: int, body: str) -> dict[str, Any]:
    """The row of a new delivery."""
    return {
        "id": new_id("delivery"),
        "webhook_id": webhook_id,
        "event": event,
        "about": about,
        "seq": seq,
        "body": body,
        "state": "pending",
        "tried_since": tx.now,
        "due_at": tx.now,
        "created_at": tx.now,
    }


def _name_of(line: bytes) -> str:
    """The event's name, without reading the line: `{"id":"…","event":"…",…`."""
    return line.split(b'"', 8)[7].decode()


def _public(tx: Tx, project_id: str, stream_id: str, data: dict[str, Any]) -> dict[str, Any]:
    """The event's data and where it belongs."""
    found = tx.find(_Whose, runs, {"id": stream_id}) if stream_id.startswith("run_") else None
    whose = {} if found is None else {"run_id": stream_id, "thread_id": found.thread_id, "profile": found.profile}
    return {**data, "project_id": project_id, **whose}


def _link(project_id: str, data: dict[str, Any]) -> str:
    """The page that shows it; the sender puts the server's address before it."""
    return f"/threads/{data['thread_id']}" if "thread_id" in data else f"/projects/{project_id}"
