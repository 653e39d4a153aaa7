"""Webhooks and deliveries in the database. First argument: the open transaction."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, Literal, NamedTuple

import sqlalchemy as sa

from outlast.base.clock import iso
from outlast.base.ids import new_id
from outlast.base.lookups import demand_found
from outlast.db.database import Tx
from outlast.kernel.lists import Listed
from outlast.kernel.row_shapes import shape_of
from outlast.kernel.webhooks.outbox import BELL, delivery
from outlast.kernel.webhooks.rows import WebhookDeliveryRow, WebhookRow
from outlast.kernel.webhooks.rules import Outcome
from outlast.kernel.webhooks.shapes import DeliveryAnswer, WebhookAnswer
from outlast.kernel.webhooks.tables import deliveries, webhooks

LEASE: Final = timedelta(seconds=60)  # of a try: longer than any
PER_WEBHOOK: Final = 8  # deliveries under way on one server
PORTION: Final = 200  # rows that one transaction changes
COUNTED: Final = 1_000
TURNED_OFF: Final = "The webhook was turned off."


def add(tx: Tx, **values: Any) -> str:
    """Add a webhook and return its id; `values` are its columns without id and time."""
    tx.insert(webhooks, created_at=tx.now, **values)
    return str(values["id"])


def new_webhook_id() -> str:
    """The id of a webhook to come: its secret is sealed for it."""
    return new_id("webhook")


def count_of(tx: Tx, project_id: str) -> int:
    """The number of webhooks of a project, whose row stays locked, so that no other transaction adds one."""
    mine = sa.select(sa.func.count()).select_from(webhooks).where(webhooks.c.project_id == project_id)
    return int(tx.execute(mine).scalar_one())


def webhook_data(tx: Tx, webhook_id: str) -> WebhookAnswer:
    """Raises `NotFound`."""
    row = demand_found(tx.find(WebhookRow, webhooks, {"id": webhook_id}), "There is no such webhook.", id=webhook_id)
    return _data(tx, row)


def list_webhooks(tx: Tx, project_id: str) -> list[WebhookAnswer]:
    """The webhooks of a project, newest first."""
    mine = sa.select(webhooks).where(webhooks.c.project_id == project_id)
    return [_data(tx, row) for row in tx.rows(WebhookRow, mine.order_by(webhooks.c.id.desc()))]


def _data(tx: Tx, row: WebhookRow) -> WebhookAnswer:
    counted = {state: _counted(tx, row.id, state) for state in ("pending", "dead")}
    return shape_of(WebhookAnswer, row, **counted)


def _counted(tx: Tx, webhook_id: str, state: str) -> int:
    some = sa.select(deliveries.c.id).where(deliveries.c.webhook_id == webhook_id, deliveries.c.state == state)
    return int(tx.execute(sa.select(sa.func.count()).select_from(some.limit(COUNTED).subquery())).scalar_one())


def change(tx: Tx, webhook_id: str, **values: Any) -> None:
    """Set columns of a webhook."""
    tx.update(webhooks, {"id": webhook_id}, **values)


def delete_portion(tx: Tx, webhook_id: str) -> bool:
    """Delete some deliveries of a webhook that is turned off; False if none was left."""
    some = sa.select(deliveries.c.id).where(deliveries.c.webhook_id == webhook_id).limit(PORTION)
    return tx.execute(sa.delete(deliveries).where(deliveries.c.id.in_(some))).rowcount > 0


def delete(tx: Tx, webhook_id: str) -> None:
    """Delete a webhook and the deliveries that it still has."""
    tx.execute(sa.delete(webhooks).where(webhooks.c.id == webhook_id))


# --- deliveries -------------------------------------------------------------------------------------------------------


def add_test(tx: Tx, webhook_id: str, event: str, body: str) -> DeliveryAnswer:
    """Add a delivery that is about nothing else."""
    row = delivery(tx, webhook_id, event, webhook_id, 0, body)
    tx.insert(deliveries, **row | {"about": row["id"]})
    tx.ring(BELL)
    return delivery_data(tx, row["id"])


def delivery_of(tx: Tx, delivery_id: str) -> WebhookDeliveryRow:
    """Raises `NotFound`."""
    found = tx.find(WebhookDeliveryRow, deliveries, {"id": delivery_id})
    return demand_found(found, "There is no such delivery for you.", id=delivery_id)


def delivery_data(tx: Tx, delivery_id: str) -> DeliveryAnswer:
    """Raises `NotFound`."""
    return _shown(delivery_of(tx, delivery_id))


def list_deliveries(
    tx: Tx, webhook_id: str, state: str | None, before: str | None, limit: int
) -> Listed[DeliveryAnswer, str]:
    """At most `limit` deliveries of a webhook (in this state), newest first, those before the id `before`."""
    chosen = sa.select(deliveries).where(deliveries.c.webhook_id == webhook_id)
    if state is not None:
        chosen = chosen.where(deliveries.c.state == state)
    if before is not None:
        chosen = chosen.where(deliveries.c.id < before)
    rows = tx.rows(WebhookDeliveryRow, chosen.order_by(deliveries.c.id.desc()).limit(limit + 1))
    shown = [_shown(row) for row in rows[:limit]]
    return Listed(shown, shown[-1].id if len(rows) > limit else None)


def _shown(row: WebhookDeliveryRow) -> DeliveryAnswer:
    return shape_of(DeliveryAnswer, row, next_try_at=None if row.due_at is None else iso(row.due_at))


def replay(tx: Tx, delivery_ids: Collection[str]) -> None:
    """Make these deliveries pending again, with a new day of tries."""
    tx.execute(
        sa.update(deliveries)
        .where(deliveries.c.id.in_(delivery_ids))
        .values(state="pending", tries=0, tried_since=tx.now, due_at=tx.now, ended_at=None, kept_until=None)
    )
    tx.ring(BELL)


def dead_ids(tx: Tx, webhook_id: str, limit: int) -> list[str]:
    """The oldest deliveries of a webhook that were given up."""
    dead = sa.select(deliveries.c.id).where(deliveries.c.webhook_id == webhook_id, deliveries.c.state == "dead")
    return list(tx.execute(dead.order_by(deliveries.c.id).limit(limit)).scalars())


# --- sending ----------------------------------------------------------------------------------------------------------


class Claimed(NamedTuple):
    """A delivery that this server sends now; `tries` is the fence: a later claim raises it."""

    delivery: WebhookDeliveryRow
    webhook: WebhookRow


class Kept(NamedTuple):
    """How long finished deliveries are listed."""

    delivered: timedelta
    dead: timedelta


def claim(tx: Tx, most: int, at_work: Mapping[str, int], kept: Kept) -> list[Claimed]:
    """Claim up to `most` deliveries that are due, the longest overdue first. `at_work`: how many each webhook has
    under way, `PER_WEBHOOK` at most. One that comes after another about the same thing waits for it. Those of a webhook
    that is turned off are given up."""
    due = (
        sa.select(deliveries)
        .where(deliveries.c.due_at <= tx.now, deliveries.c.webhook_id.not_in(busy_of(at_work)))
        .order_by(deliveries.c.due_at, deliveries.c.id)
        .limit(PORTION)
        .with_for_update(skip_locked=True)
    )
    claimed: list[Claimed] = []
    places = {webhook_id: PER_WEBHOOK - count for webhook_id, count in at_work.items()}
    owners: dict[str, WebhookRow | None] = {}
    for row in tx.rows(WebhookDeliveryRow, due):
        if row.webhook_id not in owners:
            owners[row.webhook_id] = tx.find(WebhookRow, webhooks, {"id": row.webhook_id})
        owner, first = owners[row.webhook_id], _first_about(tx, row)
        if owner is None:  # deleted meanwhile
            continue
        if not owner.enabled:
            end(tx, row, Outcome(None, TURNED_OFF), "dead", kept)
        elif first is not None:
            tx.update(deliveries, {"id": row.id}, due_at=max(first, tx.now + timedelta(milliseconds=1)))
        elif len(claimed) < most and places.setdefault(owner.id, PER_WEBHOOK) > 0:
            places[owner.id] -= 1
            taken = row._replace(tries=row.tries + 1)
            tx.update(deliveries, {"id": row.id}, tries=taken.tries, due_at=tx.now + LEASE, claimed=True)
            claimed.append(Claimed(taken, owner))
    return claimed


def busy_of(at_work: Mapping[str, int]) -> list[str]:
    """The webhooks that have as many deliveries under way as they may."""
    return [webhook_id for webhook_id, count in at_work.items() if count >= PER_WEBHOOK]


def take_over(tx: Tx) -> None:
    """Make deliveries due again that the previous server was sending when it was killed."""
    mine = deliveries.c.due_at.is_not(None), deliveries.c.claimed
    tx.execute(sa.update(deliveries).where(*mine).values(due_at=tx.now, claimed=False))


def _first_about(tx: Tx, row: WebhookDeliveryRow) -> datetime | None:
    """When the first pending delivery about the same thing is due, if it comes before this one."""
    earlier = (
        sa.select(deliveries.c.due_at)
        .where(
            deliveries.c.webhook_id == row.webhook_id,
            deliveries.c.about == row.about,
            deliveries.c.state == "pending",
            deliveries.c.seq < row.seq,
        )
        .order_by(deliveries.c.seq)
        .limit(1)
    )
    found: datetime | None = tx.execute(earlier).scalar()
    return found


def retry(tx: Tx, sent: WebhookDeliveryRow, outcome: Outcome, wait_s: float) -> None:
    """Note a failed try, and when the next one is due. Nothing, if another server has claimed it since."""
    _note(tx, sent, outcome, due_at=tx.now + timedelta(seconds=wait_s))


def end(tx: Tx, sent: WebhookDeliveryRow, outcome: Outcome, state: Literal["delivered", "dead"], kept: Kept) -> None:
    """Note that a delivery was accepted or is given up; the next one about the same thing is due. Nothing, if another
    server has claimed it since."""
    if _finish(tx, sent, outcome, state, kept):
        _make_next_due(tx, sent)


def _finish(tx: Tx, sent: WebhookDeliveryRow, outcome: Outcome, state: str, kept: Kept) -> bool:
    until = tx.now + (kept.delivered if state == "delivered" else kept.dead)
    return _note(tx, sent, outcome, state=state, due_at=None, ended_at=tx.now, kept_until=until)


def _note(tx: Tx, sent: WebhookDeliveryRow, outcome: Outcome, **values: Any) -> bool:
    key = {"id": sent.id, "tries": sent.tries, "state": "pending"}
    noted = {"last_status": outcome.status, "reason": outcome.reason, "claimed": False}
    return tx.update(deliveries, key, **noted, **values) == 1


def _make_next_due(tx: Tx, sent: WebhookDeliveryRow) -> None:
    same = deliveries.c.webhook_id == sent.webhook_id, deliveries.c.about == sent.about, deliveries.c.state == "pending"
    following = sa.select(deliveries.c.id).where(*same, deliveries.c.seq > sent.seq).order_by(deliveries.c.seq).limit(1)
    found = tx.execute(following).scalar()
    if found is not None:
        tx.update(deliveries, {"id": found, "tries": 0}, due_at=tx.now)


def stop(tx: Tx, webhook_id: str, reason: str) -> None:
    """Turn a webhook off, because its address takes no more events."""
    change(tx, webhook_id, enabled=False, stopped_because=reason)


def forget(tx: Tx) -> int:
    """Remove finished deliveries whose time is over, some at a time; returns their number."""
    over = sa.select(deliveries.c.id).where(deliveries.c.kept_until <= tx.now).order_by(deliveries.c.kept_until)
    return tx.execute(sa.delete(deliveries).where(deliveries.c.id.in_(over.limit(PORTION)))).rowcount


class Ahead(NamedTuple):
    """When the next delivery is due, and when the next finished one is removed; None: never."""

    due: datetime | None
    over: datetime | None


def ahead(tx: Tx, busy: Collection[str]) -> Ahead:
    """What comes next, without the deliveries of busy webhooks."""
    due = sa.select(sa.func.min(deliveries.c.due_at)).where(deliveries.c.webhook_id.not_in(busy))
    over = sa.select(sa.func.min(deliveries.c.kept_until))
    return Ahead(tx.execute(due).scalar(), tx.execute(over).scalar())
