"""Webhooks of a project and their deliveries."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.parameters import Limit
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.webhooks import actions, shapes

router = noun_router("Webhooks")
Before = Annotated[str | None, Query(max_length=100)]


@router.get("/webhooks/events", response_model=shapes.WebhookEventsAnswer)
async def list_webhook_events(actor: Signed) -> Response:
    """List the events that webhooks can take."""
    return reply({"items": actions.offered_events()})


@router.post("/projects/{project_id}/webhooks", status_code=201, response_model=shapes.NewWebhookAnswer)
async def create_webhook(project_id: str, body: shapes.WebhookRequest, services: Svc, actor: Signed) -> Response:
    """Create a webhook (owners). Its secret is shown only in this answer."""
    return reply(await actions.create_webhook(services, actor, project_id, body), 201)


@router.get("/projects/{project_id}/webhooks", response_model=Page[shapes.WebhookAnswer])
async def list_webhooks(project_id: str, services: Svc, actor: Signed) -> Response:
    """List the project's webhooks (owners), newest first."""
    return reply(page(await actions.list_webhooks(services, actor, project_id)))


@router.get("/webhooks/{webhook_id}", response_model=shapes.WebhookAnswer)
async def read_webhook(webhook_id: str, services: Svc, actor: Signed) -> Response:
    """Get one webhook (owners)."""
    return reply(await actions.read_webhook(services, actor, webhook_id))


@router.patch("/webhooks/{webhook_id}", response_model=shapes.WebhookAnswer)
async def change_webhook(webhook_id: str, body: shapes.WebhookChanges, services: Svc, actor: Signed) -> Response:
    """Change the address, events or title of a webhook, or turn it on or off (owners). Events that wait go to the new
    address; those of a webhook that is turned off are given up."""
    return reply(await actions.change_webhook(services, actor, webhook_id, body))


@router.delete("/webhooks/{webhook_id}", status_code=204)
async def delete_webhook(webhook_id: str, services: Svc, actor: Signed) -> Response:
    """Delete a webhook with its deliveries (owners)."""
    await actions.delete_webhook(services, actor, webhook_id)
    return nothing()


@router.post("/webhooks/{webhook_id}/rotate", response_model=shapes.NewWebhookAnswer)
async def rotate_webhook_secret(webhook_id: str, services: Svc, actor: Signed) -> Response:
    """Give the webhook a new secret (owners), shown only in this answer. For a day, requests are signed with both."""
    return reply(await actions.rotate_webhook_secret(services, actor, webhook_id))


@router.post("/webhooks/{webhook_id}/test", status_code=201, response_model=shapes.DeliveryAnswer)
async def test_webhook(webhook_id: str, services: Svc, actor: Signed) -> Response:
    """Send the event `webhook.test` to the webhook (owners)."""
    return reply(await actions.test_webhook(services, actor, webhook_id), 201)


@router.get("/webhooks/{webhook_id}/deliveries", response_model=Page[shapes.DeliveryAnswer])
async def list_webhook_deliveries(
    webhook_id: str,
    services: Svc,
    actor: Signed,
    state: shapes.DeliveryState | None = None,
    before: Before = None,
    limit: Limit = 50,
) -> Response:
    """List the webhook's deliveries (owners), newest first."""
    found = await actions.list_deliveries(services, actor, webhook_id, state, before, limit)
    return reply(page(found.items, found.next))


@router.post("/webhooks/{webhook_id}/replay", response_model=shapes.ReplayAnswer)
async def replay_dead_deliveries(webhook_id: str, services: Svc, actor: Signed) -> Response:
    """Send the oldest deliveries that were given up again (owners), up to 1,000 in a request."""
    return reply(await actions.replay_dead(services, actor, webhook_id))


@router.post("/webhook-deliveries/{delivery_id}/replay", response_model=shapes.DeliveryAnswer)
async def replay_delivery(delivery_id: str, services: Svc, actor: Signed) -> Response:
    """Send a finished delivery again, with the same id (owners). One that is pending stays as it is."""
    return reply(await actions.replay_delivery(services, actor, delivery_id))
