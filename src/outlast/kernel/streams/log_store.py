"""The append-only logs: encoding, appending, reading. A row holds a block of events as JSON lines."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final

import orjson
import sqlalchemy as sa
from pydantic import BaseModel

from outlast.base.clock import iso
from outlast.db.database import Tx
from outlast.kernel.projects.tables import projects
from outlast.kernel.streams.tables import log
from outlast.kernel.threads.tables import threads
from outlast.kernel.webhooks import outbox

Line = tuple[int, bytes]  # an event's number, and the event as one line of JSON
PAGE_BYTES: Final = 512_000  # approximate size of one read into memory, for a follower far behind
PAGE_BLOCKS: Final = 500  # and at most this many rows
NamedEvent = tuple[str, BaseModel]

# Built once: building a statement takes four times as long as running it, and each fact goes through these two.
_NUMBER: Final = {
    table.name: sa.update(table)
    .where(table.c.id == sa.bindparam("stream"))
    .values(log_seq=table.c.log_seq + sa.bindparam("count"))
    .returning(table.c.log_seq, webhooks_of)
    for table, webhooks_of in ((threads, sa.null().label("webhooks_of")), (projects, outbox.OF_PROJECT))
}
_SAVE: Final = sa.insert(log)
_SAVE_OF_RUN: Final = _SAVE.returning(outbox.OF_RUN)
_AFTER: Final = sa.bindparam("after", type_=sa.BigInteger)
_BLOCKS: Final = (
    sa.select(log.c.first_seq, log.c.last_seq, log.c.body)
    .where(log.c.stream_id == sa.bindparam("stream"), log.c.last_seq > _AFTER)
    .order_by(log.c.first_seq)
)
_PAGE: Final = _BLOCKS.limit(PAGE_BLOCKS)
_BLOCK_SIZE: Final = log.c.last_seq - sa.case((log.c.first_seq > _AFTER, log.c.first_seq - 1), else_=_AFTER)
_COUNT: Final = sa.select(sa.func.coalesce(sa.func.sum(_BLOCK_SIZE), 0)).where(
    log.c.stream_id == sa.bindparam("stream"), log.c.last_seq > _AFTER
)


def encode(stream_id: str, seq: int, event: str, data: BaseModel | dict[str, Any], timestamp: str) -> bytes:
    """One event as a line of JSON, without the line break."""
    body = data.model_dump() if isinstance(data, BaseModel) else data
    return orjson.dumps(
        {"id": f"{stream_id}:{seq}", "event": event, "data": body, "timestamp": timestamp, "sequenceNumber": seq}
    )


def encode_all(stream_id: str, first_seq: int, events: Iterable[NamedEvent], moment: datetime) -> list[Line]:
    timestamp = iso(moment)
    return [
        (seq, encode(stream_id, seq, name, data, timestamp)) for seq, (name, data) in enumerate(events, start=first_seq)
    ]


def append(tx: Tx, stream_id: str, events: Sequence[NamedEvent]) -> None:
    """Append facts to a thread's or project's log, at the end of the transaction: they are numbered under the row's
    lock, so that the order of numbers is the order of commits. Followers are woken after the commit. A log that is
    deleted by then takes none."""
    if append not in tx.kept:
        tx.kept[append] = []
        tx.before_commit(partial(write_appended, tx))
    tx.kept[append] += [(stream_id, event) for event in events]
    tx.ring(stream_id)


def write_appended(tx: Tx) -> None:
    """Write what waits for the end of the transaction, so that the rest of it reads it."""
    if append not in tx.kept:
        return
    appended: dict[str, list[NamedEvent]] = {}
    for stream_id, event in tx.kept.pop(append):
        appended.setdefault(stream_id, []).append(event)
    # All threads before all projects: the order in which every transaction locks rows (docs/concepts/locking.md).
    blocks = []
    for stream_id, events in sorted(appended.items(), key=lambda one: (not one[0].startswith("thr_"), one[0])):
        number = _NUMBER["threads" if stream_id.startswith("thr_") else "projects"]
        numbered = tx.execute(number, {"stream": stream_id, "count": len(events)}).first()
        if numbered is None:
            continue
        lines = encode_all(stream_id, numbered.log_seq - len(events) + 1, events, tx.now)
        blocks.append(_block(tx, stream_id, lines))
        if numbered.webhooks_of is not None:
            outbox.put(tx, stream_id, stream_id, lines)
    tx.insert_many(log, blocks)


def save(tx: Tx, run_id: str, lines: Sequence[Line]) -> None:
    """Store new, numbered lines of a run's log as one block, and put them into the outbox of its project's webhooks."""
    if lines:
        webhooks_of = tx.execute(_SAVE_OF_RUN, _block(tx, run_id, lines)).scalar()
        if webhooks_of is not None:
            outbox.put(tx, webhooks_of, run_id, lines)


def _block(tx: Tx, stream_id: str, lines: Sequence[Line]) -> dict[str, Any]:
    return {
        "stream_id": stream_id,
        "first_seq": lines[0][0],
        "last_seq": lines[-1][0],
        "body": b"\n".join(line for _, line in lines),
        "saved_at": tx.now,
    }


def read_after(tx: Tx, stream_id: str, after: int) -> list[Line]:
    """Saved lines numbered above `after`, in order, about `PAGE_BYTES` of them (at least one block). Empty if there are
    none."""
    write_appended(tx)
    lines: list[Line] = []
    size = 0
    for row in tx.execute(_PAGE, {"stream": stream_id, "after": after}):
        lines += [line for line in block_lines(row.first_seq, row.last_seq, row.body) if line[0] > after]
        size += len(row.body)
        if size >= PAGE_BYTES:
            break
    return lines


def read_all(tx: Tx, stream_id: str) -> list[Line]:
    """The whole log (as long as the run made it)."""
    write_appended(tx)
    rows = tx.execute(_BLOCKS, {"stream": stream_id, "after": 0})
    return [line for row in rows for line in block_lines(row.first_seq, row.last_seq, row.body)]


def count_after(tx: Tx, stream_id: str, after: int) -> int:
    """The approximate number of events above `after`: gaps between attempts are not counted, those inside a folded
    block are."""
    return int(tx.execute(_COUNT, {"stream": stream_id, "after": after}).scalar_one())


def block_lines(first: int, last: int, body: bytes) -> list[Line]:
    lines = body.split(b"\n")
    if len(lines) == last - first + 1:
        return list(enumerate(lines, start=first))
    return [(int(orjson.loads(line)["sequenceNumber"]), line) for line in lines]  # folded: the numbers have gaps


def replace_all(tx: Tx, stream_id: str, lines: Sequence[Line]) -> None:
    """Replace the whole log by a folded one."""
    # In one transaction: no follower finds the log empty.
    tx.execute(sa.delete(log).where(log.c.stream_id == stream_id))
    if lines:
        tx.execute(_SAVE, _block(tx, stream_id, lines))
        tx.execute(sa.update(log).where(log.c.stream_id == stream_id).values(folded=True))
