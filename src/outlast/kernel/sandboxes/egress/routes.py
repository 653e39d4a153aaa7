"""The log of used secrets."""

from typing import Final

from fastapi import Query
from starlette.responses import Response

from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.parameters import Limit
from outlast.kernel.http.responses import page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.sandboxes.egress import actions
from outlast.kernel.sandboxes.shapes import SecretUseAnswer

router = noun_router("Sandboxes")
MAX_ID: Final = 2**53


@router.get("/projects/{project_id}/secret-uses", response_model=Page[SecretUseAnswer])
async def list_secret_uses(
    project_id: str,
    services: Svc,
    actor: Signed,
    before: int | None = Query(None, ge=0, le=MAX_ID),
    limit: Limit = 50,
    sandbox: str | None = Query(None, max_length=40),
    secret: str | None = Query(None, max_length=80),
) -> Response:
    """Requests that carried a secret out of the project's sandboxes, newest first (editors). Values are never
    included."""
    found = await actions.list_secret_uses(
        services, actor, project_id, before=before, limit=limit, sandbox_id=sandbox, secret=secret
    )
    return reply(page(found.items, found.next))
