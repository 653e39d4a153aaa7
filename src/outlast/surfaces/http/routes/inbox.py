"""What waits for the caller, and saying that one has seen it."""

from dataclasses import asdict

from fastapi import APIRouter, Query
from starlette.responses import Response

from outlast.actions import inbox as actions
from outlast.actions import mentions
from outlast.surfaces.http.models.inbox import InboxItemAnswer
from outlast.surfaces.http.models.shapes import Page
from outlast.surfaces.http.replies import nothing, page, reply
from outlast.surfaces.http.sign_in import Signed, Svc

router = APIRouter(prefix="/v1", tags=["Inbox"])


@router.get("/inbox", response_model=Page[InboxItemAnswer])
async def list_inbox(
    services: Svc,
    actor: Signed,
    project: str | None = None,
    before: str | None = None,
    limit: int = Query(50, ge=1, le=200),
) -> Response:
    """What waits for the caller, newest first: approvals, questions, proposals, requests to hand over what they drive
    or keep, mentions, and comments that they were given. `inbox.changed` in a project's stream says when to read it
    again."""
    found = await actions.read_inbox(services, actor, project, limit, before)
    return reply(page([asdict(item) for item in found.items], found.next))


@router.post("/mentions/{mention_id}/read", status_code=204)
async def read_mention(mention_id: str, services: Svc, actor: Signed) -> Response:
    """Take a mention, or a comment that one was given, out of the caller's inbox. Repeating is harmless."""
    await mentions.read_mention(services, actor, mention_id)
    return nothing()
