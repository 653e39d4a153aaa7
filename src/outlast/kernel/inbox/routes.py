"""The caller's inbox."""

from starlette.responses import Response

from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.parameters import Limit
from outlast.kernel.http.responses import nothing, page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.inbox import actions
from outlast.kernel.mentions import actions as mentions
from outlast.kernel.mentions.inbox_items import InboxItemAnswer

router = noun_router("Inbox")


@router.get("/inbox", response_model=Page[InboxItemAnswer])
async def list_inbox(
    services: Svc, actor: Signed, project: str | None = None, before: str | None = None, limit: Limit = 50
) -> Response:
    """List the caller's inbox, newest first: approvals, questions, proposals, requests to hand over threads and
    sections, mentions, comments that are assigned to the caller, and their schedules that start no runs.
    `inbox.changed` in a project's stream says when to read it again."""
    found = await actions.read_inbox(services, actor, project, limit, before)
    return reply(page(found.items, found.next))


@router.post("/mentions/{mention_id}/read", status_code=204)
async def read_mention(mention_id: str, services: Svc, actor: Signed) -> Response:
    """Remove a mention, or an assigned comment, from the caller's inbox. Repeating is harmless."""
    await mentions.read_mention(services, actor, mention_id)
    return nothing()
