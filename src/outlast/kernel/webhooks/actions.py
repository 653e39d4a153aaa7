"""Webhooks of a project: owners make, change and delete them, and see and replay their deliveries."""

from typing import Any

from outlast.base.clock import iso
from outlast.base.webhook_errors import TooManyWebhooks, WebhookOff
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.apps import registry
from outlast.kernel.lists import Listed
from outlast.kernel.projects.permissions import require, require_owned
from outlast.kernel.projects.rules import Right
from outlast.kernel.services import Services, in_read, in_write, in_write_with_services
from outlast.kernel.webhooks import rules, store
from outlast.kernel.webhooks.rows import WebhookRow
from outlast.kernel.webhooks.secret_text import OLD_SECRET_LASTS, make_secret
from outlast.kernel.webhooks.settings import WebhookSettings
from outlast.kernel.webhooks.shapes import (
    DeliveryAnswer,
    DeliveryState,
    NewWebhookAnswer,
    ReplayAnswer,
    WebhookAnswer,
    WebhookChanges,
    WebhookRequest,
)
from outlast.kernel.webhooks.tables import webhooks

MOST_REPLAYED = 1_000


def offered_events() -> list[str]:
    """The events that webhooks can take, in the order of their declarations."""
    return [name for event in registry.load().events for name in event.for_webhooks]


@in_write_with_services
def create_webhook(
    tx: Tx, services: Services, actor: Actor, project_id: str, wanted: WebhookRequest
) -> NewWebhookAnswer:
    """Make a webhook (owners). Only this answer has its secret. Raises `MalformedInput`, `TooManyWebhooks`."""
    require(tx, actor, project_id, Right.OWN)
    settings = services.settings.webhooks
    values = wanted.model_dump() | _checked(settings, wanted.model_dump())
    if (count := store.count_of(tx, project_id)) >= settings.most_per_project:
        raise TooManyWebhooks(f"The project has {count} webhooks, which is the limit.", project_id=project_id)
    webhook_id = store.new_webhook_id()
    secret, sealed = make_secret(tx, services.vault, webhook_id)
    store.add(tx, id=webhook_id, project_id=project_id, secret=sealed, created_by=actor.user_id, **values)
    return NewWebhookAnswer(**store.webhook_data(tx, webhook_id).model_dump(), secret=secret)


@in_read
def list_webhooks(tx: Tx, actor: Actor, project_id: str) -> list[WebhookAnswer]:
    """The webhooks of a project (owners), newest first."""
    require(tx, actor, project_id, Right.OWN)
    return store.list_webhooks(tx, project_id)


@in_read
def read_webhook(tx: Tx, actor: Actor, webhook_id: str) -> WebhookAnswer:
    """One webhook (owners)."""
    _require_webhook(tx, actor, webhook_id)
    return store.webhook_data(tx, webhook_id)


@in_write_with_services
def change_webhook(tx: Tx, services: Services, actor: Actor, webhook_id: str, changes: WebhookChanges) -> WebhookAnswer:
    """Change a webhook (owners). Events that wait go to its new address."""
    _require_webhook(tx, actor, webhook_id)
    values = changes.model_dump(exclude_none=True)
    values |= _checked(services.settings.webhooks, values)
    if "enabled" in values:
        values["stopped_because"] = None
    if values:
        store.change(tx, webhook_id, **values)
    return store.webhook_data(tx, webhook_id)


@in_write_with_services
def rotate_webhook_secret(tx: Tx, services: Services, actor: Actor, webhook_id: str) -> NewWebhookAnswer:
    """Give a webhook a new secret (owners), which only this answer has. For a day, the old one signs too."""
    row = _require_webhook(tx, actor, webhook_id)
    secret, sealed = make_secret(tx, services.vault, webhook_id)
    store.change(tx, webhook_id, secret=sealed, old_secret=row.secret, old_secret_until=tx.now + OLD_SECRET_LASTS)
    return NewWebhookAnswer(**store.webhook_data(tx, webhook_id).model_dump(), secret=secret)


async def delete_webhook(services: Services, actor: Actor, webhook_id: str) -> None:
    """Delete a webhook with its deliveries (owners). They are deleted in portions, after it was turned off."""
    await services.db.write(_turn_off, actor, webhook_id)
    while await services.db.write(store.delete_portion, webhook_id):
        pass
    await services.db.write(store.delete, webhook_id)


def _turn_off(tx: Tx, actor: Actor, webhook_id: str) -> None:
    _require_webhook(tx, actor, webhook_id)
    store.change(tx, webhook_id, enabled=False)


@in_write
def test_webhook(tx: Tx, actor: Actor, webhook_id: str) -> DeliveryAnswer:
    """Send a test event (owners). Raises `WebhookOff`."""
    row = _require_enabled(tx, actor, webhook_id)
    data = {"webhook_id": row.id, "project_id": row.project_id}
    body = rules.body_of(rules.TEST_EVENT, iso(tx.now), data, f"/projects/{row.project_id}/webhooks")
    return store.add_test(tx, webhook_id, rules.TEST_EVENT, body)


@in_read
def list_deliveries(
    tx: Tx, actor: Actor, webhook_id: str, state: DeliveryState | None, before: str | None, limit: int
) -> Listed[DeliveryAnswer, str]:
    """The deliveries of a webhook (owners), newest first, those in this state or all."""
    _require_webhook(tx, actor, webhook_id)
    return store.list_deliveries(tx, webhook_id, state, before, limit)


@in_write
def replay_delivery(tx: Tx, actor: Actor, delivery_id: str) -> DeliveryAnswer:
    """Send a finished delivery again (owners); one that is pending stays as it is. Raises `WebhookOff`."""
    row = store.delivery_of(tx, delivery_id)
    _require_enabled(tx, actor, row.webhook_id)
    if row.state != "pending":
        store.replay(tx, [delivery_id])
    return store.delivery_data(tx, delivery_id)


@in_write
def replay_dead(tx: Tx, actor: Actor, webhook_id: str) -> ReplayAnswer:
    """Send the oldest deliveries that were given up again (owners), up to 1,000. Raises `WebhookOff`."""
    _require_enabled(tx, actor, webhook_id)
    dead = store.dead_ids(tx, webhook_id, MOST_REPLAYED + 1)
    store.replay(tx, dead[:MOST_REPLAYED])
    return ReplayAnswer(replayed=min(len(dead), MOST_REPLAYED), more=len(dead) > MOST_REPLAYED)


def _require_webhook(tx: Tx, actor: Actor, webhook_id: str) -> WebhookRow:
    return require_owned(tx, actor, WebhookRow, webhooks, "webhook", webhook_id, Right.OWN)


def _require_enabled(tx: Tx, actor: Actor, webhook_id: str) -> WebhookRow:
    row = _require_webhook(tx, actor, webhook_id)
    if not row.enabled:
        raise WebhookOff("The webhook is turned off.", id=webhook_id)
    return row


def _checked(settings: WebhookSettings, values: dict[str, Any]) -> dict[str, Any]:
    """The given address and events, checked."""
    checked: dict[str, Any] = {}
    if "url" in values:
        rules.checked_url(values["url"], rules.host_ports(settings.allow_private))
    if "events" in values:
        checked["events"] = rules.checked_events(values["events"], offered_events())
    return checked
